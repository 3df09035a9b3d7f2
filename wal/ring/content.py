"""What a device holds, from its superblocks and samples of the rest: a log, nothing, or something else. Pure.

A start formats a blank device and no other. A device is blank if its first and last MiB are all
zero, where formats that use a whole device have their mark (`headrace.wal.ring.foreign`), and if samples between
them are zero too: the MiB at which the first partition usually begins, and the beginnings of others,
spread over the device (`samples`). Partitions begin at multiples of a MiB, or at sector 63, so they are
found even if the partition table is gone. Formatting, which has the time, reads everything.

While superblocks are valid only their slots are searched for marks: the ring is full of users' data,
and a record that looks like a file system must not keep a log from its owner.
"""

from dataclasses import dataclass
from enum import Enum

from headrace.wal.framing import read_block_header
from headrace.wal.layout import (
    FORMATTING_SLOT,
    MAGIC,
    PAGE_BYTES,
    RING_POSITION,
    Superblock,
    align_down,
    newest_superblock,
)
from headrace.wal.ring.foreign import Found, identify

END_BYTES = 1024 * 1024  # examined at either end of a device without a valid superblock
SAMPLE_BYTES = 128 * 1024  # between the ends
MAX_SAMPLES = 512  # keeps a start fast: 64 MiB on the largest device
_FORMER_PARTITION_START = 63 * 512  # of tables made for cylinders
_ZEROS = bytes(256 * 1024)


class Kind(Enum):
    """What a device holds."""

    BLANK = "blank: no WAL was ever written to it"
    LOG = "a WAL"
    FORMATTING = "formatting was begun and not finished"
    DAMAGED = "a WAL without a valid superblock"
    FOREIGN = "something else"


@dataclass(frozen=True, slots=True)
class Content:
    """What was found, and its position."""

    kind: Kind
    superblock: Superblock | None = None
    what: str = ""  # of something else
    position: int = 0


def examine(head: memoryview, tail: memoryview, size_bytes: int) -> Content:
    """Judge a device by its ends.

    Args:
        head: whole pages, at most `END_BYTES`; the superblock slots are enough if one is valid.
        tail: the last whole pages, at most `END_BYTES`; may overlap.
        size_bytes: of the device.

    Raises:
        WalVersionError: a log of another format version.
    """
    slots = head[:RING_POSITION]
    superblock = newest_superblock(slots)
    if stranger := identify(slots, head[:0], size_bytes):
        return Content(Kind.FOREIGN, None, stranger.name, stranger.position)
    if superblock is not None:
        return Content(Kind.LOG, superblock)
    if 0 < size_bytes < PAGE_BYTES:
        return Content(Kind.FOREIGN, None, f"a file of {size_bytes} bytes")
    if _is_zero(head) and _is_zero(tail):
        return Content(Kind.BLANK)
    if _is_being_formatted(slots):
        return Content(Kind.FORMATTING)
    if _was_ours(head) or _was_ours(tail):
        return Content(Kind.DAMAGED)
    stranger = identify(head, tail, size_bytes) or _in_partition(head, _FORMER_PARTITION_START)
    if stranger is None:
        stranger = Found("data of an unknown kind", _first_byte(head, tail, size_bytes))
    return Content(Kind.FOREIGN, None, stranger.name, stranger.position)


def used_end(size_bytes: int, capacity_bytes: int | None) -> int:
    """Return where the part of a device ends, before its last MiB, which a log will overwrite.

    Args:
        size_bytes: of the device.
        capacity_bytes: that the log will have; None: the whole device.
    """
    stop = align_down(size_bytes) - END_BYTES
    return stop if capacity_bytes is None else min(stop, align_down(capacity_bytes))


def samples(stop: int) -> list[tuple[int, int]]:
    """Return the samples between the first MiB of a device and `stop`, as [start, end) positions in order."""
    first = [(END_BYTES, min(2 * END_BYTES, stop))]
    step = -(-max(stop, 0) // (MAX_SAMPLES * END_BYTES)) * END_BYTES or END_BYTES
    others = range(max(step, 2 * END_BYTES), stop, step)
    return [
        (start, last)
        for start, last in [*first, *((at, min(at + SAMPLE_BYTES, stop)) for at in others)]
        if start < last
    ]


def steps_between(stop: int) -> list[tuple[int, int]]:
    """Return the whole part between the first MiB and `stop`, likewise, a MiB at a time."""
    return [(at, min(at + END_BYTES, stop)) for at in range(END_BYTES, stop, END_BYTES)]


def examine_between(memory: memoryview, position: int) -> Content | None:
    """Judge a part between the ends of a device that are zero; None if it is zero, too.

    Args:
        memory: whole pages.
        position: of its first byte, where a partition may begin.
    """
    if _is_zero(memory):
        return None
    if _was_ours(memory):
        return Content(Kind.DAMAGED, None, "", position)
    stranger = identify(memory, memory[:0], 0)
    if stranger is None:
        content = memory.tobytes()
        first = len(content) - len(content.lstrip(b"\0"))
        return Content(Kind.FOREIGN, None, "data of an unknown kind", position + first)
    return Content(Kind.FOREIGN, None, stranger.name, position + stranger.position)


def _in_partition(head: memoryview, start: int) -> Found | None:
    """Look for marks in a partition that begins among the first bytes."""
    part = head[start:]
    found = identify(part, part[:0], 0)
    return None if found is None else Found(found.name, start + found.position)


def _is_zero(memory: memoryview) -> bool:
    return all(
        memory[at : at + len(_ZEROS)].tobytes() == _ZEROS[: len(memory) - at]
        for at in range(0, len(memory), len(_ZEROS))
    )


def _is_being_formatted(slots: memoryview) -> bool:
    pages = [bytes(slots[at : at + PAGE_BYTES]) for at in range(0, len(slots), PAGE_BYTES)]
    return FORMATTING_SLOT in pages


def _was_ours(memory: memoryview) -> bool:
    """Whether a page begins as a superblock does, or with a block of any generation."""
    return any(
        memory[at : at + len(MAGIC)] == MAGIC or read_block_header(memory, at) is not None
        for at in range(0, len(memory), PAGE_BYTES)
    )


def _first_byte(head: memoryview, tail: memoryview, size_bytes: int) -> int:
    """Position of the first byte that is not zero."""
    content = head.tobytes()
    if rest := content.lstrip(b"\0"):
        return len(content) - len(rest)
    return align_down(size_bytes) - len(tail.tobytes().lstrip(b"\0"))
