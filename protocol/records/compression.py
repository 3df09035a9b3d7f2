"""The codecs of record batches. The size of the output is limited before memory is allocated.

| id | codec | framing |
|---|---|---|
| 0 | none | |
| 1 | gzip | one member, RFC 1952 |
| 2 | snappy | blocks of xerial's snappy-java, or one raw block (as librdkafka writes it) |
| 3 | lz4 | one frame, written with independent blocks: Kafka's Java reader knows no others |
| 4 | zstd | frames, RFC 8878 |

Xerial framing: 16 bytes of header (`82 "SNAPPY" 00`, int32 version 1, int32 compatible version 1),
then blocks of int32 size and raw snappy, everything big-endian.

A decompressor here never produces more than the limit plus one chunk, whatever the headers of the
compressed data claim.

Source: CompressionType.java of Apache Kafka 4.3; SnappyOutputStream.java of snappy-java.
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
_MAX_ZSTD_WINDOW_BYTES: Final = 1 << 27  # the maximum of level 22, Kafka's highest
_ZSTD_BLOCK_HEADER_BYTES: Final = 3  # bit 0 last, bits 1 and 2 type, the rest size
_ZSTD_RLE_BLOCK: Final = 1  # one byte, for any block size
_ZSTD_CHECKSUM_BYTES: Final = 4
_MAX_ZSTD_BLOCKS: Final = (
    10_000  # an encoder fills a block with up to 128 KiB; these are looked at one by one
)
_LZ4_FLAGS_AT: Final = 4  # behind the magic number
_LZ4_INDEPENDENT: Final = 1 << 5

_XERIAL_HEADER: Final = b"\x82SNAPPY\0" + Struct(">ii").pack(1, 1)
_XERIAL_MAGIC: Final = _XERIAL_HEADER[:8]
_XERIAL_BLOCK_BYTES: Final = 32 * 1024
_BLOCK_SIZE: Final = Struct(">i")
# Three bytes of raw snappy make at most 64 bytes of output. A larger claimed size is invalid, and
# must be refused before it is allocated.
_MAX_SNAPPY_EXPANSION: Final = 22


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


def decompressed_pieces(codec: int, data: memoryview, max_output_bytes: int) -> Iterator[bytes]:
    """Decompress the records of a batch as far as they are asked for, in pieces of at most 64 KiB.

    One block of raw snappy is one piece: see `is_one_long_call`.

    Raises:
        UnsupportedCompressionError: unknown codec.
        CorruptBatchError: the data is invalid, or ends early.
        DecompressionLimitError: the output would exceed `max_output_bytes`.
    """
    decompressor = _DECOMPRESSORS.get(codec)
    if decompressor is None:
        raise UnsupportedCompressionError(f"compression codec {codec} is not defined")
    left_bytes = max_output_bytes
    for piece in decompressor(data, max_output_bytes):
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


def _decompress_gzip(data: memoryview, max_output_bytes: int) -> Iterator[bytes]:
    del max_output_bytes  # a piece is small
    decompressor = zlib.decompressobj(wbits=_GZIP_WINDOW_BITS)
    pending: Buffer = data
    try:
        while not decompressor.eof:
            piece = decompressor.decompress(pending, _STEP_BYTES)
            pending = decompressor.unconsumed_tail
            if not piece and not pending and not decompressor.eof:
                raise CorruptBatchError("gzip data ends early")
            yield piece
    except zlib.error as error:
        raise CorruptBatchError("gzip data is corrupt") from error
    if decompressor.unused_data:
        raise CorruptBatchError("extra bytes after the gzip data")


def _compress_snappy(data: memoryview) -> bytes:
    framed = bytearray(_XERIAL_HEADER)
    for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK_BYTES]))
        framed += _BLOCK_SIZE.pack(len(block))
        framed += block
    return bytes(framed)


def _decompress_snappy(data: memoryview, max_output_bytes: int) -> Iterator[bytes]:
    if data[: len(_XERIAL_MAGIC)] != _XERIAL_MAGIC:
        yield _decompress_snappy_block(data, max_output_bytes)
        return
    position = len(_XERIAL_HEADER)
    if len(data) < position:
        raise CorruptBatchError("snappy header ends early")
    while position < len(data):
        if len(data) - position < _BLOCK_SIZE.size:
            raise CorruptBatchError("snappy block size ends early")
        (size,) = _BLOCK_SIZE.unpack_from(data, position)
        position += _BLOCK_SIZE.size
        if not 0 <= size <= len(data) - position:
            raise CorruptBatchError("snappy block exceeds the batch")
        yield _decompress_snappy_block(data[position : position + size], max_output_bytes)
        position += size


def _decompress_snappy_block(block: memoryview, max_output_bytes: int) -> bytes:
    try:
        claimed: int = cramjam.snappy.decompress_raw_len(block)
        if not claimed:
            raise CorruptBatchError("snappy block is empty")  # or many could follow each other
        if claimed > len(block) * _MAX_SNAPPY_EXPANSION:
            raise CorruptBatchError("snappy block claims an impossible size")
        if claimed > max_output_bytes:
            raise DecompressionLimitError(_limit_message(max_output_bytes))
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise CorruptBatchError("snappy block is corrupt") from error


def _decompress_lz4(data: memoryview, max_output_bytes: int) -> Iterator[bytes]:
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
        raise CorruptBatchError("extra bytes after the lz4 frame")


def _decompress_zstd(data: memoryview, max_output_bytes: int) -> Iterator[bytes]:
    del max_output_bytes  # a piece is small
    context = zstandard.ZstdDecompressor(max_window_size=_MAX_ZSTD_WINDOW_BYTES)
    try:
        _check_zstd_is_whole(data)
        with context.stream_reader(data, read_across_frames=True) as reader:
            while piece := reader.read(_STEP_BYTES):
                yield piece
    except zstandard.ZstdError as error:
        raise CorruptBatchError("zstd frame is corrupt") from error


def _check_zstd_is_whole(data: memoryview) -> None:
    """Check that the frames are complete: the streaming decompressor does not detect an early end."""
    if not data:
        raise CorruptBatchError("zstd frame is missing")
    position = blocks = 0
    while position < len(data):
        has_checksum = zstandard.get_frame_parameters(data[position:]).has_checksum
        position += zstandard.frame_header_size(data[position:])
        is_last = False
        while not is_last:
            blocks += 1
            if blocks > _MAX_ZSTD_BLOCKS:
                raise CorruptBatchError("zstd frame consists of too many blocks")
            block = int.from_bytes(data[position : position + _ZSTD_BLOCK_HEADER_BYTES], "little")
            is_last = bool(block & 1)
            content_bytes = 1 if block >> 1 & 3 == _ZSTD_RLE_BLOCK else block >> 3
            position += _ZSTD_BLOCK_HEADER_BYTES + content_bytes
            if position > len(data):
                raise CorruptBatchError("zstd frame ends early")
        position += _ZSTD_CHECKSUM_BYTES if has_checksum else 0
    if position > len(data):
        raise CorruptBatchError("zstd checksum ends early")


_DECOMPRESSORS: Final[dict[int, Callable[[memoryview, int], Iterator[bytes]]]] = {
    Compression.GZIP: _decompress_gzip,
    Compression.SNAPPY: _decompress_snappy,
    Compression.LZ4: _decompress_lz4,
    Compression.ZSTD: _decompress_zstd,
}
