"""The metadata log as consensus uses it: durable state, snapshots, reading both back.

Everything that blocks runs in one thread of its own, in the order asked, so that an fsync neither
stalls the loop nor waits behind other work, and two writes are never under way at once.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from headrace.daemon_threads import DaemonThreads
from headrace.metadata.errors import MetadataIdentityError, MetadataLogCorruptError
from headrace.metadata.image import MetadataImage
from headrace.metadata.log.contents import INSTALL_SUFFIX, has_log
from headrace.metadata.log.durable_files import Sync
from headrace.metadata.log.files import LogFiles
from headrace.metadata.log.hard_state import HardStateFile
from headrace.metadata.log.identity import Identity, find_identity, lock_directory, write_identity
from headrace.metadata.log.recovered import Opened
from headrace.metadata.log.snapshot_format import decode_snapshot
from headrace.metadata.raft.effects import FRESH, NOBODY, HardState, Persist
from headrace.metadata.records.entry import SnapshotId
from headrace.metadata.records.ids import random_id
from headrace.metadata.records.members import NO_DIRECTORY

if TYPE_CHECKING:
    from random import Random

logger = logging.getLogger("headrace.metadata_log")

MAX_SNAPSHOT_BYTES: Final = 4 << 30  # of one that another controller sends
SLOW_WRITE_S: Final = 1.0  # then it is told that the disk does not answer
# A snapshot goes to the disk in such steps: appends, and with them heartbeats, wait for one at most.
SYNC_BYTES: Final = 4 << 20
MAX_CLOSE_S: Final = 3.0  # then the disk is left to itself; the lock goes with the process

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
        self._hard_state: HardStateFile | None = None
        self._identity: Identity | None = None
        self._thread = DaemonThreads(1, "metadata-log")
        self._lock_descriptor = -1
        self._is_closed = False

    @property
    def log_bytes(self) -> int:
        """Bytes of log that a restart would read."""
        return self._files.log_bytes

    async def open(self, *, node_id: int, cluster_id: str) -> Opened:
        """Lock the directory, check whose it is, finish what a crash interrupted, read everything.

        Args:
            node_id: who opens it.
            cluster_id: of which cluster; empty: the directory's, if that knows it.

        Raises:
            MetadataIdentityError: the directory is somebody else's.
            MetadataLogCorruptError: acknowledged entries, or the vote, cannot be read.
        """
        return await self._run(partial(self._open, node_id, cluster_id))

    async def name_cluster(self, cluster_id: str) -> None:
        """Note durably of which cluster this directory is, once that is known.

        Raises:
            MetadataIdentityError: it is of another.
            MetadataLogFailedError: now, or before, a write has failed.
        """
        await self._run(partial(self._name_cluster, cluster_id))

    async def persist(self, persist: Persist) -> None:
        """Make a step of consensus durable: term and vote, then the cut, then the entries.

        A crash leaves any number of these done, each wholly but for the entries, of which it leaves
        some from the first on.

        Raises:
            MetadataLogFailedError: a write has failed; nothing is accepted any more.

        Cancellation: the step may or may not become durable.
        """
        segment_id = self._new_segment_id()
        loop = asyncio.get_running_loop()
        alarm = loop.call_later(SLOW_WRITE_S, _tell_slow, self._directory)
        try:
            await self._run(partial(self._persist, persist, segment_id))
        finally:
            alarm.cancel()

    async def write_snapshot(self, snapshot_id: SnapshotId, pieces: Iterator[bytes]) -> None:
        """Write a snapshot, make it durable, and drop the log before it.

        The pieces are made on the loop, one at a time, with appends in between. One that is
        overtaken by an installed one is dropped.

        Raises:
            OSError: the snapshot could not be written; the log goes on without it.
            MetadataLogFailedError: the log has failed.

        Cancellation: the snapshot is not adopted.
        """
        segment_id = self._new_segment_id()
        await self._run(partial(self._files.roll, segment_id))
        path = self._files.snapshot_temporary(snapshot_id)
        async with self._new_file(path) as descriptor:
            for piece in pieces:
                await self._run(partial(self._write_some, descriptor, piece))
            await self._run(lambda: self._sync(descriptor))
            await self._run(lambda: self._files.adopt_snapshot(snapshot_id))

    async def install_snapshot(
        self, snapshot_id: SnapshotId, chunks: AsyncIterator[bytes]
    ) -> MetadataImage:
        """Put a snapshot that another controller has taken in place of the whole log.

        Nothing of the old log is left. A crash leaves the old log, or the snapshot. It is for the
        caller to know that the log does not hold the snapshot's last entry: else entries behind it,
        which may have been acknowledged, would be lost.

        Args:
            snapshot_id: what the chunks hold, above the newest snapshot.
            chunks: the bytes of the file, in order.

        Returns:
            the image that it holds.

        Raises:
            MetadataLogCorruptError: the bytes are not that snapshot; the log goes on as it was.
            MetadataIdentityError: it is of another cluster; the log goes on as it was.
            OSError: it could not be written; the log goes on as it was.
            MetadataLogFailedError: the log has failed.

        Cancellation: it may or may not be installed.
        """
        assert self._hard_state is not None, "the directory is open"
        assert snapshot_id.term <= self._hard_state.state.term, "its term comes first"
        segment_id = self._new_segment_id()
        path = self._files.snapshot_temporary(snapshot_id, INSTALL_SUFFIX)
        size_bytes = 0
        async with self._new_file(path) as descriptor:
            async for chunk in chunks:
                size_bytes += len(chunk)
                if size_bytes > MAX_SNAPSHOT_BYTES:
                    msg = f"the snapshot has more than {MAX_SNAPSHOT_BYTES} bytes"
                    raise MetadataLogCorruptError(msg)
                await self._run(partial(self._write_some, descriptor, chunk))
            image = await self._run(lambda: self._check_snapshot(path, snapshot_id))
            await self._run(lambda: self._sync(descriptor))
            await self._run(lambda: self._files.install_snapshot(snapshot_id, segment_id))
        return image

    async def read_snapshot(self, position: int, max_size: int) -> SnapshotPart | None:
        """Read a part of the newest snapshot; None when there is none."""
        found = await self._run(lambda: self._files.read_snapshot(position, max_size))
        return None if found is None else SnapshotPart(*found)

    async def close(self) -> None:
        """Finish what is under way, close the files, release the lock. May be called twice.

        A disk that does not answer is not waited for beyond `MAX_CLOSE_S`.
        """
        if self._is_closed:
            return
        self._is_closed = True
        try:
            async with asyncio.timeout(MAX_CLOSE_S):
                await self._run(self._close)
        except TimeoutError:
            _tell_slow(self._directory)
        self._thread.shutdown(wait=False)

    def _open(self, node_id: int, cluster_id: str) -> Opened:
        self._directory.mkdir(parents=True, exist_ok=True)
        self._lock_descriptor = lock_directory(self._directory)
        identity = find_identity(self._directory, node_id=node_id, cluster_id=cluster_id)
        if identity is None:
            if has_log(self._directory):
                raise MetadataIdentityError(
                    f"{self._directory} holds a metadata log, but nothing that says whose it is"
                )
            identity = self._begin(Identity(cluster_id, node_id, NO_DIRECTORY), FRESH)
        recovered = self._files.open(self._new_segment_id())
        last_term = self._files.snapshot_id.term
        if recovered.entries:
            last_term = recovered.entries[-1].term
        if identity.directory_id == NO_DIRECTORY:
            # Of version 1, when a node was the only voter: it owes its vote to nobody.
            identity = self._begin(identity, HardState(last_term, NOBODY))
        self._hard_state = HardStateFile.open(self._directory, self._sync)
        if self._hard_state.state.term < last_term:
            raise MetadataLogCorruptError(
                f"{self._directory}: the log has entries of term {last_term}, but its term is "
                f"{self._hard_state.state.term}: the file of the vote is an old one"
            )
        self._identity = identity
        if cluster_id:
            self._name_cluster(cluster_id)
        return Opened(
            self._identity.cluster_id, identity.directory_id, self._hard_state.state, recovered
        )

    def _begin(self, identity: Identity, state: HardState) -> Identity:
        """Give the directory an id. It comes last: before, a file of the vote does not count."""
        HardStateFile.create(self._directory, state, self._sync)
        identity = identity._replace(directory_id=random_id(self._rng))
        write_identity(self._directory, identity, self._sync)
        return identity

    def _name_cluster(self, cluster_id: str) -> None:
        assert self._identity is not None, "the directory is open"
        known = self._identity.cluster_id
        if known == cluster_id:
            return
        if known:
            msg = f"{self._directory} belongs to cluster {known}, not to {cluster_id}"
            raise MetadataIdentityError(msg)
        identity = self._identity._replace(cluster_id=cluster_id)
        with self._files.failing_for_good():
            write_identity(self._directory, identity, self._sync)
        self._identity = identity

    def _persist(self, persist: Persist, segment_id: int) -> None:
        if persist.hard_state is not None:
            assert self._hard_state is not None, "the directory is open"
            with self._files.failing_for_good():
                self._hard_state.write(persist.hard_state)
        if persist.truncate_from is not None:
            self._files.truncate(persist.truncate_from, segment_id)
        if persist.entries:
            assert self._hard_state is not None, "the directory is open"
            assert persist.entries[-1].term <= self._hard_state.state.term, "its term comes first"
            self._files.append(persist.entries)

    def _write_some(self, descriptor: int, data: bytes) -> None:
        begin = os.lseek(descriptor, 0, os.SEEK_CUR)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if (begin + len(data)) // SYNC_BYTES > begin // SYNC_BYTES:
            self._sync(descriptor)

    def _check_snapshot(self, path: Path, snapshot_id: SnapshotId) -> MetadataImage:
        image = decode_snapshot(path.read_bytes())
        if (image.index, image.term) != (snapshot_id.index, snapshot_id.term):
            raise MetadataLogCorruptError(
                f"the snapshot is of entry {image.index} of term {image.term}, not {snapshot_id}"
            )
        known = "" if self._identity is None else self._identity.cluster_id
        if known and image.cluster_id and image.cluster_id != known:
            msg = f"the snapshot is of cluster {image.cluster_id}, {self._directory} of {known}"
            raise MetadataIdentityError(msg)
        return image

    @asynccontextmanager
    async def _new_file(self, path: Path) -> AsyncIterator[int]:
        """Create a file for writing; what has not got another name in the end is deleted."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        descriptor = await self._run(lambda: os.open(path, flags, 0o644))
        try:
            yield descriptor
        finally:
            # Behind whatever is still under way in the thread, also when this task is cancelled.
            self._thread.submit(_discard, descriptor, path)

    def _close(self) -> None:
        self._files.close()
        if self._hard_state is not None:
            self._hard_state.close()
            self._hard_state = None
        if self._lock_descriptor >= 0:
            os.close(self._lock_descriptor)
            self._lock_descriptor = -1

    def _new_segment_id(self) -> int:
        return self._rng.getrandbits(64)

    async def _run(self, blocking: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, blocking)


def _discard(descriptor: int, path: Path) -> None:
    os.close(descriptor)
    with suppress(FileNotFoundError):
        path.unlink()


def _tell_slow(directory: Path) -> None:
    logger.warning(
        "the disk of the metadata log does not answer", extra={"directory": str(directory)}
    )
