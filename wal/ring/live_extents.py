"""Which confirmed blocks are still needed, and so where the ring begins. Pure.

Blocks are remembered in extents of at least a granule, so that a ring of 2 GiB full of 4 KiB blocks
costs some thousand entries; space is released by whole extents.
"""

from collections import deque

from headrace.wal.layout import PAGE_BYTES, align_down

_EXTENTS_PER_RING = 4096


class _Extent:
    """Neighbouring blocks, released together."""

    __slots__ = ("end", "last_record_offset", "start")

    def __init__(self, start: int, end: int, last_record_offset: int) -> None:
        self.start = start
        self.end = end
        self.last_record_offset = last_record_offset


class LiveExtents:
    """The part of the ring from the head to the confirmed offset."""

    __slots__ = ("_extents", "_granule_bytes", "head")

    def __init__(self, *, head: int, ring_bytes: int) -> None:
        self.head = head  # block boundary below which nothing is needed
        self._granule_bytes = max(PAGE_BYTES, align_down(ring_bytes // _EXTENTS_PER_RING))
        self._extents: deque[_Extent] = deque()

    def add(self, *, start: int, end: int, last_record_offset: int) -> None:
        """Add a confirmed block, which must follow the one before."""
        if self._extents:
            last = self._extents[-1]
            if end - last.start <= self._granule_bytes:
                last.end = end
                last.last_record_offset = last_record_offset
                return
        self._extents.append(_Extent(start, end, last_record_offset))

    def release(self, trim_offset: int) -> int:
        """Drop extents without a record that begins above `trim_offset`; return the new head."""
        extents = self._extents
        while extents and extents[0].last_record_offset <= trim_offset:
            self.head = extents.popleft().end
        return self.head

    def __len__(self) -> int:
        return len(self._extents)
