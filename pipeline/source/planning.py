"""Tasks of a read: what Spark's driver makes by metadata and by the indexes of large objects; and reading them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from pyspark.sql.datasource import InputPartition

from headrace.pipeline.source.bucket import Bucket, open_bucket, read_index
from headrace.pipeline.source.catalog import Catalog, TopicPartition
from headrace.pipeline.source.ends import PartitionEnds
from headrace.pipeline.source.options import SourceOptions
from headrace.pipeline.source.plan import (
    Task,
    WantedRange,
    divide,
    large_objects,
    parts_of,
    task_bytes,
)
from headrace.pipeline.source.reading import Reading, read_task
from headrace.pipeline.source.tail.brokers import BrokerAccess
from headrace.pipeline.source.tail.fetching import TailPart, TailReader
from headrace.pipeline.source.transactions import AbortedRange
from headrace.pipeline.source.worker_upkeep import shorten_upkeep


@dataclass
class BucketTask(InputPartition):
    """What one task reads of objects."""

    task: Task
    reading: Reading


@dataclass
class TailTask(InputPartition):
    """What one task reads from brokers: of one partition."""

    part: TailPart
    access: BrokerAccess
    reading: Reading


AnyTask = BucketTask | TailTask


def plan_tasks(
    bucket: Bucket,
    catalog: Catalog,
    options: SourceOptions,
    wanted: Sequence[WantedRange],
    ends: PartitionEnds,
) -> list[AnyTask]:
    """Divide what is wanted into tasks: what the bucket has, and behind it a task for each partition with a tail.

    Raises:
        ObjectGoneError: a large object is gone: newer metadata is needed.
        SourceError: the bucket cannot be read, or brokers do not answer.
    """
    parts = parts_of(catalog, wanted)
    most_bytes = task_bytes(
        parts,
        max_partition_bytes=options.max_partition_bytes,
        min_partitions=options.min_partitions,
    )
    stored = {it.stored.object_id: it.stored for it in parts}
    indexes = {
        object_id: read_index(bucket, stored[object_id].key, stored[object_id].size_bytes)
        for object_id in sorted(large_objects(parts, most_bytes))
    }
    reading = Reading(options.columns, options.fails_on_loss, catalog.cluster_id)
    aborted = {it.name: found for it in wanted if (found := ends.aborted(catalog, it))}
    tasks: list[AnyTask] = [
        BucketTask(it, replace(reading, aborted=_aborted_in(it, aborted)))
        for it in divide(parts, indexes, most_bytes)
    ]
    access = ends.access(catalog)
    tasks += [TailTask(it, access, reading) for it in _tails(catalog, wanted)]
    return tasks


def read_planned(options: SourceOptions, planned: AnyTask) -> Iterator[Any]:
    """Read a task in a worker; errors as of `read_task` and `TailReader.rows`."""
    yield from _rows(options, planned)
    shorten_upkeep()


def _rows(options: SourceOptions, planned: AnyTask) -> Iterator[Any]:
    if isinstance(planned, BucketTask):
        yield from read_task(open_bucket(options.bucket), planned.task, planned.reading)
        return
    fails_on_loss, columns = planned.reading.fails_on_loss, planned.reading.columns
    with closing(TailReader(planned.access, fails_on_loss=fails_on_loss)) as reader:
        yield from reader.rows(planned.part, columns)


def _tails(catalog: Catalog, wanted: Sequence[WantedRange]) -> Iterator[TailPart]:
    """What is behind the committed part of partitions."""
    for it in wanted:
        stored = catalog.stored(it.name)
        if stored is not None and it.end_offset > stored.end_offset:
            topic_id = UUID(catalog.topic_id(it.name.topic))
            start = max(it.start_offset, stored.end_offset)
            yield TailPart(it.name, topic_id, start, it.end_offset)


def _aborted_in(
    task: Task, aborted: Mapping[TopicPartition, Sequence[AbortedRange]]
) -> dict[TopicPartition, list[AbortedRange]]:
    """The transactions that a task meets."""
    found: dict[TopicPartition, list[AbortedRange]] = {}
    for part in task:
        start, end = part.stored.start_offset, part.stored.end_offset
        met = [
            it
            for it in aborted.get(part.name, ())
            if it.first_offset < end and it.end_offset > start
        ]
        found.setdefault(part.name, []).extend(met)
    return found
