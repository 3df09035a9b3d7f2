"""The metadata log as Raft uses it: durable state, snapshots, and recovery of both.

Everything that blocks is run by the directory, in the order of the calls, so that an fsync
neither stalls the event loop nor waits behind other work, and two writes never run at once.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from headrace.invariants import InvariantError, require
from headrace.metadata.errors import (
    MetadataIdentityError,
    MetadataLogCorruptError,
    MetadataLogFailedError,
)
from headrace.metadata.image import MetadataImage
from headrace.metadata.log.contents import INSTALL_SUFFIX, has_log
from headrace.metadata.log.directory import Directory, File
from headrace.metadata.log.durable_files import read_file, write_all
from headrace.metadata.log.files import LogFiles
from headrace.metadata.log.hard_state import HardStateFile, read_quorum_state
from headrace.metadata.log.identity import (
    Identity,
    condemn,
    find_identity,
    lock_directory,
    refuse_old_copy,
    write_identity,
)
from headrace.metadata.log.recovered import Opened
from headrace.metadata.log.snapshot_format import decode_snapshot
from headrace.metadata.raft.effects import FRESH, Persist
from headrace.metadata.raft.messages import Disk
from headrace.metadata.records.entry import SnapshotId
from headrace.metadata.records.ids import random_id
from headrace.task_failures import report_unexpected

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

logger = logging.getLogger("headrace.metadata_log")

MAX_SNAPSHOT_BYTES: Final = 4 << 30  # of a snapshot that another controller sends
SLOW_WRITE_S: Final = 1.0  # after this time a slow write is logged
# A snapshot is written in chunks of this size: appends, and with them heartbeats, wait for one at most.
SYNC_BYTES: Final = 4 << 20
SNAPSHOT_READER_S: Final = 30.0  # after its last chunk a reader of a snapshot counts so long
# After this time without a write, the end of the log is proven (`hard_state`): not on the way of entries.
IDLE_PROOF_S: Final = 1.0
MAX_CLOSE_S: Final = (
    3.0  # after this time the disk is no longer waited for; the process's end releases the lock
)

_T = TypeVar("_T")


class SnapshotPart(NamedTuple):
    """A chunk of a snapshot's file."""

    size_bytes: int  # of the file
    data: bytes


