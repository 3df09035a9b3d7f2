"""How long writes and appends take, counted cheaply. Pure.

An append's latency is that of the first record of its block: an upper bound for the others, which joined it later.
So a clock is read once for each block, not for each record.
"""

from bisect import bisect_left
from collections import deque
from typing import NamedTuple

# From a write that hits a fast device's cache to the time-out of a write.
BUCKETS_NS = tuple(
    round(milliseconds * 1_000_000)
    for milliseconds in (
        0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20, 30, 50, 100, 250, 500, 1000, 5000,
        30_000,
    )
)  # fmt: skip


class LatencyHistogram:
    """Counts by the upper bounds `BUCKETS_NS`, which are inclusive; the last count is of what is above."""

    __slots__ = ("counts", "max_ns", "sum_ns")

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS_NS) + 1)
        self.sum_ns = 0
        self.max_ns = 0

    def observe(self, latency_ns: int, count: int = 1) -> None:
        """Count `latency_ns`, `count` times."""
        self.counts[bisect_left(BUCKETS_NS, latency_ns)] += count
        self.sum_ns += latency_ns * count
        self.max_ns = max(self.max_ns, latency_ns)


class WriteQueue(NamedTuple):
    """What is appended and not confirmed."""

    writes: int  # at the device, or ready to go there
    oldest_age_ns: int  # of the first append; 0 when all are confirmed


EMPTY_QUEUE = WriteQueue(0, 0)


class OpenBlocks:
    """When the blocks that are not confirmed were begun, and with how many records before."""

    __slots__ = ("_begun", "_histogram", "appends_total")

    def __init__(self, histogram: LatencyHistogram) -> None:
        self._histogram = histogram
        self._begun: deque[tuple[int, int, int]] = deque()  # offset, when, appends before
        self.appends_total = 0  # the driver counts them

    def begin(self, offset: int, now_ns: int) -> None:
        """Record that the last append, at `offset`, began a block."""
        self._begun.append((offset, now_ns, self.appends_total - 1))

    def confirmed(self, offset: int, now_ns: int) -> None:
        """Count the latencies of the blocks that begin below `offset`, which is a block's end."""
        begun = self._begun
        while begun and begun[0][0] < offset:
            _, at_ns, appends = begun.popleft()
            until = begun[0][2] if begun else self.appends_total
            self._histogram.observe(now_ns - at_ns, until - appends)

    def oldest_age_ns(self, now_ns: int) -> int:
        """How long the oldest append waits to be confirmed; 0 when none does."""
        return now_ns - self._begun[0][1] if self._begun else 0
