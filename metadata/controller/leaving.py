"""Decides which partitions leave a broker that is drained or about to end, and for where. Pure.

A broker that begins to stop says that it can drain no logs any more (`headrace.metadata.controller.placement`), and
goes on serving until its partitions have moved, or its patience ends. An operator drains one by its setting
`headrace.drain`: it goes on running. Some move at a time: the next begin when most of them have. Those that did not get
on and were taken back begin again.
"""

from collections import Counter
from typing import Final, NamedTuple

from headrace.metadata.controller.decision import Decision, DecisionSteps, Inputs
from headrace.metadata.controller.placement import active_brokers, partitions_led, place
from headrace.metadata.image import MetadataImage, TopicImage
from headrace.metadata.images.draining import closed_brokers
from headrace.metadata.images.moves import Moves
from headrace.metadata.images.topics import Topics
from headrace.metadata.levels import MOVES_LEVEL, level_of
from headrace.metadata.records.codec import Record
from headrace.metadata.records.topics import PartitionMoveRecord
from headrace.metadata.rpc.responses import Done

MAX_MOVES: Final = 64  # under way from one broker
MIN_MOVES: Final = (
    16  # likewise: with fewer, the next begin. A source carries out so many at a time
)
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

    def is_of(self, leaving: list[int], image: MetadataImage) -> bool:
        """Whether nothing of it has changed. By identity: the maps may be large."""
        return self.leaving == leaving and self.topics is image.topics and self.moves is image.moves


class Departures:
    """When partitions have to move away: the leader's soft state.

    A broker that is drained stays so when it leads nothing any more. Then a look at all partitions finds nothing, until
    a topic or a move has changed.
    """

    def __init__(self) -> None:
        self._nothing_in: _Seen | None = None

    def are_due(self, image: MetadataImage) -> bool:
        """Whether `move_away` may have something to record."""
        leaving = leaving_brokers(image)
        if not leaving or not _room(leaving, image):
            return False
        return self._nothing_in is None or not self._nothing_in.is_of(leaving, image)

    def move_away(self, image: MetadataImage, inputs: Inputs) -> DecisionSteps:
        """Begin to move some partitions of the brokers that leave; those of others are left alone."""
        leaving = leaving_brokers(image)
        decision = yield from _move_away(leaving, image, inputs)
        if not decision.records:
            self._nothing_in = _Seen(leaving, image.topics, image.moves)
        return decision


def _move_away(leaving: list[int], image: MetadataImage, inputs: Inputs) -> DecisionSteps:
    room = _room(leaving, image)
    if not room:
        return Decision((), Done())
    brokers, led = active_brokers(image), partitions_led(image)
    records: list[Record] = []
    looked_at = 0
    for topic in sorted(image.topics.values(), key=lambda it: it.name):
        records += _moves_of(topic, room, image, brokers, led, inputs)
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
    image: MetadataImage,
    brokers: list[int],
    led: Counter[int],
    inputs: Inputs,
) -> list[Record]:
    some = []
    for it in topic.partitions:
        if room[it.leader] > 0 and (topic.topic_id, it.partition) not in image.moves:
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
