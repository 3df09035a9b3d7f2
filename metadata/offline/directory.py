"""Reads a metadata directory without owning it: takes no lock, repairs nothing, writes nothing.

A node may have the directory open and write to it meanwhile. The result is the log up to some entry
that was durable at that time, or, at its very end, one that is being made durable: a reader that
must not miss an object lists the bucket first.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from headrace.metadata.errors import MetadataIdentityError, MetadataLogCorruptError
from headrace.metadata.image import MetadataImage
from headrace.metadata.leader.startup import load_image
from headrace.metadata.log.contents import list_directory, read_contents
from headrace.metadata.log.hard_state import read_quorum_state
from headrace.metadata.log.identity import IDENTITY_FILE, LOCK_FILE, read_identity
from headrace.metadata.log.os_directory import OsDirectory
from headrace.metadata.log.recovered import Recovered
from headrace.metadata.raft.effects import HardState
from headrace.metadata.records.entry import LogEntry, SnapshotId

# A new snapshot may delete files between listing and reading them.
MAX_ATTEMPTS: Final = 5
LOCKS: Final = Path("/proc/locks")


@dataclass(frozen=True, slots=True)
class OfflineMetadata:
    """What a directory holds."""

    directory: Path
    image: MetadataImage
    cluster_id: str
    node_id: int
    in_use: bool  # a process has it open; False proves nothing
    unfinished_bytes: int  # at the end of the log: being written, or torn
    directory_id: UUID
    hard_state: HardState
    snapshot_id: SnapshotId
    snapshot: bytes | None  # its file
    entries: list[LogEntry]  # after the snapshot


def find_directory(path: Path) -> Path:
    """Return `path`, or its `metadata`, whichever is a metadata directory.

    Raises:
        MetadataIdentityError: neither is.
    """
    for candidate in (path, path / "metadata"):
        if (candidate / IDENTITY_FILE).is_file():
            return candidate
    raise MetadataIdentityError(f"{path} is not a metadata directory: {IDENTITY_FILE} is missing")


def read_offline(path: Path) -> OfflineMetadata:
    """Read a directory as it is now.

    Args:
        path: of the directory with `meta.properties` and the log.

    Raises:
        MetadataIdentityError: it is not a metadata directory.
        MetadataLogCorruptError: entries that were durable cannot be read.
        MetadataFormatError: a newer version has written it.
        OSError: a file cannot be read.
    """
    directory = OsDirectory(path)
    identity = read_identity(directory)
    snapshot_id, recovered, hard_state = _read_log(directory)
    image = load_image(recovered, identity.cluster_id)
    return OfflineMetadata(
        directory=path,
        image=image,
        cluster_id=identity.cluster_id or image.cluster_id,
        node_id=identity.node_id,
        in_use=is_locked(path),
        unfinished_bytes=recovered.cut_off_bytes,
        directory_id=identity.directory_id,
        hard_state=hard_state,
        snapshot_id=snapshot_id,
        snapshot=recovered.snapshot,
        entries=recovered.entries,
    )


def _read_log(directory: OsDirectory) -> tuple[SnapshotId, Recovered, HardState]:
    for _ in range(MAX_ATTEMPTS - 1):
        with suppress(FileNotFoundError, MetadataLogCorruptError):
            return _read_once(directory)
    return _read_once(directory)


def _read_once(directory: OsDirectory) -> tuple[SnapshotId, Recovered, HardState]:
    quorum_state = read_quorum_state(directory)
    listing = list_directory(directory)
    contents = read_contents(directory, listing, quorum_state.proven)
    recovered = Recovered(contents.snapshot, contents.entries, contents.torn_bytes)
    return listing.snapshot_id, recovered, quorum_state.hard_state


def is_locked(directory: Path, *, locks: Path = LOCKS) -> bool:
    """Check whether a process of this machine holds the directory's lock, without trying to take it.

    Reads /proc/locks, which does not show processes of other containers. Only taking the lock
    proves that no process has the directory open.
    """
    try:
        found = (directory / LOCK_FILE).stat()
        lines = locks.read_text().splitlines()
    except OSError:
        return False
    lock_id = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    # `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`; a waiter has `->` after the number.
    return any("FLOCK" in line and lock_id in line.split() for line in lines)
