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

from bench.process_usage import usage
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
    print(f"{'':24}{'first served s':>16}{'all open s':>12}{'CPU s':>8}{'CPU ms/partition':>18}")
    with tempfile.TemporaryDirectory(prefix="bench-start-", dir=arguments.directory) as made:
        node = HeadraceProcess(Path(made), overrides={"s3.wal.upload.interval.ms": "600000"})
        node.start()
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


def started(node: HeadraceProcess, partitions: int) -> tuple[float, float, float]:
    """Kill and start the node: seconds until the first partition is served and all are open, and of the processor."""
    if node.process.is_running:
        node.kill()
    began_s = time.monotonic()
    node.begin()
    first_s: float | None = None
    while time.monotonic() - began_s < DEADLINE_S:
        time.sleep(0.02)
        if first_s is None and (partitions == 0 or serves(node.port)):
            first_s = time.monotonic() - began_s
        if first_s is not None and opened(node) >= partitions:
            all_s = time.monotonic() - began_s
            return first_s, all_s, usage(node.process.process_id).cpu_s
    raise TimeoutError("the node did not open its partitions")


def opened(node: HeadraceProcess) -> int:
    """How many partitions are open."""
    try:
        return int(node.metrics().get("headrace_partitions_open", -1))
    except OSError:
        return -1


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


def show(what: str, partitions: int, first_s: float, all_s: float, cpu_s: float) -> None:
    """Print a line."""
    print(
        f"{what:24}{first_s:16.2f}{all_s:12.2f}{cpu_s:8.2f}{1000 * cpu_s / partitions:18.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
