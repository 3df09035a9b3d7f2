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
from typing import Final

from headrace.protocol.records.errors import CorruptBatchError
from headrace.protocol.records.record import decode_records

MAX_CONTROL_BYTES: Final = 1 << 16  # of a control batch, decompressed: a marker has some 80
_KEY: Final = Struct(">hh")


class Marker(IntEnum):
    """How a transaction ended."""

    ABORT = 0
    COMMIT = 1


def decode_marker(batch: memoryview) -> Marker | None:
    """Read the marker of a control batch; None if it does not end a transaction, or compaction has taken its record.

    Raises:
        RecordsError: the batch is damaged.
    """
    record = next(decode_records(batch, MAX_CONTROL_BYTES), None)
    if record is None:
        return None
    key = record.key or b""
    if len(key) < _KEY.size:
        raise CorruptBatchError(f"control record has a key of {len(key)} bytes")
    kind: int = _KEY.unpack_from(key)[1]
    return Marker(kind) if kind in (Marker.ABORT, Marker.COMMIT) else None
