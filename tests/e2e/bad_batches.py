"""Batches that a faulty or hostile client may send: by name, with the configuration of the topic that they go to."""

import gzip
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import cramjam
import lz4.frame
import zstandard

from headrace.protocol.records.batch import BatchHeader, encode_header
from headrace.protocol.records.compression import Compression, compress

TOPICS: dict[str, dict[str, str]] = {
    "plain": {},
    "forms": {},
    "stamped": {"message.timestamp.type": "LogAppendTime"},
    "compact": {"cleanup.policy": "compact"},
    "small": {"max.message.bytes": "200"},
    "narrow": {"message.timestamp.before.max.ms": "60000"},
    "gzip": {"compression.type": "gzip"},
    "lz4": {"compression.type": "lz4"},
    "uncompressed": {"compression.type": "uncompressed"},
}
HOUR_MS = 3_600_000
FORM_RECORDS = 100  # of each batch for the topic of forms


@dataclass(frozen=True)
class Case:
    """One batch, to be sent to one topic by one version of Produce."""

    name: str
    topic: str
    batch: bytes = field(repr=False)
    version: int = 9


def zigzag(value: int) -> bytes:
    """A varint as records have them."""
    rest = (value << 1) ^ (value >> 63)
    encoded = bytearray()
    while rest >= 0x80:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


def record(  # the fields of a record
    offset: int,
    timestamp: int = 0,
    key: bytes = b"\x02k",
    value: bytes = b"\x02v",
    headers: bytes = b"\x00",
    *,
    longer: int = 0,
    attributes: int = 0,
) -> bytes:
    """A record; key, value and headers with their lengths."""
    body = bytes((attributes,)) + zigzag(timestamp) + zigzag(offset) + key + value + headers
    return zigzag(len(body) + longer) + body


def _records() -> Iterator[tuple[str, bytes, int]]:
    """(name, records, count): right ones first, then each field wrong."""
    two = record(0) + record(1)
    yield "good", two, 2
    yield "good: null key and value", record(0, key=b"\x01", value=b"\x01"), 1
    yield "good: one of two without a key", record(0) + record(1, key=b"\x01"), 2
    yield "good: headers", record(0, headers=b"\x04\x02a\x02b\x02c\x01"), 1
    yield "good: header key is not UTF-8", record(0, headers=b"\x02\x02\xff\x02b"), 1
    yield "good: record attributes", record(0, attributes=0x55), 1
    yield "good: many", b"".join(record(it) for it in range(300)), 300
    yield "good: older and newer", record(0, 5) + record(1, -5) + record(2, 2), 3
    yield "null key of length below -1", record(0, key=zigzag(-2)), 1
    yield "null value of length below -1", record(0, value=zigzag(-7)), 1
    yield "null header of length below -1", record(0, headers=b"\x02\x02k" + zigzag(-3)), 1
    yield "good: long form of a varint", zigzag(9) + b"\0\x80\0\0\x02k\x02v\0", 1
    yield "nothing", b"", 1
    yield "garbage", b"\xff" * 40, 1
    yield "zeros", bytes(40), 1
    yield "count 5 of 2", two, 5
    yield "count 2^31-1 of 2", two, 2**31 - 1
    yield "count 1 of 2", two, 1
    yield "a byte too many", two + b"\0", 2
    yield "a byte missing", two[:-1], 2
    yield "length too long", record(0, longer=1) + record(1), 2
    yield "length too short", record(0, longer=-1) + record(1), 2
    yield "length beyond", record(0, longer=1000), 1
    yield "length negative", zigzag(-5) + record(0)[1:], 1
    yield "length of 2^31-1", zigzag(2**31 - 1) + record(0)[1:], 1
    yield "key beyond", record(0, key=zigzag(1000) + b"k"), 1
    yield "key of 2^31-1", record(0, key=zigzag(2**31 - 1)), 1
    yield "value beyond", record(0, value=zigzag(1000) + b"v"), 1
    yield "value into the next", record(0, value=zigzag(9) + b"v") + record(1), 2
    yield "headers missing", record(0, headers=b"\x02"), 1
    yield "headers -1", record(0, headers=zigzag(-1)), 1
    yield "headers 10^6", record(0, headers=zigzag(10**6)), 1
    yield "headers 2^31-1", record(0, headers=zigzag(2**31 - 1)), 1
    yield "header without a key", record(0, headers=b"\x02\x01\x02v"), 1
    yield "header key beyond", record(0, headers=b"\x02" + zigzag(99) + b"k\x02v"), 1
    yield "header value beyond", record(0, headers=b"\x02\x02k" + zigzag(99) + b"v"), 1
    yield "no field at all", b"\0", 1
    yield "varint of six bytes", b"\x80\x80\x80\x80\x80\x00" + record(0)[1:], 1
    yield "varlong of eleven bytes", zigzag(18) + b"\0" + b"\x80" * 10 + b"\0\0\x02k\x02v\0", 1
    yield "offset skipped", record(0) + record(2), 2
    yield "offset far away", record(0) + record(10**6), 2
    yield "offset twice", record(0) + record(0), 2
    yield "offsets from 1", record(1) + record(2), 2
    yield "offset negative", record(-1) + record(0), 2
    yield (
        "offset in the middle of many",
        b"".join(record(it + (it == 100)) for it in range(200)),
        200,
    )


