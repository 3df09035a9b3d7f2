"""Page-aligned memory that device writes go out of and records are served from.

A buffer has no owner who frees it: it goes back to the pool when the last view on it dies, be it
the device's, a cache's or a response's. So it can neither leak nor be reused while the kernel still
reads it.
"""

import ctypes
import mmap
import weakref
from collections import deque

from wal.layout import PAGE_BYTES, align_up

# Classes between two powers of two: a buffer is at most an eighth larger than asked for.
_CLASSES_PER_DOUBLING = 8


def size_class(size_bytes: int) -> int:
    """Return the size of the buffer that serves a request of `size_bytes`."""
    step = max(PAGE_BYTES, (1 << (size_bytes - 1).bit_length()) // (2 * _CLASSES_PER_DOUBLING))
    return -(-size_bytes // step) * step


class BufferPool:
    """Recycles aligned buffers.

    Safe to be used from any thread in one respect: views may die anywhere. The bound is on idle
    memory; memory in use is bounded by whoever holds the views.
    """

    __slots__ = ("__weakref__", "_idle", "_idle_bytes_per_class")

    def __init__(self, *, idle_bytes_per_class: int) -> None:
        self._idle_bytes_per_class = idle_bytes_per_class
        self._idle: dict[int, deque[mmap.mmap]] = {}

    def take(self, size_bytes: int) -> memoryview:
        """Return a writable view of at least `size_bytes`, on a page boundary, with arbitrary content."""
        size = size_class(align_up(max(size_bytes, 1)))
        idle = self._idle.get(size)
        if idle is None:
            # A full deque drops its oldest entry by itself: the bound holds whichever thread appends.
            idle = deque(maxlen=max(1, self._idle_bytes_per_class // size))
            self._idle[size] = idle
        try:
            memory = idle.pop()
        except IndexError:
            memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        array = (ctypes.c_ubyte * size).from_buffer(memory)
        weakref.finalize(array, idle.append, memory).atexit = False
        return memoryview(array).cast("B")

    @property
    def idle_bytes(self) -> int:
        """Memory kept for reuse."""
        return sum(size * len(idle) for size, idle in list(self._idle.items()))
