"""The cluster as a client sees it through the listener that it came in by."""

from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import UUID

from broker.request_context import RequestContext
from config.node import NetworkConfig
from metadata.image import BrokerImage, MetadataImage, PartitionImage
from protocol.errors import ErrorCode

UNSPECIFIED_HOSTS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  # compared with, never bound


class BrokerAddress(NamedTuple):
    """Where a client finds a broker."""

    node_id: int
    host: str
    port: int
    rack: str | None


class ClusterView:
    """Answers who is in the cluster, with the addresses of the client's own listener.

    When nothing is advertised, a client is told the address that it has itself used to reach us: the one address of
    which it is known that it works (the first stumbling block of every other broker).
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

    def brokers(self, context: RequestContext, *, with_fenced: bool = False) -> list[BrokerAddress]:
        """Live brokers that have the client's listener, by node id."""
        found = [
            self._address(context, broker)
            for _, broker in sorted(self.image.brokers.items())
            if with_fenced or not broker.fenced
        ]
        return [address for address in found if address is not None]

    def broker(self, context: RequestContext, node_id: int) -> BrokerAddress | None:
        """One broker's address, or None when it is unknown, fenced or not on this listener."""
        broker = self.image.brokers.get(node_id)
        if broker is None or broker.fenced:
            return None
        return self._address(context, broker)

    def controller_id(self) -> int:
        """Where clients send admin requests: any live broker will do, so this one."""
        return self._node_id

    def leadership(self, partition: PartitionImage) -> dict[str, Any]:
        """What Metadata and DescribeTopicPartitions say alike of a partition: the leader is its only replica."""
        leader = self.image.brokers.get(partition.leader)
        available = leader is not None and not leader.fenced
        return {
            "error_code": 0 if available else int(ErrorCode.LEADER_NOT_AVAILABLE),
            "partition_index": partition.partition,
            "leader_id": partition.leader if available else -1,
            "leader_epoch": partition.leader_epoch,
            "replica_nodes": [partition.leader],
            "isr_nodes": [partition.leader] if available else [],
            "offline_replicas": [] if available else [partition.leader],
        }

    def partition_exists(self, name: str, partition: int) -> bool:
        """Whether there is such a partition, wherever it is led."""
        topic = self.image.topic(name)
        return topic is not None and 0 <= partition < len(topic.partitions)

    def name_of(self, topic_id: UUID) -> str | None:
        """Name of a topic id; None when unknown."""
        topic = self.image.topic_by_id(topic_id)
        return None if topic is None else topic.name

    def id_of(self, name: str) -> UUID | None:
        """Id of a topic; None when unknown."""
        return self.image.topic_ids.get(name)

    def _address(self, context: RequestContext, broker: BrokerImage) -> BrokerAddress | None:
        rack = broker.rack or None
        if broker.node_id == self._node_id and not self._advertised:
            return BrokerAddress(broker.node_id, context.local_host, context.local_port, rack)
        for endpoint in broker.endpoints:
            if endpoint.name == context.listener and endpoint.host not in UNSPECIFIED_HOSTS:
                return BrokerAddress(broker.node_id, endpoint.host, endpoint.port, rack)
        return None
