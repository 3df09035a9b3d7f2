"""A cluster goes from three brokers to five and back under load, by the balance and by `headrace cluster drain`.

Two brokers join; it is measured how long it takes until all five have their share,
and what each then takes. After that the two are drained and stopped. Clients produce and consume meanwhile: a pause is
the longest time between two acknowledgements of one partition.

A leading controller moves nothing for a window of the balance after it has begun to lead, and a partition rests for two.
Both are shorter here than by default, so that the benchmark need not wait for them.
"""

import time
from collections import Counter
from pathlib import Path
from typing import Final

from bench.move_clients import EndConsumer, SteadyProducer
from tests.cluster.cluster import Cluster
from tests.cluster.node import Node
from tests.cluster.wire_calls import create_topic, describe_topic

MIB: Final = 1 << 20
TOPIC: Final = "scaled"
PARTITIONS: Final = 100
MB_PER_S: Final = 50
JOINING: Final = 2
WINDOW_MS: Final = 20_000
SETTINGS: Final = {
    "headrace.balance.enable": "true",
    "headrace.balance.window.ms": str(WINDOW_MS),
    "headrace.balance.interval.ms": "1000",
    "s3.wal.cache.size": str(128 * MIB),
    "s3.wal.upload.threshold": str(32 * MIB),
}
WAL_BYTES: Final = 256 * MIB
WARM_UP_S: Final = 1.5 * WINDOW_MS / 1000
MEASURED_S: Final = 20.0
REST_S: Final = 5.0
WITHIN_S: Final = 120.0
POLL_S: Final = 0.2
EVEN_MARK_S: Final = 60.0
SPREAD_MARK: Final = 0.15


def run(directory: Path, *, quick: bool) -> list[tuple[bool, str]]:
    """Join, measure, leave; return (met, text) of the marks."""
    measured_s = MEASURED_S / 4 if quick else MEASURED_S
    with Cluster(directory, small_disks=False, settings=SETTINGS, wal_bytes=WAL_BYTES) as cluster:
        ids = [it.node_id for it in cluster.brokers]
        with cluster.connect(cluster.brokers[0]) as asked:
            leaders = [ids[number % len(ids)] for number in range(PARTITIONS)]
            assert create_topic(asked, TOPIC, brokers=leaders)[0] == 0
        files = directory / "consumer"
        files.mkdir()
        with EndConsumer(cluster.bootstrap, TOPIC, PARTITIONS, files) as consumer:
            with SteadyProducer(cluster.bootstrap, TOPIC, PARTITIONS, MB_PER_S) as producer:
                consumer.wait_for_records()
                time.sleep(WARM_UP_S)
                began_ns = time.monotonic_ns()
                joined = cluster.join(JOINING)
                even_s = seconds_until_even(cluster)
                taken = taken_by_broker(cluster, producer, measured_s)
                for broker in joined:
                    drain(cluster, broker)
                    broker.stop()
                ended_ns = time.monotonic_ns()
                time.sleep(REST_S)
            time.sleep(REST_S)
            _, count, errors = consumer.stop()
    longest_ms = max(it.longest_gap_ms(began_ns, ended_ns) for it in producer.acknowledged)
    lost = producer.sent - count
    spread = max(taken.values()) / min(taken.values()) - 1
    shown = ", ".join(f"{node_id}: {it:.1f}" for node_id, it in sorted(taken.items()))
    brokers = len(ids)
    return [
        (
            even_s <= EVEN_MARK_S,
            f"{brokers} to {brokers + JOINING} brokers, {PARTITIONS} partitions: even after {even_s:.0f} of {EVEN_MARK_S:.0f} s",
        ),
        (
            spread <= SPREAD_MARK,
            f"MB/s of each broker ({shown}): {spread:.0%} apart, of {SPREAD_MARK:.0%}",
        ),
        (
            not producer.failed and not lost and not errors,
            f"{count:,} records: {len(producer.failed)} refused, {lost} missing, {len(errors)} errors of the consumer; "
            f"longest pause of a partition {longest_ms:,.0f} ms",
        ),
    ]


def seconds_until_even(cluster: Cluster) -> float:
    """Wait until no broker leads more than 1.15 times the partitions of another; return how long that took."""
    began_s = time.monotonic()
    with cluster.connect(cluster.brokers[0]) as asked:
        while True:
            led = Counter(describe_topic(asked, TOPIC).leaders)
            took_s = time.monotonic() - began_s
            most, fewest = max(led.values()), min(led.values())
            if len(led) == len(cluster.brokers) and most <= (1 + SPREAD_MARK) * fewest:
                print(f"  even after {took_s:.1f} s: {dict(led)}", flush=True)
                return took_s
            if took_s > WITHIN_S:
                raise AssertionError(f"brokers are not even after {took_s:.0f} s: {dict(led)}")
            time.sleep(POLL_S)


def taken_by_broker(
    cluster: Cluster, producer: SteadyProducer, measured_s: float
) -> dict[int, float]:
    """Return the MB/s that each broker acknowledged in the next seconds; nothing moves meanwhile."""
    with cluster.connect(cluster.brokers[0]) as asked:
        leaders = describe_topic(asked, TOPIC).leaders
        before = [len(it) for it in producer.acknowledged]
        time.sleep(measured_s)
        after = [len(it) for it in producer.acknowledged]
        if describe_topic(asked, TOPIC).leaders != leaders:
            print("  partitions moved while throughput was measured", flush=True)
    taken = dict.fromkeys((it.node_id for it in cluster.brokers), 0.0)
    for leader, first, last in zip(leaders, before, after, strict=True):
        taken[leader] += (last - first) * producer.record_bytes / measured_s / 1e6
    return taken


def drain(cluster: Cluster, broker: Node) -> None:
    """Move all partitions of a broker to the others, and say how long that took."""
    began_s = time.monotonic()
    cluster.drain(broker)
    print(f"  {broker.name} drained in {time.monotonic() - began_s:.1f} s", flush=True)
