"""How a classic group moves from one generation to the next.

The join phase (PreparingRebalance) ends when every member is parked in JoinGroup and nobody is
pending, or at the longest rebalance timeout of the members; a group that was Empty waits for the
initial delay instead, again and again while members arrive. Dynamic members that did not rejoin are
removed, static ones stay (KIP-345). The sync phase (CompletingRebalance) ends when the leader
syncs; members that do not sync within the rebalance timeout are removed (KAFKA-9752).

Nothing is stored until the leader has synced: after a restart the last complete generation is the
current one again.

Source: `GroupMetadataManager` of Apache Kafka (prepareRebalance, completeClassicGroupJoin,
expire...).
"""

from headrace.broker.coordinator.group.classic.classic_group import ClassicGroup
from headrace.broker.coordinator.group.classic.deadlines import DeadlineKey, DeadlineKind, Deadlines
from headrace.broker.coordinator.group.classic.member import Member
from headrace.broker.coordinator.group.classic.sessions import MemberSessions
from headrace.broker.coordinator.group.classic.states import REBALANCEABLE, GroupState
from headrace.broker.coordinator.group.records import GroupRecord, fits_record
from headrace.broker.coordinator.group.requests import (
    NO_MEMBER_ID,
    GroupTurn,
    JoinRequest,
    JoinResult,
    SyncResult,
)
from headrace.protocol.errors import ErrorCode


