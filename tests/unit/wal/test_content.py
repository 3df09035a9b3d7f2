"""What a device holds, judged by its ends: nothing else is ever taken for a log or for nothing."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from headrace.wal.errors import WalVersionError
from headrace.wal.framing import BlockHeader, write_block_header
from headrace.wal.layout import FORMATTING_SLOT, PAGE_BYTES, RING_POSITION
from headrace.wal.ring.content import (
    END_BYTES,
    MAX_SAMPLES,
    SAMPLE_BYTES,
    Content,
    Kind,
    examine,
    examine_between,
    samples,
    steps_between,
    used_end,
)
from headrace.wal.ring.foreign import MARKS, Mark, identify
from tests.unit.wal.test_layout import EXAMPLE

KIB = 1024
SIZE = 4 * END_BYTES

Change = Callable[[bytearray], None]


def judged(image: bytes | bytearray) -> Content:
    """Judge a whole device as `load_superblock` does."""
    view = memoryview(image)
    end = len(image) // PAGE_BYTES * PAGE_BYTES
    found = examine(view[: min(end, END_BYTES)], view[max(0, end - END_BYTES) : end], len(image))
    if found.kind is not Kind.BLANK:
        return found
    between = (
        examine_between(view[start:last], start)
        for start, last in samples(used_end(len(image), None))
    )
    return next((each for each in between if each is not None), found)


def with_bytes(image: bytearray, position: int, content: bytes) -> bytearray:
    image[position : position + len(content)] = content
    return image


def log_image() -> bytearray:
    """A device with both superblocks."""
    image = bytearray(SIZE)
    for copy in (EXAMPLE, replace(EXAMPLE, sequence=EXAMPLE.sequence + 1)):
        with_bytes(image, copy.slot_position, copy.encode())
    return image


def block(generation_id: int = 1) -> bytes:
    memory = memoryview(bytearray(PAGE_BYTES))
    write_block_header(
        memory,
        BlockHeader(
            length=100,
            generation_id=generation_id,
            offset=0,
            previous_end=0,
            confirmed_offset=0,
            superblock_sequence=1,
            records=1,
        ),
    )
    return bytes(memory)


@pytest.mark.parametrize("size", [0, PAGE_BYTES, 10 * PAGE_BYTES + 100, SIZE, SIZE + 512])
def test_all_zeros_are_blank(size: int) -> None:
    assert judged(bytes(size)).kind is Kind.BLANK


@pytest.mark.parametrize(
    "position", [0, 100, RING_POSITION, END_BYTES - 1, SIZE - END_BYTES, SIZE - 1]
)
def test_a_single_byte_at_either_end_is_not_blank(position: int) -> None:
    found = judged(with_bytes(bytearray(SIZE), position, b"x"))
    assert (found.kind, found.what, found.position) == (
        Kind.FOREIGN,
        "data of an unknown kind",
        position,
    )


@pytest.mark.parametrize("start", [63 * 512, END_BYTES, 2 * END_BYTES])
@pytest.mark.parametrize(
    ("position", "magic", "name"),
    [
        (0x438, b"\x53\xef", "an ext2, ext3 or ext4 file system"),
        (0, b"XFSB", "an XFS file system"),
        (64 * KIB + 0x40, b"_BHRfS_M", "a Btrfs file system"),
        (512, b"LABELONE", "an LVM2 physical volume"),
    ],
)
def test_a_partition_is_found_though_its_table_is_gone(
    start: int, position: int, magic: bytes, name: str
) -> None:
    found = judged(with_bytes(bytearray(SIZE), start + position, magic))
    assert (found.kind, found.what, found.position) == (Kind.FOREIGN, name, start + position)


def test_blocks_of_a_log_whose_beginning_was_wiped_are_damage() -> None:
    found = judged(with_bytes(bytearray(SIZE), 2 * END_BYTES + PAGE_BYTES, block()))
    assert (found.kind, found.position) == (Kind.DAMAGED, 2 * END_BYTES)


def test_of_what_lies_between_every_beginning_is_looked_at() -> None:
    """Of a small device each MiB's."""
    for position in range(END_BYTES, SIZE - END_BYTES, END_BYTES):
        for at in (position, position + SAMPLE_BYTES - 1):
            found = judged(with_bytes(bytearray(SIZE), at, b"x"))
            assert (found.kind, found.position) == (Kind.FOREIGN, at)


