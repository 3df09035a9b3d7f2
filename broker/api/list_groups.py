"""ListGroups (API key 16), versions 0 to 5.

Behaviour:
  * The groups of the partitions that this broker leads; a client asks every broker.
  * While one of them is being loaded: COORDINATOR_LOAD_IN_PROGRESS; while this broker's lease is not
    valid: COORDINATOR_NOT_AVAILABLE. The list would be incomplete.
  * Filters by state and type ignore case; an unknown name matches nothing.
Version notes:
  * 3: flexible.  4: states (KIP-518).  5: types (KIP-848).
Source: ListGroupsRequest.json, ListGroupsResponse.json; `GroupMetadataManager.listGroups`.
"""

from typing import Final

from headrace.broker.coordinator.group.coordinator import GroupCoordinator
from headrace.broker.coordinator.group.requests import ListedGroup
from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.messages import ListGroupsRequest, ListGroupsResponse, MadeWhenEncoded

API = ApiKey.LIST_GROUPS

CLASSIC_TYPE: Final = "classic"


class ListGroupsHandler:
    """Lists groups."""

    api_key = API
    requires = (
        Access(
            AclOperation.DESCRIBE,
            ResourceType.CLUSTER,
            instead=(Access(AclOperation.DESCRIBE, ResourceType.GROUP),),
        ),
    )

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator

    async def handle(
        self, context: RequestContext, request: ListGroupsRequest
    ) -> ListGroupsResponse:
        """List what passes the filters."""
        states = {state.strip().lower() for state in request.states_filter or ()}
        types = {kind.strip().lower() for kind in request.types_filter or ()}
        try:
            groups = await self._coordinator.list_groups()
        except KafkaError as error:
            code = error.code
            if (
                code is ErrorCode.NOT_COORDINATOR
            ):  # clients expect that code for a single group only
                code = ErrorCode.COORDINATOR_NOT_AVAILABLE
            return ListGroupsResponse(error_code=int(code), groups=[])
        if types and CLASSIC_TYPE not in types:
            groups = []
        if states:
            groups = [it async for it in context.turns.each(groups) if it.state.lower() in states]
        return ListGroupsResponse(
            error_code=int(ErrorCode.NONE),
            groups=MadeWhenEncoded(_listed, groups),
        )


def _listed(group: ListedGroup) -> ListGroupsResponse.ListedGroup:
    return ListGroupsResponse.ListedGroup(
        group_id=group.group_id,
        protocol_type=group.protocol_type,
        group_state=group.state,
        group_type=CLASSIC_TYPE,
    )
