"""`python -m bench.start`: what a start costs for each partition, and when the first one is served.

One node with a bucket of files. Partitions are empty, have their records in the WAL, have them in the bucket, or were
checkpointed by an orderly stop. The first partition is served when a client that asks for versions, for metadata and
for records, as each does that comes back, gets the records. Processor time is the process's own, threads included, as
the kernel counts it; wall times say little on a machine with other work: `chrt -f 30` spares a start most of that.

With `--before`, the root of another version, both are started in turns. The exit code is 1 when this one
misses a mark in the median.
"""

import argparse
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from bench.process_usage import WITH_BYTE_CODE, usage
from bench.values import values
from tests.e2e.admin_calls import end_offsets
from tests.e2e.broker_process import HeadraceProcess
from tests.environment.paths import ROOT

PARTITIONS_OF_A_TOPIC = 50
RECORD_BYTES = 1000
DEADLINE_S = 300
FIRST_MARK_S: Final = 1.0  # until the first partition is served after kill -9
ALL_MARK_S: Final = 3.0  # until all are open, of 10,000
NOTHING: Final = "nothing"
TOPIC: Final = b"topic-0"


@dataclass(frozen=True)
class Start:
    """Wall and processor seconds until the first partition is served, and until all are open."""

    first_s: float
    first_cpu_s: float
    all_s: float
    all_cpu_s: float


def main() -> int:
    """Print a line for each kind of start, and the marks that are missed; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.start", description=__doc__)
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5, help="starts of each kind")
    parser.add_argument(
        "--before", type=Path, metavar="CHECKOUT", help="another version, measured beside this one"
    )
    parser.add_argument("--directory", type=Path, help="data directory of the nodes")
    arguments = parser.parse_args()
    checkouts = {"": ROOT}
    if arguments.before is not None:
        checkouts = {"before ": arguments.before.resolve(), "": ROOT}
    with tempfile.TemporaryDirectory(prefix="bench-start-", dir=arguments.directory) as made:
        nodes = {name: node_of(Path(made, name or "now"), code) for name, code in checkouts.items()}
        try:
            found = measure(nodes, arguments.partitions, arguments.rounds)
        finally:
            for node in nodes.values():
                if node.process.is_running:
                    node.kill()
    return report(found, arguments.partitions)


def node_of(directory: Path, code: Path) -> HeadraceProcess:
    """Start a node of a checkout."""
    overrides = {"s3.wal.upload.interval.ms": "600000"}
    node = HeadraceProcess(directory, overrides=overrides, environment=WITH_BYTE_CODE, code=code)
    node.start()
    return node


def measure(nodes: dict[str, HeadraceProcess], count: int, rounds: int) -> dict[str, list[Start]]:
    """Start the nodes in turns behind each kind of data."""
    topics = [f"topic-{number}" for number in range(count // PARTITIONS_OF_A_TOPIC)]
    found: dict[str, list[Start]] = {}

    def start(what: str, partitions: int, prepare: Callable[[HeadraceProcess], None]) -> None:
        for number in range(rounds):
            turns = list(nodes.items())
            for name, node in turns if number % 2 == 0 else reversed(turns):
                prepare(node)
                found.setdefault(name + what, []).append(started(node, partitions))

    def append(node: HeadraceProcess) -> None:
        node.restart()  # an orderly stop, so that each partition has one record behind its checkpoint
        produce(node, topics)

    start(NOTHING, 0, lambda _: None)
    for node in nodes.values():
        create(node, topics)
    start("empty", count, lambda _: None)
    start("in the WAL", count, append)
    start("in the bucket", count, lambda _: None)
    start("after an orderly stop", count, HeadraceProcess.stop)
    return found


def report(found: dict[str, list[Start]], partitions: int) -> int:
    """Print the table and what is missed; return the exit code."""
    print(
        f"{'':30}{'first served s':>15}{'max':>6}{'CPU s':>7}{'all open s':>12}{'max':>6}{'CPU s':>7}"
    )
    missed = []
    for what, starts in found.items():
        first_s, all_s = [it.first_s for it in starts], [it.all_s for it in starts]
        print(
            f"{what:30}{median(first_s):15.2f}{max(first_s):6.2f}{median([it.first_cpu_s for it in starts]):7.2f}"
            f"{median(all_s):12.2f}{max(all_s):6.2f}{median([it.all_cpu_s for it in starts]):7.2f}"
        )
        if what.startswith("before "):
            continue
        if what != NOTHING and median(first_s) > FIRST_MARK_S:
            missed.append(f"{what}: the first partition within {FIRST_MARK_S:.0f} s")
        if median(all_s) > ALL_MARK_S * max(1, partitions / 10_000):
            missed.append(f"{what}: all partitions within {ALL_MARK_S:.0f} s for 10,000")
    print("\n".join(["", *(f"missed: {it}" for it in missed)] if missed else ["", "marks: met"]))
    return 1 if missed else 0


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
    made = values(RECORD_BYTES)
    for topic in topics:
        for partition, value in zip(range(PARTITIONS_OF_A_TOPIC), made):
            producer.produce(topic, value, partition=partition)
        producer.poll(0)
    assert producer.flush(120) == 0


def started(node: HeadraceProcess, partitions: int) -> Start:
    """Kill and start the node, and wait until all is open."""
    if node.process.is_running:
        node.kill()
    log_bytes = node.process.log.stat().st_size
    began_s = time.monotonic()
    node.begin()

    def used() -> tuple[float, float]:
        return time.monotonic() - began_s, usage(node.process.process_id).cpu_s

    first: tuple[float, float] | None = None
    while time.monotonic() - began_s < DEADLINE_S:
        time.sleep(0.01)
        if first is None and (partitions == 0 or serves(node.port)):
            first = used()
        if first is not None and says_ready(node, log_bytes):
            all_open = used()
            assert node.metrics()["headrace_partitions_open"] >= partitions
            return Start(*first, *all_open)
    raise TimeoutError("the node did not open its partitions")


def says_ready(node: HeadraceProcess, log_bytes: int) -> bool:
    """Whether all partitions are open, by the log behind `log_bytes`: metrics cost the node time that is measured."""
    with node.process.log.open("rb") as log:
        log.seek(log_bytes)
        return b'"ready"' in log.read()


def serves(port: int) -> bool:
    """Whether a partition answers the first Fetch (version 4) of a client that comes back."""
    fetch = struct.pack(">iiiib", -1, 0, 0, 1 << 20, 0)
    fetch += struct.pack(">ih", 1, len(TOPIC)) + TOPIC + struct.pack(">iiqi", 1, 0, 0, 1 << 20)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=0.5) as connection:
            ask(connection, 18, 0, b"")
            ask(connection, 3, 1, struct.pack(">ih", 1, len(TOPIC)) + TOPIC)
            answer = ask(connection, 1, 4, fetch)
    except OSError:
        return False
    # correlation, throttle, topics, name, partitions, partition, error
    at = 4 + 4 + 4 + 2 + len(TOPIC) + 4 + 4
    return len(answer) >= at + 2 and struct.unpack_from(">h", answer, at)[0] == 0


def ask(connection: socket.socket, api_key: int, version: int, body: bytes) -> bytes:
    """Send a request, and return the payload of its answer."""
    payload = struct.pack(">hhih", api_key, version, 1, -1) + body
    connection.sendall(struct.pack(">i", len(payload)) + payload)
    with connection.makefile("rb") as answers:
        (size,) = struct.unpack(">i", answers.read(4) or bytes(4))
        return answers.read(size)


if __name__ == "__main__":
    sys.exit(main())