@pytest.mark.parametrize("mib", [0, 1, 2, 3, 4, 513, 514, 515, 2048, 1 << 24])
def test_samples_are_bounded_in_order_and_spread(mib: int) -> None:
    stop = used_end(mib * END_BYTES, None)
    taken = samples(stop)
    assert len(taken) <= MAX_SAMPLES + 2
    assert sum(last - start for start, last in taken) <= END_BYTES + MAX_SAMPLES * SAMPLE_BYTES
    ends = [END_BYTES]
    for start, last in taken:
        assert ends[-1] <= start < last <= stop
        ends.append(last)
    if taken:
        assert taken[0] == (END_BYTES, min(2 * END_BYTES, stop))
        holes = [start - last for last, (start, _) in zip(ends, taken, strict=False)]
        step = max(1, -(-(mib - 1) // MAX_SAMPLES)) * END_BYTES
        assert max([*holes, stop - ends[-1]]) <= step


def test_what_lies_behind_the_log_is_not_looked_at() -> None:
    assert used_end(8 * END_BYTES, 3 * END_BYTES + 5) == 3 * END_BYTES
    assert used_end(8 * END_BYTES, 9 * END_BYTES) == 7 * END_BYTES


def test_steps_are_everything() -> None:
    stop = 3 * END_BYTES + PAGE_BYTES
    assert steps_between(stop) == [
        (END_BYTES, 2 * END_BYTES),
        (2 * END_BYTES, 3 * END_BYTES),
        (3 * END_BYTES, stop),
    ]
    assert not steps_between(-PAGE_BYTES)


def test_a_file_of_less_than_a_page_is_not_taken_for_an_empty_one() -> None:
    assert judged(b"a note to myself").what == "a file of 16 bytes"


def test_a_log_is_a_log() -> None:
    found = judged(log_image())
    assert (found.kind, found.superblock) == (
        Kind.LOG,
        replace(EXAMPLE, sequence=EXAMPLE.sequence + 1),
    )


def places(mark: Mark, size: int) -> list[int]:
    """The first, a middle and the last position of a mark."""
    origin = 0 if mark.first >= 0 else size
    first = origin + mark.first
    steps = (mark.last - mark.first) // mark.step
    return sorted({first + step * mark.step for step in (0, steps // 2, steps)})


@pytest.mark.parametrize(
    "mark", MARKS, ids=[f"{mark.name.split()[1]}-{mark.first}-{mark.magic.hex()}" for mark in MARKS]
)
def test_every_mark_is_found_wherever_it_may_be(mark: Mark) -> None:
    for position in places(mark, SIZE):
        found = judged(with_bytes(bytearray(SIZE), position, mark.magic))
        assert (found.kind, found.what, found.position) == (Kind.FOREIGN, mark.name, position)


def test_a_weak_mark_does_not_hide_a_strong_one() -> None:
    """FAT and NTFS have the two bytes of a boot sector too; so has a disk with GPT."""
    for position, magic, name in [
        (3, b"NTFS    ", "an NTFS file system"),
        (82, b"FAT32   ", "a FAT file system"),
        (512, b"EFI PART", "a GPT partition table"),
    ]:
        image = with_bytes(with_bytes(bytearray(SIZE), 510, b"\x55\xaa"), position, magic)
        assert judged(image).what == name


def test_an_unaligned_md_superblock_of_an_odd_sized_device_is_found() -> None:
    size = SIZE + 3 * 512
    position = (size // 512 - 16) // 8 * 8 * 512  # md's rule for version 1.0
    image = with_bytes(bytearray(size), position, b"\xfc\x4e\x2b\xa9")
    assert judged(image).what == "a member of an md array"


@pytest.mark.parametrize(
    ("position", "magic", "what"),
    [
        (0x438, b"\x53\xef", "ext4"),
        (4086, b"SWAPSPACE2", "swap"),
        (4096, b"\xfc\x4e\x2b\xa9", "md array"),
        (512, b"EFI PART", "GPT"),
        (512, b"LABELONE", "LVM2"),
    ],
)
def test_what_was_made_over_a_log_is_seen_though_a_superblock_is_left(
    position: int, magic: bytes, what: str
) -> None:
    """Most programs leave some of the first bytes: mke2fs all of the first 1024."""
    found = judged(with_bytes(log_image(), position, magic))
    assert found.kind is Kind.FOREIGN
    assert what in found.what


@pytest.mark.parametrize("position", [RING_POSITION, 64 * KIB + 0x40, SIZE - 512])
def test_what_users_send_is_never_taken_for_something_else(position: int) -> None:
    """A record may contain a file system; the log must stay its owner's."""
    for mark in MARKS:
        image = with_bytes(log_image(), position, mark.magic)
        assert judged(image).kind is Kind.LOG


def test_a_log_that_lost_its_superblocks_is_damaged_whatever_users_sent() -> None:
    image = with_bytes(bytearray(SIZE), RING_POSITION, block())
    with_bytes(image, 64 * KIB + 0x40, b"_BHRfS_M")
    assert judged(image).kind is Kind.DAMAGED


def test_traces_of_a_log_at_the_end_alone_are_damage() -> None:
    assert judged(with_bytes(bytearray(SIZE), SIZE - PAGE_BYTES, block())).kind is Kind.DAMAGED


def test_both_superblocks_torn_are_damage() -> None:
    image = log_image()
    for slot in (0, PAGE_BYTES):
        image[slot + 20] ^= 1
    assert judged(image).kind is Kind.DAMAGED


@pytest.mark.parametrize("other", [bytes(PAGE_BYTES), FORMATTING_SLOT, b"\xff" * PAGE_BYTES])
@pytest.mark.parametrize("slot", [0, PAGE_BYTES])
def test_a_device_that_is_being_formatted_is_neither_blank_nor_a_log(
    slot: int, other: bytes
) -> None:
    image = with_bytes(bytearray(SIZE), slot, FORMATTING_SLOT)
    with_bytes(image, PAGE_BYTES - slot, other)
    with_bytes(image, SIZE // 2, block())
    assert judged(image).kind is Kind.FORMATTING


def test_a_log_stays_a_log_until_both_superblocks_are_gone() -> None:
    image = with_bytes(log_image(), 0, FORMATTING_SLOT)
    assert judged(image).superblock == EXAMPLE


def test_a_log_of_another_format_version_is_refused_with_what_to_do() -> None:
    from tests.unit.wal.test_layout import of_version

    with pytest.raises(WalVersionError) as refusal:
        judged(with_bytes(log_image(), 0, of_version(2)))
    assert not refusal.value.is_empty


def test_marks_beyond_what_was_read_are_not_looked_for() -> None:
    image = memoryview(bytearray(b"\xff" * 512))
    assert identify(image, image, 512) is None
