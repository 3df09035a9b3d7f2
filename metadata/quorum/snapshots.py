"""Snapshots of one member: those that it takes, and the leader's, when its log ends before the leader's begins."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from typing import Final, NamedTuple

from headrace.metadata.errors import MetadataError, MetadataLogCorruptError, RefusedError
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
from headrace.metadata.snapshot_download import SnapshotDownload
from headrace.metadata.transport import PeerNetwork
from headrace.protocol.errors import ErrorCode

logger = logging.getLogger("headrace.controller")

CHUNK_TIMEOUT_S: Final = 30.0
WRITE_BYTES: Final = 1 << 20
# After one that could not be read or installed: the leader offers it again with each heartbeat.
RETRY_S: Final = 1.0


class FetchedSnapshot(NamedTuple):
    """The whole file, as it came."""

    snapshot_id: SnapshotId
    data: bytes

    async def chunks(self) -> AsyncIterator[bytes]:
        """The file's bytes, piece by piece."""
        for position in range(0, len(self.data), WRITE_BYTES):
            yield self.data[position : position + WRITE_BYTES]


class Snapshots:
    """One is written at a time: a snapshot of our own, or the leader's in place of the log."""

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

    async def run(self, interval_bytes: int) -> None:
        """Take a snapshot whenever the log has grown by so much, until cancelled."""
        due_bytes = interval_bytes
        while True:
            if self._store.log_bytes >= due_bytes:
                try:
                    await self.take()
                except OSError as error:
                    # The disk may be full: it is tried again when the log has grown by as much.
                    logger.warning("metadata snapshot failed", extra={"reason": str(error)})
                due_bytes = self._store.log_bytes + interval_bytes
            await self._applied.entries.wait_past(self._applied.entries.end_index)

    async def take(self) -> None:
        """Write the image to disk, and drop the log before it.

        Raises:
            OSError: it could not be written; the log goes on without it.
        """
        async with self._writing:
            image = self._applied.image
            snapshot_id = SnapshotId(image.index, image.term)
            await self._store.write_snapshot(snapshot_id, encode_snapshot(image))
            self._core.compacted(snapshot_id)
            self._applied.entries.snapshot_taken(image.index)
        logger.info("metadata snapshot taken", extra={"index": image.index, "term": image.term})

    def fetch(self, wanted: SnapshotWanted) -> None:
        """Have `run_fetches` read this one. The core wants no other before this one has ended."""
        self._wanted = wanted
        self._asked.set()

    async def run_fetches(self) -> None:
        """Read what is wanted beside everything else, one after the other, until cancelled."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            if self._wanted is not None:
                wanted, self._wanted = self._wanted, None
                await self._fetch(wanted)

    async def install_fetched(self, accept: Callable[[MetadataImage], Awaitable[None]]) -> bool:
        """Put a snapshot that has been read in place of the log; False when there is none.

        Args:
            accept: called with the image before it shows.

        Raises:
            MetadataIdentityError: it is of another cluster.
            MetadataLogFailedError: the log cannot be written.
        """
        if self._fetched is None:
            return False
        fetched, self._fetched = self._fetched, None
        snapshot_id = fetched.snapshot_id
        async with self._writing:  # until it shows: else an older image could be written over it
            try:
                image = await self._store.install_snapshot(snapshot_id, fetched.chunks())
            except (MetadataLogCorruptError, OSError) as error:
                self._failed(error)  # the log goes on as it was
                return True
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
            "reading a metadata snapshot",
            extra={"index": wanted.snapshot.index, "from": wanted.source},
        )
        try:
            self._fetched = await fetch_snapshot(self._network, wanted)
        except (OSError, MetadataError) as error:
            self._failed(error)
        else:
            self._on_input()

    def _failed(self, error: Exception) -> None:
        """Not the end: the leader offers its snapshot again."""
        logger.warning("metadata snapshot not read", extra={"reason": str(error)})
        self._retry_at_s = asyncio.get_running_loop().time() + RETRY_S
        self._core.snapshot_failed(self._clock_ms())
        self._on_input()


async def fetch_snapshot(network: PeerNetwork, wanted: SnapshotWanted) -> FetchedSnapshot:
    """Read a snapshot's file whole.

    Raises:
        OSError: its owner does not answer (TimeoutError included).
        RefusedError: its owner has replaced it meanwhile.
        MetadataFormatError: what comes is not an answer to what was asked.
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
        if answer.error != ErrorCode.NONE:
            raise RefusedError(answer.error, answer.message or answer.error.name)
        data = download.add(answer.body)
    return FetchedSnapshot(wanted.snapshot, data)
