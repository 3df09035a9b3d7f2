"""The header of a record batch (magic 2), and the changes to it that need no decoding of records.

| offset | bytes | type | field | covered by crc |
|---|---|---|---|---|
| 0 | 8 | int64 | base_offset | no |
| 8 | 4 | int32 | batch_length: bytes after this field | no |
| 12 | 4 | int32 | partition_leader_epoch | no |
| 16 | 1 | int8 | magic = 2 | no |
| 17 | 4 | uint32 | crc: CRC-32C of everything from offset 21 on | |
| 21 | 2 | int16 | attributes, see below | yes |
| 23 | 4 | int32 | last_offset_delta | yes |
| 27 | 8 | int64 | base_timestamp, ms | yes |
| 35 | 8 | int64 | max_timestamp, ms | yes |
| 43 | 8 | int64 | producer_id, -1: none | yes |
| 51 | 2 | int16 | producer_epoch | yes |
| 53 | 4 | int32 | base_sequence | yes |
| 57 | 4 | int32 | records_count | yes |
| 61 | .. | | records, compressed as one block | yes |

Attributes: bits 0 to 2 codec, 3 timestamp type (0 create time, 1 log append time), 4 transactional,
5 control, 6 base_timestamp is a delete horizon (compacted topics). Everything is big-endian.

The magic byte of the older formats is at offset 16 as well, so the format of any header can be
recognised.

Source: DefaultRecordBatch.java of Apache Kafka 4.4.
"""

from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

from headrace.checksums import crc32c
from headrace.protocol.records.errors import CorruptBatchError

Buffer = bytes | bytearray | memoryview

MAGIC: Final = 2
HEADER_BYTES: Final = 61
LENGTH_OVERHEAD_BYTES: Final = 12  # bytes that batch_length does not count
NO_PRODUCER_ID: Final = -1
NO_SEQUENCE: Final = -1

CODEC_MASK: Final = 0x07
LOG_APPEND_TIME_FLAG: Final = 0x08
TRANSACTIONAL_FLAG: Final = 0x10
CONTROL_FLAG: Final = 0x20
DELETE_HORIZON_FLAG: Final = 0x40
_DEFINED_FLAGS: Final = 0x7F

_HEADER: Final = Struct(">qiibIhiqqqhii")
_INT64: Final = Struct(">q")
_INT32: Final = Struct(">i")
_INT16: Final = Struct(">h")
_CRC: Final = Struct(">I")
_LEADER_EPOCH_OFFSET: Final = 12
_CRC_OFFSET: Final = 17
CRC_BEGIN: Final = 21  # of what the CRC covers, to the end
_ATTRIBUTES_OFFSET: Final = 21
_MAX_TIMESTAMP_OFFSET: Final = 35

assert _HEADER.size == HEADER_BYTES


class BatchHeader(NamedTuple):
    """The fields of the 61 bytes, unchecked. Times in ms."""

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int

    @property
    def size_bytes(self) -> int:
        """Bytes of the whole batch, header included."""
        return self.batch_length + LENGTH_OVERHEAD_BYTES

    @property
    def last_offset(self) -> int:
        """Offset of the last record (also if compaction has removed that record)."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """First offset after the batch."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> int:
        """Compression codec, see `headrace.protocol.records.compression.Compression`; may be undefined."""
        return self.attributes & CODEC_MASK

    @property
    def is_log_append_time(self) -> bool:
        """Whether `max_timestamp` is the timestamp of every record."""
        return bool(self.attributes & LOG_APPEND_TIME_FLAG)

    @property
    def is_transactional(self) -> bool:
        """Whether the records are part of a transaction."""
        return bool(self.attributes & TRANSACTIONAL_FLAG)

    @property
    def is_control(self) -> bool:
        """Whether the records are markers that consumers do not return."""
        return bool(self.attributes & CONTROL_FLAG)

    @property
    def has_delete_horizon(self) -> bool:
        """Whether `base_timestamp` is the time from which on the tombstones may be dropped (KIP-534)."""
        return bool(self.attributes & DELETE_HORIZON_FLAG)


