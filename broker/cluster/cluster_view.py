"""The cluster as a client sees it through the listener that it is connected to. Pure."""

from bisect import bisect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from headrace.broker.network.client import Client
from headrace.config.node import NetworkConfig
from headrace.metadata.image import BrokerImage, MetadataImage, PartitionImage
from headrace.protocol.errors import ErrorCode
from headrace.protocol.leader_discovery import NodeEndpoint

UNSPECIFIED_HOSTS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  # compared with, never bound


NO_LEADER = -1


def live_leader(image: MetadataImage, partition: PartitionImage) -> int:
    """Return the leader of a partition; none while that is starting, or once its epoch has ended."""
    leader = image.brokers.get(partition.leader)
    return NO_LEADER if leader is None or leader.fenced else partition.leader


class SeenCluster(NamedTuple):
    """One image of the cluster as one client sees it."""

    image: MetadataImage
    brokers: Mapping[int, NodeEndpoint]  # active ones that have the client's listener, by node id

    def replicas(self, leader: int, replication_factor: int) -> list[int]:
        """Return the replicas that clients see: the leader, and those that follow by node id.

        Each holds what the others hold, the bucket, and any may be made leader. There are fewer when brokers have left.
        """
        if replication_factor <= 1:
            return [leader]
        others = sorted(it for it in self.image.brokers if it != leader)
        first = bisect(others, leader)
        return [leader, *(others[first:] + others[:first])[: replication_factor - 1]]

    def leadership(
        self,
        partition: PartitionImage,
        replication_factor: int = 1,
        *,
        without_listener: ErrorCode = ErrorCode.LISTENER_NOT_FOUND,
    ) -> dict[str, Any]:
        """Fields of a partition that Metadata and DescribeTopicPartitions share.

        Args:
            partition: of this image.
            replication_factor: of its topic.
            without_listener: the error when its leader is active and has no address on the client's listener.
        """
        available = partition.leader in self.brokers
        code = ErrorCode.NONE
        if not available:
            alive = live_leader(self.image, partition) != NO_LEADER
            code = without_listener if alive else ErrorCode.LEADER_NOT_AVAILABLE
        replicas = self.replicas(partition.leader, replication_factor)
        in_sync = [it for it in replicas if it in self.brokers]
        return {
            "error_code": int(code),
            "partition_index": partition.partition,
            "leader_id": partition.leader if available else NO_LEADER,
            "leader_epoch": partition.leader_epoch,
            "replica_nodes": replicas,
            "isr_nodes": in_sync or [partition.leader],  # the last one stays in it
            "offline_replicas": [it for it in replicas if it not in self.brokers],
        }


class ClusterView:
    """The brokers of the cluster, with their addresses on the client's own listener.

    When nothing is advertised, a client gets the address that it used to connect: the one address that is known to
    work for it.
    """

    def __init__(
        self, image: Callable[[], MetadataImage], node_id: int, network: NetworkConfig
    ) -> None:
        self._image = image
        self._node_id = node_id
        self._advertised = {endpoint.name: endpoint for endpoint in network.advertised_listeners}

    @property
    def image(self) -> MetadataImage:
        """The newest metadata."""
        return self._image()

    @property
    def node_id(self) -> int:
        """This broker."""
        return self._node_id

    def seen_by(self, client: Client, *, with_fenced: bool = False) -> SeenCluster:
        """The newest metadata as this client sees it; active brokers, or all, ordered by node id."""
        image = self.image
        found = {
            node_id: self._address(client, broker)
            for node_id, broker in sorted(image.brokers.items())
            if with_fenced or not broker.fenced
        }
        return SeenCluster(
            image, {node_id: address for node_id, address in found.items() if address is not None}
        )

    def broker(self, client: Client, node_id: int) -> NodeEndpoint | None:
        """One broker's address, or None when it is unknown, fenced or not on this listener."""
        broker = self.image.brokers.get(node_id)
        if broker is None or broker.fenced:
            return None
        return self._address(client, broker)

    def controller_id(self) -> int:
        """Where clients send admin requests: every active broker accepts them, so this one."""
        return self._node_id

    def partition_exists(self, name: str, partition: int) -> bool:
        """Whether this partition exists, on any broker."""
        topic = self.image.topic(name)
        return topic is not None and 0 <= partition < len(topic.partitions)

    def name_of(self, topic_id: UUID) -> str | None:
        """Name of a topic id; None when unknown."""
        topic = self.image.topic_by_id(topic_id)
        return None if topic is None else topic.name

    def id_of(self, name: str) -> UUID | None:
        """Id of a topic; None when unknown."""
        return self.image.topic_ids.get(name)

    def _address(self, client: Client, broker: BrokerImage) -> NodeEndpoint | None:
        rack = broker.rack or None
        if broker.node_id == self._node_id and not self._advertised:
            return NodeEndpoint(broker.node_id, client.local_host, client.local_port, rack)
        for endpoint in broker.endpoints:
            if endpoint.name == client.listener and endpoint.host not in UNSPECIFIED_HOSTS:
                return NodeEndpoint(broker.node_id, endpoint.host, endpoint.port, rack)
        return None
