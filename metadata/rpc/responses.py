"""Answers of the controller. Fields are encoded in the order written here; only append."""

from uuid import UUID

import msgspec

from headrace.metadata.levels import LevelRange
from headrace.metadata.records.entry import LogEntry


class Done(msgspec.Struct, frozen=True, array_like=True, tag=1, gc=False):
    """The change took effect; there is nothing else to return."""


class BrokerRegistered(msgspec.Struct, frozen=True, array_like=True, tag=2, gc=False):
    """The epoch that every later request of the broker carries."""

    node_epoch: int
    cluster_id: str


class HeartbeatAnswer(msgspec.Struct, frozen=True, array_like=True, tag=3, gc=False):
    """The session was extended."""

    fenced: bool


class TopicCreated(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The result for one topic of a CreateTopics."""

    name: str
    error_code: int
    message: str | None
    topic_id: UUID  # zero on error and for validate_only
    leaders: tuple[int, ...]  # by partition


class TopicsCreated(msgspec.Struct, frozen=True, array_like=True, tag=10, gc=False):
    """In the order of the request."""

    results: tuple[TopicCreated, ...]


class TopicDeleted(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The result for one topic of a DeleteTopics: both its name and id, if it existed."""

    name: str | None
    topic_id: UUID | None
    error_code: int
    message: str | None


class TopicsDeleted(msgspec.Struct, frozen=True, array_like=True, tag=11, gc=False):
    """In the order of the request."""

    results: tuple[TopicDeleted, ...]


class ProducerIdBlock(msgspec.Struct, frozen=True, array_like=True, tag=12, gc=False):
    """Ids `[first_producer_id, first_producer_id + count)` belong to the sender."""

    first_producer_id: int
    count: int


class StreamOutcome(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The outcome for one of many streams; the offsets are valid if it was opened."""

    error_code: int
    message: str | None
    start_offset: int = -1
    end_offset: int = -1


class StreamsOpened(msgspec.Struct, frozen=True, array_like=True, tag=23, gc=False):
    """In the order of the request."""

    outcomes: tuple[StreamOutcome, ...]


class StreamsClosed(msgspec.Struct, frozen=True, array_like=True, tag=24, gc=False):
    """In the order of the request; the outcomes have no offsets."""

    outcomes: tuple[StreamOutcome, ...]


class ObjectsPrepared(msgspec.Struct, frozen=True, array_like=True, tag=30, gc=False):
    """The first of the reserved ids."""

    first_object_id: int


class ReassignmentAltered(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The result for one partition of an AlterReassignments."""

    error_code: int
    message: str | None


class ReassignmentsAltered(msgspec.Struct, frozen=True, array_like=True, tag=80, gc=False):
    """In the order of the request."""

    results: tuple[ReassignmentAltered, ...]


class MoveFinished(msgspec.Struct, frozen=True, array_like=True, tag=81, gc=False):
    """A move has ended, and what has become of it."""

    taken_back: str | None  # why; None: the target leads


class BrokerShare(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one active broker leads, moves that are under way counted as done."""

    node_id: int
    rack: str
    takes_part: bool
    partitions: int
    bytes_per_s: int  # in and out, and what its requests cost in bytes


class BalanceMove(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A move that the balance has decided on, or would."""

    at_ms: int  # wall clock of the leader
    topic: str
    partition: int
    source: int
    target: int
    goal: str
    reason: str
    outcome: str


class BalanceDescribed(msgspec.Struct, frozen=True, array_like=True, tag=82, gc=False):
    """The balance of brokers, as the leading controller sees it."""

    waits_for: str | None  # why it plans nothing now
    evening: tuple[str, ...]  # the goals that it works on
    unreached: tuple[str, ...]  # goals that are not reached, although no move helps
    moving: int  # moves under way, of the balance and of requests
    brokers: tuple[BrokerShare, ...]
    decisions: tuple[BalanceMove, ...]  # the last ones, the newest last
    planned: tuple[BalanceMove, ...] | None  # of a dry run


class Entries(msgspec.Struct, frozen=True, array_like=True, tag=50, gc=False):
    """Committed entries from the requested index on; if they were dropped, the snapshot to read."""

    entries: tuple[LogEntry, ...]
    end_index: int  # last committed
    snapshot_index: int  # -1: none needed


class SnapshotChunk(msgspec.Struct, frozen=True, array_like=True, tag=51, gc=False):
    """A part of the snapshot's file."""

    snapshot_index: int
    position: int
    size_bytes: int  # of the whole file
    data: bytes


class QuorumMember(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One controller as the leader sees it, or a broker that follows the log."""

    node_id: int
    directory_id: UUID
    host: str
    port: int
    log_end_index: int  # -1: not known
    last_fetch_ms: int  # wall clock of the leader; -1: no contact in this term
    last_caught_up_ms: int


class QuorumDescribed(msgspec.Struct, frozen=True, array_like=True, tag=60, gc=False):
    """The quorum as its leader sees it."""

    leader_id: int
    term: int
    commit_index: int
    voters: tuple[QuorumMember, ...]
    observers: tuple[QuorumMember, ...]  # learners, and brokers


class LevelsTold(msgspec.Struct, frozen=True, array_like=True, tag=61, gc=False):
    """The levels of `headrace.metadata.version` that the controller reads."""

    reads: LevelRange


class Relayed(msgspec.Struct, frozen=True, array_like=True, tag=65, gc=False):
    """What the leader has answered, as it came."""

    frame: bytes


Response = (
    Done
    | BrokerRegistered
    | HeartbeatAnswer
    | TopicsCreated
    | TopicsDeleted
    | ProducerIdBlock
    | StreamsOpened
    | StreamsClosed
    | ObjectsPrepared
    | Entries
    | SnapshotChunk
    | QuorumDescribed
    | LevelsTold
    | Relayed
    | ReassignmentsAltered
    | MoveFinished
    | BalanceDescribed
)
