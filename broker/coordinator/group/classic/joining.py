"""JoinGroup: which members are admitted, under which id, and whether that needs a rebalance.

Source: KIP-62, KIP-345 (static members), KIP-394 (two-step ids), KIP-389 (maximum size), KIP-814
(skip assignment); `GroupMetadataManager.classicGroupJoin...` of Apache Kafka.
"""

from typing import Final

import msgspec

from headrace.broker.coordinator.group.classic.classic_group import ClassicGroup
from headrace.broker.coordinator.group.classic.rebalance import Rebalancer, current_generation
from headrace.broker.coordinator.group.classic.sessions import MemberSessions
from headrace.broker.coordinator.group.classic.states import GroupState
from headrace.broker.coordinator.group.records import GroupRecord, fits_record
from headrace.broker.coordinator.group.requests import (
    NO_MEMBER_ID,
    GroupTurn,
    JoinRequest,
    JoinResult,
)
from headrace.protocol.errors import ErrorCode

# Member ids of one group that were assigned and not yet used. Beyond it a client is refused and must try
# again, so that clients that never come back with their id cannot fill the memory.
MAX_PENDING_MEMBERS: Final = 10_000


class Joining:
    """Decides on JoinGroup requests to a group that exists."""

    def __init__(
        self, rebalancer: Rebalancer, sessions: MemberSessions, max_group_size: int
    ) -> None:
        self._rebalancer = rebalancer
        self._sessions = sessions
        self._max_group_size = max_group_size

    def join(self, turn: GroupTurn, group: ClassicGroup, request: JoinRequest, token: int) -> None:
        """Answer the request, or park it until the join phase ends."""
        if not self._has_room(group, request.member_id):
            self._reject_full(turn, group, request.member_id, token)
        elif not group.supports(request.protocol_type, request.protocols):
            _refuse(turn, token, request.member_id, ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        elif request.member_id != NO_MEMBER_ID:
            self._join_again(turn, group, request, token)
        elif request.group_instance_id is not None:
            self._join_static(turn, group, request.group_instance_id, request, token)
        elif not request.two_step:
            self._rebalancer.add_member(turn, group, request.new_member_id, request, token)
        elif len(group.pending_members) >= MAX_PENDING_MEMBERS:
            _refuse(turn, token, NO_MEMBER_ID, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        else:
            group.pending_members[request.new_member_id] = None
            self._sessions.expect_pending(
                turn.now, group, request.new_member_id, request.session_timeout_ms
            )
            _refuse(turn, token, request.new_member_id, ErrorCode.MEMBER_ID_REQUIRED)

    def _has_room(self, group: ClassicGroup, member_id: str) -> bool:
        """Whether the group may hold this member (KIP-389); first come, first served."""
        if group.state is GroupState.EMPTY:
            return True
        if group.state is GroupState.PREPARING_REBALANCE:
            return member_id in group.joining or len(group.joining) < self._max_group_size
        return member_id in group.members or len(group.members) < self._max_group_size

    def _reject_full(
        self, turn: GroupTurn, group: ClassicGroup, member_id: str, token: int
    ) -> None:
        if member_id in group.members or member_id in group.pending_members:
            self._rebalancer.remove_member(turn, group, member_id)
            self._rebalancer.maybe_complete_join(turn, group)
        _refuse(turn, token, NO_MEMBER_ID, ErrorCode.GROUP_MAX_SIZE_REACHED)

    def _join_again(
        self, turn: GroupTurn, group: ClassicGroup, request: JoinRequest, token: int
    ) -> None:
        member_id = request.member_id
        if member_id in group.pending_members and request.group_instance_id is None:
            self._rebalancer.add_member(turn, group, member_id, request, token)
            return
        error = group.check_member(member_id, request.group_instance_id)
        if error is not ErrorCode.NONE:
            _refuse(turn, token, member_id, error)
            return
        member = group.members[member_id]
        unchanged = member.protocols == request.protocols
        if group.state is GroupState.COMPLETING_REBALANCE and unchanged:
            # Its JoinGroup answer was lost.
            turn.answer(token, current_generation(group, member_id))
        elif group.state is GroupState.STABLE and unchanged and member_id != group.leader:
            turn.answer(token, current_generation(group, member_id))
        else:
            # In Stable a leader that rejoins requests a rebalance: the topic metadata has
            # changed.
            self._rebalancer.update_member(turn, group, member, request, token)

    def _join_static(
        self,
        turn: GroupTurn,
        group: ClassicGroup,
        group_instance_id: str,
        request: JoinRequest,
        token: int,
    ) -> None:
        """Admit a static member without a member id: it is new, or was restarted (KIP-345)."""
        old_member_id = group.static_members.get(group_instance_id)
        if old_member_id is None:
            self._rebalancer.add_member(turn, group, request.new_member_id, request, token)
            return
        old_leader = group.leader or NO_MEMBER_ID
        self._rebalancer.answer_parked(
            turn, group, old_member_id, ErrorCode.FENCED_INSTANCE_ID, old_member_id
        )
        self._sessions.end(group, old_member_id)
        member = group.rename_static_member(group_instance_id, request.new_member_id)
        self._rebalancer.park_join(turn, group, member, request, token)
        self._sessions.touch(turn.now, group, member)
        match group.state:
            case GroupState.STABLE if group.select_protocol() == group.protocol:
                self._replace_in_generation(turn, group, request, token, old_leader)
            case GroupState.PREPARING_REBALANCE:
                self._rebalancer.maybe_complete_join(turn, group)
            case _:
                # Completing: the leader may have assigned to the old id already.
                self._rebalancer.prepare(
                    turn,
                    group,
                    f"static member {group_instance_id} rejoins; reason: {request.reason}",
                )

    def _replace_in_generation(
        self,
        turn: GroupTurn,
        group: ClassicGroup,
        request: JoinRequest,
        token: int,
        old_leader: str,
    ) -> None:
        """Store the static member's new id in the current generation, without a rebalance."""
        member_id = request.new_member_id
        record = GroupRecord(group.group_id, group.to_image(turn.now.wall_ms))
        if not fits_record(record):
            self._rebalancer.prepare(turn, group, f"{member_id} makes the generation too large")
            return
        turn.persist(record)
        del group.joining[member_id]
        result = current_generation(group, member_id)
        if request.knows_skip_assignment:
            result = msgspec.structs.replace(result, skip_assignment=group.leader == member_id)
        else:
            # Before v9 a leader cannot be asked to skip the assignment: the answer names its old id
            # as leader, so it acts as a follower.
            result = msgspec.structs.replace(result, leader=old_leader, members=())
        turn.answer(token, result)


def _refuse(turn: GroupTurn, token: int, member_id: str, error: ErrorCode) -> None:
    turn.answer(token, JoinResult(member_id=member_id, error=error))
