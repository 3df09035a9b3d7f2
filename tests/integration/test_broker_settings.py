"""Settings of brokers and replication factors, in a cluster of three: in force on each broker, kept over a restart."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from headrace.metadata.follower.client import ConfigOp
from headrace.protocol.messages import IncrementalAlterConfigsRequest
from headrace.testing import Cluster
from tests.e2e.beside_kafka import ask
from tests.e2e.raw_requests import RawRequest

MESSAGE_TOO_LARGE = 10
INVALID_REPLICATION_FACTOR = 38
BROKER = 4
BROKERS = 3
PARTITIONS = 6  # of each broker some
SIZE = "message.max.bytes"


def alter(bootstrap: str, name: str, key: str, value: str | None) -> None:
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    change = resource.AlterableConfig(key, ConfigOp.SET if value else ConfigOp.DELETE, value)
    request = IncrementalAlterConfigsRequest([resource(BROKER, name, [change])])
    first = bootstrap.split(",", maxsplit=1)[0]
    assert ask(first, RawRequest("", 1, request))[f"responses[{name}].error_code"] == {0}


def sizes(cluster: Cluster) -> list[str]:
    """What each broker shows of itself."""
    found = []
    for node_id in range(1, BROKERS + 1):
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        resource = ConfigResource(ResourceType.BROKER, str(node_id))
        found.append(admin.describe_configs([resource])[resource].result(30)[SIZE].value)
    return found


def until(condition: Callable[[], bool]) -> None:
    """Brokers learn of a change within moments."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def refused(bootstrap: str) -> set[int]:
    """Partitions that do not take a record of 5,000 bytes."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
    found: set[int] = set()
    taken: set[int] = set()

    def told(error: Any, message: Any) -> None:
        assert error is None or error.code() == MESSAGE_TOO_LARGE, error
        (taken if error is None else found).add(message.partition())

    for partition in range(PARTITIONS):
        producer.produce("sized", bytes(5_000), partition=partition, on_delivery=told)
    producer.flush(30)
    assert taken | found == set(range(PARTITIONS))
    return found


def test_a_setting_of_one_broker_and_of_all_is_in_force_where_it_should_be() -> None:
    with Cluster(BROKERS) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        admin.create_topics([NewTopic("sized", PARTITIONS, 2)])["sized"].result(30)
        topic = admin.list_topics("sized", timeout=30).topics["sized"]
        leaders = {it: partition.leader for it, partition in topic.partitions.items()}
        assert set(leaders.values()) == {1, 2, 3}
        for index, partition in topic.partitions.items():
            assert partition.replicas == [leaders[index], leaders[index] % BROKERS + 1]
            assert sorted(partition.isrs) == sorted(partition.replicas)

        assert refused(cluster.bootstrap) == set()
        alter(cluster.bootstrap, "2", SIZE, "2000")
        of_two = {it for it, leader in leaders.items() if leader == 2}
        until(lambda: refused(cluster.bootstrap) == of_two)
        alter(cluster.bootstrap, "", SIZE, "3000")
        until(lambda: refused(cluster.bootstrap) == set(leaders))
        assert sizes(cluster) == ["3000", "2000", "3000"]

        cluster.stop(3)
        cluster.start(3)
        assert sizes(cluster) == ["3000", "2000", "3000"]
        assert refused(cluster.bootstrap) == set(leaders)

        alter(cluster.bootstrap, "", SIZE, None)
        alter(cluster.bootstrap, "2", SIZE, None)
        until(lambda: refused(cluster.bootstrap) == set())


def test_there_are_no_more_replicas_than_brokers() -> None:
    with Cluster(2, settings={"headrace.replication.factor.check": "true"}) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        with pytest.raises(KafkaException) as refusal:
            admin.create_topics([NewTopic("many", 1, 3)])["many"].result(30)
        assert refusal.value.args[0].code() == INVALID_REPLICATION_FACTOR
    with Cluster(2) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        admin.create_topics([NewTopic("many", 1, 3)])["many"].result(30)
        (partition,) = admin.list_topics("many", timeout=30).topics["many"].partitions.values()
        assert sorted(partition.replicas) == [1, 2]
