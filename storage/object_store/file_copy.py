"""Copies ranges between files without their bytes passing through this process. Blocking."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from headrace.storage.errors import CorruptObjectError

STEP_BYTES: Final = 4 * 1024 * 1024  # as much as a piece that is written
# Kernels and file systems that cannot, or not between these two files.
_CANNOT: Final = (errno.ENOSYS, errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.EBADF)


def steps(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a range into pieces of moderate size."""
    for begin in range(start, end, STEP_BYTES):
        yield begin, min(begin + STEP_BYTES, end)


def append_range(target: Path, source: Path, start: int, end: int) -> None:
    """Append `[start, end)` of a file to another one.

    Raises:
        FileNotFoundError: there is no such source.
        CorruptObjectError: the source ends before `end`.
        OSError: the disk does not take it.
    """
    reading = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Not O_APPEND, which copy_file_range refuses.
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.lseek(writing, 0, os.SEEK_END)
            while start < end:
                copied = _copy(reading, writing, start, end - start)
                if not copied:
                    raise CorruptObjectError(
                        f"{source.name} ends at {start}, not at {end} or later"
                    )
                start += copied
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _copy(reading: int, writing: int, start: int, count: int) -> int:
    try:
        return os.copy_file_range(reading, writing, count, offset_src=start)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
    return os.sendfile(writing, reading, start, count)
