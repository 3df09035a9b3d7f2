"""Where the interpreter takes memory for small objects from: from arenas, and in a flood of objects from the heap.

CPython's allocator takes 1 MiB at a time, an arena, and gives it back when nothing in it is alive. A flood of millions
of objects fills hundreds of arenas, and the few objects that stay keep most of them. What the heap of the C library has
free goes back by the page (`runtime_tuning.give_back_memory`), but there objects take a tenth more processor time, and
free ones are merged many at a time. So a node has arenas for as many objects as normal work needs, and only what is
beyond that comes from the heap.

CPython lets the function that takes an arena be replaced (`PyObject_SetArenaAllocator`), and turns to the heap when the
function has none to give. `labs(3)` of 0 is such a function: it answers 0, a null pointer. It has to be one of C, since
one of Python would make objects while an object is made.

Measured: see "Memory during floods" in docs/performance.md.
"""

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

# Objects and buffers beyond those of the start for which arenas are taken, beside the records that are cached. Some
# 50 MiB; 10,000 partitions that are opened later are half of it.
MAX_MORE_BLOCKS: Final = 600_000
BLOCKS_PER_RECORD: Final = 10  # in LogCache: of one that is a group of its own


# `PyObjectArenaAllocator`: what is passed to both functions, the one that takes an arena, and the one that frees it.
_Allocator = ctypes.c_void_p * 3


class SmallObjects:
    """The arenas of this process. They have no bound before `started`."""

    def __init__(self, max_more_blocks: int = MAX_MORE_BLOCKS) -> None:
        self._max_more = max_more_blocks
        self._of_start: int | None = None
        self._cached_records: Callable[[], int] = lambda: 0
        self._given = _Allocator()
        ctypes.pythonapi.PyObject_GetArenaAllocator(self._given)
        none = ctypes.cast(ctypes.CDLL(None).labs, ctypes.c_void_p)
        self._refused = _Allocator(None, none.value, self._given[2])
        self.are_in_arenas = True

    @contextmanager
    def beside(self, cached_records: Callable[[], int]) -> Iterator[None]:
        """Let there be arenas for so many records as well, which have a bound of their own."""
        before, self._cached_records = self._cached_records, cached_records
        try:
            yield
        finally:
            self._cached_records = before

    def started(self) -> None:
        """Hold the bound from now on: all that exists was made by the start."""
        self._of_start = sys.getallocatedblocks()
        self.check()

    def check(self) -> None:
        """Look whether new arenas are still in order. Takes 0.02 ms for 400,000 objects, 0.4 ms for 4,000,000."""
        if self._of_start is None:
            return
        most = self._of_start + self._max_more + BLOCKS_PER_RECORD * self._cached_records()
        are_few = sys.getallocatedblocks() <= most
        if are_few != self.are_in_arenas:
            self.are_in_arenas = are_few
            allocator = self._given if are_few else self._refused
            ctypes.pythonapi.PyObject_SetArenaAllocator(allocator)
