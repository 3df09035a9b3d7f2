"""Damage whose loss is accepted: all that is intact comes back, and what does not is counted."""

import random
from dataclasses import dataclass, replace

import pytest

from headrace.wal.errors import WalCorruptError
from headrace.wal.framing import BLOCK_HEADER_BYTES, RECORD_HEADER_BYTES
from headrace.wal.layout import PAGE_BYTES
from headrace.wal.ring.recovery import MAX_LOST_RANGES, Scan, ScanSummary
from tests.simulation.ring_image import (
    GENERATION,
    HEAD,
    PAGES,
    RING_BYTES,
    SUPERBLOCK,
    Image,
    scan,
)


def accepted(image: Image, superblock=SUPERBLOCK, **options) -> tuple[list[bytes], ScanSummary]:
    return scan(image, superblock, accept_loss=True, **options)


def test_a_sound_log_is_read_as_ever_and_has_lost_nothing() -> None:
    image = Image.blank()
    second = image.put(HEAD, b"a")
    third = image.put(second, b"b", confirmed=second)
    image.put(third + PAGE_BYTES, b"d", confirmed=third)  # a gap that nobody was told of
    bodies, summary = accepted(image, step_bytes=PAGE_BYTES)
    assert bodies == scan(image)[0] == [b"a", b"b", b"d"]
    assert (summary.lost, summary.lost_bytes, summary.superblock_lost) == ([], 0, False)


def test_a_lost_block_is_named_and_the_others_are_handed_out() -> None:
    image = Image.blank()
    second = image.put(HEAD, b"a")
    third = image.put(second, b"b" * 5000, confirmed=second)
    image.put(third, b"c", confirmed=third)
    image.damage(second)
    with pytest.raises(WalCorruptError, match=f"headrace.wal.accept.loss={GENERATION:016x}"):
        scan(image)
    bodies, summary = accepted(image)
    assert bodies == [b"a", b"c"]
    assert summary.lost == [(second, third)]
    assert (summary.lost_ranges, summary.lost_bytes) == (1, third - second)


def test_lost_records_are_named_to_the_byte() -> None:
    image = Image.blank()
    second = image.put(HEAD, b"aaa", b"bbb", b"ccc", b"ddd")
    image.put(second, b"next", confirmed=second)
    record_bytes = RECORD_HEADER_BYTES + 3
    first = HEAD + BLOCK_HEADER_BYTES
    image.damage(first + RECORD_HEADER_BYTES)  # the first body
    image.damage(first + 2 * record_bytes)  # the third header: the fourth cannot be found either
    bodies, summary = accepted(image)
    assert bodies == [b"bbb", b"next"]
    assert summary.lost == [
        (first, first + record_bytes),
        (first + 2 * record_bytes, first + 4 * record_bytes),
    ]


def test_a_lost_tail_is_named_as_far_as_it_was_acknowledged() -> None:
    image = Image.blank()
    second = image.put(HEAD, b"a")
    image.put(second, b"b" * 9000)
    image.damage(second, 3 * PAGE_BYTES)
    told = second + 2 * PAGE_BYTES
    superblock = replace(SUPERBLOCK, confirmed_offset=told)
    with pytest.raises(WalCorruptError, match="acknowledged tail lost"):
        scan(image, superblock)
    bodies, summary = accepted(image, superblock)
    assert bodies == [b"a"]
    assert summary.lost == [(second, told)]


def test_damage_wider_than_the_window_does_not_hide_what_is_behind_it() -> None:
    image = Image.blank()
    second = image.put(HEAD, b"a")
    late = second + 12 * PAGE_BYTES
    image.put(late, b"z", confirmed=late)
    bodies, summary = accepted(image)
    assert bodies == [b"a", b"z"]
    assert summary.lost == [(second, late)]


