"""Requests of brokers to the controller. Fields are encoded in the order written here; only append.

`node_id` and `node_epoch` name the sender's registration; a write with an old one is refused, and so is one of a sender
that does not prove that the registration is its own (`headrace.metadata.proof`).
`log_id` and `log_epoch` name the log in whose name it acts, and its right to: its registration, if the
log is its own, else the epoch of the drain.
Tags 20, 21 and 40 were of level 1 of the metadata, and stay unused.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final
from uuid import UUID

import msgspec

from headrace.metadata.levels import MOVES_LEVEL, UNTOLD, LevelRange
from headrace.metadata.records.brokers import BrokerEndpoint
from headrace.metadata.records.logs import LogMedium, LogReach
from headrace.metadata.records.numbers import Count, Int32, Int64, ShortText, Text
from headrace.metadata.records.objects import RecordedRange
from headrace.metadata.rpc.loads import Loads

NO_LOG = -1  # the sender's own log


class BrokerGoal(IntEnum):
    """The state that a broker requests with its heartbeat."""

    STAY_FENCED = 0  # recovering: keep the session, stay hidden from clients
    SERVE = 1
    SHUT_DOWN = 2  # everything is uploaded and closed: end the epoch


class ConfigOp(IntEnum):
    """Operations of IncrementalAlterConfigs (KIP-339)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class UpgradeType(IntEnum):
    """The ways to set a feature's level (KIP-778)."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


class RegisterBroker(msgspec.Struct, frozen=True, array_like=True, tag=1, gc=False):
    """Start a new epoch of a broker, unless another process has one that lasts. Answer: BrokerRegistered."""

    cluster_id: ShortText  # empty: not checked
    node_id: Count
    incarnation_id: UUID
    endpoints: tuple[BrokerEndpoint, ...]
    rack: ShortText
    session_timeout_ms: Count = 0  # its leases are shorter by a margin; 0: the controller's setting
    # Exclusive locks that the process holds until it ends. Whoever holds one that an earlier process of this
    # broker registered with proves that the earlier one is gone.
    locks: tuple[ShortText, ...] = ()  # as they are recorded; see `headrace.metadata.proof`
    reads: LevelRange = UNTOLD
    lock_names: tuple[ShortText, ...] = ()  # of which digests are recorded


class Heartbeat(msgspec.Struct, frozen=True, array_like=True, tag=2, gc=False):
    """Keep a session. Answer: HeartbeatAnswer."""

    node_id: Count
    node_epoch: Int64
    applied_index: Int64
    goal: BrokerGoal
    awaited_snapshot: Int64 = (
        -1
    )  # an entry: it deletes objects once a snapshot that has it is in the bucket; -1: none
    reads: LevelRange = UNTOLD
    loads: Loads | None = None  # None: not looked at since the last heartbeat
    bytes_before_moves: Count = 0  # that have to be in the bucket before its moves get on
    is_able: bool = (
        True  # False: it cannot open partitions, as it cannot append or does not reach its bucket
    )


class UnregisterBroker(msgspec.Struct, frozen=True, array_like=True, tag=3, gc=False):
    """Remove a broker that will not come back. Answer: Done."""

    node_id: Count


class TopicCreation(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One topic to create."""

    name: Text
    partitions: Int32  # -1: one, or as many as the assignments have
    replication_factor: Int32
    configs: tuple[tuple[Text, Text | None], ...]
    # (partition, brokers); None: the controller chooses
    assignments: tuple[tuple[Int32, tuple[Int32, ...]], ...] | None


class CreateTopics(msgspec.Struct, frozen=True, array_like=True, tag=10, gc=False):
    """Create topics, each independently. Answer: TopicsCreated."""

    topics: tuple[TopicCreation, ...]
    validate_only: bool


