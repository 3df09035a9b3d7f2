"""`format("headrace")`: a Python data source for Spark 4.0 and newer.

Spark's driver reads the newest metadata snapshot of the bucket and plans; tasks read objects. Nobody asks a broker.
What a broker holds only in its WAL is not seen: it comes with the next upload and the next snapshot.

Source: pyspark.sql.datasource of Apache Spark 4.0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from headrace.pipeline.source.bucket import Bucket, newest_catalog, open_bucket, read_index
from headrace.pipeline.source.catalog import Catalog
from headrace.pipeline.source.errors import ObjectGoneError, SourceError
from headrace.pipeline.source.offsets import batch_ranges
from headrace.pipeline.source.options import SourceOptions, read_options
from headrace.pipeline.source.plan import (
    Task,
    WantedRange,
    divide,
    large_objects,
    parts_of,
    task_bytes,
)
from headrace.pipeline.source.reading import Reading, read_task
from headrace.pipeline.source.times import find_by_timestamp

MAX_PLANS: Final = 10  # each from newer metadata, when an object of the last was gone

_TYPES: Final = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
    "headers": "array<struct<key: string, value: binary>>",
}


@dataclass
class BucketTask(InputPartition):
    """What one task reads."""

    task: Task
    reading: Reading


class HeadraceDataSource(DataSource):
    """Reads topics from the bucket; the options are those of `headrace.pipeline.source.options`."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "headrace"

    def schema(self) -> str:
        """The columns, as Spark's Kafka source has them."""
        columns = read_options(self.options).columns
        return ", ".join(f"{it} {_TYPES[it]}" for it in columns)

    def reader(self, schema: StructType) -> "BucketReader":  # noqa: ARG002 - it is ours
        """Read once."""
        return BucketReader(read_options(self.options))


class BucketReader(DataSourceReader):
    """A batch."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options

    def partitions(self) -> Sequence[BucketTask]:
        """Plan, on the driver."""
        bucket = open_bucket(self._options.bucket)
        for _ in range(MAX_PLANS):
            catalog = newest_catalog(bucket, self._options.cluster)
            try:
                find_time = partial(find_by_timestamp, bucket, catalog)
                wanted = batch_ranges(catalog, self._options, find_time)
                return plan(bucket, catalog, self._options, wanted) or [_nothing(self._options)]
            except ObjectGoneError:
                continue
        raise SourceError(
            "objects that the newest metadata names are not in the bucket; `headrace bucket fsck` says which"
        )

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Read one task, in a worker."""
        task = cast("BucketTask", partition)  # what `partitions` returned, from the driver
        yield from read_task(open_bucket(self._options.bucket), task.task, task.reading)


def plan(
    bucket: Bucket, catalog: Catalog, options: SourceOptions, wanted: Sequence[WantedRange]
) -> list[BucketTask]:
    """Divide what is wanted into tasks.

    Raises:
        ObjectGoneError: a large object is gone: newer metadata is needed.
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


def _nothing(options: SourceOptions) -> BucketTask:
    """Spark wants at least one task."""
    return BucketTask((), Reading(options.columns, options.fails_on_loss, options.cluster))
