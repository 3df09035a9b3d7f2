"""The same producers on a topic of one broker and on one of three, alternating, with the same six processes running."""

import statistics
from pathlib import Path

from bench import load_program
from tests.cluster.cluster import Cluster
from tests.cluster.wire_calls import create_topic, delete_topic

MIB = 1 << 20
RUNS = 7
RUNS_QUICK = 1
RECORD_BYTES = 1024
BATCH_BYTES = 262_144
LINGER_MS = 5
PARTITIONS = 12
VOLUME_BYTES = 768 * MIB
VOLUME_QUICK_BYTES = 64 * MIB
RATIO_MARK = 0.9
SETTINGS = {
    "s3.wal.cache.size": str(256 * MIB),
    "s3.wal.upload.threshold": str(48 * MIB),
}
WAL_BYTES = 256 * MIB


def run(directory: Path, *, quick: bool) -> list[tuple[bool, str]]:
    """Return (met, text) of the mark."""
    runs, volume = (RUNS_QUICK, VOLUME_QUICK_BYTES) if quick else (RUNS, VOLUME_BYTES)
    load_program.build()
    figures: dict[int, list[float]] = {1: [], 3: []}
    with Cluster(directory, small_disks=False, settings=SETTINGS, wal_bytes=WAL_BYTES) as cluster:
        for number in range(runs + 1):
            for brokers in (1, 3) if number % 2 else (3, 1):
                rate = megabytes_per_s(cluster, f"bench-{number}-{brokers}", brokers, volume)
                print(f"  run {number}: {brokers} broker(s) {rate:.1f} MB/s", flush=True)
                if number:  # the first run of each is a warm-up
                    figures[brokers].append(rate)
    one, three = (statistics.median(figures[brokers]) for brokers in (1, 3))
    ratio = three / one
    text = f"three brokers {three:.1f} MB/s, one {one:.1f} MB/s: {ratio:.2f} of {RATIO_MARK}"
    return [(ratio >= RATIO_MARK, text)]


def megabytes_per_s(cluster: Cluster, topic: str, brokers: int, volume: int) -> float:
    """Produce `volume` bytes to a topic on this many brokers."""
    ids = [cluster.brokers[number % brokers].node_id for number in range(PARTITIONS)]
    with cluster.connect(cluster.brokers[0]) as connection:
        error, _ = create_topic(connection, topic, brokers=ids)
        assert error == 0, error
        result = load_program.produce(
            cluster.bootstrap,
            topic,
            records=volume // RECORD_BYTES,
            record_bytes=RECORD_BYTES,
            batch_bytes=BATCH_BYTES,
            linger_ms=LINGER_MS,
        )
    with cluster.connect(cluster.brokers[0]) as connection:
        delete_topic(connection, topic)
    return result["bytes"] / 1e6 / result["seconds"]
