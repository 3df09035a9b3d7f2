"""Data block: consecutive StreamRecordBatches of one stream, behind a header with a checksum.

All integers are big-endian.

| offset | bytes | type | field | meaning |
|---|---|---|---|---|
| 0  | 1 | u8  | magic        | 0x5A |
| 1  | 1 | u8  | flags        | 0; no flag is defined, so any other value is refused |
| 2  | 4 | i32 | record count | StreamRecordBatches in the block, at least 1 |
| 6  | 4 | i32 | data length  | bytes that follow the header |
| 10 | 4 | u32 | CRC32C       | of the data, then of bytes 0 to 9 of this header |
| 14 | n |     | data         | encoded StreamRecordBatches (`headrace.storage.record_batch`) |

The header comes last into the checksum because count and length are known last: a writer needs no
second pass.

Source: S3Stream's data block (10-byte header, no checksum), extended by the CRC.
"""

import struct
from collections.abc import Iterator

from headrace.checksums import crc32c
from headrace.storage.errors import CorruptObjectError
from headrace.storage.record_batch import StreamRecordBatch, decode_batch

MAGIC = 0x5A
_PREFIX = struct.Struct(">BBii")
_CRC = struct.Struct(">I")
BLOCK_HEADER_BYTES = _PREFIX.size + _CRC.size
MAX_BLOCK_SIZE = 2**31 - 1

assert BLOCK_HEADER_BYTES == 14


def encode_block_header(record_count: int, data_length: int, data_crc: int) -> bytes:
    """Encode the 14 bytes in front of the data.

    Args:
        record_count: batches in the block.
        data_length: bytes of the data.
        data_crc: CRC32C of the data.

    Raises:
        ValueError: count or length do not fit.
    """
    if not 1 <= record_count < 2**31 or not 1 <= data_length <= MAX_BLOCK_SIZE - BLOCK_HEADER_BYTES:
        raise ValueError(f"block of {record_count} batches and {data_length} bytes does not fit")
    prefix = _PREFIX.pack(MAGIC, 0, record_count, data_length)
    return prefix + _CRC.pack(crc32c(prefix, data_crc))


def verify_block(block: memoryview) -> tuple[int, memoryview]:
    """Check a whole block.

    Returns:
        The number of batches, and a view of the data.

    Raises:
        CorruptObjectError: it is not exactly one block, or its checksum does not match.
    """
    if len(block) < BLOCK_HEADER_BYTES:
        raise CorruptObjectError(f"data block of {len(block)} bytes has no header")
    magic, flags, record_count, data_length = _PREFIX.unpack_from(block)
    if magic != MAGIC or flags != 0:
        raise CorruptObjectError(f"not a data block: magic {magic:#x}, flags {flags:#x}")
    if record_count < 1 or data_length != len(block) - BLOCK_HEADER_BYTES:
        raise CorruptObjectError(
            f"the header of a data block of {len(block)} bytes says {record_count} batches, "
            f"{data_length} bytes"
        )
    data = block[BLOCK_HEADER_BYTES:]
    expected = _CRC.unpack_from(block, _PREFIX.size)[0]
    actual = crc32c(block[: _PREFIX.size], crc32c(data))
    if actual != expected:
        raise CorruptObjectError(f"data block checksum is {actual:#010x}, not {expected:#010x}")
    return record_count, data


def iterate_batches(data: memoryview, position: int = 0) -> Iterator[StreamRecordBatch]:
    """Decode a verified block's batches from `position` on; payloads are slices of `data`.

    Raises:
        CorruptObjectError: a batch is invalid.
    """
    while position < len(data):
        batch, position = decode_batch(data, position)
        yield batch
