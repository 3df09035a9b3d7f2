"""The codecs of record batches. The size of the output is limited before memory is allocated.

| id | codec | framing |
|---|---|---|
| 0 | none | |
| 1 | gzip | members, RFC 1952; what begins no member, as zeros do, is passed over |
| 2 | snappy | streams of blocks of xerial's snappy-java, or one raw block (as librdkafka writes it) |
| 3 | lz4 | one frame; what follows it is passed over |
| 4 | zstd | frames and skippable frames, RFC 8878 |

This is what Kafka's Java readers read. Others read one stream only: librdkafka loses the records of a second gzip
member and everything behind that batch, and reads no lz4 or snappy with bytes behind. So a decompressor also says
whether the data is one plain stream (`Framing`); what is not is written anew before it is stored. The blocks of lz4 are
written independent of each other, since the Java readers know no others.

Stricter than the Java readers: what begins as a gzip member must be a whole one, and members, frames and blocks are
bounded in number, because those without content cost nothing to send.

Xerial framing: 16 bytes of header (`82 "SNAPPY" 00`, int32 version 1, int32 compatible version 1),
then blocks of int32 size and raw snappy, everything big-endian.

A decompressor here never produces more than the limit plus one chunk, whatever the headers of the
compressed data claim.

Source: CompressionType.java and Lz4BlockInputStream.java of Apache Kafka 4.4; GZIPInputStream.java of the JDK;
SnappyInputStream.java and SnappyOutputStream.java of snappy-java.
"""

import zlib
from collections.abc import Callable, Iterator
from enum import IntEnum
from struct import Struct
from typing import Final

import cramjam
import lz4.frame
import zstandard

from headrace.protocol.records.errors import (
    CorruptBatchError,
    DecompressionLimitError,
    UnsupportedCompressionError,
)

Buffer = bytes | bytearray | memoryview


