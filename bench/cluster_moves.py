"""A partition moves under load, brokers are restarted one after the other: what clients notice.

| part | what |
|---|---|
| moves | a partition with 20 of 100 MB/s, again and again, with the bucket near and 20 ms away |
| moves-kafka | a partition of 1 GiB goes to another broker: Headrace, and Apache Kafka with one replica |
| restarts | three brokers are restarted one after the other, under load |

A pause is the longest time between two acknowledgements of an idempotent producer, or between two arrivals at a
consumer that reads at the end, that has a part in the move.
"""

import statistics
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench import load_program
from bench.kafka_cluster import KafkaCluster
from bench.move_clients import EndConsumer, SteadyProducer, Times
from tests.cluster.bucket_proxy import Faults
from tests.cluster.cluster import Cluster
from tests.cluster.node import Node
from tests.cluster.wire_calls import begin_moves, create_topic, describe_topic, is_moving
from tests.e2e.wire import WireConnection
from tests.environment.kafka import KAFKA_VERSION

MIB: Final = 1 << 20
MOVES: Final = 200
MOVES_QUICK: Final = 10
MOVED_MB_PER_S: Final = 20
BESIDE_MB_PER_S: Final = 80
BESIDE_PARTITIONS: Final = 6
BESIDE_CHUNK_S: Final = 10
RECORD_BYTES: Final = 10_000
AWAY_MS: Final = 20
REST_S: Final = 0.3  # after a move, which belongs to it: clients find the new leader meanwhile
WARM_UP_S: Final = 5.0
WITHIN_S: Final = 60
HEARD_S: Final = 2.0  # until the broker that is asked knows the new leader, at most
POLL_S: Final = 0.01
STEPS: Final = ("upload_ms", "checkpoint_ms", "remainder_ms", "finish_ms", "freeze_ms")
SLOWEST: Final = 8  # moves that are told one by one
P50_MARK_MS: Final = 300
P99_MARK_MS: Final = 1_000
RESTART_MARK_MS: Final = 2_000
RESTART_PARTITIONS: Final = 24
RESTART_MB_PER_S: Final = 20
COPIED_BYTES: Final = 1024 * MIB
COPIED_QUICK_BYTES: Final = 64 * MIB
COPIES: Final = 3
WAL_BYTES: Final = 512 * MIB
SETTINGS: Final = {"s3.wal.cache.size": str(256 * MIB), "s3.wal.upload.threshold": str(64 * MIB)}


@dataclass(frozen=True)
class Pause:
    """What clients noticed of a move, in milliseconds."""

    producer_ms: float
    consumer_ms: float
    moved_ms: float  # from the request until another broker leads


def run(directory: Path, *, quick: bool) -> list[tuple[bool, str]]:
    """Moves under load; return (met, text) of the marks."""
    moves = MOVES_QUICK if quick else MOVES
    load_program.build()
    marks = []
    for where, is_away in (("bucket near", False), ("bucket 20 ms away", True)):
        with Cluster(
            fresh(directory / where.replace(" ", "-")),
            small_disks=False,
            settings=SETTINGS,
            wal_bytes=WAL_BYTES,
            bucket_fails=is_away,
        ) as cluster:
            cluster.fail_bucket(Faults(slow=1, slow_from_ms=AWAY_MS, slow_ms=AWAY_MS))
            found = move_under_load(cluster, "moved", moves)
            tell_steps(cluster, found)
        text = f"{where}: {moves - len(found)} of {moves} moves were taken back"
        marks.append((len(found) == moves, text))
        if found:
            marks += told(where, found)
    return marks


def tell_steps(cluster: Cluster, found: Sequence[Pause]) -> None:
    """Print how long each step of the moves took, by the logs of their sources, and those of the slowest moves."""
    moved = [
        it
        for broker in cluster.brokers
        for it in broker.log_events()
        if it.get("msg") == "partition moved to another broker"
    ]
    moved.sort(key=lambda it: str(it["ts"]))
    for step in STEPS if moved else ():
        values = [float(str(it[step])) for it in moved]
        print(f"  {step:20}{statistics.median(values):10,.0f}{quantile(values, 0.99):10,.0f}")
    if len(moved) != len(found):
        return
    slowest = sorted(zip(found, moved, strict=True), key=lambda it: -it[0].producer_ms)
    for pause_of, its in slowest[:SLOWEST]:
        steps = ", ".join(f"{step} {its[step]}" for step in STEPS)
        print(f"  {its['ts']}: producer {pause_of.producer_ms:,.0f} ms; {steps}")


