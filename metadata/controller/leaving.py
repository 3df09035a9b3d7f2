"""Decides which partitions leave a broker that is about to end, and for where. Pure.

A broker that begins to stop says that it can drain no logs any more (`headrace.metadata.controller.placement`), and
goes on serving until its partitions have moved, or its patience ends. Some move at a time: the next begin when most of
them have. Those that did not get on and were taken back begin again.
"""

from collections import Counter
from typing import Final

from headrace.metadata.controller.decision import Decision, DecisionSteps, Inputs
from headrace.metadata.controller.placement import active_brokers, partitions_led, place
from headrace.metadata.image import MetadataImage, TopicImage
from headrace.metadata.images.logs import about_to_end
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
    """Return the active brokers that are about to end, and of which others can take the partitions."""
    if level_of(image.features) < MOVES_LEVEL:
        return []
    ending = about_to_end(image.brokers, image.logs)
    active = {it.node_id for it in image.brokers.values() if not it.fenced}
    return sorted(active & ending) if active - ending else []


def has_to_move_away(image: MetadataImage) -> bool:
    """Whether `move_away` may have something to record."""
    leaving = leaving_brokers(image)
    return bool(leaving) and bool(_room(leaving, image))


def move_away(image: MetadataImage, inputs: Inputs) -> DecisionSteps:
    """Begin to move some partitions of the brokers that are about to end; those of others are left alone."""
    room = _room(leaving_brokers(image), image)
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
