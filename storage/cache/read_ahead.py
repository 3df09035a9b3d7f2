"""Decides what to read before it is requested. Pure.

A *sequence* is a reader that continues where it stopped, known by the offset that it will read
next. Its window quadruples each time it had to wait for the bucket, up to a maximum, and is refilled
when half of it is used up, or as much as one request reads. If something read ahead is evicted
unread, the window was too large: it is halved, and not refilled for a while.
"""

from collections import OrderedDict
from typing import NamedTuple

MIN_WINDOW_BYTES = 512 * 1024
WINDOW_GROWTH = 4  # by each wait, which takes a first byte's time: four to the maximum
MAX_REFILL_BYTES = 4 * 1024 * 1024  # about one large request: several are inflight all the time
COOL_DOWN_MS = 10_000
MAX_SEQUENCES = 4096


class Sequence:
    """One sequential reader of one stream."""

    __slots__ = ("ahead_bytes", "ahead_offset", "in_progress", "rests_until_ms", "window_bytes")

    def __init__(self) -> None:
        self.window_bytes = 0
        self.ahead_offset = 0  # exclusive end of what has been requested from the bucket
        self.ahead_bytes = 0  # of that, not consumed yet
        self.in_progress = False
        self.rests_until_ms = 0


class AheadRequest(NamedTuple):
    """Read `size_bytes` from `offset` on, and report with `ReadAhead.finished`."""

    sequence: Sequence
    offset: int
    size_bytes: int


class ReadAhead:
    """The sequences of all readers, the least recently seen forgotten first."""

    def __init__(self, max_window_bytes: int, max_sequences: int = MAX_SEQUENCES) -> None:
        self._max_window_bytes = max_window_bytes
        self._max_sequences = max_sequences
        self._sequences: OrderedDict[tuple[int, int], Sequence] = OrderedDict()

    def observe(
        self,
        stream_id: int,
        offsets: tuple[int, int],
        size_bytes: int,
        *,
        waited: bool,
        now_ms: int,
    ) -> AheadRequest | None:
        """Record a read and return what to read ahead.

        Args:
            stream_id: the stream.
            offsets: where the read began, and where the next one will if the reader continues.
            size_bytes: what was read.
            waited: whether it had to wait for the bucket.
            now_ms: any clock that never goes back.
        """
        start, following = offsets
        sequence = self._sequences.pop((stream_id, start), None)
        if sequence is None:
            sequence = Sequence()
        elif waited:
            larger = max(MIN_WINDOW_BYTES, sequence.window_bytes * WINDOW_GROWTH)
            sequence.window_bytes = min(larger, self._max_window_bytes)
        sequence.ahead_bytes = max(0, sequence.ahead_bytes - size_bytes)
        if following >= sequence.ahead_offset:
            sequence.ahead_offset = following
            sequence.ahead_bytes = 0
        self._sequences[stream_id, following] = sequence
        if len(self._sequences) > self._max_sequences:
            self._sequences.popitem(last=False)
        missing = sequence.window_bytes - sequence.ahead_bytes
        if (
            sequence.in_progress
            or now_ms < sequence.rests_until_ms
            or missing <= min(sequence.window_bytes // 2, MAX_REFILL_BYTES)
        ):
            return None
        sequence.in_progress = True
        return AheadRequest(sequence, sequence.ahead_offset, missing)

    def finished(self, sequence: Sequence, ahead_offset: int, size_bytes: int) -> None:
        """Record that reads of `size_bytes` up to `ahead_offset` were started, or none."""
        sequence.in_progress = False
        if ahead_offset > sequence.ahead_offset:
            sequence.ahead_offset = ahead_offset
            sequence.ahead_bytes += size_bytes

    def wasted(self, sequence: Sequence, now_ms: int) -> None:
        """Record that something read ahead was evicted unread, or could not be read."""
        if now_ms < sequence.rests_until_ms:
            return
        sequence.window_bytes //= 2
        sequence.rests_until_ms = now_ms + COOL_DOWN_MS
