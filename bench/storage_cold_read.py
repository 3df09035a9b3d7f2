"""Cold reads: a Kafka client that reads one partition from the bucket, compared with plain ranged GETs of its objects.

    python -m bench.storage_cold_read [--store file|minio] [--distant] [--runs 5] [--mib 1024] [--batch 16384]

Each run restarts the broker, so that nothing is cached. `client` is librdkafka with its defaults, from the first record
to the last; `plain` reads the partition's objects with the same object store as the broker, with the number and size of
ranges of `PLAIN_WAYS` that was fastest in a previous trial, and drops the bytes. `first byte` is the time from the request
of one Fetch at the partition's start to the first byte of its answer, on an open connection; beside it a GET of 1 MiB of an
object. `elsewhere` is the same at `--points` positions within objects, each for the first time, so that the index must be
read before the data. The ratio is client / plain for MB/s, plain / client for times.

Without `--distant` all processes share the loopback interface, and the ratio compares their processor time. With it,
both go through `bench.distant_link` to MinIO: 7 ms each way, so that a first byte takes about 15 ms, and 400 MB/s for
all connections together. That is the permanent bandwidth of a cloud machine with 8 processors (3.1 Gbit/s of an EC2
m6i.2xlarge, its baseline); so the ratio shows the broker's overhead where the network is the limit.
"""

import argparse
import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict, deque
from pathlib import Path

from bench import load_program
from bench.cold_topic import (
    CREDENTIALS,
    MIB,
    STORES,
    broker_on,
    bucket_uri_of,
    fill,
    produce_topic,
)
from bench.distant_link import Distance
from kafka.protocol.consumer import FetchResponse
from headrace.storage.object_store.factory import open_object_store
from headrace.storage.ports import ObjectStore
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.wire import WireConnection, fetch_request

TOPIC, HOT = "cold", "hot"
HOT_BYTES = 256 * MIB
LOG_CACHE_BYTES = 2 * HOT_BYTES
# Concurrent ranges, and their size: Amazon recommends 8 or 16 MiB for S3.
PLAIN_WAYS = ((4, 8 * MIB), (8, 4 * MIB), (8, 8 * MIB), (8, 16 * MIB), (16, 8 * MIB), (32, 8 * MIB))
DISTANT = Distance(delay_ms=7.0, mb_per_s=400.0)
FIRST_BYTES = 1 * MIB
MIN_OBJECT_BYTES = 4 * MIB  # smaller ones hold checkpoints and offsets
FETCH_VERSION = 12
BLOCK_CACHE_BYTES = 256 * MIB
MIN_RATIO = 0.8
MIN_BOUND_SHARE = 0.6  # of the rate that shared cores allow
Figures = dict[str, list[float]]


Way = tuple[int, int]


