"""The stream reader of `format("headrace")`.

What Spark 4.0 does with it, each tried by a test: a query without a checkpoint asks for the latest offset before it
asks for the initial one. After a restart it first plans an empty range that ends where the checkpoint does. With
`availableNow` it asks for the latest offset once, and commits a micro-batch only when the next one is there. So no
micro-batch without records follows, in which windows are closed, unless the session wraps sources for `availableNow`
(`spark.sql.streaming.triggerAvailableNowWrapper.enabled`): it then asks for the latest offset before it says where the
query is.

Source: pyspark.sql.datasource and PythonMicroBatchStream.scala of Apache Spark 4.0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from headrace.pipeline.source.bucket import Bucket, open_bucket
from headrace.pipeline.source.catalog import Catalog
from headrace.pipeline.source.ends import PartitionEnds
from headrace.pipeline.source.listeners import open_metadata
from headrace.pipeline.source.offsets import chosen_partitions, starting_offsets
from headrace.pipeline.source.options import SourceOptions
from headrace.pipeline.source.planning import AnyTask, plan_tasks, read_planned
from headrace.pipeline.source.snapshots import ASKED_INTERVAL_S, FreshCatalog, with_metadata
from headrace.pipeline.source.stream import (
    METADATA,
    StreamOffset,
    first_offset,
    from_json,
    is_ahead,
    kept_start,
    next_offset,
    require_ahead,
    stream_ranges,
    to_json,
)
from headrace.pipeline.source.tail.brokers import Clock

Json = dict[str, Any]


PLANNED_WAIT_S: Final = 300.0  # for a micro-batch of the checkpoint that is not there yet


class BucketStreamReader(DataSourceStreamReader):
    """Micro-batches, each from where the last one ended to what the newest metadata, or the brokers, have."""

    def __init__(self, options: SourceOptions, clock: Clock | None = None) -> None:
        self._options = options
        self._clock = clock or Clock()
        self._bucket: Bucket | None = None  # as the next two: opened when it is asked
        self._fresh: FreshCatalog | None = None
        self._ends: PartitionEnds | None = None
        self._initial: StreamOffset | None = None
        self._told_initial: Json | None = None
        self._position: tuple[StreamOffset, Json] | None = None  # where the next one begins
        self._unplaced: StreamOffset | None = (
            None  # an end that was asked for before the position was known
        )
        self._target: StreamOffset | None = None  # where the query ends; None: it goes on
        self._nothing_new: tuple[Catalog, StreamOffset] | None = (
            None  # in these metadata, after that
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to a worker without what the driver keeps, such as connections."""
        return type(self), (self._options,)

    def initialOffset(self) -> Json:  # noqa: N802 - the name is Spark's
        """Return where a query begins that has no checkpoint."""
        found = self._shown(self._begin(self._catalog()), self._catalog())
        del found[METADATA]
        self._told_initial = found
        return found

    def latestOffset(self) -> Json:  # noqa: N802 - the name is Spark's
        """Return where the next micro-batch ends; the same as last time if there is nothing new.

        The first answer to a query without a checkpoint differs from its initial offset in any case: Spark then runs
        a batch, and the checkpoint has the offsets to go on at, before the first record comes.
        """
        if self._position is not None:
            return self._following(*self._position, self._options)
        found = self._following(self._begin(self._catalog()), None, self._options)
        self._unplaced = from_json(found)
        return found

    def partitions(self, start: Json, end: Json) -> Sequence[AnyTask]:
        """Plan a micro-batch, on the driver."""
        until = from_json(end)
        if start == end:  # Spark says where the query is
            self._initial = until.first  # asked for again if that micro-batch was not committed
            if self._unplaced is not None:
                require_ahead(self._unplaced, until, self._options)
        self._unplaced = None
        begin = kept_start(from_json(start), until, is_initial=start == self._told_initial)
        self._position = replace(until, first=None), end
        self._wait_for(begin, until)
        bucket, options, ends = self._opened_bucket(), self._options, self._opened_ends()

        def planned(catalog: Catalog) -> list[AnyTask]:
            wanted = stream_ranges(catalog, options, begin, until, ends.of(catalog))
            return plan_tasks(bucket, catalog, options, wanted, ends)

        return with_metadata(bucket, self._catalog(), planned)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Read one task, in a worker."""
        task = cast("AnyTask", partition)  # what `partitions` returned, from the driver
        yield from read_planned(self._options, task)

    def commit(self, end: Json) -> None:
        """Nothing: the checkpoint is Spark's."""

    def stop(self) -> None:
        """Close what is open."""
        if self._ends is not None:
            self._ends.close()

    def _wait_for(self, begin: StreamOffset, until: StreamOffset) -> None:
        """Wait for what the checkpoint says was there: a query with a tail was ahead of the bucket."""
        deadline_s = self._clock.monotonic_s() + PLANNED_WAIT_S
        while self._clock.monotonic_s() < deadline_s:
            catalog = self._catalog()

            def is_missing(catalog: Catalog) -> bool:
                return is_ahead(catalog, begin, until, self._opened_ends().of(catalog))

            if not with_metadata(self._opened_bucket(), catalog, is_missing):
                return
            self._clock.sleep(ASKED_INTERVAL_S)

    def _following(
        self, position: StreamOffset, shown: Json | None, options: SourceOptions
    ) -> Json:
        """Where the next micro-batch ends; `shown`, which is how Spark knows the position, if there is nothing new.

        None is shown of the beginning of a query, which its first micro-batch keeps.
        """
        known = self._catalog()
        if shown is not None and self._nothing_new == (known, position):
            return shown

        def following(catalog: Catalog) -> tuple[StreamOffset, Catalog]:
            lookup = self._opened_ends().of(catalog)
            return next_offset(catalog, options, position, lookup, self._target), catalog

        found, catalog = with_metadata(self._opened_bucket(), known, following)
        if shown is None:
            return self._shown(replace(found, first=position), catalog)
        if found is not position:
            return self._shown(found, catalog)
        if not options.tail_brokers:  # they may have more before the metadata do
            self._nothing_new = catalog, position
        return shown

    def _shown(self, offset: StreamOffset, catalog: Catalog) -> Json:
        return to_json(offset, catalog, self._options, self._clock.time_ms())

    def _opened_bucket(self) -> Bucket:
        # Kept: to open a client takes 3 ms of processor time, and Spark asks a stream for its end every 10 ms.
        if self._bucket is None:
            self._bucket = open_bucket(self._options.bucket)
        return self._bucket

    def _opened_ends(self) -> PartitionEnds:
        if self._ends is None:
            self._ends = PartitionEnds(self._opened_bucket(), self._options, self._clock)
        return self._ends

    def _catalog(self) -> Catalog:
        if self._fresh is None:
            bucket, options = self._opened_bucket(), self._options
            metadata = open_metadata(bucket, options.admin_listeners, options.cluster)
            self._fresh = FreshCatalog(metadata, self._clock.monotonic_s)
        return self._fresh.newest()

    def _begin(self, catalog: Catalog) -> StreamOffset:
        """Where a query begins that has no checkpoint; it is found once."""
        if self._initial is None:
            self._initial = with_metadata(self._opened_bucket(), catalog, self._found)
        return self._initial

    def _found(self, catalog: Catalog) -> StreamOffset:
        options, lookup = self._options, self._opened_ends().of(catalog)
        names = chosen_partitions(catalog, options)
        if self._position is None:
            return first_offset(catalog, starting_offsets(catalog, options, names, lookup))
        # Of a first micro-batch that another source has planned, and that was not committed: what came since is new.
        ends = self._position[0].offsets
        begins = starting_offsets(catalog, options, [it for it in names if it in ends], lookup)
        return first_offset(catalog, {it: min(begin, ends[it]) for it, begin in begins.items()})
