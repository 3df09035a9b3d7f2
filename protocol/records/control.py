"""The marker that ends a transaction: the one record of a control batch. Pure.

| part | bytes | type | field |
|---|---|---|---|
| key | 2 | int16 | version 0 |
| key | 2 | int16 | type: 0 abort, 1 commit; others do not end a transaction |
| value | 2 | int16 | version 0 |
| value | 4 | int32 | epoch of the coordinator |

Source: ControlRecordType.java and EndTransactionMarker.java of Apache Kafka 4.4.
"""

from enum import IntEnum
from struct import Struct
from typing import Final, NamedTuple

from headrace.protocol.records.errors import CorruptBatchError
from headrace.protocol.records.record import Record, decode_records

MAX_CONTROL_BYTES: Final = 1 << 16  # of a control batch, decompressed: a marker has some 80
_KEY: Final = Struct(">hh")
_VALUE: Final = Struct(">hi")


class Marker(IntEnum):
    """How a transaction ended."""

    ABORT = 0
    COMMIT = 1


class EndOfTransaction(NamedTuple):
    """What the marker of a transaction says."""

    marker: Marker
    coordinator_epoch: int


def decode_marker(batch: memoryview) -> Marker | None:
    """Read the marker of a control batch; None if it does not end a transaction, or compaction has taken its record.

    Raises:
        RecordsError: the batch is damaged.
    """
    record = next(decode_records(batch, MAX_CONTROL_BYTES), None)
    return None if record is None else _marker_of(record)


def decode_end(batch: memoryview) -> EndOfTransaction | None:
    """As `decode_marker`, with what a broker keeps of the marker's value.

    Raises:
        RecordsError: the batch is damaged.
    """
    record = next(decode_records(batch, MAX_CONTROL_BYTES), None)
    marker = None if record is None else _marker_of(record)
    if record is None or marker is None:
        return None
    value = record.value or b""
    if len(value) < _VALUE.size:
        raise CorruptBatchError(f"control record has a value of {len(value)} bytes")
    return EndOfTransaction(marker, _VALUE.unpack_from(value)[1])


def _marker_of(record: Record) -> Marker | None:
    key = record.key or b""
    if len(key) < _KEY.size:
        raise CorruptBatchError(f"control record has a key of {len(key)} bytes")
    kind: int = _KEY.unpack_from(key)[1]
    return Marker(kind) if kind in (Marker.ABORT, Marker.COMMIT) else None
