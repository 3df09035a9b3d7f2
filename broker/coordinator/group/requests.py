"""Requests to a group shard and its answers, independent of the wire format and its versions. Pure.

A JoinGroup and a SyncGroup may be parked: they have a token, an integer that the caller chose,
and are answered with that token, by the same decision or a later one.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

import msgspec

from headrace.broker.coordinator.group.records import CoordinatorRecord, OffsetCommitValue
from headrace.broker.coordinator.runtime.shard import ShardDecision, Turn
from headrace.protocol.errors import ErrorCode

T = TypeVar("T")
GroupDecision = ShardDecision[CoordinatorRecord, T]
GroupTurn = Turn[CoordinatorRecord]

NO_MEMBER_ID: Final = ""
NO_GENERATION: Final = -1
DEFAULT_RETENTION: Final = -1


class JoinProtocol(NamedTuple):
    """A protocol (assignor) that a member supports; its metadata is opaque."""

    name: str
    metadata: bytes


class JoinRequest(msgspec.Struct, frozen=True, kw_only=True):
    """JoinGroup. Timeouts in ms."""

    group_id: str
    member_id: str
    new_member_id: str  # becomes the member's id when it has none; unique
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: tuple[JoinProtocol, ...]
    group_instance_id: str | None = None
    reason: str = ""
    two_step: bool = (
        True  # v4+: a dynamic member first gets its id and joins again with it (KIP-394)
    )
    knows_skip_assignment: bool = True  # v9+ (KIP-814)


class JoinedMember(NamedTuple):
    """A member as its leader sees it."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinResult(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a JoinGroup."""

    member_id: str
    error: ErrorCode = ErrorCode.NONE
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = NO_MEMBER_ID
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()  # the leader's answer only


class SyncRequest(msgspec.Struct, frozen=True, kw_only=True):
    """SyncGroup; a protocol that is None is not compared (before v5)."""

    group_id: str
    member_id: str
    generation: int
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    assignments: Sequence[tuple[str, bytes]] = ()  # member id and its assignment; the leader's only


class SyncResult(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a SyncGroup."""

    error: ErrorCode = ErrorCode.NONE
    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


class HeartbeatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Heartbeat."""

    group_id: str
    member_id: str
    generation: int
    group_instance_id: str | None = None


class LeavingMember(NamedTuple):
    """A member to remove; without a member id, the holder of the instance id."""

    member_id: str
    group_instance_id: str | None = None
    reason: str = ""


class OffsetEntry(NamedTuple):
    """One offset to commit."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int
    metadata: str
    topic_id: UUID | None = None  # of the topic as it is now; None unknown


class OffsetQuery(NamedTuple):
    """One offset to fetch; an offset that was committed for another topic of that name does not count."""

    topic: str
    partition: int
    topic_id: UUID | None = None  # None: any


class CommitRequest(msgspec.Struct, frozen=True, kw_only=True):
    """OffsetCommit, without the partitions that do not exist."""

    group_id: str
    entries: Sequence[OffsetEntry]
    member_id: str = NO_MEMBER_ID
    generation: int = NO_GENERATION
    group_instance_id: str | None = None
    retention_time_ms: int = DEFAULT_RETENTION  # v2 to 4
    knows_group_id_not_found: bool = True  # v9+


class CommittedOffset(NamedTuple):
    """An answer to OffsetFetch; `value` None when nothing is committed."""

    topic: str
    partition: int
    value: OffsetCommitValue | None

    def is_of(self, topic_id: UUID | None) -> bool:
        """Whether it may have been committed for this topic, and not an earlier one of that name."""
        committed_for = None if self.value is None else self.value.topic_id
        return topic_id is None or committed_for is None or committed_for == topic_id


class DescribedMember(NamedTuple):
    """A member as DescribeGroups shows it."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


class DescribedGroup(NamedTuple):
    """A group as DescribeGroups shows it."""

    group_id: str
    state: str
    protocol_type: str
    protocol: str
    members: tuple[DescribedMember, ...]


class ListedGroup(NamedTuple):
    """A group as ListGroups shows it."""

    group_id: str
    protocol_type: str
    state: str
