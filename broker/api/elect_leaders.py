"""ElectLeaders (API key 43), versions 0 to 2.

Behaviour:
  * The leader of a partition is its preferred replica: ELECTION_NOT_NEEDED while it is active. When all partitions are
    asked for, those are left out of the answer, and topics stay in it, as in Kafka.
  * An unknown type of election is INVALID_REQUEST, also for each partition that is named.
  * A partition whose leader is not active gets another one when that one's log is drained, and by no election:
    PREFERRED_LEADER_NOT_AVAILABLE, or ELIGIBLE_LEADERS_NOT_AVAILABLE for an unclean election.
Version notes:
  * 1: types of elections (KIP-460).  2: flexible.
Source: ElectLeadersRequest.json, ElectLeadersResponse.json; ReplicationControlManager.java, `electLeaders`.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from headrace.broker.cluster.cluster_view import NO_LEADER, ClusterView, live_leader
from headrace.broker.network.request_context import RequestContext
from headrace.metadata.image import MetadataImage
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import ElectLeadersRequest, ElectLeadersResponse

PREFERRED: Final = 0
UNCLEAN: Final = 1
TYPES_SINCE: Final = 1  # version of the request
_Topic = ElectLeadersResponse.ReplicaElectionResult
_Partition = _Topic.PartitionResult


class _Outcome(NamedTuple):
    code: ErrorCode
    message: str | None


class ElectLeadersHandler:
    """Answers that no election is needed, or possible."""

    api_key = ApiKey.ELECT_LEADERS
    requires = (Access(AclOperation.ALTER, ResourceType.CLUSTER),)

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster

    async def handle(
        self, context: RequestContext, request: ElectLeadersRequest
    ) -> ElectLeadersResponse:
        """Answer from the newest metadata."""
        kind = request.election_type if context.version >= TYPES_SINCE else PREFERRED
        if kind not in (PREFERRED, UNCLEAN):
            refused = [
                _Topic(
                    topic=it.topic,
                    partition_result=[
                        _Partition(
                            index, int(ErrorCode.INVALID_REQUEST), f"unknown election type {kind}"
                        )
                        async for index in context.turns.each(it.partitions)
                    ],
                )
                async for it in context.turns.each(request.topic_partitions or ())
            ]
            return _answer(context.version, ErrorCode.INVALID_REQUEST, refused)
        image = self._cluster.image
        results = []
        for name, indexes in _asked(request, image):
            partitions = []
            async for index in context.turns.each(indexes):
                code, message = _outcome(image, name, index, kind)
                if request.topic_partitions is None and code == ErrorCode.ELECTION_NOT_NEEDED:
                    continue
                partitions.append(
                    _Partition(partition_id=index, error_code=int(code), error_message=message)
                )
            results.append(_Topic(topic=name, partition_result=partitions))
        return _answer(context.version, ErrorCode.NONE, results)


def _asked(request: ElectLeadersRequest, image: MetadataImage) -> list[tuple[str, Iterable[int]]]:
    if request.topic_partitions is not None:
        return [(it.topic, it.partitions) for it in request.topic_partitions]
    topics = sorted(image.topics.values(), key=lambda it: it.name)
    return [(it.name, range(len(it.partitions))) for it in topics]


def _outcome(image: MetadataImage, name: str, index: int, kind: int) -> _Outcome:
    topic = image.topic(name)
    if topic is None or not 0 <= index < len(topic.partitions):
        return _Outcome(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no partition {name}-{index}"
        )
    if live_leader(image, topic.partitions[index]) != NO_LEADER:
        return _Outcome(ErrorCode.ELECTION_NOT_NEEDED, None)
    leader = topic.partitions[index].leader
    message = f"broker {leader} is not active; another one leads when its log is drained"
    if kind == UNCLEAN:
        return _Outcome(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, message)
    return _Outcome(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, message)


def _answer(version: int, code: ErrorCode, results: list[_Topic]) -> ElectLeadersResponse:
    answer = ElectLeadersResponse(replica_election_results=results)
    if version >= TYPES_SINCE:
        answer.error_code = int(code)
    return answer
