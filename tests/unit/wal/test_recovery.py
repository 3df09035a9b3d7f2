"""The decision table in full, and the walk on images made by hand."""

from dataclasses import replace
from itertools import product

import pytest
from crc32c import crc32c

from headrace.wal.errors import WalCorruptError
from headrace.wal.framing import BLOCK_HEADER_BYTES, RECORD_HEADER_BYTES
from headrace.wal.layout import PAGE_BYTES, Ring, ShutdownType
from headrace.wal.ring.recovery import CASES, Page, Scan, ScanAction, decide
from tests.simulation.ring_image import GENERATION, HEAD, PAGES, RING_BYTES, SUPERBLOCK, Image, scan

# --- the table


@pytest.mark.parametrize("page", Page)
def test_exactly_one_case_applies(page: Page) -> None:
    for loses, window, in_scan, accepted in product((False, True), repeat=4):
        matching = [
            case
            for case in CASES
            if page in case.pages
            and case.loses_confirmed.accepts(actual=loses)
            and case.in_window.accepts(actual=window)
            and case.in_scan.accepts(actual=in_scan)
            and case.loss_accepted.accepts(actual=accepted)
        ]
        assert len(matching) == 1, (page, loses, window, in_scan, accepted, matching)
        decided = decide(
            page,
            loses_confirmed=loses,
            in_window=window,
            in_scan=in_scan,
            loss_accepted=accepted,
        )
        assert decided is matching[0]
        assert decided.verdict is expected_verdict(page, loses, window, in_scan, accepted)


def expected_verdict(
    page: Page, loses: bool, window: bool, in_scan: bool, accepted: bool
) -> ScanAction:
    """The rules in words, written independently of the table."""
    if accepted:
        if not in_scan:
            return ScanAction.STOP
        is_block = page in {Page.BLOCK, Page.NEWER_SUPERBLOCK}
        return ScanAction.REPLAY if is_block else ScanAction.PROBE
    if not in_scan:
        return ScanAction.REFUSE if loses else ScanAction.STOP
    if page in {Page.NEWER_SUPERBLOCK, Page.LATER_LAP}:
        return ScanAction.REFUSE
    if page is Page.BLOCK:
        return ScanAction.REPLAY if window and not loses else ScanAction.REFUSE
    return ScanAction.PROBE


# --- the walk


def test_a_blank_ring_holds_nothing() -> None:
    bodies, summary = scan(Image.blank())
    assert bodies == []
    assert summary.end_offset == HEAD


@pytest.mark.parametrize("step_bytes", [PAGE_BYTES, 2 * PAGE_BYTES, RING_BYTES])
def test_blocks_are_followed_whatever_the_reads(step_bytes: int) -> None:
    image = Image.blank()
    at = image.put(HEAD, b"one", b"two")
    at = image.put(at, b"x" * 9000)
    at = image.put(at, b"three")
    bodies, summary = scan(image, step_bytes=step_bytes)
    assert bodies == [b"one", b"two", b"x" * 9000, b"three"]
    assert (summary.blocks, summary.gaps, summary.end_offset) == (3, 0, at)


def test_released_records_are_skipped() -> None:
    image = Image.blank()
    image.put(HEAD, b"one", b"two", b"three")
    second = HEAD + BLOCK_HEADER_BYTES + RECORD_HEADER_BYTES + 3
    assert scan(image, replace(SUPERBLOCK, trim_offset=second - 1))[0] == [b"two", b"three"]
    assert scan(image, replace(SUPERBLOCK, trim_offset=second))[0] == [b"three"]


def test_a_graceful_shutdown_needs_no_scan() -> None:
    image = Image.blank()
    image.put(HEAD, b"stale")
    assert Scan(replace(SUPERBLOCK, shutdown=ShutdownType.GRACEFUL), path="").wants() is None


def test_an_earlier_lap_ends_the_log() -> None:
    image = Image.blank()
    image.put(HEAD + PAGE_BYTES - RING_BYTES, b"stale")
    at = image.put(HEAD, b"new")
    bodies, summary = scan(image)
    assert bodies == [b"new"]
    assert summary.end_offset == at
    assert summary.earlier_lap_pages == 1


def test_another_life_is_told_apart_even_at_the_same_offset() -> None:
    image = Image.blank()
    image.put(HEAD, b"before the reset", generation=GENERATION + 1)
    bodies, summary = scan(image)
    assert bodies == []
    assert summary.other_generation_pages == 1


def test_the_log_wraps() -> None:
    head = HEAD + 14 * PAGE_BYTES
    superblock = replace(SUPERBLOCK, head_offset=head, confirmed_offset=head, trim_offset=head - 1)
    image = Image.blank()
    at = image.put(head, b"a", confirmed=head)
    at = image.put(at, b"b", confirmed=head)
    at = image.put(at, b"c", confirmed=head)
    assert scan(image, superblock)[0] == [b"a", b"b", b"c"]