def batch(records: bytes, count: int) -> bytes:
    """A batch whose header is right."""
    return _batch(records, count, Compression.NONE, 1_769_860_800_000)


def _header_changes(now_ms: int) -> Iterator[tuple[str, dict[str, int]]]:
    """(name, changed fields) of a batch of two good records."""
    yield "no maximum", {"max_timestamp": -1}
    yield "maximum 1", {"max_timestamp": 1}
    yield "maximum too new", {"max_timestamp": now_ms + 2 * HOUR_MS}
    yield "maximum 2^63-1", {"max_timestamp": 2**63 - 1}
    yield "base in 2^62, no maximum", {"base_timestamp": 2**62, "max_timestamp": -1}
    yield "base too new", {"base_timestamp": now_ms + 2 * HOUR_MS}
    yield "base and maximum too new", {
        "base_timestamp": now_ms + 2 * HOUR_MS, "max_timestamp": now_ms + 2 * HOUR_MS
    }  # fmt: skip
    yield "an hour old", {"base_timestamp": now_ms - HOUR_MS, "max_timestamp": now_ms - HOUR_MS}
    yield "no timestamps", {"base_timestamp": -1, "max_timestamp": -1}
    yield "negative timestamps", {"base_timestamp": -500, "max_timestamp": -500}
    yield "append time", {"attributes": 0x08}
    yield "append time, no maximum", {"attributes": 0x08, "max_timestamp": -1}
    yield "append time too new", {"attributes": 0x08, "max_timestamp": now_ms + 2 * HOUR_MS}
    yield "control", {"attributes": 0x20}
    yield "delete horizon", {"attributes": 0x40}
    yield "unused attributes", {"attributes": 0x7F80}
    yield "codec 5", {"attributes": 5}
    yield "codec 7", {"attributes": 7}
    yield "base offset 9", {"base_offset": 9}
    yield "base offset -1", {"base_offset": -1}
    yield "last offset delta 5", {"last_offset_delta": 5}
    yield "last offset delta -1", {"last_offset_delta": -1}
    yield "last offset delta and count 3", {"last_offset_delta": 2, "records_count": 3}
    yield "count 0", {"records_count": 0}
    yield "count and delta 0", {"records_count": 0, "last_offset_delta": -1}
    yield "count -1", {"records_count": -1}
    yield "no sequence", {"producer_id": 7, "producer_epoch": 0, "base_sequence": -1}
    yield "leader epoch 99", {"partition_leader_epoch": 99}


