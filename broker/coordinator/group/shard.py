"""All groups and offsets of one partition of `__consumer_offsets`. Pure.

A shard of the runtime: what survives a restart are the groups' images and the offsets, and only `replay` changes
them. After the last record of a load, `loaded` starts the sessions.
"""

from collections.abc import Generator, Iterable, Sequence
from itertools import islice
from typing import Any, Final

from headrace.broker.coordinator.group.classic.classic_group import ClassicGroup
from headrace.broker.coordinator.group.classic.committing import (
    check_commit,
    check_metadata,
    check_offset_delete,
)
from headrace.broker.coordinator.group.classic.deadlines import DeadlineKey, DeadlineKind, Deadlines
from headrace.broker.coordinator.group.classic.describing import describe_group, list_group
from headrace.broker.coordinator.group.classic.joining import Joining
from headrace.broker.coordinator.group.classic.membership import LeaveResult, Membership
from headrace.broker.coordinator.group.classic.rebalance import Rebalancer
from headrace.broker.coordinator.group.classic.sessions import MemberSessions
from headrace.broker.coordinator.group.classic.states import GroupState
from headrace.broker.coordinator.group.live_records import LiveRecords
from headrace.broker.coordinator.group.offsets import CommittedOffsets, is_expired
from headrace.broker.coordinator.group.records import (
    MAX_TIMESTAMP_MS,
    NO_TIMESTAMP,
    CoordinatorRecord,
    GroupMetadataValue,
    GroupRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    OffsetRecord,
    OffsetRun,
)
from headrace.broker.coordinator.group.requests import (
    DEFAULT_RETENTION,
    NO_MEMBER_ID,
    CommitRequest,
    CommittedOffset,
    DescribedGroup,
    GroupDecision,
    GroupTurn,
    HeartbeatRequest,
    JoinRequest,
    JoinResult,
    LeavingMember,
    ListedGroup,
    OffsetQuery,
    SyncRequest,
    SyncResult,
)
from headrace.broker.coordinator.runtime.record_fields import CorruptRecordError
from headrace.broker.coordinator.runtime.shard import DeletedTopic, Instant, LiveState, Shard, Turn
from headrace.config.node import GroupConfig
from headrace.metadata.image import MetadataImage
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.batch import NO_PRODUCER_ID

# At once, so that the event loop is not blocked: offsets that are removed, and offsets and groups that are checked.
OFFSETS_AT_ONCE: Final = 500
CHECKS_AT_ONCE: Final = 1_000

_RETENTION_KEY: Final = DeadlineKey(DeadlineKind.RETENTION)


