"""Encoding and decoding of the records of a batch.

Decompressed records follow each other without gaps. All numbers except the attributes are zig-zag
varints of up to 64 bits:

| type | field |
|---|---|
| varint | length: bytes of what follows |
| int8 | attributes, unused |
| varlong | timestamp_delta to the batch's base_timestamp, ms |
| varint | offset_delta to the batch's base_offset |
| varint, bytes | key, a negative length is null |
| varint, bytes | value, a negative length is null |
| varint | number of headers, then for each: |
| varint, UTF-8 | header key |
| varint, bytes | header value, a negative length is null |

Source: DefaultRecord.java of Apache Kafka 4.4.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from headrace.protocol.records.batch import (
    CONTROL_FLAG,
    HEADER_BYTES,
    LOG_APPEND_TIME_FLAG,
    MAGIC,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    TRANSACTIONAL_FLAG,
    BatchHeader,
    encode_header,
    parse_header,
)
from headrace.protocol.records.compression import Compression, compress, decompress
from headrace.protocol.records.errors import CorruptBatchError
from headrace.protocol.records.java_text import AS_JAVA

NO_TIMESTAMP: Final = -1
_VARINT_LAST_SHIFT: Final = 63
_NULL_LENGTH: Final = b"\x01"  # -1 in zig-zag
_SMALL: Final = tuple(bytes((number << 1,)) for number in range(64))  # those of one byte


class Record(NamedTuple):
    """One record. `offset` is absolute; header values may be null, header keys may not."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOptions:
    """The fields of a batch besides its records."""

    compression: Compression = Compression.NONE
    leader_epoch: int = -1
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = -1
    base_sequence: int = NO_SEQUENCE
    is_transactional: bool = False
    is_control: bool = False
    log_append_time_ms: int | None = None  # None: records keep their own timestamps
    # Offsets that the batch covers beyond its records, as after compaction; None: the records only.
    base_offset: int | None = None
    last_offset: int | None = None


RecordFields = tuple[int, int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]


def decode_records(batch: memoryview, max_decompressed_bytes: int) -> Iterator[Record]:
    """Yield the records of one batch with magic 2; the CRC is not checked.

    Keys and values are copies: no view of `batch` is kept.

    Raises:
        CorruptBatchError: the records cannot be parsed, or their number differs from the header.
        UnsupportedCompressionError: unknown codec.
        DecompressionLimitError: the records take more than `max_decompressed_bytes`.
    """
    header = parse_header(batch)
    reader = RecordReader(batch, header, max_decompressed_bytes)
    for timestamp_delta, offset_delta, key, value, headers in reader:
        timestamp = header.max_timestamp
        if not header.is_log_append_time:
            timestamp = header.base_timestamp + timestamp_delta
        yield Record(header.base_offset + offset_delta, timestamp, key, value, headers)


def header_key_text(key: bytes) -> str:
    """Read a header's key as Kafka's Java clients do: what is not UTF-8 does not make its record unreadable."""
    return key.decode(errors=AS_JAVA)


class RecordReader:
    """Gives timestamp delta, offset delta, key, value and headers of each record; raises as `decode_records`.

    A caller that knows the bytes ahead may read records itself, and skip them here.
    """

    __slots__ = ("data", "header_key", "position", "records_left")

    def __init__(
        self,
        batch: memoryview,
        header: BatchHeader,
        max_decompressed_bytes: int,
        header_key: Callable[[bytes], str] = header_key_text,
    ) -> None:
        if header.magic != MAGIC or header.size_bytes != len(batch) or header.records_count < 0:
            raise CorruptBatchError("the data is not exactly one batch of format v2")
        self.data = bytes(decompress(header.codec, batch[HEADER_BYTES:], max_decompressed_bytes))
        self.header_key = header_key
        self.position = 0  # of the next record
        self.records_left = header.records_count

    def skip(self, records: int, size_bytes: int) -> None:
        """Go past the next records, which take so many bytes."""
        self.records_left -= records
        self.position += size_bytes

    def __iter__(self) -> Self:
        """Go on with the next record."""
        return self

    def __next__(self) -> RecordFields:
        """Read a record; varints of a byte are read here: a log of a million records is loaded by this."""
        data, position = self.data, self.position
        if not self.records_left:
            if position != len(data):
                raise CorruptBatchError(f"{len(data) - position} extra bytes after the last record")
            raise StopIteration
        try:
            length, position = decode_varint(data, position)
            end = position + length
            if length < 0 or end > len(data):
                raise CorruptBatchError("record exceeds its batch")
            position += 1  # the attributes
            if (byte := data[position]) < 0x80:
                timestamp_delta, position = (byte >> 1) ^ -(byte & 1), position + 1
            else:
                timestamp_delta, position = decode_varint(data, position)
            if (byte := data[position]) < 0x80:
                offset_delta, position = (byte >> 1) ^ -(byte & 1), position + 1
            else:
                offset_delta, position = decode_varint(data, position)
            key, position = _decode_bytes(data, position)
            value, position = _decode_bytes(data, position)
            headers: tuple[tuple[str, bytes | None], ...] = ()
            if data[position]:
                headers, position = _decode_headers(data, position, self.header_key)
            else:
                position += 1
        except IndexError:
            raise CorruptBatchError("records end inside a record") from None
        if position != end:
            raise CorruptBatchError("record length does not match its fields")
        self.records_left -= 1
        self.position = end
        return timestamp_delta, offset_delta, key, value, headers


