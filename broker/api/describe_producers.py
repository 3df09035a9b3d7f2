"""DescribeProducers (API key 61), version 0.

Behaviour:
  * The producers of a partition that have an id and have not expired: the last sequence, the time of the last batch,
    and where the transaction begins that is under way.
  * NOT_LEADER_OR_FOLLOWER from any broker but the leader, and while this one's lease is not valid.
  * INVALID_TOPIC_EXCEPTION for a name that no topic can have.
Deviations from Apache Kafka:
  * Kafka bounds no answer. Here partitions whose producers have no room in it (100 MB) are INVALID_REQUEST.
Source: DescribeProducersRequest.json, DescribeProducersResponse.json; KIP-664; `ProducerStateManager.activeProducers`.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.metadata.topic_names import topic_name_problem
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import MAX_MESSAGE_CHARACTERS, ErrorCode
from headrace.protocol.messages import (
    MAX_ANSWER_BYTES,
    DescribeProducersRequest,
    DescribeProducersResponse,
    MadeWhenEncoded,
)
from headrace.protocol.partition_checkpoint import ProducerEntry

NONE_KNOWN = -1
PRODUCER_BYTES = 37  # in the answer
MAX_PRODUCERS = MAX_ANSWER_BYTES // PRODUCER_BYTES  # in one answer

_TOO_LARGE = f"the answer would exceed {MAX_ANSWER_BYTES} bytes: ask for fewer partitions at once"
_Topic = DescribeProducersResponse.TopicResponse
_Partition = _Topic.PartitionResponse
_Producer = _Partition.ProducerState


class DescribeProducersHandler:
    """Lists the producers of partitions."""

    api_key = ApiKey.DESCRIBE_PRODUCERS
    requires = (Access(AclOperation.READ, ResourceType.TOPIC),)

    def __init__(self, partitions: PartitionRegistry) -> None:
        self._partitions = partitions

    async def handle(
        self, context: RequestContext, request: DescribeProducersRequest
    ) -> DescribeProducersResponse:
        """Describe each partition."""
        topics = []
        room = MAX_PRODUCERS
        async for topic in context.turns.each(request.topics):
            partitions = []
            async for index in context.turns.each(topic.partition_indexes, per_look=1):
                described = self._describe(topic.name, index, room)
                room -= len(described.active_producers)
                partitions.append(described)
            topics.append(_Topic(name=topic.name, partitions=partitions))
        return DescribeProducersResponse(topics=topics)

    def _describe(self, topic: str, index: int, room: int) -> _Partition:
        problem = topic_name_problem(topic)
        if problem is not None:
            code = ErrorCode.INVALID_TOPIC_EXCEPTION
            return _Partition(index, int(code), problem[:MAX_MESSAGE_CHARACTERS])
        found = self._partitions.find(topic, index)
        if not isinstance(found, Partition):
            return _Partition(index, int(found), None)
        if not self._partitions.is_lease_valid():
            return _Partition(index, int(ErrorCode.NOT_LEADER_OR_FOLLOWER), None)
        if len(found.state.producers) > room:
            return _Partition(index, int(ErrorCode.INVALID_REQUEST), _TOO_LARGE)
        transactions = found.state.transactions
        ongoing = {} if transactions is None else dict(transactions.ongoing)

        def described(entry: ProducerEntry) -> _Producer:
            last = entry.batches[-1] if entry.batches else None
            return _Producer(
                producer_id=entry.producer_id,
                producer_epoch=entry.epoch,
                last_sequence=NONE_KNOWN if last is None else last.last_sequence,
                last_timestamp=NONE_KNOWN if last is None else last.timestamp_ms,
                coordinator_epoch=entry.coordinator_epoch,
                current_txn_start_offset=ongoing.get(entry.producer_id, NONE_KNOWN),
            )

        # 100,000 at most, that never change: later batches make new entries.
        producers = MadeWhenEncoded(described, list(found.state.producers))
        return _Partition(index, int(ErrorCode.NONE), None, producers)
