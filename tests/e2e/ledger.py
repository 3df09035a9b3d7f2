"""What the crash test's clients write down, and which bytes each record must have.

Record `number` of a partition has bytes that follow from the seed, the partition and the number. The
producer is idempotent and alone, so that the record at offset n must be record n: a lost, doubled,
misplaced or altered record shows at its offset. Ledgers are lines of numbers; a line is
written once the broker has acknowledged what it says.
"""

import random
import struct
from collections.abc import Iterator
from pathlib import Path

_PREFIX = struct.Struct(">iq")
_POOL_BYTES = 1 << 20
_MAX_VALUE_BYTES = 20_000


class Values:
    """The record values that follow from a seed."""

    def __init__(self, seed: int) -> None:
        self._pool = random.Random(seed).randbytes(_POOL_BYTES)

    def value(self, partition: int, number: int) -> bytes:
        """Return the value of one record: some are tiny, the mean is 10 KB."""
        mixed = (number * 2_654_435_761 + partition * 40_503) & 0xFFFFFFFF
        size = mixed % _MAX_VALUE_BYTES
        start = (mixed >> 3) % (_POOL_BYTES - _MAX_VALUE_BYTES)
        return _PREFIX.pack(partition, number) + self._pool[start : start + size]

    def check(self, partition: int, offset: int, value: bytes | None) -> None:
        """Fail if this is not the record that belongs at `offset`."""
        if value != self.value(partition, offset):
            found = _PREFIX.unpack_from(value) if value and len(value) >= _PREFIX.size else value
            msg = f"at {partition}:{offset} lies what was sent as (partition, number) {found}"
            raise AssertionError(msg)


def read_ledger(path: Path) -> Iterator[list[int]]:
    """Return the whole lines of a ledger; its writer may be in the middle of the last one."""
    text = path.read_text() if path.exists() else ""
    for line in text[: text.rfind("\n") + 1].splitlines():
        yield [int(word) for word in line.split()]


def highest_by_partition(path: Path) -> dict[int, int]:
    """Return the highest second number of each first number: the last offset of each partition."""
    highest: dict[int, int] = {}
    for partition, offset in read_ledger(path):
        highest[partition] = max(offset, highest.get(partition, -1))
    return highest
