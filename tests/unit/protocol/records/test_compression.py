"""Codecs: what other implementations write is read and the reverse, and output is bounded."""

import gzip
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import cramjam
import lz4.frame
import pytest
import zstandard
from kafka import codec as kafka_python

from headrace.protocol.records import compression
from headrace.protocol.records.compression import (
    Compression,
    Framing,
    compress,
    decompress,
    decompressed_pieces,
)
from headrace.protocol.records.errors import (
    CorruptBatchError,
    DecompressionLimitError,
    UnsupportedCompressionError,
)
from tests.unit.protocol.records.framings import (
    LAST_SKIPPABLE,
    PLAIN,
    SKIPPABLE,
    UNUSUAL,
    XERIAL_HEADER,
    Form,
    divided,
    snappy_block,
)

ROOT = Path(__file__).parents[4]
TEXT = b"".join(b"record %d, " % number for number in range(20_000))


def streamed_zstd(data: bytes, *, checksum: bool) -> bytes:
    """Compress as Java's clients do: the size of the content is not known beforehand."""
    writer = zstandard.ZstdCompressor(write_checksum=checksum).compressobj()
    return writer.compress(data) + writer.flush()


def raw_snappy(data: bytes) -> bytes:
    """Compress as librdkafka does: one block without xerial's framing."""
    return bytes(cramjam.snappy.compress_raw(data))


FOREIGN: list[tuple[Compression, Callable[[bytes], bytes]]] = [
    (Compression.GZIP, kafka_python.gzip_encode),
    (Compression.GZIP, lambda data: gzip.compress(data, 1)),
    (Compression.SNAPPY, kafka_python.snappy_encode),
    (Compression.SNAPPY, raw_snappy),
    (Compression.LZ4, kafka_python.lz4_encode),
    (Compression.LZ4, lambda data: lz4.frame.compress(data, content_checksum=True)),
    (Compression.LZ4, lambda data: lz4.frame.compress(data, block_size=7, block_linked=True)),
    (Compression.ZSTD, kafka_python.zstd_encode),
    (Compression.ZSTD, lambda data: streamed_zstd(data, checksum=False)),
    (Compression.ZSTD, lambda data: streamed_zstd(data, checksum=True)),
    (Compression.ZSTD, zstandard.ZstdCompressor(level=22).compress),
]


@pytest.mark.parametrize("data", [b"", b"x", TEXT], ids=["empty", "one", "text"])
@pytest.mark.parametrize("codec", list(Compression), ids=lambda codec: codec.name)
def test_round_trip(codec: Compression, data: bytes) -> None:
    compressed = compress(codec, data)
    assert bytes(decompress(codec, memoryview(compressed), len(data))) == data


@pytest.mark.parametrize(("codec", "encode"), FOREIGN)
def test_other_writers_are_read(codec: Compression, encode: Callable[[bytes], bytes]) -> None:
    compressed = memoryview(encode(TEXT))
    assert decompress(codec, compressed, len(TEXT)) == TEXT
    with pytest.raises(DecompressionLimitError):
        decompress(codec, compressed, len(TEXT) - 1)


def test_other_readers_read_us() -> None:
    assert kafka_python.gzip_decode(compress(Compression.GZIP, TEXT)) == TEXT
    assert kafka_python.snappy_decode(compress(Compression.SNAPPY, TEXT)) == TEXT
    assert kafka_python.lz4_decode(compress(Compression.LZ4, TEXT)) == TEXT
    assert kafka_python.zstd_decode(compress(Compression.ZSTD, TEXT)) == TEXT


def test_lz4_is_written_with_independent_blocks() -> None:
    """KafkaLZ4BlockInputStream.java: dependent blocks are not supported there."""
    info = lz4.frame.get_frame_info(compress(Compression.LZ4, TEXT))
    assert not info["block_linked"]


def test_without_compression_nothing_is_copied() -> None:
    data = memoryview(TEXT)
    assert decompress(Compression.NONE, data, len(TEXT)) is data
    with pytest.raises(DecompressionLimitError):
        decompress(Compression.NONE, data, len(TEXT) - 1)


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_undefined_codecs_are_refused(codec: int) -> None:
    with pytest.raises(UnsupportedCompressionError):
        decompress(codec, memoryview(b""), 100)


