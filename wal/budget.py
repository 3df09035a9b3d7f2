"""How many IO operations and bytes per second a device may be asked for.

A pure token bucket: the burst is taken out of the rate, so that no second sees more than the limit
(plus at most one operation): a cloud disk is used fully and never billed beyond what is free.
"""

_NS_PER_SECOND = 1_000_000_000
_BURSTS_PER_SECOND = 50
# A cloud disk counts a larger operation as several of this size.
IO_BYTES_MAX = 256 * 1024


class TokenBucket:
    """Allows `per_second` units in any second. It may go into debt for one large request."""

    __slots__ = ("_burst", "_filled_ns", "_rate", "_tokens")

    def __init__(self, per_second: int, now_ns: int) -> None:
        assert per_second > 0
        self._burst = max(1.0, per_second / _BURSTS_PER_SECOND)
        self._rate = max(per_second - self._burst, per_second / 2) / _NS_PER_SECOND
        self._tokens = self._burst
        self._filled_ns = now_ns

    def delay_ns(self, now_ns: int) -> int:
        """Return how long to wait until something may be taken; 0 for now."""
        self._fill(now_ns)
        return 0 if self._tokens > 0 else int(-self._tokens / self._rate) + 1

    def take(self, units: int) -> None:
        """Take `units`; to be called when `delay_ns` is 0."""
        self._tokens -= units

    def _fill(self, now_ns: int) -> None:
        elapsed = max(0, now_ns - self._filled_ns)
        self._tokens = min(self._burst, self._tokens + elapsed * self._rate)
        self._filled_ns = now_ns


class IoBudget:
    """Operations and bytes together; 0 means unlimited."""

    __slots__ = ("_bandwidth", "_iops")

    def __init__(self, *, iops_max: int, bandwidth_bytes_max: int, now_ns: int) -> None:
        self._iops = TokenBucket(iops_max, now_ns) if iops_max else None
        self._bandwidth = TokenBucket(bandwidth_bytes_max, now_ns) if bandwidth_bytes_max else None

    def delay_ns(self, now_ns: int) -> int:
        """Return how long to wait until the next operation may be submitted; 0 for now."""
        delay = 0
        if self._iops is not None:
            delay = self._iops.delay_ns(now_ns)
        if self._bandwidth is not None:
            delay = max(delay, self._bandwidth.delay_ns(now_ns))
        return delay

    def take(self, size_bytes: int) -> None:
        """Charge one write of `size_bytes`."""
        if self._iops is not None:
            self._iops.take(-(-size_bytes // IO_BYTES_MAX))
        if self._bandwidth is not None:
            self._bandwidth.take(size_bytes)
