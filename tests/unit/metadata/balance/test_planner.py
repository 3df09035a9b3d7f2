"""The planner of balance: its rules one by one, and its properties on any cluster."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.metadata.balance.cluster import (
    BalancePlan,
    BalanceView,
    BrokerView,
    Goal,
    PartitionKey,
    PartitionView,
    PlannedMove,
    Rules,
)
from headrace.metadata.balance.planner import plan
from headrace.metadata.balance.shares import Shares
from headrace.steps import completed

MIB = 1 << 20
MINUTE_MS = 60_000
RULES = Rules(max_planned=5)
QUIET: frozenset[Goal] = frozenset()


@dataclass
class Model:
    """A cluster in which each planned move is done at once."""

    nodes: list[BrokerView]
    partitions: dict[PartitionKey, PartitionView]
    now_ms: int = 0
    moved_ms: dict[PartitionKey, int] = field(default_factory=dict)
    switched_off: tuple[str, ...] = ()
    moving: tuple[PartitionKey, ...] = ()
    evening: frozenset[Goal] = QUIET

    def view(self) -> BalanceView:
        return BalanceView(
            self.nodes,
            list(self.partitions.values()),
            self.now_ms,
            self.moving,
            self.moved_ms,
            self.switched_off,
        )

    def plan(self, rules: Rules = RULES) -> BalancePlan:
        found = completed(plan(self.view(), self.evening, rules))
        self.evening = found.evening
        return found

    def do(self, moves: Iterable[PlannedMove]) -> None:
        for it in moves:
            key = PartitionKey(it.topic, it.partition)
            assert self.partitions[key].broker == it.source
            self.partitions[key] = self.partitions[key]._replace(broker=it.target)
            self.moved_ms[key] = self.now_ms

    def until_quiet(self, max_moves: int, rules: Rules = RULES) -> list[PlannedMove]:
        """Plan and move, a minute apart, until for as long as a partition rests nothing has moved."""
        done: list[PlannedMove] = []
        quiet_ms = 0
        while quiet_ms <= rules.rest_ms:
            moves = self.plan(rules).moves
            assert len(moves) <= rules.max_planned
            self.do(moves)
            done += moves
            assert len(done) <= max_moves
            quiet_ms = 0 if moves else quiet_ms + MINUTE_MS
            self.now_ms += MINUTE_MS
        return done

    def measure(self) -> float:
        shares = Shares(self.nodes)
        for it in self.partitions.values():
            shares.add(it, may_leave=False)
        above, below = shares.measure()
        return above / below

    def traffic(self) -> Counter[int]:
        found = Counter({it.node_id: 0 for it in self.nodes if it.takes_part})
        for it in self.partitions.values():
            if it.broker in found:
                found[it.broker] += it.cost
        return found

    def numbers(self) -> Counter[int]:
        found = Counter({it.node_id: 0 for it in self.nodes if it.takes_part})
        found.update(it.broker for it in self.partitions.values() if it.broker in found)
        return found


def model(
    nodes: int | list[BrokerView], leaders: list[tuple[int, int]], topic: str = "orders"
) -> Model:
    """A cluster of brokers 1, 2, ...; partitions by (broker, cost)."""
    listed = [BrokerView(it + 1) for it in range(nodes)] if isinstance(nodes, int) else nodes
    partitions = [
        PartitionView(topic, at, broker, cost) for at, (broker, cost) in enumerate(leaders)
    ]
    return Model(listed, {it.key: it for it in partitions}, now_ms=RULES.rest_ms)


def test_an_even_cluster_moves_nothing() -> None:
    cluster = model(3, [(it % 3 + 1, 10 * MIB) for it in range(12)])
    found = cluster.plan()
    assert found == BalancePlan((), QUIET, (), ((Goal.TRAFFIC, 0), (Goal.NUMBER, 0)), 0)


def test_a_broker_that_joins_gets_its_share() -> None:
    cluster = model(3, [(it % 2 + 1, 10 * MIB) for it in range(12)])
    cluster.until_quiet(max_moves=4)
    assert cluster.numbers() == {1: 4, 2: 4, 3: 4}
    assert set(cluster.traffic().values()) == {40 * MIB}


def test_a_broker_that_joins_gets_partitions_without_traffic_too() -> None:
    cluster = model(3, [(it % 2 + 1, 0) for it in range(12)])
    cluster.until_quiet(max_moves=4)
    # Within one partition of the mean.
    assert max(cluster.numbers().values()) - min(cluster.numbers().values()) <= 2


def test_what_leads_much_is_evened_out_by_traffic_and_says_why() -> None:
    cluster = model(2, [(1, 30 * MIB), (1, 10 * MIB), (2, 5 * MIB), (2, 5 * MIB)])
    (move, *_) = cluster.plan().moves
    assert (move.source, move.target, move.goal) == (1, 2, Goal.TRAFFIC)
    assert move.partition == 1
    assert move.reason == (
        "broker 1 has 40.0 MiB/s (+60 % of the mean), broker 2 10.0 MiB/s (-60 % of the mean); "
        "the partition has 10.0 MiB/s"
    )


def test_a_goal_begins_above_its_band_and_goes_on_to_the_smaller_one() -> None:
    """+-15 % starts nothing, but is not enough for what has begun."""
    leaders = [(1, MIB)] * 115 + [(2, MIB)] * 85
    cluster = model(2, leaders)
    assert cluster.plan().moves == ()
    cluster.evening = frozenset({Goal.TRAFFIC})
    assert len(cluster.plan().moves) == RULES.max_planned
    cluster = model(2, [(1, MIB)] * 125 + [(2, MIB)] * 75)
    cluster.until_quiet(max_moves=20)
    assert max(cluster.traffic().values()) == 107 * MIB


def test_little_traffic_moves_nothing() -> None:
    cluster = model(2, [(1, MIB // 2), (1, MIB // 2), (2, 0), (2, 0)])
    assert cluster.plan().moves == ()


def test_a_plan_has_a_bound() -> None:
    cluster = model(2, [(1, 10 * MIB)] * 200)
    assert len(cluster.plan(Rules()).moves) == Rules().max_planned


def test_partitions_that_move_are_not_moved_again() -> None:
    cluster = model(2, [(1, 10 * MIB)] * 4)
    cluster.moving = (PartitionKey("orders", 3), PartitionKey("orders", 2))
    assert {it.partition for it in cluster.plan().moves} <= {0, 1}


def test_a_partition_rests_after_a_move() -> None:
    cluster = model(2, [(1, 10 * MIB)] * 4)
    cluster.moved_ms = {PartitionKey("orders", it): 1 for it in range(4)}
    found = cluster.plan()
    assert found.moves == ()
    assert "no partition that may move now" in found.unreached[0]
    cluster.now_ms += 1
    assert cluster.plan().moves


def test_what_no_move_helps_is_given_up_and_told() -> None:
    cluster = model(2, [(1, 10 * MIB)])
    found = cluster.plan()
    assert (found.moves, found.evening) == ((), frozenset())
    assert "no partition that may move now" in found.unreached[0]


def test_topics_that_are_switched_off_stay_and_still_count() -> None:
    cluster = model(2, [(1, 10 * MIB)] * 4)
    other = PartitionView("other", 0, 1, 10 * MIB)
    cluster.partitions[other.key] = other
    cluster.switched_off = ("orders",)
    moves = cluster.plan().moves
    assert [(it.topic, it.target) for it in moves] == [("other", 2)]


def test_brokers_that_do_not_take_part_neither_give_nor_get() -> None:
    nodes = [BrokerView(1), BrokerView(2), BrokerView(3, takes_part=False)]
    cluster = model(nodes, [(1, 10 * MIB)] * 6 + [(3, 10 * MIB)] * 6)
    done = cluster.until_quiet(max_moves=3)
    assert {(it.source, it.target) for it in done} == {(1, 2)}


def test_one_partition_with_all_the_traffic_is_left_where_it_is_and_others_leave() -> None:
    cluster = model(2, [(1, 100 * MIB), (1, MIB), (1, MIB), (2, MIB)])
    cluster.until_quiet(max_moves=3)
    assert cluster.partitions[PartitionKey("orders", 0)].broker == 1


def test_racks_get_as_much_as_they_have_brokers() -> None:
    nodes = [BrokerView(1, "a"), BrokerView(2, "b"), BrokerView(3, "b")]
    cluster = model(nodes, [(1, 10 * MIB)] * 12)
    cluster.until_quiet(max_moves=9)
    numbers = cluster.numbers()
    assert numbers[1] in (4, 5)
    assert numbers[2] + numbers[3] in (7, 8)


def test_no_move_makes_racks_differ_more() -> None:
    """Broker 1 has most and 4 least, but the rack of 1 has less: what it gives stays there."""
    nodes = [BrokerView(it, "a" if it <= 3 else "b") for it in range(1, 7)]
    shares = {1: 10, 2: 3, 3: 3, 4: 2, 5: 8, 6: 8}
    cluster = model(nodes, [(it, 10 * MIB) for it, count in shares.items() for _ in range(count)])
    targets = {it.target for it in cluster.plan(Rules()).moves if it.source == 1}
    assert targets
    assert targets <= {2, 3}


def test_traffic_is_not_evened_out_at_the_cost_of_more_uneven_numbers() -> None:
    """Broker 1 has more traffic, but 2 partitions of 22: one less would be worse than what it has too much."""
    cluster = model(2, [(1, 50 * MIB), (1, 12 * MIB)] + [(2, 2 * MIB)] * 20)
    assert {(it.source, it.goal) for it in cluster.plan().moves} == {(2, Goal.NUMBER)}


def test_a_topic_stays_spread() -> None:
    """Of partitions that help as much, one goes of the topic of which the source leads most."""
    cluster = model(2, [])
    placed = [("a", 1), ("b", 1), ("b", 1), ("b", 1), ("a", 2)]
    for at, (topic, broker) in enumerate(placed):
        one = PartitionView(topic, at, broker, 10 * MIB)
        cluster.partitions[one.key] = one
    assert cluster.plan().moves[0].topic == "b"


# Any cluster

costs = st.one_of(st.just(0), st.integers(0, 200 * MIB))
placed = st.tuples(st.sampled_from("abc"), st.integers(0, 5), costs, st.integers(0, 9))


@st.composite
def clusters(draw: st.DrawFn) -> Model:
    """Brokers in racks, of which some do not take part; partitions of three topics, of which some rest."""
    racks = draw(st.lists(st.sampled_from(["", "a", "b", "not"]), min_size=1, max_size=6))
    nodes = [BrokerView(at, rack, rack != "not") for at, rack in enumerate(racks)]
    found, moved_ms = {}, {}
    for at, (topic, broker, cost, rest) in enumerate(draw(st.lists(placed, max_size=25))):
        one = PartitionView(topic, at, broker % len(nodes), cost)
        found[one.key] = one
        if rest == 0:
            moved_ms[one.key] = RULES.rest_ms // 2
    off = draw(st.sampled_from([(), ("a",), ("a", "b")]))
    return Model(nodes, found, now_ms=RULES.rest_ms, moved_ms=moved_ms, switched_off=off)


@settings(max_examples=50, deadline=None)
@given(clusters())
def test_moves_are_never_for_the_worse_keep_all_rules_and_end(cluster: Model) -> None:
    """On any cluster whose loads stay the same."""
    take_part = {it.node_id for it in cluster.nodes if it.takes_part}
    moves_made = quiet = 0
    while quiet < 3:
        again = completed(plan(cluster.view(), cluster.evening, RULES))
        found = cluster.plan()
        assert found == again
        assert len(found.moves) <= RULES.max_planned
        for move in found.moves:
            key = PartitionKey(move.topic, move.partition)
            before = cluster.measure()
            assert cluster.now_ms - cluster.moved_ms.get(key, -RULES.rest_ms) >= RULES.rest_ms
            assert move.topic not in cluster.switched_off
            assert {move.source, move.target} <= take_part
            cluster.do([move])
            assert cluster.measure() < before
        moves_made += len(found.moves)
        assert moves_made <= 4 * len(cluster.partitions)
        quiet = 0 if found.moves else quiet + 1
        cluster.now_ms += RULES.rest_ms // 2


def skewed(seed: int, *, brokers: int, partitions: int) -> Model:
    """Brokers in three racks, and topics of 50 partitions whose traffic differs by four orders of magnitude."""
    rng = Random(seed)
    nodes = [BrokerView(it, "abc"[it % 3]) for it in range(brokers)]
    found = {}
    for at in range(partitions):
        cost = int(40 * MIB / (1 + rng.random() * partitions / 50))
        one = PartitionView(f"topic-{at // 50}", at % 50, rng.randrange(brokers), cost)
        found[one.key] = one
    # The last ten have just joined.
    for key, one in found.items():
        if one.broker >= brokers - 10:
            found[key] = one._replace(broker=one.broker - 10 * rng.randint(1, 3))
    return Model(nodes, found, now_ms=RULES.rest_ms)


def percent_from_mean(shares: Counter[int]) -> float:
    """How far the furthest broker is from the mean."""
    mean = sum(shares.values()) / len(shares)
    return max(abs(100 * it / mean - 100) for it in shares.values())


@pytest.mark.slow
def test_a_hundred_brokers_reach_the_bands_within_a_stated_number_of_moves() -> None:
    """With the bounds that the product has. A goal ends when all brokers are within its band.

    Moves for the other one may take brokers out of it again, up to where it would begin once more.
    docs/metadata.md states how far that was here, how many moves it took, and how many pairs of brokers a plan tries.
    """
    cluster = skewed(1, brokers=100, partitions=50_000)
    rules = Rules()
    plan_ms = MINUTE_MS // 6  # five moves at a time make 300 of a minute, and a plan has 50
    bands = {Goal.TRAFFIC: rules.stop_percent, Goal.NUMBER: rules.stop_number_percent}
    ended: list[Goal] = []
    moves = pairs = quiet = 0
    while quiet < 2:  # the second time all partitions have rested
        evening = cluster.evening
        found = cluster.plan(rules)
        assert found.unreached == ()
        shares = {Goal.TRAFFIC: cluster.traffic(), Goal.NUMBER: cluster.numbers()}
        for goal in evening - found.evening:
            assert percent_from_mean(shares[goal]) <= bands[goal]
            ended.append(goal)
        cluster.do(found.moves)
        cluster.now_ms += plan_ms if found.moves else rules.rest_ms
        moves += len(found.moves)
        pairs = max(pairs, found.pairs_tried)
        quiet = 0 if found.moves else quiet + 1
    assert set(ended) == set(Goal)
    assert percent_from_mean(shares[ended[-1]]) <= bands[ended[-1]]
    for goal in Goal:
        assert percent_from_mean(shares[goal]) <= rules.start_percent
        assert percent_from_mean(shares[goal]) <= 11
    assert moves < 5_300
    assert pairs < 3_000
