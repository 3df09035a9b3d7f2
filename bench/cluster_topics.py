"""1,000 topics of 10 partitions: speed of creation, and their cost in memory and idle processor time."""

import time
from pathlib import Path

from bench.process_usage import usage
from headrace.metadata.snapshot import canonical_bytes
from tests.cluster.cluster import Cluster
from tests.cluster.node import Node
from tests.cluster.probe import Probe
from tests.cluster.scene import image_of
from tests.cluster.wire_calls import create_topic, describe_topic

TOPICS = 1_000
TOPICS_QUICK = 50
PARTITIONS = 10
REST_S = 20
REST_QUICK_S = 4
MIB = 1 << 20


def run(directory: Path, *, quick: bool) -> list[tuple[bool, str]]:
    """Print the figures; there are no marks for them."""
    topics, rest_s = (TOPICS_QUICK, REST_QUICK_S) if quick else (TOPICS, REST_S)
    with Cluster(directory, small_disks=False) as cluster:
        nodes = cluster.nodes
        print_costs(nodes, rest_s, "without topics")
        print(f"a new broker is ready after {seconds_to_join(cluster, None):.2f} s")
        create(cluster, topics)
        image = image_of(cluster.leader())
        print(
            f"image: {len(image.streams):,} streams, {len(canonical_bytes(image)):,} bytes as a snapshot"
        )
        print_costs(nodes, rest_s, f"with {topics:,} topics of {PARTITIONS} partitions")
        seconds = seconds_to_join(cluster, f"topic-{topics - 1}")
        print(f"a new broker is ready, and has the last topic, after {seconds:.2f} s")
        print_restart(cluster)
        probe = Probe(cluster)
        seen_ms = sorted(probe.ns_until_seen(node) / 1e6 for _ in range(10) for node in nodes[3:])
        print(
            f"a change is visible at every broker after {seen_ms[len(seen_ms) // 2]:.1f} ms (median)"
        )
    return []


def create(cluster: Cluster, topics: int) -> None:
    """One request at a time, with one topic each, as `kafka-topics --create` does."""
    began = time.monotonic()
    with cluster.connect(cluster.brokers[0], timeout_s=60) as connection:
        for number in range(topics):
            error, _ = create_topic(connection, f"topic-{number}", partitions=PARTITIONS)
            assert error == 0, error
    took_s = time.monotonic() - began
    print(
        f"created: {topics / took_s:.1f} topics/s, {PARTITIONS * topics / took_s:.0f} partitions/s"
    )


def print_costs(nodes: list[Node], rest_s: float, when: str) -> None:
    """Memory, and the processor time of heartbeats and timers without requests."""
    time.sleep(3)
    before = {node.name: usage(node.process.process_id).cpu_s for node in nodes}
    time.sleep(rest_s)
    print(f"{when}:")
    for node in nodes:
        now = usage(node.process.process_id)
        percent = 100 * (now.cpu_s - before[node.name]) / rest_s
        print(
            f"  {node.name}  {now.rss_bytes / MIB:7.1f} MiB  {percent:5.2f} % of a core when idle"
        )


def seconds_to_join(cluster: Cluster, last_topic: str | None) -> float:
    """Start an empty broker, and wait until it is ready and has the metadata of the others."""
    broker = cluster.add_broker()
    began = time.monotonic()
    broker.begin()
    broker.wait_ready()
    with cluster.connect(broker) as connection:
        while last_topic and describe_topic(connection, last_topic).error:
            time.sleep(0.01)
    took_s = time.monotonic() - began
    broker.stop()
    cluster.brokers.remove(broker)
    return took_s


def print_restart(cluster: Cluster) -> None:
    """Kill a broker that leads a third of the partitions, and start it again."""
    broker = cluster.brokers[0]
    broker.kill()
    began = time.monotonic()
    broker.begin()
    broker.wait_ready(timeout_s=120)
    print(
        f"a killed broker with a third of the partitions is ready after {time.monotonic() - began:.2f} s"
    )
