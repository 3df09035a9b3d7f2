"""Serves followers of the metadata log: committed entries, and snapshots."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from headrace.metadata.errors import RefusedError
from headrace.metadata.follower.entry_buffer import EntryBuffer
from headrace.metadata.image import MetadataImage
from headrace.metadata.levels import LevelRange, cannot_read, level_of
from headrace.metadata.log.store import LogStore
from headrace.metadata.rpc.requests import FetchEntries, FetchSnapshot
from headrace.metadata.rpc.responses import Entries, SnapshotChunk
from headrace.protocol.errors import ErrorCode

logger = logging.getLogger("headrace.controller")

MAX_FOLLOWERS: Final = 1_000  # waiting requests for entries; beyond that they are refused
MAX_FETCH_WAIT_MS: Final = 30_000
MAX_FETCH_BYTES: Final = 32 << 20


class Leading(Protocol):
    """What must be checked at the controller before entries are returned."""

    @property
    def image(self) -> MetadataImage:
        """The newest image of committed entries."""
        ...

    def require_leading(self) -> None:
        """Return only if this node is the leader, as far as it knows.

        Raises:
            RefusedError: NOT_CONTROLLER.
        """
        ...

    async def confirm_leading(self) -> None:
        """Return only if this node is proven to be the leader.

        Raises:
            RefusedError: NOT_CONTROLLER.
        """
        ...


class LogReads:
    """Answers the reads of one controller."""

    def __init__(
        self,
        leading: Leading,
        image_at_end: Callable[[], Awaitable[MetadataImage]],
        entries: EntryBuffer,
        store: LogStore,
    ) -> None:
        """Make it; `image_at_end` waits until everything in the log is committed and applied, while this node leads."""
        self._leading = leading
        self._image_at_end = image_at_end
        self._entries = entries
        self._store = store
        self._waiting = 0

    async def entries(self, request: FetchEntries) -> Entries:
        """Committed entries, waiting for the first; or the snapshot to read instead.

        Raises:
            RefusedError: NOT_CONTROLLER; POSITION_OUT_OF_RANGE, when the sender has entries that
                the leader does not have; THROTTLING_QUOTA_EXCEEDED, when too many wait;
                UNSUPPORTED_VERSION, when the sender does not read the cluster's level.
            LeadershipLostError: this node does not lead any more.
        """
        self._leading.require_leading()
        entries = self._entries
        if request.from_index > entries.end_index + 1:
            # A deposed leader that does not know it may have fewer entries than a follower of the next one.
            await self._leading.confirm_leading()
            # The node of a learner may know of a commit before this one has applied it.
            await self._image_at_end()
        if request.from_index > entries.end_index + 1:
            raise RefusedError(
                ErrorCode.POSITION_OUT_OF_RANGE,
                f"entry {request.from_index} was requested, but the log ends at entry {entries.end_index}",
            )
        if request.from_index > entries.end_index:
            await self._wait_past(entries.end_index, request.max_wait_ms)
            self._leading.require_leading()
        self._require_reader(request.reads)
        found = entries.read(request.from_index, min(request.max_bytes, MAX_FETCH_BYTES))
        if found is None:
            return Entries((), entries.end_index, entries.snapshot_index)
        return Entries(found, entries.end_index, -1)

    async def snapshot(self, request: FetchSnapshot) -> SnapshotChunk:
        """A part of a snapshot. Any controller answers, leader or not.

        Raises:
            RefusedError: SNAPSHOT_NOT_FOUND, when it is not here any more; KAFKA_STORAGE_ERROR;
                UNSUPPORTED_VERSION, when the sender does not read the cluster's level.
        """
        self._require_reader(request.reads)
        max_size = min(request.max_bytes, MAX_FETCH_BYTES)
        try:
            position = max(request.position, 0)
            part = await self._store.read_snapshot(request.snapshot_index, position, max_size)
        except OSError as error:
            # The connection stays open: heartbeats wait on it for their answers.
            logger.warning(
                "cannot read the metadata snapshot from disk; the request is refused",
                extra={"reason": str(error)},
            )
            raise RefusedError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        if part is None:
            raise RefusedError(
                ErrorCode.SNAPSHOT_NOT_FOUND,
                f"metadata snapshot {request.snapshot_index} does not exist here",
            )
        return SnapshotChunk(request.snapshot_index, request.position, part.size_bytes, part.data)

    def _require_reader(self, reads: LevelRange) -> None:
        level = level_of(self._leading.image.features)
        if level not in reads:
            raise RefusedError(ErrorCode.UNSUPPORTED_VERSION, cannot_read(reads, level))

    async def _wait_past(self, index: int, max_wait_ms: int) -> None:
        if self._waiting >= MAX_FOLLOWERS:
            raise RefusedError(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                f"{MAX_FOLLOWERS} requests are already waiting for entries",
            )
        self._waiting += 1
        try:
            async with asyncio.timeout(min(max_wait_ms, MAX_FETCH_WAIT_MS) / 1000):
                await self._entries.wait_past(index)
        except TimeoutError:
            pass
        finally:
            self._waiting -= 1
