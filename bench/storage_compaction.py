"""Compacts N GB in a new process, and measures speed and memory.

    python -m bench.storage_compaction [--gb 2] [--json]

The bucket is a MinIO; objects are written as uploads write them, 128 MiB each, of batches of 16 KiB.
`merge` has Stream Set Objects of many streams, which stay in one object; `split` has few streams, each
of which gets a separate Stream Object; `copy` has Stream Objects of one stream, which are joined within
the bucket. Each is compacted by a process that does nothing else, with the default budget
(`s3.stream.set.object.compaction.cache.size`) and without the limit of bytes per second. Memory is the
growth of the process up to its peak; each MB of the MB/s is read and written.
"""

import argparse
import asyncio
import json
import math
import pickle
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import uvloop

from bench.blocks import make_block
from bench.bucket_server import bucket_server, bucket_uri
from bench.process_usage import usage
from bench.s3_requests import MIB, Mark
from headrace.broker.telemetry.runtime_tuning import tune
from headrace.config.node import StorageConfig
from headrace.storage.compaction.executor import Compactor
from headrace.storage.compaction.plan import MIN_COPIED_GROUP_WIDTH
from headrace.storage.object_store.factory import open_object_store
from headrace.storage.stats import UploadCounters
from headrace.storage.upload.object_upload import ObjectUpload
from headrace.storage.upload.plan import plan_upload
from headrace.storage.upload.retry import Retrying
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane

OBJECT_BYTES = 128 * MIB
MIN_BYTES = MIN_COPIED_GROUP_WIDTH * OBJECT_BYTES  # fewer objects are not compacted
MAX_MEMORY_SHARE = 1.2  # of the budget
STREAMS = {"merge": 1000, "split": 16, "copy": 1}


@dataclass(frozen=True)
class Row:
    """One kind of compaction."""

    kind: str
    streams: int
    objects_in: int
    objects_out: int
    bytes_in: int
    copied_bytes: int
    seconds: float
    cpu_s: float
    memory_bytes: int  # growth of the process up to its peak
    budget_bytes: int

    @property
    def mark(self) -> Mark:
        """The mark for the memory."""
        share = self.memory_bytes / self.budget_bytes
        return Mark(
            f"memory of compaction ({self.kind}), share of its budget", share, MAX_MEMORY_SHARE
        )


