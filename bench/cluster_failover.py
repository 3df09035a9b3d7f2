"""A broker is killed: time from SIGKILL to the first acknowledged record of each partition that it led.

| part | what |
|---|---|
| failover | one broker of three, again and again; Apache Kafka beside it, with three replicas |
| failover-scale | one broker of six, three of six at once, one with 1,000 partitions, in turn |

Before each kill 256 MiB go to the partitions of each broker that is to die, and none of it is uploaded: thresholds of
size and time are far. The brokers' logs are files below one directory, which all of them may open. Parts of the time
are from the logs of the nodes, whose lines have milliseconds.
"""

import fcntl
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from confluent_kafka.admin import AdminClient, NewTopic

from bench import load_program
from bench.failover_client import Connection, FailoverClient
from bench.failover_wire import leaders_of, metadata_request
from bench.kafka_cluster import KafkaCluster
from tests.cluster.cluster import BROKER_PORT, SESSION_MS, Cluster
from tests.environment.kafka import KAFKA_VERSION
from tests.environment.processes import ServerProcess

MIB: Final = 1 << 20
KILLS: Final = 20
KILLS_QUICK: Final = 3
ROUNDS: Final = 5  # of the part with several cases
ROUNDS_QUICK: Final = 1
PARTITIONS: Final = 50  # that one broker leads
MANY_PARTITIONS: Final = 1_000
AT_ONCE: Final = 3
BROKERS_AT_ONCE: Final = 6
VOLUME_BYTES: Final = 256 * MIB  # of each broker that dies
BESIDE_BYTES: Final = 8 * MIB  # of each of the others
RECORD_BYTES: Final = 1024
BATCH_BYTES: Final = 262_144
LINGER_MS: Final = 20
WITHIN_S: Final = 60
POLL_S: Final = 0.02
REST_S: Final = 1.0  # between recovery and the next load
MARK_MS: Final = SESSION_MS + 3_000
AT_ONCE_MARK: Final = 1.5
MANY_MARK_MS: Final = 2_000
HEARTBEAT_MS: Final = 1_000
KAFKA_SETTINGS: Final = {
    "broker.session.timeout.ms": str(SESSION_MS),
    "broker.heartbeat.interval.ms": str(HEARTBEAT_MS),
}
SETTINGS: Final = {
    "s3.wal.cache.size": str(1024 * MIB),
    "s3.wal.upload.threshold": str(512 * MIB),
    "s3.wal.upload.interval.ms": "600000",
}
WAL_BYTES: Final = 1024 * MIB

# Lines of the nodes' logs between which the parts lie.
FENCED: Final = (
    "broker session expired, fencing the broker",
    "the process of a broker has ended: its WAL is no longer locked",
)
DRAINED: Final = "log drained"
DRAIN_PARTS: Final = ("read_ms", "upload_ms", "commit_ms", "finish_ms")


class Target(Protocol):
    """A cluster whose brokers can be killed."""

    name: str
    bootstrap: str
    processes: Mapping[int, ServerProcess]  # of brokers
    addresses: Mapping[int, tuple[str, int]]

    def replicas(self, leader: int) -> list[int]:
        """Return who keeps a partition; its leader is the first."""
        ...

    def kill(self, killed: Sequence[int]) -> None:
        """Kill brokers by SIGKILL."""
        ...

    def heal(self) -> None:
        """Start what was killed, and wait until all serve."""
        ...

    def parts(self, since_ns: int, killed: Sequence[int]) -> dict[str, float]:
        """Return milliseconds by part of the last failover, from the logs of the nodes."""
        ...


