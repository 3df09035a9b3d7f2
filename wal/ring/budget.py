"""Bounds the IO operations and bytes per second that are submitted to a device. Pure.

A token bucket that starts empty; the burst is subtracted from the rate, so that no second has more than the
limit: a cloud disk is used fully and never billed beyond what is free. Only an operation larger than a burst may
exceed the limit once, and is paid for afterwards. This counts submitted operations, a device counts completed ones:
operations that were inflight when a second begins are subtracted from the rate as well.
"""

from headrace.invariants import require

_NS_PER_SECOND = 1_000_000_000
_BURSTS_PER_SECOND = 50
# A cloud disk counts a larger operation as several of this size.
MAX_IO_BYTES = 256 * 1024


class TokenBucket:
    """Allows `per_second` units in any second; of a limit of 1 at most one more."""

    __slots__ = ("_burst", "_filled_ns", "_rate", "_tokens")

    def __init__(self, per_second: int, now_ns: int, *, max_inflight: int = 0) -> None:
        require(per_second > 0)
        self._burst = max(1.0, per_second / _BURSTS_PER_SECOND)
        rate = per_second - self._burst - max_inflight
        self._rate = max(rate, per_second / 2) / _NS_PER_SECOND
        self._tokens = 0.0
        self._filled_ns = now_ns

    def delay_ns(self, units: int, now_ns: int) -> int:
        """Return how long to wait until `units` may be taken; 0 for now."""
        self._fill(now_ns)
        missing = min(units, self._burst) - self._tokens
        return 0 if missing <= 0 else int(missing / self._rate) + 1

    def take(self, units: int) -> None:
        """Take `units`; to be called when `delay_ns` is 0. What exceeds a burst is a debt."""
        self._tokens -= units

    def _fill(self, now_ns: int) -> None:
        elapsed = max(0, now_ns - self._filled_ns)
        self._tokens = min(self._burst, self._tokens + elapsed * self._rate)
        self._filled_ns = now_ns


class IoBudget:
    """Operations and bytes together; 0 means unlimited.

    Args:
        max_iops: operations in any second.
        max_bandwidth_bytes: bytes in any second.
        now_ns: of the clock that the other methods are given.
        max_io_bytes: size above which the device counts one write as several operations.
        max_inflight: operations at the device at once.
    """

    __slots__ = ("_bandwidth", "_iops", "_max_io_bytes")

    def __init__(
        self,
        *,
        max_iops: int,
        max_bandwidth_bytes: int,
        now_ns: int,
        max_io_bytes: int = MAX_IO_BYTES,
        max_inflight: int = 0,
    ) -> None:
        require(max_io_bytes > 0)
        self._max_io_bytes = max_io_bytes
        self._iops = TokenBucket(max_iops, now_ns, max_inflight=max_inflight) if max_iops else None
        self._bandwidth = TokenBucket(max_bandwidth_bytes, now_ns) if max_bandwidth_bytes else None

    def delay_ns(self, size_bytes: int, now_ns: int) -> int:
        """Return how long to wait until a write of `size_bytes` may be submitted; 0 for now."""
        delay = 0
        if self._iops is not None:
            delay = self._iops.delay_ns(-(-size_bytes // self._max_io_bytes), now_ns)
        if self._bandwidth is not None:
            delay = max(delay, self._bandwidth.delay_ns(size_bytes, now_ns))
        return delay

    def take(self, size_bytes: int) -> None:
        """Charge one write of `size_bytes`."""
        if self._iops is not None:
            self._iops.take(-(-size_bytes // self._max_io_bytes))
        if self._bandwidth is not None:
            self._bandwidth.take(size_bytes)
