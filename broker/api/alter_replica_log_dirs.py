"""AlterReplicaLogDirs (API key 34), versions 1 and 2.

Behaviour:
  * There is one log directory, the bucket: to move a partition there changes nothing and succeeds, any other
    directory is LOG_DIR_NOT_FOUND.
  * The error of a partition that is not open here.
Version notes:
  * 2: flexible.
Source: AlterReplicaLogDirsRequest.json, AlterReplicaLogDirsResponse.json; KIP-113;
    `ReplicaManager.alterReplicaLogDirs`.
"""

from headrace.broker.network.request_context import RequestContext
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse

_Topic = AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult
_Partition = _Topic.AlterReplicaLogDirPartitionResult


class AlterReplicaLogDirsHandler:
    """Leaves partitions in the bucket."""

    api_key = ApiKey.ALTER_REPLICA_LOG_DIRS
    requires = (Access(AclOperation.ALTER, ResourceType.CLUSTER),)

    def __init__(self, partitions: PartitionRegistry, bucket: str) -> None:
        self._partitions = partitions
        self._bucket = bucket

    async def handle(
        self, context: RequestContext, request: AlterReplicaLogDirsRequest
    ) -> AlterReplicaLogDirsResponse:
        """Answer for each partition."""
        topics: dict[str, list[_Partition]] = {}
        async for directory in context.turns.each(request.dirs):
            async for topic in context.turns.each(directory.topics):
                answers = topics.setdefault(topic.name, [])
                async for index in context.turns.each(topic.partitions):
                    code = self._outcome(directory.path, topic.name, index)
                    answers.append(_Partition(index, int(code)))
        return AlterReplicaLogDirsResponse(
            results=[_Topic(name, answers) for name, answers in topics.items()]
        )

    def _outcome(self, path: str, topic: str, index: int) -> ErrorCode:
        if path != self._bucket:
            return ErrorCode.LOG_DIR_NOT_FOUND
        found = self._partitions.find(topic, index)
        return ErrorCode.NONE if isinstance(found, Partition) else found
