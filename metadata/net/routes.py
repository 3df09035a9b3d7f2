"""Which controller a node asks, and whether that one passes its requests on to the leader. Pure.

| what happens                                    | the next request goes                                          |
|-------------------------------------------------|----------------------------------------------------------------|
| a controller fails, or does not answer in time  | to the next one; it counts as not reached from now on          |
| one names a leader that is not known as such    | to that leader                                                 |
| one names a leader that is not reached          | to the same one, which is to pass it on to the leader          |
| it does not pass requests on, or not in time    | to the next one                                                |
| a probe reaches the leader                      | to the leader                                                  |

The controller in this process counts as reached always. It is written as None.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from headrace.links.ends import Address

# A controller that knows no leader stays the target for this time: an election takes a while, and
# answers to earlier requests arrive late.
LEADERLESS_MS: Final = 100


class Route(NamedTuple):
    """Where requests go."""

    target: Address | None
    leader: Address | None = None  # to which the target passes them on; None: it is asked itself


class Routes:
    """The route of one node to the leader, as far as it is known."""

    def __init__(self, bootstrap: Sequence[Address], *, has_local: bool) -> None:
        """Begin with the controller in this process, or else the first of the configured ones."""
        self._bootstrap = tuple(bootstrap)
        self._has_local = has_local
        self._members: tuple[Address, ...] = ()
        self._unreached: set[Address] = set()  # of the candidates
        self._turned_at_s = float("-inf")
        self.route = Route(None if has_local else self._bootstrap[0])

    def set_members(self, addresses: Mapping[int, Address]) -> None:
        """Set the addresses of the other members of the quorum."""
        self._members = tuple(addresses.values())
        self._unreached.intersection_update((*self._members, *self._bootstrap))

    def failed(self, route: Route, now_s: float) -> None:
        """A request that took this route was not sent, or not answered in time.

        The route is the one that it was given: an equal one of an earlier time says nothing of this one.
        """
        if route is not self.route:
            return  # another request has found out before, or a leader is reached again
        if route.target is not None and route.leader is None:
            self._unreached.add(route.target)
        self._turn(Route(self._after(route.target)), now_s)

    def redirect(self, leader: Address | None, now_s: float) -> bool:
        """The target is not the leader, this one is; whether requests go another way from now on."""
        before = self.route
        if leader in self._unreached and leader != before.target:
            self._turn(before._replace(leader=leader), now_s)
        elif leader != before.target:
            self._turn(Route(leader), now_s)
        return self.route != before

    def leaderless(self, now_s: float) -> None:
        """The target is not the leader, and knows none."""
        if now_s >= self._turned_at_s + LEADERLESS_MS / 1000:
            self._turn(Route(self._after(self.route.target)), now_s)

    def reached(self, leader: Address, now_s: float) -> None:
        """A probe has reached a leader for which another controller passes requests on."""
        self._unreached.discard(leader)
        if self.route.leader == leader:
            self._turn(Route(leader), now_s)

    def _turn(self, route: Route, now_s: float) -> None:
        self._turned_at_s = now_s
        self.route = route

    def _after(self, target: Address | None) -> Address | None:
        local = [None] if self._has_local else []
        candidates = list(dict.fromkeys([*local, *self._members, *self._bootstrap]))
        position = candidates.index(target) + 1 if target in candidates else 0
        following = candidates[position:] + candidates[:position]
        for candidate in following:
            if candidate != target and candidate not in self._unreached:
                return candidate
        self._unreached.clear()  # nobody is reached: begin again
        return following[0]