def test_the_unused_rest_of_a_lap_is_no_gap() -> None:
    """Not even if everything behind it was acknowledged."""
    head = HEAD + 14 * PAGE_BYTES
    superblock = replace(SUPERBLOCK, head_offset=head, confirmed_offset=head, trim_offset=head - 1)
    image = Image.blank()
    rest = image.put(head, b"a", confirmed=head)
    at = image.put(HEAD + RING_BYTES, b"b" * 6000, previous_end=rest, confirmed=rest)
    image.put(at, b"c", confirmed=at)
    bodies, summary = scan(image, superblock)
    assert bodies == [b"a", b"b" * 6000, b"c"]
    assert summary.gaps == 0


def test_a_full_ring_is_read_once_around() -> None:
    image = Image.blank()
    at = HEAD
    while at < HEAD + RING_BYTES:
        at = image.put(at, b"x")
    bodies, summary = scan(image)
    assert len(bodies) == PAGES
    assert summary.end_offset == HEAD + RING_BYTES


def test_a_missing_block_is_a_gap_and_what_follows_is_kept() -> None:
    image = Image.blank()
    at = image.put(HEAD, b"a")
    at = image.put(at + PAGE_BYTES, b"c", confirmed=at)
    bodies, summary = scan(image)
    assert bodies == [b"a", b"c"]
    assert summary.gaps == 1


def test_a_torn_tail_ends_the_log() -> None:
    image = Image.blank()
    at = image.put(HEAD, b"a")
    image.put(at, b"b" * 9000, confirmed=at)
    image.damage(at + 8000)
    bodies, summary = scan(image)
    assert bodies == [b"a"]
    assert summary.gaps == 1


def test_a_damaged_body_costs_its_record_only() -> None:
    image = Image.blank()
    image.put(HEAD, b"aaa", b"bbb", b"ccc")
    image.damage(HEAD + BLOCK_HEADER_BYTES + RECORD_HEADER_BYTES + 3 + RECORD_HEADER_BYTES)
    assert scan(image)[0] == [b"aaa", b"ccc"]


def test_a_damaged_record_header_costs_the_rest_of_the_block() -> None:
    image = Image.blank()
    at = image.put(HEAD, b"aaa", b"bbb", b"ccc")
    image.put(at, b"next")
    image.damage(HEAD + BLOCK_HEADER_BYTES + RECORD_HEADER_BYTES + 3)
    bodies, summary = scan(image)
    assert bodies == [b"aaa", b"next"]
    assert summary.gaps == 1


@pytest.mark.parametrize(
    "place",
    [0, BLOCK_HEADER_BYTES, BLOCK_HEADER_BYTES + RECORD_HEADER_BYTES],
    ids=["block header", "record header", "body"],
)
def test_damage_below_what_a_later_block_tells_is_refused(place: int) -> None:
    image = Image.blank()
    second = image.put(HEAD, b"a")
    third = image.put(second, b"b", confirmed=second)
    image.put(third, b"c", confirmed=third)
    image.damage(second + place)
    with pytest.raises(WalCorruptError, match="acknowledged data lost") as refusal:
        scan(image)
    assert refusal.value.offset == second + (place and BLOCK_HEADER_BYTES)
    assert refusal.value.position == Ring(RING_BYTES).position(refusal.value.offset)
    assert "do not format" in str(refusal.value)


@pytest.mark.parametrize("place", [0, BLOCK_HEADER_BYTES])
def test_damage_below_what_the_superblock_tells_is_refused(place: int) -> None:
    image = Image.blank()
    second = image.put(HEAD, b"a")
    end = image.put(second, b"b", confirmed=second)
    image.damage(second + place)
    superblock = replace(SUPERBLOCK, confirmed_offset=end)
    with pytest.raises(WalCorruptError, match="acknowledged tail lost"):
        scan(image, superblock)
    assert scan(image, replace(superblock, confirmed_offset=second))[0] == [b"a"]


def test_nothing_behind_a_gap_is_handed_out_before_the_verdict() -> None:
    image = Image.blank()
    second = image.put(HEAD, b"a")
    third = image.put(second + PAGE_BYTES, b"c", confirmed=second)
    image.put(third, b"d", confirmed=third)
    walk = Scan(SUPERBLOCK, path="image")
    handed_out: list[bytes] = []

    def go_on() -> None:
        while (wanted := walk.wants()) is not None:
            at = wanted[0] % RING_BYTES
            records = walk.feed(memoryview(image.memory)[at : at + PAGE_BYTES])
            handed_out.extend(bytes(record.body) for record in records)

    with pytest.raises(WalCorruptError):
        go_on()
    assert handed_out == [b"a"]


def test_a_block_further_than_the_window_behind_a_gap_is_refused() -> None:
    image = Image.blank()
    second = image.put(HEAD, b"a")
    image.put(second + 5 * PAGE_BYTES, b"b")
    with pytest.raises(WalCorruptError, match="gap wider than the window"):
        scan(image)


def test_the_search_ends_behind_the_window() -> None:
    """Beyond it and its equal nothing is looked at: a recovery costs no more than that."""
    walk = Scan(SUPERBLOCK, path="image")
    fed = 0
    while walk.wants() is not None:
        walk.feed(memoryview(bytes(PAGE_BYTES)))
        fed += 1
    assert fed == 2 * SUPERBLOCK.window_bytes // PAGE_BYTES + 1