def _batch(records: bytes, count: int, codec: int, now_ms: int, **changes: int) -> bytes:
    header = BatchHeader(
        base_offset=0,
        batch_length=0,
        partition_leader_epoch=-1,
        magic=2,
        crc=0,
        attributes=0,
        last_offset_delta=count - 1,
        base_timestamp=now_ms,
        max_timestamp=now_ms,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        records_count=count,
    )._replace(**changes)
    header = header._replace(attributes=header.attributes | codec)
    return bytes(encode_header(header, compress(Compression(codec), records)))


def cases(now_ms: int) -> list[Case]:
    """Every case, with timestamps around `now_ms`."""
    found: list[Case] = []
    kinds = list(_records())
    for codec in Compression:
        for name, records, count in kinds:
            batch = _batch(records, count, codec, now_ms)
            found.append(Case(f"{codec.name.lower()} records: {name}", "plain", batch))
    for topic in ("compact", "lz4", "uncompressed", "stamped"):
        for name, records, count in kinds:
            codec = Compression.GZIP if topic == "uncompressed" else Compression.NONE
            found.append(Case(f"{topic}: {name}", topic, _batch(records, count, codec, now_ms)))
    two = record(0) + record(1)
    for topic in sorted(TOPICS.keys() - {"forms"}):
        for codec in (Compression.NONE, Compression.ZSTD):
            for name, changes in _header_changes(now_ms):
                batch = _batch(two, 2, codec, now_ms, **changes)
                found.append(Case(f"{topic}, {codec.name.lower()}: {name}", topic, batch))
    found.extend(_damaged(now_ms, two))
    found.extend(_hidden_times(now_ms))
    found.extend(_framings(now_ms))
    return found


def _damaged(now_ms: int, two: bytes) -> Iterator[Case]:
    good = _batch(two, 2, 0, now_ms)
    yield Case("nothing sent", "plain", b"")
    yield Case("two batches", "plain", good * 2)
    yield Case("cut", "plain", good[:-1])
    yield Case("header only", "plain", good[:61])
    yield Case("part of a header", "plain", good[:40])
    for position in (21, 30, 57, 65):
        damaged = bytearray(good)
        damaged[position] ^= 1
        yield Case(f"damaged at {position}", "plain", bytes(damaged))
    for magic in (0, 1, 3):
        other = bytearray(good)
        other[16] = magic
        yield Case(f"magic {magic}", "plain", bytes(other))
    large = record(0, value=zigzag(500) + bytes(500))
    yield Case("too large", "small", _batch(large, 1, 0, now_ms))
    yield Case("too large once decompressed", "small", _batch(large, 1, 4, now_ms))
    for codec in (1, 2, 3, 4):
        whole = _batch(two * 1, 2, codec, now_ms)
        header = BatchHeader(0, 0, -1, 2, 0, codec, 1, now_ms, now_ms, -1, -1, -1, 2)
        yield Case(f"codec {codec} garbage", "plain", bytes(encode_header(header, b"\xff" * 30)))
        yield Case(f"codec {codec} nothing", "plain", bytes(encode_header(header, b"")))
        cut = bytes(encode_header(header, whole[61:-3]))
        yield Case(f"codec {codec} cut", "plain", cut)
    yield Case("zstd by version 6", "plain", _batch(two, 2, 4, now_ms), version=6)
    yield Case("gzip by version 3", "plain", _batch(two, 2, 1, now_ms), version=3)


def _hidden_times(now_ms: int) -> Iterator[Case]:
    """Timestamps of records that the header does not show."""
    times: Mapping[str, tuple[int, ...]] = {
        "second too new": (0, 2 * HOUR_MS, 0),
        "first too new": (2 * HOUR_MS, 0, 0),
        "all too new": (2 * HOUR_MS,) * 3,
        "second old": (0, -2 * HOUR_MS, 0),
        "all old": (-2 * HOUR_MS,) * 3,
        "old and too new": (-2 * HOUR_MS, 2 * HOUR_MS, 0),
        "second without": (0, -1 - now_ms, 0),
    }
    for topic in sorted(TOPICS.keys() - {"forms"}):
        for codec in (Compression.NONE, Compression.SNAPPY):
            for name, deltas in times.items():
                records = b"".join(record(it, delta) for it, delta in enumerate(deltas))
                batch = _batch(records, 3, codec, now_ms)
                yield Case(f"{topic}, {codec.name.lower()}: {name}", topic, batch)


