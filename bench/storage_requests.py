"""Requests to the bucket per ingested GiB, at 1, 100 and 10,000 streams, as a server counts them.

    python -m bench.storage_requests [--streams 1 100 10000] [--gib N] [--json]

The real engine runs with its default configuration, a WAL in a file, a MinIO server, and a proxy
between the two that logs every request. `upload`: batches of 16 KiB are appended, 2 GiB spread evenly
over the streams, or 3 GiB of one stream (so that it has enough objects to be compacted).
`compaction`: compaction rounds until there is nothing to do. `reads`: at most 500 streams are read from
the bucket, with empty caches, 1 MiB at a time; figures are per GiB read. `sum` is a GiB that is
ingested, compacted and read once. The engine's own counters must agree with the proxy.

`upkeep` is per hour and not per GiB: a sweep of the bucket in its final state, and a snapshot of the
metadata, each as often as in the default configuration. It is not part of the sum.

PUT-class are uploads, parts, copies, creations, completions and lists, GET-class are reads and HEAD;
deletions are free. For comparison, AutoMQ has published 31 PUT and 12 GET per GB for all of its
requests.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import uvloop

from bench.bucket_server import bucket_server, bucket_uri
from bench.s3_proxy import CountingProxy
from bench.s3_report import (
    HEADING,
    SUM,
    PhaseCost,
    aligned,
    described,
    phase_cost,
    phase_lines,
    published_line,
    summed,
)
from bench.s3_requests import GIB, MIB, Mark, Tally, request_marks
from bench.storage_upkeep import Upkeep, measure_upkeep
from headrace.broker.telemetry.runtime_tuning import tune
from headrace.config.node import StorageConfig, WalConfig
from headrace.storage.audit.cost import Prices
from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.compaction.executor import Compactor
from headrace.storage.engine import StorageEngine
from headrace.storage.object_store.factory import open_object_store
from headrace.storage.object_store.retrying import RetryingObjectStore
from headrace.storage.objects.keys import object_key
from headrace.storage.ports import ObjectStore
from headrace.wal.ring.log import DeltaWal
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane

BATCH_BYTES = 16 * 1024
READ_BYTES = 1 * MIB
MAX_STREAMS_READ = 500
PHASES = ("upload", "compaction", "reads")


@dataclass
class Row:
    """The results for one number of streams."""

    streams: int
    ingested_bytes: int
    read_bytes: int
    upload: Tally
    compaction: Tally
    reads: Tally
    upkeep: Upkeep
    disagreements: list[str]

    @property
    def marks(self) -> list[Mark]:
        """The marks of this row."""
        return request_marks(self.streams, self.upload, self.compaction, self.ingested_bytes)

    @property
    def costs(self) -> dict[str, PhaseCost]:
        """The cost of each phase per GiB ingested, or read."""
        return {
            phase: phase_cost(
                getattr(self, phase),
                self.read_bytes if phase == "reads" else self.ingested_bytes,
                Prices(),
            )
            for phase in PHASES
        }


class Client:
    """The storage of one node, and its counters compared with the server's."""

    def __init__(self, store: RetryingObjectStore, proxy: CountingProxy) -> None:
        self.store = store
        self._proxy = proxy
        self._counted = dict.fromkeys(Tally().calls, 0)
        self.disagreements: list[str] = []

    def take(self, phase: str) -> Tally:
        """Count the requests of a phase; record where the client's own counters differ."""
        tally = self._proxy.take()
        statistics = self.store.statistics
        for name, requests in tally.calls.items():
            counted = getattr(statistics, name) - self._counted[name]
            self._counted[name] += counted
            if counted != requests:
                text = f"{phase}: {name} is {counted} at the client, {requests} at the server"
                self.disagreements.append(text)
        return tally