@pytest.mark.parametrize("step_bytes", [PAGE_BYTES, 3 * PAGE_BYTES, RING_BYTES])
def test_the_search_ends_there_whatever_the_reads(step_bytes: int) -> None:
    image = Image.blank()
    second = image.put(HEAD, b"a")
    far = second + 2 * SUPERBLOCK.window_bytes + 2 * PAGE_BYTES
    image.put(far, b"no write of this window", confirmed=far)
    image.put(far - PAGE_BYTES, b"stale", generation=GENERATION + 1)
    bodies, summary = scan(image, step_bytes=step_bytes)
    assert (bodies, summary.other_generation_pages) == ([b"a"], 0)


def test_a_block_that_tells_of_a_newer_superblock_is_refused() -> None:
    image = Image.blank()
    image.put(HEAD, b"a", sequence=11)
    with pytest.raises(WalCorruptError, match="newest superblock lost"):
        scan(image)


def test_a_later_lap_is_refused() -> None:
    image = Image.blank()
    image.put(HEAD + RING_BYTES, b"overwrote it")
    with pytest.raises(WalCorruptError, match="overwritten by a later lap"):
        scan(image)


def test_a_body_that_looks_like_a_block_is_not_taken_for_one() -> None:
    """Only whoever knows the generation id and the offset could forge one."""
    forged = Image.blank()
    forged.put(HEAD + PAGE_BYTES, b"forged", generation=GENERATION + 1)
    inner = bytes(forged.memory[PAGE_BYTES : 2 * PAGE_BYTES])
    image = Image.blank()
    body = bytes(PAGE_BYTES - BLOCK_HEADER_BYTES - RECORD_HEADER_BYTES) + inner
    image.put(HEAD, body)
    image.damage(HEAD)  # so that the pages inside are looked at
    bodies, summary = scan(image)
    assert bodies == []
    assert summary.other_generation_pages == 1


def test_scanning_twice_gives_the_same() -> None:
    image = Image.blank()
    at = image.put(HEAD, b"a")
    image.put(at + PAGE_BYTES, b"c")
    before = bytes(image.memory)
    assert scan(image) == scan(image)
    assert bytes(image.memory) == before


def test_a_block_that_went_into_another_tells_what_it_has_damaged() -> None:
    """Found by the enumeration of crash states: else the loss would pass for a torn tail."""
    image = Image.blank()
    second = image.put(HEAD, b"a", b"b" * 4000)  # 25 bytes of it lie in the second page
    image.put(second, b"misdirected", confirmed=second)
    here, home = (HEAD + PAGE_BYTES) % RING_BYTES, second % RING_BYTES
    image.memory[here : here + PAGE_BYTES] = image.memory[home : home + PAGE_BYTES]
    image.memory[home : home + PAGE_BYTES] = bytes(PAGE_BYTES)
    with pytest.raises(WalCorruptError, match="acknowledged tail lost"):
        scan(image)


@pytest.mark.parametrize("page", [0, 1, 2])
def test_a_superblock_that_went_into_the_ring_is_known_to_be_lost(page: int) -> None:
    """Found by the enumeration of crash states: it may have overwritten what only it told of."""
    newer = replace(SUPERBLOCK, sequence=11, confirmed_offset=HEAD + 3 * PAGE_BYTES)
    image = Image.blank()
    image.put(image.put(HEAD, b"a"), b"b" * 5000)
    at = HEAD % RING_BYTES + page * PAGE_BYTES
    image.memory[at : at + 512] = newer.encode()[:512]
    with pytest.raises(WalCorruptError, match=r"newest superblock lost|acknowledged tail lost"):
        scan(image)
    bodies, summary = scan(image, accept_loss=True)
    assert bodies == [[b"b" * 5000], [b"a"], [b"a"]][page]
    assert summary.superblock_lost
    assert summary.lost_ranges == 1


@pytest.mark.parametrize("sequence", [9, 10])
def test_a_superblock_in_the_ring_that_is_not_newer_says_nothing(sequence: int) -> None:
    image = Image.blank()
    at = image.put(HEAD, b"a") % RING_BYTES
    stale = replace(SUPERBLOCK, sequence=sequence, confirmed_offset=HEAD + 5 * PAGE_BYTES)
    image.memory[at : at + PAGE_BYTES] = stale.encode()
    assert scan(image)[0] == [b"a"]


def test_what_users_send_is_not_taken_for_a_superblock_of_this_life() -> None:
    image = Image.blank()
    at = image.put(HEAD, b"a") % RING_BYTES
    foreign = replace(
        SUPERBLOCK, sequence=99, generation_id=GENERATION + 1, confirmed_offset=HEAD + PAGE_BYTES
    )
    image.memory[at : at + PAGE_BYTES] = foreign.encode()
    later = bytearray(foreign.encode())
    later[11] = 2  # of the format version
    later[160:164] = crc32c(bytes(later[:160])).to_bytes(4, "big")
    image.memory[at + PAGE_BYTES : at + 2 * PAGE_BYTES] = later
    assert scan(image)[0] == [b"a"]
