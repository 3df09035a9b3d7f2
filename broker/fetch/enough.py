"""When a Fetch has enough to be answered. Pure.

The handler asks with what a read has found, the waiter with what it has counted since. Both compare the bytes that are
*available* with `min_bytes`. Where whole batches do not fill a limit although more may be read behind them, the limit
counts: otherwise a client whose `min_bytes` is near its limits would wait although there is enough.
"""

from typing import Protocol


class WholeRead(Protocol):
    """What a read has found."""

    @property
    def available_bytes(self) -> int:
        """Bytes of all partitions, see `cut_off`."""
        ...

    @property
    def has_error(self) -> bool:
        """Whether a partition has an error."""
        ...


class Enough:
    """What one Fetch waits for."""

    __slots__ = ("_may_wait", "_min_bytes")

    def __init__(self, *, min_bytes: int, max_bytes: int, may_wait: bool) -> None:
        self._min_bytes = min(min_bytes, max_bytes)
        self._may_wait = may_wait

    def is_counted(self, available_bytes: int) -> bool:
        """Whether so many bytes are enough."""
        return available_bytes >= self._min_bytes

    def is_found(self, found: WholeRead) -> bool:
        """Whether a read is answered at once."""
        return found.available_bytes >= self._min_bytes or found.has_error or not self._may_wait


def cut_off(size_bytes: int, limit_bytes: int) -> int:
    """Available bytes of a partition of which more may be read behind a limit."""
    return max(size_bytes, limit_bytes)
