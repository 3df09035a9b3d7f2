"""A group shard with a clock, members' requests in short form, and a check after every operation.

After each operation everything that was decided so far is written, read back and replayed into a
new shard, which must hold exactly what the live one holds.
"""

from collections.abc import Sequence
from typing import TypeVar

from headrace.broker.coordinator.group.classic.membership import LeaveResult
from headrace.broker.coordinator.group.records import (
    CoordinatorRecord,
    decode_record,
    encode_record,
)
from headrace.broker.coordinator.group.requests import (
    CommitRequest,
    DescribedGroup,
    GroupDecision,
    HeartbeatRequest,
    JoinProtocol,
    JoinRequest,
    JoinResult,
    LeavingMember,
    ListedGroup,
    OffsetEntry,
    OffsetQuery,
    SyncRequest,
    SyncResult,
)
from headrace.broker.coordinator.group.shard import GroupShard
from headrace.broker.coordinator.runtime.shard import Instant
from headrace.config.node import GroupConfig
from headrace.metadata.image import MetadataImage
from headrace.protocol.errors import ErrorCode
from tests.unit.broker.coordinator.fake_log import replay

T = TypeVar("T")

GROUP = "g"
SESSION_MS = 10_000
REBALANCE_MS = 60_000
INITIAL_MS = 9_000  # the initial delay and what extends it, less than a session
WALL_MS = 1_700_000_000_000
QUIET_STATES = ("Empty", "Stable")


def subscription(*topics: str) -> bytes:
    """A ConsumerProtocolSubscription of version 0, without user data."""
    data = b"\0\0" + len(topics).to_bytes(4, "big")
    for topic in topics:
        data += len(topic).to_bytes(2, "big") + topic.encode()
    return data + b"\xff\xff\xff\xff"


RANGE = (JoinProtocol("range", subscription("t")),)


