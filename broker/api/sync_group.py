"""SyncGroup (API key 14), versions 0 to 5.

Behaviour:
  * A follower's answer comes when the leader's assignments are durable; members without
    an assignment get empty bytes.
  * Assignments are opaque: cooperative rebalancing (KIP-429) is done by the clients.
  * A generation whose record would exceed 1 MB is answered with UNKNOWN_SERVER_ERROR, as Kafka does
    at `max.message.bytes`.
Deviations from Apache Kafka:
  * A second SyncGroup of a member that is parked in one answers the first with
    REBALANCE_IN_PROGRESS; Kafka never answers it.
Version notes:
  * 3: instance id.  4: flexible.  5: protocol type and name, which must be the group's (KIP-559).
Source: SyncGroupRequest.json, SyncGroupResponse.json; `GroupMetadataManager.classicGroupSync`.
"""

from typing import Final

from headrace.broker.coordinator.group.coordinator import GroupCoordinator
from headrace.broker.coordinator.group.requests import SyncRequest, SyncResult
from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.messages import SyncGroupRequest, SyncGroupResponse

API = ApiKey.SYNC_GROUP

PROTOCOL_SINCE: Final = 5


class SyncGroupHandler:
    """Stores and returns assignments."""

    api_key = API
    requires = (Access(AclOperation.READ, ResourceType.GROUP),)

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator

    async def handle(self, context: RequestContext, request: SyncGroupRequest) -> SyncGroupResponse:
        """Sync, or answer with the error."""
        try:
            result = await self._coordinator.sync(_to_sync(context, request))
        except KafkaError as error:
            result = SyncResult(error=error.code)
        return SyncGroupResponse(
            error_code=int(result.error),
            protocol_type=result.protocol_type,
            protocol_name=result.protocol,
            assignment=result.assignment,
        )


def _to_sync(context: RequestContext, request: SyncGroupRequest) -> SyncRequest:
    if context.version >= PROTOCOL_SINCE and (
        request.protocol_type is None or request.protocol_name is None
    ):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    return SyncRequest(
        group_id=request.group_id,
        member_id=request.member_id,
        generation=request.generation_id,
        group_instance_id=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocol=request.protocol_name,
        assignments=[
            (assigned.member_id, bytes(assigned.assignment)) for assigned in request.assignments
        ],
    )
