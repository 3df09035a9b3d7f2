"""What the harness asks brokers on connections of its own, where no client hides or repeats anything."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kafka.protocol.admin import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from tests.e2e.wire import WireConnection

METADATA_TOPIC = "__cluster_metadata"
_TOPIC_RESOURCE = 2
_SET = 0


@dataclass(frozen=True, slots=True)
class Quorum:
    """The answer to DescribeQuorum; ends of logs by node id."""

    leader: int
    term: int
    high_watermark: int
    voters: Mapping[int, int]
    observers: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Topic:
    """What a broker says of a topic; `error` and `leaders` as Kafka numbers them."""

    error: int
    topic_id: UUID | None
    leaders: tuple[int, ...] = ()
    epochs: tuple[int, ...] = ()


def create_topic(
    connection: WireConnection,
    name: str,
    *,
    brokers: Sequence[int] = (),
    partitions: int = 1,
    timeout_ms: int = 10_000,
) -> tuple[int, UUID | None]:
    """Create a topic and return (error, id). `brokers`: who leads each partition, if that matters."""
    wanted = CreateTopicsRequest.CreatableTopic
    assigned = wanted.CreatableReplicaAssignment
    topic = wanted(
        name=name,
        num_partitions=-1 if brokers else partitions,
        replication_factor=-1 if brokers else 1,
        assignments=[
            assigned(partition_index=number, broker_ids=[broker])
            for number, broker in enumerate(brokers)
        ],
        configs=[],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=timeout_ms, validate_only=False)
    answer = connection.ask(request, CreateTopicsResponse, 7).topics[0]
    return answer.error_code, _uuid(answer.topic_id)


def delete_topic(connection: WireConnection, name: str, *, timeout_ms: int = 10_000) -> int:
    """Delete a topic and return the error."""
    state = DeleteTopicsRequest.DeleteTopicState(name=name, topic_id=None)
    request = DeleteTopicsRequest(topics=[state], timeout_ms=timeout_ms)
    return int(connection.ask(request, DeleteTopicsResponse, 6).responses[0].error_code)


def describe_topic(connection: WireConnection, name: str) -> Topic:
    """Return what the broker's copy of the metadata says of a topic."""
    request = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(topic_id=None, name=name)],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=False,
    )
    answer = connection.ask(request, MetadataResponse, 12).topics[0]
    partitions = sorted(answer.partitions, key=lambda it: it.partition_index)
    return Topic(
        answer.error_code,
        _uuid(answer.topic_id),
        tuple(it.leader_id for it in partitions),
        tuple(it.leader_epoch for it in partitions),
    )


def begin_moves(connection: WireConnection, targets: Mapping[tuple[str, int], int]) -> list[int]:
    """Ask that partitions, by topic and number, move to brokers; return the error of each, in their order."""
    wanted = AlterPartitionReassignmentsRequest.ReassignableTopic
    errors = []
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=10_000,
        allow_replication_factor_change=True,
        topics=[
            wanted(
                name=topic,
                partitions=[
                    wanted.ReassignablePartition(partition_index=partition, replicas=[target])
                ],
            )
            for (topic, partition), target in targets.items()
        ],
    )
    answer = connection.ask(request, AlterPartitionReassignmentsResponse, 0)
    for topic in answer.responses:
        errors += [int(answer.error_code or it.error_code) for it in topic.partitions]
    return errors or [int(answer.error_code)] * len(targets)


def is_moving(connection: WireConnection) -> bool:
    """Tell whether any partition moves."""
    request = ListPartitionReassignmentsRequest(timeout_ms=10_000, topics=None)
    answer = connection.ask(request, ListPartitionReassignmentsResponse, 0)
    if answer.error_code:
        raise ValueError(f"ListPartitionReassignments: error {answer.error_code}")
    return bool(answer.topics)


def set_topic_config(connection: WireConnection, topic: str, key: str, value: str) -> int:
    """Set one key of a topic and return the error."""
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    config = resource.AlterableConfig(name=key, config_operation=_SET, value=value)
    request = IncrementalAlterConfigsRequest(
        resources=[resource(resource_type=_TOPIC_RESOURCE, resource_name=topic, configs=[config])],
        validate_only=False,
    )
    answer = connection.ask(request, IncrementalAlterConfigsResponse, 1)
    return int(answer.responses[0].error_code)


def topic_config(connection: WireConnection, topic: str, key: str) -> tuple[int, str | None]:
    """Return (error, value) of one key of a topic."""
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsRequest.DescribeConfigsResource(
                resource_type=_TOPIC_RESOURCE, resource_name=topic, configuration_keys=[key]
            )
        ],
        include_synonyms=False,
        include_documentation=False,
    )
    answer = connection.ask(request, DescribeConfigsResponse, 4).results[0]
    return answer.error_code, answer.configs[0].value if answer.configs else None


def describe_quorum(connection: WireConnection) -> tuple[int, Quorum | None]:
    """Return (error, what the leader says of its quorum)."""
    topic = DescribeQuorumRequest.TopicData
    partition = topic.PartitionData(partition_index=0)
    request = DescribeQuorumRequest(
        topics=[topic(topic_name=METADATA_TOPIC, partitions=[partition])]
    )
    answer = connection.ask(request, DescribeQuorumResponse, 2)
    if answer.error_code or not answer.topics:
        return int(answer.error_code), None
    said = answer.topics[0].partitions[0]
    if said.error_code:
        return int(said.error_code), None

    def ends(replicas: Sequence[Any]) -> dict[int, int]:
        return {it.replica_id: it.log_end_offset for it in replicas}

    quorum = Quorum(
        said.leader_id,
        said.leader_epoch,
        said.high_watermark,
        ends(said.current_voters),
        ends(said.observers),
    )
    return 0, quorum


def fenced_brokers(connection: WireConnection) -> dict[int, bool]:
    """Return each registered broker, and whether it is fenced."""
    request = DescribeClusterRequest(
        include_cluster_authorized_operations=False, endpoint_type=1, include_fenced_brokers=True
    )
    answer = connection.ask(request, DescribeClusterResponse, 2)
    return {it.broker_id: bool(it.is_fenced) for it in answer.brokers}


def _uuid(value: object) -> UUID | None:
    """Kafka's zero id is none."""
    if value is None:
        return None
    found = value if isinstance(value, UUID) else UUID(str(value))
    return found if found.int else None