def _framings(now_ms: int) -> Iterator[Case]:
    """The same records in each form that a codec allows, and in some that it does not."""
    records = b"".join(record(it) for it in range(FORM_RECORDS))
    first, second = records[:500], records[500:]
    value = zigzag(1000) + bytes(1000)
    long = b"".join(
        record(it, value=value) for it in range(FORM_RECORDS)
    )  # more than one block of lz4
    once, twice, skipped = gzip.compress, zstandard.compress, b"\x50\x2a\x4d\x18\x04\0\0\0skip"
    forms: dict[str, tuple[Compression, bytes]] = {
        "gzip, two members": (Compression.GZIP, once(first) + once(second)),
        "gzip, an empty member behind": (Compression.GZIP, once(records) + once(b"")),
        "gzip, zeros behind": (Compression.GZIP, once(records) + bytes(4)),
        "gzip, other bytes behind": (Compression.GZIP, once(records) + b"\x1fnothing"),
        "gzip, fifty members": (
            Compression.GZIP,
            b"".join(once(records[at : at + 20]) for at in range(0, len(records), 20)),
        ),
        "gzip, a part of a member behind": (Compression.GZIP, once(records) + once(b"x")[:-1]),
        "gzip, not compressed": (Compression.GZIP, once(records, 0)),
        "snappy, one raw block": (Compression.SNAPPY, _raw_snappy(records)),
        "snappy, version 0": (Compression.SNAPPY, _xerial(0) + _block(records)),
        "snappy, version 2": (Compression.SNAPPY, _xerial(2) + _block(records)),
        "snappy, two streams": (
            Compression.SNAPPY,
            _xerial(1) + _block(first) + _xerial(1) + _block(second),
        ),
        "snappy, an empty block behind": (
            Compression.SNAPPY,
            _xerial(1) + _block(records) + _block(b""),
        ),
        "snappy, two bytes behind": (
            Compression.SNAPPY,
            _xerial(1) + _block(records) + bytes(2),
        ),
        "lz4, all sums": (
            Compression.LZ4,
            lz4.frame.compress(
                records, block_linked=False, content_checksum=True, block_checksum=True
            ),
        ),
        "lz4, linked blocks": (Compression.LZ4, lz4.frame.compress(long, block_linked=True)),
        "lz4, independent blocks": (
            Compression.LZ4,
            lz4.frame.compress(long, block_linked=False),
        ),
        "lz4, two frames": (
            Compression.LZ4,
            lz4.frame.compress(first, block_linked=False)
            + lz4.frame.compress(second, block_linked=False),
        ),
        "lz4, zeros behind": (
            Compression.LZ4,
            lz4.frame.compress(records, block_linked=False) + bytes(4),
        ),
        "zstd, two frames": (Compression.ZSTD, twice(first) + twice(second)),
        "zstd, an empty frame behind": (Compression.ZSTD, twice(records) + twice(b"")),
        "zstd, skippable frame before": (Compression.ZSTD, skipped + twice(records)),
        "zstd, skippable frame behind": (Compression.ZSTD, twice(records) + skipped),
        "zstd, zeros behind": (Compression.ZSTD, twice(records) + bytes(4)),
    }
    for name, (codec, content) in forms.items():
        header = BatchHeader(0, 0, -1, 2, 0, codec, 99, now_ms, now_ms, -1, -1, -1, 100)
        yield Case(f"form of {name}", "forms", bytes(encode_header(header, content)))


def _xerial(version: int) -> bytes:
    return b"\x82SNAPPY\0" + struct.pack(">ii", version, 1)


def _raw_snappy(data: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(data))


def _block(data: bytes) -> bytes:
    compressed = _raw_snappy(data)
    return struct.pack(">i", len(compressed)) + compressed
