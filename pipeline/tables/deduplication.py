"""Leaves out copies of an event that come within a watermark, by state that Spark keeps in the checkpoint.

An event is identified by columns of its document. A copy that comes later than the watermark after its event is late:
Spark drops what is late, copy or not, and counts it as `numRowsDroppedByWatermark` in the query's progress. Bad records
pass, and go the way of bad records.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame

from headrace.pipeline.tables.configuration import TableConfig
from headrace.pipeline.tables.decoding import decoder_of
from headrace.pipeline.tables.errors import NOT_OF_A_RECORD
from headrace.pipeline.tables.events import event_of

EVENT_TIME: Final = "_event_time"
EVENT_KEY: Final = "_event_key"
_ADDED: Final = (
    pa.field(EVENT_TIME, pa.timestamp("us", "UTC")),
    pa.field(EVENT_KEY, pa.string()),
)


def without_copies(records: DataFrame, table: TableConfig) -> DataFrame:
    """The records of a stream without copies, if the table is configured so."""
    if not table.deduplicate_by:
        return records
    columns = [f"{it.name} {it.dataType.simpleString()}" for it in records.schema.fields]
    added = f"{EVENT_TIME} timestamp, {EVENT_KEY} string"
    keyed = records.mapInArrow(KeyTask(table), f"{', '.join(columns)}, {added}")
    return keyed.withWatermark(EVENT_TIME, table.watermark).dropDuplicatesWithinWatermark(
        [EVENT_KEY]
    )


@dataclass(frozen=True, slots=True)
class KeyTask:
    """Adds time and identity of their event to records."""

    table: TableConfig

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run it on the records of one partition of the micro-batch."""
        decoder = decoder_of(self.table)
        for batch in batches:
            times: list[datetime | None] = []
            keys: list[str] = []
            names = ("value", "topic", "partition", "offset")
            for values in zip(*(batch.column(it).to_pylist() for it in names), strict=True):
                record = dict(zip(names, values, strict=True))
                try:
                    time, key = event_of(decoder.decode(record["value"] or b""), self.table)
                except NOT_OF_A_RECORD:
                    raise
                except Exception:  # noqa: BLE001 - it comes again where rows are made, and makes a bad record
                    time, key = None, "{topic}-{partition}-{offset}".format_map(record)
                times.append(time)
                keys.append(key)
            added = [pa.array(times, _ADDED[0].type), pa.array(keys, _ADDED[1].type)]
            fields = [*batch.schema, *_ADDED]
            yield pa.RecordBatch.from_arrays([*batch.columns, *added], schema=pa.schema(fields))
