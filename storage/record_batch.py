"""StreamRecordBatch, the unit of append, cache, upload and read, and its encoded form. Pure.

It is the body of a WAL record, and what data blocks of objects are made of.

All integers are big-endian. The payload is opaque.

| offset | bytes | type | field | meaning |
|---|---|---|---|---|
| 0  | 1 | u8  | magic          | 0x22 |
| 1  | 8 | i64 | stream id      | |
| 9  | 8 | i64 | epoch          | of the stream, when the batch was appended |
| 17 | 8 | i64 | base offset    | first offset of the batch |
| 25 | 4 | i32 | count          | offsets that the batch spans, at least 1 |
| 29 | 4 | i32 | payload length | bytes that follow |
| 33 | n |     | payload        | |

There is no checksum here: a batch always lies inside something that has one (a WAL record, a data
block).

Source: S3Stream's StreamRecordBatch.
"""

import struct
from typing import NamedTuple

from headrace.storage.errors import CorruptObjectError

MAGIC = 0x22
_HEADER = struct.Struct(">Bqqqii")
HEADER_BYTES = _HEADER.size
MAX_PAYLOAD_BYTES = 2**31 - 1
MAX_COUNT = 2**31 - 1

assert HEADER_BYTES == 33


class StreamRecordBatch(NamedTuple):
    """Offsets `[base_offset, end_offset)` of a stream."""

    stream_id: int
    epoch: int
    base_offset: int
    count: int  # type: ignore[assignment]  # hides tuple.count, which is not used
    payload: memoryview

    @property
    def end_offset(self) -> int:
        """Offset behind the batch."""
        return self.base_offset + self.count


def encode_header(
    stream_id: int, epoch: int, base_offset: int, count: int, payload_length: int
) -> bytes:
    """Encode the 33 bytes that precede the payload.

    Raises:
        ValueError: `count` or `payload_length` do not fit.
    """
    if not 1 <= count <= MAX_COUNT or not 0 <= payload_length <= MAX_PAYLOAD_BYTES:
        raise ValueError(f"count {count} or payload length {payload_length} out of range")
    return _HEADER.pack(MAGIC, stream_id, epoch, base_offset, count, payload_length)


def decode_batch(view: memoryview, position: int) -> tuple[StreamRecordBatch, int]:
    """Decode the batch at `position`; its payload is a slice of `view`.

    Returns:
        The batch and the position behind it.

    Raises:
        CorruptObjectError: magic, count or length are invalid, or the bytes end too early.
    """
    body = position + HEADER_BYTES
    if body > len(view):
        raise CorruptObjectError(f"batch header at {position} is cut off at {len(view)}")
    magic, stream_id, epoch, base_offset, count, length = _HEADER.unpack_from(view, position)
    end = body + length
    if magic != MAGIC or count < 1 or length < 0 or end > len(view):
        raise CorruptObjectError(
            f"no valid batch at {position}: magic {magic}, count {count}, length {length}"
        )
    return StreamRecordBatch(stream_id, epoch, base_offset, count, view[body:end]), end
