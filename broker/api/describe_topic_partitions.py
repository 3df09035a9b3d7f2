"""DescribeTopicPartitions (API key 75), version 0.

Behaviour:
  * Topics sorted by name, partitions in order, at most `response_partition_limit` of them, at least one and never
    above 2,000; the cursor names the first partition that did not fit.
  * Authorised operations: all that a topic has, since there is no authorizer.
  * An empty list of topics asks for all.
  * A partition whose leader is not alive, or has no listener of the client's name, has leader -1 and, unlike in
    Metadata, no error.
Source: DescribeTopicPartitionsRequest.json, DescribeTopicPartitionsResponse.json; KIP-966;
    `KRaftMetadataCache.getPartitionMetadataForDescribeTopicResponse`.
"""

from heapq import merge

from headrace.broker.cluster.cluster_view import ClusterView, SeenCluster
from headrace.broker.network.request_context import RequestContext
from headrace.broker.partition.internal_topics import INTERNAL_TOPICS
from headrace.metadata.image import PartitionImage, TopicImage
from headrace.metadata.topic_names import is_valid_topic_name
from headrace.protocol.acl import TOPIC_OPERATIONS, Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)

MAX_PARTITIONS = 2_000
NAMES_AT_ONCE = 4_096  # sorted at once

_Topic = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic
_Partition = _Topic.DescribeTopicPartitionsResponsePartition


class DescribeTopicPartitionsHandler:
    """Describes topics page by page."""

    api_key = ApiKey.DESCRIBE_TOPIC_PARTITIONS
    requires = (Access(AclOperation.DESCRIBE, ResourceType.TOPIC),)

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster

    async def handle(
        self, context: RequestContext, request: DescribeTopicPartitionsRequest
    ) -> DescribeTopicPartitionsResponse:
        """Describe from the cursor on."""
        if request.cursor is not None and request.cursor.partition_index < 0:
            return self._refusal([it.name async for it in context.turns.each(request.topics)])
        seen = self._cluster.seen_by(context.client)
        image = seen.image
        asked = list(image.topic_ids)
        if request.topics:
            asked = list({topic.name async for topic in context.turns.each(request.topics)})
        parts = [sorted(some) async for some in context.turns.batches(asked, NAMES_AT_ONCE)]
        limit = request.response_partition_limit
        room = max(min(limit, MAX_PARTITIONS), 1)
        answers: list[_Topic] = []
        cursor = None
        async for name in context.turns.each(merge(*parts)):
            if request.cursor is not None and name < request.cursor.topic_name:
                continue
            first_partition = 0
            if request.cursor is not None and name == request.cursor.topic_name:
                first_partition = request.cursor.partition_index
            topic = image.topic(name)
            if topic is None:
                answers.append(self._missing(name))
                continue
            if room == 0:
                cursor = (name, 0)
                break
            selected = topic.partitions[first_partition : first_partition + room]
            answers.append(self._describe(seen, topic, selected))
            room -= len(selected)
            shown = first_partition + len(selected)
            if shown < len(topic.partitions):
                cursor = (name, shown)
                break
        return DescribeTopicPartitionsResponse(
            topics=answers,
            next_cursor=None
            if cursor is None
            else DescribeTopicPartitionsResponse.Cursor(
                topic_name=cursor[0], partition_index=cursor[1]
            ),
        )

    def _describe(
        self, seen: SeenCluster, topic: TopicImage, partitions: tuple[PartitionImage, ...]
    ) -> _Topic:
        return _Topic(
            error_code=0,
            name=topic.name,
            topic_id=topic.topic_id,
            is_internal=topic.name in INTERNAL_TOPICS,
            partitions=[
                _Partition(
                    **(seen.leadership(partition, topic.replication_factor) | {"error_code": 0}),
                    eligible_leader_replicas=[],
                    last_known_elr=[],
                )
                for partition in partitions
            ],
            topic_authorized_operations=TOPIC_OPERATIONS,
        )

    def _refusal(self, names: list[str]) -> DescribeTopicPartitionsResponse:
        """The answer to a request that makes no sense, for each of its topics."""
        code = int(ErrorCode.INVALID_REQUEST)
        topics = [
            _Topic(error_code=code, name=it, topic_id=None, is_internal=False, partitions=[])
            for it in names
        ]
        return DescribeTopicPartitionsResponse(topics=topics, next_cursor=None)

    def _missing(self, name: str) -> _Topic:
        code = (
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if is_valid_topic_name(name)
            else ErrorCode.INVALID_TOPIC_EXCEPTION
        )
        return _Topic(
            error_code=int(code),
            name=name,
            topic_id=None,
            is_internal=False,
            partitions=[],
            topic_authorized_operations=TOPIC_OPERATIONS,
        )