class Rebalancer:
    """Starts and ends the phases of a rebalance, and removes members."""

    def __init__(
        self, deadlines: Deadlines, sessions: MemberSessions, initial_delay_ms: int
    ) -> None:
        self._deadlines = deadlines
        self._sessions = sessions
        self._initial_delay_ms = initial_delay_ms

    # Joining

    def add_member(
        self, turn: GroupTurn, group: ClassicGroup, member_id: str, request: JoinRequest, token: int
    ) -> None:
        """Add a member, parked in its first JoinGroup."""
        member = Member(
            member_id,
            request.group_instance_id,
            client_id=request.client_id,
            client_host=request.client_host,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            session_timeout_ms=request.session_timeout_ms,
            protocols=request.protocols,
        )
        member.is_new = True
        group.joined_during_delay = group.initial_delay_left_ms is not None
        if not group.members:
            group.protocol_type = request.protocol_type
        group.add(member)
        group.joining[member_id] = token
        self._sessions.expect_first_join(turn.now, group, member_id)
        self.prepare_or_complete(turn, group, f"member {member_id} joins; reason: {request.reason}")

    def update_member(
        self, turn: GroupTurn, group: ClassicGroup, member: Member, request: JoinRequest, token: int
    ) -> None:
        """Park a member that joins again."""
        self.park_join(turn, group, member, request, token)
        self.prepare_or_complete(
            turn, group, f"member {member.member_id} rejoins; reason: {request.reason}"
        )

    def park_join(
        self, turn: GroupTurn, group: ClassicGroup, member: Member, request: JoinRequest, token: int
    ) -> None:
        """Update a member from its request and park it; its older parked JoinGroup is answered with an error."""
        superseded = group.joining.get(member.member_id)
        if superseded is not None:
            turn.answer(
                superseded,
                JoinResult(member_id=member.member_id, error=ErrorCode.REBALANCE_IN_PROGRESS),
            )
        group.update(
            member,
            protocols=request.protocols,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            session_timeout_ms=request.session_timeout_ms,
        )
        group.joining[member.member_id] = token

    # Phases

    def prepare_or_complete(self, turn: GroupTurn, group: ClassicGroup, reason: str) -> None:
        """Start a rebalance, or complete the join phase if it waited only for this."""
        if group.state in REBALANCEABLE:
            self.prepare(turn, group, reason)
        else:
            self.maybe_complete_join(turn, group)

    def prepare(self, turn: GroupTurn, group: ClassicGroup, reason: str) -> None:
        """Start the join phase; members learn of it from their next heartbeat or their parked sync."""
        if group.state is GroupState.COMPLETING_REBALANCE:
            self._answer_syncs(turn, group, ErrorCode.REBALANCE_IN_PROGRESS)
        group.pending_sync.clear()
        self._deadlines.cancel(DeadlineKey(DeadlineKind.SYNC, group.group_id))
        was_empty = group.state is GroupState.EMPTY
        group.transition_to(GroupState.PREPARING_REBALANCE, turn.now.wall_ms)
        turn.note(group.group_id, f"preparing rebalance of generation {group.generation}: {reason}")
        if was_empty:
            group.joined_during_delay = False
            group.initial_delay_left_ms = max(
                group.rebalance_timeout_ms() - self._initial_delay_ms, 0
            )
            self._schedule_join(turn, group, self._initial_delay_ms)
        elif group.all_joined():
            self.complete_join(turn, group)
        else:
            self._schedule_join(turn, group, group.rebalance_timeout_ms())

    def maybe_complete_join(self, turn: GroupTurn, group: ClassicGroup) -> None:
        """End the join phase if every member has joined, but not before the initial delay is over."""
        if (
            group.state is GroupState.PREPARING_REBALANCE
            and group.initial_delay_left_ms is None
            and group.all_joined()
        ):
            self.complete_join(turn, group)

    def complete_join(self, turn: GroupTurn, group: ClassicGroup) -> None:
        """End the join phase: the parked members form the next generation."""
        self._deadlines.cancel(DeadlineKey(DeadlineKind.JOIN, group.group_id))
        absent = [
            member.member_id
            for member in group.members.values()
            if not member.is_static and member.member_id not in group.joining
        ]
        for member_id in absent:
            self._drop(group, member_id)
        if absent:
            turn.note(group.group_id, f"removed members that did not rejoin: {', '.join(absent)}")
        if group.members and not group.elect_joined_leader():
            # Only static members are left and none has rejoined: wait for one, or for their sessions
            # to expire.
            self._schedule_join(turn, group, group.rebalance_timeout_ms())
            return
        group.initial_delay_left_ms = None
        group.begin_generation()
        if group.members:
            self._start_sync_phase(turn, group)
        else:
            turn.persist(GroupRecord(group.group_id, group.to_image(turn.now.wall_ms)))
            turn.note(group.group_id, f"generation {group.generation} is empty")

    def _start_sync_phase(self, turn: GroupTurn, group: ClassicGroup) -> None:
        group.transition_to(GroupState.COMPLETING_REBALANCE, turn.now.wall_ms)
        turn.note(
            group.group_id,
            f"generation {group.generation} has {len(group.members)} members, "
            f"protocol {group.protocol}",
        )
        for member_id, member in group.members.items():
            token = group.joining.get(member_id)
            if token is not None:
                turn.answer(token, current_generation(group, member_id))
            self._sessions.touch(turn.now, group, member)
            member.is_new = False
            group.pending_sync[member_id] = None
        group.joining.clear()
        self._deadlines.schedule(
            DeadlineKey(DeadlineKind.SYNC, group.group_id),
            turn.now.elapsed_ms + group.rebalance_timeout_ms(),
        )

    def store_generation(
        self, turn: GroupTurn, group: ClassicGroup, assignments: dict[str, bytes]
    ) -> None:
        """End the sync phase: store the leader's assignments, answer the parked SyncGroups."""
        record = GroupRecord(group.group_id, group.to_image(turn.now.wall_ms, assignments))
        if not fits_record(record):
            self._answer_syncs(turn, group, ErrorCode.UNKNOWN_SERVER_ERROR)
            self.prepare(turn, group, f"generation {group.generation} is too large to be stored")
            return
        turn.persist(record)
        turn.note(group.group_id, f"generation {group.generation} is stable")
        self._answer_syncs(turn, group, ErrorCode.NONE)

    def synced(self, group: ClassicGroup, member_id: str) -> None:
        """Record that a member has requested its assignment in time."""
        group.pending_sync.pop(member_id, None)
        if not group.pending_sync:
            self._deadlines.cancel(DeadlineKey(DeadlineKind.SYNC, group.group_id))

    # Deadlines

    def expire_join(self, turn: GroupTurn, group: ClassicGroup) -> None:
        """End the join phase by time, unless the initial delay is to be extended."""
        left_ms = group.initial_delay_left_ms
        if left_ms and group.joined_during_delay:
            delay_ms = min(self._initial_delay_ms, left_ms)
            group.joined_during_delay = False
            group.initial_delay_left_ms = left_ms - delay_ms
            self._schedule_join(turn, group, delay_ms)
        else:
            self.complete_join(turn, group)

    def expire_sync(self, turn: GroupTurn, group: ClassicGroup) -> None:
        """Remove the members that have not synced (KAFKA-9752)."""
        late = list(group.pending_sync)
        for member_id in late:
            self._drop(group, member_id)
        self.prepare(turn, group, f"members did not sync in time: {', '.join(late)}")

    def expire_session(self, turn: GroupTurn, group: ClassicGroup, member_id: str) -> None:
        """Remove a member that sent no heartbeat; a parked one stays, unless it is in its first join."""
        if member_id in group.pending_members:
            self.forget_pending(turn, group, member_id)
            return
        member = group.members[member_id]
        parked = member_id in group.joining or member_id in group.syncing
        if parked and not member.is_new:
            return
        self.remove_member(turn, group, member_id)
        self.after_removal(turn, group, f"session of member {member_id} expired")

    # Removal

    def forget_pending(self, turn: GroupTurn, group: ClassicGroup, member_id: str) -> None:
        """Stop expecting a pending member."""
        self._drop(group, member_id)
        if group.state is GroupState.PREPARING_REBALANCE and group.all_joined():
            self.complete_join(turn, group)

    def remove_member(self, turn: GroupTurn, group: ClassicGroup, member_id: str) -> None:
        """Remove a member; its parked requests are answered with an error that makes it join again."""
        self.answer_parked(turn, group, member_id, ErrorCode.UNKNOWN_MEMBER_ID, NO_MEMBER_ID)
        self._drop(group, member_id)

    def after_removal(self, turn: GroupTurn, group: ClassicGroup, reason: str) -> None:
        """Start a rebalance without the removed members, or end the join phase that waited for them."""
        if group.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
            self.prepare(turn, group, reason)
        elif group.state is GroupState.PREPARING_REBALANCE and group.all_joined():
            self.complete_join(turn, group)

    def answer_parked(
        self,
        turn: GroupTurn,
        group: ClassicGroup,
        member_id: str,
        error: ErrorCode,
        answered_member_id: str,
    ) -> None:
        """Answer the parked requests of a member with an error."""
        token = group.joining.pop(member_id, None)
        if token is not None:
            turn.answer(token, JoinResult(member_id=answered_member_id, error=error))
        token = group.syncing.pop(member_id, None)
        if token is not None:
            turn.answer(token, SyncResult(error=error))

    def forget_group(self, group: ClassicGroup) -> None:
        """Drop all deadlines of a removed group."""
        for member_id in (*group.members, *group.pending_members):
            self._sessions.end(group, member_id)
        self._deadlines.cancel(DeadlineKey(DeadlineKind.JOIN, group.group_id))
        self._deadlines.cancel(DeadlineKey(DeadlineKind.SYNC, group.group_id))

    def _drop(self, group: ClassicGroup, member_id: str) -> None:
        group.remove(member_id)
        self._sessions.end(group, member_id)

    def _answer_syncs(self, turn: GroupTurn, group: ClassicGroup, error: ErrorCode) -> None:
        for member_id, token in group.syncing.items():
            result = (
                current_assignment(group, member_id)
                if error is ErrorCode.NONE
                else SyncResult(error=error)
            )
            turn.answer(token, result)
            self._sessions.touch(turn.now, group, group.members[member_id])
        group.syncing.clear()

    def _schedule_join(self, turn: GroupTurn, group: ClassicGroup, delay_ms: int) -> None:
        self._deadlines.schedule(
            DeadlineKey(DeadlineKind.JOIN, group.group_id), turn.now.elapsed_ms + delay_ms
        )


def current_generation(group: ClassicGroup, member_id: str) -> JoinResult:
    """The JoinGroup answer for a member of the current generation."""
    return JoinResult(
        member_id=member_id,
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        leader=group.leader or NO_MEMBER_ID,
        members=group.members_for(member_id),
    )


def current_assignment(group: ClassicGroup, member_id: str) -> SyncResult:
    """The SyncGroup answer with a member's assignment in the stored generation."""
    return SyncResult(
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        assignment=group.assignment(member_id),
    )
