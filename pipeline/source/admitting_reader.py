"""The stream reader of `format("headrace")` for Spark 4.2 and newer, which cannot be imported before.

Spark says from which offset on and by which limit it wants the next micro-batch, and when a query is to end with what
is there now. Unlike 4.0 it plans no empty range after a restart: that offset alone is the position of the query. So
`availableNow` has as many micro-batches as a limit makes, and one without records behind them, in which windows are
closed.

Source: pyspark.sql.streaming.datasource of Apache Spark 4.3.
"""

from dataclasses import replace
from typing import Any

from pyspark.sql.streaming.datasource import (  # type: ignore[import-not-found,unused-ignore]
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from headrace.pipeline.source.offsets import present_partitions
from headrace.pipeline.source.options import SourceOptions
from headrace.pipeline.source.snapshots import with_metadata
from headrace.pipeline.source.stream import StreamOffset, from_json
from headrace.pipeline.source.stream_reader import BucketStreamReader

Json = dict[str, Any]


class AdmittingStreamReader(BucketStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc,unused-ignore]
    """Micro-batches with a limit, and an end if Spark wants one."""

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - the name is Spark's
        """Return the limit of the options; of two, `latestOffset` knows the other one."""
        options = self._options
        if options.max_offsets_per_trigger is not None:
            return ReadMaxRows(options.max_offsets_per_trigger)
        if options.max_bytes_per_trigger is not None:
            return ReadMaxBytes(options.max_bytes_per_trigger)
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - the name is Spark's
        """Let the query end with what is there now."""
        # Which transactions are decided is looked up for each micro-batch, from where it begins: here, it would be done
        # from the first record on.
        self._target = with_metadata(
            self._opened_bucket(),
            self._catalog(),
            lambda catalog: StreamOffset(
                self._opened_ends().of(catalog).ends(present_partitions(catalog, self._options))
            ),
        )

    def latestOffset(self, start: Json, limit: ReadLimit) -> Json:  # type: ignore[override,unused-ignore]  # noqa: N802
        """Return where the micro-batch that begins at `start` ends; `start` itself if there is nothing new."""
        options = self._options
        if isinstance(limit, ReadAllAvailable):
            options = _without_limits(options)
        if start == self._told_initial and self._position is None:  # the query begins
            return self._following(self._begin(self._catalog()), None, options)
        return self._following(replace(from_json(start), first=None), start, options)


def _without_limits(options: SourceOptions) -> SourceOptions:
    return replace(options, max_offsets_per_trigger=None, max_bytes_per_trigger=None)
