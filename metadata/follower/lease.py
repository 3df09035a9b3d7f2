"""The lease of a broker: how long it may act as the owner of its partitions and streams. Pure.

The lease is counted from when an answered heartbeat was *sent*. The controller counts its session
from when it received the heartbeat, and the session is longer by a margin: the broker's lease has
always ended before the controller ends the session. The clock is the boot clock, which also runs
while the machine is suspended.
"""

from collections.abc import Callable
from typing import Final

LEASE_MARGIN_DIVISOR: Final = 9  # 1 s of the default 9 s
_NEVER: Final = -1


def lease_length_ms(session_timeout_ms: int) -> int:
    """How long a lease is valid, counted from when the answered heartbeat was sent."""
    return session_timeout_ms - session_timeout_ms // LEASE_MARGIN_DIVISOR


class BrokerLease:
    """Not valid at first, extended by answered heartbeats, and ended for good when the node is fenced."""

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
        """How long the lease is still valid; 0 when it is not."""
        return max(0, self._until_ms - self._clock_ms())

    def is_lease_valid(self) -> bool:
        """Whether the lease is valid now, so that no other node can be the owner."""
        return self._clock_ms() < self._until_ms

    def extend(self, sent_at_ms: int) -> None:
        """Record that the heartbeat sent at this time (boot clock) has been answered."""
        if not self._ended:
            self._until_ms = max(self._until_ms, sent_at_ms + self._length_ms)

    def end(self) -> None:
        """End it for good."""
        self._ended = True
        self._until_ms = _NEVER