def told(where: str, found: Sequence[Pause]) -> list[tuple[bool, str]]:
    """Print quantiles; return (met, text) of the marks."""
    print(f"\n{where:22}{'p50 ms':>10}{'p99 ms':>10}{'max ms':>10}")
    marks = []
    rows = {
        "producer": [it.producer_ms for it in found],
        "consumer": [it.consumer_ms for it in found],
        "another leads": [it.moved_ms for it in found],
    }
    for name, values in rows.items():
        p50, p99 = statistics.median(values), quantile(values, 0.99)
        print(f"  {name:20}{p50:10,.0f}{p99:10,.0f}{max(values):10,.0f}")
        if name != "another leads":
            text = f"{where}, {len(found)} moves, {name}: p50 {p50:,.0f} of {P50_MARK_MS} ms, p99 {p99:,.0f} of {P99_MARK_MS:,} ms"
            marks.append((p50 < P50_MARK_MS and p99 < P99_MARK_MS, text))
    return marks


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that this share of them does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def move_under_load(cluster: Cluster, topic: str, moves: int) -> list[Pause]:
    """Move a partition from broker to broker; nothing may be refused or lost."""
    ids = [it.node_id for it in cluster.brokers]
    with cluster.connect(cluster.brokers[0]) as asked:
        assert create_topic(asked, topic, brokers=[ids[0]])[0] == 0
        beside = [ids[number % len(ids)] for number in range(BESIDE_PARTITIONS)]
        assert create_topic(asked, f"{topic}-beside", brokers=beside)[0] == 0
    spans = []
    with EndConsumer(cluster.bootstrap, topic, 1, fresh(cluster.directory / topic)) as consumer:
        with (
            load_beside(cluster.bootstrap, f"{topic}-beside"),
            SteadyProducer(cluster.bootstrap, topic, 1, MOVED_MB_PER_S) as producer,
            cluster.connect(cluster.brokers[0]) as asked,
        ):
            consumer.wait_for_records()
            time.sleep(WARM_UP_S)
            for number in range(moves):
                begin_ns = time.monotonic_ns()
                moved_ns = move(asked, topic, ids[(number + 1) % len(ids)])
                time.sleep(REST_S)
                if moved_ns is not None:
                    spans.append((begin_ns, moved_ns))
        time.sleep(WARM_UP_S)
        arrived, count, errors = consumer.stop()
    acknowledged = producer.acknowledged[0]
    assert not producer.failed, producer.failed[:5]
    assert count == producer.sent, (count, producer.sent)
    print(
        f"  {topic}: {count} records, each once; errors told to clients: {len(producer.errors) + len(errors)}"
    )
    for it in (*producer.errors[:3], *errors[:3]):
        print(f"    {it}")
    return [pause(acknowledged, arrived, *span) for span in spans]


def pause(acknowledged: Times, arrived: Times, begin_ns: int, moved_ns: int) -> Pause:
    """What was noticed between the request for a move and a little after it."""
    end_ns = moved_ns + int(REST_S / 2 * 1e9)
    return Pause(
        acknowledged.longest_gap_ms(begin_ns, end_ns),
        arrived.longest_gap_ms(begin_ns, end_ns),
        (moved_ns - begin_ns) / 1e6,
    )


def fresh(directory: Path) -> Path:
    """Make a directory."""
    directory.mkdir(parents=True)
    return directory


def load_beside(bootstrap: str, topic: str) -> AbstractContextManager[None]:
    """Produce to other partitions meanwhile."""
    return load_program.producing(
        bootstrap, topic, mb_per_s=BESIDE_MB_PER_S, record_bytes=RECORD_BYTES,
        batch_bytes=262_144, linger_ms=10, chunk_s=BESIDE_CHUNK_S,
    )  # fmt: skip


def move(asked: WireConnection, topic: str, to: int) -> int | None:
    """Move partition 0 and wait until the move has ended; return when another broker led it, in ns.

    None: the move was taken back.
    """
    assert begin_moves(asked, {(topic, 0): to}) == [0]
    deadline_s = time.monotonic() + WITHIN_S
    while is_moving(asked):
        assert time.monotonic() < deadline_s, f"{topic} is still moving to broker {to}"
        time.sleep(POLL_S)
    now_ns = time.monotonic_ns()
    heard_s = time.monotonic() + HEARD_S
    while describe_topic(asked, topic).leaders != (to,):
        if time.monotonic() > heard_s:
            return None
        time.sleep(POLL_S)
    return now_ns


