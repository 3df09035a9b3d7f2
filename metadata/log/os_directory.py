"""A directory of the operating system. Blocking."""

import asyncio
import fcntl
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from headrace.daemon_threads import DaemonThreads
from headrace.wal.device.file_systems import is_in_memory
from headrace.wal.device.lock_names import lock_name

OWNER_ONLY: Final = 0o700
_FILE_MODE: Final = 0o644  # in a directory for the owner only

_T = TypeVar("_T")
_Sync = Callable[[int], None]


class OsFile:
    """An open file; see `headrace.metadata.log.directory.File`."""

    def __init__(self, descriptor: int, sync: _Sync) -> None:
        self._descriptor = descriptor
        self._sync = sync

    def size(self) -> int:
        """See `File`."""
        return os.fstat(self._descriptor).st_size

    def read(self, max_size: int, position: int) -> bytes:
        """See `File`."""
        return os.pread(self._descriptor, max_size, position)

    def write(self, data: bytes | memoryview, position: int) -> int:
        """See `File`."""
        return os.pwrite(self._descriptor, data, position)

    def sync(self) -> None:
        """See `File`."""
        self._sync(self._descriptor)

    def lock_name(self) -> str:
        """See `File`."""
        return lock_name(self._descriptor)

    def close(self) -> None:
        """See `File`. Closing it twice does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


class OsDirectory:
    """A directory; see `headrace.metadata.log.directory.Directory`."""

    def __init__(self, path: Path, sync: _Sync = os.fsync) -> None:
        """Touch nothing yet; `sync` makes what a descriptor stands for durable."""
        self.path = path
        self._sync = sync
        self._thread = DaemonThreads(1, "metadata-log")

    def make(self) -> None:
        """See `Directory`."""
        self._make(self.path)

    def mode(self) -> int:
        """See `Directory`."""
        return stat.S_IMODE(self.path.stat().st_mode)

    def is_in_memory(self) -> bool:
        """See `Directory`."""
        return is_in_memory(str(self.path))

    def names(self) -> list[str]:
        """See `Directory`."""
        return [it.name for it in self.path.iterdir()]

    def has(self, name: str) -> bool:
        """See `Directory`."""
        return (self.path / name).is_file()

    def open(self, name: str) -> OsFile:
        """See `Directory`."""
        return self._open(name, os.O_RDWR)

    def open_to_read(self, name: str) -> OsFile:
        """See `Directory`."""
        return self._open(name, os.O_RDONLY)

    def create(self, name: str) -> OsFile:
        """See `Directory`."""
        return self._open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)

    def lock(self, name: str) -> OsFile:
        """See `Directory`."""
        file = self._open(name, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(file._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # noqa: SLF001 - of this module
        except OSError:
            file.close()
            raise
        return file

    def replace(self, old: str, new: str) -> None:
        """See `Directory`."""
        (self.path / old).replace(self.path / new)

    def unlink(self, name: str) -> None:
        """See `Directory`."""
        (self.path / name).unlink()

    def sync(self) -> None:
        """See `Directory`."""
        self._sync_directory(self.path)

    def run(self, blocking: Callable[[], _T]) -> "asyncio.Future[_T]":
        """See `Directory`: the calls are made in a thread of their own, which is started with the first."""
        return asyncio.get_running_loop().run_in_executor(self._thread, blocking)

    def close(self) -> None:
        """See `Directory`."""
        self._thread.shutdown(wait=False)

    def _open(self, name: str, flags: int) -> OsFile:
        return OsFile(os.open(self.path / name, flags, _FILE_MODE), self._sync)

    def _make(self, path: Path) -> None:
        try:
            try:
                path.mkdir(OWNER_ONLY)
            except FileNotFoundError:
                self._make(path.parent)
                path.mkdir(OWNER_ONLY)
        except OSError:
            if (
                not path.is_dir()
            ):  # where it exists, some file systems say first that it may not be made
                raise
        else:
            self._sync_directory(path.parent)

    def _sync_directory(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self._sync(descriptor)
        finally:
            os.close(descriptor)
