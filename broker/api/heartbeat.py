"""Heartbeat (API key 12), versions 0 to 4.

Behaviour:
  * REBALANCE_IN_PROGRESS in PreparingRebalance, which keeps the session alive too.
  * While the group is being loaded the answer is NONE: the only retriable errors that clients
    handle here make them look for the coordinator again, and COORDINATOR_LOAD_IN_PROGRESS is fatal
    to some. Every session restarts when the group is loaded.
Version notes:
  * 3: instance id.  4: flexible.
Source: HeartbeatRequest.json, HeartbeatResponse.json; `GroupCoordinatorService.heartbeat`.
"""

from headrace.broker.coordinator.group.coordinator import GroupCoordinator
from headrace.broker.coordinator.group.requests import HeartbeatRequest as GroupHeartbeat
from headrace.broker.network.request_context import Later, RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.messages import HeartbeatRequest, HeartbeatResponse

API = ApiKey.HEARTBEAT


class HeartbeatHandler:
    """Keeps members alive."""

    api_key = API
    requires = (Access(AclOperation.READ, ResourceType.GROUP),)

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator

    def handle(
        self, context: RequestContext, request: HeartbeatRequest
    ) -> HeartbeatResponse | Later[HeartbeatResponse]:
        """Refresh a session."""
        del context
        heartbeat = GroupHeartbeat(
            group_id=request.group_id,
            member_id=request.member_id,
            generation=request.generation_id,
            group_instance_id=request.group_instance_id,
        )
        try:
            submitted = self._coordinator.heartbeat(heartbeat)
        except KafkaError as refused:
            return _refusal(refused)
        if submitted is None:
            return _answer(self._coordinator.heartbeat_when_loaded(heartbeat))
        if submitted.durable is not None:
            return _answer(submitted.wait())
        return HeartbeatResponse(error_code=int(submitted.response))


async def _answer(outcome: Later[ErrorCode]) -> HeartbeatResponse:
    try:
        return HeartbeatResponse(error_code=int(await outcome))
    except KafkaError as refused:
        return _refusal(refused)


def _refusal(refused: KafkaError) -> HeartbeatResponse:
    error = refused.code
    if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        error = ErrorCode.NONE
    return HeartbeatResponse(error_code=int(error))