async def ingest(engine: StorageEngine, streams: int, size_bytes: int, epoch: int) -> int:
    """Append `size_bytes`, and upload them; return the bytes."""
    opened = [await engine.open_stream(number + 1, epoch) for number in range(streams)]
    payload = random.Random(1).randbytes(BATCH_BYTES)
    batches = -(-size_bytes // BATCH_BYTES)
    acknowledged = asyncio.Event()
    open_appends = batches
    failures: list[Exception] = []

    def on_ack(error: Exception | None) -> None:
        nonlocal open_appends
        open_appends -= 1
        if error is not None:
            failures.append(error)
        if not open_appends:
            acknowledged.set()

    for number in range(batches):
        if not engine.admits(BATCH_BYTES + 100):
            await engine.admission(BATCH_BYTES + 100)
        opened[number % streams].append(payload, 1, on_ack)
        if number % 32 == 0:
            await asyncio.sleep(0)
    await acknowledged.wait()
    await engine.force_upload()
    if failures:
        raise failures[0]
    return batches * BATCH_BYTES


async def compact(
    config: StorageConfig, store: ObjectStore, control: ControlPlane, streams: int, epoch: int
) -> None:
    """Compact until there is nothing left to do."""
    compactor = Compactor(
        replace(config, compaction_bytes_per_s=1 << 40),
        store,
        control,
        CLUSTER_ID,
        rng=random.Random(1),
        streams=lambda: [(number + 1, epoch) for number in range(streams)],
    )
    groups = -1
    while compactor.statistics.groups > groups:
        groups = compactor.statistics.groups
        await compactor.compact()
    if compactor.statistics.failures:
        sys.exit("compaction failed, see the log")


async def read(
    config: StorageConfig, store: ObjectStore, control: ControlPlane, streams: int
) -> int:
    """Read whole streams, one after the other; return the bytes."""
    blocks = BlockCache(config, store, control, CLUSTER_ID)
    read_bytes = 0
    step = max(1, streams // MAX_STREAMS_READ)
    for stream_id in range(1, streams + 1, step):
        offset, end = 0, control.end(stream_id)
        while offset < end:
            batches = await blocks.read(stream_id, offset, end, READ_BYTES)
            read_bytes += sum(len(it.payload) for it in batches)
            offset = batches[-1].end_offset
    await blocks.shutdown()
    return read_bytes


async def measure(
    streams: int, size_bytes: int, epoch: int, wal_path: Path, proxy: CountingProxy
) -> Row:
    """Run all phases for one number of streams."""
    config = StorageConfig(bucket_uri=bucket_uri(proxy.endpoint))
    rng = random.Random(epoch)
    store = open_object_store(config.bucket_uri, rng=rng, part_bytes=config.object_part_bytes)
    client = Client(store, proxy)
    control = ControlPlane()
    blocks = BlockCache(config, store, control, CLUSTER_ID)
    engine = StorageEngine(
        config,
        wal_factory=lambda on_confirmed, on_failed: DeltaWal(
            WalConfig(path=str(wal_path)),
            node_id=1,
            node_epoch=epoch,
            cluster_id=CLUSTER_ID,
            rng=rng,
            wall_clock_ms=lambda: int(time.time() * 1000),
            on_confirmed=on_confirmed,
            on_failed=on_failed,
            on_room=lambda: engine.room_freed(),
        ),
        store=store,
        streams=control,
        objects=control,
        lease=control,
        blocks=blocks,
        rng=rng,
        cluster_id=CLUSTER_ID,
    )
    proxy.take()
    await engine.start()
    running = asyncio.create_task(engine.run())
    ingested_bytes = await ingest(engine, streams, size_bytes, epoch)
    upload = client.take("upload")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await engine.shutdown()
    await blocks.shutdown()
    await compact(config, store, control, streams, epoch)
    compaction = client.take("compaction")
    read_bytes = await read(config, store, control, streams)
    reads = client.take("reads")
    keys = [key for key, _ in await store.list("")]
    live = {*control.committed, *control.destroyed}
    assert set(keys) == {object_key(CLUSTER_ID, it) for it in live}, (
        "the bucket has exactly the live objects"
    )
    upkeep = await measure_upkeep(config, store, control, proxy)
    await store.delete([key for key, _ in await store.list("")])
    await store.close()
    return Row(
        streams,
        ingested_bytes,
        read_bytes,
        upload,
        compaction,
        reads,
        upkeep,
        client.disagreements,
    )


def table(rows: list[Row]) -> list[str]:
    """Requests and prices by phase; the cost of upkeep; then the requests by operation."""
    prices = Prices()
    lines: list[Sequence[str]] = [HEADING]
    for row in rows:
        lines += phase_lines(row.streams, row.costs, row.ingested_bytes / GIB)
    lines.append(published_line(prices))
    printed = aligned(lines, left=(1,))
    printed.append("\nreads are per GiB read; sum: a GiB ingested, compacted and read once")
    for row in rows:
        upkeep = row.upkeep
        printed.append(
            f"{row.streams:>7,} upkeep, not in the sum: {upkeep.puts_per_hour:,.0f} PUT and "
            f"{upkeep.gets_per_hour:,.0f} GET an hour, ${upkeep.price_per_month(prices):.2f} a month: "
            f"{upkeep.sweeps_per_hour:g} sweeps of {upkeep.swept_objects:,} objects per hour, "
            f"at most {upkeep.snapshots_per_hour:g} snapshots of the metadata"
        )
    for row in rows:
        tallies = {phase: getattr(row, phase) for phase in PHASES}
        tallies |= {"one sweep": row.upkeep.sweep, "one snapshot": row.upkeep.snapshot}
        printed += [
            f"{row.streams:>7,} {name:13}" + ", ".join(described(tally))
            for name, tally in tallies.items()
        ]
    return printed


def as_json(row: Row) -> dict[str, object]:
    """The JSON form."""
    costs = row.costs
    total = summed(costs, row.ingested_bytes / GIB)
    per_gib = {
        phase: {"put": it.puts, "get": it.gets, "price": it.price}
        for phase, it in (costs | {SUM: total}).items()
    }
    return asdict(row) | {
        "per_gib": per_gib,
        "upkeep": row.upkeep.as_json(Prices()),
        "marks": [it.as_json() for it in row.marks],
    }


def run(streams: list[int], gib: float | None = None) -> list[Row]:
    """Measure each number of streams."""
    tune()
    rows = []
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".storage-bench-") as directory:
        scratch = Path(directory)
        with (
            bucket_server(scratch) as server,
            CountingProxy(server.port, scratch / "requests") as proxy,
        ):
            for epoch, number in enumerate(streams, 1):
                began = time.monotonic()
                size_bytes = int((gib or (3 if number == 1 else 2)) * GIB)
                measuring = measure(number, size_bytes, epoch, scratch / "wal", proxy)
                rows.append(uvloop.run(measuring))
                seconds = time.monotonic() - began
                print(f"{number:,} streams: {seconds:.0f} s", file=sys.stderr, flush=True)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--streams", type=int, nargs="*", default=[1, 100, 10_000])
    parser.add_argument(
        "--gib", type=float, help="ingested GiB; default: 3 for one stream, otherwise 2"
    )
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = run(arguments.streams, arguments.gib)
    marks = [mark for row in rows for mark in row.marks]
    if arguments.json:
        print(json.dumps([as_json(row) for row in rows], indent=1))
    else:
        print("", *table(rows), "", sep="\n")
        print(*marks, sep="\n")
    for row in rows:
        for text in row.disagreements:
            print(f"DISAGREEMENT at {row.streams:,} streams: {text}", file=sys.stderr)
    return 0 if all(it.is_met for it in marks) and not any(it.disagreements for it in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
