"""What the planner looks at: brokers, partitions and their loads at one moment. Pure."""

from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple


class PartitionKey(NamedTuple):
    """Names a partition."""

    topic: str
    partition: int


class BrokerView(NamedTuple):
    """One broker. Those that are not to get partitions, or are about to end, do not take part."""

    node_id: int
    rack: str = ""
    takes_part: bool = True


class PartitionView(NamedTuple):
    """One partition. While it moves, its broker is the target of the move."""

    topic: str
    partition: int
    broker: int
    cost: int  # bytes/s; see `TrafficRates.cost`

    @property
    def key(self) -> PartitionKey:
        """Its name."""
        return PartitionKey(self.topic, self.partition)


class Goal(Enum):
    """What is to be even among brokers."""

    TRAFFIC = "traffic"
    NUMBER = "number"


class Rules(NamedTuple):
    """Bounds of the planner. Deviations are from the mean of the brokers that take part, as a part of it."""

    start_percent: int = 20  # a broker that deviates by more begins to be evened out
    stop_percent: int = 10  # until none deviates by more
    # The same of numbers, which no load makes go up and down: the extremes are 15 % apart then.
    stop_number_percent: int = 7
    # Deviations that are never looked at: in bytes/s that cost as much, and in partitions.
    least_traffic: int = 1 << 20
    least_number: int = 1
    max_moves: int = 5  # under way in the cluster
    max_planned: int = 50  # of one plan: they begin as others end
    rest_ms: int = 600_000  # between two moves of a partition


class BalanceView(NamedTuple):
    """A cluster at one moment."""

    nodes: Sequence[BrokerView]
    partitions: Sequence[PartitionView]
    now_ms: int
    moving: Collection[PartitionKey] = ()  # by the balance or by request
    moved_ms: Mapping[PartitionKey, int] = MappingProxyType({})  # when each last changed its leader
    switched_off: Collection[str] = ()  # topics whose partitions stay where they are


class PlannedMove(NamedTuple):
    """A move to begin."""

    topic: str
    partition: int
    source: int
    target: int
    goal: Goal
    reason: str


class BalancePlan(NamedTuple):
    """What to do now."""

    moves: tuple[PlannedMove, ...]
    evening: frozenset[Goal]  # goals that go on with the smaller band; for the next plan
    unreached: tuple[str, ...]  # why a goal that is not reached has no move
    deviations_percent: tuple[
        tuple[Goal, int], ...
    ]  # how far the furthest broker is from the mean now
    pairs_tried: int  # of brokers: the planner's work, beside one look at each partition
