"""Tasks of a read: what Spark's driver makes by metadata, and by the indexes of large objects."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql.datasource import InputPartition

from headrace.pipeline.source.bucket import Bucket, read_index
from headrace.pipeline.source.catalog import Catalog
from headrace.pipeline.source.listeners import ListenerMetadata
from headrace.pipeline.source.options import SourceOptions
from headrace.pipeline.source.plan import (
    Task,
    WantedRange,
    divide,
    large_objects,
    parts_of,
    task_bytes,
)
from headrace.pipeline.source.reading import Reading
from headrace.pipeline.source.snapshots import BucketMetadata, Metadata


@dataclass
class BucketTask(InputPartition):
    """What one task reads."""

    task: Task
    reading: Reading


def open_metadata(bucket: Bucket, options: SourceOptions) -> Metadata:
    """Open what the options want the metadata from."""
    if options.admin_listeners:
        return ListenerMetadata(options.admin_listeners, options.cluster)
    return BucketMetadata(bucket, options.cluster)


def plan_tasks(
    bucket: Bucket, catalog: Catalog, options: SourceOptions, wanted: Sequence[WantedRange]
) -> list[BucketTask]:
    """Divide what is wanted into tasks.

    Raises:
        ObjectGoneError: a large object is gone: newer metadata is needed.
        SourceError: the bucket cannot be read.
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
    return [BucketTask(it, reading) for it in divide(parts, indexes, most_bytes)]
