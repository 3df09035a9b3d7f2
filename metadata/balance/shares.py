"""Shares of brokers in traffic and partitions, and what a move would make of them. Pure."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from headrace.metadata.balance.cluster import BrokerView, Goal, PartitionView

NEIGHBOURS: Final = 8  # partitions with the nearest cost, on each side, among which one is chosen


class _ByCost(NamedTuple):
    """Orders the partitions of a broker that may leave it."""

    cost: int
    topic: str
    partition: int


class Shares:
    """What each broker that takes part has, and which of its partitions may leave it.

    The measure of unevenness is the sum, over brokers, of the squares of their parts of all traffic and of their parts
    of all partitions. It is least when all have the same of both. A move that does not make it less is never made, so
    no sequence of moves comes back to where it began: with the same loads, moves end.
    """

    def __init__(self, nodes: Iterable[BrokerView]) -> None:
        self.racks = {it.node_id: it.rack for it in nodes if it.takes_part}
        self._of_goal: dict[Goal, Counter[int]] = {
            goal: Counter(dict.fromkeys(self.racks, 0)) for goal in Goal
        }
        self._total = dict.fromkeys(Goal, 0)
        self._of_rack: dict[Goal, Counter[str]] = {goal: Counter() for goal in Goal}
        self._in_rack = Counter(self.racks.values())
        self._may_leave: dict[int, list[_ByCost]] = {it: [] for it in self.racks}
        self._sorted: set[int] = set()
        self._of_topic: defaultdict[str, Counter[int]] = defaultdict(Counter)

    def add(self, partition: PartitionView, *, may_leave: bool) -> None:
        """Count one partition; those of brokers that do not take part are not counted."""
        broker = partition.broker
        if broker not in self.racks:
            return
        self._count(broker, partition.topic, partition.cost, 1)
        self._total[Goal.TRAFFIC] += partition.cost
        self._total[Goal.NUMBER] += 1
        if may_leave:
            self._may_leave[broker].append(
                _ByCost(partition.cost, partition.topic, partition.partition)
            )

    def of(self, goal: Goal, node_id: int) -> int:
        """Share of one broker: bytes/s that cost as much, or partitions."""
        return self._of_goal[goal][node_id]

    def total(self, goal: Goal) -> int:
        """Shares of all brokers that take part."""
        return self._total[goal]

    def by_share(self, goal: Goal) -> list[int]:
        """Brokers from the one with the least to the one with the most."""
        shares = self._of_goal[goal]
        return sorted(shares, key=lambda it: (shares[it], it))

    def measure(self) -> tuple[int, int]:
        """Unevenness as a fraction, numerator and denominator; see the class."""
        traffic, number = self._of_goal[Goal.TRAFFIC], self._of_goal[Goal.NUMBER]
        all_traffic, all_number = self._weights()
        squares = sum(it * it for it in traffic.values()) * all_number
        squares += sum(it * it for it in number.values()) * all_traffic
        return squares, all_traffic * all_number

    def may_leave(self, node_id: int) -> bool:
        """Whether a broker has partitions that may leave it."""
        return bool(self._may_leave[node_id])

    def best_move(
        self, goal: Goal, source: int, target: int, *, number_too: bool
    ) -> PartitionView | None:
        """Return the partition whose move from `source` to `target` helps most; None: none makes it better.

        If the number of partitions is evened out too, it is one of so much traffic that both differences would end with
        the same move: the largest first would leave a broker that joins with its traffic and half of its partitions.

        Of several that help about as much, one of a topic of which the source leads more than the target: a topic
        stays spread.
        """
        shared_by = max(2, self._gap(Goal.NUMBER, source, target)) if number_too else 2
        ideal_cost = max(0, -(-self._gap(Goal.TRAFFIC, source, target) // shared_by))
        if self.racks[source] != self.racks[target]:
            room = self._rack_room(goal, source, target)
            if room <= 0 or (goal is Goal.NUMBER and room < 1):
                return None
            if goal is Goal.TRAFFIC:
                ideal_cost = min(ideal_cost, room)
        found = [
            (gain, it)
            for it in self._near(source, ideal_cost)
            if (gain := self._gain(source, target, it.cost)) > 0
            and self._is_worth_it(goal, source, target, it.cost)
        ]
        if not found:
            return None
        most = max(gain for gain, _ in found)
        _, _, best = max(
            (self._surplus(it.topic, source, target), gain, it)
            for gain, it in found
            if gain * 4 >= most * 3
        )
        return PartitionView(best.topic, best.partition, source, best.cost)

    def move(self, partition: PartitionView, target: int) -> None:
        """Count a partition at `target` from now on; it does not leave there."""
        source = partition.broker
        self._count(source, partition.topic, partition.cost, -1)
        self._count(target, partition.topic, partition.cost, 1)
        left = self._sorted_of(source)
        one = _ByCost(partition.cost, partition.topic, partition.partition)
        del left[bisect_left(left, one)]

    def _count(self, broker: int, topic: str, cost: int, sign: int) -> None:
        rack = self.racks[broker]
        self._of_goal[Goal.TRAFFIC][broker] += sign * cost
        self._of_goal[Goal.NUMBER][broker] += sign
        self._of_rack[Goal.TRAFFIC][rack] += sign * cost
        self._of_rack[Goal.NUMBER][rack] += sign
        self._of_topic[topic][broker] += sign

    def _weights(self) -> tuple[int, int]:
        return max(1, self._total[Goal.TRAFFIC]) ** 2, max(1, self._total[Goal.NUMBER]) ** 2

    def _gap(self, goal: Goal, source: int, target: int) -> int:
        shares = self._of_goal[goal]
        return shares[source] - shares[target]

    def _gain(self, source: int, target: int, cost: int) -> int:
        """By how much a move makes the measure less, times a constant."""
        all_traffic, all_number = self._weights()
        traffic = cost * (self._gap(Goal.TRAFFIC, source, target) - cost)
        number = self._gap(Goal.NUMBER, source, target) - 1
        return traffic * all_number + number * all_traffic

    def _rack_room(self, goal: Goal, source: int, target: int) -> int:
        """How much may go from one rack to another before their brokers' means differ more than now."""
        here, there = self.racks[source], self.racks[target]
        shares, brokers = self._of_rack[goal], self._in_rack
        apart = shares[here] * brokers[there] - shares[there] * brokers[here]
        return 2 * apart // (brokers[here] + brokers[there])

    def _is_worth_it(self, goal: Goal, source: int, target: int, cost: int) -> bool:
        """Whether a move brings two brokers nearer by a good part, and racks no further apart.

        A partition with nearly all the difference would only make the target what the source was.
        """
        if goal is Goal.TRAFFIC and cost * 4 > self._gap(goal, source, target) * 3:
            return False
        if self.racks[source] == self.racks[target]:
            return True
        moved = cost if goal is Goal.TRAFFIC else 1
        return moved <= self._rack_room(goal, source, target)

    def _near(self, source: int, cost: int) -> Sequence[_ByCost]:
        left = self._sorted_of(source)
        at = bisect_left(left, _ByCost(cost, "", -1))
        return left[max(0, at - NEIGHBOURS) : at + NEIGHBOURS]

    def _sorted_of(self, source: int) -> list[_ByCost]:
        left = self._may_leave[source]
        if source not in self._sorted:
            left.sort()
            self._sorted.add(source)
        return left

    def _surplus(self, topic: str, source: int, target: int) -> int:
        leads = self._of_topic[topic]
        return leads[source] - leads[target]
