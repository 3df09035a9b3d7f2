"""Decides which partitions leave a broker that is drained or about to end, and for where. Pure.

A broker that begins to stop says that it can drain no logs any more (`headrace.metadata.controller.placement`), and
goes on serving until its partitions have moved, or its patience ends. An operator drains one by its setting
`headrace.drain`: it goes on running. Some move at a time: the next begin when most of them have. Those that did not get
on and were taken back begin again after a rest. None begins while no broker that stays can open partitions.
"""

from collections import Counter
from typing import Final, NamedTuple

from headrace.metadata.controller.decision import Decision, DecisionSteps, Inputs
from headrace.metadata.controller.placement import able_brokers, partitions_led, place
from headrace.metadata.image import MetadataImage, TopicImage
from headrace.metadata.images.draining import closed_brokers
from headrace.metadata.images.moves import MOVES_AT_ONCE, Moves, PartitionKey, ended_moves
from headrace.metadata.images.topics import Topics
from headrace.metadata.levels import MOVES_LEVEL, level_of
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.records.topics import PartitionMoveRecord
from headrace.metadata.rpc.responses import Done

MAX_MOVES: Final = 64  # under way from one broker
MIN_MOVES: Final = MOVES_AT_ONCE  # likewise: with fewer, the next begin
REST_MS: Final = 5_000  # of a partition whose move was taken back
STEP_LOOKED_AT: Final = 10_000  # topics and partitions: some milliseconds


def leaving_brokers(image: MetadataImage) -> list[int]:
    """Return the active brokers that are drained or about to end, and of which others can take the partitions."""
    if level_of(image.features) < MOVES_LEVEL:
        return []
    closed = closed_brokers(image.brokers, image.logs, image.configs)
    active = {it.node_id for it in image.brokers.values() if not it.fenced}
    return sorted(active & closed) if active - closed else []


class _Seen(NamedTuple):
    """What the partitions that have to move depend on."""

    leaving: list[int]
    topics: Topics
    moves: Moves
    unable: frozenset[int]

    def is_of(self, leaving: list[int], image: MetadataImage, unable: frozenset[int]) -> bool:
        """Whether nothing of it has changed. By identity: the maps may be large."""
        return (
            (self.leaving, self.unable) == (leaving, unable)
            and self.topics is image.topics
            and self.moves is image.moves
        )


class Departures:
    """When partitions have to move away: the leader's soft state.

    A broker that is drained stays so when it leads nothing any more. Then a look at all partitions finds nothing, until
    a topic or a move has changed.
    """

    def __init__(self) -> None:
        self._nothing_in: _Seen | None = None
        self._taken_back_ms: dict[PartitionKey, int] = {}  # partitions that rest

    def follow(self, old: MetadataImage, new: MetadataImage, now_ms: int) -> None:
        """Note which moves have been taken back from one image to a later one: such partitions rest."""
        for key, move in ended_moves(old.moves, new.moves):
            topic = new.topic_by_id(key[0])
            if key not in new.moves and topic and topic.partitions[key[1]].leader != move.target:
                self._taken_back_ms[key] = now_ms

    def are_due(
        self, image: MetadataImage, unable: frozenset[int] = frozenset(), now_ms: int = 0
    ) -> bool:
        """Whether `move_away` may have something to record; partitions have rested enough by then, or not."""
        begun_ms = now_ms - REST_MS
        self._taken_back_ms = {key: it for key, it in self._taken_back_ms.items() if it > begun_ms}
        leaving = leaving_brokers(image)
        if not leaving or not _room(leaving, image):
            return False
        return self._nothing_in is None or not self._nothing_in.is_of(leaving, image, unable)

    def move_away(self, image: MetadataImage, inputs: Inputs) -> DecisionSteps:
        """Begin to move some partitions of the brokers that leave; those of others are left alone."""
        leaving, resting = leaving_brokers(image), frozenset(self._taken_back_ms)
        decision = yield from _move_away(leaving, resting, image, inputs)
        if not decision.records and not resting:
            self._nothing_in = _Seen(leaving, image.topics, image.moves, inputs.unable)
        return decision


def _move_away(
    leaving: list[int], resting: frozenset[PartitionKey], image: MetadataImage, inputs: Inputs
) -> DecisionSteps:
    room = _room(leaving, image)
    brokers = able_brokers(image, inputs.unable)
    if not room or not brokers:
        return Decision((), Done())
    led = partitions_led(image)
    records: list[MetadataRecord] = []
    looked_at = 0
    for topic in sorted(image.topics.values(), key=lambda it: it.name):
        records += _moves_of(topic, room, resting, image, brokers, led, inputs)
        looked_at += 1 + len(topic.partitions)
        if looked_at >= STEP_LOOKED_AT:
            looked_at = 0
            yield
    return Decision(tuple(records), Done())


def _room(leaving: list[int], image: MetadataImage) -> Counter[int]:
    """How many moves of each broker may begin; brokers with none are left out."""
    under_way = Counter(
        image.topics[topic_id].partitions[index].leader for topic_id, index in image.moves
    )
    return Counter({it: MAX_MOVES - under_way[it] for it in leaving if under_way[it] < MIN_MOVES})


def _moves_of(
    topic: TopicImage,
    room: Counter[int],
    resting: frozenset[PartitionKey],
    image: MetadataImage,
    brokers: list[int],
    led: Counter[int],
    inputs: Inputs,
) -> list[MetadataRecord]:
    some = []
    for it in topic.partitions:
        key = (topic.topic_id, it.partition)
        if room[it.leader] > 0 and key not in image.moves and key not in resting:
            room[it.leader] -= 1
            some.append(it)
    if not some:
        return []
    of_topic = Counter([it.leader for it in topic.partitions])
    targets = place(len(some), brokers, led, inputs.rng, of_topic=of_topic)
    led.update(targets)
    epoch = image.index + 1
    return [
        PartitionMoveRecord(topic.topic_id, it.partition, epoch, target)
        for it, target in zip(some, targets, strict=True)
    ]
