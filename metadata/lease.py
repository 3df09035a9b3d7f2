"""The lease of a broker: until when it may act as the owner of what it has open. Pure.

It is counted from the moment at which a heartbeat was *sent* that was then answered. The controller
counts from when it received it, and its session is longer by a margin: what this side believes has
always ended before the other side gives it away. The clock is the boot clock, which goes on while
the machine is suspended.
"""

from collections.abc import Callable
from typing import Final

_NEVER: Final = -1


class BrokerLease:
    """Begins with nothing, is extended by answered heartbeats, and ends for good when the node is fenced."""

    __slots__ = ("_clock_ms", "_ended", "_length_ms", "_until_ms")

    def __init__(self, length_ms: int, boot_clock_ms: Callable[[], int]) -> None:
        self._length_ms = length_ms
        self._clock_ms = boot_clock_ms
        self._until_ms = _NEVER
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether it has ended for good."""
        return self._ended

    def remaining_ms(self) -> int:
        """How long it holds from now on; 0 when it does not."""
        return max(0, self._until_ms - self._clock_ms())

    def is_lease_valid(self) -> bool:
        """Whether this node is certain to be the owner now."""
        return self._clock_ms() < self._until_ms

    def extend(self, sent_at_ms: int) -> None:
        """Note that a heartbeat sent then (by the boot clock) has been answered."""
        if not self._ended:
            self._until_ms = max(self._until_ms, sent_at_ms + self._length_ms)

    def end(self) -> None:
        """End it for good."""
        self._ended = True
        self._until_ms = _NEVER
