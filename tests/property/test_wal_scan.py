"""Scanning arbitrary bytes: records or a refusal, never anything else, and bounded."""

import random
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.wal.errors import WalCorruptError
from headrace.wal.framing import BLOCK_HEADER_BYTES, BLOCK_MAGIC, BlockHeader, write_block_header
from headrace.wal.layout import (
    PAGE_BYTES,
    RING_POSITION,
    ShutdownType,
    Superblock,
    decode_superblock,
)
from headrace.wal.ring.recovery import Scan

PAGES = 12
RING_BYTES = PAGES * PAGE_BYTES
SUPERBLOCK = Superblock(
    sequence=4,
    generation_id=7,
    capacity_bytes=RING_POSITION + RING_BYTES,
    trim_offset=RING_BYTES - 1,
    head_offset=RING_BYTES,
    confirmed_offset=RING_BYTES,
    window_bytes=4 * PAGE_BYTES,
    shutdown=ShutdownType.UNGRACEFUL,
    node_id=1,
    node_epoch=1,
    cluster_id="c",
)
NUMBERS = st.one_of(st.integers(0, 3 * RING_BYTES), st.integers(0, 2**64 - 1))
HEADERS = st.builds(
    BlockHeader,
    length=st.integers(0, 2**32 - 1) | st.integers(0, RING_BYTES),
    generation_id=st.sampled_from([7, 8]),
    offset=NUMBERS | st.integers(0, 3 * PAGES).map(lambda page: page * PAGE_BYTES),
    previous_end=NUMBERS,
    confirmed_offset=NUMBERS,
    superblock_sequence=st.integers(0, 6),
    records=st.integers(0, 2**32 - 1),
)


def scan(memory: bytearray) -> None:
    """With and without acceptance; an accepted loss is never refused."""
    walk_over(memory, accept_loss=True)
    with suppress(WalCorruptError):
        walk_over(memory, accept_loss=False)


def walk_over(memory: bytearray, *, accept_loss: bool) -> None:
    walk = Scan(SUPERBLOCK, path="image", accept_loss=accept_loss)
    fed = 0
    while (wanted := walk.wants()) is not None:
        offset, min_size = wanted
        at = offset % RING_BYTES
        assert at + min_size <= RING_BYTES, "no read beyond the ring, whatever a length says"
        walk.feed(memoryview(memory)[at : at + min_size])
        fed += 1
        assert fed <= 4 * PAGES
    for start, end in walk.summary.lost:
        assert SUPERBLOCK.head_offset <= start < end <= walk.summary.confirmed_offset


@given(st.lists(st.tuples(st.integers(0, PAGES - 1), HEADERS), max_size=8), st.integers(0, 9))
@settings(max_examples=80, deadline=None, database=None)
def test_any_headers(headers: list[tuple[int, BlockHeader]], seed: int) -> None:
    memory = bytearray(random.Random(seed).randbytes(RING_BYTES))
    for page, header in headers:
        write_block_header(memoryview(memory)[page * PAGE_BYTES :], header)
    scan(memory)


@given(st.binary(max_size=200))
@settings(max_examples=50, deadline=None, database=None)
def test_any_bytes(noise: bytes) -> None:
    page = BLOCK_MAGIC.to_bytes(4, "big") + noise
    scan(bytearray(page.ljust(PAGE_BYTES, b"\0") * PAGES))


@given(st.binary(max_size=PAGE_BYTES))
@settings(max_examples=50, deadline=None, database=None)
def test_any_bytes_as_a_superblock(noise: bytes) -> None:
    assert decode_superblock(noise) is None
    assert decode_superblock(b"HEADRACE" + noise) is None


def test_the_header_is_as_long_as_it_says() -> None:
    memory = memoryview(bytearray(PAGE_BYTES))
    write_block_header(memory, BlockHeader(100, 7, 0, 0, 0, 0, 1))
    assert bytes(memory[BLOCK_HEADER_BYTES:]) == bytes(PAGE_BYTES - BLOCK_HEADER_BYTES)
