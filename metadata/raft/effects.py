"""What the core hands to its driver, and what the driver hands in at the start. Pure."""

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.messages import RaftMessage
from headrace.metadata.records.entry import NO_SNAPSHOT, LogEntry, SnapshotId

NOBODY: Final = -1


class Role(Enum):
    """What a node is in its term."""

    FOLLOWER = "follower"
    PRE_CANDIDATE = "pre-candidate"
    CANDIDATE = "candidate"
    LEADER = "leader"


class HardState(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Durable before anything that depends on it is sent; written as one."""

    term: int
    voted_for: int  # in this term; `NOBODY`


FRESH: Final = HardState(0, NOBODY)


@dataclass(frozen=True, slots=True)
class DurableState:
    """What a node finds on its disk."""

    hard_state: HardState = FRESH
    snapshot: SnapshotId = NO_SNAPSHOT
    # None: the snapshot has none, or there is none
    snapshot_configuration: Configuration | None = None
    entries: tuple[LogEntry, ...] = ()  # everything behind the snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class RaftSettings:
    """Times in milliseconds of the node's own clock, sizes in bytes of payloads."""

    node_id: int
    directory_id: UUID
    election_timeout_ms: int = 500  # each node waits a random time from one to two of them
    heartbeat_interval_ms: int = 100
    # What is under way to one follower delays the heartbeats behind it, and their answers, on which
    # leadership rests: 2 MiB in all take 0.8 s at 20 Mbit/s, and give 40 MB/s over 50 ms there and back.
    max_append_bytes: int = 256 << 10  # of one AppendRequest, but for one larger entry
    max_appends_inflight: int = 8  # to one follower, unanswered
    compaction_slack_bytes: int = 4 << 20  # kept before a snapshot, for who is a little behind
    max_uncommitted_bytes: int = 64 << 20  # beyond, proposals are refused
    max_committed_bytes: int = 16 << 20  # handed over at once, but for one larger entry
    max_reads_pending: int = 10_000


@dataclass(frozen=True, slots=True)
class Persist:
    """What must become durable, in this order: term and vote, then the cut, then the entries."""

    hard_state: HardState | None = None  # None: unchanged
    truncate_from: int | None = None  # remove this entry and all behind it
    entries: tuple[LogEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadReady:
    """A read may be answered from an image at `index` or later: we led when it was asked for."""

    token: int
    index: int


class RoleChange(NamedTuple):
    """The last change since the effects before."""

    role: Role
    term: int
    leader_id: int  # `NOBODY`: not known


class SnapshotWanted(NamedTuple):
    """Which snapshot to read, and from whom."""

    source: int
    snapshot: SnapshotId


@dataclass(frozen=True, slots=True)
class Effects:
    """What the driver must do, in this order. At most one is under way; more gather in the core meanwhile."""

    persist: Persist | None = None  # 1. nothing below may begin before this is durable
    messages: tuple[RaftMessage, ...] = ()  # 2. any may be lost
    committed: tuple[LogEntry, ...] = ()  # 3. apply in order; each comes exactly once
    reads: tuple[ReadReady, ...] = ()  # 4.
    reads_lost: tuple[int, ...] = ()  # tokens: we may not lead any more; nobody knows
    role: RoleChange | None = None  # 5.
    # 6. Read this snapshot from `source` and install it in place of the whole log, then say so.
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
