"""Values between the core and its driver: effects, and the durable state at the start. Pure."""

from enum import Enum
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.messages import Disk, RaftMessage
from headrace.metadata.records.entry import NO_SNAPSHOT, LogEntry, SnapshotId

NOBODY: Final = -1


class Role(Enum):
    """The role of a node in its term."""

    FOLLOWER = "follower"
    PRE_CANDIDATE = "pre-candidate"
    CANDIDATE = "candidate"
    LEADER = "leader"


class HardState(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Term and vote: written together, and durable before anything that depends on them is sent."""

    term: int
    voted_for: int  # in this term; `NOBODY`


FRESH: Final = HardState(0, NOBODY)


class DurableState(msgspec.Struct, frozen=True):
    """The durable state of a node at its start."""

    hard_state: HardState = FRESH
    snapshot: SnapshotId = NO_SNAPSHOT
    # None: the snapshot names none, or there is no snapshot
    snapshot_configuration: Configuration | None = None
    entries: tuple[LogEntry, ...] = ()  # all entries after the snapshot
    start: int = 0  # of this process (`headrace.metadata.raft.disks`); 0: not counted
    disks: tuple[Disk, ...] = ()  # what is remembered of the others' directories


class RaftSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Times in milliseconds of the node's own clock, sizes in bytes of payloads."""

    node_id: int
    directory_id: UUID
    election_timeout_ms: int = 500  # each node waits a random time from one to two times this
    heartbeat_interval_ms: int = 100
    # Inflight data to one follower delays the heartbeats after it, and their answers, on which leadership
    # depends: 2 MiB in all take 0.8 s at 20 Mbit/s, and give 40 MB/s with a round trip of 50 ms.
    max_append_bytes: int = 256 << 10  # of one AppendRequest, except for one larger entry
    max_appends_inflight: int = 8  # to one follower, unanswered
    compaction_slack_bytes: int = 4 << 20  # kept before a snapshot, for followers that lag slightly
    max_uncommitted_bytes: int = 64 << 20  # beyond that, proposals are refused
    max_committed_bytes: int = 16 << 20  # handed over at once, except for one larger entry
    max_reads_pending: int = 10_000


class Persist(msgspec.Struct, frozen=True):
    """What must become durable, in this order: term and vote, then the truncation, then the entries."""

    hard_state: HardState | None = None  # None: unchanged
    truncate_from: int | None = None  # remove this entry and all after it
    entries: tuple[LogEntry, ...] = ()


class ReadReady(msgspec.Struct, frozen=True):
    """A read may be answered from an image at `index` or later: this node led when it was requested."""

    token: int
    index: int


class RoleChange(NamedTuple):
    """The current role, if it changed since the previous effects."""

    role: Role
    term: int
    leader_id: int  # `NOBODY`: not known


class SnapshotWanted(NamedTuple):
    """A snapshot to read, and the node that has it."""

    source: int
    snapshot: SnapshotId


class Effects(msgspec.Struct, frozen=True):
    """What the driver must do, in this order. At most one is being performed; the core collects more."""

    persist: Persist | None = None  # 1. nothing below may begin before this is durable
    messages: tuple[RaftMessage, ...] = ()  # 2. each may be lost
    committed: tuple[LogEntry, ...] = ()  # 3. apply in order; each entry exactly once
    reads: tuple[ReadReady, ...] = ()  # 4.
    reads_lost: tuple[int, ...] = ()  # tokens of reads without answer: this node may no longer lead
    role: RoleChange | None = None  # 5.
    # 6. Read this snapshot from `source`, replace the whole log by it, then call `snapshot_installed`.
    fetch_snapshot: SnapshotWanted | None = None

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return bool(
            self.persist
            or self.messages
            or self.committed
            or self.reads
            or self.reads_lost
            or self.role
            or self.fetch_snapshot
        )