class Headrace:
    """Ours, with network namespaces if they are allowed.

    Brokers of one machine see the end of another's process by the lock of its WAL. With `by_session` the benchmark
    takes that lock when it has killed the process, and the others find what they would find on machines of their own.
    """

    def __init__(self, cluster: Cluster, *, by_session: bool) -> None:
        self.name = "by session" if by_session else "headrace"
        self._cluster = cluster
        self._by_session = by_session
        self._held: list[BinaryIO] = []
        self.bootstrap = cluster.bootstrap
        self.processes = {it.node_id: it.process for it in cluster.brokers}
        self.addresses = {it.node_id: (it.address, BROKER_PORT) for it in cluster.brokers}
        self._places = {it.node_id: it.directory / "wal" for it in cluster.brokers}

    @staticmethod
    def replicas(leader: int) -> list[int]:
        """One: copies are the bucket's affair."""
        return [leader]

    def kill(self, killed: Sequence[int]) -> None:
        """Kill brokers; with `by_session`, hide it."""
        for node_id in killed:
            self.processes[node_id].kill()
            if self._by_session:
                wal = self._places[node_id].open("rb")
                self._held.append(wal)
                fcntl.flock(wal, fcntl.LOCK_EX)

    def heal(self) -> None:
        """Start what was killed, and wait until all serve."""
        while self._held:
            self._held.pop().close()
        self._cluster.heal()

    def parts(self, since_ns: int, killed: Sequence[int]) -> dict[str, float]:
        """Return milliseconds by part: the slowest of the logs."""
        events = [line for node in self._cluster.nodes for line in node.log_events()]
        return parts_of(events, since_ns, killed)


class Kafka:
    """Apache Kafka."""

    name = "kafka"

    def __init__(self, cluster: KafkaCluster) -> None:
        self._cluster = cluster
        self.bootstrap = cluster.bootstrap
        self.processes = {node_id: it.process for node_id, it in cluster.brokers.items()}
        self.addresses = {
            node_id: ("127.0.0.1", it.port) for node_id, it in cluster.brokers.items()
        }

    def replicas(self, leader: int) -> list[int]:
        """Every broker."""
        return [leader, *(it for it in self.processes if it != leader)]

    def kill(self, killed: Sequence[int]) -> None:
        """Kill brokers."""
        for node_id in killed:
            self.processes[node_id].kill()

    def heal(self) -> None:
        """Start what was killed, and wait until all serve."""
        for broker in self._cluster.brokers.values():
            if not broker.process.is_running:
                broker.start()
        admin = admin_of(self)
        deadline_s = time.monotonic() + WITHIN_S
        while len(admin.list_topics(timeout=10).brokers) < len(self.processes):
            if time.monotonic() > deadline_s:
                raise TimeoutError("a broker is still fenced")
            time.sleep(0.1)

    @staticmethod
    def parts(since_ns: int, killed: Sequence[int]) -> dict[str, float]:
        """Nothing: its logs do not tell."""
        del since_ns, killed
        return {}


@dataclass(frozen=True)
class Failover:
    """One loss, in milliseconds after the kill."""

    named_ms: float  # every partition has a living leader
    first_ms: float  # one partition has acknowledged
    last_ms: float  # each has
    parts: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        """As a row shows it."""
        shown = "".join(f", {name} {value:,.0f}" for name, value in self.parts.items())
        return (
            f"each served after {self.last_ms:,.0f} ms (named {self.named_ms:,.0f}, "
            f"first {self.first_ms:,.0f}{shown})"
        )


def run(directory: Path, *, quick: bool) -> list[tuple[bool, str]]:
    """One broker of three, again and again; return (met, text) of the marks."""
    kills = KILLS_QUICK if quick else KILLS
    load_program.build()
    found: dict[str, list[Failover]] = {}
    with open_headrace(directory / "headrace") as cluster:
        for by_session in (False, True):
            target = Headrace(cluster, by_session=by_session)
            found[target.name] = lose_again(target, kills)
    with KafkaCluster(directory / "kafka", KAFKA_SETTINGS) as kafka:
        found[f"Apache Kafka {KAFKA_VERSION}"] = lose_again(Kafka(kafka), kills)
    print_table(found)
    marks = []
    for name in list(found)[:2]:
        worst = max(it.last_ms for it in found[name])
        text = f"{PARTITIONS} partitions: max {worst:,.0f} ms of {MARK_MS:,} ms, {kills} kills"
        marks.append((worst <= MARK_MS, f"{name}: {text}"))
    return marks


