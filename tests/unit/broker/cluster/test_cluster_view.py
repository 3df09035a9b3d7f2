"""The cluster through a client's listener: addresses that this client can reach."""

import pytest

from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.network.client import Client
from headrace.config.node import Endpoint, NetworkConfig
from headrace.metadata.image import PartitionImage
from headrace.protocol.errors import ErrorCode
from headrace.protocol.leader_discovery import NodeEndpoint
from tests.unit.broker.cluster_scene import (
    FakeClient,
    broker_records,
    client_of,
    topic_id,
    topic_records,
)


def view(*advertised: Endpoint) -> ClusterView:
    told = tuple((it.name, it.host, it.port) for it in advertised) or (
        ("PLAINTEXT", "0.0.0.0", 9092),
    )
    client = FakeClient(
        *broker_records(1, *told, rack="a"),
        *broker_records(2, ("PLAINTEXT", "two", 9093), ("OUTSIDE", "gate", 19093)),
        *broker_records(3, ("PLAINTEXT", "three", 9094), active=False),
        *broker_records(4, ("PLAINTEXT", "0.0.0.0", 9095)),
        *topic_records("t", 1, 2),
        *topic_records("led-by-two", 2, leader=2, leader_epoch=4),
        *topic_records("on-fenced", 3, leader=3),
    )
    return ClusterView(lambda: client.image, 1, NetworkConfig(advertised_listeners=advertised))


INSIDE = client_of()
OUTSIDE = client_of("OUTSIDE")


def test_without_advertised_addresses_this_broker_is_where_the_client_has_found_it() -> None:
    assert view().broker(INSIDE, 1) == NodeEndpoint(1, "10.0.0.1", 9092, "a")
    assert view().broker(OUTSIDE, 1) == NodeEndpoint(1, "10.0.0.1", 9092, "a")


def test_advertised_addresses_are_told_by_listener() -> None:
    cluster = view(Endpoint("PLAINTEXT", "one", 1), Endpoint("OUTSIDE", "gate", 2))
    assert cluster.broker(INSIDE, 1) == NodeEndpoint(1, "one", 1, "a")
    assert cluster.broker(OUTSIDE, 1) == NodeEndpoint(1, "gate", 2, "a")


def test_a_broker_without_the_clients_listener_is_not_told() -> None:
    cluster = view(Endpoint("PLAINTEXT", "one", 1))
    assert cluster.broker(OUTSIDE, 1) is None
    assert list(cluster.seen_by(OUTSIDE).brokers) == [2]


def test_an_address_that_nobody_can_connect_to_is_not_told() -> None:
    assert view().broker(INSIDE, 4) is None


@pytest.mark.parametrize(("with_fenced", "ids"), [(False, [1, 2]), (True, [1, 2, 3])])
def test_fenced_brokers_are_told_only_where_asked_for(with_fenced: bool, ids: list[int]) -> None:
    cluster = view()
    assert list(cluster.seen_by(INSIDE, with_fenced=with_fenced).brokers) == ids
    assert cluster.broker(INSIDE, 3) is None


def leadership(cluster: ClusterView, topic: str, client: Client) -> tuple[int, int, int]:
    seen = cluster.seen_by(client)
    found = seen.image.topic(topic)
    assert found is not None
    told = seen.leadership(found.partitions[0])
    return told["error_code"], told["leader_id"], told["leader_epoch"]


def test_a_partition_is_led_where_the_client_can_reach_it() -> None:
    cluster = view(Endpoint("PLAINTEXT", "one", 1))
    assert leadership(cluster, "led-by-two", INSIDE) == (0, 2, 4)
    assert leadership(cluster, "led-by-two", OUTSIDE) == (0, 2, 4)
    assert leadership(cluster, "t", OUTSIDE) == (ErrorCode.LISTENER_NOT_FOUND, -1, 0)


def test_a_partition_of_a_fenced_broker_has_no_leader() -> None:
    assert leadership(view(), "on-fenced", INSIDE) == (ErrorCode.LEADER_NOT_AVAILABLE, -1, 0)


def test_topics_are_known_by_name_and_id() -> None:
    cluster = view()
    assert (cluster.id_of("t"), cluster.id_of("no")) == (topic_id(1), None)
    assert (cluster.name_of(topic_id(1)), cluster.name_of(topic_id(9))) == ("t", None)
    found = [cluster.partition_exists("t", index) for index in (-1, 0, 1, 2)]
    assert found == [False, True, True, False]
    assert not cluster.partition_exists("no", 0)
    assert (cluster.node_id, cluster.controller_id(), cluster.broker(INSIDE, 9)) == (1, 1, None)


@pytest.mark.parametrize(
    ("leader", "factor", "replicas"),
    [(1, 1, [1]), (1, 2, [1, 2]), (2, 3, [2, 3, 4]), (4, 3, [4, 1, 2]), (3, 9, [3, 4, 1, 2])],
)
def test_replicas_are_the_leader_and_those_that_follow_by_id(
    leader: int, factor: int, replicas: list[int]
) -> None:
    seen = view(Endpoint("PLAINTEXT", "one", 1)).seen_by(INSIDE)
    partition = PartitionImage(0, leader, 0, 10, 11)
    told = seen.leadership(partition, factor)
    assert told["replica_nodes"] == replicas
    active = [it for it in replicas if it in (1, 2)]  # 3 is fenced, 4 has no address
    assert told["isr_nodes"] == (active or [leader])
    assert told["offline_replicas"] == [it for it in replicas if it not in (1, 2)]
