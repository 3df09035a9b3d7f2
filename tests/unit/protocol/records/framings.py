"""Compressed data in every form that Kafka's Java readers read, and how many forms are read by all others too."""

import gzip
import random
import struct
import zlib
from collections.abc import Callable
from typing import NamedTuple

import cramjam
import lz4.frame
import zstandard

from headrace.protocol.records.compression import Compression

XERIAL_HEADER = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
SKIPPABLE = b"\x50\x2a\x4d\x18\x04\0\0\0skip"
LAST_SKIPPABLE = b"\x5f\x2a\x4d\x18\0\0\0\0"


class Form(NamedTuple):
    """A form, and how data is written in it."""

    name: str
    codec: Compression
    encode: Callable[[bytes], bytes]


def _halves(encode: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda data: encode(data[: len(data) // 2]) + encode(data[len(data) // 2 :])


def _tenths(encode: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def encoded(data: bytes) -> bytes:
        step = len(data) // 10 + 1
        return b"".join(encode(data[at : at + step]) for at in range(0, len(data), step))

    return encoded


def gzip_with_fields(data: bytes) -> bytes:
    """A member with an extra field, a name, a comment and the checksum of its header."""
    head = b"\x1f\x8b\x08\x1e\0\0\0\0\0\xff\x02\0exname\0comment\0"
    head += struct.pack("<H", zlib.crc32(head) & 0xFFFF)
    return head + gzip.compress(data, mtime=0)[10:]


def snappy_block(data: bytes) -> bytes:
    """A block of xerial's framing."""
    block = bytes(cramjam.snappy.compress_raw(data))
    return struct.pack(">i", len(block)) + block


def snappy_stream(data: bytes) -> bytes:
    """A stream of one block."""
    return XERIAL_HEADER + snappy_block(data)


def lz4_frame(data: bytes) -> bytes:
    """A frame as Kafka's clients write it."""
    return bytes(lz4.frame.compress(data, block_linked=False))


_GZIP, _ZSTD = Compression.GZIP, Compression.ZSTD
PLAIN = (
    Form("gzip", _GZIP, gzip.compress),
    Form("gzip, all fields", _GZIP, gzip_with_fields),
    Form("snappy", Compression.SNAPPY, snappy_stream),
    Form("lz4", Compression.LZ4, lz4_frame),
    Form("zstd", _ZSTD, zstandard.compress),
)
# What some client reads in part, or not at all.
UNUSUAL = (
    Form("gzip, two members", _GZIP, _halves(gzip.compress)),
    Form("gzip, ten members", _GZIP, _tenths(gzip_with_fields)),
    Form(
        "gzip, an empty member before", _GZIP, lambda data: gzip.compress(b"") + gzip.compress(data)
    ),
    Form(
        "gzip, an empty member behind", _GZIP, lambda data: gzip.compress(data) + gzip.compress(b"")
    ),
    Form("gzip, zeros behind", _GZIP, lambda data: gzip.compress(data) + bytes(512)),
    Form("gzip, members and zeros", _GZIP, lambda data: _halves(gzip.compress)(data) + b"\0"),
    Form("gzip, other bytes behind", _GZIP, lambda data: gzip.compress(data) + b"\x1fnothing"),
    Form("snappy, two streams", Compression.SNAPPY, _halves(snappy_stream)),
    Form(
        "snappy, an empty block",
        Compression.SNAPPY,
        lambda data: XERIAL_HEADER + snappy_block(b"") + snappy_block(data),
    ),
    Form("snappy, bytes behind", Compression.SNAPPY, lambda data: snappy_stream(data) + bytes(3)),
    Form("lz4, zeros behind", Compression.LZ4, lambda data: lz4_frame(data) + bytes(4)),
    Form("zstd, two frames", _ZSTD, _halves(zstandard.compress)),
    Form("zstd, ten frames", _ZSTD, _tenths(zstandard.compress)),
    Form("zstd, skippable frame before", _ZSTD, lambda data: SKIPPABLE + zstandard.compress(data)),
    Form(
        "zstd, skippable frames behind",
        _ZSTD,
        lambda data: zstandard.compress(data) + SKIPPABLE * 3,
    ),
    Form(
        "zstd, skippable frames between",
        _ZSTD,
        lambda data: _halves(lambda it: zstandard.compress(it) + LAST_SKIPPABLE)(data),
    ),
    Form(
        "zstd, an empty frame",
        _ZSTD,
        lambda data: zstandard.compress(b"") + zstandard.compress(data),
    ),
)


def divided(codec: Compression, data: bytes, rng: random.Random) -> bytes:
    """The data in several members, frames or streams, each of any size, some of them empty."""
    encode = {
        Compression.GZIP: rng.choice((gzip.compress, gzip_with_fields)),
        Compression.SNAPPY: snappy_stream,
        Compression.ZSTD: zstandard.compress,
    }[codec]
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(1, 9)))
    parts = []
    for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        parts.append(encode(data[begin:end]))
        if codec is Compression.ZSTD and rng.random() < 0.3:
            parts.append(SKIPPABLE)
    return b"".join(parts)
