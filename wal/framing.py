"""The format of records and blocks in the ring. Pure.

A block is one device write: a block header, then records packed without gaps, then zeros up to a
whole page. It begins on a page boundary and never crosses the end of the ring. Every checksum is
CRC32C seeded with the generation id, so that a block or record of an earlier generation on the device is never
mistaken for one of this generation.

Block header, big-endian, 56 bytes:

    offset | bytes | type | field
    -------|-------|------|--------------------------------------------------------------------------------------
         0 |     4 | u32  | magic 0x48424C4B ("HBLK")
         4 |     4 | u32  | length: bytes of this header and the records; the block occupies whole pages
         8 |     8 | u64  | generation id
        16 |     8 | u64  | logical offset of this header
        24 |     8 | u64  | end of the block before, page-aligned; lower than the offset after a lap's unused rest
        32 |     8 | u64  | confirmed offset when this block was submitted: everything below it had been acknowledged
        40 |     8 | u64  | sequence number of the newest durable superblock when this block was submitted
        48 |     4 | u32  | number of records
        52 |     4 | u32  | CRC32C of bytes 0 to 51, seeded

Record, big-endian, 24 bytes and the body:

    offset | bytes | type  | field
    -------|-------|-------|----------------------------------------------
         0 |     4 | u32   | magic 0x48524543 ("HREC")
         4 |     4 | u32   | length of the body
         8 |     8 | u64   | logical offset of this header
        16 |     4 | u32   | CRC32C of the body, seeded
        20 |     4 | u32   | CRC32C of bytes 0 to 19, seeded
        24 |       | bytes | body

Source: "How to implement high performance WAL based on raw devices" (RecordHeader); the block
header is Headrace's own.
"""

import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from headrace.checksums import crc32c
from headrace.wal.layout import PAGE_BYTES
from headrace.wal.port import Buffer

BLOCK_MAGIC = 0x48424C4B
BLOCK_HEADER_BYTES = 56
RECORD_MAGIC = 0x48524543
RECORD_HEADER_BYTES = 24

_BLOCK_FIELDS = struct.Struct(">IIQQQQQI")
_RECORD_FIELDS = struct.Struct(">IIQI")
_RECORD_HEADER = struct.Struct(">IIQII")  # the fields and their checksum
_RECORD_FIELD_BYTES = _RECORD_FIELDS.size
_CRC = struct.Struct(">I")
_PAGE_BEGINNING = struct.Struct(f">I4xQQ{PAGE_BYTES - 24}x")
assert _PAGE_BEGINNING.size == PAGE_BYTES
assert _BLOCK_FIELDS.size + _CRC.size == BLOCK_HEADER_BYTES
assert _RECORD_HEADER.size == RECORD_HEADER_BYTES

# The checksum of 1 MiB takes 30 microseconds: less than getting the interpreter lock back may take.
_HOLD_GIL = 0


class BlockHeader(NamedTuple):
    """The fields of a block header whose own checksum matches."""

    length: int
    generation_id: int
    offset: int
    previous_end: int
    confirmed_offset: int
    superblock_sequence: int
    records: int


class RecordHeader(NamedTuple):
    """The fields of a record header that matches its position and generation."""

    length: int  # of the body
    body_crc: int


@lru_cache(maxsize=4)  # asked for each block that is written, and read
def checksum_seed(generation_id: int) -> int:
    """Return the start value of every checksum of a generation.

    Different seeds never give the same CRC to the same bytes.
    """
    return int(crc32c(generation_id.to_bytes(8, "big")))


def write_record(
    memory: memoryview, at: int, header: Buffer, payload: Buffer, offset: int, seed: int
) -> memoryview:
    """Write a record with the body `header || payload` at `memory[at:]`; return the view of the payload's copy."""
    body_at = at + RECORD_HEADER_BYTES
    payload_at = body_at + len(header)
    end = payload_at + len(payload)
    # Of the bytes that were given: a cache has them, those of the block are on their way to memory.
    body_crc = crc32c(payload, crc32c(header, seed), _HOLD_GIL)
    copy = memory[payload_at:end]
    copy[:] = payload
    fields = _RECORD_FIELDS.pack(RECORD_MAGIC, end - body_at, offset, body_crc)
    memory[at:payload_at] = fields + _CRC.pack(crc32c(fields, seed)) + header
    return copy


def read_record_header(memory: memoryview, at: int, offset: int, seed: int) -> RecordHeader | None:
    """Read the record header at `memory[at:]`; None when it is not that of a record at `offset` in this generation."""
    if at + RECORD_HEADER_BYTES > len(memory):
        return None
    magic, length, stored_offset, body_crc, crc = _RECORD_HEADER.unpack_from(memory, at)
    if magic != RECORD_MAGIC or stored_offset != offset:
        return None
    if crc32c(memory[at : at + _RECORD_FIELD_BYTES], seed) != crc:
        return None
    return RecordHeader(length, body_crc)


def body_is_intact(body: memoryview, body_crc: int, seed: int) -> bool:
    """Whether a body is as it was appended."""
    return bool(crc32c(body, seed, _HOLD_GIL) == body_crc)


def write_block_header(memory: memoryview, header: BlockHeader) -> None:
    """Write `header` at the start of `memory`."""
    fields = _BLOCK_FIELDS.pack(BLOCK_MAGIC, *header)
    memory[: _BLOCK_FIELDS.size] = fields
    _CRC.pack_into(memory, _BLOCK_FIELDS.size, crc32c(fields, checksum_seed(header.generation_id)))


def read_block_header(memory: memoryview, at: int) -> BlockHeader | None:
    """Read the block header at `memory[at:]`, of any generation and offset; None when there is none."""
    if at + BLOCK_HEADER_BYTES > len(memory):
        return None
    magic, *values = _BLOCK_FIELDS.unpack_from(memory, at)
    if magic != BLOCK_MAGIC:
        return None
    header = BlockHeader(*values)
    (crc,) = _CRC.unpack_from(memory, at + _BLOCK_FIELDS.size)
    seed = checksum_seed(header.generation_id)
    return header if crc32c(memory[at : at + _BLOCK_FIELDS.size], seed) == crc else None


def page_beginnings(memory: memoryview) -> Iterator[tuple[int, int, int]]:
    """Yield magic, generation id and offset of each page as if a block began there, unchecked."""
    return _PAGE_BEGINNING.iter_unpack(memory)
