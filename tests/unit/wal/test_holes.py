"""What a file system tells of a file that is only allocated."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from headrace.wal.device import holes
from headrace.wal.device.file_device import DeviceFile
from headrace.wal.device.holes import unwritten_ranges

PAGE_BYTES = 4096
SIZE_BYTES = 64 * PAGE_BYTES


@pytest.fixture
def file(tmp_path: Path) -> Iterator[DeviceFile]:
    """Allocated, not written; on a file system that knows the difference."""
    fd = os.open(tmp_path / "wal", os.O_RDWR | os.O_CREAT)
    os.posix_fallocate(fd, 0, SIZE_BYTES)
    file = DeviceFile(str(tmp_path / "wal"), fd, is_file=True, is_direct=False, writable=True)
    yield file
    file.close()


def write(file: DeviceFile, page: int, pages: int = 1) -> None:
    os.pwrite(file.fd, b"\1" * pages * PAGE_BYTES, page * PAGE_BYTES)
    os.fsync(file.fd)


def in_pages(ranges: list[tuple[int, int]]) -> list[tuple[float, float]]:
    return [(begin / PAGE_BYTES, end / PAGE_BYTES) for begin, end in ranges]


def test_what_is_only_allocated_is_unwritten(file: DeviceFile) -> None:
    assert in_pages(unwritten_ranges(file, 2 * PAGE_BYTES, SIZE_BYTES)) == [(2, 64)]
    write(file, 10, 5)
    write(file, 63)
    assert in_pages(unwritten_ranges(file, 2 * PAGE_BYTES, SIZE_BYTES)) == [(2, 10), (15, 63)]
    assert in_pages(unwritten_ranges(file, 12 * PAGE_BYTES, 20 * PAGE_BYTES)) == [(15, 20)]


def test_nothing_of_a_file_that_was_written(file: DeviceFile) -> None:
    write(file, 0, 64)
    assert unwritten_ranges(file, 0, SIZE_BYTES) == []


def test_a_sparse_end_counts_as_far_as_it_is_asked_for(file: DeviceFile) -> None:
    write(file, 0, 64)
    os.ftruncate(file.fd, 2 * SIZE_BYTES)
    assert in_pages(unwritten_ranges(file, 0, SIZE_BYTES + 3 * PAGE_BYTES)) == [(64, 67)]


def test_parts_of_pages_are_left_out(file: DeviceFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system with blocks of 1 KiB."""
    places = {(0, os.SEEK_HOLE): 1024, (1024, os.SEEK_DATA): 9 * 1024}
    monkeypatch.setattr(os, "lseek", lambda fd, at, whence: places.get((at, whence), SIZE_BYTES))
    assert in_pages(unwritten_ranges(file, 0, SIZE_BYTES)) == [(1, 2)]


def test_where_nothing_is_told_there_is_nothing_to_do(
    file: DeviceFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(fd: int, at: int, whence: int) -> int:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "lseek", unsupported)
    assert unwritten_ranges(file, 0, SIZE_BYTES) == []


def test_a_device_has_no_holes(file: DeviceFile) -> None:
    file.is_file = False
    assert unwritten_ranges(file, 0, SIZE_BYTES) == []


def test_the_number_of_ranges_is_bounded(file: DeviceFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holes, "MAX_RANGES", 2)
    for page in (5, 10, 15):
        write(file, page)
    assert in_pages(unwritten_ranges(file, 0, SIZE_BYTES)) == [(0, 5), (6, 10)]
