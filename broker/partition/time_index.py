"""Index of a partition's log by time and by size. Pure.

The index divides the log into segments of `interval_bytes`, and in a slow log of `segment_ms`. A segment is a range
of offsets only: no file and no object begins or ends with it. Entry `(offset, max_ms, max_offset, bytes_before)` ends
a segment at `offset`: of the records between the entry before it (or the log start) and `offset` the newest has
`max_ms`, in the batch at `max_offset`; `bytes_before` bytes lie below `offset`. Running maxima never fall,
so they can be searched even if timestamps are not in order. Deletion by age stops at the first record that is young
enough, so it needs only them. Past `max_entries` neighbouring segments are joined and both intervals
double, so that a partition of any size has an index of bounded size and a look-up reads a bounded share of the log.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from headrace.invariants import require
from headrace.protocol.partition_checkpoint import TimeIndexEntry

NO_TIMESTAMP = -1
NO_OFFSET = -1
INTERVAL_BYTES = 1 << 20
# A log that takes a megabyte in a year would otherwise be kept for a year whatever its retention is.
MAX_SEGMENT_MS = 3_600_000
MAX_TIMESTAMP_MS = (1 << 63) - 1


class Segment(NamedTuple):
    """Offsets [start, end) of the log, and their newest batch; `end` is None for the active segment."""

    start: int
    end: int | None
    max_ms: int
    max_offset: int


class TimeIndex:
    """Sparse index from timestamps and sizes to offsets."""

    def __init__(self, *, interval_bytes: int = INTERVAL_BYTES, max_entries: int = 16_384) -> None:
        require(max_entries >= 2)
        self._min_interval_bytes = self._interval_bytes = interval_bytes
        self._max_entries = max_entries
        self._entries: list[TimeIndexEntry] = []
        self._running_ms: list[int] = []  # of each entry, the newest of all records before it
        self._segment_start_bytes = 0  # `end_bytes` where the active segment began
        self._segment_began_ms = NO_TIMESTAMP
        self.segment_max_ms = NO_TIMESTAMP  # of the active segment, as in entries
        self.segment_max_offset = NO_OFFSET
        self.start_bytes = 0  # bytes of the deleted batches
        self.end_bytes = 0  # bytes of all batches that the log ever had

    @property
    def entries(self) -> tuple[TimeIndexEntry, ...]:
        """All entries, in offset order."""
        return tuple(self._entries)

    @property
    def interval_bytes(self) -> int:
        """Current number of log bytes between entries."""
        return self._interval_bytes

    @property
    def max_timestamp_ms(self) -> int:
        """Newest timestamp of the log; deleted batches of its first segment may count."""
        return (
            max(self._running_ms[-1], self.segment_max_ms)
            if self._running_ms
            else self.segment_max_ms
        )

    def append(
        self,
        base_offset: int,
        max_timestamp_ms: int,
        size_bytes: int,
        segment_ms: int = MAX_SEGMENT_MS,
    ) -> None:
        """Add a batch, appended or replayed; a segment covers at most `segment_ms`, and at most the bound."""
        segment_ms = min(segment_ms, MAX_SEGMENT_MS) * (
            self._interval_bytes // self._min_interval_bytes
        )
        if self._segment_began_ms == NO_TIMESTAMP:
            self._segment_began_ms = max_timestamp_ms
        if self.end_bytes > self._segment_start_bytes and (
            self.end_bytes - self._segment_start_bytes >= self._interval_bytes
            or max_timestamp_ms - self._segment_began_ms >= segment_ms
        ):
            self._end_segment(base_offset, max_timestamp_ms)
        self.end_bytes += size_bytes
        if max_timestamp_ms > self.segment_max_ms:
            self.segment_max_ms = max_timestamp_ms
            self.segment_max_offset = base_offset

    def _end_segment(self, offset: int, next_ms: int) -> None:
        running_ms = self.max_timestamp_ms
        self._entries.append(
            TimeIndexEntry(offset, self.segment_max_ms, self.segment_max_offset, self.end_bytes)
        )
        self._running_ms.append(running_ms)
        self._segment_start_bytes = self.end_bytes
        self._segment_began_ms = max(next_ms, running_ms)
        self.segment_max_ms, self.segment_max_offset = NO_TIMESTAMP, NO_OFFSET
        if len(self._entries) > self._max_entries:
            self._join_segments()

    def skip(self, start_offset: int, end_offset: int, newest_ms: int) -> None:
        """Add offsets whose batches cannot be read, as a segment without bytes.

        `newest_ms` is a bound for their timestamps: they are deleted once that is old enough.
        """
        if self.end_bytes > self._segment_start_bytes:
            self._end_segment(start_offset, newest_ms)
        self.segment_max_ms, self.segment_max_offset = newest_ms, start_offset
        self._end_segment(end_offset, newest_ms)

    def _join_segments(self) -> None:
        """Join pairs of segments, such that the last entry stays."""
        entries = self._entries
        alone = len(entries) % 2
        joined = [
            second if second.max_ms > first.max_ms
            else second._replace(max_ms=first.max_ms, max_offset=first.max_offset)
            for first, second in zip(entries[alone::2], entries[alone + 1 :: 2], strict=True)
        ]  # fmt: skip
        self._entries = entries[:alone] + joined
        self._interval_bytes *= 2
        self._run()

    def _run(self) -> None:
        running_ms = NO_TIMESTAMP
        self._running_ms = []
        for entry in self._entries:
            running_ms = max(running_ms, entry.max_ms)
            self._running_ms.append(running_ms)

    def start_of_search(self, timestamp_ms: int) -> int | None:
        """Offset below which no record is as new as `timestamp_ms`; None when no record of the log is."""
        if timestamp_ms > self.max_timestamp_ms:
            return None
        position = bisect_left(self._running_ms, timestamp_ms)
        return self._entries[position - 1].offset if position else 0

    def offset_of_age(self, timestamp_ms: int) -> int:
        """Largest known offset below which every record is older than `timestamp_ms`; 0 when none is known.

        Records without a timestamp are as old as the newest one before them that has one; those before the
        first timestamp are never old enough by themselves.
        """
        position = bisect_left(self._running_ms, timestamp_ms)
        if not position or self._running_ms[position - 1] == NO_TIMESTAMP:
            return 0
        return self._entries[position - 1].offset

    def offset_of_size(self, retained_bytes: int) -> int:
        """Largest known offset from which on the log has at least `retained_bytes`; 0 when none is known."""
        most = self.end_bytes - retained_bytes
        position = bisect_right(self._entries, most, key=lambda entry: entry.bytes_before)
        return self._entries[position - 1].offset if position else 0

    def entries_above(self, offset: int) -> list[TimeIndexEntry]:
        """Entries that end a segment above an offset, in offset order."""
        position = bisect_right(self._entries, offset, key=lambda entry: entry.offset)
        return self._entries[position:]

    def bytes_below(self, offset: int) -> int:
        """Bytes of all batches that the log ever had below the last known offset up to `offset`."""
        position = bisect_right(self._entries, offset, key=lambda entry: entry.offset)
        return self._entries[position - 1].bytes_before if position else self.start_bytes

    def anew(self) -> "TimeIndex":
        """An index without segments that begins where this one does: for batches that are cleaned."""
        index = TimeIndex(interval_bytes=self._min_interval_bytes, max_entries=self._max_entries)
        index._interval_bytes = self._interval_bytes
        index.start_bytes = index.end_bytes = index._segment_start_bytes = self.start_bytes
        return index

    def end_at(self, offset: int) -> None:
        """End the active segment at the end of the log, with or without batches."""
        self._end_segment(offset, NO_TIMESTAMP)

    def replace_below(self, end_offset: int, cleaned: "TimeIndex", bytes_before: int) -> None:
        """Replace what lies below an offset, which had `bytes_before`, by the index of its cleaned batches.

        `end_offset` is not in the active segment. The caller trims afterwards: the log start may have moved meanwhile.
        """
        cleaned.end_at(end_offset)
        shrunk_bytes = bytes_before - cleaned.end_bytes
        following = [
            it._replace(
                bytes_before=it.bytes_before - shrunk_bytes,
                # Of a segment of which a part is cleaned, the newest batch may be gone.
                max_offset=it.max_offset if it.max_offset >= end_offset else NO_OFFSET,
            )
            for it in self._entries
            if it.offset > end_offset
        ]
        self._entries = [*cleaned.entries, *following]
        self._interval_bytes = max(self._interval_bytes, cleaned.interval_bytes)
        self.start_bytes = cleaned.start_bytes
        self._segment_start_bytes -= shrunk_bytes
        self.end_bytes -= shrunk_bytes
        self._run()
        while len(self._entries) > self._max_entries:
            self._join_segments()

    def segments(self) -> Iterator[Segment]:
        """All segments in offset order; the first may begin below the log start."""
        start = 0
        for entry in self._entries:
            yield Segment(start, entry.offset, entry.max_ms, entry.max_offset)
            start = entry.offset
        yield Segment(start, None, self.segment_max_ms, self.segment_max_offset)

    def restore(
        self,
        entries: Iterable[TimeIndexEntry],
        *,
        interval_bytes: int,
        segment_max_ms: int,
        segment_max_offset: int,
        start_bytes: int,
        end_bytes: int,
        latest_ms: int = MAX_TIMESTAMP_MS,
    ) -> None:
        """Replace the index by that of a checkpoint; a timestamp beyond `latest_ms` counts as that."""
        self._entries = [
            it if it.max_ms <= latest_ms else it._replace(max_ms=latest_ms) for it in entries
        ]
        segment_max_ms = min(segment_max_ms, latest_ms)
        self._run()
        self._interval_bytes = interval_bytes
        self.segment_max_ms, self.segment_max_offset = segment_max_ms, segment_max_offset
        self.start_bytes, self.end_bytes = start_bytes, end_bytes
        self._segment_start_bytes = self._entries[-1].bytes_before if self._entries else start_bytes
        self._segment_began_ms = self._running_ms[-1] if self._entries else segment_max_ms

    def trim(self, log_start_offset: int, log_end_offset: int) -> None:
        """Drop the segments below the log start; the segment that contains the log start is kept whole.

        Bytes count as deleted up to the last entry at or below the log start.
        """
        if log_start_offset >= log_end_offset:
            self._entries.clear()
            self.start_bytes = self._segment_start_bytes = self.end_bytes
            self.segment_max_ms, self.segment_max_offset = NO_TIMESTAMP, NO_OFFSET
        else:
            passed = bisect_right(self._entries, log_start_offset, key=lambda entry: entry.offset)
            if passed:
                self.start_bytes = self._entries[passed - 1].bytes_before
                del self._entries[:passed]
        self._run()
        self._segment_began_ms = min(self._segment_began_ms, self.max_timestamp_ms)
