import struct
from dataclasses import replace

import pytest
from crc32c import crc32c

from headrace.wal.errors import WalVersionError
from headrace.wal.framing import checksum_seed, write_record
from headrace.wal.objects.layout import (
    HEADER_BYTES,
    WINDOW,
    Kind,
    LogKeys,
    ObjectHeader,
    decode_header,
    read_records,
)

GENERATION = 0x0123456789ABCDEF
HEADER = ObjectHeader(
    kind=Kind.DATA,
    cluster_id="cluster",
    node_id=3,
    node_epoch=5,
    generation_id=GENERATION,
    number=100,
    released=90,
    confirmed=95,
    trim_offset=4000,
    base_offset=5000,
    length=61,
    capacity_bytes=2**31,
    records=2,
)
GOLDEN = (
    "4845414457414c4f"  # HEADWALO
    "0001"  # version
    "0001"  # data
    "00000003"
    "0000000000000005"
    "0123456789abcdef"
    "0000000000000064"
    "000000000000005a"
    "000000000000005f"
    "0000000000000fa0"
    "0000000000001388"
    "000000000000003d"
    "0000000080000000"
    "00000002"
    "00000007" + b"cluster".hex().ljust(120, "0")
)


def with_crc(fields: bytes) -> bytes:
    return fields + struct.pack(">I", crc32c(fields))


def packed(*bodies: bytes, base_offset: int = 5000) -> bytes:
    size = sum(24 + len(body) for body in bodies)
    memory = memoryview(bytearray(size))
    at = 0
    for body in bodies:
        write_record(memory, at, body[:2], body[2:], base_offset + at, checksum_seed(GENERATION))
        at += 24 + len(body)
    return bytes(memory)


def test_golden_bytes():
    assert HEADER.encode() == with_crc(bytes.fromhex(GOLDEN))
    assert len(HEADER.encode()) == HEADER_BYTES
    assert decode_header(HEADER.encode()) == HEADER


@pytest.mark.parametrize(
    "changed",
    [
        replace(HEADER, kind=Kind.FENCE, length=0, records=0),
        replace(HEADER, kind=Kind.TRIM, length=0, records=0, number=95 + WINDOW - 1),
        replace(HEADER, number=95, released=95, trim_offset=-1, node_epoch=-1, cluster_id="c" * 60),
    ],
)
def test_headers_come_back(changed):
    assert decode_header(changed.encode()) == changed


def test_every_bit_of_a_header_counts():
    content = HEADER.encode()
    for bit in range(len(content) * 8):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        assert decode_header(damaged) is None


@pytest.mark.parametrize("length", [0, 1, HEADER_BYTES - 1])
def test_a_header_that_is_cut_off_is_none(length):
    assert decode_header(HEADER.encode()[:length]) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"number": 94},  # below what was confirmed
        {"number": 95 + WINDOW},  # further than a writer may reach
        {"released": 96},
        {"trim_offset": 5000},
        {"records": 0},
        {"length": 0},
        {"records": 3},  # more than fit
        {"kind": Kind.FENCE},
        {"kind": Kind.TRIM},
    ],
)
def test_a_header_that_no_writer_makes_is_none(changes):
    assert decode_header(replace(HEADER, **changes).encode()) is None


def test_an_unknown_kind_is_none():
    fields = bytearray.fromhex(GOLDEN)
    fields[11] = 4
    assert decode_header(with_crc(bytes(fields))) is None


def test_another_version_is_refused_by_name():
    fields = bytearray.fromhex(GOLDEN)
    fields[9] = 2
    with pytest.raises(WalVersionError, match="format version 2"):
        decode_header(with_crc(bytes(fields)))


def test_records_come_back_with_their_offsets():
    content = memoryview(HEADER.encode() + packed(b"first", b"the 2nd!"))
    records = read_records(content, HEADER)
    assert [(it.offset, it.end_offset, bytes(it.body)) for it in records] == [
        (5000, 5029, b"first"),
        (5029, 5061, b"the 2nd!"),
    ]


def test_every_bit_of_the_records_counts():
    body = packed(b"first", b"the 2nd!")
    for bit in range(len(body) * 8):
        damaged = bytearray(body)
        damaged[bit // 8] ^= 1 << bit % 8
        assert read_records(memoryview(HEADER.encode() + damaged), HEADER) is None


@pytest.mark.parametrize(
    "body",
    [
        packed(b"first", b"the 2nd!")[:-1],
        packed(b"first", b"the 2nd!") + b"\0",
        packed(b"first", b"the 2nd!", base_offset=5001),
        packed(b"one record of the same 37 bytes......"),
    ],
)
def test_records_that_are_not_those_of_the_header_are_none(body):
    assert read_records(memoryview(HEADER.encode() + body), HEADER) is None


def test_keys():
    keys = LogKeys("c-1", 7)
    assert keys.key(42) == "wal/c-1/7/00000000000000000042"
    assert keys.number(keys.key(42)) == 42
    assert keys.number(keys.key(2**63)) == 2**63
    for key in (keys.probe, LogKeys("c-1", 8).key(1), "wal/c-1/7/42", "00/c-1/42", ""):
        assert keys.number(key) is None
