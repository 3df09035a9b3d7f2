"""What `docker compose up` would run is run, and clients use it: see `tests.environment.compose`."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.conftest import Component
from tests.environment.compose import ComposeProject, can_mount
from tests.environment.minio import minio_program
from tests.environment.paths import ROOT

DOCKER = ROOT / "docker"
RECORDS = 200


def produce(bootstrap: str, topic: str, partitions: int, name: str = "") -> set[bytes]:
    """Write records to every partition, each acknowledged."""
    failures = []

    def delivered(error: object, _record: object) -> None:
        if error is not None:
            failures.append(error)

    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    values = {b"%s %d" % ((name or topic).encode(), number) for number in range(RECORDS)}
    for number, value in enumerate(sorted(values)):
        producer.produce(topic, value, partition=number % partitions, on_delivery=delivered)
    assert producer.flush(60) == 0
    assert not failures
    return values


def consume(bootstrap: str, topic: str, partitions: int, count: int) -> set[bytes]:
    """Read the partitions from their start."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": f"readers-of-{topic}"})
    consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
    values: set[bytes] = set()
    deadline = time.monotonic() + 60
    while len(values) < count and time.monotonic() < deadline:
        values |= {it.value() for it in consumer.consume(count, 0.2) if it.error() is None}
    consumer.close()
    return values


def leaders_of(bootstrap: str, topic: str) -> set[int]:
    """Who leads the partitions of a topic."""
    metadata = AdminClient({"bootstrap.servers": bootstrap}).list_topics(topic, timeout=30)
    return {it.leader for it in metadata.topics[topic].partitions.values()}


def create_topic(bootstrap: str, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(60)


@pytest.fixture
def one_node(component: Component) -> Iterator[ComposeProject]:
    component(minio_program)
    with ComposeProject(DOCKER / "compose.yaml") as project:
        yield project


@pytest.fixture
def cluster(component: Component) -> Iterator[ComposeProject]:
    component(minio_program)
    with ComposeProject(DOCKER / "compose.cluster.yaml") as project:
        yield project


def test_one_node_serves_the_host_and_its_network_and_keeps_its_data(
    one_node: ComposeProject,
) -> None:
    one_node.up()
    node = one_node.services["headrace"]
    outside, inside = node.reachable(19092), f"{node.address}:9092"
    create_topic(outside, "orders", 3)
    assert (one_node.volume("bucket") / "headrace").is_dir()

    written = produce(outside, "orders", 3)
    assert consume(inside, "orders", 3, RECORDS) == written
    # A client is told the address that it can reach.
    for bootstrap in (outside, inside):
        brokers = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=30).brokers
        assert [f"{broker.host}:{broker.port}" for broker in brokers.values()] == [bootstrap]
    assert (one_node.volume("wal") / "node-1").is_file()

    assert one_node.down()["headrace"] == 0
    one_node.up()
    assert consume(outside, "orders", 3, RECORDS) == written


def test_a_read_only_service_can_write_its_mounts_only(one_node: ComposeProject) -> None:
    if not can_mount():
        pytest.skip("needs root, and mount namespaces")
    one_node.up()
    pid = str(one_node.services["headrace"].process_id)
    enter = ["nsenter", "--target", pid, "--mount", "--"]

    def can_write(directory: Path | str) -> bool:
        command = [*enter, "sh", "-c", f"touch '{directory}/probe' && rm '{directory}/probe'"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    assert can_write(one_node.volume("data"))
    assert can_write(one_node.volume("wal"))
    assert can_write("/tmp")
    assert not can_write(one_node.volume("bucket"))
    assert not can_write("/var/tmp")
    assert not can_write(ROOT)


def test_a_cluster_serves_through_every_broker_and_survives_a_controller_and_a_broker(
    cluster: ComposeProject,
) -> None:
    cluster.up()
    ports = {"broker-1": 19092, "broker-2": 19093, "broker-3": 19094}
    outside = {name: cluster.services[name].reachable(port) for name, port in ports.items()}
    create_topic(outside["broker-1"], "orders", 6)
    written = produce(outside["broker-2"], "orders", 6)
    assert consume(outside["broker-3"], "orders", 6, RECORDS) == written

    metadata = AdminClient({"bootstrap.servers": outside["broker-1"]}).list_topics(timeout=30)
    assert {f"{it.host}:{it.port}" for it in metadata.brokers.values()} == {*outside.values()}
    assert leaders_of(outside["broker-1"], "orders") == {1, 2, 3}
    wals = sorted(file.name for file in cluster.volume("wal").iterdir())
    assert wals == ["broker-1", "broker-2", "broker-3"]

    cluster.services["controller-2"].kill()
    create_topic(",".join(outside.values()), "later", 3)
    later = produce(outside["broker-3"], "later", 3)
    assert consume(outside["broker-1"], "later", 3, RECORDS) == later
    cluster.services["controller-2"].start()
    cluster.services["controller-2"].wait_until_healthy()

    # What the broker had acknowledged is read, and its partitions are written, while it stays away.
    cluster.services["broker-2"].kill()
    others = f"{outside['broker-1']},{outside['broker-3']}"
    more = produce(others, "orders", 6, "more")
    assert consume(others, "orders", 6, 2 * RECORDS) == written | more
    assert leaders_of(others, "orders") == {1, 3}
    cluster.services["broker-2"].start()
    cluster.services["broker-2"].wait_until_healthy()
    assert leaders_of(outside["broker-2"], "orders") == {1, 3}

    assert set(cluster.down().values()) <= {0}
