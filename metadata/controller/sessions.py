"""Sessions of brokers, kept alive by heartbeats: the leader's soft state. Pure.

Times are of the boot clock, which also runs in suspend. A broker may acknowledge writes until its
lease ends. It counts the lease from when it *sent* a heartbeat; the controller counts the session
from when it received it, and the lease is shorter than the session by a margin. A broker whose
session expires here has therefore stopped, as long as the two clocks drift less than the margin.

Both sides must mean the same session: a broker registers with the session timeout that its leases
are derived from, and every leader gives it at least that, even if its own setting is less.

A new leader does not know which heartbeats its predecessor answered, so it restarts every session.
The same holds for a leader that was paused: heartbeats may wait in its sockets, so a late tick
extends every session by the delay.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

TICK_DIVISOR: Final = 18  # 500 ms of the default 9 s


def tick_interval_ms(session_timeout_ms: int) -> int:
    """How often sessions are checked."""
    return max(1, session_timeout_ms // TICK_DIVISOR)


class Registered(NamedTuple):
    """One epoch of a broker."""

    node_id: int
    epoch: int
    session_timeout_ms: int  # that it has registered with


class _Session(NamedTuple):
    epoch: int
    timeout_ms: int
    deadline_ms: int

    def until(self, deadline_ms: int) -> "_Session":
        return self._replace(deadline_ms=deadline_ms)


class BrokerSessions:
    """Sessions by (node id, node epoch); at most one for each registered broker."""

    def __init__(self, session_timeout_ms: int, brokers: Iterable[Registered], now_ms: int) -> None:
        """Begin a full session for each broker.

        Args:
            session_timeout_ms: the shortest session.
            brokers: those whose epochs have not ended.
            now_ms: the boot clock.
        """
        self._timeout_ms = session_timeout_ms
        self._sessions: dict[int, _Session] = {}  # by node id
        self._last_tick_ms = now_ms
        for broker in brokers:
            self.begin(broker, now_ms)

    def begin(self, broker: Registered, now_ms: int) -> None:
        """Start the session of a new epoch, which ends that of an older one."""
        timeout_ms = max(self._timeout_ms, broker.session_timeout_ms)
        self._sessions[broker.node_id] = _Session(broker.epoch, timeout_ms, now_ms + timeout_ms)

    def renew(self, node_id: int, epoch: int, now_ms: int) -> bool:
        """Record a heartbeat; False when the session has ended: it must not be answered then."""
        if not self.is_open(node_id, epoch):
            return False
        known = self._sessions[node_id]
        deadline_ms = max(known.deadline_ms, now_ms + known.timeout_ms)
        self._sessions[node_id] = known.until(deadline_ms)
        return True

    def end(self, node_id: int, epoch: int) -> None:
        """End the session of this epoch: its heartbeats are no longer answered."""
        if self.is_open(node_id, epoch):
            del self._sessions[node_id]

    def is_open(self, node_id: int, epoch: int) -> bool:
        """Whether the session of this epoch is open."""
        known = self._sessions.get(node_id)
        return known is not None and known.epoch == epoch

    def tick(self, now_ms: int) -> list[tuple[int, int]]:
        """End the sessions that have expired, and return them as (node id, epoch)."""
        late_ms = now_ms - self._last_tick_ms - 2 * tick_interval_ms(self._timeout_ms)
        self._last_tick_ms = now_ms
        if late_ms > 0:
            self._sessions = {
                node_id: known.until(known.deadline_ms + late_ms)
                for node_id, known in self._sessions.items()
            }
        expired = [
            (node_id, known.epoch)
            for node_id, known in sorted(self._sessions.items())
            if known.deadline_ms <= now_ms
        ]
        for node_id, epoch in expired:
            self.end(node_id, epoch)
        return expired