@pytest.mark.parametrize(("codec", "encode"), FOREIGN)
def test_an_early_end_is_corrupt(codec: Compression, encode: Callable[[bytes], bytes]) -> None:
    data = TEXT[:3_000]  # one block in every framing
    compressed = encode(data)
    for cut in range(len(compressed)):
        if codec is Compression.SNAPPY and 0 <= cut - len(XERIAL_HEADER) < 4:
            continue  # a stream of no blocks
        with pytest.raises(CorruptBatchError):
            decompress(codec, memoryview(compressed)[:cut], len(data))


def framing_of(codec: Compression, data: bytes, max_bytes: int) -> tuple[bytes, bool]:
    """What is read, and whether that is one plain stream."""
    framing = Framing()
    content = b"".join(decompressed_pieces(codec, memoryview(data), max_bytes, framing))
    return content, framing.is_plain


@pytest.mark.parametrize("form", [*PLAIN, *UNUSUAL], ids=lambda form: form.name)
@pytest.mark.parametrize("data", [b"xy", TEXT], ids=["two", "text"])
def test_every_form_that_kafkas_readers_read_is_read_and_known(form: Form, data: bytes) -> None:
    encoded = form.encode(data)
    assert framing_of(form.codec, encoded, len(data)) == (data, form in PLAIN)
    assert bytes(decompress(form.codec, memoryview(encoded), len(data))) == data
    with pytest.raises(DecompressionLimitError):
        decompress(form.codec, memoryview(encoded), len(data) - 1)


@pytest.mark.parametrize("codec", [Compression.GZIP, Compression.SNAPPY, Compression.ZSTD])
@pytest.mark.parametrize("seed", range(15))
def test_data_that_is_divided_in_any_way_is_read_as_it_was(codec: Compression, seed: int) -> None:
    rng = random.Random(seed)
    data = rng.randbytes(rng.randrange(3_000)) * rng.choice([1, 60])
    encoded = divided(codec, data, rng)
    assert framing_of(codec, encoded, len(data)) == (data, False)
    with pytest.raises(CorruptBatchError):  # in its last member, frame or block
        decompress(codec, memoryview(encoded)[:-1], len(data))


@pytest.mark.parametrize(
    ("codec", "begin", "one", "end"),
    [
        (Compression.GZIP, b"", gzip.compress(b"", mtime=0), gzip.compress(b"v", mtime=0)),
        (Compression.SNAPPY, XERIAL_HEADER, snappy_block(b""), snappy_block(b"v")),
        (Compression.SNAPPY, b"", XERIAL_HEADER, snappy_block(b"v")),
    ],
    ids=["gzip", "snappy blocks", "snappy streams"],
)
def test_streams_without_content_are_bounded(
    codec: Compression, begin: bytes, one: bytes, end: bytes
) -> None:
    """They cost nothing to send."""
    most = compression._MAX_STREAMS - 1
    assert decompress(codec, memoryview(begin + one * most + end), 9) == b"v"
    with pytest.raises(CorruptBatchError, match="too many"):
        decompress(codec, memoryview(begin + one * (most + 3) + end), 9)


def test_frames_of_zstd_without_content_are_bounded() -> None:
    most = compression._MAX_STREAMS - 1
    for one in (SKIPPABLE, LAST_SKIPPABLE, zstandard.compress(b"")):
        data = memoryview(one * most + zstandard.compress(b"v"))
        assert decompress(Compression.ZSTD, data, 9) == b"v"
        with pytest.raises(CorruptBatchError, match="too many"):
            decompress(Compression.ZSTD, memoryview(one + data.tobytes()), 9)


def test_blocks_of_a_frame_of_zstd_are_bounded() -> None:
    frame = zstandard.compress(b"v")
    begin, block = zstandard.frame_header_size(frame), bytes(3)  # without content
    most = compression._MAX_ZSTD_BLOCKS - 1
    data = memoryview(frame[:begin] + block * most + frame[begin:])
    assert decompress(Compression.ZSTD, data, 9) == b"v"
    with pytest.raises(CorruptBatchError, match="too many"):
        decompress(
            Compression.ZSTD, memoryview(frame[:begin] + block * (most + 1) + frame[begin:]), 9
        )