class Scene:
    """One shard, driven by hand."""

    def __init__(self, **config: int) -> None:
        self.config = GroupConfig(**{"initial_rebalance_delay_ms": 3_000, **config})
        self.now = Instant(0, WALL_MS)
        self.records: list[CoordinatorRecord] = []
        self.joins: dict[int, JoinResult] = {}
        self.syncs: dict[int, SyncResult] = {}
        self.events: list[str] = []
        self._tokens = 0
        self.shard = GroupShard(self.config)
        self.do(self.shard.loaded(MetadataImage(), self.now))

    def do(self, decision: GroupDecision[T]) -> T:
        """Take in a decision, and check that its records lead to the same state."""
        self.records.extend(decision.records)
        for token, result in decision.answers:
            assert token not in self.joins, "answered twice"
            assert token not in self.syncs, "answered twice"
            if isinstance(result, JoinResult):
                self.joins[token] = result
            else:
                assert isinstance(result, SyncResult)
                self.syncs[token] = result
        self.events.extend(event.text for event in decision.events)
        self.check_replay()
        return decision.response

    def reloaded(self) -> GroupShard:
        """What a coordinator that loads the log now holds."""
        shard = GroupShard(self.config)
        for record in self.records:
            decoded = decode_record(*encode_record(record))
            assert decoded is not None
            replay(shard, decoded)
        return shard

    def list_groups(self) -> list[ListedGroup]:
        """Every group of the shard."""
        group_ids = self.shard.group_ids(self.now).response
        return self.shard.list_groups(group_ids, self.now).response

    def check_replay(self) -> None:
        """Live state is what a replay of the log gives."""
        other = self.reloaded()
        assert other.image() == self.shard.image()
        for listed in self.list_groups():
            if listed.state in QUIET_STATES:
                live = self.shard.describe(listed.group_id, self.now).response
                assert other.describe(listed.group_id, self.now).response == live

    def restart(self) -> None:
        """Another coordinator takes over: what was parked is lost, sessions begin anew."""
        self.shard = self.reloaded()
        self.do(self.shard.loaded(MetadataImage(), self.now))

    def advance(self, duration_ms: int) -> None:
        """Let time pass, with every deadline in its place."""
        end_ms = self.now.elapsed_ms + duration_ms
        while True:
            deadline_ms = self.shard.next_deadline_ms()
            if deadline_ms is None or deadline_ms > end_ms:
                break
            self._set_elapsed(max(deadline_ms, self.now.elapsed_ms))
            self.do(self.shard.expire(self.now))
        self._set_elapsed(end_ms)

    def _set_elapsed(self, elapsed_ms: int) -> None:
        passed_ms = elapsed_ms - self.now.elapsed_ms
        self.now = Instant(elapsed_ms, self.now.wall_ms + passed_ms)

    # Requests

    def join(
        self,
        member_id: str = "",
        *,
        new_id: str = "",
        instance: str | None = None,
        protocols: tuple[JoinProtocol, ...] = RANGE,
        protocol_type: str = "consumer",
        two_step: bool = True,
        knows_skip_assignment: bool = True,
        group_id: str = GROUP,
        session_timeout_ms: int = SESSION_MS,
        rebalance_timeout_ms: int = REBALANCE_MS,
        client_id: str = "client",
    ) -> int:
        """JoinGroup; returns the token."""
        self._tokens += 1
        request = JoinRequest(
            group_id=group_id,
            member_id=member_id,
            new_member_id=new_id,
            client_id=client_id,
            client_host="/host",
            session_timeout_ms=session_timeout_ms,
            rebalance_timeout_ms=rebalance_timeout_ms,
            protocol_type=protocol_type,
            protocols=protocols,
            group_instance_id=instance,
            two_step=two_step,
            knows_skip_assignment=knows_skip_assignment,
        )
        self.do(self.shard.join(self._tokens, request, self.now))
        return self._tokens

    def sync(
        self,
        member_id: str,
        generation: int,
        assignments: dict[str, bytes] | None = None,
        *,
        instance: str | None = None,
        protocol_type: str | None = None,
        protocol: str | None = None,
        group_id: str = GROUP,
    ) -> int:
        """SyncGroup; returns the token."""
        self._tokens += 1
        request = SyncRequest(
            group_id=group_id,
            member_id=member_id,
            generation=generation,
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocol=protocol,
            assignments=list((assignments or {}).items()),
        )
        self.do(self.shard.sync(self._tokens, request, self.now))
        return self._tokens

    def heartbeat(
        self, member_id: str, generation: int, *, instance: str | None = None, group_id: str = GROUP
    ) -> ErrorCode:
        """Heartbeat."""
        request = HeartbeatRequest(
            group_id=group_id,
            member_id=member_id,
            generation=generation,
            group_instance_id=instance,
        )
        return self.do(self.shard.heartbeat(request, self.now))

    def leave(self, *members: LeavingMember, group_id: str = GROUP) -> list[LeaveResult]:
        """LeaveGroup."""
        return self.do(self.shard.leave(group_id, members, self.now))

    def commit(
        self,
        *entries: OffsetEntry,
        member_id: str = "",
        generation: int = -1,
        instance: str | None = None,
        retention_time_ms: int = -1,
        group_id: str = GROUP,
        knows_group_id_not_found: bool = True,
    ) -> list[ErrorCode]:
        """OffsetCommit."""
        request = CommitRequest(
            group_id=group_id,
            entries=entries or (offset(0, 1),),
            member_id=member_id,
            generation=generation,
            group_instance_id=instance,
            retention_time_ms=retention_time_ms,
            knows_group_id_not_found=knows_group_id_not_found,
        )
        return self.do(self.shard.commit_offsets(request, self.now))

    def committed(self, partition: int = 0, topic: str = "t", group_id: str = GROUP) -> int | None:
        """The committed offset of a partition."""
        queries = [OffsetQuery(topic, partition)]
        (found,) = self.do(self.shard.fetch_offsets(group_id, queries, self.now))
        return None if found.value is None else found.value.offset

    # What there is

    def describe(self, group_id: str = GROUP) -> DescribedGroup:
        """DescribeGroups of a group that must exist."""
        described = self.do(self.shard.describe(group_id, self.now))
        assert described is not None
        return described

    @property
    def state(self) -> str:
        """The state of the group; Dead when there is none."""
        described = self.do(self.shard.describe(GROUP, self.now))
        return "Dead" if described is None else described.state

    def members(self) -> list[str]:
        """Ids of the members, in the order in which they joined."""
        return [member.member_id for member in self.describe().members]

    # Whole scenarios

    def join_new(self, *member_ids: str, protocols: tuple[JoinProtocol, ...] = RANGE) -> list[int]:
        """New dynamic members join in one step; returns the tokens."""
        return [
            self.join(new_id=member_id, two_step=False, protocols=protocols)
            for member_id in member_ids
        ]

    def stable(self, *member_ids: str, protocols: tuple[JoinProtocol, ...] = RANGE) -> int:
        """Bring a new group of dynamic members to Stable; the first leads. Returns the generation."""
        tokens = self.join_new(*member_ids, protocols=protocols)
        self.advance(INITIAL_MS)
        return self.sync_all(self.joins[tokens[0]].generation, member_ids)

    def sync_all(self, generation: int, member_ids: Sequence[str]) -> int:
        """Let all members sync; each is assigned its own id. Returns the generation."""
        leader = self.leader()
        for member_id in member_ids:
            if member_id != leader:
                self.sync(member_id, generation)
        self.sync(leader, generation, {each: each.encode() for each in member_ids})
        assert self.state == "Stable"
        return generation

    def leader(self) -> str:
        """The leader that the latest join phase chose."""
        return next(
            result.leader
            for _, result in sorted(self.joins.items(), reverse=True)
            if result.error is ErrorCode.NONE
        )


def offset(partition: int, value: int, topic: str = "t", metadata: str = "") -> OffsetEntry:
    """One offset to commit."""
    return OffsetEntry(topic, partition, value, -1, metadata)
