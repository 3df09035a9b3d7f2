"""The judge of the balance finds what it looks for, and nothing else."""

from collections.abc import Iterable
from itertools import pairwise
from uuid import UUID

import msgspec
import pytest

from headrace.config.dynamic_keys import DRAIN_KEY
from headrace.metadata.image import MetadataImage, MoveImage
from headrace.metadata.images.brokers import BrokerImage, BrokerState
from headrace.metadata.images.configs import BROKER_RESOURCE, Configs
from headrace.metadata.images.topics import PartitionImage, TopicImage
from headrace.persistent_map import PersistentMap
from tests.simulation.cluster.balance_judge import MAX_MOVES, SLACK_S, BalanceMoves, uneven
from tests.simulation.cluster.entries import Step
from tests.simulation.cluster.records import Place

TOPIC_ID = UUID(int=3)
REST_S = 8.0


def broker(node_id: int) -> BrokerImage:
    incarnation, state = UUID(int=node_id), BrokerState.ACTIVE
    return BrokerImage(node_id, 5, incarnation, (), "", state, 0, None, 9_000, ())


def cluster(led: Iterable[int], moves: Iterable[MoveImage] = (), *, term: int = 1) -> MetadataImage:
    """Brokers 1 to 3, and who leads the partitions of one topic."""
    partitions = tuple(PartitionImage(at, leader, 2, 0, 1) for at, leader in enumerate(led))
    return MetadataImage(
        term=term,
        brokers=PersistentMap({it: broker(it) for it in (1, 2, 3)}),
        topics=PersistentMap({TOPIC_ID: TopicImage(TOPIC_ID, "t", partitions)}),
        topic_ids=PersistentMap({"t": TOPIC_ID}),
        moves=PersistentMap({(TOPIC_ID, it.partition): it for it in moves}),
    )


def move(partition: int, epoch: int = 7, target: int = 2) -> MoveImage:
    return MoveImage(TOPIC_ID, partition, epoch, target)


class Log:
    """Has entries judged one after the other."""

    def __init__(self, *asked: tuple[Place, int]) -> None:
        self.now_s = 10.0
        self.begun = 0
        self._judge = BalanceMoves(lambda: self.now_s, REST_S, lambda *it: it in asked, self._count)

    def _count(self) -> None:
        self.begun += 1

    def judged(self, *images: MetadataImage) -> list[str]:
        """Judge the steps from each image to the next."""
        steps = [Step(old, new, b"", ()) for old, new in pairwise(images)]
        return [it for step in steps for it in self._judge.wrong(step)]


def test_more_than_five_moves_at_once_are_found() -> None:
    led = [1] * 10
    some = cluster(led, [move(it) for it in range(MAX_MOVES)])
    more = cluster(led, [*some.moves.values(), move(9, epoch=8)])
    assert Log().judged(cluster(led), some) == []
    assert Log().judged(some, more) == ["the balance begins 1 moves, and 5 are under way"]


def test_one_that_ends_makes_room() -> None:
    led = [1] * 10
    some = cluster(led, [move(it) for it in range(MAX_MOVES)])
    others = cluster([2, *led[1:]], [*list(some.moves.values())[1:], move(9, epoch=8)])
    assert len(others.moves) == MAX_MOVES
    assert Log().judged(some, others) == []


@pytest.mark.parametrize("leader", [1, 2], ids=["taken back", "moved"])
def test_a_partition_that_has_not_rested_is_found(leader: int) -> None:
    log, target = Log(), 3
    assert log.judged(cluster([1]), cluster([1], [move(0)]), cluster([leader])) == []
    log.now_s += REST_S - SLACK_S - 0.5
    again = cluster([leader], [move(0, 9, target)])
    assert log.judged(cluster([leader]), again) == [
        "the balance moves t-0 5.50 s after its last move"
    ]
    log.now_s += 0.5
    assert log.judged(cluster([leader]), again) == []


@pytest.mark.parametrize(("leader", "is_wrong"), [(1, False), (2, True)])
def test_a_new_leading_controller_knows_only_what_has_moved(leader: int, is_wrong: bool) -> None:
    log = Log()
    log.judged(cluster([1], [move(0)]), cluster([leader]))
    log.now_s += 1
    later = cluster([leader], term=2), cluster([leader], [move(0, 9, 3)], term=2)
    assert bool(log.judged(*later)) is is_wrong


def test_moves_of_others_are_not_of_the_balance() -> None:
    led, log = [1] * 10, Log(*((("t", it), 2) for it in range(10)))
    assert log.judged(cluster(led), cluster(led, map(move, range(10)))) == []
    # Those away from a broker that is drained.
    drained: Configs = PersistentMap({(BROKER_RESOURCE, "1"): PersistentMap({DRAIN_KEY: "true"})})
    images = cluster(led), cluster(led, map(move, range(10)))
    leaves = [msgspec.structs.replace(it, configs=drained) for it in images]
    other = Log()
    assert other.judged(*leaves) == []
    assert (log.begun, other.begun) == (0, 0)


@pytest.mark.parametrize(
    ("numbers", "found"),
    [((4, 4, 4), []), ((5, 4, 3), []), ((6, 3, 3), [1]), ((9, 9, 6), [3]), ((24, 20, 16), [])],
)
def test_brokers_that_lead_too_many_or_too_few_are_found(
    numbers: tuple[int, ...], found: list[int]
) -> None:
    led = [node_id for node_id, number in enumerate(numbers, start=1) for _ in range(number)]
    assert [int(it.split()[1]) for it in uneven(cluster(led))] == found
