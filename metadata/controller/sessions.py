"""Which brokers have been heard of lately: the leader's soft state. Pure.

Times are of the boot clock, which goes on in suspend. A broker may acknowledge writes until its
lease ends, which it counts from when it *sent* a heartbeat; we count from when we received it, and
the lease is shorter than the session by a margin. Whoever expires here is therefore certain to have
stopped, however the two clocks drift within the margin.

A new leader knows nothing of what its predecessor has answered, so it starts every session afresh.
The same holds for a leader that was paused: heartbeats may wait in its sockets, so a late tick
extends every session by the delay.
"""

from collections.abc import Iterable
from typing import Final

LEASE_MARGIN_DIVISOR: Final = 9  # 1 s of the default 9 s
TICK_DIVISOR: Final = 18  # 500 ms of the default 9 s


def lease_length_ms(session_timeout_ms: int) -> int:
    """How long a broker may act on an answered heartbeat, counted from its sending."""
    return session_timeout_ms - session_timeout_ms // LEASE_MARGIN_DIVISOR


def tick_interval_ms(session_timeout_ms: int) -> int:
    """How often sessions are looked at."""
    return max(1, session_timeout_ms // TICK_DIVISOR)


class BrokerSessions:
    """Sessions by (node id, node epoch); at most one for each registered broker."""

    def __init__(
        self, session_timeout_ms: int, brokers: Iterable[tuple[int, int]], now_ms: int
    ) -> None:
        self._timeout_ms = session_timeout_ms
        self._deadlines: dict[int, tuple[int, int]] = {}  # node id -> (epoch, deadline)
        self._last_tick_ms = now_ms
        for node_id, epoch in brokers:
            self.begin(node_id, epoch, now_ms)

    def begin(self, node_id: int, epoch: int, now_ms: int) -> None:
        """Start the session of a new epoch, ending that of an older one."""
        self._deadlines[node_id] = (epoch, now_ms + self._timeout_ms)

    def renew(self, node_id: int, epoch: int, now_ms: int) -> bool:
        """Note a heartbeat; False when the session has ended: it must not be answered then."""
        known = self._deadlines.get(node_id)
        if known is None or known[0] != epoch:
            return False
        self._deadlines[node_id] = (epoch, max(known[1], now_ms + self._timeout_ms))
        return True

    def end(self, node_id: int, epoch: int) -> None:
        """Answer no heartbeat of this epoch any more."""
        known = self._deadlines.get(node_id)
        if known is not None and known[0] == epoch:
            del self._deadlines[node_id]

    def is_open(self, node_id: int, epoch: int) -> bool:
        """Whether the session of this epoch goes on."""
        known = self._deadlines.get(node_id)
        return known is not None and known[0] == epoch

    def tick(self, now_ms: int) -> list[tuple[int, int]]:
        """End the sessions that have expired, and return them as (node id, epoch)."""
        late_ms = now_ms - self._last_tick_ms - 2 * tick_interval_ms(self._timeout_ms)
        self._last_tick_ms = now_ms
        if late_ms > 0:
            self._deadlines = {
                node_id: (epoch, deadline + late_ms)
                for node_id, (epoch, deadline) in self._deadlines.items()
            }
        expired = [
            (node_id, epoch)
            for node_id, (epoch, deadline) in sorted(self._deadlines.items())
            if deadline <= now_ms
        ]
        for node_id, epoch in expired:
            self.end(node_id, epoch)
        return expired