@pytest.mark.parametrize(
    ("codec", "data"),
    [
        (Compression.GZIP, gzip.compress(b"abc", mtime=0) + gzip.compress(b"def", mtime=0)[:-1]),
        (Compression.GZIP, gzip.compress(b"abc", mtime=0) + b"\x1f\x8b"),
        (Compression.GZIP, bytes(4) + gzip.compress(b"abc", mtime=0)),
        (Compression.ZSTD, zstandard.compress(b"abc") + SKIPPABLE[:-1]),
        (Compression.ZSTD, zstandard.compress(b"abc") + SKIPPABLE[:6]),
        (Compression.ZSTD, zstandard.compress(b"abc") + bytes(4)),
        (Compression.SNAPPY, XERIAL_HEADER + snappy_block(b"abc") + XERIAL_HEADER[:12]),
    ],
)
def test_a_further_stream_that_is_not_whole_is_corrupt(codec: Compression, data: bytes) -> None:
    with pytest.raises(CorruptBatchError):
        decompress(codec, memoryview(data), 100)


BOMBS = """
import resource, sys, zlib
import lz4.frame, zstandard
from headrace.protocol.records.compression import Compression, compress, decompress
from headrace.protocol.records.errors import DecompressionLimitError

MIB = 1 << 20
zeros = bytes(MIB)

def pieces(writer, *, begin=b""):
    yield begin
    for _ in range(128):
        yield writer.compress(zeros)
    yield writer.flush()

lz4_writer = lz4.frame.LZ4FrameCompressor(block_size=7)
snappy = compress(Compression.SNAPPY, bytes(32 * 1024))
bombs = {
    Compression.GZIP: pieces(zlib.compressobj(wbits=31)),
    Compression.SNAPPY: [snappy[:16], *[snappy[16:]] * 4096],
    Compression.LZ4: pieces(lz4_writer, begin=lz4_writer.begin()),
    Compression.ZSTD: pieces(zstandard.ZstdCompressor().compressobj()),
}
for codec, parts in bombs.items():
    data = memoryview(b"".join(parts))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        decompress(codec, data, MIB)
    except DecompressionLimitError:
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(codec.name, grown)
"""


def test_bombs_are_stopped_before_they_take_memory() -> None:
    """128 MiB each, in a process of its own, whose peak is not yet high for other reasons."""
    result = subprocess.run(
        [sys.executable, "-c", BOMBS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    grown_kib = {name: int(kib) for name, kib in map(str.split, result.stdout.splitlines())}
    assert set(grown_kib) == {codec.name for codec in Compression} - {"NONE"}
    assert max(grown_kib.values()) < 16 * 1024


@pytest.mark.parametrize(
    ("codec", "data"),
    [
        # 4 GiB - 1 claimed by a snappy preamble of five bytes.
        (Compression.SNAPPY, b"\xff\xff\xff\xff\x0f"),
        (Compression.SNAPPY, b"\x82SNAPPY\0\0\0\0\1\0\0\0\1\0\0\0\5\xff\xff\xff\xff\x0f"),
        # A block size that is negative or leaves the batch.
        (Compression.SNAPPY, b"\x82SNAPPY\0\0\0\0\1\0\0\0\1\xff\xff\xff\xff"),
        (Compression.SNAPPY, b"\x82SNAPPY\0\0\0\0\1\0\0\0\1\0\0\0\5\0"),
        (Compression.SNAPPY, b"\x82SNAPPY\0\0\0"),
        # Content sizes of 2**62 in the frame headers.
        (Compression.ZSTD, b"\x28\xb5\x2f\xfd\xe0" + (2**62).to_bytes(8, "little") + b"\x01\0\0"),
        (Compression.LZ4, b"\x04\x22\x4d\x18\x68\x40" + (2**62).to_bytes(8, "little") + b"\0" * 5),
        (Compression.GZIP, b"\x1f\x8b"),
        (Compression.GZIP, gzip.compress(b"abc", mtime=0)[:-8] + bytes(8)),  # wrong CRC and size
        (Compression.GZIP, b"abcdefghijklmnopqrstuvwxyz"),
        (Compression.ZSTD, b"\x50\x2a\x4d\x18\x02\0\0\0\0"),  # a skippable frame that is cut
    ],
)
def test_claims_that_cannot_be_true_are_corrupt(codec: Compression, data: bytes) -> None:
    with pytest.raises(CorruptBatchError):
        decompress(codec, memoryview(data), 1 << 34)
