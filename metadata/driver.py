"""The controller as it runs: it owns the log, leads its term, and keeps the brokers' sessions.

There is one voter: what is durable in its log is committed, and no quorum round need precede the
answer to a heartbeat. Everything else is as it will be with several: entries carry term and index,
a term is opened by a no-op that is committed before anything is served, and a new leader fences
nobody before the longest lease that its predecessor may have granted has ended.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from config.node import MetadataConfig
from metadata.commits import Committed, Committer, Decide
from metadata.controller.decision import ConfigRules, Inputs
from metadata.entry_buffer import EntryBuffer
from metadata.errors import RefusedError
from metadata.image import MetadataImage
from metadata.log.snapshot_format import encode_snapshot
from metadata.log.store import LogStore
from metadata.raft.effects import HardState, Persist
from metadata.records.codec import encode_records
from metadata.records.entry import LogEntry, SnapshotId
from metadata.replay import replay
from metadata.rpc.requests import FetchEntries, FetchSnapshot, Heartbeat
from metadata.rpc.responses import Entries, SnapshotChunk
from metadata.service import ControllerService
from metadata.startup import load_image, new_cluster_id, term_records
from metadata.supervision import BrokerSupervision
from protocol.errors import ErrorCode

if TYPE_CHECKING:
    from random import Random

logger = logging.getLogger("headrace.controller")

FOLLOWERS_MAX: Final = 1_000  # requests for entries that wait; beyond, they are refused
FETCH_WAIT_MS_MAX: Final = 30_000
FETCH_BYTES_MAX: Final = 32 << 20


class ControllerNode:
    """One controller. Order of use: `start`, then `run` in a task and `handle`, then `shutdown`."""

    def __init__(
        self,
        config: MetadataConfig,
        *,
        node_id: int,
        rng: "Random",
        wall_clock_ms: Callable[[], int],
        boot_clock_ms: Callable[[], int],
        configs: ConfigRules,
        cluster_id: str = "",
    ) -> None:
        self._config = config
        self._node_id = node_id
        self._rng = rng
        self._wall_clock_ms = wall_clock_ms
        self._boot_clock_ms = boot_clock_ms
        self._configs = configs
        self._cluster_id = cluster_id
        self._store = LogStore(Path(config.log_dir), rng)
        self._service = ControllerService(self)
        self._entries = EntryBuffer(0)
        self._committer: Committer | None = None  # none before `start`: nothing is served
        self._supervision: BrokerSupervision | None = None
        self._log_grown = asyncio.Event()
        self._followers = 0

    @property
    def image(self) -> MetadataImage:
        """The image at the last committed entry.

        Raises:
            RefusedError: NOT_CONTROLLER, before the start.
        """
        return self._leading().image

    async def start(self) -> None:
        """Load the log and open the next term.

        Raises:
            MetadataIdentityError: the directory is somebody else's, or in use.
            MetadataLogCorruptError: acknowledged entries cannot be read.
            MetadataFormatError: a newer version has written the log.
            MetadataLogFailedError: the log cannot be written.
        """
        opened = await self._store.open(node_id=self._node_id, cluster_id=self._cluster_id)
        cluster_id = opened.cluster_id or new_cluster_id(self._rng)
        await self._store.name_cluster(cluster_id)
        recovered = opened.recovered
        if recovered.cut_off_bytes:
            logger.warning(
                "cut off the unfinished end of the metadata log",
                extra={"bytes": recovered.cut_off_bytes},
            )
        loaded = load_image(recovered, cluster_id)
        records = term_records(
            loaded, leader_id=self._node_id, cluster_id=cluster_id, now_ms=self._wall_clock_ms()
        )
        entry = LogEntry(loaded.index + 1, loaded.term + 1, encode_records(records))
        image = replay(loaded, records, index=entry.index, term=entry.term)
        term = HardState(entry.term, self._node_id)
        await self._store.persist(Persist(hard_state=term, entries=(entry,)))
        self._entries = EntryBuffer(loaded.index - len(recovered.entries))
        self._entries.extend([*recovered.entries, entry])
        self._log_grown.set()
        self._committer = Committer(
            self._store, self._entries, image, inputs=self._inputs, on_commit=self._committed
        )
        self._supervision = BrokerSupervision(
            self._committer,
            session_timeout_ms=self._config.broker_session_timeout_ms,
            wall_clock_ms=self._wall_clock_ms,
            boot_clock_ms=self._boot_clock_ms,
        )
        logger.info(
            "leading the metadata log",
            extra={"cluster_id": cluster_id, "term": image.term, "index": image.index},
        )

    async def run(self) -> None:
        """Commit, watch sessions, take snapshots; until cancelled.

        Raises:
            ExceptionGroup: of MetadataLogFailedError, when the log accepts nothing any more.
        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._leading().run(), name="metadata-commits")
            tasks.create_task(self._supervising().run(), name="metadata-sessions")
            tasks.create_task(self._take_snapshots(), name="metadata-snapshots")

    async def shutdown(self) -> None:
        """Serve nothing any more and close the log. `run` must have ended, or `start` failed."""
        self._committer = self._supervision = None
        self._entries.close()
        await self._store.close()

    async def handle(self, frame: bytes) -> bytes:
        """Answer one encoded request; see `ControllerService.handle`."""
        return await self._service.handle(frame)

    async def propose(self, decide: Decide) -> Committed:
        """Decide, commit, answer; see `Committer.propose`."""
        return await self._leading().propose(decide)

    async def heartbeat(self, request: Heartbeat) -> Committed:
        """Renew a session; see `BrokerSupervision.heartbeat`."""
        return await self._supervising().heartbeat(request)

    async def check_deadlines(self) -> None:
        """Fence and expire what is due now; `run` does so regularly."""
        await self._supervising().check_deadlines()

    async def fetch_entries(self, request: FetchEntries) -> Entries:
        """Committed entries, waiting for the first; or which snapshot to read instead.

        Raises:
            RefusedError: POSITION_OUT_OF_RANGE, when the sender has entries that we have not.
        """
        self._leading()
        entries = self._entries
        if request.from_index > entries.end_index + 1:
            raise RefusedError(
                ErrorCode.POSITION_OUT_OF_RANGE,
                f"entry {request.from_index} is asked for, the log ends at {entries.end_index}",
            )
        if request.from_index > entries.end_index:
            await self._wait_for(request.from_index, request.max_wait_ms)
            self._leading()
        found = entries.read(request.from_index, min(request.max_bytes, FETCH_BYTES_MAX))
        if found is None:
            return Entries((), entries.end_index, entries.snapshot_index)
        return Entries(found, entries.end_index, -1)

    async def fetch_snapshot(self, request: FetchSnapshot) -> SnapshotChunk:
        """A part of the newest snapshot.

        Raises:
            RefusedError: SNAPSHOT_NOT_FOUND, when another has replaced the one asked for.
        """
        self._leading()
        size_max = min(request.max_bytes, FETCH_BYTES_MAX)
        part = await self._store.read_snapshot(max(request.position, 0), size_max)
        if part is None or part.snapshot_index != request.snapshot_index:
            raise RefusedError(
                ErrorCode.SNAPSHOT_NOT_FOUND, f"there is no snapshot {request.snapshot_index}"
            )
        return SnapshotChunk(part.snapshot_index, request.position, part.size_bytes, part.data)

    async def take_snapshot(self) -> None:
        """Write the image to disk, and drop the log before it.

        Raises:
            OSError: it could not be written; the log goes on without it.
        """
        image = self._leading().image
        await self._store.write_snapshot(
            SnapshotId(image.index, image.term), encode_snapshot(image)
        )
        self._entries.snapshot_taken(image.index)
        logger.info("metadata snapshot taken", extra={"index": image.index, "term": image.term})

    def _leading(self) -> Committer:
        if self._committer is None:
            raise RefusedError(ErrorCode.NOT_CONTROLLER, "the controller has not started")
        return self._committer

    def _supervising(self) -> BrokerSupervision:
        if self._supervision is None:
            raise RefusedError(ErrorCode.NOT_CONTROLLER, "the controller has not started")
        return self._supervision

    def _inputs(self) -> Inputs:
        return Inputs(self._wall_clock_ms(), self._rng, self._configs)

    def _committed(self, old: MetadataImage, new: MetadataImage) -> None:
        self._log_grown.set()
        self._supervising().follow(old, new)

    async def _wait_for(self, index: int, max_wait_ms: int) -> None:
        if self._followers >= FOLLOWERS_MAX:
            raise RefusedError(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED, f"{FOLLOWERS_MAX} requests wait for entries"
            )
        self._followers += 1
        try:
            async with asyncio.timeout(min(max_wait_ms, FETCH_WAIT_MS_MAX) / 1000):
                await self._entries.wait_for(index)
        except TimeoutError:
            pass
        finally:
            self._followers -= 1

    async def _take_snapshots(self) -> None:
        due_bytes = self._config.snapshot_log_bytes
        while True:
            await self._log_grown.wait()
            self._log_grown.clear()
            if self._store.log_bytes < due_bytes:
                continue
            try:
                await self.take_snapshot()
            except OSError as error:
                # The disk may be full: it is tried again when the log has grown by as much.
                logger.warning("metadata snapshot failed", extra={"reason": str(error)})
            due_bytes = self._store.log_bytes + self._config.snapshot_log_bytes
