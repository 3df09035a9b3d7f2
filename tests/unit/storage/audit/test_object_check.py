"""Whole objects against a bucket: damage is named with its place, reads are bounded."""

import asyncio

import pytest
from crc32c import crc32c

from headrace.storage.audit import object_check as module
from headrace.storage.audit.object_check import Watch, check_object
from headrace.storage.errors import ObjectNotFoundError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.objects.footer import FOOTER_BYTES, Footer, encode_footer
from headrace.storage.objects.index_block import INDEX_ENTRY_BYTES, IndexEntry, encode_entry
from tests.unit.storage.samples import batch, batches, joined, write

KEY = "k"


class CountingStore(MemoryObjectStore):
    """Remembers the ranges that were read."""

    def __init__(self, content):
        super().__init__()
        self.objects[KEY] = content
        self.reads = []

    async def get_range(self, key, start, end):
        self.reads.append((start, end))
        return await super().get_range(key, start, end)


def sample():
    return joined(write([batches(1, 0, 7), batches(2, 50, 4), batches(9, 3, 1)], 300))


def check(content, *, size=None, **options):
    return asyncio.run(check_object(CountingStore(content), KEY, size or len(content), **options))


def with_index(content, change):
    """The object with another index, whose checksums are right."""
    footer = check(content).footer
    end = footer.index_position + footer.index_length
    entries = [content[at : at + 36] for at in range(footer.index_position, end, 36)]
    index = b"".join(change(entries))
    made = Footer(footer.index_position, len(index), crc32c(index))
    return content[: footer.index_position] + index + encode_footer(made)


def test_a_whole_object():
    heads, entries, read = [], [], []
    watch = Watch(on_entry=entries.append, on_batch=heads.append, on_bytes=read.append)
    report = check(sample(), watch=watch)
    assert report.is_whole
    assert report.blocks_checked
    assert (report.blocks, report.batches, report.streams) == (len(entries), 12, 3)
    assert report.runs == [(1, 0, 7), (2, 50, 54), (9, 3, 4)]
    assert report.ranges == [(1, 1, 0, 7), (2, 1, 50, 54), (9, 1, 3, 4)]
    assert report.unindexed_bytes == 0
    assert report.data_bytes == sum(it.size for it in entries) == report.footer.index_position
    assert [(it.stream_id, it.base_offset) for it in heads] == (
        [(1, n) for n in range(7)] + [(2, n) for n in range(50, 54)] + [(9, 3)]
    )
    assert sum(read) == report.data_bytes


def test_the_epochs_at_which_it_was_written():
    """Blocks do not end where epochs do, and a gap begins another range."""
    streams = [
        [*batches(1, 0, 3), *batches(1, 3, 4, epoch=5), *batches(1, 9, 2, epoch=5)],
        batches(2, 11, 1, epoch=5),
        batches(3, 12, 1, epoch=0),
    ]
    report = check(joined(write(streams, 300)))
    assert report.is_whole
    assert report.ranges == [
        (1, 1, 0, 3),
        (1, 5, 3, 7),
        (1, 5, 9, 11),
        (2, 5, 11, 12),
        (3, 0, 12, 13),
    ]


def test_ranges_of_epochs_are_bounded(monkeypatch):
    monkeypatch.setattr(module, "MAX_RUNS_KEPT", 3)
    report = check(joined(write([[batch(1, it, epoch=it) for it in range(5)]])))
    assert len(report.ranges) == 3
    assert "more than 3 ranges of one epoch each" in report.damage[0].what


def test_a_small_object_is_one_read():
    store = CountingStore(sample())
    report = asyncio.run(check_object(store, KEY, len(sample())))
    assert report.is_whole
    assert store.reads == [(0, len(sample()))]


