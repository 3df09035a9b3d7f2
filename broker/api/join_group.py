"""JoinGroup (API key 11), versions 0 to 9.

Behaviour:
  * The answer comes when the join phase ends; until then the request is parked.
  * Only the leader's answer lists the members.
Deviations from Apache Kafka:
  * A second JoinGroup of a member that is parked in one answers the first with
    REBALANCE_IN_PROGRESS; Kafka never answers it.
  * At 10,000 member ids that were assigned and not yet used, a new dynamic member gets
    COORDINATOR_NOT_AVAILABLE; Kafka has no bound.
Version notes:
  * 1: rebalance timeout (before: the session timeout).  4: a dynamic member gets its id first
    (KIP-394).  5: instance id (KIP-345). 6: flexible.  7: protocol type; protocol name may be null
    (KIP-559).  8: reason (KIP-800).  9: skip_assignment (KIP-814).
Source: JoinGroupRequest.json, JoinGroupResponse.json; `GroupCoordinatorService.joinGroup`.
"""

from typing import Final

from headrace.broker.coordinator.group.coordinator import GroupCoordinator
from headrace.broker.coordinator.group.requests import (
    NO_MEMBER_ID,
    JoinProtocol,
    JoinRequest,
    JoinResult,
)
from headrace.broker.network.request_context import RequestContext
from headrace.config.node import GroupConfig
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.messages import JoinGroupRequest, JoinGroupResponse

API = ApiKey.JOIN_GROUP

REBALANCE_TIMEOUT_SINCE: Final = 1
KNOWN_MEMBER_ID_SINCE: Final = 4
NULL_PROTOCOL_SINCE: Final = 7
SKIP_ASSIGNMENT_SINCE: Final = 9


class JoinGroupHandler:
    """Adds members to groups."""

    api_key = API
    requires = (Access(AclOperation.READ, ResourceType.GROUP),)

    def __init__(self, coordinator: GroupCoordinator, config: GroupConfig) -> None:
        self._coordinator = coordinator
        self._config = config

    async def handle(self, context: RequestContext, request: JoinGroupRequest) -> JoinGroupResponse:
        """Join, or answer with the error."""
        try:
            self._check(request)
            result = await self._coordinator.join(self._to_join(context, request))
        except KafkaError as error:
            result = JoinResult(member_id=request.member_id, error=error.code)
        protocol = result.protocol
        if protocol is None and context.version < NULL_PROTOCOL_SINCE:
            protocol = ""
        return JoinGroupResponse(
            error_code=int(result.error),
            generation_id=result.generation,
            protocol_type=result.protocol_type,
            protocol_name=protocol,
            leader=result.leader,
            skip_assignment=result.skip_assignment,
            member_id=result.member_id,
            members=[
                JoinGroupResponse.JoinGroupResponseMember(
                    member_id=member.member_id,
                    group_instance_id=member.group_instance_id,
                    metadata=member.metadata,
                )
                for member in result.members
            ],
        )

    def _check(self, request: JoinGroupRequest) -> None:
        if not request.group_id:  # before anything else, as in Kafka
            raise KafkaError(ErrorCode.INVALID_GROUP_ID)
        timeout_ms = request.session_timeout_ms
        if not (
            self._config.session_timeout_min_ms <= timeout_ms <= self._config.session_timeout_max_ms
        ):
            raise KafkaError(ErrorCode.INVALID_SESSION_TIMEOUT)

    def _to_join(self, context: RequestContext, request: JoinGroupRequest) -> JoinRequest:
        instance_id = request.group_instance_id
        prefix = context.client_id if instance_id is None else instance_id
        return JoinRequest(
            group_id=request.group_id,
            member_id=request.member_id,
            new_member_id=(
                self._coordinator.new_member_id(prefix)
                if request.member_id == NO_MEMBER_ID
                else NO_MEMBER_ID
            ),
            client_id=context.client_id,
            client_host=f"/{context.client.client_host}",  # as Java prints an address, and tools show it
            session_timeout_ms=request.session_timeout_ms,
            rebalance_timeout_ms=(
                request.rebalance_timeout_ms
                if context.version >= REBALANCE_TIMEOUT_SINCE
                else request.session_timeout_ms
            ),
            protocol_type=request.protocol_type,
            protocols=tuple(
                JoinProtocol(protocol.name, bytes(protocol.metadata))
                for protocol in request.protocols
            ),
            group_instance_id=instance_id,
            reason=request.reason or "no reason given",
            two_step=context.version >= KNOWN_MEMBER_ID_SINCE,
            knows_skip_assignment=context.version >= SKIP_ASSIGNMENT_SINCE,
        )
