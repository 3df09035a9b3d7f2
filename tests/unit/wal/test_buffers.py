"""Buffers return when, and only when, the last view on them has died."""

import ctypes
import gc
import threading
import weakref
from pathlib import Path
from queue import SimpleQueue

import pytest

from headrace.wal.device.buffers import HUGE_PAGE_BYTES, BufferPool, size_class, slab_bytes
from headrace.wal.layout import PAGE_BYTES

KIB = 1024


def address(view: memoryview) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(view))


@pytest.mark.parametrize("size", [1, 4096, 4097, 256 * KIB, 1024 * KIB + 88, 5_000_000])
def test_buffers_are_aligned_and_large_enough(size: int) -> None:
    view = BufferPool(idle_bytes_per_class=0).take(size)
    assert len(view) >= size
    assert len(view) % PAGE_BYTES == 0
    assert address(view) % PAGE_BYTES == 0
    assert not view.readonly
    assert view.format == "B"


def test_a_class_is_at_most_an_eighth_or_a_page_larger() -> None:
    for size in range(PAGE_BYTES, 5_000_000, 7 * PAGE_BYTES):
        assert size <= size_class(size) <= max(size * 9 // 8, size + PAGE_BYTES)


def test_a_buffer_returns_with_its_last_view() -> None:
    pool = BufferPool(idle_bytes_per_class=1 << 20)
    view = pool.take(256 * KIB)
    first = address(view)
    part = view[100:200]
    del view
    assert pool.idle_bytes == 0
    del part
    assert pool.idle_bytes == 256 * KIB
    again = pool.take(256 * KIB)
    assert address(again) == first
    assert pool.idle_bytes == 0


def test_a_buffer_in_use_is_never_handed_out_again() -> None:
    pool = BufferPool(idle_bytes_per_class=1 << 20)
    views = [pool.take(64 * KIB) for _ in range(20)]
    assert len({address(view) for view in views}) == 20


def test_idle_memory_is_bounded_per_class() -> None:
    pool = BufferPool(idle_bytes_per_class=256 * KIB)
    views = [pool.take(64 * KIB) for _ in range(10)]
    views.clear()
    assert pool.idle_bytes == 256 * KIB


def test_a_pool_may_die_before_its_buffers() -> None:
    pool = BufferPool(idle_bytes_per_class=1 << 20)
    view = pool.take(4096)
    view[:3] = b"abc"
    alive = weakref.ref(pool)
    del pool
    gc.collect()
    assert alive() is None
    assert bytes(view[:3]) == b"abc"


@pytest.mark.parametrize("size", [64 * KIB, 256 * KIB, 288 * KIB, 1152 * KIB])
def test_buffers_of_the_size_of_blocks_lie_together_in_huge_pages(size: int) -> None:
    slab = slab_bytes(size, 32 << 20)
    count = slab // size
    assert slab % HUGE_PAGE_BYTES == 0
    assert slab - count * size <= slab // 16
    pool = BufferPool(idle_bytes_per_class=32 << 20)
    views = [pool.take(size) for _ in range(count)]
    starts = sorted(map(address, views))
    assert starts[0] % HUGE_PAGE_BYTES == 0
    assert starts == [starts[0] + number * size for number in range(count)]


@pytest.mark.parametrize("size", [4 * KIB, 60 * KIB, 2048 * KIB, 9216 * KIB])
def test_other_buffers_stand_alone(size: int) -> None:
    assert slab_bytes(size, 32 << 20) == size


def test_a_slab_is_small_beside_what_may_be_idle() -> None:
    assert slab_bytes(256 * KIB, 8 << 20) == HUGE_PAGE_BYTES
    assert slab_bytes(256 * KIB, 4 << 20) == 256 * KIB


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


def test_what_is_idle_beyond_the_bound_goes_back_to_the_system() -> None:
    pool = BufferPool(idle_bytes_per_class=8 << 20)
    before = resident_bytes()
    views = [pool.take(256 * KIB) for _ in range(256)]
    for view in views:
        view[::PAGE_BYTES] = bytes(len(view) // PAGE_BYTES)
    assert resident_bytes() - before >= 60 << 20
    views.clear()
    del view
    assert pool.idle_bytes == 8 << 20
    assert resident_bytes() - before <= 20 << 20


def test_what_lies_beside_something_alive_is_used_again_first() -> None:
    pool = BufferPool(idle_bytes_per_class=8 << 20)
    views = [pool.take(256 * KIB) for _ in range(800)]
    used = set(map(address, views))
    del views[0::8], views[1::7]
    alive = len(views)
    again = [pool.take(256 * KIB) for _ in range(800 - alive)]
    assert set(map(address, again)) <= used
    assert len(set(map(address, again)) | set(map(address, views))) == 800


def test_views_may_die_in_other_threads() -> None:
    pool = BufferPool(idle_bytes_per_class=8 << 20)
    alive: set[int] = set()
    queue: SimpleQueue[tuple[int, memoryview] | None] = SimpleQueue()

    def drop() -> None:
        while (entry := queue.get()) is not None:
            alive.remove(entry[0])
            del entry

    threads = [threading.Thread(target=drop) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(3000):
        view = pool.take(256 * KIB)
        where = address(view)
        assert where not in alive, "handed out twice"
        alive.add(where)
        queue.put((where, view))
        del view
    for _ in threads:
        queue.put(None)
    for thread in threads:
        thread.join()
    assert 0 < pool.idle_bytes <= 8 << 20
