"""SyncGroup, Heartbeat and LeaveGroup: the requests of members of a generation.

Source: `GroupMetadataManager.classicGroupSync`, `classicGroupHeartbeat`, `classicGroupLeave` of
Apache Kafka.
"""

from collections.abc import Sequence
from typing import NamedTuple

from headrace.broker.coordinator.group.classic.classic_group import ClassicGroup
from headrace.broker.coordinator.group.classic.rebalance import Rebalancer, current_assignment
from headrace.broker.coordinator.group.classic.sessions import MemberSessions
from headrace.broker.coordinator.group.classic.states import GroupState
from headrace.broker.coordinator.group.requests import (
    NO_MEMBER_ID,
    GroupTurn,
    HeartbeatRequest,
    LeavingMember,
    SyncRequest,
    SyncResult,
)
from headrace.protocol.errors import ErrorCode


class LeaveResult(NamedTuple):
    """The result for one leaving member; its ids are those of the request."""

    member: LeavingMember
    error: ErrorCode


class Membership:
    """Decides on requests of a group's members."""

    def __init__(self, rebalancer: Rebalancer, sessions: MemberSessions) -> None:
        self._rebalancer = rebalancer
        self._sessions = sessions

    def sync(self, turn: GroupTurn, group: ClassicGroup, request: SyncRequest, token: int) -> None:
        """Answer with the assignment, now or when the leader has sent it."""
        error = _check_sync(group, request)
        if error is not ErrorCode.NONE:
            turn.answer(token, SyncResult(error=error))
            return
        member_id = request.member_id
        self._rebalancer.synced(group, member_id)
        if group.state is GroupState.STABLE:
            turn.answer(token, current_assignment(group, member_id))
            return
        superseded = group.syncing.get(member_id)
        if superseded is not None:
            turn.answer(superseded, SyncResult(error=ErrorCode.REBALANCE_IN_PROGRESS))
        group.syncing[member_id] = token
        if member_id == group.leader:
            self._rebalancer.store_generation(turn, group, dict(request.assignments))

    def heartbeat(
        self, turn: GroupTurn, group: ClassicGroup, request: HeartbeatRequest
    ) -> ErrorCode:
        """Keep a member's session alive; answer REBALANCE_IN_PROGRESS when it must rejoin."""
        error = group.check_member(request.member_id, request.group_instance_id)
        if error is not ErrorCode.NONE:
            return error
        if request.generation != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
        self._sessions.touch(turn.now, group, group.members[request.member_id])
        if group.state is GroupState.PREPARING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def leave(
        self, turn: GroupTurn, group: ClassicGroup, members: Sequence[LeavingMember]
    ) -> list[LeaveResult]:
        """Remove members; each has its own result."""
        results = []
        removed = []
        for leaving in members:
            member_id = _leaving_member_id(group, leaving)
            is_pending = member_id in group.pending_members
            error = ErrorCode.NONE
            if not is_pending:
                error = group.check_member(member_id, leaving.group_instance_id)
            if error is ErrorCode.NONE:
                self._rebalancer.remove_member(turn, group, member_id)
            if error is ErrorCode.NONE and not is_pending:
                removed.append(f"{member_id} ({leaving.reason or 'no reason given'})")
            results.append(LeaveResult(leaving, error))
        if removed:
            self._rebalancer.prepare_or_complete(turn, group, f"members left: {', '.join(removed)}")
        else:
            self._rebalancer.maybe_complete_join(turn, group)
        return results


def _leaving_member_id(group: ClassicGroup, leaving: LeavingMember) -> str:
    if leaving.member_id == NO_MEMBER_ID and leaving.group_instance_id is not None:
        return group.static_members.get(leaving.group_instance_id, NO_MEMBER_ID)
    return leaving.member_id


def _check_sync(group: ClassicGroup, request: SyncRequest) -> ErrorCode:
    error = group.check_member(request.member_id, request.group_instance_id)
    if error is not ErrorCode.NONE:
        return error
    if request.generation != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    if request.protocol_type is not None and request.protocol_type != group.protocol_type:
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if request.protocol is not None and request.protocol != group.protocol:
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.state is GroupState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE
