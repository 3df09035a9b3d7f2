"""What a device holds, from its superblocks and its two ends: a log, nothing, or something else.

Pure. A start formats a blank device and no other. Blank is a device whose first and last MiB are all
zero: every known mark of something else lies there (`wal.foreign`), and so do the superblocks and the
ring's first block, which the first append writes. What lies between is harmless: a block counts only
if its checksums are seeded with the life id, which is drawn anew.

While superblocks are valid only their slots are searched for marks: the ring is full of what users
send, and a record that looks like a file system must not keep a log from its owner.
"""

from dataclasses import dataclass
from enum import Enum

from wal.foreign import identify
from wal.framing import read_block_header
from wal.layout import (
    FORMATTING_SLOT,
    MAGIC,
    PAGE_BYTES,
    RING_POSITION,
    Superblock,
    align_down,
    newest_superblock,
)

END_BYTES = 1024 * 1024  # looked at on either end of a device without a valid superblock


class Kind(Enum):
    """What a device holds."""

    BLANK = "blank: no WAL was ever written to it"
    LOG = "a WAL"
    FORMATTING = "formatting was begun and not finished"
    DAMAGED = "a WAL without a valid superblock"
    FOREIGN = "something else"


@dataclass(frozen=True, slots=True)
class Content:
    """What was found, and where."""

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
    if stranger := identify(head, tail, size_bytes):
        return Content(Kind.FOREIGN, None, stranger.name, stranger.position)
    return Content(
        Kind.FOREIGN, None, "data of an unknown kind", _first_byte(head, tail, size_bytes)
    )


def _is_zero(memory: memoryview) -> bool:
    return not memory.tobytes().strip(b"\0")


def _is_being_formatted(slots: memoryview) -> bool:
    pages = [bytes(slots[at : at + PAGE_BYTES]) for at in range(0, len(slots), PAGE_BYTES)]
    return FORMATTING_SLOT in pages


def _was_ours(memory: memoryview) -> bool:
    """Whether a page begins as a superblock does, or with a block of any life."""
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
