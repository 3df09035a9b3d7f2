"""DescribeGroups (API key 15), versions 0 to 6.

Behaviour:
  * A group that does not exist: state "Dead" and NONE; from version 6 on GROUP_ID_NOT_FOUND with a
    message (KIP-1043).
  * Protocol and members' metadata are shown while the group is Stable.
  * A group that is named twice is answered once.
  * Groups that the answer has no room for (100 MB of metadata and assignments) are INVALID_REQUEST.
  * Authorised operations, when asked for (3+): all that a group has, since there is no authorizer.
Deviations from Apache Kafka:
  * Kafka answers a group as often as the request names it, and bounds no answer.
Version notes:
  * 3: authorised operations.  4: instance id.  5: flexible.  6: GROUP_ID_NOT_FOUND.
Source: DescribeGroupsRequest.json, DescribeGroupsResponse.json;
`GroupMetadataManager.describeGroups`.
"""

from typing import Final

from headrace.broker.coordinator.group.classic.states import GroupState
from headrace.broker.coordinator.group.coordinator import GroupCoordinator
from headrace.broker.coordinator.group.requests import DescribedGroup
from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import (
    GROUP_OPERATIONS,
    NO_OPERATIONS,
    Access,
    AclOperation,
    ResourceType,
)
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.messages import (
    MAX_ANSWER_BYTES,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

API = ApiKey.DESCRIBE_GROUPS

GROUP_ID_NOT_FOUND_SINCE: Final = 6

_TOO_LARGE: Final = (
    f"the answer would exceed {MAX_ANSWER_BYTES} bytes: ask for fewer groups at once"
)

_Group = DescribeGroupsResponse.DescribedGroup
_Member = _Group.DescribedGroupMember


class DescribeGroupsHandler:
    """Shows groups and their members."""

    api_key = API
    requires = (Access(AclOperation.DESCRIBE, ResourceType.GROUP),)

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator

    async def handle(
        self, context: RequestContext, request: DescribeGroupsRequest
    ) -> DescribeGroupsResponse:
        """Describe each group."""
        operations = NO_OPERATIONS
        if request.include_authorized_operations:
            operations = GROUP_OPERATIONS
        groups: list[_Group] = []
        size_bytes = 0
        for group_id in dict.fromkeys(request.groups):
            (result,) = await self._coordinator.describe_groups([group_id])
            await context.turns.pause()
            if isinstance(result, KafkaError):
                groups.append(_refused(group_id, result.code))
            elif result is not None and size_bytes + _size_bytes(result) > MAX_ANSWER_BYTES:
                groups.append(_refused(group_id, ErrorCode.INVALID_REQUEST, _TOO_LARGE))
            elif result is not None:
                size_bytes += _size_bytes(result)
                groups.append(_described(result, operations))
            elif context.version >= GROUP_ID_NOT_FOUND_SINCE:
                groups.append(_missing(group_id))
            else:
                groups.append(
                    _described(
                        DescribedGroup(group_id, GroupState.DEAD.value, "", "", ()), operations
                    )
                )
        return DescribeGroupsResponse(groups=groups)


def _described(group: DescribedGroup, operations: int) -> _Group:
    return _Group(
        error_code=int(ErrorCode.NONE),
        error_message=None,
        group_id=group.group_id,
        group_state=group.state,
        protocol_type=group.protocol_type,
        protocol_data=group.protocol,
        members=[
            _Member(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata,
                member_assignment=member.assignment,
            )
            for member in group.members
        ],
        authorized_operations=operations,
    )


def _missing(group_id: str) -> _Group:
    return _Group(
        error_code=int(ErrorCode.GROUP_ID_NOT_FOUND),
        error_message=f"Group {group_id} not found.",
        group_id=group_id,
        group_state=GroupState.DEAD.value,
        members=[],
    )


def _refused(group_id: str, error: ErrorCode, message: str | None = None) -> _Group:
    return _Group(error_code=int(error), error_message=message, group_id=group_id, members=[])


def _size_bytes(group: DescribedGroup) -> int:
    """What a group takes in the answer, about: its members' metadata and assignments are nearly all of it."""
    return sum(len(member.metadata) + len(member.assignment) for member in group.members)
