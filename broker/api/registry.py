"""Every API key that the broker supports, with its handler.

ApiVersions advertises exactly this table; a request with another key closes its connection.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from headrace.broker.api.add_raft_voter import AddRaftVoterHandler
from headrace.broker.api.api_versions import ApiVersionsHandler
from headrace.broker.api.create_partitions import CreatePartitionsHandler
from headrace.broker.api.create_topics import CreateTopicsHandler
from headrace.broker.api.delete_groups import DeleteGroupsHandler
from headrace.broker.api.delete_records import DeleteRecordsHandler
from headrace.broker.api.delete_topics import DeleteTopicsHandler
from headrace.broker.api.describe_cluster import DescribeClusterHandler
from headrace.broker.api.describe_configs import DescribeConfigsHandler
from headrace.broker.api.describe_groups import DescribeGroupsHandler
from headrace.broker.api.describe_log_dirs import DescribeLogDirsHandler
from headrace.broker.api.describe_quorum import DescribeQuorumHandler
from headrace.broker.api.describe_topic_partitions import DescribeTopicPartitionsHandler
from headrace.broker.api.dispatch import ApiDispatcher
from headrace.broker.api.fetch import FetchHandler
from headrace.broker.api.find_coordinator import FindCoordinatorHandler
from headrace.broker.api.heartbeat import HeartbeatHandler
from headrace.broker.api.incremental_alter_configs import IncrementalAlterConfigsHandler
from headrace.broker.api.init_producer_id import InitProducerIdHandler
from headrace.broker.api.join_group import JoinGroupHandler
from headrace.broker.api.leave_group import LeaveGroupHandler
from headrace.broker.api.list_groups import ListGroupsHandler
from headrace.broker.api.list_offsets import ListOffsetsHandler
from headrace.broker.api.list_partition_reassignments import ListPartitionReassignmentsHandler
from headrace.broker.api.metadata import MetadataHandler
from headrace.broker.api.offset_commit import OffsetCommitHandler
from headrace.broker.api.offset_delete import OffsetDeleteHandler
from headrace.broker.api.offset_fetch import OffsetFetchHandler
from headrace.broker.api.offset_for_leader_epoch import OffsetForLeaderEpochHandler
from headrace.broker.api.produce import ProduceHandler
from headrace.broker.api.remove_raft_voter import RemoveRaftVoterHandler
from headrace.broker.api.sync_group import SyncGroupHandler
from headrace.broker.api.unregister_broker import UnregisterBrokerHandler
from headrace.broker.api.update_features import UpdateFeaturesHandler
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.cluster.producer_ids import ProducerIds
from headrace.broker.cluster.topic_creation import TopicCreation
from headrace.broker.coordinator.coordinator_logs import OffsetsTopicLogs
from headrace.broker.coordinator.runtime import GroupCoordinator
from headrace.broker.fetch.reader import FetchReader
from headrace.broker.fetch.session_cache import FetchSessions
from headrace.broker.network.request_context import Handler
from headrace.broker.network.turn_share import TurnShare
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.config.node import NodeConfig
from headrace.metadata.client import MetadataClient
from headrace.metadata.quorum_admin import QuorumAdmin
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import advertised
from headrace.storage.engine import StorageEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The dependencies of the handlers. Only this module uses them all; a handler gets what it needs."""

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
    connection_turns: TurnShare  # of the work of connections, which includes Produce and Fetch
    clock_s: Callable[[], float]  # fine and monotonic


def build_dispatcher(services: Services) -> ApiDispatcher:
    """Make every handler, and the dispatcher that serves them."""
    handlers = _handlers(services)
    versions = advertised([ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.API_VERSIONS, *handlers])
    handlers[ApiKey.API_VERSIONS] = ApiVersionsHandler(versions, lambda: services.client.image)
    return ApiDispatcher(
        versions=versions,
        produce=ProduceHandler(
            partitions=services.partitions,
            cluster=services.cluster,
            engine=services.engine,
            wall_clock_ms=services.wall_clock_ms,
            metrics=services.metrics,
            config=services.config.log,
            turns=services.connection_turns,
        ),
        fetch=FetchHandler(
            reader=FetchReader(services.partitions, services.metrics, services.connection_turns),
            cluster=services.cluster,
            sessions=FetchSessions(services.config.log.fetch_session_slots, services.rng),
            config=services.config.log,
            metrics=services.metrics,
            turns=services.connection_turns,
        ),
        handlers=handlers,
        wall_clock_ms=services.wall_clock_ms,
        metrics=services.metrics,
        turns=TurnShare(services.clock_s),
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
        UpdateFeaturesHandler(quorum),
    ]
    return {handler.api_key: handler for handler in handlers}
