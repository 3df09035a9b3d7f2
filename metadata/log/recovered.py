"""The contents of the log's directory at the start. Pure."""

from typing import NamedTuple
from uuid import UUID

from headrace.metadata.raft.effects import HardState
from headrace.metadata.raft.messages import Disk
from headrace.metadata.records.entry import LogEntry


class Recovered(NamedTuple):
    """The contents of the log."""

    snapshot: bytes | None
    entries: list[LogEntry]  # entries that the snapshot does not include
    cut_off_bytes: int  # of an unfinished write at the end


class Opened(NamedTuple):
    """The contents of the directory."""

    cluster_id: str  # empty: not known yet
    directory_id: UUID
    hard_state: HardState
    recovered: Recovered
    start: int = 0  # of this process (`headrace.metadata.raft.disks`)
    disks: tuple[Disk, ...] = ()  # what is remembered of the other controllers' directories
