"""OffsetForLeaderEpoch (API key 23), versions 2 to 4.

Behaviour:
  * The largest epoch at or below the one asked for that has data, and its end offset. An epoch older than all data
    ends where the data begins; an epoch above the current one is answered (-1, -1).
  * NOT_LEADER_OR_FOLLOWER while this broker's lease is not valid: its state may be stale.
Version notes:
  * 3: replica id.  4: flexible.
Source: OffsetForLeaderEpochRequest.json, OffsetForLeaderEpochResponse.json; KIP-101, KIP-279, KIP-320.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse

_Topic = OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult
_End = _Topic.EpochEndOffset
_Asked = OffsetForLeaderEpochRequest.OffsetForLeaderTopic.OffsetForLeaderPartition


class OffsetForLeaderEpochHandler:
    """Lets consumers detect that the log was truncated below their position."""

    api_key = ApiKey.OFFSET_FOR_LEADER_EPOCH
    requires = (
        Access(
            AclOperation.DESCRIBE,
            ResourceType.TOPIC,
            instead=(Access(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER),),
        ),
    )

    def __init__(self, partitions: PartitionRegistry) -> None:
        self._partitions = partitions

    async def handle(
        self, context: RequestContext, request: OffsetForLeaderEpochRequest
    ) -> OffsetForLeaderEpochResponse:
        """Look up each partition."""
        return OffsetForLeaderEpochResponse(
            topics=[
                _Topic(
                    topic=topic.topic,
                    partitions=[
                        self._look_up(topic.topic, asked)
                        async for asked in context.turns.each(topic.partitions)
                    ],
                )
                async for topic in context.turns.each(request.topics)
            ],
        )

    def _look_up(self, topic: str, asked: _Asked) -> _End:
        found = self._partitions.find(topic, asked.partition)
        code, epoch, end_offset = ErrorCode.NONE, -1, -1
        if not isinstance(found, Partition):
            code = found
        elif not self._partitions.is_lease_valid():
            code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        else:
            code = found.reads.check_leader_epoch(asked.current_leader_epoch)
            if code == ErrorCode.NONE:
                epoch, end_offset = found.reads.end_offset_of_epoch(asked.leader_epoch)
        return _End(
            error_code=int(code),
            partition=asked.partition,
            leader_epoch=epoch,
            end_offset=end_offset,
        )