class Compression(IntEnum):
    """Bits 0 to 2 of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


# Size of a piece of the output: the most that a decompressor may produce beyond the limit.
_STEP_BYTES: Final = 1 << 16
_LONG_SNAPPY_BYTES: Final = 1 << 16  # may decompress to 22 times as much
_GZIP_WINDOW_BITS: Final = 31  # 15 bits of window, gzip framing
_GZIP_MAGIC: Final = b"\x1f\x8b"
_GZIP_INPUT_BYTES: Final = 1 << 14  # given to zlib at once
# Members of gzip; empty blocks and further streams of snappy; frames of zstd. A writer that puts 64 KiB into each needs
# 1,024 for what a produced batch may have by default.
_MAX_STREAMS: Final = 4_096
_MAX_ZSTD_WINDOW_BYTES: Final = 1 << 27  # the maximum of level 22, Kafka's highest
_ZSTD_SKIPPABLE: Final = 0x184D2A5  # the magic number without its last four bits
_ZSTD_SKIPPABLE_HEADER: Final = Struct("<II")  # magic number, size of what follows
_ZSTD_BLOCK_HEADER_BYTES: Final = 3  # bit 0 last, bits 1 and 2 type, the rest size
_ZSTD_RLE_BLOCK: Final = 1  # one byte, for any block size
_ZSTD_CHECKSUM_BYTES: Final = 4
# Of all frames. An encoder fills a block with up to 128 KiB; these are looked at one
# by one.
_MAX_ZSTD_BLOCKS: Final = 10_000
_LZ4_FLAGS_AT: Final = 4  # behind the magic number
_LZ4_INDEPENDENT: Final = 1 << 5

_XERIAL_HEADER: Final = b"\x82SNAPPY\0" + Struct(">ii").pack(1, 1)
_XERIAL_MAGIC: Final = _XERIAL_HEADER[:8]
_XERIAL_BLOCK_BYTES: Final = 32 * 1024
_BLOCK_SIZE: Final = Struct(">i")
# Three bytes of raw snappy make at most 64 bytes of output. A larger claimed size is invalid, and
# must be refused before it is allocated.
_MAX_SNAPPY_EXPANSION: Final = 22


class Framing:
    """How compressed data is put together, as far as it was decompressed."""

    __slots__ = ("is_plain",)

    def __init__(self) -> None:
        self.is_plain = True  # one stream with nothing around it: every client reads that


def compress(codec: Compression, data: Buffer) -> bytes:
    """Compress the records of a batch."""
    match codec:
        case Compression.NONE:
            return bytes(data)
        case Compression.GZIP:
            return zlib.compress(data, wbits=_GZIP_WINDOW_BITS)
        case Compression.SNAPPY:
            return _compress_snappy(memoryview(data))
        case Compression.LZ4:
            return bytes(lz4.frame.compress(data, block_linked=False, store_size=False))
        case Compression.ZSTD:
            return zstandard.ZstdCompressor().compress(data)


def decompress(codec: int, data: memoryview, max_output_bytes: int) -> Buffer:
    """Decompress the records of a batch; without compression the view itself is returned.

    Raises:
        UnsupportedCompressionError: unknown codec.
        CorruptBatchError: the data is invalid, or ends early.
        DecompressionLimitError: the output would exceed `max_output_bytes`.
    """
    if codec == Compression.NONE:
        if len(data) > max_output_bytes:
            raise DecompressionLimitError(_limit_message(max_output_bytes))
        return data
    found = list(decompressed_pieces(codec, data, max_output_bytes))
    return found[0] if len(found) == 1 else b"".join(found)


def decompressed_pieces(
    codec: int, data: memoryview, max_output_bytes: int, framing: Framing | None = None
) -> Iterator[bytes]:
    """Decompress the records of a batch as far as they are asked for, in pieces of at most 64 KiB.

    One block of raw snappy is one piece: see `is_one_long_call`. `framing` says after the last piece what it was.

    Raises:
        UnsupportedCompressionError: unknown codec.
        CorruptBatchError: the data is invalid, or ends early.
        DecompressionLimitError: the output would exceed `max_output_bytes`.
    """
    decompressor = _DECOMPRESSORS.get(codec)
    if decompressor is None:
        raise UnsupportedCompressionError(f"compression codec {codec} is not defined")
    left_bytes = max_output_bytes
    for piece in decompressor(data, max_output_bytes, framing or Framing()):
        left_bytes -= len(piece)
        if left_bytes < 0:
            raise DecompressionLimitError(_limit_message(max_output_bytes))
        yield piece


def is_one_long_call(codec: int, data: memoryview) -> bool:
    """Whether the data is a block so large that decompressing it takes milliseconds, and cannot be divided."""
    return codec == Compression.SNAPPY and len(data) > _LONG_SNAPPY_BYTES


def has_linked_blocks(data: memoryview) -> bool:
    """Whether an lz4 frame says that its blocks depend on each other."""
    return len(data) > _LZ4_FLAGS_AT and not data[_LZ4_FLAGS_AT] & _LZ4_INDEPENDENT


def _limit_message(max_output_bytes: int) -> str:
    return f"records decompress to more than {max_output_bytes} bytes"


def _decompress_gzip(data: memoryview, max_output_bytes: int, framing: Framing) -> Iterator[bytes]:
    del max_output_bytes  # a piece is small
    size_bytes = len(data)
    # Not all at once: what zlib leaves of it is copied, for each piece and each member.
    pending: Buffer = data[:_GZIP_INPUT_BYTES]
    position, members = len(pending), 1
    decompressor = zlib.decompressobj(wbits=_GZIP_WINDOW_BITS)
    try:
        while True:
            piece = decompressor.decompress(pending, _STEP_BYTES)
            if piece:
                yield piece
            if decompressor.eof:
                position -= len(decompressor.unused_data)
                if position == size_bytes:
                    return
                framing.is_plain = False
                if bytes(data[position : position + len(_GZIP_MAGIC)]) != _GZIP_MAGIC:
                    return
                members += 1
                if members > _MAX_STREAMS:
                    raise CorruptBatchError("gzip data consists of too many members")
                decompressor = zlib.decompressobj(wbits=_GZIP_WINDOW_BITS)
                pending = b""
            else:
                pending = decompressor.unconsumed_tail
            if not pending:
                pending = data[position : position + _GZIP_INPUT_BYTES]
                position += len(pending)
                if not pending and not piece:
                    raise CorruptBatchError("gzip data ends early")
    except zlib.error as error:
        raise CorruptBatchError("gzip data is corrupt") from error


def _compress_snappy(data: memoryview) -> bytes:
    framed = bytearray(_XERIAL_HEADER)
    for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK_BYTES]))
        framed += _BLOCK_SIZE.pack(len(block))
        framed += block
    return bytes(framed)


def _decompress_snappy(
    data: memoryview, max_output_bytes: int, framing: Framing
) -> Iterator[bytes]:
    if data[: len(_XERIAL_MAGIC)] != _XERIAL_MAGIC:
        block = _decompress_snappy_block(data, max_output_bytes)
        if not block:
            raise CorruptBatchError("snappy block is empty")
        yield block
        return
    position = len(_XERIAL_HEADER)
    if len(data) < position:
        raise CorruptBatchError("snappy header ends early")
    empty = 0
    while len(data) - position >= _BLOCK_SIZE.size:
        if data[position : position + len(_XERIAL_MAGIC)] == _XERIAL_MAGIC:
            position += len(_XERIAL_HEADER)
            if position > len(data):
                raise CorruptBatchError("snappy header ends early")
            block = b""
        else:
            (size,) = _BLOCK_SIZE.unpack_from(data, position)
            position += _BLOCK_SIZE.size
            if not 0 <= size <= len(data) - position:
                raise CorruptBatchError("snappy block exceeds the batch")
            block = _decompress_snappy_block(data[position : position + size], max_output_bytes)
            position += size
        if not block:
            framing.is_plain = False
            empty += 1
            if empty > _MAX_STREAMS:
                raise CorruptBatchError("snappy data consists of too many empty blocks")
        yield block
    if position < len(data):
        framing.is_plain = False


def _decompress_snappy_block(block: memoryview, max_output_bytes: int) -> bytes:
    try:
        claimed: int = cramjam.snappy.decompress_raw_len(block)
        if claimed > len(block) * _MAX_SNAPPY_EXPANSION:
            raise CorruptBatchError("snappy block claims an impossible size")
        if claimed > max_output_bytes:
            raise DecompressionLimitError(_limit_message(max_output_bytes))
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise CorruptBatchError("snappy block is corrupt") from error


def _decompress_lz4(data: memoryview, max_output_bytes: int, framing: Framing) -> Iterator[bytes]:
    del max_output_bytes  # a piece is small
    context = lz4.frame.create_decompression_context()
    position = 0
    complete = False
    try:
        while not complete:
            piece, read_bytes, complete = lz4.frame.decompress_chunk(
                context, data[position:], max_length=_STEP_BYTES
            )
            if not piece and not read_bytes and not complete:
                raise CorruptBatchError("lz4 frame ends early")
            position += read_bytes
            yield piece
    except (RuntimeError, ValueError) as error:
        raise CorruptBatchError("lz4 frame is corrupt") from error
    if position != len(data):
        framing.is_plain = False


def _decompress_zstd(data: memoryview, max_output_bytes: int, framing: Framing) -> Iterator[bytes]:
    del max_output_bytes  # a piece is small
    context = zstandard.ZstdDecompressor(max_window_size=_MAX_ZSTD_WINDOW_BYTES)
    try:
        framing.is_plain = _zstd_frames(data) == 1
        with context.stream_reader(data, read_across_frames=True) as reader:
            while piece := reader.read(_STEP_BYTES):
                yield piece
    except zstandard.ZstdError as error:
        raise CorruptBatchError("zstd frame is corrupt") from error


def _zstd_frames(data: memoryview) -> int:
    """Count the frames, skippable ones too.

    They must be whole: the streaming decompressor does not detect an early end.
    """
    if not data:
        raise CorruptBatchError("zstd frame is missing")
    position = blocks = frames = 0
    while position < len(data):
        frames += 1
        if frames > _MAX_STREAMS:
            raise CorruptBatchError("zstd data consists of too many frames")
        skipped_bytes = _skippable_bytes(data, position)
        if skipped_bytes:
            position += skipped_bytes
            _check_zstd_bounds(position, len(data), blocks)
            continue
        has_checksum = zstandard.get_frame_parameters(data[position:]).has_checksum
        position += zstandard.frame_header_size(data[position:])
        is_last = False
        while not is_last:
            blocks += 1
            block = int.from_bytes(data[position : position + _ZSTD_BLOCK_HEADER_BYTES], "little")
            is_last = bool(block & 1)
            content_bytes = 1 if block >> 1 & 3 == _ZSTD_RLE_BLOCK else block >> 3
            position += _ZSTD_BLOCK_HEADER_BYTES + content_bytes
            _check_zstd_bounds(position, len(data), blocks)
        position += _ZSTD_CHECKSUM_BYTES if has_checksum else 0
    if position > len(data):
        raise CorruptBatchError("zstd checksum ends early")
    return frames


def _skippable_bytes(data: memoryview, position: int) -> int:
    """The size of the skippable frame at the position; 0 if there is any other."""
    if len(data) - position < _ZSTD_SKIPPABLE_HEADER.size:
        return 0
    magic, content_bytes = _ZSTD_SKIPPABLE_HEADER.unpack_from(data, position)
    return _ZSTD_SKIPPABLE_HEADER.size + content_bytes if magic >> 4 == _ZSTD_SKIPPABLE else 0


def _check_zstd_bounds(position: int, size_bytes: int, blocks: int) -> None:
    if blocks > _MAX_ZSTD_BLOCKS:
        raise CorruptBatchError("zstd frame consists of too many blocks")
    if position > size_bytes:
        raise CorruptBatchError("zstd frame ends early")


_DECOMPRESSORS: Final[dict[int, Callable[[memoryview, int, Framing], Iterator[bytes]]]] = {
    Compression.GZIP: _decompress_gzip,
    Compression.SNAPPY: _decompress_snappy,
    Compression.LZ4: _decompress_lz4,
    Compression.ZSTD: _decompress_zstd,
}