def test_a_gap_that_nobody_was_told_of_is_no_loss() -> None:
    image = Image.blank()
    second = image.put(HEAD, b"a")
    image.put(second + 6 * PAGE_BYTES, b"b")
    with pytest.raises(WalCorruptError, match="gap wider than the window"):
        scan(image)
    bodies, summary = accepted(image)
    assert bodies == [b"a", b"b"]
    assert summary.lost == []


def test_the_unused_rest_of_a_lap_is_not_counted() -> None:
    head = HEAD + 13 * PAGE_BYTES
    superblock = replace(SUPERBLOCK, head_offset=head, confirmed_offset=head, trim_offset=head - 1)
    image = Image.blank()
    second = image.put(head, b"a", confirmed=head)
    rest = image.put(second, b"b", confirmed=second)
    last = image.put(HEAD + RING_BYTES, b"c" * 6000, previous_end=rest, confirmed=rest)
    image.put(last, b"d", confirmed=last)
    image.damage(second)
    bodies, summary = accepted(image, superblock)
    assert bodies == [b"a", b"c" * 6000, b"d"]
    assert summary.lost == [(second, rest)]


def test_what_is_behind_a_loss_is_not_kept_back() -> None:
    """It may be the whole ring: memory is bounded by what the reader of it keeps."""
    image = Image.blank()
    second = image.put(HEAD, b"a")
    third = image.put(second, b"b", confirmed=second)
    image.put(third, b"c", confirmed=third)
    image.damage(second)
    walk = Scan(SUPERBLOCK, path="image", accept_loss=True)
    at = HEAD % RING_BYTES
    records = walk.feed(memoryview(image.memory)[at : at + 3 * PAGE_BYTES])
    assert [bytes(record.body) for record in records] == [b"a", b"c"]
    assert walk.summary.lost == [(second, third)], "told as soon as it is known"


def test_blocks_that_only_a_lost_superblock_allowed_are_handed_out_in_order() -> None:
    """The newest superblock had moved the head; the ring went on into the next lap."""
    image = Image.blank()
    at = HEAD
    for page in range(PAGES):
        at = image.put(at, b"old %d" % page, confirmed=at)
    for page in range(3):
        at = image.put(at, b"new %d" % page, confirmed=at, sequence=11)
    superblock = replace(SUPERBLOCK, confirmed_offset=HEAD + 5 * PAGE_BYTES)
    with pytest.raises(WalCorruptError, match="overwritten by a later lap"):
        scan(image, superblock)
    bodies, summary = accepted(image, superblock)
    assert bodies == [
        *(b"old %d" % page for page in range(3, PAGES)),
        *(b"new %d" % page for page in range(3)),
    ]
    assert summary.superblock_lost
    assert summary.lost == [], "what was overwritten had been released"


