"""Which partitions a log holds that is drained: its checkpoints and records are in pairs of streams."""

from collections.abc import Callable, Sequence

from headrace.broker.partition.log_checkpoints import DrainedPartition, LogCheckpoints
from headrace.config.dynamic_keys import PRODUCER_EXPIRATION_KEY
from headrace.config.node import LogConfig
from headrace.config.topic import EffectiveTopicConfig, topic_defaults
from headrace.metadata.image import MetadataImage
from headrace.storage.ports import StreamMetadata
from headrace.turns import Work, turns_of


async def checkpoints_of(
    image: MetadataImage,
    streams: Sequence[StreamMetadata],
    config: LogConfig,
    wall_clock_ms: Callable[[], int],
) -> LogCheckpoints:
    """Make what ends the partitions of a log with checkpoints; `streams` are those that its owner has open."""
    by_id = {it.stream_id: it for it in streams}
    turns, now_ms = turns_of(Work.UPKEEP), wall_clock_ms()
    found: list[DrainedPartition] = []
    of_all = image.broker_config("")
    defaults = {**config.topic_defaults, **topic_defaults(of_all)}
    for topic in image.topics.values():
        overrides = image.topic_config(topic.name)
        effective = EffectiveTopicConfig.resolve(overrides, defaults)
        for partition in topic.partitions:
            data, meta = by_id.get(partition.data_stream_id), by_id.get(partition.meta_stream_id)
            if data is not None and meta is not None:
                latest_ms = now_ms + effective.timestamp_after_max_ms
                found.append(DrainedPartition(data, meta, effective.segment_span_ms, latest_ms))
        await turns.pause()
    set_ms = of_all.get(PRODUCER_EXPIRATION_KEY)
    expiration_ms = config.producer_id_expiration_ms if set_ms is None else int(set_ms)
    return LogCheckpoints(found, producer_id_expiration_ms=expiration_ms, now_ms=now_ms)