async def plain_reads(uri: str, way: Way, points: int) -> tuple[float, float, float]:
    """Read every object of the partition in ranges.

    Args:
        uri: of the bucket.
        way: number of concurrent ranges, and their size.
        points: number of single GETs to measure first.

    Returns:
        Bytes, seconds, and the median seconds of a single GET.
    """
    parallel, range_bytes = way
    store = open_object_store(uri, rng=random.Random(0), environment=CREDENTIALS)
    try:
        found = [it for it in await store.list("") if it[1] >= MIN_OBJECT_BYTES]
        singles = []
        await store.get_range(found[0][0], 0, 1)  # opens the connection, as the broker's is open
        for number in range(points):
            key, size = found[number * len(found) // points]
            start = (size - FIRST_BYTES) * number // points
            began = time.perf_counter()
            await store.get_range(key, start, start + FIRST_BYTES)
            singles.append(time.perf_counter() - began)
        ranges = deque(
            (key, start, min(size, start + range_bytes))
            for key, size in found
            for start in range(0, size, range_bytes)
        )
        total = sum(size for _, size in found)
        began = time.perf_counter()
        await asyncio.gather(*(_read_ranges(store, ranges) for _ in range(parallel)))
        return total, time.perf_counter() - began, statistics.median(singles)
    finally:
        await store.close()


def fastest_way(uri: str) -> Way:
    """Try all combinations for plain reads, and return the fastest."""
    rates = {}
    for way in PLAIN_WAYS:
        total, seconds, _ = asyncio.run(plain_reads(uri, way, 1))
        rates[way] = total / seconds / 1e6
        print(f"  plain, {way[0]} concurrent ranges of {way[1] // MIB} MiB: {rates[way]:,.0f} MB/s")
    return max(rates, key=lambda way: rates[way])


async def _read_ranges(store: ObjectStore, ranges: deque[tuple[str, int, int]]) -> None:
    """Read ranges from the front of the queue until it is empty."""
    while ranges:
        await store.get_range(*ranges.popleft())


def first_bytes(broker: HeadraceProcess, offsets: list[int]) -> float:
    """Fetch at one position after the other; return the median milliseconds to the first byte."""
    found_ms = []
    with WireConnection(broker.bootstrap) as connection:
        for offset in offsets:
            request = fetch_request(TOPIC, offset, 500, 1, partition_max_bytes=FIRST_BYTES)
            began = time.perf_counter()
            connection.send(request, FETCH_VERSION)
            connection.await_answer()
            found_ms.append((time.perf_counter() - began) * 1000)
            answer = connection.receive(FetchResponse, FETCH_VERSION).responses[0].partitions[0]
            if answer.error_code or not answer.records:
                raise RuntimeError(f"no records at offset {offset}: error code {answer.error_code}")
    return statistics.median(found_ms)


def hot_rate(broker: HeadraceProcess) -> float:
    """MB/s of records in the broker's memory: the limit of broker and client on these cores, without the store."""
    records = produce_topic(broker.bootstrap, HOT, HOT_BYTES, batch_bytes=16_384)
    rates = []
    for _ in range(3):
        found = load_program.consume(broker.bootstrap, HOT, records=records, partitions=1)
        rates.append(found["bytes"] / found["seconds"] / 1e6)
    return statistics.median(rates)


def one_run(
    broker: HeadraceProcess, uri: str, records: int, way: Way, options: argparse.Namespace
) -> dict[str, float]:
    """Read everything with both, each without cached data."""
    starts_ms = []
    later = range(records // 4, records, records // options.points)  # not in the first object
    for _ in range(options.starts):
        broker.restart()
        within_ms = first_bytes(broker, list(later))
        starts_ms.append(first_bytes(broker, [0]))
    start_ms = statistics.median(starts_ms)
    broker.restart()
    settings = (f"fetch.message.max.bytes={options.fetch_bytes}",) if options.fetch_bytes else ()
    client = load_program.consume(
        broker.bootstrap, TOPIC, records=records, partitions=1, settings=settings
    )
    total, seconds, single_s = asyncio.run(plain_reads(uri, way, options.points))
    return {
        "client MB/s": client["bytes"] / client["seconds"] / 1e6,
        "plain MB/s": total / seconds / 1e6,
        "client first byte ms": start_ms,
        "elsewhere, ms": within_ms,
        "plain first byte ms": single_s * 1000,
    }


def where(distance: Distance | None) -> str:
    """Describe the distance of the bucket."""
    if distance is None:
        return ""
    return f" {distance.delay_ms:g} ms away at {distance.mb_per_s:g} MB/s"


def report(figures: Figures, place: str, hot_mb_s: float | None) -> int:
    """Print the table and the verdict; return the exit code."""
    medians = {name: statistics.median(values) for name, values in figures.items()}
    print(f"\n{'figure':24}{'median':>10}{'least':>10}{'most':>10}")
    for name, values in figures.items():
        print(f"{name:24}{medians[name]:>10,.2f}{min(values):>10,.2f}{max(values):>10,.2f}")
    ratios = {
        "MB/s": medians["client MB/s"] / medians["plain MB/s"],
        "first byte": medians["plain first byte ms"] / medians["client first byte ms"],
    }
    if hot_mb_s is not None:
        bound = 1 / (1 + medians["plain MB/s"] / hot_mb_s)
        share = ratios["MB/s"] / bound
        print(
            f"ratios {ratios['MB/s']:.2f} of the rate, {ratios['first byte']:.2f} of the first byte. The limit is not a network "
            f"but the cores, with which a client gets {hot_mb_s:,.0f} MB/s of hot records: reading the bytes plainly and "
            f"then sending them gives {bound:.2f} at best. The mark of {MIN_RATIO} is for a bucket behind a network: "
            "--distant"
        )
        verdict = "met" if share >= MIN_BOUND_SHARE else "MISSED"
        print(f"share of that {share:.2f}, at least {MIN_BOUND_SHARE} required: {verdict}")
        return 0 if share >= MIN_BOUND_SHARE else 1
    for name, ratio in ratios.items():
        verdict = "met" if ratio >= MIN_RATIO else "MISSED"
        print(f"{name} ratio{place} {ratio:.2f}, at least {MIN_RATIO} required: {verdict}")
    return 0 if min(ratios.values()) >= MIN_RATIO else 1


def main() -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.storage_cold_read", description=__doc__)
    parser.add_argument("--store", choices=STORES, default="minio")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--mib", type=int, default=1024, help="size of the partition")
    parser.add_argument("--batch", type=int, default=16_384, help="batch.size of its producer")
    parser.add_argument(
        "--points", type=int, default=8, help="positions at which to measure the first byte"
    )
    parser.add_argument(
        "--starts",
        type=int,
        default=8,
        help="restarts with a measurement of the first byte at the start of the partition",
    )
    parser.add_argument("--distant", action="store_true", help="the bucket is far away")
    parser.add_argument(
        "--fetch-bytes",
        type=int,
        default=0,
        help="maximum bytes of a Fetch; 0: librdkafka's default of 1 MiB",
    )
    parser.add_argument("--directory", type=Path, help="data directory of broker and store")
    options = parser.parse_args()
    if options.distant and options.store != "minio":
        parser.error("--distant needs --store minio")
    distance = DISTANT if options.distant else None
    load_program.build()
    settings = {
        "s3.block.cache.size": str(BLOCK_CACHE_BYTES),
        "s3.wal.cache.size": str(LOG_CACHE_BYTES),
    }
    print(
        f"{options.store} bucket{where(distance)}, one partition of {options.mib} MiB in batches of {options.batch}, BlockCache "
        f"{BLOCK_CACHE_BYTES // MIB} MiB; {os.cpu_count()} cores shared by store, broker and client",
        flush=True,
    )
    figures: Figures = defaultdict(list)
    with (
        tempfile.TemporaryDirectory(dir=options.directory, prefix="headrace-bench-") as scratch,
        broker_on(options.store, Path(scratch), settings, distance) as broker,
    ):
        hot_mb_s = hot_rate(broker) if distance is None else None
        records = fill(broker, TOPIC, options.mib * MIB, batch_bytes=options.batch)
        uri = bucket_uri_of(broker)
        way = fastest_way(uri)
        for number in range(options.runs):
            found = one_run(broker, uri, records, way, options)
            for name, value in found.items():
                figures[name].append(value)
            shown = ", ".join(f"{name} {value:,.2f}" for name, value in found.items())
            print(f"  run {number + 1}: {shown}", flush=True)
    return report(figures, where(distance), hot_mb_s)


if __name__ == "__main__":
    sys.exit(main())
