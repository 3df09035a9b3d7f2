"""ListPartitionReassignments (API key 46), version 0.

Behaviour:
  * A partition that moves has its leader and the target of its move as replicas: the target is being added, the
    leader removed.
  * Partitions that are unknown, or do not move, are left out.
Source: ListPartitionReassignmentsRequest.json, ListPartitionReassignmentsResponse.json; KIP-455.
"""

from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.network.request_context import RequestContext
from headrace.metadata.image import MetadataImage, MoveImage
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.messages import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)

_Topic = ListPartitionReassignmentsResponse.OngoingTopicReassignment
_Partition = _Topic.OngoingPartitionReassignment


class ListPartitionReassignmentsHandler:
    """Lists the moves that are under way, which topic tools ask for before they describe topics."""

    api_key = ApiKey.LIST_PARTITION_REASSIGNMENTS
    requires = (Access(AclOperation.DESCRIBE, ResourceType.CLUSTER),)

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster

    async def handle(
        self, context: RequestContext, request: ListPartitionReassignmentsRequest
    ) -> ListPartitionReassignmentsResponse:
        """Answer from the newest metadata."""
        image = self._cluster.image
        moves = [move for _, move in sorted(image.moves.items())]
        if request.topics is not None and moves:
            wanted = set()
            for asked in request.topics:
                async for index in context.turns.each(asked.partition_indexes):
                    wanted.add((image.topic_ids.get(asked.name), index))
            moves = [it for it in moves if (it.topic_id, it.partition) in wanted]
        topics: dict[str, list[_Partition]] = {}
        async for move in context.turns.each(moves):
            topics.setdefault(image.topics[move.topic_id].name, []).append(_listed(move, image))
        return ListPartitionReassignmentsResponse(
            error_code=0,
            error_message=None,
            topics=[_Topic(name=name, partitions=found) for name, found in topics.items()],
        )


def _listed(move: MoveImage, image: MetadataImage) -> _Partition:
    leader = image.topics[move.topic_id].partitions[move.partition].leader
    return _Partition(
        partition_index=move.partition,
        replicas=[move.target, leader],
        adding_replicas=[move.target],
        removing_replicas=[leader],
    )
