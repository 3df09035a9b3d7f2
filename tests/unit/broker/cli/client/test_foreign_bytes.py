"""kafka-python's clients, and bytes that they would not read."""

from types import SimpleNamespace

import pytest
from kafka.errors import CorruptRecordError
from kafka.record import MemoryRecords

from headrace.broker.cli.client.foreign_bytes import Admin, header_key, read_all_records
from headrace.broker.cli.record_format import record_formatter
from headrace.protocol.records.batch import encode_header, parse_header
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.record import BatchOptions, Record, encode_batch

RECORDS = [
    Record(7, 1_000, b"k", b"v", (("name", b"x"),)),
    Record(8, 1_001, None, b"\xff", (("name", None), ("name", b"\xfe"))),
]


def read(data: bytes) -> list:
    read_all_records()
    batch = MemoryRecords(data).next_batch()
    assert batch.validate_crc()
    return list(batch)


@pytest.mark.parametrize("codec", list(Compression))
def test_records_are_read_as_they_are(codec):
    found = read(bytes(encode_batch(RECORDS, BatchOptions(compression=codec))))
    assert [(it.offset, it.timestamp, it.key, it.value) for it in found] == [
        (it.offset, it.timestamp_ms, it.key, it.value) for it in RECORDS
    ]
    assert [it.headers for it in found] == [list(it.headers) for it in RECORDS]


def test_a_header_key_that_is_no_utf_8_loses_nothing():
    data = bytes(encode_batch(RECORDS, BatchOptions()))
    odd = data.replace(b"name", b"n\xffm\xfe")
    found = read(encode_header(parse_header(memoryview(odd)), odd[61:]))
    key, _ = found[0].headers[0]
    assert key != "n\ufffdm\ufffd"
    assert key.encode() == b"n\xffm\xfe"
    record = SimpleNamespace(headers=found[0].headers)
    assert record_formatter("%h")(record) == b"n\xffm\xfe=x\n"


def test_text_is_text():
    assert header_key("é".encode()) == "é"


def test_what_cannot_be_read_is_said():
    data = bytes(encode_batch(RECORDS, BatchOptions()))
    with pytest.raises(CorruptRecordError):
        read(encode_header(parse_header(memoryview(data)), data[61:-1]))


def test_groups_are_described_whatever_their_members_bytes_are():
    member = SimpleNamespace(member_metadata=b"\xff", member_assignment=b"\0\0\0\0\0\1\0\1\xff")
    group = SimpleNamespace(
        group_id="g",
        members=[member],
        to_dict=lambda: {"error_code": 0, "members": [vars(member)]},
    )
    admin = Admin.__new__(Admin)
    described = admin._describe_groups_process_response(SimpleNamespace(groups=[group]))
    assert described["g"]["members"] == [{"member_metadata": b"", "member_assignment": b""}]