def test_a_loss_behind_a_lost_superblock_is_counted_too() -> None:
    image = Image.blank()
    at = HEAD
    for page in range(PAGES + 2):
        at = image.put(at, b"%d" % page, confirmed=at, sequence=10 + page // PAGES)
    image.damage(HEAD + 6 * PAGE_BYTES)
    bodies, summary = accepted(image)
    assert bodies == [b"%d" % page for page in range(2, PAGES + 2) if page != 6]
    assert summary.lost == [(HEAD + 6 * PAGE_BYTES, HEAD + 7 * PAGE_BYTES)]


def test_a_block_at_the_wrong_place_tells_what_it_has_overwritten() -> None:
    """Found by the enumeration of crash states: a write that the device put where another block lay."""
    image = Image.blank()
    at = image.put(HEAD, b"kept")
    end = image.put(at, b"overwritten")
    image.put(end, b"misdirected", confirmed=end)
    here, home = at % RING_BYTES, end % RING_BYTES
    image.memory[here : here + PAGE_BYTES] = image.memory[home : home + PAGE_BYTES]
    image.memory[home : home + PAGE_BYTES] = bytes(PAGE_BYTES)
    bodies, summary = accepted(image)
    assert bodies == [b"kept"]
    assert summary.lost == [(at, end)]


def test_a_block_that_tells_of_a_lost_superblock_is_handed_out() -> None:
    image = Image.blank()
    image.put(HEAD, b"a", sequence=11)
    bodies, summary = accepted(image)
    assert bodies == [b"a"]
    assert (summary.superblock_lost, summary.lost) == (True, [])


def test_released_records_stay_released_and_other_lives_stay_over() -> None:
    image = Image.blank()
    second = image.put(HEAD, b"one", b"two")
    image.put(second, b"before the reset", generation=GENERATION + 1)
    trim = HEAD + BLOCK_HEADER_BYTES
    bodies, _ = accepted(image, replace(SUPERBLOCK, trim_offset=trim))
    assert bodies == [b"two"]


def test_no_more_ranges_are_named_than_there_is_room_for() -> None:
    summary = ScanSummary()
    for number in range(MAX_LOST_RANGES + 5):
        summary.add_loss(number * 10, number * 10 + 3)
    assert len(summary.lost) == MAX_LOST_RANGES
    assert summary.lost_ranges == MAX_LOST_RANGES + 5
    assert summary.lost_bytes == 3 * (MAX_LOST_RANGES + 5)


@dataclass
class Filled:
    """A ring full of blocks, and where their records lie."""

    image: Image
    blocks: list[tuple[int, int]]  # begin and end of the header and the records
    records: list[tuple[int, int, int, bytes]]  # index of the block, begin, end, body
    superblock: object


def filled(rng: random.Random) -> Filled:
    image, blocks, records = Image.blank(), [], []
    at = HEAD
    while (pages := HEAD + RING_BYTES - at) > 0:
        bodies = []
        room = min(pages, rng.choice([1, 1, 2, 3]) * PAGE_BYTES) - BLOCK_HEADER_BYTES
        while room > RECORD_HEADER_BYTES + 1 and len(bodies) < 4:
            size = rng.randrange(1, room - RECORD_HEADER_BYTES + 1)
            bodies.append(rng.randbytes(size))
            room -= RECORD_HEADER_BYTES + size
        begin = at + BLOCK_HEADER_BYTES
        for body in bodies:
            end = begin + RECORD_HEADER_BYTES + len(body)
            records.append((len(blocks), begin, end, body))
            begin = end
        blocks.append((at, begin))
        at = image.put(at, *bodies, confirmed=at)
    return Filled(image, blocks, records, replace(SUPERBLOCK, confirmed_offset=at))


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_damaged_the_rest_comes_back_and_the_loss_covers_the_damage(seed: int) -> None:
    rng = random.Random(seed)
    ring = filled(rng)
    damaged = set()
    for _ in range(rng.choice([1, 1, 2, 4])):
        size = rng.choice([1, 1, 40, PAGE_BYTES, 3 * PAGE_BYTES])
        begin = HEAD + rng.randrange(RING_BYTES - size)
        damaged |= set(range(begin, begin + size))
    for offset in damaged:
        ring.image.damage(offset)

    def is_intact(begin: int, end: int) -> bool:
        return damaged.isdisjoint(range(begin, end))

    expected, lost, broken = [], set(), None
    for block, begin, end, body in ring.records:
        block_begin = ring.blocks[block][0]
        has_header = is_intact(block_begin, block_begin + BLOCK_HEADER_BYTES)
        if not is_intact(begin, begin + RECORD_HEADER_BYTES):
            broken = block  # nothing says where its next record begins
        if has_header and broken != block and is_intact(begin, end):
            expected.append(body)
        else:
            lost |= set(range(begin, end))
    bodies, summary = accepted(
        ring.image, ring.superblock, step_bytes=rng.choice([PAGE_BYTES, RING_BYTES])
    )
    assert bodies == expected
    named = {offset for begin, end in summary.lost for offset in range(begin, end)}
    assert lost <= named
    assert summary.lost_bytes == len(named), "no byte twice"
    for block_begin, block_end in ring.blocks:
        if is_intact(block_begin, block_end):
            assert named.isdisjoint(range(block_begin, block_end))
