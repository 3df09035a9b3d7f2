"""What a stream reads next, and its offsets as a checkpoint of Spark keeps them. Pure.

The offsets are the JSON of Spark's Kafka source, `{"topic": {"0": 23}}`, so a query can go on with the checkpoint that
a query of that source has left. Beside the topics is the key `#metadata`, which no topic can be called: the metadata
that the offsets come from, and the ids of the topics, which tell a topic that was deleted and created again.

Source: KafkaMicroBatchStream.scala and KafkaOffsetReaderAdmin.scala of Apache Spark 4.0, for how a limit is shared,
where new partitions begin, and what counts as data loss.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from headrace.pipeline.source.catalog import Catalog, TopicPartition
from headrace.pipeline.source.errors import DataLossError, SourceError
from headrace.pipeline.source.offsets import at_least, present_partitions, stored_partition
from headrace.pipeline.source.options import SourceOptions
from headrace.pipeline.source.plan import WantedRange

METADATA: Final = "#metadata"

Offsets = Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class StreamOffset:
    """The next offset of each partition."""

    offsets: Offsets
    topic_ids: Mapping[str, str] = field(default_factory=dict)  # none: of Spark's Kafka source


def to_json(offset: StreamOffset, catalog: Catalog) -> dict[str, Any]:
    """Return what Spark keeps and shows in the query's progress."""
    found: dict[str, Any] = {}
    for name in sorted(offset.offsets):
        found.setdefault(name.topic, {})[str(name.partition)] = offset.offsets[name]
    found[METADATA] = {
        "cluster": catalog.cluster_id,
        "index": catalog.index,
        "term": catalog.term,
        "timeMs": catalog.time_ms,
        "topicIds": dict(sorted(offset.topic_ids.items())),
    }
    return found


def from_json(found: Mapping[str, Any]) -> StreamOffset:
    """Read what `to_json` or Spark's Kafka source has written.

    Raises:
        SourceError: it is something else.
    """
    try:
        offsets = {
            TopicPartition(topic, int(partition)): int(offset)
            for topic, partitions in found.items()
            if topic != METADATA
            for partition, offset in partitions.items()
        }
        topic_ids = found.get(METADATA, {}).get("topicIds", {})
        return StreamOffset(offsets, {str(key): str(it) for key, it in topic_ids.items()})
    except (AttributeError, TypeError, ValueError) as error:
        raise SourceError(
            f"the checkpoint has offsets of another source: {str(found)[:200]}"
        ) from error


def first_offset(catalog: Catalog, offsets: Offsets) -> StreamOffset:
    """Where a query begins that has no checkpoint."""
    return StreamOffset(offsets, _topic_ids(catalog, offsets))


def next_offset(catalog: Catalog, options: SourceOptions, position: StreamOffset) -> StreamOffset:
    """Return where the next micro-batch ends; `position` itself if there is nothing new.

    A partition of which the bucket has less than was read, as after a checkpoint of Spark's Kafka source, waits.
    """
    names = present_partitions(catalog, options)
    begins = {it: _begin(catalog, position, it) for it in names}
    ends = {it: max(begins[it], stored_partition(catalog, it).end_offset) for it in names}
    ends = _limited(catalog, begins, ends, options)
    found = StreamOffset(ends, _topic_ids(catalog, ends))
    is_same = found.offsets == position.offsets and (
        not position.topic_ids or found.topic_ids == position.topic_ids
    )
    return position if is_same else found


def stream_ranges(
    catalog: Catalog, options: SourceOptions, start: StreamOffset, end: StreamOffset
) -> list[WantedRange]:
    """What a micro-batch reads, empty ranges left out.

    Raises:
        DataLossError: offsets are gone, and that is to be told.
    """
    gone = sorted(set(start.offsets) - set(end.offsets))
    gone += [it for it in sorted(end.offsets) if _is_recreated(catalog, end, it)]
    if gone and options.fails_on_loss:
        listed = ", ".join(f"{it.topic}-{it.partition}" for it in gone[:5])
        raise DataLossError(
            f"deleted, or no longer chosen, since the last micro-batch: {listed}. The option failOnDataLoss=false "
            f"goes on without them"
        )
    found: list[WantedRange] = []
    for name in sorted(set(end.offsets) - set(gone)):
        wanted = _wanted(catalog, options, start, end, name)
        if wanted.start_offset < wanted.end_offset:
            found.append(wanted)
    return found


