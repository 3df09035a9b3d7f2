"""A block checked in pieces of any size: what is wrong is named, with its place."""

import pytest
from crc32c import crc32c

from headrace.storage.audit.block_scan import MAX_DAMAGE_PER_BLOCK, BlockScan
from headrace.storage.objects.data_block import BLOCK_HEADER_BYTES, encode_block_header
from headrace.storage.objects.index_block import IndexEntry
from headrace.storage.record_batch import HEADER_BYTES, encode_header
from tests.unit.storage.samples import batches

STREAM = 7
AT = 1000  # where the block lies in its object


def block(made, *, count=None):
    data = b"".join(
        part
        for it in made
        for part in (
            encode_header(it.stream_id, it.epoch, it.base_offset, it.count, len(it.payload)),
            bytes(it.payload),
        )
    )
    return encode_block_header(count or len(made), len(data), crc32c(data)) + data


def entry_of(content, *, start=10, end=15, count=5, size=None):
    return IndexEntry(STREAM, start, end, count, AT, size or len(content))


def scan(content, entry, piece=1 << 20):
    heads = []
    checked = BlockScan(entry, on_batch=heads.append)
    for begin in range(0, len(content), piece):
        checked.feed(memoryview(content)[begin : begin + piece])
    return checked.finish(), heads


@pytest.mark.parametrize("piece", [1, 3, 13, 14, 15, 33, 47, 100, 1 << 20])
def test_a_whole_block_in_pieces(piece):
    content = block(batches(STREAM, 10, 5))
    damage, heads = scan(content, entry_of(content), piece)
    assert damage == []
    assert [(it.base_offset, it.end_offset, it.payload_bytes) for it in heads] == [
        (10 + n, 11 + n, 100) for n in range(5)
    ]
    assert heads[1].position == AT + BLOCK_HEADER_BYTES + HEADER_BYTES + 100
    assert {(it.stream_id, it.epoch) for it in heads} == {(STREAM, 1)}


def test_every_flipped_bit_is_noticed():
    content = block(batches(STREAM, 10, 5, size=3))
    for position in range(len(content)):
        for bit in range(8):
            broken = bytearray(content)
            broken[position] ^= 1 << bit
            damage, _ = scan(bytes(broken), entry_of(content))
            assert damage, (position, bit)
            assert all(AT <= it.position <= AT + len(content) for it in damage)


@pytest.mark.parametrize(
    ("made", "entry", "text"),
    [
        (batches(STREAM, 10, 5), {"end": 16}, "batches end at offset 15, not 16"),
        (batches(STREAM, 11, 5), {"end": 16}, "batch at offset 11, expected 10"),
        (batches(STREAM, 10, 4), {"end": 14}, "says 4 batches, the index 5"),
        (batches(8, 10, 5), {}, "batch of stream 8 in a block of stream 7"),
        (
            [*batches(STREAM, 10, 2), *batches(STREAM, 13, 2)],
            {"count": 4},
            "batch at offset 13, expected 12",
        ),
        (batches(STREAM, 10, 5), {"size": 300}, "says 665 bytes of data, the index 300"),
    ],
)
def test_what_does_not_agree_with_the_index(made, entry, text):
    content = block(made)
    damage, _ = scan(content[: entry.get("size")], entry_of(content, **entry))
    assert any(text in it.what for it in damage), damage
    assert all("block of stream 7 offsets 10 to" in it.what for it in damage)


def test_a_block_that_is_none():
    damage, heads = scan(bytes(200), entry_of(bytes(200)))
    assert "not a data block" in damage[0].what
    assert damage[0].position == AT
    assert heads == []


def test_the_batches_of_a_header_that_lies_about_their_number():
    content = block(batches(STREAM, 10, 5), count=6)
    damage, _ = scan(content, entry_of(content, count=6))
    assert [it.what.partition(": ")[2] for it in damage] == ["5 batches, the index says 6"]


def test_what_is_reported_of_one_block_is_bounded():
    made = [it for n in range(50) for it in batches(STREAM, 10 + 2 * n, 1)]
    content = block(made)
    damage, _ = scan(content, entry_of(content, end=109, count=50))
    assert len(damage) == MAX_DAMAGE_PER_BLOCK
