"""AlterPartitionReassignments (API key 45), versions 0 and 1.

Behaviour:
  * A reassignment is noted when it is answered, and goes on by itself: `headrace.metadata.controller.moves`.
  * Replicas that are null take it back: NO_REASSIGNMENT_IN_PROGRESS if there is none. So does naming the leader.
  * A partition that does not move within some seconds stays where it is: ListPartitionReassignments then has none.
  * A partition that is named twice is answered twice with INVALID_REQUEST.
Deviations from Apache Kafka:
  * Of several brokers the first active one becomes the leader. The others, and so the replication factor, stay as they
    are, and `allow_replication_factor_change` changes nothing.
  * At least one of the brokers must be active: INVALID_REPLICA_ASSIGNMENT.
Version notes:
  * 1: `allow_replication_factor_change` (KIP-860).
Source: AlterPartitionReassignmentsRequest.json, AlterPartitionReassignmentsResponse.json; KIP-455.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.metadata.admin import error_of
from headrace.metadata.errors import MetadataError
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.rpc.requests import AlterReassignments, Reassignment
from headrace.metadata.rpc.responses import ReassignmentsAltered
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.messages import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)

_Topic = AlterPartitionReassignmentsResponse.ReassignableTopicResponse
_Partition = _Topic.ReassignablePartitionResponse


class AlterPartitionReassignmentsHandler:
    """Begins moves of partitions through the controller, and takes them back."""

    api_key = ApiKey.ALTER_PARTITION_REASSIGNMENTS
    requires = (Access(AclOperation.ALTER, ResourceType.CLUSTER),)

    def __init__(self, client: MetadataClient) -> None:
        self._client = client

    async def handle(
        self, context: RequestContext, request: AlterPartitionReassignmentsRequest
    ) -> AlterPartitionReassignmentsResponse:
        """Alter all of them by one change of the metadata."""
        wanted = [
            Reassignment(
                topic.name,
                partition.partition_index,
                None if partition.replicas is None else tuple(partition.replicas),
            )
            for topic in request.topics
            async for partition in context.turns.each(topic.partitions)
        ]
        try:
            altered = await self._client.change(
                AlterReassignments(tuple(wanted)), ReassignmentsAltered
            )
        except MetadataError as error:
            code, message = error_of(error)
            return _answer(request, int(code), message, [])
        topics: dict[str, list[_Partition]] = {}
        async for asked, result in context.turns.each(
            list(zip(wanted, altered.results, strict=True))
        ):
            answer = _Partition(
                partition_index=asked.partition,
                error_code=result.error_code,
                error_message=result.message,
            )
            topics.setdefault(asked.topic, []).append(answer)
        responses = [_Topic(name=name, partitions=answers) for name, answers in topics.items()]
        return _answer(request, 0, None, responses)


def _answer(
    request: AlterPartitionReassignmentsRequest,
    code: int,
    message: str | None,
    responses: list[_Topic],
) -> AlterPartitionReassignmentsResponse:
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_code=code,
        error_message=message,
        responses=responses,
    )
