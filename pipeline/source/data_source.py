"""`format("headrace")`: a Python data source for Spark 4.0 and newer.

Spark's driver reads the newest metadata, of the bucket or of a node, and plans; tasks read objects. Brokers give no
record, unless `tail=broker` asks them for what is not in the bucket yet. Otherwise it comes with the next upload.

Source: pyspark.sql.datasource of Apache Spark 4.0.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib.util import find_spec
from typing import Any, Final, cast

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from headrace.pipeline.source.bucket import open_bucket
from headrace.pipeline.source.catalog import Catalog
from headrace.pipeline.source.ends import PartitionEnds
from headrace.pipeline.source.listeners import open_metadata
from headrace.pipeline.source.offsets import batch_ranges
from headrace.pipeline.source.options import SourceOptions, read_options, wanted_columns
from headrace.pipeline.source.planning import (
    AnyTask,
    BucketTask,
    plan_tasks,
    read_planned,
)
from headrace.pipeline.source.reading import Reading
from headrace.pipeline.source.snapshots import with_metadata
from headrace.pipeline.source.stream_reader import BucketStreamReader

# Spark 4.2 and newer ask how much a micro-batch may have, and say when a query is to end.
_HAS_ADMISSION: Final = find_spec("pyspark.sql.streaming.datasource") is not None

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


class HeadraceDataSource(DataSource):
    """Reads topics from the bucket; the options are those of `headrace.pipeline.source.options`."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "headrace"

    def schema(self) -> str:
        """The columns, as Spark's Kafka source has them."""
        return ", ".join(f"{it} {_TYPES[it]}" for it in wanted_columns(self.options))

    def reader(self, schema: StructType) -> "BucketReader":  # noqa: ARG002 - it is ours
        """Read once."""
        return BucketReader(read_options(self.options))

    def streamReader(self, schema: StructType) -> BucketStreamReader:  # noqa: ARG002, N802 - as Spark has it
        """Read in micro-batches."""
        options = read_options(self.options, is_stream=True)
        if not _HAS_ADMISSION:
            return BucketStreamReader(options)
        from headrace.pipeline.source.admitting_reader import AdmittingStreamReader  # noqa: PLC0415 - see above

        return AdmittingStreamReader(options)


class BucketReader(DataSourceReader):
    """A batch."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options

    def partitions(self) -> Sequence[AnyTask]:
        """Plan, on the driver."""
        bucket, options = open_bucket(self._options.bucket), self._options
        ends = PartitionEnds(bucket, options)

        def planned(catalog: Catalog) -> list[AnyTask]:
            wanted = batch_ranges(catalog, options, ends.of(catalog))
            return plan_tasks(bucket, catalog, options, wanted, ends)

        catalog = open_metadata(bucket, options.admin_listeners, options.cluster).newest(None)
        nothing = BucketTask((), Reading(options.columns, options.fails_on_loss, options.cluster))
        with closing(ends):
            return with_metadata(bucket, catalog, planned) or [nothing]  # Spark wants at least one

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Read one task, in a worker."""
        task = cast("AnyTask", partition)  # what `partitions` returned, from the driver
        yield from read_planned(self._options, task)
