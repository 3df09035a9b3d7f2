"""Snapshots of one member: its own, and the leader's, when its log ends before the leader's begins."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from typing import Final, NamedTuple

from headrace.metadata.errors import (
    MetadataError,
    MetadataLogCorruptError,
    MetadataVersionError,
    RefusedError,
)
from headrace.metadata.follower.snapshot_download import SnapshotDownload
from headrace.metadata.image import MetadataImage
from headrace.metadata.log.snapshot_format import encode_snapshot
from headrace.metadata.log.store import LogStore
from headrace.metadata.quorum.applied import AppliedLog
from headrace.metadata.quorum.status import QuorumCounters
from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.core import RaftCore
from headrace.metadata.raft.effects import SnapshotWanted
from headrace.metadata.records.entry import SnapshotId
from headrace.metadata.rpc.frames import decode_answer, encode_request
from headrace.metadata.transport import PeerNetwork
from headrace.protocol.errors import ErrorCode

logger = logging.getLogger("headrace.controller")

CHUNK_TIMEOUT_S: Final = 30.0
WRITE_BYTES: Final = 1 << 20
# A log as large as the snapshot before it takes as long to replay as that. A smaller one than this is replayed soon.
MIN_INTERVAL_BYTES: Final = 2 << 20
MAX_INTERVALS_HELD: Final = 2  # by so much more the log grows at most for readers of a snapshot
# After a failed read or installation: the leader offers the snapshot again with each heartbeat.
RETRY_S: Final = 1.0


class FetchedSnapshot(NamedTuple):
    """The whole file, as received."""

    snapshot_id: SnapshotId
    data: bytes

    async def chunks(self) -> AsyncIterator[bytes]:
        """The file's bytes, piece by piece."""
        for position in range(0, len(self.data), WRITE_BYTES):
            yield self.data[position : position + WRITE_BYTES]


