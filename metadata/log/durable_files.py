"""Small file operations that survive a power cut. Blocking: for the log's own thread."""

from contextlib import suppress
from typing import Final

from headrace.metadata.log.directory import Directory, File

TEMPORARY_SUFFIX: Final = ".tmp"


def write_all(file: File, data: bytes | memoryview, position: int) -> None:
    """Write all of `data`; a short write is continued."""
    rest = memoryview(data)
    while rest:
        written = file.write(rest, position)
        position += written
        rest = rest[written:]


def read_file(directory: Directory, name: str, max_bytes: int | None = None) -> bytes:
    """Read a file from its beginning, at most `max_bytes` of it.

    Raises:
        FileNotFoundError: there is none.
    """
    file = directory.open_to_read(name)
    try:
        left = file.size() if max_bytes is None else max_bytes
        data = file.read(left, 0)
        while len(data) < left and (more := file.read(left - len(data), len(data))):
            data += more
        return data
    finally:
        file.close()


def create_whole(directory: Directory, name: str, data: bytes) -> None:
    """Create or replace a file: after a crash it has all of `data`, or its previous contents."""
    temporary = name + TEMPORARY_SUFFIX
    file = directory.create(temporary)
    try:
        try:
            write_all(file, data, 0)
            file.sync()
        finally:
            file.close()
        directory.replace(temporary, name)
    except OSError:
        with suppress(OSError):
            directory.unlink(temporary)
        raise
    directory.sync()
