"""DescribeLogDirs (API key 35), versions 1 to 5.

Behaviour:
  * One log directory: the bucket. A partition's size includes its data in the bucket and its data
    in the cache that is not uploaded yet. User interfaces show a cluster without this API as offline.
Deviations from Apache Kafka:
  * Total and usable bytes are -1: a bucket has no size.
Version notes:
  * 2: flexible.  4: total and usable bytes.
Source: DescribeLogDirsRequest.json, DescribeLogDirsResponse.json; KIP-113, KIP-827.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.messages import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    MadeWhenEncoded,
)

_Result = DescribeLogDirsResponse.DescribeLogDirsResult
_Topic = _Result.DescribeLogDirsTopic
_Partition = _Topic.DescribeLogDirsPartition


class DescribeLogDirsHandler:
    """Shows how much each partition holds."""

    api_key = ApiKey.DESCRIBE_LOG_DIRS
    requires = (Access(AclOperation.DESCRIBE, ResourceType.CLUSTER),)

    def __init__(self, partitions: PartitionRegistry, bucket: str) -> None:
        self._partitions = partitions
        self._bucket = bucket

    async def handle(
        self, context: RequestContext, request: DescribeLogDirsRequest
    ) -> DescribeLogDirsResponse:
        """Describe the partitions asked for, or all of this broker."""
        wanted: set[tuple[str, int]] | None = None
        if request.topics is not None:
            wanted = {
                (topic.topic, index)
                for topic in request.topics
                async for index in context.turns.each(topic.partitions)
            }
        by_topic: dict[str, list[Partition]] = {}
        async for partition in context.turns.each(list(self._partitions.all())):
            if wanted is None or (partition.topic, partition.index) in wanted:
                by_topic.setdefault(partition.topic, []).append(partition)
        topics = [
            _Topic(
                name=name,
                partitions=MadeWhenEncoded(
                    _partition, sorted(partitions, key=lambda partition: partition.index)
                ),
            )
            async for name, partitions in context.turns.each(sorted(by_topic.items()))
        ]
        return DescribeLogDirsResponse(
            error_code=0,
            results=[
                _Result(
                    error_code=0,
                    log_dir=self._bucket,
                    topics=topics,
                    total_bytes=-1,
                    usable_bytes=-1,
                    is_cordoned=False,
                )
            ],
        )


def _partition(partition: Partition) -> _Partition:
    return _Partition(
        partition_index=partition.index,
        partition_size=partition.reads.size_bytes,
        offset_lag=0,
        is_future_key=False,
    )
