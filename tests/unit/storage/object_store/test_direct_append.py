"""Appending past the page cache: every byte once and in order, whatever the sizes, also where it does not exist."""

import errno
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.storage.object_store import direct_append
from headrace.storage.object_store.direct_append import MIN_DIRECT_BYTES, PAGE_BYTES, append

STAGING_BYTES = 4 * PAGE_BYTES


@pytest.fixture(autouse=True)
def small_staging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct_append, "STAGING_BYTES", STAGING_BYTES)
    monkeypatch.setattr(direct_append, "MIN_DIRECT_BYTES", 2 * PAGE_BYTES)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "object"
    found.touch()
    return found


class Writes:
    """Notes the direct writes, and answers them otherwise if it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sizes: list[int] = []
        self.answer: Callable[[int, memoryview], int] | None = None
        self._write = os.write
        monkeypatch.setattr(os, "write", self._noting)

    def _noting(self, descriptor: int, pages: memoryview) -> int:
        count = (self.answer or self._write)(descriptor, pages)
        self.sizes.append(count)
        return count

    def only(self, size_bytes: int) -> Callable[[int, memoryview], int]:
        """At most so much at a time."""
        return lambda descriptor, pages: self._write(descriptor, pages[:size_bytes])


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> Writes:
    return Writes(monkeypatch)


def random_parts(rng: random.Random, size_bytes: int) -> list[bytes | memoryview]:
    parts: list[bytes | memoryview] = []
    while size_bytes:
        size = min(size_bytes, rng.choice((0, 1, 61, 1000, PAGE_BYTES, 3 * STAGING_BYTES)))
        content = rng.randbytes(size)
        parts.append(rng.choice((content, memoryview(content))))
        size_bytes -= size
    return parts


def has_direct_io(path: Path) -> bool:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_DIRECT))
    except OSError:
        return False
    return True


@pytest.mark.parametrize("seed", range(40))
def test_what_is_appended_is_there_in_order(path: Path, writes: Writes, seed: int) -> None:
    rng = random.Random(seed)
    expected = b""
    for _ in range(rng.randrange(1, 4)):
        pages, rest = rng.randrange(12), rng.choice((0, 0, 1, 4095))
        parts = random_parts(rng, pages * PAGE_BYTES + rest)
        begins_on_a_page = len(expected) % PAGE_BYTES == 0
        writes.sizes.clear()
        append(path, parts)
        expected += b"".join(parts)
        if has_direct_io(path):
            assert sum(writes.sizes) == (
                pages * PAGE_BYTES if begins_on_a_page and pages > 1 else 0
            )
    assert path.read_bytes() == expected


def test_a_write_of_the_default_sizes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    parts = random_parts(random.Random(1), 3 * direct_append.STAGING_BYTES + MIN_DIRECT_BYTES + 5)
    append(path, parts)
    assert path.read_bytes() == b"".join(parts)


def test_where_there_is_no_direct_io(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really = os.open

    def refusing(name: Path, flags: int, *arguments: int, **more: int) -> int:
        if flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return really(name, flags, *arguments, **more)

    monkeypatch.setattr(os, "open", refusing)
    parts = random_parts(random.Random(2), 9 * PAGE_BYTES + 1)
    append(path, parts)
    assert path.read_bytes() == b"".join(parts)


def refused(_descriptor: int, _pages: memoryview) -> int:
    raise OSError(errno.EINVAL, "Invalid argument")


def test_where_the_flag_is_taken_and_the_write_refused(path: Path, writes: Writes) -> None:
    writes.answer = refused
    parts = random_parts(random.Random(3), 9 * PAGE_BYTES + 1)
    append(path, parts)
    assert path.read_bytes() == b"".join(parts)


@pytest.mark.parametrize("after", [1, 2, 3])
def test_where_it_is_refused_behind_what_was_written(
    path: Path, writes: Writes, after: int
) -> None:
    """Devices with pages of 16 KiB refuse the last ones of many writes; a short write may be continued by none."""
    taken = writes.only(PAGE_BYTES)

    def some(descriptor: int, pages: memoryview) -> int:
        if len(writes.sizes) >= after:
            raise OSError(errno.EINVAL, "Invalid argument")
        return taken(descriptor, pages)

    writes.answer = some
    parts = random_parts(random.Random(4), 9 * PAGE_BYTES + 5)
    append(path, parts)
    assert path.read_bytes() == b"".join(parts)
    assert writes.sizes == [PAGE_BYTES] * after


def test_another_error_is_an_error(path: Path, writes: Writes) -> None:
    def full(_descriptor: int, _pages: memoryview) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    writes.answer = full
    with pytest.raises(OSError, match="No space left"):
        append(path, random_parts(random.Random(4), 9 * PAGE_BYTES))


@pytest.mark.parametrize("size_bytes", [PAGE_BYTES, 512])
def test_a_short_write_is_completed(path: Path, writes: Writes, size_bytes: int) -> None:
    """What is left of a page is refused by most devices, and goes through the page cache."""
    writes.answer = writes.only(size_bytes)
    parts = random_parts(random.Random(5), 9 * PAGE_BYTES + 1)
    append(path, parts)
    assert path.read_bytes() == b"".join(parts)


def test_a_write_that_takes_nothing_is_an_error(
    path: Path, writes: Writes, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes.answer = lambda _descriptor, _pages: 0
    with pytest.raises(OSError, match="took nothing"):
        append(path, random_parts(random.Random(6), 9 * PAGE_BYTES))
    counts = iter((1, 0))
    monkeypatch.setattr(os, "writev", lambda _descriptor, _pieces: next(counts))
    with pytest.raises(OSError, match="took nothing"):
        append(path, [bytes(100)])
