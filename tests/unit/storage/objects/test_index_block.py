"""Index block: golden bytes, look-up by stream and offset, refusal of nonsense."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.storage.errors import CorruptObjectError
from headrace.storage.objects.index_block import (
    INDEX_ENTRY_BYTES,
    MAX_END_OFFSET_DELTA,
    IndexEntry,
    ObjectIndex,
    encode_entry,
)

ENTRY = IndexEntry(
    stream_id=7, start_offset=100, end_offset=105, record_count=2, position=50, size=36
)
GOLDEN = bytes.fromhex(
    # stream id, start offset, end offset delta, record count, position, size
    "0000000000000007 0000000000000064 00000005 00000002 0000000000000032 00000024"
)


def index_of(*blocks):
    """Make an index of (stream id, start, end, size) blocks that lie side by side."""
    encoded, position = b"", 0
    for stream_id, start, end, size in blocks:
        encoded += encode_entry(IndexEntry(stream_id, start, end, 1, position, size))
        position += size
    return ObjectIndex(memoryview(encoded), position)


def found(index, stream_id, start, end):
    return [(it.start_offset, it.end_offset) for it in index.find(stream_id, start, end)]


def test_golden_bytes():
    assert encode_entry(ENTRY).hex() == GOLDEN.hex()
    index = ObjectIndex(memoryview(GOLDEN), data_bytes=86)
    assert list(index) == [ENTRY]
    assert (len(index), index.size_bytes, index.data_bytes) == (1, INDEX_ENTRY_BYTES, 86)


def test_a_broken_entry_is_refused():
    for length in range(1, INDEX_ENTRY_BYTES):
        with pytest.raises(CorruptObjectError):
            ObjectIndex(memoryview(GOLDEN[:length]), data_bytes=86)


@pytest.mark.parametrize(
    ("at", "content"),
    [
        (16, b"\0\0\0\0"),  # no offsets
        (16, b"\xff\xff\xff\xff"),
        (20, b"\0\0\0\0"),  # no batches
        (24, b"\xff" * 8),  # before the object
        (24, b"\0\0\0\0\0\0\0\x33"),  # beyond the data
        (32, b"\0\0\0\x0e"),  # a header without data
        (32, b"\x7f\xff\xff\xff"),
        (32, b"\xff\xff\xff\xff"),
    ],
)
def test_nonsense_behind_a_good_checksum_is_refused(at, content):
    damaged = GOLDEN[:at] + content + GOLDEN[at + len(content) :]
    with pytest.raises(CorruptObjectError, match="is invalid"):
        ObjectIndex(memoryview(damaged), data_bytes=86).entry(0)


@pytest.mark.parametrize(
    "change",
    [
        {"end_offset": 100 + MAX_END_OFFSET_DELTA + 1},
        {"end_offset": 100},
        {"end_offset": 99},
        {"start_offset": -1},
        {"record_count": 0},
        {"record_count": 2**31},
        {"size": 0},
        {"size": 2**31},
    ],
)
def test_what_does_not_fit_is_not_encoded(change):
    with pytest.raises(ValueError, match="not fit"):
        encode_entry(ENTRY._replace(**change))


def test_the_largest_span_fits():
    entry = ENTRY._replace(end_offset=100 + MAX_END_OFFSET_DELTA)
    assert ObjectIndex(memoryview(encode_entry(entry)), data_bytes=86).entry(0) == entry


def test_find_returns_every_block_that_overlaps():
    index = index_of(
        (1, 0, 10, 50), (3, 5, 10, 50), (3, 10, 20, 50), (3, 20, 21, 50), (4, 0, 9, 50)
    )
    assert found(index, 3, 5, 21) == [(5, 10), (10, 20), (20, 21)]
    assert found(index, 3, 9, 11) == [(5, 10), (10, 20)]
    assert found(index, 3, 10, 20) == [(10, 20)]
    assert found(index, 3, 15, 16) == [(10, 20)]
    assert found(index, 3, 0, 5) == []
    assert found(index, 3, 21, 99) == []
    assert found(index, 2, 0, 99) == []
    assert found(index, 5, 0, 99) == []
    assert found(index, 1, 0, 99) == [(0, 10)]


def test_find_in_an_empty_index():
    assert found(ObjectIndex(memoryview(b""), 0), 1, 0, 9) == []


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.booleans()), max_size=30), st.data()
)
def test_find_agrees_with_a_scan(shape, data):
    blocks, ends = [], {}
    for stream_id, count, gap in sorted(shape, key=lambda it: it[0]):
        start = ends.get(stream_id, 0) + gap
        ends[stream_id] = start + count
        blocks.append((stream_id, start, start + count, 50))
    stream_id = data.draw(st.integers(0, 4))
    start = data.draw(st.integers(0, 60))
    end = data.draw(st.integers(start + 1, 70))
    expected = [(a, b) for s, a, b, _ in blocks if s == stream_id and b > start and a < end]
    assert found(index_of(*blocks), stream_id, start, end) == expected


def test_extent_counts_the_blocks_of_a_range():
    index = index_of((1, 0, 10, 50), (3, 5, 10, 60), (3, 10, 20, 70), (4, 0, 9, 80))
    assert index.extent_bytes(3, 5, 20) == 130
    assert index.extent_bytes(3, 12, 20) == 70
    assert index.extent_bytes(3, 5, 10) == 60
    assert index.extent_bytes(4, 3, 4) == 80


@pytest.mark.parametrize("offsets", [(0, 7), (4, 10), (15, 25), (20, 21), (30, 31)])
def test_a_range_that_the_index_lacks_has_no_extent(offsets):
    index = index_of((1, 0, 10, 50), (3, 5, 10, 60), (3, 10, 20, 70), (4, 0, 9, 80))
    with pytest.raises(CorruptObjectError, match="lacks offsets"):
        index.extent_bytes(3, *offsets)


def test_block_boundaries():
    index = index_of((1, 0, 10, 50), (3, 5, 10, 60), (3, 10, 20, 70))
    assert index.block_boundary(0, 50) == 50
    assert index.block_boundary(0, 109) == 50
    assert index.block_boundary(0, 110) == 110
    assert index.block_boundary(0, 10) == 50  # at least one block
    assert index.block_boundary(50, 50) == 110
    assert index.block_boundary(110, 111) == 180
    assert index.block_boundary(0, 1000) == 180
