"""Batch headers against bytes of a real producer, and what is changed in place."""

import pytest
from kafka.record.default_records import DefaultRecordBatch

from headrace.protocol.records.batch import (
    HEADER_BYTES,
    BatchHeader,
    check_crc,
    encode_header,
    parse_header,
    patch,
    set_timestamp_type,
    split_batches,
)
from headrace.protocol.records.errors import CorruptBatchError

# One record, key "k", value "v", as kafka-python's producer sends it.
BATCH = bytes.fromhex(
    "0000000000000000 0000003a 00000000 02 7c463175 0000 00000000"
    "0000018bcfe56800 0000018bcfe56800 0000000000000005 0001 00000007 00000001"
    "10 00 00 00 02 6b 02 76 00"
)


def writable(batch: bytes = BATCH) -> memoryview:
    return memoryview(bytearray(batch))


def test_header_fields() -> None:
    header = parse_header(BATCH)
    assert header == BatchHeader(
        base_offset=0,
        batch_length=58,
        partition_leader_epoch=0,
        magic=2,
        crc=header.crc,
        attributes=0,
        last_offset_delta=0,
        base_timestamp=1_700_000_000_000,
        max_timestamp=1_700_000_000_000,
        producer_id=5,
        producer_epoch=1,
        base_sequence=7,
        records_count=1,
    )
    assert header.size_bytes == len(BATCH)


def test_header_is_found_at_a_position() -> None:
    assert parse_header(b"??" + BATCH, 2) == parse_header(BATCH)


@pytest.mark.parametrize("size", [0, 1, HEADER_BYTES - 1])
def test_short_batch_is_corrupt(size: int) -> None:
    with pytest.raises(CorruptBatchError):
        parse_header(BATCH[:size])


def test_meaning_of_attributes() -> None:
    header = parse_header(BATCH)._replace(attributes=0b0111_1100)
    assert header.codec == 4
    assert header.is_log_append_time
    assert header.is_transactional
    assert header.is_control
    plain = parse_header(BATCH)
    assert not plain.is_log_append_time
    assert not plain.is_transactional
    assert not plain.is_control


def test_offsets_of_the_last_record() -> None:
    header = parse_header(BATCH)._replace(base_offset=100, last_offset_delta=9)
    assert (header.last_offset, header.next_offset) == (109, 110)


def test_crc_covers_everything_behind_it() -> None:
    assert check_crc(memoryview(BATCH))
    for position in range(17, len(BATCH)):
        batch = writable()
        batch[position] ^= 1
        assert not check_crc(batch)


def test_offset_and_leader_epoch_are_outside_of_the_crc() -> None:
    batch = writable()
    patch(batch, 2**40, 6)
    assert check_crc(batch)
    expected = parse_header(BATCH)._replace(base_offset=2**40, partition_leader_epoch=6)
    assert parse_header(batch) == expected
    assert batch[HEADER_BYTES:] == BATCH[HEADER_BYTES:]


def test_log_append_time_is_what_kafka_reads() -> None:
    batch = writable()
    set_timestamp_type(batch, 1_800_000_000_000, is_log_append_time=True)
    assert check_crc(batch)
    read = DefaultRecordBatch(bytes(batch))
    assert read.validate_crc()
    assert read.timestamp_type == 1
    assert [record.timestamp for record in read] == [1_800_000_000_000]


def test_max_timestamp_is_corrected_without_changing_the_type() -> None:
    batch = writable()
    set_timestamp_type(batch, 1_800_000_000_000, is_log_append_time=False)
    header = parse_header(batch)
    assert check_crc(batch)
    assert (header.max_timestamp, header.is_log_append_time) == (1_800_000_000_000, False)


def test_header_is_encoded_with_length_and_crc() -> None:
    header = parse_header(BATCH)._replace(batch_length=0, crc=0)
    assert encode_header(header, BATCH[HEADER_BYTES:]) == BATCH


def test_batches_are_split() -> None:
    data = memoryview(BATCH * 3)
    batches = list(split_batches(data))
    assert [bytes(batch) for _, batch in batches] == [BATCH] * 3
    assert batches[1][0] == parse_header(BATCH)
    assert list(split_batches(memoryview(b""))) == []


@pytest.mark.parametrize(
    "data",
    [
        BATCH + BATCH[:-1],
        BATCH + BATCH[:20],
        BATCH[:16] + b"\x01" + BATCH[17:],  # magic 1
        BATCH[:8] + b"\x00\x00\x00\x30" + BATCH[12:],  # shorter than a header
        BATCH[:8] + b"\xff\xff\xff\xff" + BATCH[12:],
        BATCH[:8] + b"\x7f\xff\xff\xff" + BATCH[12:],
    ],
)
def test_what_is_not_whole_batches_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptBatchError):
        list(split_batches(memoryview(data)))
