"""Buffers return when, and only when, the last view on them has died."""

import ctypes
import gc
import weakref

import pytest

from wal.buffers import BufferPool, size_class
from wal.layout import PAGE_BYTES

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