class LogStore:
    """Owns the directory of the metadata log, from `open` to `close`."""

    def __init__(self, directory: Directory, rng: "Random") -> None:
        self._directory = directory
        self._rng = rng
        self._files = LogFiles(directory)
        self._hard_state: HardStateFile | None = None
        self._identity: Identity | None = None
        self._lock: File | None = None
        self.lock_name = ""  # from `open` to `close`; see `headrace.wal.device.lock_names`
        self.snapshot_bytes = 0  # of the newest one; 0: there is none
        self._is_closed = False
        self._snapshot_read_at_s = float("-inf")
        self._disks: tuple[Disk, ...] = ()  # to be remembered
        self._proof_timer: asyncio.TimerHandle | None = None
        self._persisted_at_s = 0.0

    @property
    def log_bytes(self) -> int:
        """Bytes of the log that a restart reads."""
        return self._files.log_bytes

    @property
    def is_snapshot_being_read(self) -> bool:
        """Whether a node has recently read a chunk of a snapshot, and may need the entries after it."""
        now_s = asyncio.get_running_loop().time()
        return now_s < self._snapshot_read_at_s + SNAPSHOT_READER_S

    async def open(self, *, node_id: int, cluster_id: str) -> Opened:
        """Lock the directory, check its owner, complete what a crash interrupted, read everything.

        Args:
            node_id: of the node that opens it.
            cluster_id: of its cluster; empty: the directory's, if it has one.

        Raises:
            MetadataIdentityError: the directory belongs to another node or cluster, or is in use.
            MetadataLogCorruptError: acknowledged entries, or the vote, cannot be read.
        """
        return await self._run(partial(self._open, node_id, cluster_id))

    async def condemn(self, reason: str) -> None:
        """Record durably that this directory is an old copy of itself, and refuse it from now on.

        Raises:
            MetadataIdentityError: always, with what to do.
            OSError: it could not be recorded.
        """
        await self._run(partial(condemn, self._directory, reason))
        refuse_old_copy(self._directory)

    async def name_cluster(self, cluster_id: str) -> None:
        """Record durably the cluster of this directory, once it is known.

        Raises:
            MetadataIdentityError: it belongs to another cluster.
            MetadataLogFailedError: a write failed, now or earlier.
        """
        await self._run(partial(self._name_cluster, cluster_id))

    async def persist(self, persist: Persist) -> None:
        """Make a Raft state change durable: term and vote, then the truncation, then the entries.

        After a crash a prefix of these is done. Term and vote, and the truncation, are atomic; of
        the entries a prefix may be there.

        Raises:
            MetadataLogFailedError: a write failed; the log accepts no more writes.

        Cancellation: the change may or may not become durable.
        """
        segment_id = self._new_segment_id()
        loop = asyncio.get_running_loop()
        alarm = loop.call_later(SLOW_WRITE_S, _report_slow_write, self._directory.path)
        try:
            await self._run(partial(self._persist, persist, segment_id))
        finally:
            alarm.cancel()
        self._persisted_at_s = loop.time()
        self._expect_idle()

    def remember(self, disks: tuple[Disk, ...]) -> None:
        """Remember this of the other controllers' directories.

        It becomes durable with the next proof; at once if another of them, or another start, is new.
        """
        if disks is self._disks or self._is_closed:
            return
        known = {(it.directory_id, it.start) for it in self._disks}
        self._disks = disks
        if all((it.directory_id, it.start) in known for it in disks):
            self._expect_idle()
        else:
            self._prove_soon()

    async def write_snapshot(self, snapshot_id: SnapshotId, pieces: Iterator[bytes]) -> None:
        """Write a snapshot, make it durable, and drop the log before it.

        The pieces are encoded on the loop, one at a time, with appends in between. If a newer
        snapshot is installed meanwhile, this one is dropped.

        Raises:
            OSError: the snapshot could not be written; the log works on without it.
            MetadataLogFailedError: the log has failed.

        Cancellation: the snapshot is not adopted.
        """
        segment_id = self._new_segment_id()
        await self._run(partial(self._files.roll, segment_id))
        name = self._files.snapshot_temporary(snapshot_id)
        async with self._new_file(name) as file:
            for piece in pieces:
                await self._run(partial(file.append, piece))
            await self._run(file.sync)
            await self._run(lambda: self._files.adopt_snapshot(snapshot_id))
            self.snapshot_bytes = file.size_bytes

    async def install_snapshot(
        self, snapshot_id: SnapshotId, chunks: AsyncIterator[bytes]
    ) -> MetadataImage:
        """Replace the whole log by a snapshot that another controller has taken.

        No entry of the old log remains. A crash leaves the old log, or the snapshot. The caller must
        know that the log does not hold the snapshot's last entry: otherwise entries after it, which
        may have been acknowledged, would be lost.

        Args:
            snapshot_id: of the snapshot in the chunks, above the newest snapshot.
            chunks: the bytes of the file, in order.

        Returns:
            the image of the snapshot.

        Raises:
            MetadataLogCorruptError: the bytes are not that snapshot; the log is unchanged.
            MetadataIdentityError: it belongs to another cluster; the log is unchanged.
            OSError: it could not be written; the log is unchanged.
            MetadataLogFailedError: the log has failed.

        Cancellation: it may or may not be installed.
        """
        if self._hard_state is None:
            raise InvariantError("the directory is open")
        require(snapshot_id.term <= self._hard_state.state.term, "its term comes first")
        segment_id = self._new_segment_id()
        name = self._files.snapshot_temporary(snapshot_id, INSTALL_SUFFIX)
        async with self._new_file(name) as file:
            async for chunk in chunks:
                if file.size_bytes + len(chunk) > MAX_SNAPSHOT_BYTES:
                    msg = f"the snapshot has more than {MAX_SNAPSHOT_BYTES} bytes"
                    raise MetadataLogCorruptError(msg)
                await self._run(partial(file.append, chunk))
            image = await self._run(lambda: self._check_snapshot(name, snapshot_id))
            await self._run(file.sync)
            await self._run(lambda: self._files.install_snapshot(snapshot_id, segment_id))
            self.snapshot_bytes = file.size_bytes
        return image

    async def read_snapshot(self, index: int, position: int, max_size: int) -> SnapshotPart | None:
        """Read a chunk of a snapshot: of the newest, or of one that was when its reader began.

        Returns:
            None: it is not here.
        """
        self._snapshot_read_at_s = asyncio.get_running_loop().time()
        found = await self._run(lambda: self._files.read_snapshot(index, position, max_size))
        return None if found is None else SnapshotPart(*found)

    async def close(self) -> None:
        """Finish running writes, close the files, release the lock. May be called twice.

        Waits for a disk that hangs at most `MAX_CLOSE_S`.
        """
        if self._is_closed:
            return
        self._is_closed = True
        if self._proof_timer is not None:
            self._proof_timer.cancel()
        try:
            async with asyncio.timeout(MAX_CLOSE_S):
                await self._run(self._close)
        except TimeoutError:
            _report_slow_write(self._directory.path)
        self._directory.close()

    def _open(self, node_id: int, cluster_id: str) -> Opened:
        self._directory.make()
        self._lock = lock_directory(self._directory)
        refuse_old_copy(self._directory)
        self.lock_name = self._lock.lock_name()
        identity = find_identity(self._directory, node_id=node_id, cluster_id=cluster_id)
        if identity is None:
            if has_log(self._directory):
                raise MetadataIdentityError(
                    f"{self._directory.path} has a metadata log, but no file that names its cluster and node"
                )
            identity = self._begin(cluster_id, node_id)
        proven_end = read_quorum_state(self._directory).proven
        random64 = self._new_segment_id()
        recovered = self._files.open(random64, proven_end)
        self.snapshot_bytes = len(recovered.snapshot or b"")
        last_term = self._files.snapshot_id.term
        if recovered.entries:
            last_term = recovered.entries[-1].term
        self._hard_state = HardStateFile.open(
            self._directory,
            proven=self._files.end,
            random32=random64 >> 32,
        )
        self._disks = self._hard_state.disks
        if self._hard_state.state.term < last_term:
            raise MetadataLogCorruptError(
                f"{self._directory.path}: the log has entries of term {last_term}, but the saved term is "
                f"{self._hard_state.state.term}: the file with term and vote is an old copy"
            )
        self._identity = identity
        if cluster_id:
            self._name_cluster(cluster_id)
        return Opened(
            self._identity.cluster_id,
            identity.directory_id,
            self._hard_state.state,
            recovered,
            self._hard_state.start,
            self._disks,
        )

    def _begin(self, cluster_id: str, node_id: int) -> Identity:
        """Write the directory's id. It comes last: without it the file with the vote does not count."""
        HardStateFile.create(self._directory, FRESH)
        identity = Identity(cluster_id, node_id, random_id(self._rng))
        write_identity(self._directory, identity)
        return identity

    def _name_cluster(self, cluster_id: str) -> None:
        if self._identity is None:
            raise InvariantError("the directory is open")
        known = self._identity.cluster_id
        if known == cluster_id:
            return
        if known:
            msg = f"{self._directory.path} belongs to cluster {known}, not to {cluster_id}"
            raise MetadataIdentityError(msg)
        identity = self._identity._replace(cluster_id=cluster_id)
        with self._files.failing_for_good():
            write_identity(self._directory, identity)
        self._identity = identity

    def _persist(self, persist: Persist, segment_id: int) -> None:
        if persist.hard_state is not None:
            if self._hard_state is None:
                raise InvariantError("the directory is open")
            with self._files.failing_for_good():
                self._hard_state.write(persist.hard_state)
        if persist.truncate_from is not None:
            self._files.truncate(persist.truncate_from, segment_id)
        if persist.entries:
            if self._hard_state is None:
                raise InvariantError("the directory is open")
            require(persist.entries[-1].term <= self._hard_state.state.term, "its term comes first")
            self._files.append(persist.entries)

    def _expect_idle(self) -> None:
        if self._proof_timer is None and not self._is_closed:
            loop = asyncio.get_running_loop()
            self._proof_timer = loop.call_later(IDLE_PROOF_S, self._prove_when_idle)

    def _prove_when_idle(self) -> None:
        loop = asyncio.get_running_loop()
        left_s = self._persisted_at_s + IDLE_PROOF_S - loop.time()
        if left_s > 0:
            self._proof_timer = loop.call_later(left_s, self._prove_when_idle)
        else:
            self._proof_timer = None
            self._prove_soon()

    def _prove_soon(self) -> None:
        self._directory.run(self._prove).add_done_callback(report_unexpected)

    def _prove(self) -> None:
        """Record that the whole log is durable, so that damage of its end differs from a torn write.

        What is remembered of other directories is written with it.
        """
        if self._hard_state is None:
            raise InvariantError("the directory is open")
        disks = self._disks
        written = (self._hard_state.proven, self._hard_state.disks)
        if self._files.failed or written == (self._files.end, disks):
            return
        try:
            with self._files.failing_for_good():
                self._hard_state.prove(self._files.end, disks)
        except MetadataLogFailedError as error:
            # What is in the log stays durable. The next write is refused, which ends the node.
            logger.warning(
                "the end of the metadata log could not be proven", extra={"reason": str(error)}
            )

    def _check_snapshot(self, name: str, snapshot_id: SnapshotId) -> MetadataImage:
        image = decode_snapshot(read_file(self._directory, name))
        if (image.index, image.term) != (snapshot_id.index, snapshot_id.term):
            raise MetadataLogCorruptError(
                f"the snapshot is of entry {image.index} of term {image.term}, not {snapshot_id}"
            )
        known = "" if self._identity is None else self._identity.cluster_id
        if known and image.cluster_id and image.cluster_id != known:
            msg = (
                f"the snapshot belongs to cluster {image.cluster_id}, "
                f"{self._directory.path} to {known}"
            )
            raise MetadataIdentityError(msg)
        return image

    @asynccontextmanager
    async def _new_file(self, name: str) -> "AsyncIterator[_NewFile]":
        """Create a file for writing; it is deleted unless it is renamed."""
        file = _NewFile(await self._run(lambda: self._directory.create(name)))
        try:
            yield file
        finally:
            # Behind what is still being written, also when this task is cancelled.
            discarding = self._directory.run(partial(_discard, self._directory, file, name))
            discarding.add_done_callback(report_unexpected)

    def _close(self) -> None:
        if self._hard_state is not None:
            self._prove()
        self._files.close()
        if self._hard_state is not None:
            self._hard_state.close()
            self._hard_state = None
        if self._lock is not None:
            self._lock.close()
            self._lock, self.lock_name = None, ""

    def _new_segment_id(self) -> int:
        return self._rng.getrandbits(64)

    async def _run(self, blocking: Callable[[], _T]) -> _T:
        return await self._directory.run(blocking)


class _NewFile:
    """A file that is written from its beginning to its end. Blocking."""

    def __init__(self, file: File) -> None:
        self._file = file
        self.size_bytes = 0

    def append(self, data: bytes) -> None:
        write_all(self._file, data, self.size_bytes)
        begin, self.size_bytes = self.size_bytes, self.size_bytes + len(data)
        if self.size_bytes // SYNC_BYTES > begin // SYNC_BYTES:
            self._file.sync()

    def sync(self) -> None:
        self._file.sync()

    def close(self) -> None:
        self._file.close()


def _discard(directory: Directory, file: _NewFile, name: str) -> None:
    file.close()
    with suppress(OSError):  # the next start removes it
        directory.unlink(name)


def _report_slow_write(directory: "Path") -> None:
    logger.warning(
        "a write of the metadata log has not completed yet, the disk is slow; waiting for it",
        extra={"directory": str(directory)},
    )
