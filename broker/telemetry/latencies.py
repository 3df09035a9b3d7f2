"""How often something took how long, counted by one thread. Pure.

The library's histograms take a lock: ten times the time of this.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from prometheus_client.utils import floatToGoString


class Latencies:
    """Counts by upper bounds, which are inclusive; the last count is of what is above."""

    __slots__ = ("_bounds_s", "_counts", "sum_s")

    def __init__(self, bounds_s: Sequence[float]) -> None:
        self._bounds_s = bounds_s
        self._counts = [0] * (len(bounds_s) + 1)
        self.sum_s = 0.0

    def observe(self, latency_s: float) -> None:
        """Record one latency."""
        self._counts[bisect_left(self._bounds_s, latency_s)] += 1
        self.sum_s += latency_s

    def buckets(self) -> list[tuple[str, float]]:
        """Give each bound with the number of those that are not above it, as a metric shows them."""
        bounds = [*map(floatToGoString, self._bounds_s), "+Inf"]
        return list(zip(bounds, accumulate(self._counts), strict=True))
