"""The stream reader of `format("headrace")`.

What Spark 4.0 does with it, each tried by a test: a query without a checkpoint asks for the latest offset before it
asks for the initial one. After a restart it first plans an empty range that ends where the checkpoint does. With
`availableNow` it asks for the latest offset once, and commits a micro-batch only when the next one is there.

Source: pyspark.sql.datasource and PythonMicroBatchStream.scala of Apache Spark 4.0.
"""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, cast

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from headrace.pipeline.source.bucket import open_bucket
from headrace.pipeline.source.catalog import Catalog
from headrace.pipeline.source.offsets import chosen_partitions, starting_offsets
from headrace.pipeline.source.options import SourceOptions
from headrace.pipeline.source.planning import BucketTask, open_metadata, plan_tasks
from headrace.pipeline.source.reading import read_task
from headrace.pipeline.source.snapshots import FreshCatalog, with_metadata
from headrace.pipeline.source.stream import (
    METADATA,
    StreamOffset,
    first_offset,
    from_json,
    next_offset,
    stream_ranges,
    to_json,
)
from headrace.pipeline.source.times import find_by_timestamp

Json = dict[str, Any]


class BucketStreamReader(DataSourceStreamReader):
    """Micro-batches, each from where the last one ended to what the newest metadata have."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._fresh: FreshCatalog | None = (
            None  # made when it is asked, on the driver: workers get a copy of this
        )
        self._initial: StreamOffset | None = None
        self._position: tuple[StreamOffset, Json] | None = None  # where the next one begins

    def initialOffset(self) -> Json:  # noqa: N802 - the name is Spark's
        """Return where a query begins that has no checkpoint."""
        found = to_json(self._begin(self._catalog()), self._catalog())
        del found[METADATA]
        return found

    def latestOffset(self) -> Json:  # noqa: N802 - the name is Spark's
        """Return where the next micro-batch ends; the same as last time if there is nothing new.

        The first answer to a query without a checkpoint differs from its initial offset in any case: Spark then runs
        a batch, and the checkpoint has the place to go on at, before the first record comes.
        """
        catalog = self._catalog()
        if self._position is None:
            begin = self._begin(catalog)
            return to_json(next_offset(catalog, self._options, begin), catalog)
        position, shown = self._position
        found = next_offset(catalog, self._options, position)
        return shown if found is position else to_json(found, catalog)

    def partitions(self, start: Json, end: Json) -> Sequence[BucketTask]:
        """Plan a micro-batch, on the driver."""
        begin, until = from_json(start), from_json(end)
        self._position = until, end
        bucket, options = open_bucket(self._options.bucket), self._options

        def planned(catalog: Catalog) -> list[BucketTask]:
            return plan_tasks(
                bucket, catalog, options, stream_ranges(catalog, options, begin, until)
            )

        return with_metadata(bucket, self._catalog(), planned)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Read one task, in a worker."""
        task = cast("BucketTask", partition)  # what `partitions` returned, from the driver
        yield from read_task(open_bucket(self._options.bucket), task.task, task.reading)

    def commit(self, end: Json) -> None:
        """Nothing: the checkpoint is Spark's."""

    def stop(self) -> None:
        """Nothing is held."""

    def _catalog(self) -> Catalog:
        if self._fresh is None:
            bucket = open_bucket(self._options.bucket)
            self._fresh = FreshCatalog(open_metadata(bucket, self._options), time.monotonic)
        return self._fresh.newest()

    def _begin(self, catalog: Catalog) -> StreamOffset:
        """Where a query begins that has no checkpoint; it is found once."""
        if self._initial is None:
            self._initial = with_metadata(open_bucket(self._options.bucket), catalog, self._found)
        return self._initial

    def _found(self, catalog: Catalog) -> StreamOffset:
        bucket, options = open_bucket(self._options.bucket), self._options
        names = chosen_partitions(catalog, options)
        find_time = partial(find_by_timestamp, bucket, catalog)
        return first_offset(catalog, starting_offsets(catalog, options, names, find_time))
