"""DescribeQuorum (API key 55), versions 0 to 2.

Behaviour:
  * The one topic is `__cluster_metadata`, with its partition 0, as the quorum's leader sees it: this broker asks the
    leader at each request. Any other is UNKNOWN_TOPIC_OR_PARTITION.
  * A partition that is named twice is answered once.
  * Offsets are indexes of the metadata log; the log end offset is the last index plus one, as everywhere in Kafka.
  * Observers are controllers that are not voters (learners), and brokers.
  * When the leader does not answer: the top-level error, REQUEST_TIMED_OUT.
Version notes:
  * 1: time stamps (KIP-836).  2: directory ids, error messages, the controllers' addresses (KIP-853).
Source: DescribeQuorumRequest.json, DescribeQuorumResponse.json; KIP-595, KIP-836, KIP-853.
"""

from collections.abc import Sequence
from typing import Final

from headrace.broker.network.request_context import RequestContext
from headrace.metadata.admin import error_of
from headrace.metadata.errors import MetadataError
from headrace.metadata.follower.quorum_admin import QuorumAdmin
from headrace.metadata.records.members import NO_DIRECTORY
from headrace.metadata.rpc.responses import QuorumDescribed, QuorumMember
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import DescribeQuorumRequest, DescribeQuorumResponse

METADATA_TOPIC: Final = "__cluster_metadata"
METADATA_PARTITION: Final = 0
CONTROLLER_LISTENER: Final = "CONTROLLER"  # used by controllers only, not by clients

_Topic = DescribeQuorumResponse.TopicData
_Partition = _Topic.PartitionData
_Replica = DescribeQuorumResponse.ReplicaState
_Node = DescribeQuorumResponse.Node


class DescribeQuorumHandler:
    """Describes the metadata quorum."""

    api_key = ApiKey.DESCRIBE_QUORUM
    requires = (Access(AclOperation.DESCRIBE, ResourceType.CLUSTER),)

    def __init__(self, quorum: QuorumAdmin) -> None:
        self._quorum = quorum

    async def handle(
        self, context: RequestContext, request: DescribeQuorumRequest
    ) -> DescribeQuorumResponse:
        """Ask the quorum's leader, and answer for each partition that was asked about."""
        try:
            described = await self._quorum.describe()
        except MetadataError as error:
            code, message = error_of(error)
            return DescribeQuorumResponse(
                error_code=int(code), error_message=message, topics=[], nodes=[]
            )
        asked: dict[str, dict[int, None]] = {}
        async for topic in context.turns.each(request.topics):
            indexes = (partition.partition_index for partition in topic.partitions)
            asked.setdefault(topic.topic_name, {}).update(dict.fromkeys(indexes))
        return DescribeQuorumResponse(
            error_code=0,
            error_message=None,
            topics=[
                _Topic(
                    topic_name=name,
                    partitions=[
                        _partition(name, index, described)
                        async for index in context.turns.each(indexes)
                    ],
                )
                for name, indexes in asked.items()
            ],
            nodes=_nodes((*described.voters, *described.observers)),
        )


def _partition(topic: str, index: int, described: QuorumDescribed) -> _Partition:
    if (topic, index) != (METADATA_TOPIC, METADATA_PARTITION):
        return _Partition(
            partition_index=index,
            error_code=int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            error_message="only __cluster_metadata-0 has a quorum",
            current_voters=[],
            observers=[],
        )
    return _Partition(
        partition_index=index,
        error_code=0,
        error_message=None,
        leader_id=described.leader_id,
        leader_epoch=described.term,
        high_watermark=described.commit_index + 1,
        current_voters=[_replica(member) for member in described.voters],
        observers=[_replica(member) for member in described.observers],
    )


def _replica(member: QuorumMember) -> _Replica:
    known = member.directory_id != NO_DIRECTORY
    return _Replica(
        replica_id=member.node_id,
        replica_directory_id=member.directory_id if known else None,
        log_end_offset=member.log_end_index + 1 if member.log_end_index >= 0 else -1,
        last_fetch_timestamp=member.last_fetch_ms,
        last_caught_up_timestamp=member.last_caught_up_ms,
    )


def _nodes(members: Sequence[QuorumMember]) -> list[_Node]:
    """Controllers with their addresses; brokers have none for this."""
    return [
        _Node(
            node_id=member.node_id,
            listeners=[
                _Node.Listener(name=CONTROLLER_LISTENER, host=member.host, port=member.port)
            ],
        )
        for member in members
        if member.host
    ]