def encode_batch(records: Sequence[Record], options: BatchOptions) -> bytearray:
    """Encode records, in ascending order of offset, as one batch; the caller owns the result.

    A batch may have no records if the options give the offsets that it covers.
    """
    base_offset = records[0].offset if options.base_offset is None else options.base_offset
    last_offset = records[-1].offset if options.last_offset is None else options.last_offset
    base_timestamp = records[0].timestamp_ms if records else NO_TIMESTAMP
    max_timestamp = options.log_append_time_ms
    if max_timestamp is None:
        max_timestamp = max((record.timestamp_ms for record in records), default=NO_TIMESTAMP)
    encoded = bytearray()
    for record in records:
        _encode_record(encoded, record, record.offset - base_offset, base_timestamp)
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=0,
        partition_leader_epoch=options.leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=_attributes(options),
        last_offset_delta=last_offset - base_offset,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp,
        producer_id=options.producer_id,
        producer_epoch=options.producer_epoch,
        base_sequence=options.base_sequence,
        records_count=len(records),
    )
    return encode_header(header, compress(options.compression, encoded))


def _attributes(options: BatchOptions) -> int:
    attributes = int(options.compression)
    if options.log_append_time_ms is not None:
        attributes |= LOG_APPEND_TIME_FLAG
    if options.is_transactional:
        attributes |= TRANSACTIONAL_FLAG
    if options.is_control:
        attributes |= CONTROL_FLAG
    return attributes


def _decode_headers(
    data: bytes, position: int, header_key: Callable[[bytes], str]
) -> tuple[tuple[tuple[str, bytes | None], ...], int]:
    count, position = decode_varint(data, position)
    if count < 0:
        raise CorruptBatchError("negative number of headers")
    headers: list[tuple[str, bytes | None]] = []
    for _ in range(count):
        key, position = _decode_bytes(data, position)
        if key is None:
            raise CorruptBatchError("header key is null")
        value, position = _decode_bytes(data, position)
        headers.append((header_key(key), value))
    return tuple(headers), position


def _decode_bytes(data: bytes, position: int) -> tuple[bytes | None, int]:
    if (byte := data[position]) < 0x80:
        length, position = (byte >> 1) ^ -(byte & 1), position + 1
    else:
        length, position = decode_varint(data, position)
    if length < 0:
        return None, position
    end = position + length
    if end > len(data):
        raise CorruptBatchError("field exceeds its batch")
    return data[position:end], end


def decode_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the number of the zig-zag varint at `position`, and the position behind it.

    Raises:
        CorruptBatchError: it is longer than ten bytes, or exceeds 64 bits.
        IndexError: the data end within it.
    """
    byte = data[position]
    position += 1
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position
    value = byte & 0x7F
    byte = data[position]
    if byte < 0x80:  # as most are that are not one byte
        value |= byte << 7
        return (value >> 1) ^ -(value & 1), position + 1
    shift = 7
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > _VARINT_LAST_SHIFT:
            raise CorruptBatchError("varint is longer than ten bytes")
    if value >> 64:
        raise CorruptBatchError("varint exceeds 64 bits")
    return (value >> 1) ^ -(value & 1), position


def _encode_record(out: bytearray, record: Record, offset_delta: int, base_timestamp: int) -> None:
    _, timestamp_ms, record_key, record_value, headers = record
    body = bytearray(1)  # attributes
    timestamp_delta = timestamp_ms - base_timestamp
    for number in (timestamp_delta, offset_delta):
        body += _SMALL[number] if 0 <= number < len(_SMALL) else encode_varint(number)
    _encode_bytes(body, record_key)
    _encode_bytes(body, record_value)
    body += encode_varint(len(headers)) if headers else _SMALL[0]
    for key, value in headers:
        _encode_bytes(body, key.encode())
        _encode_bytes(body, value)
    out += encode_varint(len(body))
    out += body


def _encode_bytes(out: bytearray, value: bytes | None) -> None:
    if value is None:
        out += _NULL_LENGTH
    else:
        size = len(value)
        out += _SMALL[size] if size < len(_SMALL) else encode_varint(size)
        out += value


def encode_varint(value: int) -> bytes:
    """Give the zig-zag varint of a number of up to 64 bits."""
    rest = (value << 1) ^ (value >> 63)
    if rest < 0x80:
        return bytes((rest,))
    encoded = bytearray()
    while rest >= 0x80:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)
