"""Every API key that the broker serves, and what its handler is made of.

ApiVersions advertises exactly this table; a key that is not here closes the connection that asks for it.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from broker.api.add_raft_voter import AddRaftVoterHandler
from broker.api.api_versions import ApiVersionsHandler
from broker.api.create_partitions import CreatePartitionsHandler
from broker.api.create_topics import CreateTopicsHandler
from broker.api.delete_groups import DeleteGroupsHandler
from broker.api.delete_records import DeleteRecordsHandler
from broker.api.delete_topics import DeleteTopicsHandler
from broker.api.describe_cluster import DescribeClusterHandler
from broker.api.describe_configs import DescribeConfigsHandler
from broker.api.describe_groups import DescribeGroupsHandler
from broker.api.describe_log_dirs import DescribeLogDirsHandler
from broker.api.describe_quorum import DescribeQuorumHandler
from broker.api.describe_topic_partitions import DescribeTopicPartitionsHandler
from broker.api.dispatch import ApiDispatcher
from broker.api.fetch import FetchHandler
from broker.api.find_coordinator import FindCoordinatorHandler
from broker.api.heartbeat import HeartbeatHandler
from broker.api.incremental_alter_configs import IncrementalAlterConfigsHandler
from broker.api.init_producer_id import InitProducerIdHandler
from broker.api.join_group import JoinGroupHandler
from broker.api.leave_group import LeaveGroupHandler
from broker.api.list_groups import ListGroupsHandler
from broker.api.list_offsets import ListOffsetsHandler
from broker.api.list_partition_reassignments import ListPartitionReassignmentsHandler
from broker.api.metadata import MetadataHandler
from broker.api.offset_commit import OffsetCommitHandler
from broker.api.offset_delete import OffsetDeleteHandler
from broker.api.offset_fetch import OffsetFetchHandler
from broker.api.offset_for_leader_epoch import OffsetForLeaderEpochHandler
from broker.api.produce import ProduceHandler
from broker.api.remove_raft_voter import RemoveRaftVoterHandler
from broker.api.sync_group import SyncGroupHandler
from broker.api.unregister_broker import UnregisterBrokerHandler
from broker.cluster_view import ClusterView
from broker.coordinator.runtime import GroupCoordinator
from broker.coordinator_logs import OffsetsTopicLogs
from broker.fetch.reader import FetchReader
from broker.fetch.session_cache import FetchSessions
from broker.partition.registry import PartitionRegistry
from broker.producer_ids import ProducerIds
from broker.request_context import Handler
from broker.telemetry.request_metrics import RequestMetrics
from broker.topic_creation import TopicCreation
from config.node import NodeConfig
from metadata.client import MetadataClient
from metadata.quorum_admin import QuorumAdmin
from protocol.api_keys import ApiKey
from protocol.api_versions import advertised
from storage.engine import StorageEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What the handlers are made of. Only this module sees them all; a handler gets what it uses."""

    config: NodeConfig
    client: MetadataClient
    engine: StorageEngine
    partitions: PartitionRegistry
    cluster: ClusterView
    creation: TopicCreation
    coordinator: GroupCoordinator
    offsets_logs: OffsetsTopicLogs
    wall_clock_ms: Callable[[], int]
    metrics: RequestMetrics
    rng: random.Random


def build_dispatcher(services: Services) -> ApiDispatcher:
    """Make every handler, and the dispatcher that serves them."""
    handlers = _handlers(services)
    versions = advertised([ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.API_VERSIONS, *handlers])
    handlers[ApiKey.API_VERSIONS] = ApiVersionsHandler(versions)
    return ApiDispatcher(
        versions=versions,
        produce=ProduceHandler(
            partitions=services.partitions,
            cluster=services.cluster,
            engine=services.engine,
            wall_clock_ms=services.wall_clock_ms,
            metrics=services.metrics,
        ),
        fetch=FetchHandler(
            reader=FetchReader(services.partitions, services.metrics),
            cluster=services.cluster,
            sessions=FetchSessions(services.config.log.fetch_session_slots, services.rng),
            config=services.config.log,
            metrics=services.metrics,
        ),
        handlers=handlers,
        wall_clock_ms=services.wall_clock_ms,
        metrics=services.metrics,
    )


def _handlers(services: Services) -> dict[ApiKey, Handler]:
    client, cluster = services.client, services.cluster
    coordinator, partitions = services.coordinator, services.partitions
    quorum = QuorumAdmin(client)
    handlers: list[Handler] = [
        MetadataHandler(cluster, services.creation),
        ListOffsetsHandler(partitions),
        OffsetForLeaderEpochHandler(partitions),
        CreateTopicsHandler(services.creation, services.config),
        DeleteTopicsHandler(client),
        DeleteRecordsHandler(partitions),
        CreatePartitionsHandler(client, partitions),
        DescribeTopicPartitionsHandler(cluster),
        DescribeClusterHandler(cluster),
        DescribeConfigsHandler(client, services.config),
        IncrementalAlterConfigsHandler(client),
        DescribeLogDirsHandler(partitions, services.config.storage.bucket_uri),
        ListPartitionReassignmentsHandler(),
        InitProducerIdHandler(ProducerIds(client)),
        FindCoordinatorHandler(services.offsets_logs),
        JoinGroupHandler(coordinator, services.config.groups),
        SyncGroupHandler(coordinator),
        HeartbeatHandler(coordinator),
        LeaveGroupHandler(coordinator),
        OffsetCommitHandler(coordinator, cluster),
        OffsetFetchHandler(coordinator, cluster),
        OffsetDeleteHandler(coordinator, cluster),
        DescribeGroupsHandler(coordinator),
        ListGroupsHandler(coordinator),
        DeleteGroupsHandler(coordinator),
        DescribeQuorumHandler(quorum),
        AddRaftVoterHandler(quorum),
        RemoveRaftVoterHandler(quorum),
        UnregisterBrokerHandler(quorum),
    ]
    return {handler.api_key: handler for handler in handlers}
