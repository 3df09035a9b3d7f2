"""Batches of records that are small as they are sent, and large, or many, once they are decompressed."""

import struct
from collections.abc import Callable
from functools import partial
from typing import Final

from bench.bounds import WIDE, Case, request
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.primitives import encode_uvarint
from headrace.protocol.records.batch import encode_header, parse_header
from headrace.protocol.records.compression import Compression, compress
from headrace.protocol.records.record import BatchOptions, Record, encode_batch

NULL: Final = b"\x01"  # length -1 of a key or value
HEADER: Final = b"\0" + NULL  # of a record: without name and value
HEADERS: Final = 33_000_000
RECORDS: Final = 300_000
ZEROS: Final = 60_000_000


def _varint(value: int) -> bytes:
    """A number of a record, which is not negative: its sign is the lowest bit."""
    return encode_uvarint(value << 1)


def _record(offset_delta: int, rest: bytes) -> bytes:
    record = b"\0\0" + _varint(offset_delta) + rest
    return _varint(len(record)) + record


def _many_headers() -> bytes:
    return _record(0, NULL + NULL + _varint(HEADERS) + HEADER * HEADERS)


def _zeros() -> bytes:
    return _record(0, NULL + _varint(ZEROS) + bytes(ZEROS) + b"\0")


def _many_records() -> bytes:
    return b"".join(_record(number, NULL + NULL + b"\0") for number in range(RECORDS))


def _produce(make: Callable[[], bytes], count: int, codec: Compression) -> bytes:
    one = parse_header(encode_batch([Record(0, 0, None, None)], BatchOptions()))
    header = one._replace(attributes=int(codec), records_count=count, last_offset_delta=count - 1)
    batch = bytes(encode_header(header, compress(codec, make())))
    name = WIDE.encode()
    to = struct.pack(f">ih{len(name)}siii", 1, len(name), name, 1, 0, len(batch)) + batch
    return request(ApiKey.PRODUCE, 8, struct.pack(">hhi", -1, -1, 30_000) + to)


BATCH_CASES: Final = tuple(
    Case(f"Produce: {name}", partial(_produce, make, count, codec))
    for name, make, count, codec in (
        ("33 million headers in one record", _many_headers, 1, Compression.ZSTD),
        ("60 MB of zeros in one record", _zeros, 1, Compression.GZIP),
        ("300,000 empty records", _many_records, RECORDS, Compression.ZSTD),
    )
)
