"""Makes the records by which the partitions of a log leave its owner. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from headrace.metadata.controller.decision import Inputs
from headrace.metadata.controller.placement import active_brokers, place
from headrace.metadata.image import MetadataImage, PartitionImage, TopicImage
from headrace.metadata.images.logs import LogImage
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.records.streams import StreamState, StreamStateRecord
from headrace.metadata.records.topics import PartitionChangeRecord
from headrace.steps import Steps

STEP_LOOKED_AT: Final = 10_000  # streams, or topics and partitions: some milliseconds
STEP_MOVED: Final = 1_000  # partitions, likewise


def hand_over(log: LogImage, image: MetadataImage, inputs: Inputs) -> Steps[list[MetadataRecord]]:
    """Give, in steps, records that close all streams of a log and name new leaders for its owner's partitions.

    The leaders are spread as new partitions are; a partition that was moving goes to its target, if that is active.

    Raises:
        RefusedError: no broker is active.
    """
    brokers = active_brokers(image, inputs.unable)
    records: list[MetadataRecord] = []
    for number, stream in enumerate(image.streams.values(), start=1):
        if stream.opened and stream.node_id == log.owner:
            records.append(
                StreamStateRecord(stream.stream_id, stream.epoch, StreamState.CLOSED, log.owner)
            )
        if number % STEP_LOOKED_AT == 0:
            yield
    led: Counter[int] = Counter()
    looked_at = 0
    for topic in image.topics.values():
        led.update([it.leader for it in topic.partitions])
        looked_at += 1 + len(topic.partitions)
        if looked_at >= STEP_LOOKED_AT:
            looked_at = 0
            yield
    for topic in image.topics.values():
        moving = [it for it in topic.partitions if it.leader == log.owner]
        looked_at += 1 + len(topic.partitions)
        of_topic = Counter([it.leader for it in topic.partitions]) if moving else Counter[int]()
        for first in range(0, len(moving), STEP_MOVED):
            some = moving[first : first + STEP_MOVED]
            leaders = [
                chosen if (target := _target(topic, it, image, brokers)) is None else target
                for it, chosen in zip(
                    some, place(len(some), brokers, led, inputs.rng, of_topic=of_topic), strict=True
                )
            ]
            led.update(leaders)
            of_topic.update(leaders)
            records += [
                PartitionChangeRecord(topic.topic_id, it.partition, leader, it.leader_epoch + 1)
                for it, leader in zip(some, leaders, strict=True)
            ]
            yield
        if looked_at >= STEP_LOOKED_AT:
            looked_at = 0
            yield
    return records


def _target(
    topic: TopicImage, partition: PartitionImage, image: MetadataImage, brokers: Sequence[int]
) -> int | None:
    """Where a partition was moving, if that broker may lead it."""
    move = image.moves.get((topic.topic_id, partition.partition)) if image.moves else None
    return move.target if move is not None and move.target in brokers else None
