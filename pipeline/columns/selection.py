"""What is wanted of record batches: rows, columns, and how much at once; the schema of the result. Pure.

| column | Arrow type | meaning |
|---|---|---|
| key | binary | null without one |
| value | binary | null without one (a tombstone of a compacted topic) |
| topic | string | |
| partition | int32 | |
| offset | int64 | |
| timestamp | timestamp[us, UTC] | the record's, or the log append time, in whole milliseconds |
| timestampType | int32 | 0 create time, 1 log append time |
| headers | list<struct<key: string, value: binary>> | null, not empty, for a record that has none |

Source: the schema of Spark's Kafka source (KafkaRecordToRowConverter.scala of Apache Spark 4.0).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from headrace.protocol.records.batch import BatchHeader

COLUMNS: Final = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")
HEADERS: Final = "headers"  # the eighth, for those who ask for it
OPEN_END: Final = (1 << 63) - 1  # of an offset range

# Offsets of Arrow arrays are 32 bits wide: no column of a result may be longer.
_LARGEST_ARRAY_BYTES: Final = (1 << 31) - 1
_MOST_ROWS: Final = 1 << 20

_HEADER_ITEM: Final = pa.struct([("key", pa.string()), ("value", pa.binary())])
_FIELDS: Final = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestampType": pa.int32(),
    HEADERS: pa.list_(_HEADER_ITEM),
}


def _hides_nothing(_: BatchHeader) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedRows:
    """Rows and columns of one topic partition.

    `is_hidden` is asked for each batch that is neither a control batch nor outside of the offsets, in order of offset:
    whether its rows are left out, as those of aborted transactions are.
    """

    topic: str
    partition: int
    start_offset: int = 0
    end_offset: int = OPEN_END  # exclusive
    columns: tuple[str, ...] = COLUMNS
    is_hidden: Callable[[BatchHeader], bool] = _hides_nothing

    def __post_init__(self) -> None:
        unknown = [name for name in self.columns if name not in _FIELDS]
        if unknown or len(set(self.columns)) != len(self.columns):
            raise ValueError(f"columns are some of {', '.join(_FIELDS)}, once each: {unknown}")

    @property
    def schema(self) -> Any:
        """The `pyarrow.Schema` of the result: the columns in the wanted order."""
        return pa.schema([(name, _FIELDS[name]) for name in self.columns])


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of what is held at once.

    By default what is in work at a time stays in the processor's cache, and its memory is used again.
    """

    max_rows: int = 16_384  # of one result
    # Of keys, values and headers of one result; a row that has more comes alone.
    max_bytes: int = 2 << 20
    # Of decompressed batches that are looked at together: one batch at least.
    piece_bytes: int = 2 << 20
    max_batch_bytes: int = 256 << 20  # of one batch, decompressed: what the broker's readers accept

    def __post_init__(self) -> None:
        if not 1 <= self.max_rows <= _MOST_ROWS:
            raise ValueError(f"max_rows is between 1 and {_MOST_ROWS}")
        if not 1 <= self.max_bytes <= _LARGEST_ARRAY_BYTES:
            raise ValueError(f"max_bytes is between 1 and {_LARGEST_ARRAY_BYTES}")
        if not 1 <= self.max_batch_bytes <= _LARGEST_ARRAY_BYTES:
            raise ValueError(f"max_batch_bytes is between 1 and {_LARGEST_ARRAY_BYTES}")
        if self.piece_bytes < 1:
            raise ValueError("piece_bytes is positive")
