"""What is known of a partition's records that cannot be read. Pure."""

from typing import Final, NamedTuple

MAX_RANGES: Final = (
    100  # of one partition; those behind are as damaged, and found when they are read
)


class DamagedRange(NamedTuple):
    """Offsets `[start_offset, end_offset)` of which at least the first cannot be read."""

    start_offset: int
    end_offset: int
    reason: str


class KnownDamage:
    """Damaged ranges, from the opening or from reads that failed; a read that succeeds removes them."""

    __slots__ = ("ranges",)

    def __init__(self) -> None:
        self.ranges: dict[int, DamagedRange] = {}  # by first offset

    def add(self, found: DamagedRange) -> None:
        """Note a range, unless it lies within one that is known, or too many are."""
        start, end = found.start_offset, found.end_offset
        for known in self.ranges.values():
            if known.start_offset <= start and end <= known.end_offset:
                return
        if len(self.ranges) < MAX_RANGES:
            self.ranges[start] = found

    def was_read(self, start_offset: int, end_offset: int) -> None:
        """Forget what has been read after all: its object was restored."""
        for known in list(self.ranges.values()):
            if start_offset <= known.start_offset < end_offset:
                del self.ranges[known.start_offset]

    def remaining(self, log_start_offset: int) -> list[DamagedRange]:
        """Return what is not deleted yet, in offset order."""
        for known in list(self.ranges.values()):
            if known.end_offset <= log_start_offset:
                del self.ranges[known.start_offset]
        return sorted(self.ranges.values())

    def __bool__(self) -> bool:
        return bool(self.ranges)