def is_control_batch(data: Buffer) -> bool:
    """Whether the batch at the start of `data`, which holds its header, is a control batch."""
    return bool(data[_ATTRIBUTES_OFFSET + 1] & CONTROL_FLAG)


def parse_header(data: Buffer, position: int = 0) -> BatchHeader:
    """Read the header that starts at `position`.

    Raises:
        CorruptBatchError: fewer than 61 bytes are left.
    """
    if len(data) - position < HEADER_BYTES:
        raise CorruptBatchError(f"batch of {len(data) - position} bytes is shorter than its header")
    # What `_make` does, without its two calls: this runs for every batch that is produced.
    return tuple.__new__(BatchHeader, _HEADER.unpack_from(data, position))


def check_crc(batch: memoryview) -> bool:
    """Whether the stored CRC matches; `batch` is exactly one batch."""
    stored: int = _CRC.unpack_from(batch, _CRC_OFFSET)[0]
    return stored == crc32c(batch[CRC_BEGIN:])


def patch(batch: memoryview, base_offset: int, leader_epoch: int) -> None:
    """Set base offset and leader epoch, which the CRC does not cover, in a writable batch."""
    _INT64.pack_into(batch, 0, base_offset)
    _INT32.pack_into(batch, _LEADER_EPOCH_OFFSET, leader_epoch)


def newest_timestamp(header: BatchHeader) -> int:
    """The newest timestamp according to the header: some clients leave the maximum empty."""
    if header.attributes & DELETE_HORIZON_FLAG:
        return header.max_timestamp
    return max(header.max_timestamp, header.base_timestamp)


def set_timestamp_type(
    batch: memoryview, max_timestamp_ms: int, *, is_log_append_time: bool
) -> None:
    """Set the timestamp type and the maximum timestamp, and update the CRC if they differ.

    The records keep their timestamp deltas: with the append time, readers use the maximum instead. `batch` is exactly
    one batch.
    """
    (attributes,) = _INT16.unpack_from(batch, _ATTRIBUTES_OFFSET)
    (present_ms,) = _INT64.unpack_from(batch, _MAX_TIMESTAMP_OFFSET)
    if present_ms == max_timestamp_ms and (
        bool(attributes & LOG_APPEND_TIME_FLAG) == is_log_append_time
    ):
        return
    attributes &= _DEFINED_FLAGS & ~LOG_APPEND_TIME_FLAG
    if is_log_append_time:
        attributes |= LOG_APPEND_TIME_FLAG
    _INT16.pack_into(batch, _ATTRIBUTES_OFFSET, attributes)
    _INT64.pack_into(batch, _MAX_TIMESTAMP_OFFSET, max_timestamp_ms)
    _write_crc(batch)


def encode_header(header: BatchHeader, records: Buffer) -> bytearray:
    """Return the batch with this header and (compressed) records; length and CRC are computed."""
    batch = bytearray(HEADER_BYTES + len(records))
    batch[HEADER_BYTES:] = records
    length = len(batch) - LENGTH_OVERHEAD_BYTES
    _HEADER.pack_into(batch, 0, *header._replace(batch_length=length, crc=0))
    _write_crc(memoryview(batch))
    return batch


def split_batches(data: memoryview) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Yield each batch of a buffer of whole batches, with its header. CRCs are not checked.

    Raises:
        CorruptBatchError: the next bytes are not a complete batch with magic 2.
    """
    position = 0
    while position < len(data):
        header = parse_header(data, position)
        end = position + header.size_bytes
        if header.magic != MAGIC:
            raise CorruptBatchError(f"batch has magic {header.magic}, expected 2")
        if header.size_bytes < HEADER_BYTES or end > len(data):
            raise CorruptBatchError(f"batch of {header.size_bytes} bytes exceeds its buffer")
        yield header, data[position:end]
        position = end


def _write_crc(batch: memoryview) -> None:
    _CRC.pack_into(batch, _CRC_OFFSET, crc32c(batch[CRC_BEGIN:]))
