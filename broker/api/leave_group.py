"""LeaveGroup (API key 13), versions 0 to 5.

Behaviour:
  * Each member has its own result. Without a member id, the holder of the instance id is removed
    (an administrator's request).
  * A leaving member may end the join phase that waited for it.
Deviations from Apache Kafka:
  * A pending member (KIP-394) that leaves a Stable group does not cause a rebalance: it was not
    a member yet.
Version notes:
  * 0 to 2: one member, whose error is the response's.  3: several, and instance ids.  4: flexible.
    5: reason (KIP-800).
Source: LeaveGroupRequest.json, LeaveGroupResponse.json; `GroupMetadataManager.classicGroupLeave`.
"""

from typing import Final

from headrace.broker.coordinator.group.coordinator import GroupCoordinator
from headrace.broker.coordinator.group.requests import LeavingMember
from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.messages import LeaveGroupRequest, LeaveGroupResponse

API = ApiKey.LEAVE_GROUP

SEVERAL_MEMBERS_SINCE: Final = 3
MEMBERS_AT_ONCE: Final = 500


class LeaveGroupHandler:
    """Removes members."""

    api_key = API
    requires = (Access(AclOperation.READ, ResourceType.GROUP),)

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator

    async def handle(
        self, context: RequestContext, request: LeaveGroupRequest
    ) -> LeaveGroupResponse:
        """Remove the named members."""
        has_several = context.version >= SEVERAL_MEMBERS_SINCE
        if has_several:
            members = [
                LeavingMember(member.member_id, member.group_instance_id, member.reason or "")
                async for member in context.turns.each(request.members)
            ]
        else:
            members = [LeavingMember(request.member_id)]
        try:
            first, rest = members[:MEMBERS_AT_ONCE], members[MEMBERS_AT_ONCE:]
            results = await self._coordinator.leave(request.group_id, first)
            async for some in context.turns.batches(rest, MEMBERS_AT_ONCE):
                results += await self._coordinator.leave(request.group_id, some)
        except KafkaError as error:
            return LeaveGroupResponse(error_code=int(error.code), members=[])
        if not has_several:
            return LeaveGroupResponse(error_code=int(results[0].error))
        return LeaveGroupResponse(
            error_code=int(ErrorCode.NONE),
            members=[
                LeaveGroupResponse.MemberResponse(
                    member_id=result.member.member_id,
                    group_instance_id=result.member.group_instance_id,
                    error_code=int(result.error),
                )
                async for result in context.turns.each(results)
            ],
        )