def run_beside_kafka(directory: Path, *, quick: bool) -> list[tuple[bool, str]]:
    """Move a partition with much data; return no marks, for there are none."""
    size_bytes = COPIED_QUICK_BYTES if quick else COPIED_BYTES
    load_program.build()
    found: dict[str, list[float]] = {}
    with Cluster(
        directory / "headrace", small_disks=False, settings=SETTINGS, wal_bytes=WAL_BYTES
    ) as ours:
        addresses = [ours.address(it) for it in ours.brokers]
        found["headrace"] = copy_again(addresses, size_bytes)
    settings = {"default.replication.factor": "1", "min.insync.replicas": "1"}
    with KafkaCluster(directory / "kafka", settings) as kafka:
        addresses = [it.bootstrap for it in kafka.brokers.values()]
        found[f"Apache Kafka {KAFKA_VERSION}"] = copy_again(addresses, size_bytes)
    print(f"\na partition of {size_bytes // MIB:,} MiB goes to another broker, ms")
    for name, values in found.items():
        shown = ", ".join(f"{it:,.0f}" for it in values)
        print(f"  {name:22}{statistics.median(values):10,.0f}  ({shown})")
    return []


def copy_again(addresses: Sequence[str], size_bytes: int) -> list[float]:
    """Fill a partition, and move it; milliseconds of each move."""
    found = []
    with WireConnection(addresses[0], timeout_s=WITHIN_S) as asked:
        for number in range(COPIES):
            topic = f"copied-{number}"
            assert create_topic(asked, topic, brokers=[1])[0] == 0
            load_program.produce(
                ",".join(addresses), topic, records=size_bytes // RECORD_BYTES,
                record_bytes=RECORD_BYTES, batch_bytes=1_000_000, linger_ms=20,
            )  # fmt: skip
            begin_ns = time.monotonic_ns()
            moved_ns = move(asked, topic, 2)
            assert moved_ns is not None, f"the move of {topic} was taken back"
            found.append((moved_ns - begin_ns) / 1e6)
    return found


def run_restarts(directory: Path, *, quick: bool) -> list[tuple[bool, str]]:
    """Restart brokers one after the other; return (met, text) of the marks."""
    topic, rounds = "restarted", 1 if quick else 3
    pauses: list[float] = []
    with Cluster(directory, small_disks=False, settings=SETTINGS, wal_bytes=WAL_BYTES) as cluster:
        ids = [it.node_id for it in cluster.brokers]
        leaders = [ids[number % len(ids)] for number in range(RESTART_PARTITIONS)]
        with cluster.connect(cluster.brokers[0]) as asked:
            assert create_topic(asked, topic, brokers=leaders)[0] == 0
        with EndConsumer(
            cluster.bootstrap, topic, RESTART_PARTITIONS, fresh(directory / "consumer")
        ) as consumer:
            with SteadyProducer(
                cluster.bootstrap, topic, RESTART_PARTITIONS, RESTART_MB_PER_S
            ) as producer:
                consumer.wait_for_records()
                time.sleep(WARM_UP_S)
                for _ in range(rounds):
                    pauses += [restarted(cluster, it, producer) for it in cluster.brokers]
                time.sleep(WARM_UP_S)
            time.sleep(WARM_UP_S)
            _, count, errors = consumer.stop()
    lost = producer.sent - count
    text = (
        f"{len(pauses)} restarts, {RESTART_PARTITIONS} partitions: longest pause {max(pauses):,.0f} of {RESTART_MARK_MS:,} ms; "
        f"{len(producer.failed)} records refused, {lost} missing, {len(errors)} errors of the consumer"
    )
    met = max(pauses) < RESTART_MARK_MS and not producer.failed and not lost and not errors
    return [(met, text)]


def restarted(cluster: Cluster, broker: Node, producer: SteadyProducer) -> float:
    """End a broker by SIGTERM, and start it again; return the longest pause of any partition meanwhile, in ms."""
    begin_ns = time.monotonic_ns()
    broker.process.terminate(timeout_s=WITHIN_S)
    took_s = (time.monotonic_ns() - begin_ns) / 1e9
    cluster.heal()
    end_ns = time.monotonic_ns()
    time.sleep(REST_S)
    longest = max(it.longest_gap_ms(begin_ns, end_ns) for it in producer.acknowledged)
    print(
        f"  {broker.name}: down after {took_s:.1f} s, longest pause {longest:,.0f} ms", flush=True
    )
    return longest
