"""Page-aligned memory for device writes, from which records are also served.

No owner frees a buffer: it returns to the pool when the last view on it is freed, be it the
device's, a cache's or a response's. So it can neither leak nor be reused while the kernel still
reads it.

Buffers of the size of blocks lie together in slabs of huge pages: for each direct write the kernel pins every
page and describes it to the device, so a block of 256 KiB in one huge page costs a third of one in 64 small pages
(6 microseconds instead of 18), and the device does not wait meanwhile. A slab is returned to the system when all of
its buffers are idle and enough others are; so idle memory beyond the bound exists only in slabs with buffers in use.
"""

import ctypes
import mmap
import weakref
from collections import deque
from contextlib import suppress

from headrace.wal.layout import PAGE_BYTES, align_up

# Classes between two powers of two: a buffer is at most an eighth larger than requested.
_CLASSES_PER_DOUBLING = 8
HUGE_PAGE_BYTES = 2 * 1024 * 1024
# Smaller ones are few, larger ones have huge pages of their own.
_MIN_SLAB_BUFFER_BYTES = 64 * 1024
_SLAB_WASTE_DIVISOR = 16  # a slab's unused rest is at most this part of it
_MIN_SLABS_IDLE = 4  # a slab is no larger than this part of what may be idle


def size_class(size_bytes: int) -> int:
    """Return the size of the buffer that serves a request of `size_bytes`."""
    step = max(PAGE_BYTES, (1 << (size_bytes - 1).bit_length()) // (2 * _CLASSES_PER_DOUBLING))
    return -(-size_bytes // step) * step


def slab_bytes(size_bytes: int, max_idle_bytes: int) -> int:
    """Return the size of the slabs for buffers of `size_bytes`: whole huge pages, or just one buffer."""
    if _MIN_SLAB_BUFFER_BYTES <= size_bytes < HUGE_PAGE_BYTES:
        largest = max_idle_bytes // _MIN_SLABS_IDLE
        for slab in range(HUGE_PAGE_BYTES, largest + 1, HUGE_PAGE_BYTES):
            if slab % size_bytes <= slab // _SLAB_WASTE_DIVISOR:
                return slab
    return size_bytes


class _Slab:
    """Memory for several buffers of one size, or for one."""

    __slots__ = ("free", "memory")

    def __init__(self, size_bytes: int, count: int) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        start = 0
        if count == 1:
            self.memory = mmap.mmap(-1, size_bytes, flags=flags)
        else:
            # Longer by what it takes to begin on a huge page; untouched pages take no memory.
            self.memory = mmap.mmap(-1, size_bytes * count + HUGE_PAGE_BYTES, flags=flags)
            first = ctypes.c_char.from_buffer(self.memory)
            start = -ctypes.addressof(first) % HUGE_PAGE_BYTES
        if size_bytes * count >= HUGE_PAGE_BYTES // 2 and hasattr(mmap, "MADV_HUGEPAGE"):
            with suppress(OSError):  # a kernel without huge pages: small ones work as well
                self.memory.madvise(mmap.MADV_HUGEPAGE)
        self.free = [start + number * size_bytes for number in reversed(range(count))]


class _SizeClass:
    """The slabs for one size of buffer."""

    __slots__ = (
        "_array_type",
        "_count",
        "_idle_buffers",
        "_max_idle_bytes",
        "_returned",
        "_slabs",
        "size_bytes",
    )

    def __init__(self, size_bytes: int, max_idle_bytes: int) -> None:
        self.size_bytes = size_bytes
        self._array_type = ctypes.c_ubyte * size_bytes
        self._count = slab_bytes(size_bytes, max_idle_bytes) // size_bytes
        self._max_idle_bytes = max_idle_bytes
        self._idle_buffers = 0  # in the slabs below
        self._slabs: dict[_Slab, None] = {}  # those with idle buffers
        # Filled by the thread that drops the last view; everything else is used by the taker's thread only.
        self._returned: deque[tuple[_Slab, int]] = deque()

    def take(self) -> memoryview:
        """Return an idle buffer."""
        if self._returned:
            self._collect()
        if self._slabs:
            slab = next(reversed(self._slabs))
        else:
            slab = _Slab(self.size_bytes, self._count)
            self._slabs[slab] = None
            self._idle_buffers += self._count
        start = slab.free.pop()
        self._idle_buffers -= 1
        if not slab.free:
            del self._slabs[slab]
        array = self._array_type.from_buffer(slab.memory, start)
        weakref.finalize(array, self._returned.append, (slab, start)).atexit = False
        return memoryview(array).cast("B")

    def idle_bytes(self) -> int:
        """Memory of idle buffers."""
        self._collect()
        return self._idle_buffers * self.size_bytes

    def _collect(self) -> None:
        """Take returned buffers back, and free whole slabs beyond the bound."""
        returned = self._returned
        while returned:
            slab, start = returned.popleft()
            slab.free.append(start)
            self._idle_buffers += 1
            self._slabs[slab] = None
            is_idle = len(slab.free) == self._count
            if is_idle and self._idle_buffers * self.size_bytes > self._max_idle_bytes:
                del self._slabs[slab]
                self._idle_buffers -= self._count


class BufferPool:
    """Recycles aligned buffers.

    Thread-safe in one respect: views may be freed in any thread. The bound is on idle memory; memory
    in use is bounded by the holders of the views.
    """

    __slots__ = ("__weakref__", "_classes", "_idle_bytes_per_class")

    def __init__(self, *, idle_bytes_per_class: int) -> None:
        self._idle_bytes_per_class = idle_bytes_per_class
        self._classes: dict[int, _SizeClass] = {}

    def take(self, size_bytes: int) -> memoryview:
        """Return a writable view of at least `size_bytes`, on a page boundary, with arbitrary content."""
        size = size_class(align_up(max(size_bytes, 1)))
        found = self._classes.get(size)
        if found is None:
            found = self._classes[size] = _SizeClass(size, self._idle_bytes_per_class)
        return found.take()

    @property
    def idle_bytes(self) -> int:
        """Memory kept for reuse, as of the last returned buffer."""
        return sum(each.idle_bytes() for each in list(self._classes.values()))
