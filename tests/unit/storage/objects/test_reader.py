"""A whole object: golden bytes, round trips, and no damage that a reader would not see."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.storage.errors import CorruptObjectError
from headrace.storage.objects.data_block import iterate_batches, verify_block
from headrace.storage.objects.reader import decode_index, decode_tail, index_in_tail, tail_start
from headrace.storage.record_batch import StreamRecordBatch
from tests.unit.storage.samples import batch, batches, joined, write

SOURCE = [
    [
        StreamRecordBatch(1, 2, 5, 1, memoryview(b"a")),
        StreamRecordBatch(1, 2, 6, 2, memoryview(b"bb")),
    ],
    [StreamRecordBatch(9, 4, 0, 1, memoryview(b""))],
]
GOLDEN = bytes.fromhex(
    # position 0: block of stream 1, two batches
    "5a 00 00000002 00000045 d70fa631"
    "22 0000000000000001 0000000000000002 0000000000000005 00000001 00000001 61"
    "22 0000000000000001 0000000000000002 0000000000000006 00000002 00000002 6262"
    # position 83: block of stream 9, one batch without payload
    "5a 00 00000001 00000021 11ddccab"
    "22 0000000000000009 0000000000000004 0000000000000000 00000001 00000000"
    # position 130: index
    "0000000000000001 0000000000000005 00000003 00000002 0000000000000000 00000053"
    "0000000000000009 0000000000000000 00000001 00000001 0000000000000053 0000002f"
    # position 202: footer
    "0000000000000082 00000048 cb8fae77 0001 000000000000000000000000000000000000"
    "d4719bfd 6865616472616365"
)


def read_all(content, size=None):
    """Read an object as a reader would: tail, index, every block, every batch."""
    view = memoryview(content)
    size = len(view) if size is None else size
    tail = view[tail_start(size) :]
    footer = decode_tail(tail, size)
    index_view = index_in_tail(tail, footer)
    if index_view is None:
        index_view = view[footer.index_position : footer.index_position + footer.index_length]
    found = []
    for entry in decode_index(index_view, footer):
        count, data = verify_block(view[entry.position : entry.position + entry.size])
        of_block = list(iterate_batches(data))
        assert count == entry.record_count == len(of_block)
        found += of_block
    return found


def test_golden_object():
    assert joined(write(SOURCE)).hex() == GOLDEN.hex()
    assert read_all(GOLDEN) == [it for of_stream in SOURCE for it in of_stream]


def test_truncation_at_every_byte_is_detected():
    for length in range(len(GOLDEN)):
        for size in (length, len(GOLDEN)):  # with the size told by the store, and by the metadata
            with pytest.raises(CorruptObjectError):
                read_all(GOLDEN[:length], size)


def test_every_flipped_bit_is_detected():
    for bit in range(len(GOLDEN) * 8):
        damaged = bytearray(GOLDEN)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CorruptObjectError):
            read_all(damaged)


def test_an_index_larger_than_the_tail_read_is_told_from_one_inside():
    content = memoryview(joined(write([batches(1, 0, 2000, size=10)], max_block_bytes=50)))
    start = tail_start(len(content))
    footer = decode_tail(content[start:], len(content))
    assert start > footer.index_position
    assert index_in_tail(content[start:], footer) is None
    assert index_in_tail(content[footer.index_position :], footer) is not None
    assert len(read_all(content)) == 2000


@pytest.mark.parametrize("size", [1, 1000, 16 * 1024, 100 * 1024 * 1024, 2**40])
def test_the_tail_read_is_bounded(size):
    start = tail_start(size)
    assert 0 <= start < size
    assert size - start <= 20 * 1024 + size // 1024


STREAMS = st.lists(
    st.tuples(
        st.integers(0, 5),  # distance from the stream before
        st.integers(0, 2**40),  # first offset
        st.lists(st.tuples(st.integers(1, 2**31 - 1), st.integers(0, 300)), min_size=1, max_size=8),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(STREAMS, st.integers(1, 2000))
def test_what_is_written_is_read_back(shape, max_block_bytes):
    streams, stream_id = [], 0
    for distance, offset, of_stream in shape:
        stream_id += distance + 1
        made = []
        for count, size in of_stream:
            made.append(batch(stream_id, offset, count, size))
            offset += count
        streams.append(made)
    written = write(streams, max_block_bytes)
    assert read_all(joined(written)) == [it for of_stream in streams for it in of_stream]
    assert [(it.stream_id, it.start_offset, it.end_offset) for it in written.ranges] == [
        (made[0].stream_id, made[0].base_offset, made[-1].base_offset + made[-1].count)
        for made in streams
    ]
