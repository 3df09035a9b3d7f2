"""What a stream reads next, and its offsets as a checkpoint of Spark keeps them. Pure.

The offsets are the JSON of Spark's Kafka source, `{"topic": {"0": 23}}`, so a query can go on with the checkpoint that
a query of that source has left. Beside the topics is the key `#metadata`, which no topic can be called: the metadata
that the offsets come from, and the ids of the topics, by which a topic is known that was created again. The end of
a query's first micro-batch has where the query began, too: Spark keeps no initial offset, and asks for one again when
that micro-batch was not committed. What has come since, partitions and records, is not in it.

Source: KafkaMicroBatchStream.scala and KafkaOffsetReaderAdmin.scala of Apache Spark 4.0, for how a limit is shared,
where new partitions begin, and what counts as data loss.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from headrace.pipeline.source.catalog import Catalog, TopicPartition
from headrace.pipeline.source.errors import DataLossError, SourceError
from headrace.pipeline.source.offsets import (
    Lookup,
    Offsets,
    at_least,
    ends_early,
    present_partitions,
    stored_partition,
)
from headrace.pipeline.source.options import SourceOptions
from headrace.pipeline.source.plan import WantedRange

METADATA: Final = "#metadata"
_WRAPPER: Final = "spark.sql.streaming.triggerAvailableNowWrapper.enabled"


@dataclass(frozen=True, slots=True)
class StreamOffset:
    """The next offset of each partition."""

    offsets: Offsets
    # None: an initial offset, or of Spark's Kafka source.
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    first: "StreamOffset | None" = (
        None  # where the query began; of the end of its first micro-batch
    )


def to_json(
    offset: StreamOffset, catalog: Catalog, options: SourceOptions, now_ms: int
) -> dict[str, Any]:
    """Return what Spark keeps and shows in the query's progress.

    Where brokers give a tail, it has the end of the bucket, too.
    """
    found = _by_topic(offset.offsets)
    found[METADATA] = {
        "cluster": catalog.cluster_id,
        "index": catalog.index,
        "term": catalog.term,
        "timeMs": catalog.time_ms,
        "ageMs": max(0, now_ms - catalog.time_ms),
        "topicIds": dict(sorted(offset.topic_ids.items())),
    }
    if offset.first is not None:
        found[METADATA]["first"] = {
            "offsets": _by_topic(offset.first.offsets),
            "topicIds": dict(sorted(offset.first.topic_ids.items())),
        }
    if options.tail_brokers:
        ends = {
            name: stored.end_offset
            for name in offset.offsets
            if (stored := catalog.stored(name)) is not None
        }
        found[METADATA]["bucketOffsets"] = _by_topic(ends)
    return found


def _by_topic(offsets: Offsets) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in sorted(offsets):
        found.setdefault(name.topic, {})[str(name.partition)] = offsets[name]
    return found


def from_json(found: Mapping[str, Any]) -> StreamOffset:
    """Read what `to_json` or Spark's Kafka source has written.

    Raises:
        SourceError: it is something else.
    """
    try:
        metadata = found.get(METADATA, {})
        first = metadata.get("first")
        if first is not None:
            first = StreamOffset(_offsets(first["offsets"]), _ids(first["topicIds"]))
        return StreamOffset(_offsets(found), _ids(metadata.get("topicIds", {})), first)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SourceError(
            f"the checkpoint has offsets of another source: {str(found)[:200]}"
        ) from error


def _offsets(found: Mapping[str, Any]) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic, int(partition)): int(offset)
        for topic, partitions in found.items()
        if topic != METADATA
        for partition, offset in partitions.items()
    }


def _ids(found: Mapping[str, Any]) -> dict[str, str]:
    return {str(key): str(it) for key, it in found.items()}


def kept_start(start: StreamOffset, end: StreamOffset, *, is_initial: bool) -> StreamOffset:
    """Where a planned micro-batch begins: the first one of a query where the query began when it was planned.

    If the plan does not have that, an initial offset that was asked for again stands for it, without what is newer.
    """
    if start.topic_ids:
        return start
    if end.first is not None:
        return end.first
    if not is_initial:
        return start
    ends = end.offsets
    return StreamOffset({it: min(at, ends[it]) for it, at in start.offsets.items() if it in ends})


def first_offset(catalog: Catalog, offsets: Offsets) -> StreamOffset:
    """Where a query begins that has no checkpoint."""
    return StreamOffset(offsets, _topic_ids(catalog, offsets))


def next_offset(
    catalog: Catalog,
    options: SourceOptions,
    position: StreamOffset,
    lookup: Lookup,
    target: StreamOffset | None = None,
) -> StreamOffset:
    """Return where the next micro-batch ends; `position` itself if there is nothing new.

    Nothing is behind the `target`, if there is one: what has come since counts as not being there.

    A partition of which there is less than was read waits: as after a checkpoint of Spark's Kafka source, or of a query
    that had a tail.
    """
    names = present_partitions(catalog, options)
    begins = {it: _begin(catalog, position, it) for it in names}
    last = lookup.ends(names)
    if target is not None:
        last = {it: min(end, target.offsets.get(it, 0)) for it, end in last.items()}
    ends = {it: max(begins[it], last[it]) for it in names}
    decided = lookup.decided(begins, _limited(catalog, begins, ends, options))
    ends = {it: max(begins[it], decided[it]) for it in names}
    found = StreamOffset(ends, _topic_ids(catalog, ends))
    is_same = found.offsets == position.offsets and (
        not position.topic_ids or found.topic_ids == position.topic_ids
    )
    return position if is_same else found


def stream_ranges(
    catalog: Catalog,
    options: SourceOptions,
    start: StreamOffset,
    end: StreamOffset,
    lookup: Lookup,
) -> list[WantedRange]:
    """What a micro-batch reads, empty ranges left out.

    Raises:
        DataLossError: offsets are gone, and failOnDataLoss is true.
    """
    gone = sorted(set(start.offsets) - set(end.offsets))
    gone += [it for it in sorted(end.offsets) if _is_recreated(catalog, end, it)]
    if gone and options.fails_on_loss:
        listed = ", ".join(f"{it.topic}-{it.partition}" for it in gone[:5])
        raise DataLossError(
            f"deleted, or no longer chosen, since the last micro-batch: {listed}. The option failOnDataLoss=false "
            f"goes on without them"
        )
    begins = {
        name: _planned_begin(options, start, end, name)
        for name in sorted(set(end.offsets) - set(gone))
    }
    back = [name for name, begin in begins.items() if begin > end.offsets[name]]
    if back and options.fails_on_loss:
        name = back[0]
        raise DataLossError(
            f"{name.topic}-{name.partition} goes back from offset {begins[name]} to {end.offsets[name]} in the "
            f"checkpoint. The option failOnDataLoss=false reads it from there again"
        )
    planned = {name: begin for name, begin in begins.items() if begin < end.offsets[name]}
    ends = _there(planned, end, lookup)
    found: list[WantedRange] = []
    for name, begin in planned.items():
        until = end.offsets[name]
        if until > ends[name] and options.fails_on_loss:
            raise DataLossError(
                f"{ends_early(name, ends[name], catalog, options)}; the checkpoint says {until}. Start the query again "
                f"later; the option failOnDataLoss=false skips what is missing"
            )
        stored = stored_partition(catalog, name)
        first = at_least(name, begin, stored, fails_on_loss=options.fails_on_loss)
        if first < ends[name]:
            found.append(WantedRange(name, first, ends[name]))
    return found


def require_ahead(told: StreamOffset, position: StreamOffset, options: SourceOptions) -> None:
    """Let an end that was returned before the position was known be the end of a run.

    Raises:
        SourceError: the run would go back, and records be read twice, or it would never get on.
    """
    if options.max_offsets_per_trigger is not None or options.max_bytes_per_trigger is not None:
        raise SourceError(
            f"Spark asks for the end of this run before it says where the query is ({_WRAPPER}), so "
            f"a limit has nothing to count from. Leave out maxOffsetsPerTrigger, maxBytesPerTrigger, or the setting, "
            f"which Spark 4.2 does not need"
        )
    behind = [
        it
        for it in sorted(position.offsets)
        if not _is_other_topic(position, told, it.topic)
        and told.offsets.get(it, position.offsets[it]) < position.offsets[it]
    ]
    if behind:
        name = behind[0]
        raise SourceError(
            f"{name.topic}-{name.partition} is there up to offset {told.offsets[name]} only, and the query has read up "
            f"to {position.offsets[name]}: it would go back ({_WRAPPER}). Start it again later"
        )


def is_ahead(catalog: Catalog, start: StreamOffset, end: StreamOffset, lookup: Lookup) -> bool:
    """Whether a planned micro-batch has offsets that are not there yet, and may come."""
    begins = {
        it: start.offsets.get(it, 0)
        for it in end.offsets
        if start.offsets.get(it, 0) < end.offsets[it] and not _is_recreated(catalog, end, it)
    }
    ends = _there(begins, end, lookup)
    return any(end.offsets[it] > ends[it] for it in begins)


def _there(begins: Offsets, end: StreamOffset, lookup: Lookup) -> Offsets:
    """How far what was planned is there, and decided."""
    last = lookup.ends(begins)
    return lookup.decided(begins, {it: min(end.offsets[it], last[it]) for it in begins})


def _planned_begin(
    options: SourceOptions, start: StreamOffset, end: StreamOffset, name: TopicPartition
) -> int:
    if not _is_other_topic(start, end, name.topic):
        return start.offsets.get(name, 0)
    if name in start.offsets and options.fails_on_loss:
        raise DataLossError(
            f"topic {name.topic} was deleted and created again since the last micro-batch. The option "
            f"failOnDataLoss=false goes on with the new one"
        )
    return 0


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
