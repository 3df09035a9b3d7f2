"""Makes the records by which the partitions of a log leave its owner. Pure."""

from collections.abc import Generator
from typing import TYPE_CHECKING, Final

from headrace.metadata.controller.placement import partitions_led, place
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.brokers import active_brokers
from headrace.metadata.images.logs import LogImage
from headrace.metadata.records.codec import Record
from headrace.metadata.records.streams import StreamState, StreamStateRecord
from headrace.metadata.records.topics import PartitionChangeRecord

if TYPE_CHECKING:
    from random import Random

STEP_STREAMS: Final = 10_000  # looked at: some milliseconds


def hand_over(
    log: LogImage, image: MetadataImage, rng: "Random"
) -> Generator[None, None, list[Record]]:
    """Give, in steps, records that close all streams of a log and name new leaders for its owner's partitions.

    The leaders are spread as new partitions are. Without an active broker the owner stays the leader.
    """
    records: list[Record] = []
    for number, stream in enumerate(image.streams.values(), start=1):
        if stream.opened and stream.node_id == log.owner:
            records.append(
                StreamStateRecord(stream.stream_id, stream.epoch, StreamState.CLOSED, log.owner)
            )
        if number % STEP_STREAMS == 0:
            yield
    brokers = active_brokers(image.brokers)
    if not brokers:
        return records
    led = partitions_led(image)
    for topic in sorted(image.topics.values(), key=lambda it: it.name):
        moving = [it for it in topic.partitions if it.leader == log.owner]
        if not moving:
            continue
        leaders = place(len(moving), brokers, led, rng, present=topic.partitions)
        led.update(leaders)
        records += [
            PartitionChangeRecord(topic.topic_id, it.partition, leader, it.leader_epoch + 1)
            for it, leader in zip(moving, leaders, strict=True)
        ]
        yield
    return records
