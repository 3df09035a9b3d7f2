"""ObjectWriter: how batches are laid out, and that nothing is copied."""

import pytest

from headrace.storage.objects.data_block import BLOCK_HEADER_BYTES, verify_block
from headrace.storage.objects.footer import FOOTER_BYTES
from headrace.storage.objects.index_block import INDEX_ENTRY_BYTES, MAX_END_OFFSET_DELTA
from headrace.storage.objects.reader import decode_index, decode_tail, index_in_tail
from headrace.storage.objects.writer import ObjectWriter
from headrace.storage.ports import StreamRange
from headrace.storage.record_batch import HEADER_BYTES
from tests.unit.storage.samples import batch, batches, joined, write


def index_of(content):
    view = memoryview(content)
    footer = decode_tail(view, len(view))
    return decode_index(index_in_tail(view, footer), footer)


def layout(content):
    return [
        (it.stream_id, it.start_offset, it.end_offset, it.record_count) for it in index_of(content)
    ]


def test_one_block_per_stream_and_what_finish_tells():
    written = write([batches(1, 0, 3), batches(2, 50, 2, count=5)])
    assert layout(joined(written)) == [(1, 0, 3, 3), (2, 50, 60, 2)]
    assert written.ranges == [StreamRange(1, 1, 0, 3), StreamRange(2, 1, 50, 60)]
    assert written.size_bytes == (
        2 * BLOCK_HEADER_BYTES + 5 * (HEADER_BYTES + 100) + 2 * INDEX_ENTRY_BYTES + FOOTER_BYTES
    )


def test_payloads_are_not_copied():
    source = batches(1, 0, 3)
    parts = write([source]).parts
    assert [part for part in parts if isinstance(part, memoryview)] == [it.payload for it in source]
    assert all(part.obj is it.payload.obj for part, it in zip(parts[2::2], source, strict=False))


def test_blocks_stay_within_their_size():
    size = HEADER_BYTES + 100
    content = joined(write([batches(1, 0, 10)], max_block_bytes=3 * size))
    assert [entry.record_count for entry in index_of(content)] == [3, 3, 3, 1]
    assert max(entry.size for entry in index_of(content)) == BLOCK_HEADER_BYTES + 3 * size
    content = joined(write([batches(1, 0, 10)], max_block_bytes=3 * size - 1))
    assert [entry.record_count for entry in index_of(content)] == [2] * 5


def test_a_batch_larger_than_a_block_gets_one_of_its_own():
    source = [batch(1, 0), batch(1, 1, size=5000), batch(1, 2)]
    assert layout(joined(write([source], max_block_bytes=500))) == [
        (1, 0, 1, 1),
        (1, 1, 2, 1),
        (1, 2, 3, 1),
    ]


def test_a_span_of_offsets_that_does_not_fit_starts_a_new_block():
    large = 2**30
    source = batches(1, 0, 4, count=large)
    assert layout(joined(write([source]))) == [
        (1, 0, large, 1),
        (1, large, 2 * large, 1),
        (1, 2 * large, 3 * large, 1),
        (1, 3 * large, 4 * large, 1),
    ]
    fitting = [batch(1, 0, MAX_END_OFFSET_DELTA - 1), batch(1, MAX_END_OFFSET_DELTA - 1)]
    assert layout(joined(write([fitting]))) == [(1, 0, MAX_END_OFFSET_DELTA, 2)]


def test_a_gap_starts_a_new_range_and_a_new_block():
    written = write([[*batches(1, 0, 2), *batches(1, 5, 2)]])
    assert written.ranges == [StreamRange(1, 1, 0, 2), StreamRange(1, 1, 5, 7)]
    assert layout(joined(written)) == [(1, 0, 2, 2), (1, 5, 7, 2)]


def test_a_stream_can_be_added_in_steps():
    at_once = write([batches(1, 0, 6)])
    writer = ObjectWriter(1024 * 1024)
    writer.add(1, batches(1, 0, 2))
    writer.add(1, [])
    writer.add(1, batches(1, 2, 4))
    assert joined(writer.finish()) == joined(at_once)


@pytest.mark.parametrize("epochs", [(3, 5), (5, 3), (3, 5, 4)])
def test_a_range_carries_its_highest_epoch(epochs):
    source = [batch(1, offset, epoch=epoch) for offset, epoch in enumerate(epochs)]
    other = [batch(2, 0, epoch=1)]
    expected = [StreamRange(1, 5, 0, len(epochs)), StreamRange(2, 1, 0, 1)]
    assert write([source, other]).ranges == expected
    assert write([source, other], max_block_bytes=1).ranges == expected, "a block for each batch"


@pytest.mark.parametrize(
    "streams",
    [
        [batches(2, 0, 1), batches(1, 0, 1)],
        [batches(1, 5, 1), batches(1, 0, 1)],
        [batches(1, 0, 2), batches(1, 1, 1)],
        [batches(-1, 0, 1)],
        [batches(1, -5, 1)],
    ],
)
def test_wrong_order_is_refused(streams):
    with pytest.raises(ValueError, match="come after"):
        write(streams)


def test_a_batch_of_another_stream_is_refused():
    with pytest.raises(ValueError, match="among those of"):
        ObjectWriter(1000).add(1, batches(2, 0, 1))


@pytest.mark.parametrize("count", [0, -1, 2**31])
def test_a_count_that_does_not_fit_is_refused(count):
    with pytest.raises(ValueError, match="count"):
        ObjectWriter(1000).add(1, [batch(1, 0, count)])


def test_an_empty_object_is_refused():
    with pytest.raises(ValueError, match="must hold data"):
        ObjectWriter(1000).finish()


def test_drained_parts_and_the_rest_make_the_same_object():
    source = batches(1, 0, 50)
    expected = joined(write([source], max_block_bytes=500))
    writer = ObjectWriter(BLOCK_HEADER_BYTES + 500)
    content, drained_early = b"", 0
    for one in source:
        writer.add(1, [one])
        drained = b"".join(writer.drain())
        drained_early += len(drained)
        content += drained
    written = writer.finish()
    content += b"".join(written.parts)
    assert content == expected
    assert written.size_bytes == len(expected)
    assert drained_early > len(expected) // 2


def test_blocks_of_other_objects_are_merged_without_decoding():
    first = joined(write([batches(1, 0, 3), batches(2, 0, 1)]))
    second = joined(write([batches(1, 3, 3)]))
    writer = ObjectWriter(1024 * 1024)
    for content, stream_id in ((first, 1), (second, 1), (first, 2)):
        for entry in index_of(content).find(stream_id, 0, 100):
            _, data = verify_block(
                memoryview(content)[entry.position : entry.position + entry.size]
            )
            writer.add_block(entry, 1, data)
    assert joined(writer.finish()) == joined(write([batches(1, 0, 6), batches(2, 0, 1)]))


def test_the_header_counts():
    writer = ObjectWriter(2 * (HEADER_BYTES + 100) + BLOCK_HEADER_BYTES - 1)
    writer.add(1, batches(1, 0, 2))
    assert layout(joined(writer.finish())) == [(1, 0, 1, 1), (1, 1, 2, 1)]


@pytest.mark.parametrize("max_block_bytes", [BLOCK_HEADER_BYTES, 0, -1, 2**31])
def test_a_block_size_out_of_range_is_refused(max_block_bytes):
    with pytest.raises(ValueError, match="max_block_bytes"):
        ObjectWriter(max_block_bytes)
