"""The file system as the metadata log needs it: one flat directory, and the thread that works in it.

The calls of `Directory` and `File` block; they raise an OSError when the system refuses. What has been
written, and names that were created, replaced or removed, are certain to outlive a power cut only after a
sync of the file, or of the directory. After a sync that failed nothing written before it may be relied on.
"""

from asyncio import Future
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

_T = TypeVar("_T")


class File(Protocol):
    """An open file."""

    def size(self) -> int:
        """Return its size in bytes."""

    def read(self, max_size: int, position: int) -> bytes:
        """Read bytes from `position`, maybe fewer; none at the end."""

    def write(self, data: bytes | memoryview, position: int) -> int:
        """Write at `position`; return how many bytes were written, maybe fewer than there are."""

    def sync(self) -> None:
        """Make its content durable."""

    def lock_name(self) -> str:
        """Name the lock on it; see `headrace.wal.device.lock_names`. Empty: not known."""

    def close(self) -> None:
        """Close it; releases its lock."""


class Directory(Protocol):
    """A directory, which may not exist yet."""

    @property
    def path(self) -> Path:
        """Its path, for messages."""

    def make(self) -> None:
        """Make it durably, and what is missing above it, for its owner only; nothing if it exists."""

    def mode(self) -> int:
        """Return who may use it, as in `chmod`."""

    def is_in_memory(self) -> bool:
        """Whether it is lost with the machine, as a tmpfs is."""

    def names(self) -> list[str]:
        """Return the names of its files, in any order."""

    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""

    def open(self, name: str) -> File:
        """Open a file for reading and writing.

        Raises:
            FileNotFoundError: there is none.
        """

    def open_to_read(self, name: str) -> File:
        """Open a file that is only read; it needs no right to write.

        Raises:
            FileNotFoundError: there is none.
        """

    def create(self, name: str) -> File:
        """Create an empty file, or empty the one of this name."""

    def lock(self, name: str) -> File:
        """Create a file if it is not there, and lock it until it is closed or the process ends.

        Raises:
            BlockingIOError: another process, or another opening, has locked it.
        """

    def replace(self, old: str, new: str) -> None:
        """Rename a file; one that has the new name is removed in the same step."""

    def unlink(self, name: str) -> None:
        """Remove a file; those who have it open can still use it.

        Raises:
            FileNotFoundError: there is none.
        """

    def sync(self) -> None:
        """Make its names durable."""

    def run(self, blocking: Callable[[], _T]) -> "Future[_T]":
        """Make a call off the loop, after all that were asked for before; call it from the loop."""

    def close(self) -> None:
        """Accept no more calls for `run`; waits for nothing."""
