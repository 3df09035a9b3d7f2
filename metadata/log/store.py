"""The metadata log as the controller uses it: durable appends, snapshots, reading both back.

Everything that blocks runs in one thread of its own, in the order asked, so that an fsync neither
stalls the loop nor waits behind other work, and two writes are never under way at once.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from metadata.log.durable_files import Sync
from metadata.log.files import LogFiles
from metadata.log.identity import check_identity, lock_directory
from metadata.log.recovered import Recovered
from metadata.records.entry import LogEntry, SnapshotId

if TYPE_CHECKING:
    from random import Random

_T = TypeVar("_T")


class SnapshotPart(NamedTuple):
    """Bytes of a snapshot's file."""

    snapshot_index: int
    size_bytes: int  # of the file
    data: bytes


class LogStore:
    """Owns the directory of the metadata log, from `open` to `close`."""

    def __init__(self, directory: Path, rng: "Random", *, sync: Sync = os.fsync) -> None:
        self._directory = directory
        self._rng = rng
        self._sync = sync
        self._files = LogFiles(directory, sync)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="metadata-log")
        self._lock_descriptor = -1

    @property
    def log_bytes(self) -> int:
        """Bytes of log that a restart would read."""
        return self._files.log_bytes

    async def open(
        self, *, node_id: int, cluster_id: str, new_cluster_id: Callable[[], str]
    ) -> tuple[str, Recovered]:
        """Lock the directory, check whose it is, repair the tail, read everything.

        Returns:
            the cluster id and what the directory held.

        Raises:
            MetadataIdentityError: the directory is somebody else's.
            MetadataLogCorruptError: acknowledged entries cannot be read.
        """
        life_id = self._new_life_id()

        def blocking() -> tuple[str, Recovered]:
            self._directory.mkdir(parents=True, exist_ok=True)
            self._lock_descriptor = lock_directory(self._directory)
            found = check_identity(
                self._directory,
                node_id=node_id,
                cluster_id=cluster_id,
                new_cluster_id=new_cluster_id,
                has_log=self._files.has_log(),
                sync=self._sync,
            )
            return found, self._files.open(life_id)

        return await self._run(blocking)

    async def append(self, entries: Sequence[LogEntry]) -> None:
        """Append entries; they are durable on return.

        Raises:
            MetadataLogFailedError: a write has failed; nothing is accepted any more.

        Cancellation: the entries may or may not become durable.
        """
        await self._run(lambda: self._files.append(entries))

    async def write_snapshot(self, snapshot_id: SnapshotId, pieces: Iterator[bytes]) -> None:
        """Write a snapshot, make it durable, and drop the log before it.

        The pieces are made on the loop, one at a time, with appends in between.

        Raises:
            OSError: the snapshot could not be written; the log goes on without it.
            MetadataLogFailedError: the log has failed.

        Cancellation: the snapshot is not adopted.
        """
        life_id = self._new_life_id()
        await self._run(lambda: self._files.roll(life_id))
        path = self._files.snapshot_temporary(snapshot_id)
        descriptor = await self._run(
            lambda: os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        )
        try:
            for piece in pieces:
                await self._run(partial(_write_whole, descriptor, piece))
            await self._run(lambda: self._sync(descriptor))
        finally:
            # Behind whatever is still under way in the thread, also when this task is cancelled.
            self._thread.submit(os.close, descriptor)
        await self._run(lambda: self._files.adopt_snapshot(snapshot_id))

    async def read_snapshot(self, position: int, size_max: int) -> SnapshotPart | None:
        """Read a part of the newest snapshot; None when there is none."""
        found = await self._run(lambda: self._files.read_snapshot(position, size_max))
        return None if found is None else SnapshotPart(*found)

    async def close(self) -> None:
        """Finish what is under way, close the files, release the lock. May be called twice."""
        if self._lock_descriptor >= 0:
            await self._run(self._close)
        self._thread.shutdown(wait=True)

    def _close(self) -> None:
        self._files.close()
        os.close(self._lock_descriptor)
        self._lock_descriptor = -1

    def _new_life_id(self) -> int:
        return self._rng.getrandbits(64)

    async def _run(self, blocking: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, blocking)


def _write_whole(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
