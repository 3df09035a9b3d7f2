"""What lies where in a partition's log, by time and by size. Pure.

Entry `(offset, max_before_ms, bytes_before)` says that no record below `offset` has a timestamp above `max_before_ms`,
and how many bytes lie below it. The running maximum never falls, so entries can be searched although timestamps may
jump about; where deletion by age stops at the first record that is young enough, it is also all that matters. A new
entry is made every `interval_bytes`, and in a slow log as soon as a step of time has passed; past `entries_max` every
other one is dropped and both intervals double, so that a partition of any size has an index of bounded size and a
look-up reads a bounded share of the log.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

NO_TIMESTAMP = -1
INTERVAL_BYTES = 1 << 20
# A log that takes a megabyte in a year would otherwise be kept for a year whatever its retention is.
STEP_MS_MAX = 3_600_000


class TimeIndexEntry(NamedTuple):
    """No record below `offset` is newer than `max_before_ms`; `bytes_before` counts from the log's first batch."""

    offset: int
    max_before_ms: int
    bytes_before: int


class TimeIndex:
    """Sparse index from timestamps and sizes to offsets, and the newest timestamp of the log."""

    def __init__(self, *, interval_bytes: int = INTERVAL_BYTES, entries_max: int = 16_384) -> None:
        assert entries_max >= 2
        self._interval_bytes_min = self._interval_bytes = interval_bytes
        self._entries_max = entries_max
        self._entries: list[TimeIndexEntry] = []
        self._entry_bytes = 0  # `end_bytes` when the last entry was made
        self._step_began_ms = NO_TIMESTAMP
        self.start_bytes = 0  # bytes of the batches that were given up
        self.end_bytes = 0  # of all batches that the log ever had
        self.max_timestamp_ms = NO_TIMESTAMP
        self.max_timestamp_offset = -1  # base offset of the first batch that reached it

    @property
    def entries(self) -> tuple[TimeIndexEntry, ...]:
        """All entries, in offset order."""
        return tuple(self._entries)

    @property
    def interval_bytes(self) -> int:
        """Bytes of log between entries, as of now."""
        return self._interval_bytes

    def append(
        self, base_offset: int, max_timestamp_ms: int, size_bytes: int, step_ms: int = STEP_MS_MAX
    ) -> None:
        """Note a batch, live or replayed; `step_ms` is the most that entries are to be apart in time."""
        step_ms *= self._interval_bytes // self._interval_bytes_min
        if self._step_began_ms == NO_TIMESTAMP:
            self._step_began_ms = max_timestamp_ms
        if self.end_bytes > self._entry_bytes and (
            self.end_bytes - self._entry_bytes >= self._interval_bytes
            or max_timestamp_ms - self._step_began_ms >= step_ms
        ):
            self._begin_step(base_offset, max_timestamp_ms)
        self.end_bytes += size_bytes
        if max_timestamp_ms > self.max_timestamp_ms:
            self.max_timestamp_ms = max_timestamp_ms
            self.max_timestamp_offset = base_offset

    def _begin_step(self, base_offset: int, max_timestamp_ms: int) -> None:
        self._entries.append(TimeIndexEntry(base_offset, self.max_timestamp_ms, self.end_bytes))
        self._entry_bytes = self.end_bytes
        self._step_began_ms = max(max_timestamp_ms, self.max_timestamp_ms)
        if len(self._entries) > self._entries_max:
            del self._entries[::2]
            self._interval_bytes *= 2

    def start_of_search(self, timestamp_ms: int) -> int | None:
        """Offset below which no record is as new as `timestamp_ms`; None when no record of the log is."""
        if timestamp_ms > self.max_timestamp_ms:
            return None
        position = bisect_left(self._entries, timestamp_ms, key=lambda entry: entry.max_before_ms)
        return self._entries[position - 1].offset if position else 0

    def offset_of_age(self, timestamp_ms: int) -> int:
        """Largest known offset below which every record is older than `timestamp_ms`; 0 when none is known.

        Records without a timestamp are as old as the newest one before them that has one; those before any other
        are never old enough by themselves.
        """
        position = bisect_left(self._entries, timestamp_ms, key=lambda entry: entry.max_before_ms)
        if not position or self._entries[position - 1].max_before_ms == NO_TIMESTAMP:
            return 0
        return self._entries[position - 1].offset

    def offset_of_size(self, retained_bytes: int) -> int:
        """Largest known offset from which on the log has at least `retained_bytes`; 0 when none is known."""
        most = self.end_bytes - retained_bytes
        position = bisect_right(self._entries, most, key=lambda entry: entry.bytes_before)
        return self._entries[position - 1].offset if position else 0

    def restore(
        self,
        entries: Iterable[TimeIndexEntry],
        *,
        interval_bytes: int,
        start_bytes: int,
        end_bytes: int,
        max_timestamp_ms: int,
        max_timestamp_offset: int,
    ) -> None:
        """Replace everything by what a checkpoint holds."""
        self._entries = list(entries)
        self._interval_bytes = interval_bytes
        self.start_bytes, self.end_bytes = start_bytes, end_bytes
        last = self._entries[-1] if self._entries else None
        self._entry_bytes = start_bytes if last is None else last.bytes_before
        self._step_began_ms = max_timestamp_ms if last is None else last.max_before_ms
        self.max_timestamp_ms = max_timestamp_ms
        self.max_timestamp_offset = max_timestamp_offset

    def trim(self, log_start_offset: int, log_end_offset: int) -> None:
        """Drop entries below the log start; the newest timestamp stays, although its record may be gone, until all is.

        Bytes are counted as given up to the last entry that lies at or below the start.
        """
        if log_start_offset >= log_end_offset:
            self._entries.clear()
            self.start_bytes = self._entry_bytes = self.end_bytes
            self._step_began_ms = self.max_timestamp_ms = NO_TIMESTAMP
            self.max_timestamp_offset = -1
            return
        position = bisect_right(self._entries, log_start_offset, key=lambda entry: entry.offset)
        if position:
            self.start_bytes = self._entries[position - 1].bytes_before
        kept = bisect_left(self._entries, log_start_offset, key=lambda entry: entry.offset)
        del self._entries[:kept]
