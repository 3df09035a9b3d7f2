"""Snapshots that others are reading in parts. Blocking: for the log's own thread.

A reader asks for one part after the other, and has no connection that would tell when it is done. So
the file of the newest snapshot stays open from its first part on, and when another takes its place
the older one stays readable until the next takes that one's: at most two files, the older without a
name. A reader thus has the time in which the log grows by a whole interval, and more, for its image.
"""

import os
from pathlib import Path


class ServedSnapshots:
    """The open files, by the index of their snapshots."""

    def __init__(self) -> None:
        self._descriptors: dict[int, int] = {}

    def read(
        self, index: int, path: Path | None, position: int, max_size: int
    ) -> tuple[int, bytes] | None:
        """(file size, bytes from `position`) of a snapshot; None when it is not there any more.

        Args:
            index: of the snapshot.
            path: where it is, if it is the newest.
            position: in its file.
            max_size: of the bytes.

        Raises:
            OSError: it cannot be read.
        """
        descriptor = self._descriptors.get(index)
        if descriptor is None:
            if path is None:
                return None
            descriptor = self._descriptors[index] = os.open(path, os.O_RDONLY)
        return os.fstat(descriptor).st_size, os.pread(descriptor, max_size, position)

    def replaced(self, index: int) -> None:
        """A newer snapshot takes the place of this one: those before it are closed."""
        for older in [it for it in self._descriptors if it != index]:
            os.close(self._descriptors.pop(older))

    def close(self) -> None:
        """Close all files."""
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])