class GroupShard(Shard[Any]):  # decides on records, and replays runs of them as well
    """The coordinator state of one partition."""

    def __init__(self, config: GroupConfig) -> None:
        self._config = config
        self._groups: dict[str, ClassicGroup] = {}
        self._offsets = CommittedOffsets()
        self._records = LiveRecords(self._groups, self._offsets)
        self.live: LiveState[CoordinatorRecord] = self._records
        self._deadlines = Deadlines()
        self._sessions = MemberSessions(self._deadlines)
        self._rebalancer = Rebalancer(
            self._deadlines, self._sessions, config.initial_rebalance_delay_ms
        )
        self._joining = Joining(self._rebalancer, self._sessions, config.max_group_size)
        self._membership = Membership(self._rebalancer, self._sessions)
        # The check that is under way.
        self._retention: Generator[None, GroupTurn, None] | None = None

    # State that survives a restart

    def replay(
        self,
        _offset: int,
        producer_id: int,
        _producer_epoch: int,
        record: CoordinatorRecord | OffsetRun,
    ) -> None:
        """Apply one record, or a run of them.

        Raises:
            CorruptRecordError: it was committed in a transaction. This version does not support that: such a log is
                refused rather than read wrongly.
        """
        if producer_id != NO_PRODUCER_ID:
            raise CorruptRecordError("a record in a transaction: transactions are not supported")
        if isinstance(record, OffsetRun):
            self._know_group(record.group)
            self._offsets.replay_run(record)
        elif isinstance(record, OffsetRecord):
            if record.value is not None:
                self._know_group(record.key.group)
            self._offsets.replay(record)
        elif record.value is not None:
            group = self._groups.setdefault(record.group, ClassicGroup(record.group))
            self._records.count_group(record, group.image)
            group.install(record.value)
        else:
            removed = self._groups.pop(record.group, None)
            if removed is not None:
                self._records.count_group(record, removed.image)
                self._rebalancer.forget_group(removed)

    def _know_group(self, group_id: str) -> None:
        if group_id not in self._groups:
            self._groups[group_id] = ClassicGroup(group_id)  # a simple group

    def loaded(self, _image: MetadataImage, now: Instant) -> GroupDecision[None]:
        """Start serving the replayed groups: members have a full session from now on."""
        turn = self._turn(now)
        for group in self._groups.values():
            for member in group.members.values():
                self._sessions.touch(now, group, member)
            if len(group.members) > self._config.max_group_size:
                self._rebalancer.prepare(turn, group, "the group is larger than group.max.size")
        self._schedule_retention(turn, self._config.offsets_retention_check_ms)
        return turn.decide(None)

    def new_image(
        self, _image: MetadataImage, deleted: Sequence[DeletedTopic], now: Instant
    ) -> GroupDecision[int]:
        """Remove some of the groups' offsets in the first of the deleted topics; 1 when there is none left."""
        turn = self._turn(now)
        has_more = not deleted or _remove(turn, self._offsets.of_topic(deleted[0]))
        return turn.decide(0 if has_more else 1)

    def image(
        self,
    ) -> tuple[dict[str, GroupMetadataValue | None], dict[OffsetCommitKey, OffsetCommitValue]]:
        """Give everything that survives a restart, for comparison."""
        offsets = {
            key: value
            for group_id in self._groups
            for key, value in self._offsets.of_group(group_id)
        }
        return {group_id: group.image for group_id, group in self._groups.items()}, offsets

    # Members

    def join(self, token: int, request: JoinRequest, now: Instant) -> GroupDecision[None]:
        """JoinGroup; answered with the token."""
        turn = self._turn(now)
        group = self._groups.get(request.group_id)
        if group is None:
            if request.member_id != NO_MEMBER_ID:
                error = ErrorCode.UNKNOWN_MEMBER_ID
            elif not request.protocol_type or not request.protocols:
                error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
            else:
                error = ErrorCode.NONE
            if error is not ErrorCode.NONE:
                turn.answer(token, JoinResult(member_id=request.member_id, error=error))
                return turn.decide(None)
            group = self._create_group(turn, request.group_id)
        self._joining.join(turn, group, request, token)
        return turn.decide(None)

    def sync(self, token: int, request: SyncRequest, now: Instant) -> GroupDecision[None]:
        """SyncGroup; answered with the token."""
        turn = self._turn(now)
        group = self._groups.get(request.group_id)
        if group is None:
            turn.answer(token, SyncResult(error=ErrorCode.UNKNOWN_MEMBER_ID))
        else:
            self._membership.sync(turn, group, request, token)
        return turn.decide(None)

    def heartbeat(self, request: HeartbeatRequest, now: Instant) -> GroupDecision[ErrorCode]:
        """Heartbeat."""
        turn: GroupTurn = Turn(now, self.replay)
        group = self._groups.get(request.group_id)
        if group is None:
            return turn.decide(ErrorCode.UNKNOWN_MEMBER_ID)
        return turn.decide(self._membership.heartbeat(turn, group, request))

    def leave(
        self, group_id: str, members: Sequence[LeavingMember], now: Instant
    ) -> GroupDecision[list[LeaveResult]]:
        """LeaveGroup; one result per member."""
        turn = self._turn(now)
        group = self._groups.get(group_id)
        if group is None:
            return turn.decide(
                [LeaveResult(member, ErrorCode.UNKNOWN_MEMBER_ID) for member in members]
            )
        return turn.decide(self._membership.leave(turn, group, members))

    # Offsets

    def commit_offsets(
        self, request: CommitRequest, now: Instant
    ) -> GroupDecision[list[ErrorCode]]:
        """OffsetCommit; one error per entry."""
        turn: GroupTurn = Turn(now, self.replay)
        group = self._groups.get(request.group_id)
        error = check_commit(group, request)
        if error is not ErrorCode.NONE:
            return turn.decide([error] * len(request.entries))
        if group is not None and request.member_id in group.members:
            self._sessions.touch(now, group, group.members[request.member_id])
        expire_ms = (
            NO_TIMESTAMP
            if request.retention_time_ms == DEFAULT_RETENTION
            else min(now.wall_ms + request.retention_time_ms, MAX_TIMESTAMP_MS)
        )
        errors = []
        for topic, partition, offset, leader_epoch, metadata, topic_id in request.entries:
            error = check_metadata(metadata, self._config.max_offset_metadata_bytes)
            errors.append(error)
            if error is ErrorCode.NONE:
                key = OffsetCommitKey(request.group_id, topic, partition)
                value = OffsetCommitValue(
                    offset, leader_epoch, metadata, now.wall_ms, expire_ms, topic_id
                )
                turn.persist(OffsetRecord(key, value))
        return turn.decide(errors)

    def fetch_offsets(
        self, group_id: str, queries: Sequence[OffsetQuery] | None, now: Instant
    ) -> GroupDecision[Iterable[CommittedOffset]]:
        """OffsetFetch; None asks for all partitions that have an offset."""
        turn = self._turn(now)
        if queries is None:
            return turn.decide(self._offsets.find_all(group_id))
        return turn.decide([self._offsets.find(group_id, query) for query in queries])

    def delete_offsets(
        self, group_id: str, partitions: Sequence[tuple[str, int]], now: Instant
    ) -> GroupDecision[tuple[ErrorCode, list[ErrorCode]]]:
        """OffsetDelete; an error of the group, or one per partition (KIP-496)."""
        turn = self._turn(now)
        group = self._groups.get(group_id)
        error = check_offset_delete(group)
        if group is None or error is not ErrorCode.NONE:
            return turn.decide((error, []))
        errors = []
        for topic, partition in partitions:
            if group.is_subscribed_to(topic):
                errors.append(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC)
                continue
            errors.append(ErrorCode.NONE)
            if self._offsets.get(group_id, topic, partition) is not None:
                turn.persist(OffsetRecord(OffsetCommitKey(group_id, topic, partition), None))
        return turn.decide((ErrorCode.NONE, errors))

    # Groups

    def describe(self, group_id: str, now: Instant) -> GroupDecision[DescribedGroup | None]:
        """DescribeGroups; None when there is no such group."""
        group = self._groups.get(group_id)
        return self._turn(now).decide(None if group is None else describe_group(group))

    def group_ids(self, now: Instant) -> GroupDecision[list[str]]:
        """Every group, for `list_groups`."""
        return self._turn(now).decide(list(self._groups))

    def list_groups(
        self, group_ids: Sequence[str], now: Instant
    ) -> GroupDecision[list[ListedGroup]]:
        """ListGroups, for some of the groups; one that does not exist any more is left out."""
        groups = self._groups
        return self._turn(now).decide(
            [list_group(groups[group_id]) for group_id in group_ids if group_id in groups]
        )

    def delete_group(self, group_id: str, now: Instant) -> GroupDecision[ErrorCode | None]:
        """DeleteGroups, for one group: all its offsets and itself; None after some of very many offsets."""
        turn = self._turn(now)
        group = self._groups.get(group_id)
        if group is None:
            return turn.decide(ErrorCode.GROUP_ID_NOT_FOUND)
        if group.state is not GroupState.EMPTY:
            return turn.decide(ErrorCode.NON_EMPTY_GROUP)
        if _remove(turn, (key for key, _ in self._offsets.of_group(group_id))):
            return turn.decide(None)
        turn.persist(GroupRecord(group_id, None))
        return turn.decide(ErrorCode.NONE)

    # Time

    def next_deadline_ms(self) -> int | None:
        """When `expire` has something to do, in ms of the monotonic clock."""
        return self._deadlines.next_ms()

    def expire(self, now: Instant) -> GroupDecision[None]:
        """Run the deadlines that have passed."""
        turn = self._turn(now)
        for key in self._deadlines.pop_due(now.elapsed_ms):
            match key.kind:
                case DeadlineKind.JOIN:
                    self._rebalancer.expire_join(turn, self._groups[key.group_id])
                case DeadlineKind.SYNC:
                    self._rebalancer.expire_sync(turn, self._groups[key.group_id])
                case DeadlineKind.SESSION:
                    group = self._groups[key.group_id]
                    self._rebalancer.expire_session(turn, group, key.member_id)
                case DeadlineKind.RETENTION:
                    self._expire_offsets(turn)
        return turn.decide(None)

    def _expire_offsets(self, turn: GroupTurn) -> None:
        """Check some offsets; the rest follow at once, all again after the check interval."""
        try:
            if self._retention is None:
                self._retention = self._retention_steps()
                next(self._retention)
            self._retention.send(turn)
        except StopIteration:
            self._retention = None
        is_over = self._retention is None
        self._schedule_retention(turn, self._config.offsets_retention_check_ms if is_over else 1)

    def _retention_steps(self) -> Generator[None, GroupTurn, None]:
        """Check all groups; each step is sent its turn, and groups may change between two of them."""
        turn = yield
        checks = 0
        for group_id in list(self._groups):
            removed = 0
            for record in self._offsets.live_records(group_id):
                group = self._groups.get(group_id)
                retention_ms = self._config.offsets_retention_ms
                if group and is_expired(record, group, turn.now.wall_ms, retention_ms):
                    turn.persist(OffsetRecord(record.key, None))
                    removed += 1
                checks += 1
                if checks >= CHECKS_AT_ONCE:
                    checks = 0
                    turn = yield
            self._note_expired(turn, group_id, removed)
            checks += 1
            if checks >= CHECKS_AT_ONCE:
                checks = 0
                turn = yield

    def _note_expired(self, turn: GroupTurn, group_id: str, removed: int) -> None:
        group = self._groups.get(group_id)
        if group is None:
            return
        if removed:
            turn.note(group_id, f"removed {removed} expired offsets")
        is_empty = group.state is GroupState.EMPTY and not group.pending_members
        if is_empty and not self._offsets.has(group_id):
            turn.persist(GroupRecord(group_id, None))
            turn.note(group_id, "removed: it had no members and no offsets")

    def _schedule_retention(self, turn: GroupTurn, delay_ms: int) -> None:
        self._deadlines.schedule(_RETENTION_KEY, turn.now.elapsed_ms + delay_ms)

    def _create_group(self, turn: GroupTurn, group_id: str) -> ClassicGroup:
        turn.persist(
            GroupRecord(group_id, GroupMetadataValue("", 0, None, None, turn.now.wall_ms, ()))
        )
        return self._groups[group_id]

    def _turn(self, now: Instant) -> GroupTurn:
        return Turn(now, self.replay)  # not the alias: calling one takes a microsecond more


def _remove(turn: GroupTurn, keys: Iterable[OffsetCommitKey]) -> bool:
    """Remove the first of these offsets, at most `OFFSETS_AT_ONCE`; whether there may be more."""
    some = list(islice(keys, OFFSETS_AT_ONCE))
    for key in some:
        turn.persist(OffsetRecord(key, None))
    return len(some) == OFFSETS_AT_ONCE