class Snapshots:
    """One snapshot is written at a time: this member's, or the leader's that replaces the log."""

    def __init__(
        self,
        core: RaftCore,
        store: LogStore,
        network: PeerNetwork,
        applied: AppliedLog,
        counters: QuorumCounters,
        *,
        clock_ms: Callable[[], int],
        on_input: Callable[[], None],
    ) -> None:
        self._core = core
        self._store = store
        self._network = network
        self._applied = applied
        self._clock_ms = clock_ms
        self._on_input = on_input
        self._writing = asyncio.Lock()
        self._wanted: SnapshotWanted | None = None
        self._asked = asyncio.Event()
        self._retry_at_s = float("-inf")
        self._fetched: FetchedSnapshot | None = None
        self._counters = counters

    async def run(self, max_interval_bytes: int) -> None:
        """Take a snapshot whenever the log has grown as large as the one before, or by `max_interval_bytes`.

        So a start replays no more than a small multiple of what there is, however many starts the log has seen.
        Until cancelled.

        While one is being read, the entries after it are kept, and the next one waits: otherwise a
        reader that takes longer than the log to grow would never catch up.
        """
        base_bytes = 0  # of the log: behind the newest snapshot, or at the last attempt
        while True:
            base_bytes = min(base_bytes, self._store.log_bytes)  # less: a snapshot was installed
            due_bytes = base_bytes + self._interval(max_interval_bytes)
            max_bytes = due_bytes + MAX_INTERVALS_HELD * max_interval_bytes
            held = self._store.is_snapshot_being_read and self._store.log_bytes < max_bytes
            if self._store.log_bytes >= due_bytes and not held:
                try:
                    await self.take()
                except (OSError, RefusedError) as error:
                    # The disk may be full: the next attempt follows after the same growth of the log.
                    logger.warning(
                        "cannot write a metadata snapshot; trying again when the log has grown",
                        extra={"reason": str(error)},
                    )
                base_bytes = self._store.log_bytes
            await self._applied.entries.wait_past(self._applied.entries.end_index)

    def _interval(self, max_bytes: int) -> int:
        return min(max_bytes, max(MIN_INTERVAL_BYTES, self._store.snapshot_bytes))

    async def take(self) -> None:
        """Write the image to disk, and drop the log before it.

        Raises:
            OSError: it could not be written; the log works on without it.
            RefusedError: the image has what its level lacks; the same.
        """
        async with self._writing:
            image = self._applied.image
            snapshot_id = SnapshotId(image.index, image.term)
            await self._store.write_snapshot(snapshot_id, encode_snapshot(image))
            self._core.compacted(snapshot_id)
            self._applied.entries.snapshot_taken(image.index)
        logger.info("metadata snapshot taken", extra={"index": image.index, "term": image.term})

    def fetch(self, wanted: SnapshotWanted) -> None:
        """Have `run_fetches` read this snapshot. The core wants no other before this one is done."""
        self._wanted = wanted
        self._asked.set()

    async def run_fetches(self) -> None:
        """Read wanted snapshots in the background, one after the other, until cancelled."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            if self._wanted is not None:
                wanted, self._wanted = self._wanted, None
                await self._fetch(wanted)

    async def install_fetched(self, accept: Callable[[MetadataImage], Awaitable[None]]) -> bool:
        """Replace the log by a snapshot that has been read; False when there is none.

        Args:
            accept: called with the image before it is published.

        Raises:
            MetadataIdentityError: it belongs to another cluster.
            MetadataLogFailedError: the log cannot be written.
        """
        if self._fetched is None:
            return False
        fetched, self._fetched = self._fetched, None
        snapshot_id = fetched.snapshot_id
        async with (
            self._writing
        ):  # until it is published: otherwise an older image could replace it
            try:
                image = await self._store.install_snapshot(snapshot_id, fetched.chunks())
            except (MetadataLogCorruptError, OSError) as error:
                self._failed(error)  # the log is unchanged
                return True
            await self._applied.collect_gone(MetadataImage())  # nothing is the same object
            await accept(image)
            configuration = Configuration.of(image.members)
            self._core.snapshot_installed(snapshot_id, configuration, self._clock_ms())
            self._applied.install(image)
        self._counters.snapshots_installed += 1
        self._on_input()
        logger.info("metadata snapshot installed", extra={"index": image.index, "term": image.term})
        return True

    async def _fetch(self, wanted: SnapshotWanted) -> None:
        await asyncio.sleep(self._retry_at_s - asyncio.get_running_loop().time())
        logger.info(
            "reading a metadata snapshot from another controller",
            extra={"index": wanted.snapshot.index, "from": wanted.source},
        )
        try:
            self._fetched = await fetch_snapshot(self._network, wanted)
        except MetadataVersionError:
            raise
        except (OSError, MetadataError) as error:
            self._failed(error)
        else:
            self._on_input()

    def _failed(self, error: Exception) -> None:
        """Log the error and go on: the leader offers its snapshot again."""
        logger.warning(
            "cannot install a metadata snapshot of another controller, trying again",
            extra={"reason": str(error)},
        )
        self._retry_at_s = asyncio.get_running_loop().time() + RETRY_S
        self._core.snapshot_failed(self._clock_ms())
        self._on_input()


async def fetch_snapshot(network: PeerNetwork, wanted: SnapshotWanted) -> FetchedSnapshot:
    """Read a whole snapshot file.

    Raises:
        OSError: its owner does not answer (TimeoutError included).
        RefusedError: its owner has replaced it meanwhile.
        MetadataVersionError: the cluster is at a level that this version does not read.
        MetadataFormatError: an answer does not match its request.
    """
    download = SnapshotDownload(wanted.snapshot.index)
    data = None
    correlations = count(1)
    while data is None:
        correlation = next(correlations)
        request = encode_request(correlation, download.next_request)
        async with asyncio.timeout(CHUNK_TIMEOUT_S):
            frame = await network.request(wanted.source, request)
        answer = decode_answer(frame, correlation)
        if answer.error == ErrorCode.UNSUPPORTED_VERSION:
            raise MetadataVersionError(answer.message)
        if answer.error != ErrorCode.NONE:
            raise RefusedError(answer.error, answer.message or answer.error.name)
        data = download.add(answer.body)
    return FetchedSnapshot(wanted.snapshot, data)
