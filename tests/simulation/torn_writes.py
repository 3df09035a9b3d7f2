"""What a power cut may leave of one write to a file."""

import random
from collections.abc import Iterable
from itertools import pairwise

from tests.simulation.disk import SECTOR_BYTES

Write = tuple[int, bytes]  # position and data
EMPTIED: Write = (-1, b"")  # the file was cut off at its beginning

NOTHING, WHOLE, HALF, HOLE, SECOND_HALF, NOT_THE_END, THREE_QUARTERS = range(7)
KINDS = range(7)
KINDS_OF_SEVERAL = (NOTHING, WHOLE, HALF, NOT_THE_END)
ODD_SHARE = 0.2  # of the writes that are torn at another place than between sectors


def content_after(content: bytes | bytearray, writes: Iterable[Write]) -> bytearray:
    """Return the content after some writes; what lies between is zeros."""
    changed = bytearray(content)
    for write in writes:
        put(changed, write)
    return changed


def put(content: bytearray, write: Write) -> None:
    """Write into the content."""
    position, data = write
    if write == EMPTIED:
        content.clear()
    else:
        content += bytes(max(0, position + len(data) - len(content)))
        content[position : position + len(data)] = data


def left_of(write: Write, kind: int, size: int) -> list[Write]:
    """Return what is left of a write to a file that had that size; behind it a hole reads as zeros."""
    position, data = write
    if kind == NOTHING:
        return []
    if kind == WHOLE or write == EMPTIED:
        return [write]
    hole = _hole(write, size)
    half = len(data) // 2
    return {
        HALF: [(position, data[:half])],
        HOLE: [hole],
        SECOND_HALF: [hole, (position + half, data[half:])],
        NOT_THE_END: [(position, data[:-1])],
        THREE_QUARTERS: [hole, (position, data[: half + half // 2])],
    }[kind]


def torn(rng: random.Random, write: Write, size: int, share: float) -> list[Write]:
    """Return what chance leaves of a write: some of its sectors, about that share of them."""
    position, data = write
    if write == EMPTIED or share in {0.0, 1.0}:
        return [write] if rng.random() < share else []
    if rng.random() < ODD_SHARE:
        return left_of(write, rng.choice(KINDS), size)
    end = position + len(data)
    borders = [
        position,
        *range(position // SECTOR_BYTES * SECTOR_BYTES + SECTOR_BYTES, end, SECTOR_BYTES),
        end,
    ]
    kept = [
        (begin, data[begin - position : after - position])
        for begin, after in pairwise(borders)
        if rng.random() < share
    ]
    return [_hole(write, size), *kept] if rng.random() < share else kept


def _hole(write: Write, size: int) -> Write:
    position, data = write
    begin = max(position, size)
    return begin, bytes(max(0, position + len(data) - begin))
