"""Snapshots that others are reading in parts. Blocking: for the log's own thread.

A reader asks for one part after the other, and has no connection whose end would show that it is done. So
the file of the newest snapshot stays open from its first part on, and when another replaces it
the older one stays readable until the next takes that one's: at most two files, the older without a
name. A reader thus has the time in which the log grows by a whole interval, and more, for its image.
"""

from headrace.metadata.log.directory import Directory, File


class ServedSnapshots:
    """The open files, by the index of their snapshots."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._files: dict[int, File] = {}

    def read(
        self, index: int, name: str | None, position: int, max_size: int
    ) -> tuple[int, bytes] | None:
        """(file size, bytes from `position`) of a snapshot; None when it is not there any more.

        Args:
            index: of the snapshot.
            name: of its file, if it is the newest.
            position: in its file.
            max_size: of the bytes.

        Raises:
            OSError: it cannot be read.
        """
        file = self._files.get(index)
        if file is None:
            if name is None:
                return None
            file = self._files[index] = self._directory.open_to_read(name)
        return file.size(), file.read(max_size, position)

    def replaced(self, index: int) -> None:
        """A newer snapshot replaces this one: those before it are closed."""
        for older in [it for it in self._files if it != index]:
            self._files.pop(older).close()

    def close(self) -> None:
        """Close all files."""
        while self._files:
            self._files.popitem()[1].close()
