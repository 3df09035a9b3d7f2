"""Where to start looking for a timestamp. Pure.

Entry `(offset, max_before_ms)` says that no record below `offset` has a timestamp above `max_before_ms`. The running
maximum never falls, so entries can be searched although timestamps may jump about. A new entry is made every
`interval_bytes`; past `entries_max` every other one is dropped and the interval doubles, so that a partition of any
size has an index of bounded size and a look-up reads a bounded share of the log.
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

NO_TIMESTAMP = -1


class TimeIndexEntry(NamedTuple):
    """No record below `offset` is newer than `max_before_ms`."""

    offset: int
    max_before_ms: int


class TimeIndex:
    """Sparse index from timestamps to offsets, and the newest timestamp of the log."""

    def __init__(self, *, interval_bytes: int = 1 << 20, entries_max: int = 16_384) -> None:
        assert entries_max >= 2
        self._interval_bytes = interval_bytes
        self._entries_max = entries_max
        self._entries: list[TimeIndexEntry] = []
        self._bytes_since_entry = 0
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

    def append(self, base_offset: int, max_timestamp_ms: int, size_bytes: int) -> None:
        """Note a batch, live or replayed."""
        if self._bytes_since_entry >= self._interval_bytes:
            self._entries.append(TimeIndexEntry(base_offset, self.max_timestamp_ms))
            self._bytes_since_entry = 0
            if len(self._entries) > self._entries_max:
                del self._entries[::2]
                self._interval_bytes *= 2
        self._bytes_since_entry += size_bytes
        if max_timestamp_ms > self.max_timestamp_ms:
            self.max_timestamp_ms = max_timestamp_ms
            self.max_timestamp_offset = base_offset

    def start_of_search(self, timestamp_ms: int) -> int | None:
        """Offset below which no record is as new as `timestamp_ms`; None when no record of the log is."""
        if timestamp_ms > self.max_timestamp_ms:
            return None
        position = bisect_left(self._entries, timestamp_ms, key=lambda entry: entry.max_before_ms)
        return self._entries[position - 1].offset if position else 0

    def restore(
        self,
        entries: Iterable[TimeIndexEntry],
        *,
        interval_bytes: int,
        max_timestamp_ms: int,
        max_timestamp_offset: int,
    ) -> None:
        """Replace everything by what a checkpoint holds."""
        self._entries = list(entries)
        self._interval_bytes = interval_bytes
        self._bytes_since_entry = 0
        self.max_timestamp_ms = max_timestamp_ms
        self.max_timestamp_offset = max_timestamp_offset

    def trim(self, log_start_offset: int) -> None:
        """Drop entries below the log start; the newest timestamp stays although its record may be gone."""
        kept = bisect_left(self._entries, log_start_offset, key=lambda entry: entry.offset)
        del self._entries[:kept]
