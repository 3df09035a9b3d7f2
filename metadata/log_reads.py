"""Serves those who follow the metadata log: committed entries, and snapshots."""

import asyncio
import logging
from typing import Final, Protocol

from headrace.metadata.entry_buffer import EntryBuffer
from headrace.metadata.errors import RefusedError
from headrace.metadata.log.store import LogStore
from headrace.metadata.rpc.requests import FetchEntries, FetchSnapshot
from headrace.metadata.rpc.responses import Entries, SnapshotChunk
from headrace.protocol.errors import ErrorCode

logger = logging.getLogger("headrace.controller")

MAX_FOLLOWERS: Final = 1_000  # requests for entries that wait; beyond, they are refused
MAX_FETCH_WAIT_MS: Final = 30_000
MAX_FETCH_BYTES: Final = 32 << 20


class Leading(Protocol):
    """What is asked of the controller, before entries are given away."""

    def require_leading(self) -> None:
        """Go on only as the leader.

        Raises:
            RefusedError: NOT_CONTROLLER.
        """
        ...

    async def confirm_leading(self) -> None:
        """Go on only as the leader that certainly is one.

        Raises:
            RefusedError: NOT_CONTROLLER.
        """
        ...


class LogReads:
    """Reads of one controller."""

    def __init__(self, leading: Leading, entries: EntryBuffer, store: LogStore) -> None:
        self._leading = leading
        self._entries = entries
        self._store = store
        self._waiting = 0

    async def entries(self, request: FetchEntries) -> Entries:
        """Committed entries, waiting for the first; or which snapshot to read instead.

        Raises:
            RefusedError: NOT_CONTROLLER; POSITION_OUT_OF_RANGE, when the sender has entries that
                the leader has not; THROTTLING_QUOTA_EXCEEDED, when too many wait.
        """
        self._leading.require_leading()
        entries = self._entries
        if request.from_index > entries.end_index + 1:
            # A leader that was deposed without knowing it has less than who follows the next one.
            await self._leading.confirm_leading()
        if request.from_index > entries.end_index + 1:
            raise RefusedError(
                ErrorCode.POSITION_OUT_OF_RANGE,
                f"entry {request.from_index} is asked for, the log ends at {entries.end_index}",
            )
        if request.from_index > entries.end_index:
            await self._wait_past(entries.end_index, request.max_wait_ms)
            self._leading.require_leading()
        found = entries.read(request.from_index, min(request.max_bytes, MAX_FETCH_BYTES))
        if found is None:
            return Entries((), entries.end_index, entries.snapshot_index)
        return Entries(found, entries.end_index, -1)

    async def snapshot(self, request: FetchSnapshot) -> SnapshotChunk:
        """A part of the newest snapshot, whether this controller leads or not.

        Raises:
            RefusedError: SNAPSHOT_NOT_FOUND, when it is not the one asked for; KAFKA_STORAGE_ERROR.
        """
        max_size = min(request.max_bytes, MAX_FETCH_BYTES)
        try:
            part = await self._store.read_snapshot(max(request.position, 0), max_size)
        except OSError as error:
            # Not the end of the connection, on which heartbeats wait for their answers.
            logger.warning("metadata snapshot cannot be read", extra={"reason": str(error)})
            raise RefusedError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        if part is None or part.snapshot_index != request.snapshot_index:
            raise RefusedError(
                ErrorCode.SNAPSHOT_NOT_FOUND, f"there is no snapshot {request.snapshot_index}"
            )
        return SnapshotChunk(part.snapshot_index, request.position, part.size_bytes, part.data)

    async def _wait_past(self, index: int, max_wait_ms: int) -> None:
        if self._waiting >= MAX_FOLLOWERS:
            raise RefusedError(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED, f"{MAX_FOLLOWERS} requests wait for entries"
            )
        self._waiting += 1
        try:
            async with asyncio.timeout(min(max_wait_ms, MAX_FETCH_WAIT_MS) / 1000):
                await self._entries.wait_past(index)
        except TimeoutError:
            pass
        finally:
            self._waiting -= 1
