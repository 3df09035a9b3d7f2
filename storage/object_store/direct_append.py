"""Appends buffers to a file past the page cache, where the file system lets it. Blocking.

What is uploaded is read late or never. Pages for it cost the kernel more than the write itself, and push out those of
others. So whole pages go to the disk from an aligned buffer of the thread. What is left behind them, and all of it
where direct IO does not exist, goes through the page cache.
"""

import errno
import mmap
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from headrace.storage.ports import Buffer

PAGE_BYTES: Final = (
    4096  # what direct IO is aligned to; the few devices that ask for more refuse it
)
STAGING_BYTES: Final = (
    1024 * 1024
)  # copied at a time, 0.1 ms with the GIL; the write that follows is without it
MIN_DIRECT_BYTES: Final = 128 * 1024  # less is cheaper through the page cache
# Small parts are joined before they are copied: to handle each of them takes longer than to copy it twice.
SMALL_BYTES: Final = 4 * 1024
JOINED_BYTES: Final = 256 * 1024
WRITEV_PARTS: Final = 512  # below MAX_IOV, which is 1024 on Linux
# What is answered where there is no direct IO, or not of this size.
_NOT_DIRECT: Final = frozenset({errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS})


class _Staging(threading.local):
    """A buffer for each thread, made when it is needed."""

    def __init__(self) -> None:
        self.view = memoryview(mmap.mmap(-1, STAGING_BYTES))


_staging = _Staging()


def append(path: Path, parts: Sequence[Buffer]) -> int:
    """Append to a file that exists, and return how many bytes; they are durable after an fsync.

    Raises:
        OSError: the disk does not take it. Some of it may have been appended.
    """
    left = parts
    size_bytes = sum(map(len, parts))
    if size_bytes >= MIN_DIRECT_BYTES:
        left = _append_pages(path, parts, size_bytes // PAGE_BYTES * PAGE_BYTES)
    if left:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            for start in range(0, len(left), WRITEV_PARTS):
                _write_fully(descriptor, list(left[start : start + WRITEV_PARTS]))
        finally:
            os.close(descriptor)
    return size_bytes


def _append_pages(path: Path, parts: Sequence[Buffer], size_bytes: int) -> Sequence[Buffer]:
    """Append up to the first `size_bytes`, whole pages, by direct IO; return what is left."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_DIRECT)
    except OSError as error:
        if error.errno not in _NOT_DIRECT:
            raise
        return parts
    try:
        if os.fstat(descriptor).st_size % PAGE_BYTES:
            return parts
        return _write_pages(descriptor, list(_with_small_parts_joined(parts)), size_bytes)
    finally:
        os.close(descriptor)


def _with_small_parts_joined(parts: Sequence[Buffer]) -> Iterator[Buffer]:
    small: list[Buffer] = []
    joined_bytes = 0
    for part in parts:
        size_bytes = len(part)
        if size_bytes > SMALL_BYTES or joined_bytes + size_bytes > JOINED_BYTES:
            if small:
                yield b"".join(small)
            small, joined_bytes = [], 0
        if size_bytes > SMALL_BYTES:
            yield part
        else:
            small.append(part)
            joined_bytes += size_bytes
    if small:
        yield b"".join(small)


def _write_pages(descriptor: int, parts: Sequence[Buffer], size_bytes: int) -> Sequence[Buffer]:
    staging = _staging.view
    filled = staged = 0
    for number, part in enumerate(parts):
        rest = memoryview(part)
        while rest:
            count = min(len(rest), STAGING_BYTES - filled, size_bytes - staged)
            if not count:
                return [rest, *parts[number + 1 :]]
            staging[filled : filled + count] = rest[:count]
            rest = rest[count:]
            filled += count
            staged += count
            if filled == STAGING_BYTES or staged == size_bytes:
                if refused := _write_staged(descriptor, staging[:filled]):
                    return [bytes(refused), rest, *parts[number + 1 :]]
                filled = 0
    return ()


def _write_staged(descriptor: int, pages: memoryview) -> memoryview:
    """Write pages; return those that are refused because of their size, or because direct IO is only pretended."""
    while pages:
        try:
            count = os.write(descriptor, pages)
        except OSError as error:
            if error.errno not in _NOT_DIRECT:
                raise
            break
        if not count:
            raise OSError(errno.EIO, "a direct write took nothing")
        pages = pages[count:]
    return pages


def _write_fully(descriptor: int, piece: list[Buffer]) -> None:
    expected = sum(map(len, piece))
    written = os.writev(descriptor, piece)
    while written < expected:
        # A short write (a nearly full disk, a signal): drop what went out and go on with the rest.
        expected -= written
        while written >= len(piece[0]):
            written -= len(piece.pop(0))
        piece[0] = memoryview(piece[0])[written:]
        written = os.writev(descriptor, piece)
        if not written:
            raise OSError(errno.EIO, "a write took nothing")
