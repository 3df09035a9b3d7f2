"""What the tools show of a ring: blocks, records and their state, and what lies between."""

from dataclasses import replace

import pytest

from headrace.wal.layout import PAGE_BYTES, RING_POSITION, Superblock
from headrace.wal.tools.ring_walk import ZEROS, BlockSeen, PagesSeen, RecordState, RingWalk, Seen
from tests.unit.wal.log_files import LOG, RING_PAGES, block, image, two_blocks

GENERATION = replace(LOG, generation_id=LOG.generation_id + 1)
LAP = RING_PAGES * PAGE_BYTES


def walked(
    content: bytes | bytearray,
    log: Superblock = LOG,
    *,
    whole_lap: bool = False,
    step: int = LAP,
) -> list[Seen]:
    walk = RingWalk(log, whole_lap=whole_lap)
    view = memoryview(content)
    seen: list[Seen] = []
    while (wanted := walk.wants()) is not None:
        offset, min_size = wanted
        size = min(max(min_size, step), log.ring.distance_to_end(offset))
        position = log.ring.position(offset)
        seen += walk.feed(view[position : position + size])
    seen += walk.finish()
    return seen


def described(seen: list[Seen]) -> list[object]:
    return [
        (item.offset, item.pages, item.what)
        if isinstance(item, PagesSeen)
        else (item.offset, [(bytes(r.body), r.state.value) for r in item.records])
        for item in seen
    ]


@pytest.mark.parametrize("step", [PAGE_BYTES, 3 * PAGE_BYTES, LAP])
def test_blocks_and_their_records_whatever_is_read_at_once(step: int) -> None:
    large = bytes(range(256)) * 100
    content = image(
        (0, block([b"one", b"two"], 0)),
        (PAGE_BYTES, block([large], PAGE_BYTES)),
    )
    assert described(walked(content, step=step)) == [
        (0, [(b"one", "intact"), (b"two", "intact")]),
        (PAGE_BYTES, [(large, "intact")]),
    ]


def test_places_are_those_of_the_device_and_go_around_the_ring() -> None:
    head = 5 * LAP - PAGE_BYTES
    log = replace(LOG, head_offset=head, confirmed_offset=head)
    content = image(
        (head, block([b"last"], head, log=log)),
        (5 * LAP, block([b"first"], 5 * LAP, log=log)),
        log=log,
    )
    one, two = walked(content, log)
    assert isinstance(one, BlockSeen)
    assert isinstance(two, BlockSeen)
    assert (one.offset, one.position, one.end) == (head, RING_POSITION + LAP - PAGE_BYTES, 5 * LAP)
    assert (two.offset, two.position) == (5 * LAP, RING_POSITION)
    assert two.records[0].position == RING_POSITION + 56


def test_released_records_are_told_apart() -> None:
    log = replace(LOG, trim_offset=56, confirmed_offset=PAGE_BYTES)
    (first, _) = walked(two_blocks(log), log)
    assert isinstance(first, BlockSeen)
    assert [r.state for r in first.records] == [RecordState.RELEASED, RecordState.INTACT]


def test_damage_is_shown_and_what_follows() -> None:
    content = image(
        (0, block([b"one", b"two", b"three"], 0)),
        (PAGE_BYTES, block([b"four"], PAGE_BYTES)),
    )
    content[RING_POSITION + 56 + 24] ^= 1  # the first body
    content[RING_POSITION + 56 + 27] ^= 1  # the second header
    assert described(walked(content)) == [
        (0, [(b"nne", "body damaged"), (b"", "header damaged")]),
        (PAGE_BYTES, [(b"four", "intact")]),
    ]


def test_a_length_that_leaves_the_block_is_a_damaged_header() -> None:
    """Its checksum may even be right: the block's length is what was written at once."""
    short = bytearray(block([b"x" * 5000], 0))
    whole = block([b"one"], 0)
    short[: len(whole)] = whole[:56] + bytes(short[56:100]) + whole[100:]
    assert described(walked(image((0, bytes(short[:PAGE_BYTES]))))) == [
        (0, [(b"", "header damaged")])
    ]


def test_a_gap_is_shown_between_blocks_only() -> None:
    content = image(
        (0, block([b"one"], 0)),
        (3 * PAGE_BYTES, block([b"four"], 3 * PAGE_BYTES)),
    )
    assert described(walked(content)) == [
        (0, [(b"one", "intact")]),
        (PAGE_BYTES, 2, ZEROS),
        (3 * PAGE_BYTES, [(b"four", "intact")]),
    ]


def test_the_walk_looks_as_far_as_a_block_can_be_and_no_further() -> None:
    window_pages = LOG.window_bytes // PAGE_BYTES
    seen_at, unseen_at = PAGE_BYTES * (2 * window_pages), PAGE_BYTES * (2 * window_pages + 1)
    first = (0, block([b"one"], 0))
    near = image(first, (seen_at, block([b"near"], seen_at)))
    far = image(first, (unseen_at, block([b"far"], unseen_at)))
    assert len(walked(near)) == 3
    assert len(walked(far)) == 1
    assert len(walked(far, whole_lap=True)) == 4


def test_every_page_of_a_lap_says_what_it_is() -> None:
    head = LAP
    log = replace(LOG, head_offset=head, confirmed_offset=head, sequence=7)
    page = PAGE_BYTES
    newer = replace(log, sequence=8)
    content = image(
        (0 * page, block([b"now"], head, log=log)),
        (1 * page, block([b"old"], page, log=log)),
        (2 * page, block([b"old"], 2 * page, log=log)),
        (3 * page, block([b"other"], head + 3 * page, log=GENERATION)),
        (4 * page, b"\xff" * page),
        (5 * page, block([b"later"], 2 * LAP + 5 * page, log=log)),
        (6 * page, block([b"newer"], head + 6 * page, log=newer)),
        log=log,
    )
    assert described(walked(content, log, whole_lap=True)) == [
        (head, [(b"now", "intact")]),
        (head + 1 * page, 2, "a block of this generation that this lap has not overwritten yet"),
        (head + 3 * page, 1, "a block from before the last reset"),
        (head + 4 * page, 1, "no block"),
        (head + 5 * page, 1, "a block of this generation that only a newer superblock allows"),
        (
            head + 6 * page,
            1,
            "a block of this generation that names a newer superblock than the newest found",
        ),
        (head + 7 * page, RING_PAGES - 7, ZEROS),
    ]


def test_any_bytes_can_be_walked() -> None:
    import random

    rng = random.Random(5)
    for _ in range(20):
        content = two_blocks()
        for _ in range(40):
            content[rng.randrange(RING_POSITION, RING_POSITION + 2 * PAGE_BYTES)] = rng.randrange(
                256
            )
        seen = walked(content, whole_lap=True)
        assert sum((item.end - item.offset) for item in seen) == LAP
