"""OffsetDelete (API key 47), version 0.

Behaviour:
  * Offsets in topics that a member may be subscribed to stay: GROUP_SUBSCRIBED_TO_TOPIC.
  * GROUP_ID_NOT_FOUND without such a group; NON_EMPTY_GROUP when it has members that are not
    consumers.
  * Partitions that do not exist get UNKNOWN_TOPIC_OR_PARTITION; without an offset there is nothing
    to do, and no error.
Deviations from Apache Kafka:
  * Offsets of more than 500 partitions are deleted in parts.
Source: OffsetDeleteRequest.json, OffsetDeleteResponse.json; KIP-496;
`OffsetMetadataManager.deleteOffsets`.
"""

from headrace.broker.coordinator.group.coordinator import GroupCoordinator
from headrace.broker.coordinator.group.topics import TopicDirectory
from headrace.broker.network.request_context import RequestContext
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.messages import OffsetDeleteRequest, OffsetDeleteResponse

API = ApiKey.OFFSET_DELETE

_Topic = OffsetDeleteResponse.OffsetDeleteResponseTopic
_Partition = _Topic.OffsetDeleteResponsePartition


class OffsetDeleteHandler:
    """Deletes committed offsets."""

    api_key = API
    requires = (
        Access(AclOperation.DELETE, ResourceType.GROUP),
        Access(AclOperation.READ, ResourceType.TOPIC),
    )

    def __init__(self, coordinator: GroupCoordinator, topics: TopicDirectory) -> None:
        self._coordinator = coordinator
        self._topics = topics

    async def handle(
        self, context: RequestContext, request: OffsetDeleteRequest
    ) -> OffsetDeleteResponse:
        """Delete the offsets that may be deleted."""
        unknown = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        partitions: list[tuple[str, int]] = []
        known: list[
            _Partition
        ] = []  # answers of partitions that exist, in the order of `partitions`
        topics = []
        async for topic in context.turns.each(request.topics):
            answers = []
            async for partition in context.turns.each(topic.partitions):
                index = partition.partition_index
                answer = _Partition(partition_index=index, error_code=unknown)
                answers.append(answer)
                if self._topics.partition_exists(topic.name, index):
                    partitions.append((topic.name, index))
                    known.append(answer)
            topics.append(_Topic(name=topic.name, partitions=answers))
        try:
            error, errors = await self._coordinator.delete_offsets(request.group_id, partitions)
        except KafkaError as refused:
            error, errors = refused.code, []
        if error is not ErrorCode.NONE:
            return OffsetDeleteResponse(error_code=int(error), topics=[])
        for answer, partition_error in zip(known, errors, strict=True):
            answer.error_code = int(partition_error)
        return OffsetDeleteResponse(error_code=0, topics=topics)