def _wanted(
    catalog: Catalog,
    options: SourceOptions,
    start: StreamOffset,
    end: StreamOffset,
    name: TopicPartition,
) -> WantedRange:
    stored = stored_partition(catalog, name)
    begin, until = start.offsets.get(name, 0), end.offsets[name]
    if _is_other_topic(start, end, name.topic):
        if name in start.offsets and options.fails_on_loss:
            raise DataLossError(
                f"topic {name.topic} was deleted and created again since the last micro-batch. The option "
                f"failOnDataLoss=false goes on with the new one"
            )
        begin = 0
    if begin >= until:
        return WantedRange(name, begin, begin)
    if until > stored.end_offset and options.fails_on_loss:
        raise DataLossError(
            f"{name.topic}-{name.partition} is in the bucket up to offset {stored.end_offset} only, by metadata up to "
            f"entry {catalog.index}; the checkpoint says {until}. Start the query again later; the option "
            f"failOnDataLoss=false skips what is missing"
        )
    begin = at_least(name, begin, stored, fails_on_loss=options.fails_on_loss)
    return WantedRange(name, begin, min(until, stored.end_offset))


def _begin(catalog: Catalog, position: StreamOffset, name: TopicPartition) -> int:
    """Where the next micro-batch begins; a new partition, and one of a new topic, at its first record."""
    known = position.topic_ids.get(name.topic)
    is_other = known is not None and known != catalog.topic_id(name.topic)
    offset = 0 if is_other else position.offsets.get(name, 0)
    return max(offset, stored_partition(catalog, name).start_offset)


def _limited(
    catalog: Catalog, begins: Offsets, ends: Offsets, options: SourceOptions
) -> dict[TopicPartition, int]:
    limits = [dict(ends)]
    if options.max_offsets_per_trigger is not None:
        sizes = {it: ends[it] - begins[it] for it in ends}
        shares = _shares(sizes, options.max_offsets_per_trigger)
        limits.append({it: begins[it] + share for it, share in shares.items()})
    if options.max_bytes_per_trigger is not None:
        sizes = {it: _bytes(catalog, it, begins[it], ends[it]) for it in ends}
        shares = _shares(sizes, options.max_bytes_per_trigger)
        limits.append(
            {
                it: _offset_of_bytes(catalog, it, begins[it], ends[it], share)
                for it, share in shares.items()
            }
        )
    return {it: min(limit[it] for limit in limits) for it in ends}


def _shares(sizes: Mapping[TopicPartition, int], limit: int) -> dict[TopicPartition, int]:
    """Share a limit in proportion to what there is, at least 1 of each partition that has something."""
    total = sum(sizes.values())
    if total <= limit:
        return dict(sizes)
    exact = {it: limit * size / total for it, size in sizes.items()}
    return {
        it: min(sizes[it], math.ceil(share) if share < 1 else math.floor(share))
        for it, share in exact.items()
    }


def _bytes(catalog: Catalog, name: TopicPartition, start: int, end: int) -> int:
    stored = stored_partition(catalog, name)
    return sum(it.share_bytes for it in catalog.ranges(stored.data_stream_id, start, end))


def _offset_of_bytes(
    catalog: Catalog, name: TopicPartition, start: int, end: int, most_bytes: int
) -> int:
    """The offset at which about so many bytes were read: at least one record is."""
    stored = stored_partition(catalog, name)
    left_bytes = most_bytes
    for it in catalog.ranges(stored.data_stream_id, start, end):
        if it.share_bytes > left_bytes:
            part = (it.end_offset - it.start_offset) * left_bytes // it.share_bytes
            return max(it.start_offset + part, start + 1)
        left_bytes -= it.share_bytes
    return end


def _topic_ids(catalog: Catalog, names: Iterable[TopicPartition]) -> dict[str, str]:
    return {topic: catalog.topic_id(topic) for topic in {it.topic for it in names}}


def _is_other_topic(start: StreamOffset, end: StreamOffset, topic: str) -> bool:
    before, after = start.topic_ids.get(topic), end.topic_ids.get(topic)
    return before is not None and after is not None and before != after


def _is_recreated(catalog: Catalog, offset: StreamOffset, name: TopicPartition) -> bool:
    """Whether the partition that is meant is not there any more."""
    known = offset.topic_ids.get(name.topic)
    return catalog.stored(name) is None or (
        known is not None and known != catalog.topic_id(name.topic)
    )
