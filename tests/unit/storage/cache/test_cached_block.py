"""CachedBlock: what one block gives."""

import pytest

from headrace.storage.cache import cached_block
from headrace.storage.cache.cached_block import CachedBlock, ReadRun
from headrace.storage.errors import CorruptObjectError
from headrace.storage.objects.reader import decode_index, decode_tail, index_in_tail
from tests.unit.storage.samples import batches, joined, write


def block_of(count=1):
    """Six batches of stream 1 from offset 40 on, each of `count` offsets."""
    content = memoryview(joined(write([batches(1, 40, 6, count=count)])))
    footer = decode_tail(content, len(content))
    (entry,) = decode_index(index_in_tail(content, footer), footer)
    return CachedBlock(
        7, entry, content[: entry.size], ReadRun(entry.size, [(7, entry.position)], None)
    )


def collect(block, start, end=1000, size=10**9, *, with_first=True):
    found = block.collect(start, end, size, with_first=with_first)
    assert found.size_bytes == sum(len(it.payload) for it in found.batches)
    return [it.base_offset for it in found.batches], found.end_offset


def test_from_a_batch_s_start_or_inside_of_it():
    block = block_of(count=10)
    assert collect(block, 60) == ([60, 70, 80, 90], 100)
    assert collect(block, 69) == ([60, 70, 80, 90], 100)
    assert collect(block, 40)[0][0] == 40


def test_below_the_end():
    block = block_of(count=10)
    assert collect(block, 60, 80) == ([60, 70], 80)
    assert collect(block, 60, 81) == ([60, 70, 80], 90)


def test_within_the_size():
    block = block_of()
    assert collect(block, 40, size=250) == ([40, 41], 42)
    assert collect(block, 40, size=300) == ([40, 41, 42], 43)
    assert collect(block, 40, size=1) == ([40], 41)
    assert collect(block, 40, size=1, with_first=False) == ([], 40)


def test_going_on_where_a_reader_stopped():
    block = block_of()
    for start in (40, 42, 44):
        assert collect(block, start, size=200) == ([start, start + 1], start + 2)
    assert collect(block, 41, size=200) == ([41, 42], 43)


def test_places_are_remembered_for_a_bounded_number_of_readers():
    block = block_of(count=1000)
    for start in range(41, 41 + 50):
        collect(block, start, size=0, with_first=False)
    assert len(block._resume) <= cached_block.MAX_RESUME_POINTS


def test_a_block_that_is_not_what_the_index_says():
    for change in ({"stream_id": 2}, {"start_offset": 39}, {"record_count": 5}):
        block = block_of()
        block.entry = block.entry._replace(**change)
        with pytest.raises(CorruptObjectError, match="the index says"):
            block.collect(40, 100, 1000, with_first=True)
    block = block_of()
    block.entry = block.entry._replace(end_offset=47)  # one more than there is
    with pytest.raises(CorruptObjectError):
        block.collect(40, 100, 10_000, with_first=True)
