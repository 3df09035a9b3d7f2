"""What the handlers are made of."""

import random
from collections.abc import Callable

import msgspec

from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.cluster.topic_creation import TopicCreation
from headrace.broker.coordinator.group.coordinator import GroupCoordinator
from headrace.broker.coordinator.runtime.topic_logs import TopicLogs
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.config.node import NodeConfig
from headrace.metadata.follower.client import MetadataClient
from headrace.storage.engine import StorageEngine


class Services(msgspec.Struct, frozen=True, kw_only=True):
    """The dependencies of the handlers. Only the registry uses them all; a handler gets what it needs."""

    config: NodeConfig
    client: MetadataClient
    engine: StorageEngine
    partitions: PartitionRegistry
    cluster: ClusterView
    creation: TopicCreation
    coordinator: GroupCoordinator
    offsets_logs: TopicLogs
    wall_clock_ms: Callable[[], int]
    metrics: RequestMetrics
    rng: random.Random