async def prepare(uri: str, streams: int, size_bytes: int) -> ControlPlane:
    """Upload objects of `size_bytes` in total, and commit them."""
    # No stream is large enough for a separate Stream Object, unless it is the only stream.
    config = StorageConfig(bucket_uri=uri, stream_split_bytes=1 << 40)
    rng = random.Random(1)
    store = open_object_store(uri, rng=rng, part_bytes=config.object_part_bytes)
    control, counters = ControlPlane(), UploadCounters()
    uploads = ObjectUpload(
        config,
        store=store,
        objects=control,
        cluster_id=CLUSTER_ID,
        retrying=Retrying(rng, counters),
        clock_ms=lambda: 0,
        counters=counters,
    )
    for number in range(1, streams + 1):
        await control.open_stream(number, 1)
    for number in range(max(1, size_bytes // OBJECT_BYTES)):
        block, sizes = make_block(streams, OBJECT_BYTES, first_offset=0, seed=number)
        block = {
            stream_id: [
                batch._replace(base_offset=batch.base_offset + control.end(stream_id))
                for batch in found
            ]
            for stream_id, found in block.items()
        }
        plan = plan_upload(block, sizes, config.stream_split_bytes)
        await control.commit_stream_set_object((await uploads.upload(plan)).commit)
    await store.close()
    return control


async def compact(uri: str, kind: str, control: ControlPlane) -> Row:
    """Compact once, in this process."""
    config = replace(StorageConfig(bucket_uri=uri), compaction_bytes_per_s=1 << 40)
    store = open_object_store(uri, rng=random.Random(1), part_bytes=config.object_part_bytes)
    open_streams = [(it.stream_id, it.epoch) for it in control.image.streams.values() if it.opened]
    compactor = Compactor(
        config, store, control, CLUSTER_ID, rng=random.Random(1), streams=lambda: open_streams
    )
    before = usage("self")
    began = time.perf_counter()
    await compactor.compact()
    seconds = time.perf_counter() - began
    after = usage("self")
    found = compactor.statistics
    if found.failures or not found.groups:
        sys.exit(f"nothing was compacted: {found}")
    await store.close()
    return Row(
        kind,
        len(open_streams),
        found.objects_in,
        found.objects_out,
        found.bytes_in,
        store.statistics.copied_bytes,
        seconds,
        after.cpu_s - before.cpu_s,
        after.rss_peak_bytes - before.rss_bytes,
        config.compaction_memory_bytes,
    )


def measure(uri: str, kind: str, state: Path) -> None:
    """Compact and print the row: the program of the new process."""
    tune()
    row = uvloop.run(compact(uri, kind, ControlPlane(controller=pickle.loads(state.read_bytes()))))
    print(json.dumps(asdict(row)))


def run(size_bytes: int) -> list[Row]:
    """Measure each kind with a separate bucket."""
    rows = []
    for kind, streams in STREAMS.items():
        with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".storage-bench-") as directory:
            scratch = Path(directory)
            with bucket_server(scratch) as server:
                uri = bucket_uri(server.endpoint)
                state = scratch / "state"
                control = asyncio.run(prepare(uri, streams, size_bytes))
                state.write_bytes(pickle.dumps(control.controller))
                command = [sys.executable, "-m", "bench.storage_compaction"]
                command += ["--measure", kind, uri, str(state)]
                done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
                if done.returncode:
                    sys.exit(f"{kind}: the measurement failed, see the output above")
                rows.append(Row(**json.loads(done.stdout)))
    return rows


def print_table(rows: list[Row]) -> None:
    """Print a line for each kind."""
    print(
        f"\n{'compaction':12}{'streams':>8}{'objects':>14}{'MB':>8}{'copied MB':>11}{'MB/s':>8}"
        f"{'CPU s':>8}{'memory MiB':>12}{'budget MiB':>12}"
    )
    for row in rows:
        objects = f"{row.objects_in} -> {row.objects_out}"
        print(
            f"{row.kind:12}{row.streams:>8,}{objects:>14}{row.bytes_in / 1e6:8,.0f}"
            f"{row.copied_bytes / 1e6:11,.0f}{row.bytes_in / 1e6 / row.seconds:8,.0f}{row.cpu_s:8.1f}"
            f"{row.memory_bytes / MIB:12.0f}{row.budget_bytes / MIB:12.0f}"
        )


def volume(text: str) -> int:
    """Parse --gb; return bytes."""
    size_bytes = int(float(text) * 1e9)
    if size_bytes < MIN_BYTES:
        least = math.ceil(MIN_BYTES / 1e7) / 100
        raise argparse.ArgumentTypeError(
            f"{text} GB make fewer than {MIN_COPIED_GROUP_WIDTH} objects of {OBJECT_BYTES // MIB} MiB, "
            f"which are not compacted; give at least {least:g}"
        )
    return size_bytes


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--gb", type=volume, default="2", help="data in each bucket, in 10**9 bytes"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        uri, kind, state = arguments.measure[1], arguments.measure[0], Path(arguments.measure[2])
        measure(uri, kind, state)
        return 0
    rows = run(arguments.gb)
    marks = [row.mark for row in rows]
    if arguments.json:
        print(json.dumps([asdict(it) | {"marks": [it.mark.as_json()]} for it in rows], indent=1))
    else:
        print_table(rows)
        print()
        print(*marks, sep="\n")
    return 0 if all(it.is_met for it in marks) else 1


if __name__ == "__main__":
    sys.exit(main())
