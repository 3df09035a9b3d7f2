"""Records against kafka-python's reader and writer, and corruption at every byte."""

import pytest
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from headrace.protocol.records.batch import HEADER_BYTES, check_crc, encode_header, parse_header
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.errors import CorruptBatchError, DecompressionLimitError
from headrace.protocol.records.record import BatchOptions, Record, decode_records, encode_batch

LIMIT = 1 << 20
NOW_MS = 1_700_000_000_000
RECORDS = [
    Record(100, NOW_MS, b"key", b"value", (("h", b"1"), ("h", None), ("ü", b""))),
    Record(101, NOW_MS - 5, None, b"", ()),
    Record(103, NOW_MS + 70_000, b"", None, ()),
    Record(1_000, NOW_MS + 2**40, b"k" * 200, b"v" * 70_000, ()),
]


def decode(batch: bytes | bytearray, limit: int = LIMIT) -> list[Record]:
    return list(decode_records(memoryview(batch), limit))


@pytest.mark.parametrize("codec", list(Compression), ids=lambda codec: codec.name)
def test_round_trip_and_what_kafka_python_reads(codec: Compression) -> None:
    batch = encode_batch(RECORDS, BatchOptions(compression=codec))
    assert check_crc(memoryview(batch))
    assert decode(batch) == RECORDS
    read = DefaultRecordBatch(bytes(batch))
    assert read.validate_crc()
    assert [(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in read] == RECORDS


@pytest.mark.parametrize("codec", list(Compression), ids=lambda codec: codec.name)
def test_what_kafka_python_writes_is_read(codec: Compression) -> None:
    builder = DefaultRecordBatchBuilder(2, codec, 0, -1, -1, -1, LIMIT)
    for offset, record in enumerate(RECORDS):
        builder.append(offset, record.timestamp_ms, record.key, record.value, list(record.headers))
    expected = [record._replace(offset=offset) for offset, record in enumerate(RECORDS)]
    assert decode(builder.build()) == expected


def test_header_of_a_built_batch() -> None:
    options = BatchOptions(
        leader_epoch=4,
        producer_id=9,
        producer_epoch=2,
        base_sequence=30,
        is_transactional=True,
        is_control=True,
        compression=Compression.ZSTD,
    )
    header = parse_header(encode_batch(RECORDS, options))
    assert (header.base_offset, header.last_offset) == (100, 1_000)
    assert (header.base_timestamp, header.max_timestamp) == (NOW_MS, NOW_MS + 2**40)
    assert (header.partition_leader_epoch, header.records_count) == (4, 4)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 2, 30)
    assert header.is_transactional
    assert header.is_control
    assert header.codec == Compression.ZSTD
    assert not header.is_log_append_time


def test_log_append_time_is_the_time_of_every_record() -> None:
    batch = encode_batch(RECORDS, BatchOptions(log_append_time_ms=NOW_MS + 1))
    assert {record.timestamp_ms for record in decode(batch)} == {NOW_MS + 1}


def test_compacted_batch_keeps_the_offsets_that_it_covered() -> None:
    batch = encode_batch(RECORDS[1:2], BatchOptions(base_offset=100, last_offset=1_000))
    header = parse_header(batch)
    assert (header.base_offset, header.next_offset, header.records_count) == (100, 1_001, 1)
    assert [record.offset for record in decode(batch)] == [101]
    empty = encode_batch([], BatchOptions(base_offset=100, last_offset=1_000))
    assert (parse_header(empty).next_offset, decode(empty)) == (1_001, [])


def test_limit_is_on_the_decompressed_size() -> None:
    for codec in Compression:
        batch = encode_batch(RECORDS, BatchOptions(compression=codec))
        with pytest.raises(DecompressionLimitError):
            decode(batch, 70_000)


def test_header_key_that_is_no_utf_8_does_not_hide_the_record() -> None:
    batch = encode_batch([Record(0, 0, None, b"v", (("ab", None),))], BatchOptions())
    position = batch.index(b"ab")
    batch[position] = 0xFF
    assert decode(batch)[0].headers == (("\ufffdb", None),)


def test_truncated_or_longer_records_are_corrupt() -> None:
    batch = encode_batch(RECORDS[:3], BatchOptions())
    header, records = parse_header(batch), bytes(batch[HEADER_BYTES:])
    for cut in range(len(records)):
        with pytest.raises(CorruptBatchError):
            decode(encode_header(header, records[:cut]))
    with pytest.raises(CorruptBatchError, match="1 extra bytes after the last record"):
        decode(encode_header(header, records + b"\0"))
    with pytest.raises(CorruptBatchError):
        decode(batch[:-1])


@pytest.mark.parametrize("records_count", [-1, 0, 2, 4, 2**31 - 1])
def test_wrong_count_is_corrupt(records_count: int) -> None:
    batch = encode_batch(RECORDS[:3], BatchOptions())
    header = parse_header(batch)._replace(records_count=records_count)
    with pytest.raises(CorruptBatchError):
        decode(encode_header(header, bytes(batch[HEADER_BYTES:])))


@pytest.mark.parametrize(
    "record",
    [
        "01",  # negative length
        "0e 00 00 00 01 01 01 00",  # negative number of headers
        "0e 00 00 00 01 01 ffffffff0f",  # more headers than there are
        "10 00 00 00 01 01 02 01 01",  # a header key that is null
        "0c 00 00 00 7e 01 00",  # a key that leaves the batch
        "0a 00 00 00 01 01",  # no number of headers
        "0c 00 00 00 01 01 00 00",  # a byte behind the record
        "0e 00 00 00 01 01 00 00",  # a byte inside, behind the headers
        "ffffffffffffffffffff01 00",  # a varint of eleven bytes
        "ffffffffffffffffff7f 00",  # a varint of more than 64 bits
    ],
)
def test_malformed_record_is_corrupt(record: str) -> None:
    batch = encode_batch(RECORDS[:1], BatchOptions())
    header = parse_header(batch)
    with pytest.raises(CorruptBatchError):
        decode(encode_header(header, bytes.fromhex(record)))


def test_other_formats_are_refused() -> None:
    batch = encode_batch(RECORDS[:1], BatchOptions())
    batch[16] = 1
    with pytest.raises(CorruptBatchError):
        decode(batch)


def test_nothing_of_the_batch_is_kept() -> None:
    batch = encode_batch(RECORDS, BatchOptions())
    records = decode(batch)
    batch.clear()  # raises when a view of it is left
    assert records == RECORDS