class TopicDeletion(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A topic to delete, by its name or by its id: the other is None."""

    name: Text | None
    topic_id: UUID | None


class DeleteTopics(msgspec.Struct, frozen=True, array_like=True, tag=11, gc=False):
    """Delete topics, each independently. Answer: TopicsDeleted.

    The controller resolves the names: a broker's image may be out of date.
    """

    topics: tuple[TopicDeletion, ...]


class CreatePartitions(msgspec.Struct, frozen=True, array_like=True, tag=12, gc=False):
    """Raise the number of partitions of a topic. Answer: Done."""

    name: Text
    count: Int32  # the new total
    assignments: tuple[tuple[Int32, ...], ...] | None  # brokers of each new partition
    validate_only: bool


class ConfigChange(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One change of one config."""

    key: Text
    op: Int32  # a ConfigOp; checked by the decision, which answers with an error
    value: Text | None


class AlterConfigs(msgspec.Struct, frozen=True, array_like=True, tag=13, gc=False):
    """Change configs of one resource, all or none. Answer: Done."""

    resource_type: Int32
    resource_name: Text
    changes: tuple[ConfigChange, ...]
    validate_only: bool


class AllocateProducerIds(msgspec.Struct, frozen=True, array_like=True, tag=14, gc=False):
    """Reserve a block of producer ids. Answer: ProducerIdBlock."""

    node_id: Count
    node_epoch: Int64


class StreamToOpen(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One of many streams to open."""

    stream_id: Int64
    stream_epoch: Int64


class OpenStreamBatch(msgspec.Struct, frozen=True, array_like=True, tag=23, gc=False):
    """Open streams at the leader epochs of their partitions, each that can be, in one entry. Answer: StreamsOpened."""

    node_id: Count
    node_epoch: Int64
    streams: tuple[StreamToOpen, ...]


class StreamToClose(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One of many streams to close."""

    stream_id: Int64
    stream_epoch: Int64
    end_offset: Int64


class CloseStreamBatch(msgspec.Struct, frozen=True, array_like=True, tag=24, gc=False):
    """Close streams whose data is all committed, each that can be, in one entry. Answer: StreamsClosed."""

    node_id: Count
    node_epoch: Int64
    streams: tuple[StreamToClose, ...]
    log_id: Int64 = NO_LOG
    log_epoch: Int64 = -1


class TrimStream(msgspec.Struct, frozen=True, array_like=True, tag=22, gc=False):
    """Raise a stream's start offset. Answer: Done."""

    node_id: Count
    node_epoch: Int64
    stream_id: Int64
    stream_epoch: Int64
    new_start_offset: Int64


class PrepareObjects(msgspec.Struct, frozen=True, array_like=True, tag=30, gc=False):
    """Reserve consecutive object ids. Answer: ObjectsPrepared."""

    node_id: Count
    node_epoch: Int64
    count: Count
    ttl_ms: Int64


class CommittedStreamObject(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A Stream Object to commit."""

    object_id: Int64
    size_bytes: Int64
    range: RecordedRange


class CommitStreamSetObject(msgspec.Struct, frozen=True, array_like=True, tag=31, gc=False):
    """Commit an upload or a compaction of Stream Set Objects, atomically. Answer: Done."""

    node_id: Count
    node_epoch: Int64
    object_id: Int64  # -1: every stream went to a Stream Object of its own
    size_bytes: Int64
    ranges: tuple[RecordedRange, ...]
    stream_objects: tuple[CommittedStreamObject, ...]
    compacted_object_ids: tuple[Int64, ...]
    unused: tuple[()] = ()  # the place of a field of level 1
    log_id: Int64 = NO_LOG
    log_epoch: Int64 = -1
    wal_end_offset: Int64 = -1  # with it, everything below in the sender's own log is in the bucket


class CompactStreamObject(msgspec.Struct, frozen=True, array_like=True, tag=32, gc=False):
    """Replace Stream Objects of one stream by one. Answer: Done."""

    node_id: Count
    node_epoch: Int64
    stream_object: CommittedStreamObject
    source_object_ids: tuple[Int64, ...]


class ForgetObjects(msgspec.Struct, frozen=True, array_like=True, tag=33, gc=False):
    """Remove destroyed objects that were deleted from the bucket. Answer: Done."""

    node_id: Count
    node_epoch: Int64
    object_ids: tuple[Int64, ...]


class BeginLog(msgspec.Struct, frozen=True, array_like=True, tag=70, gc=False):
    """Register the log that the sender uses from now on, and which ones of others it can drain. Answer: Done."""

    node_id: Count
    node_epoch: Int64
    log_id: Count
    generation: ShortText
    medium: LogMedium
    places: tuple[Text, ...]  # as other brokers reach it
    reach: tuple[LogReach, ...]


class EndLog(msgspec.Struct, frozen=True, array_like=True, tag=71, gc=False):
    """Record that nothing in the sender's log is needed any more. Answer: Done."""

    node_id: Count
    node_epoch: Int64
    log_id: Count


class FinishDrain(msgspec.Struct, frozen=True, array_like=True, tag=72, gc=False):
    """Record that everything in a log is committed: close its streams, name new leaders. Answer: Done."""

    node_id: Count
    node_epoch: Int64
    log_id: Count
    drain_epoch: Int64
    position: Int64  # up to which the log was read
    ends: tuple[tuple[Int64, Int64], ...]  # of the streams in it: (stream id, end offset)


class RefuseDrain(msgspec.Struct, frozen=True, array_like=True, tag=73, gc=False):
    """Report that the sender cannot read a log that it is to drain. Answer: Done."""

    node_id: Count
    node_epoch: Int64
    log_id: Count
    drain_epoch: Int64
    reason: ShortText


class AcceptLogLoss(msgspec.Struct, frozen=True, array_like=True, tag=74, gc=False):
    """Give up an unreadable log, or what is damaged in it. Answer: Done."""

    log_id: Count
    generation: ShortText  # the loss of another one is not accepted
    damaged_only: bool


class ReportEnd(msgspec.Struct, frozen=True, array_like=True, tag=75, gc=False):
    """Report that the process of another broker has ended: a lock that it registered with is free. Answer: Done."""

    node_id: Count
    node_epoch: Int64
    ended_id: Count
    ended_epoch: Int64
    lock: ShortText  # as it is recorded; see `headrace.metadata.proof`
    lock_name: ShortText = (
        ""  # of which a digest may be recorded: every reader of the lock knows it
    )


class Reassignment(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The brokers that a partition is to have; the first active one leads it. None takes its move back."""

    topic: Text
    partition: Int32
    brokers: tuple[Int32, ...] | None


class AlterReassignments(msgspec.Struct, frozen=True, array_like=True, tag=80, gc=False):
    """Begin moves of partitions, or take them back, each independently. Answer: ReassignmentsAltered."""

    reassignments: tuple[Reassignment, ...]


class FinishMove(msgspec.Struct, frozen=True, array_like=True, tag=81, gc=False):
    """Close the streams of a partition, and make the target of its move the leader. Answer: MoveFinished."""

    node_id: Count
    node_epoch: Int64
    topic_id: UUID
    partition: Int32
    leader_epoch: Int64
    move_epoch: Int64
    streams: tuple[StreamToClose, ...]  # both, data and meta


class DescribeBalance(msgspec.Struct, frozen=True, array_like=True, tag=82, gc=False):
    """Describe the balance of brokers: its state, and its last decisions. Answer: BalanceDescribed."""

    dry_run: bool  # also plan, and answer what would be done now


class FetchEntries(msgspec.Struct, frozen=True, array_like=True, tag=50, gc=False):
    """Read committed entries of the metadata log, waiting for the first. Answer: Entries."""

    from_index: Int64
    max_bytes: Count
    max_wait_ms: Count
    reads: LevelRange = UNTOLD


class FetchSnapshot(msgspec.Struct, frozen=True, array_like=True, tag=51, gc=False):
    """Read a part of the snapshot's file. Answer: SnapshotChunk."""

    snapshot_index: Int64
    position: Int64
    max_bytes: Count
    reads: LevelRange = UNTOLD


class DescribeQuorum(msgspec.Struct, frozen=True, array_like=True, tag=60, gc=False):
    """Describe the members and how far each has replicated the log. Answer: QuorumDescribed."""


class AddVoter(msgspec.Struct, frozen=True, array_like=True, tag=61, gc=False):
    """Add a controller: a learner until it has the log, then a voter. Answer: Done (KIP-853)."""

    cluster_id: ShortText  # empty: not checked
    node_id: Count
    directory_id: UUID
    host: ShortText
    port: Count


class RemoveVoter(msgspec.Struct, frozen=True, array_like=True, tag=62, gc=False):
    """Remove a controller, voter or learner. Answer: Done (KIP-853)."""

    cluster_id: ShortText
    node_id: Count
    directory_id: UUID


class FeatureUpdate(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The level that a feature is to have."""

    name: Text
    level: Int32
    upgrade_type: Int32  # an UpgradeType; checked by the decision, which answers with an error


class UpdateFeatures(msgspec.Struct, frozen=True, array_like=True, tag=63, gc=False):
    """Set levels of features, all or none. Answer: Done."""

    updates: tuple[FeatureUpdate, ...]
    validate_only: bool


class TellLevels(msgspec.Struct, frozen=True, array_like=True, tag=64, gc=False):
    """Ask which levels the controller reads, leader or not. Answer: LevelsTold."""


class Relay(msgspec.Struct, frozen=True, array_like=True, tag=65, gc=False):
    """Pass a request on to the leader, which the sender does not reach. Answer: Relayed.

    A controller of an earlier release answers that it cannot read this.
    """

    frame: bytes  # of the request, which is no Relay


# Requests that are refused when the sender's epoch has ended.
NodeMutation = (
    AllocateProducerIds
    | OpenStreamBatch
    | CloseStreamBatch
    | TrimStream
    | PrepareObjects
    | CommitStreamSetObject
    | CompactStreamObject
    | ForgetObjects
    | BeginLog
    | EndLog
    | FinishDrain
    | RefuseDrain
    | ReportEnd
    | FinishMove
)
# Requests that speak for the registration that `node_id` and `node_epoch` name: the sender proves that it is its own.
Speaking = NodeMutation | Heartbeat
Mutation = (
    NodeMutation
    | RegisterBroker
    | UnregisterBroker
    | CreateTopics
    | DeleteTopics
    | CreatePartitions
    | AlterConfigs
    | AcceptLogLoss
    | AlterReassignments
)
QuorumRequest = DescribeQuorum | DescribeBalance | AddVoter | RemoveVoter | UpdateFeatures
Request = Mutation | Heartbeat | FetchEntries | FetchSnapshot | QuorumRequest | TellLevels | Relay

# Requests that not every controller understands before the cluster is at a level; a broker sends none too early.
REQUEST_LEVELS: Final[Mapping[type, int]] = {
    AlterReassignments: MOVES_LEVEL,
    FinishMove: MOVES_LEVEL,
    DescribeBalance: MOVES_LEVEL,
}