def test_reads_are_bounded_and_cover_the_data_once(monkeypatch):
    monkeypatch.setattr(module, "CHUNK_BYTES", 256)
    monkeypatch.setattr(module, "INDEX_CHUNK_BYTES", 2 * INDEX_ENTRY_BYTES)
    content = joined(write([batches(n, 0, 9) for n in range(8)], 300))
    store = CountingStore(content)
    report = asyncio.run(check_object(store, KEY, len(content)))
    assert report.is_whole
    assert report.batches == 72
    assert max(end - start for start, end in store.reads) <= 256
    data = [it for it in store.reads if it[0] < report.footer.index_position]
    assert sum(end - start for start, end in data) == report.footer.index_position


def test_every_flipped_byte_is_noticed():
    content = sample()
    for position in range(len(content)):
        broken = bytearray(content)
        broken[position] ^= 0x10
        report = check(bytes(broken))
        assert not report.is_whole, position
        assert report.damage, position


def test_every_truncation_is_noticed():
    content = sample()
    for length in range(1, len(content)):
        assert not check(content[:length]).is_whole, length


def test_an_object_that_is_shorter_than_listed():
    report = check(sample(), size=len(sample()) + 5)
    assert "the object is too short" in report.damage[0].what


def test_an_object_that_is_not_there():
    with pytest.raises(ObjectNotFoundError):
        asyncio.run(check_object(CountingStore(b"x"), "other", 100))


def test_damage_in_one_block_leaves_the_others_checked():
    content = bytearray(sample())
    content[60] ^= 1
    report = check(bytes(content))
    assert report.damage_count == 1
    assert report.damage[0].position == 0
    assert "block of stream 1 offsets 0 to 2: checksum is" in report.damage[0].what
    assert report.batches == 12


def swap_first_two(entries):
    return [entries[1], entries[0], *entries[2:]]


def repeat_first(entries):
    return [entries[0], *entries]


def drop_second(entries):
    return [entries[0], *entries[2:]]


def beyond_the_data(entries):
    return [*entries, encode_entry(IndexEntry(10, 0, 1, 1, 10_000, 100))]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (swap_first_two, "offset 0 of stream 1 comes after"),
        (repeat_first, "overlaps the one that ends at"),
        (beyond_the_data, "is invalid"),
        (lambda entries: [entries[0][:-1]], "is not made of whole entries"),
        (lambda _: [], "is not made of whole entries"),
    ],
)
def test_an_index_that_contradicts_itself(change, text):
    report = check(with_index(sample(), change))
    assert any(text in it.what for it in report.damage), report.damage
    assert not report.index_is_whole
    assert not report.blocks_checked


def test_a_block_that_the_index_leaves_out_is_no_damage():
    report = check(with_index(sample(), drop_second))
    assert report.is_whole
    assert report.unindexed_bytes > 0
    assert report.runs[0] == (1, 0, 2)
    assert report.runs[1][1] == 4


def test_an_entry_that_says_other_offsets_than_its_block():
    def shift(entries):
        first = IndexEntry(1, 0, 3, 2, 0, check(sample()).data_bytes)
        size = int.from_bytes(entries[0][-4:], "big")
        return [encode_entry(first._replace(size=size)), *entries[2:]]

    report = check(with_index(sample(), shift))
    assert "batches end at offset 2, not 3" in report.damage[0].what


def test_the_index_alone():
    content = bytearray(sample())
    content[20] ^= 1  # in a block, which is not looked at
    store = CountingStore(bytes(content))
    report = asyncio.run(check_object(store, KEY, len(content), blocks=False))
    assert report.is_whole
    assert not report.blocks_checked
    assert report.runs == [(1, 0, 7), (2, 50, 54), (9, 3, 4)]


def test_something_that_is_no_object():
    assert "not a footer" in check(bytes(500)).damage[0].what
    assert check(bytes(500)).damage[0].position == 500 - FOOTER_BYTES
    assert "too few for a footer" in check(b"short").damage[0].what


def test_what_is_kept_of_damage_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "MAX_DAMAGE_KEPT", 3)
    content = bytearray(joined(write([batches(1, 0, 20)], 150)))
    for block in range(20):
        content[block * (14 + 133) + 50] ^= 1
    report = check(bytes(content))
    assert (len(report.damage), report.damage_count) == (3, 20)
