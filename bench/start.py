"""`python -m bench.start`: what a start costs for each partition, and when the first one is served.

One node with a bucket of files. Partitions are empty, have their records in the WAL, have them in the bucket, or were
checkpointed by an orderly stop. Processor time is the process's own, threads included, as the kernel counts it; wall
times say little on a machine with other work.
"""

import argparse
import socket
import struct
import tempfile
import time
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from bench.process_usage import WITH_BYTE_CODE, usage
from tests.e2e.admin_calls import end_offsets
from tests.e2e.broker_process import HeadraceProcess

PARTITIONS_OF_A_TOPIC = 50
RECORD = bytes(1000)
DEADLINE_S = 300


def main() -> None:
    """Print one line for each kind of start."""
    parser = argparse.ArgumentParser(prog="python -m bench.start", description=__doc__)
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--directory", type=Path, help="data directory of the node")
    arguments = parser.parse_args()
    count = arguments.partitions
    print(
        f"{'':24}{'first served s':>16}{'CPU s':>8}{'all open s':>12}{'CPU s':>8}{'ms/partition':>14}"
    )
    with tempfile.TemporaryDirectory(prefix="bench-start-", dir=arguments.directory) as made:
        node = HeadraceProcess(
            Path(made),
            overrides={"s3.wal.upload.interval.ms": "600000"},
            environment=WITH_BYTE_CODE,
        )
        node.start()
        try:
            measure(node, count)
        finally:
            if node.process.is_running:
                node.kill()


def measure(node: HeadraceProcess, count: int) -> None:
    """Start the node behind each kind of data."""
    show("nothing", count, *started(node, 0))
    topics = [f"topic-{number}" for number in range(count // PARTITIONS_OF_A_TOPIC)]
    create(node, topics)
    show("empty", count, *started(node, count))
    produce(node, topics)
    show("in the WAL", count, *started(node, count))
    show("in the bucket", count, *started(node, count))
    node.stop()
    show("after an orderly stop", count, *started(node, count))


def create(node: HeadraceProcess, topics: list[str]) -> None:
    """Create the topics, and wait until they are open."""
    admin = AdminClient({"bootstrap.servers": node.bootstrap})
    for first in range(0, len(topics), 20):
        new = [NewTopic(it, PARTITIONS_OF_A_TOPIC) for it in topics[first : first + 20]]
        for outcome in admin.create_topics(new, operation_timeout=120).values():
            outcome.result(120)
    for topic in topics:
        end_offsets(node.bootstrap, topic, PARTITIONS_OF_A_TOPIC)


def produce(node: HeadraceProcess, topics: list[str]) -> None:
    """Append one record of 1 kB to every partition."""
    producer = Producer({"bootstrap.servers": node.bootstrap, "linger.ms": 50})
    for topic in topics:
        for partition in range(PARTITIONS_OF_A_TOPIC):
            producer.produce(topic, RECORD, partition=partition)
        producer.poll(0)
    assert producer.flush(120) == 0


def started(
    node: HeadraceProcess, partitions: int
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Kill and start the node: wall and processor seconds until the first partition is served, and all are open."""
    if node.process.is_running:
        node.kill()
    log_bytes = node.process.log.stat().st_size
    began_s = time.monotonic()
    node.begin()

    def used() -> tuple[float, float]:
        return time.monotonic() - began_s, usage(node.process.process_id).cpu_s

    first: tuple[float, float] | None = None
    while time.monotonic() - began_s < DEADLINE_S:
        time.sleep(0.02)
        if first is None and (partitions == 0 or serves(node.port)):
            first = used()
        if first is not None and says_ready(node, log_bytes):
            all_open = used()
            assert node.metrics()["headrace_partitions_open"] >= partitions
            return first, all_open
    raise TimeoutError("the node did not open its partitions")


def says_ready(node: HeadraceProcess, log_bytes: int) -> bool:
    """Whether all partitions are open, by the log behind `log_bytes`: metrics cost the node time that is measured."""
    with node.process.log.open("rb") as log:
        log.seek(log_bytes)
        return b'"ready"' in log.read()


def serves(port: int) -> bool:
    """Whether the last partition of the last topic answers a Fetch (version 4) without an error."""
    topic = b"topic-0"
    body = struct.pack(">iiiib", -1, 0, 0, 1 << 20, 0)
    body += struct.pack(">ih", 1, len(topic)) + topic + struct.pack(">iiqi", 1, 0, 0, 1 << 20)
    head = struct.pack(">hhih", 1, 4, 1, -1)
    frame = struct.pack(">i", len(head + body)) + head + body
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=0.5) as connection:
            connection.sendall(frame)
            answer = connection.recv(1 << 16)
    except OSError:
        return False
    # size, correlation, throttle, topics, name, partitions, partition, error
    at = 4 + 4 + 4 + 4 + 2 + len(topic) + 4 + 4
    return len(answer) >= at + 2 and struct.unpack_from(">h", answer, at)[0] == 0


def show(
    what: str, partitions: int, first: tuple[float, float], opened: tuple[float, float]
) -> None:
    """Print a line."""
    print(
        f"{what:24}{first[0]:16.2f}{first[1]:8.2f}{opened[0]:12.2f}{opened[1]:8.2f}"
        f"{1000 * opened[1] / partitions:14.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
