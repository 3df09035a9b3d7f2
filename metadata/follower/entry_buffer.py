"""Committed entries of the metadata log in memory, for brokers that follow it."""

import asyncio
from collections.abc import Sequence
from typing import Final

from headrace.invariants import require
from headrace.metadata.records.entry import LogEntry

# Kept although a snapshot includes them, so that a broker slightly behind need not read the snapshot.
SLACK_BYTES: Final = 8 << 20


class EntryBuffer:
    """All entries after the newest durable snapshot, and some before it.

    Bounded by the interval of snapshots: see `MetadataConfig.snapshot_log_bytes`.
    """

    def __init__(self, snapshot_index: int) -> None:
        self._entries: list[LogEntry] = []
        self._first_index = snapshot_index + 1
        self._snapshot_index = snapshot_index
        self._changed = asyncio.Event()  # replaced by a new one whenever it is set

    @property
    def end_index(self) -> int:
        """The last committed entry."""
        return self._first_index + len(self._entries) - 1

    @property
    def snapshot_index(self) -> int:
        """The newest durable snapshot; 0 when there is none."""
        return self._snapshot_index

    def extend(self, entries: Sequence[LogEntry]) -> None:
        """Add newly committed entries, and wake those who wait for them."""
        require(entries[0].index == self.end_index + 1, "the log has no gaps")
        self._entries += entries
        self.wake()

    def wake(self) -> None:
        """Wake all waiters, so that they check whether to wait on."""
        self._changed.set()
        self._changed = asyncio.Event()

    def restart(self, snapshot_index: int) -> None:
        """Start over after a snapshot that replaced the whole log."""
        self._entries = []
        self._first_index = snapshot_index + 1
        self._snapshot_index = snapshot_index
        self.wake()

    def snapshot_taken(self, snapshot_index: int) -> None:
        """Drop entries that the snapshot includes, except the last few."""
        self._snapshot_index = snapshot_index
        included = snapshot_index - self._first_index + 1
        slack_bytes = 0
        keep = 0
        while keep < included and slack_bytes < SLACK_BYTES:
            keep += 1
            slack_bytes += len(self._entries[included - keep].payload)
        if slack_bytes > SLACK_BYTES:
            keep -= 1
        del self._entries[: included - keep]
        self._first_index += included - keep

    def read(self, from_index: int, max_bytes: int) -> tuple[LogEntry, ...] | None:
        """Entries from an index on, at least one if there is one; None when they were dropped."""
        if from_index < self._first_index:
            return None
        first = last = from_index - self._first_index
        read_bytes = 0
        while last < len(self._entries):
            read_bytes += len(self._entries[last].payload)
            if read_bytes > max_bytes and last > first:
                break
            last += 1
        return tuple(self._entries[first:last])

    async def wait_past(self, index: int) -> None:
        """Wait until there is an entry after this one, or `wake` is called."""
        if self.end_index <= index:
            await self._changed.wait()
