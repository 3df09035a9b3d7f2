"""Logs in files, byte by byte: what tools are tested on."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from headrace.wal.framing import (
    BLOCK_HEADER_BYTES,
    BlockHeader,
    checksum_seed,
    write_block_header,
    write_record,
)
from headrace.wal.layout import PAGE_BYTES, RING_POSITION, ShutdownType, Superblock, align_up
from tests.unit.wal.test_layout import EXAMPLE

RING_PAGES = 64
LOG = replace(
    EXAMPLE,
    capacity_bytes=RING_POSITION + RING_PAGES * PAGE_BYTES,
    trim_offset=-1,
    head_offset=0,
    confirmed_offset=0,
    window_bytes=8 * PAGE_BYTES,
)


def block(
    bodies: Sequence[bytes],
    offset: int,
    *,
    log: Superblock = LOG,
    previous_end: int | None = None,
    confirmed: int | None = None,
) -> bytes:
    """One block as the log writes it; what it says of before is that nothing is missing."""
    memory = memoryview(bytearray(align_up(BLOCK_HEADER_BYTES + sum(24 + len(b) for b in bodies))))
    at = BLOCK_HEADER_BYTES
    for body in bodies:
        write_record(memory, at, b"", body, offset + at, checksum_seed(log.generation_id))
        at += 24 + len(body)
    previous_end = offset if previous_end is None else previous_end
    write_block_header(
        memory,
        BlockHeader(
            length=at,
            generation_id=log.generation_id,
            offset=offset,
            previous_end=previous_end,
            confirmed_offset=previous_end if confirmed is None else confirmed,
            superblock_sequence=log.sequence,
            records=len(bodies),
        ),
    )
    return bytes(memory)


def image(*placed: tuple[int, bytes], log: Superblock = LOG) -> bytearray:
    """A device: both superblocks, and content at offsets of the ring."""
    content = bytearray(log.capacity_bytes)
    for copy in (replace(log, sequence=log.sequence - 1), log):
        content[copy.slot_position : copy.slot_position + PAGE_BYTES] = copy.encode()
    for offset, memory in placed:
        position = log.ring.position(offset)
        content[position : position + len(memory)] = memory
    return content


def two_blocks(log: Superblock = LOG) -> bytearray:
    """Three records in two blocks; the first block's are known to be acknowledged."""
    return image(
        (0, block([b"one", b"two"], 0, log=log)),
        (PAGE_BYTES, block([b"three"], PAGE_BYTES, log=log)),
        log=log,
    )


def graceful(log: Superblock = LOG) -> Superblock:
    """The same log, left empty."""
    return replace(log, shutdown=ShutdownType.GRACEFUL)


def written(path: Path, content: bytes | bytearray) -> str:
    """Write a file and return its path."""
    path.write_bytes(content)
    return str(path)
