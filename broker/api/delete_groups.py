"""DeleteGroups (API key 42), versions 0 to 3.

Behaviour:
  * A group without members is deleted with all its offsets; NON_EMPTY_GROUP otherwise,
    GROUP_ID_NOT_FOUND when there is none.
  * Answered when the deletion is durable. Groups are independent of each other.
Deviations from Apache Kafka:
  * A group with more than 500 offsets is deleted in parts. Meanwhile requests to it are answered
    COORDINATOR_LOAD_IN_PROGRESS.
Version notes:
  * 2: flexible.  3: an error has a message.
Source: DeleteGroupsRequest.json, DeleteGroupsResponse.json; KIP-229;
`GroupCoordinatorShard.deleteGroups`.
"""

from typing import Final

from headrace.broker.coordinator.group.coordinator import GroupCoordinator
from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.messages import DeleteGroupsRequest, DeleteGroupsResponse

API = ApiKey.DELETE_GROUPS

GROUPS_AT_ONCE: Final = 100


class DeleteGroupsHandler:
    """Deletes groups."""

    api_key = API
    requires = (Access(AclOperation.DELETE, ResourceType.GROUP),)

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator

    async def handle(
        self, context: RequestContext, request: DeleteGroupsRequest
    ) -> DeleteGroupsResponse:
        """Delete each group."""
        group_ids = list(dict.fromkeys(request.groups_names))
        results: list[ErrorCode | KafkaError] = []
        async for some in context.turns.batches(group_ids, GROUPS_AT_ONCE):
            results += await self._coordinator.delete_groups(some)
        return DeleteGroupsResponse(
            results=[
                DeleteGroupsResponse.DeletableGroupResult(
                    group_id=group_id,
                    error_code=int(result.code if isinstance(result, KafkaError) else result),
                )
                async for group_id, result in context.turns.each(
                    zip(group_ids, results, strict=True)
                )
            ],
        )
