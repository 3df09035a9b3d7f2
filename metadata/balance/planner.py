"""Decides which partitions move so that brokers have equal shares of traffic and of partitions. Pure.

A broker that deviates from the mean by more than a band starts a goal, and the goal goes on until all are within a
smaller band: so loads that go up and down a little move nothing. A move is made only if it makes the cluster's
unevenness less (`headrace.metadata.balance.shares.Shares.measure`), by which neither goal undoes the other's work.

Moves under way count as done. Not moved are partitions of topics that are switched off, those that move, those that
have moved a short time ago, and those of brokers that are about to end: these leave by themselves
(`headrace.metadata.controller.leaving`).

Racks: with a replication factor of one there is no second replica to keep in another rack. What a rack is to its
operator is a unit of failure and of cost, so its brokers together have the part of the load that their number is of
all brokers. No move makes two racks differ more, per broker, than they did.
"""

from typing import Final

from headrace.metadata.balance.cluster import (
    BalancePlan,
    BalanceView,
    Goal,
    PartitionKey,
    PartitionView,
    PlannedMove,
    Rules,
)
from headrace.metadata.balance.shares import Shares
from headrace.steps import Steps

STEP_PARTITIONS: Final = 1_000  # looked at between two steps: some milliseconds
MAX_PAIRS: Final = 20_000  # of brokers tried for one plan: two goals of 100 brokers each

PlanSteps = Steps[BalancePlan]


def plan(view: BalanceView, evening: frozenset[Goal], rules: Rules) -> PlanSteps:
    """Choose the moves to begin next, in their order, in steps.

    Args:
        view: the cluster.
        evening: of the last plan; nothing for the first.
        rules: bounds.
    """
    shares = yield from _shares(view, rules)
    tried = 0
    moves: list[PlannedMove] = []
    bands = {goal: _Band(shares, goal, rules) for goal in Goal}
    goes_on = {goal for goal, band in bands.items() if band.is_due(begun=goal in evening)}
    deviations = tuple((goal, band.deviation_percent()) for goal, band in bands.items())
    number_too = Goal.NUMBER in goes_on
    unreached = []
    for goal in Goal:
        band = bands[goal]
        while goal in goes_on and len(moves) < rules.max_planned and band.exceeds_stop():
            yield
            found, pairs = _next_move(shares, band, MAX_PAIRS - tried, number_too=number_too)
            tried += pairs
            if found is None:
                # Moves that are under way may make the next possible.
                if not moves and not view.moving:
                    goes_on.discard(goal)
                    unreached.append(band.unreached())
                break
            partition, target = found
            moves.append(band.planned(partition, target))
            shares.move(partition, target)
    return BalancePlan(tuple(moves), frozenset(goes_on), tuple(unreached), deviations, tried)


class _Band:
    """One goal: who deviates from the mean, and by how much."""

    def __init__(self, shares: Shares, goal: Goal, rules: Rules) -> None:
        self._shares = shares
        self.goal = goal
        # All in shares of one broker times the number of brokers, to have whole numbers.
        self._brokers = len(shares.racks)
        self._mean = shares.total(goal)
        least = rules.least_traffic if goal is Goal.TRAFFIC else rules.least_number
        floor = least * self._brokers
        self._start = max(self._mean * rules.start_percent // 100, floor)
        # Half the floor for bytes; a partition cannot be halved.
        stop_floor = floor // 2 if goal is Goal.TRAFFIC else floor
        stop_percent = rules.stop_percent if goal is Goal.TRAFFIC else rules.stop_number_percent
        self._stop = max(self._mean * stop_percent // 100, stop_floor)

    def is_due(self, *, begun: bool) -> bool:
        """Whether a broker deviates by so much that the goal begins, or goes on."""
        return self._furthest() > (self._stop if begun else self._start)

    def exceeds_stop(self) -> bool:
        """Whether a broker deviates by so much that the goal goes on."""
        return self._furthest() > self._stop

    def deviation_percent(self) -> int:
        """How far the furthest broker is from the mean."""
        return round(100 * self._furthest() / self._mean) if self._mean else 0

    def above(self, node_id: int) -> int:
        """How far a broker is above the mean; negative: below."""
        return self._shares.of(self.goal, node_id) * self._brokers - self._mean

    def is_out(self, node_id: int) -> bool:
        """Whether a broker is what keeps the goal going."""
        return abs(self.above(node_id)) > self._stop

    def planned(self, partition: PartitionView, target: int) -> PlannedMove:
        """Give a move its reason, before it is counted."""
        source = partition.broker
        reason = (
            f"broker {source} has {self._told(source)}, broker {target} {self._told(target)}; "
            f"the partition has {_traffic(partition.cost)}"
        )
        return PlannedMove(partition.topic, partition.partition, source, target, self.goal, reason)

    def unreached(self) -> str:
        """Say that no move helps."""
        return (
            f"{self.goal.value}: broker {self._furthest_broker()} has "
            f"{self._told(self._furthest_broker())}, and no partition that may move now would make it more even"
        )

    def _furthest(self) -> int:
        return abs(self.above(self._furthest_broker())) if self._brokers else 0

    def _furthest_broker(self) -> int:
        return max(self._shares.racks, key=lambda it: (abs(self.above(it)), -it))

    def _told(self, node_id: int) -> str:
        share = self._shares.of(self.goal, node_id)
        told = _traffic(share) if self.goal is Goal.TRAFFIC else f"{share} partitions"
        if not self._mean:
            return told
        percent = round(100 * self.above(node_id) / self._mean)
        return f"{told} ({percent:+d} % of the mean)"


def _shares(view: BalanceView, rules: Rules) -> Steps[Shares]:
    shares = Shares(view.nodes)
    moving, off = set(view.moving), set(view.switched_off)
    rested_ms = view.now_ms - rules.rest_ms
    for count, it in enumerate(view.partitions, start=1):
        key = PartitionKey(it.topic, it.partition)
        may_leave = (
            it.topic not in off
            and key not in moving
            and view.moved_ms.get(key, rested_ms) <= rested_ms
        )
        shares.add(it, may_leave=may_leave)
        if count % STEP_PARTITIONS == 0:
            yield
    return shares


def _next_move(
    shares: Shares, band: _Band, max_pairs: int, *, number_too: bool
) -> tuple[tuple[PartitionView, int] | None, int]:
    """The best move between the brokers that are furthest apart and have one; and how many pairs were tried."""
    brokers = shares.by_share(band.goal)
    pairs = 0
    for source in reversed(brokers):
        if band.above(source) <= 0:
            break
        if not shares.may_leave(source):
            continue
        for target in brokers:
            if band.above(target) >= 0:
                break
            if not (band.is_out(source) or band.is_out(target)):
                break  # those that follow are nearer to the mean
            if pairs >= max_pairs:
                return None, pairs
            pairs += 1
            partition = shares.best_move(band.goal, source, target, number_too=number_too)
            if partition is not None:
                return (partition, target), pairs
    return None, pairs


def _traffic(cost: int) -> str:
    return f"{cost / (1 << 20):.1f} MiB/s"
