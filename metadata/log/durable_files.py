"""Small file operations that survive a power cut. Blocking: for the log's own thread."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

Sync = Callable[[int], None]

TEMPORARY_SUFFIX: Final = ".tmp"


def sync_directory(directory: Path, sync: Sync) -> None:
    """Make created, renamed and deleted names of a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes | memoryview, position: int) -> None:
    """Write all of `data`; a short write is continued."""
    rest = memoryview(data)
    while rest:
        written = os.pwrite(descriptor, rest, position)
        position += written
        rest = rest[written:]


def create_whole(path: Path, data: bytes, sync: Sync) -> None:
    """Create or replace a file: after a crash it has all of `data`, or its previous contents."""
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        try:
            write_all(descriptor, data, 0)
            sync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_directory(path.parent, sync)