def print_table(found: Mapping[str, list[Failover]]) -> None:
    """Median and maximum of each part, in milliseconds after the kill."""
    print(f"\n{'median / max, ms':20}" + "".join(f"{name:>22}" for name in found))
    rows = {
        "leaders named": [[it.named_ms for it in them] for them in found.values()],
        "first served": [[it.first_ms for it in them] for them in found.values()],
        "each served": [[it.last_ms for it in them] for them in found.values()],
    }
    for part in next(iter(found.values()))[0].parts:
        rows[f"  {part}"] = [
            [it.parts[part] for it in them if part in it.parts] for them in found.values()
        ]
    for name, cells in rows.items():
        shown = [
            f"{statistics.median(values):,.0f} / {max(values):,.0f}" if values else ""
            for values in cells
        ]
        print(f"{name:20}" + "".join(f"{it:>22}" for it in shown))


def run_scale(directory: Path, *, quick: bool) -> list[tuple[bool, str]]:
    """Three logs at once and 1,000 partitions, against one log; return (met, text) of the marks."""
    rounds = ROUNDS_QUICK if quick else ROUNDS
    load_program.build()
    found: dict[str, list[Failover]] = {"one": [], "three": [], "many": []}
    with open_headrace(directory, brokers=BROKERS_AT_ONCE) as cluster:
        target = Headrace(cluster, by_session=True)
        for number in range(rounds):
            for case, count, partitions in (
                ("one", 1, PARTITIONS),
                ("three", AT_ONCE, PARTITIONS),
                ("many", 1, MANY_PARTITIONS),
            ):
                killed = turn(sorted(target.processes), number * AT_ONCE)[:count]
                failover = lose(target, f"scale-{case}-{number}", killed, partitions)
                print(f"  {case:6} round {number + 1}: {failover}", flush=True)
                found[case].append(failover)
    print_table(found)
    one, three, many = (statistics.median(it.last_ms for it in them) for them in found.values())
    return [
        (
            three <= AT_ONCE_MARK * one,
            f"{AT_ONCE} brokers at once: {three:,.0f} ms, {three / one:.2f} of {AT_ONCE_MARK} times one ({one:,.0f} ms)",
        ),
        (
            many <= one + MANY_MARK_MS,
            f"{MANY_PARTITIONS:,} partitions: {many - one:,.0f} ms of {MANY_MARK_MS:,} ms more",
        ),
    ]


def open_headrace(
    directory: Path, *, brokers: int = 3, settings: Mapping[str, str] | None = None
) -> Cluster:
    """Return a cluster of ours in which brokers may open each other's logs."""
    settings = {**SETTINGS, "headrace.wal.reach": str(directory), **(settings or {})}
    return Cluster(
        directory, brokers=brokers, small_disks=False, settings=settings, wal_bytes=WAL_BYTES
    )


def lose_again(target: Target, kills: int) -> list[Failover]:
    """Kill one broker after the other."""
    ids = sorted(target.processes)
    found = []
    for number in range(kills):
        failover = lose(
            target,
            f"{target.name.replace(' ', '-')}-{number}",
            [ids[number % len(ids)]],
            PARTITIONS,
        )
        print(f"  {target.name} kill {number + 1}: {failover}", flush=True)
        found.append(failover)
    return found


def lose(target: Target, topic: str, killed: Sequence[int], partitions: int) -> Failover:
    """Load brokers, kill them, wait until others serve all partitions, and start them again."""
    admin = admin_of(target)
    living = [it for it in target.processes if it not in killed]
    leaders = [it for it in killed for _ in range(partitions)]
    beside = [it for it in living for _ in range(PARTITIONS)]
    for name, nodes in ((topic, leaders), (f"{topic}-beside", beside)):
        create(admin, name, [target.replicas(it) for it in nodes])
        wait_until_known(target, name, len(nodes))
    fill(target.bootstrap, f"{topic}-beside", BESIDE_BYTES * len(living))
    records = fill(target.bootstrap, topic, VOLUME_BYTES * len(killed))
    client = FailoverClient(topic, {it: target.addresses[it] for it in living})
    client.start()
    killed_ns = time.time_ns()
    target.kill(killed)
    client.wait(WITHIN_S)
    # Each offset is the number of records before it: what was acknowledged is there.
    assert sum(client.base_offsets.values()) >= records, "acknowledged records are missing"
    named_ms, acknowledged_ms = (
        sorted((it - killed_ns) / 1e6 for it in them.values())
        for them in (client.named_ns, client.acknowledged_ns)
    )
    parts = target.parts(killed_ns, killed)
    if parts:
        parts["open"] = acknowledged_ms[-1] - sum(parts[it] for it in SPANS)
    target.heal()
    admin = admin_of(target)  # the first one may go on with a broker that was dead
    for future in admin.delete_topics([topic, f"{topic}-beside"]).values():
        future.result(WITHIN_S)
    time.sleep(REST_S)
    return Failover(named_ms[-1], acknowledged_ms[0], acknowledged_ms[-1], parts)


