"""The current leaders of partitions that were requested from the wrong broker, or at an old epoch (KIP-951). Pure.

A client that finds the leader in the answer itself needs no metadata request. It ignores an epoch that is not newer
than the one that it knows, so it does not loop while a partition is being opened here or the lease is not valid.
The leader is -1 while none is alive, as Metadata has it.

Source: `KafkaApis.handleProduceRequest`, `handleFetchRequest`, `getCurrentLeader`.
"""

from collections.abc import Sequence
from typing import Final, TypeVar
from uuid import UUID

from headrace.broker.cluster.cluster_view import ClusterView, live_leader
from headrace.broker.network.client import Client
from headrace.metadata.image import MetadataImage, PartitionImage
from headrace.protocol.errors import ErrorCode
from headrace.protocol.fetch.response import FetchTopicResponse
from headrace.protocol.leader_discovery import CurrentLeader, NodeEndpoint
from headrace.protocol.produce import ProduceTopicResponse
from headrace.steps import Steps

STEP_PARTITIONS: Final = 200
MOVED: Final = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})

Topic = TypeVar("Topic", ProduceTopicResponse, FetchTopicResponse)


def name_leaders(
    cluster: ClusterView, client: Client, topics: Sequence[Topic]
) -> Steps[tuple[list[Topic], list[NodeEndpoint]]]:
    """Name the leader of each partition whose error says that another broker leads it, or at a newer epoch.

    It goes through `STEP_PARTITIONS` at a time.

    Returns:
        The topics, and the leaders' addresses on this client's listener, each once.
    """
    image = cluster.image
    endpoints: dict[int, NodeEndpoint] = {}
    named = []
    room = STEP_PARTITIONS
    for topic in topics:
        room -= 1
        partitions = list(topic.partitions)
        for position, answer in enumerate(partitions):
            room -= 1
            if room <= 0:
                room = STEP_PARTITIONS
                yield
            if answer.error_code not in MOVED:
                continue
            found = _partition(image, topic.name, topic.topic_id, answer.partition_index)
            if found is None:
                continue
            leader = CurrentLeader(live_leader(image, found), found.leader_epoch)
            partitions[position] = answer._replace(current_leader=leader)
            endpoint = cluster.broker(client, found.leader)
            if endpoint is not None:
                endpoints[found.leader] = endpoint
        named.append(topic._replace(partitions=partitions))
    return named, list(endpoints.values())


def _partition(
    image: MetadataImage, name: str, topic_id: UUID | None, index: int
) -> PartitionImage | None:
    topic = image.topic(name) if topic_id is None else image.topic_by_id(topic_id)
    if topic is None or not 0 <= index < len(topic.partitions):
        return None
    return topic.partitions[index]
