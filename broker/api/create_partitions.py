"""CreatePartitions (API key 37), versions 0 to 3.

Behaviour:
  * The new partitions are open when the request is answered.
  * A topic that is named twice is answered once, with INVALID_REQUEST.
Deviations from Apache Kafka:
  * An assignment with fewer brokers than the topic's replication factor is taken: only its leader counts.
Version notes:
  * 2: flexible.  3: THROTTLING_QUOTA_EXCEEDED (never sent: there are no mutation quotas).
Source: CreatePartitionsRequest.json, CreatePartitionsResponse.json; KIP-195.
"""

from collections import Counter

from headrace.broker.cluster.topic_creation import OPENING_TIMEOUT_MS
from headrace.broker.network.request_context import RequestContext
from headrace.broker.partition.registry import PartitionRegistry
from headrace.metadata.follower.client import MetadataClient
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import CreatePartitionsRequest, CreatePartitionsResponse


class CreatePartitionsHandler:
    """Adds partitions to topics through the controller."""

    api_key = ApiKey.CREATE_PARTITIONS
    requires = (Access(AclOperation.ALTER, ResourceType.TOPIC),)

    def __init__(self, client: MetadataClient, partitions: PartitionRegistry) -> None:
        self._client = client
        self._partitions = partitions

    async def handle(
        self, context: RequestContext, request: CreatePartitionsRequest
    ) -> CreatePartitionsResponse:
        """Raise the partition count of each topic, or answer with the reason."""
        counts: Counter[str] = Counter()
        topics = {}
        async for topic in context.turns.each(request.topics):
            counts[topic.name] += 1
            topics[topic.name] = topic
        results = []
        async for topic in context.turns.each(topics.values()):
            message: str | None
            if counts[topic.name] > 1:
                code, message = (
                    ErrorCode.INVALID_REQUEST,
                    "the request names this topic more than once",
                )
            else:
                code, message = await self._client.create_partitions(
                    topic.name,
                    topic.count,
                    assignments=None
                    if topic.assignments is None
                    else [tuple(assignment.broker_ids) for assignment in topic.assignments],
                    validate_only=request.validate_only,
                )
            results.append(
                CreatePartitionsResponse.CreatePartitionsTopicResult(
                    name=topic.name, error_code=int(code), error_message=message
                )
            )
        if not request.validate_only:
            created = [result.name for result in results if result.error_code == 0]
            await self._partitions.wait_open(created, min(request.timeout_ms, OPENING_TIMEOUT_MS))
        return CreatePartitionsResponse(results=results)