def admin_of(target: Target) -> AdminClient:
    """Return a client that does not report connections that a kill has ended."""
    return AdminClient({"bootstrap.servers": target.bootstrap, "log_level": 0})


def create(admin: AdminClient, topic: str, replicas: list[list[int]]) -> None:
    """Create a topic whose partitions are kept where the caller says."""
    wanted = NewTopic(topic, num_partitions=len(replicas), replica_assignment=replicas)
    admin.create_topics([wanted])[topic].result(WITHIN_S)


def wait_until_known(target: Target, topic: str, partitions: int) -> None:
    """Wait until each broker knows a topic: one that hears of it late answers clients with fewer partitions."""
    request = metadata_request(topic)
    deadline_s = time.monotonic() + WITHIN_S
    for address in target.addresses.values():
        with closing(Connection(address)) as connection:
            while len(leaders_of(connection.ask(request)).leaders) < partitions:
                if time.monotonic() > deadline_s:
                    raise TimeoutError(f"{address} does not know {topic}")
                time.sleep(POLL_S)


def fill(bootstrap: str, topic: str, volume_bytes: int) -> int:
    """Write to all partitions of a topic; return the number of records."""
    records = volume_bytes // RECORD_BYTES
    load_program.produce(
        bootstrap,
        topic,
        records=records,
        record_bytes=RECORD_BYTES,
        batch_bytes=BATCH_BYTES,
        linger_ms=LINGER_MS,
        settings=("partitioner=random", "sticky.partitioning.linger.ms=0"),
    )
    return records


def turn(items: Sequence[int], by: int) -> list[int]:
    """Return the items, beginning further on."""
    begin = by % len(items)
    return [*items[begin:], *items[:begin]]


SPANS: Final = ("detect", "assign", "drain")  # one after the other, before partitions are opened


def parts_of(
    events: Iterable[Mapping[str, Any]], since_ns: int, killed: Sequence[int]
) -> dict[str, float]:
    """Return what the nodes' log lines after a kill say about it, in milliseconds.

    `detect` ends when the last broker is fenced, `assign` when its log's drain begins. The others are within `drain`:
    `read` until the last record is read and `upload` until the last object is in the bucket, both from its begin;
    `commit` all commits of objects together, while others are uploaded; `finish` the entry that names new leaders.
    """
    fenced_ms, drained_ms, begun_ms = [], [], []
    within = dict.fromkeys(DRAIN_PARTS, 0.0)
    for line in events:
        after_ms = milliseconds(line["ts"]) - since_ns / 1e6
        if after_ms < 0:
            continue
        if line["msg"] in FENCED and line.get("broker") in killed:
            fenced_ms.append(after_ms)
        if line["msg"] == DRAINED:
            drained_ms.append(after_ms)
            begun_ms.append(after_ms - line["drain_ms"])
            within = {name: max(value, line[name]) for name, value in within.items()}
    if not fenced_ms or not drained_ms:
        return {}
    detect_ms, begin_ms = max(fenced_ms), max(begun_ms)
    return {
        "detect": detect_ms,
        "assign": begin_ms - detect_ms,
        "drain": max(drained_ms) - begin_ms,
        **{name.removesuffix("_ms"): value for name, value in within.items()},
    }


def milliseconds(text: str) -> float:
    """Read the time of a log line: since the epoch."""
    return datetime.fromisoformat(text).timestamp() * 1000
