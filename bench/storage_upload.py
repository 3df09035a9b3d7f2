"""Uploads of LogCache blocks, compared with plain multipart uploads of as many bytes.

    python -m bench.storage_upload [--mib 256] [--runs 5] [--json]

`ours` is the upload of archived blocks: encoded as objects with checksums and an index, prepared, put
with the default configuration, from batches of 16 KiB in the buffers of the WAL. `plain` is obstore's
multipart upload of as many contiguous bytes: parts of 16 MiB, four at a time.

A busy broker uploads four blocks in parallel: four requests at a time, as `plain` has. The mark is for
that case. A single block is one request, and is shown for comparison. `ours` and `plain` alternate, and
the ratio is the median of the ratios of adjacent runs. MinIO shares the cores with the benchmark.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import obstore
import uvloop
from obstore.store import S3Store

from bench.blocks import make_block
from bench.bucket_server import BUCKET, REGION, bucket_server, bucket_uri
from bench.s3_requests import MIB, Mark
from headrace.broker.telemetry.runtime_tuning import tune
from headrace.config.node import StorageConfig
from headrace.storage.object_store.factory import open_object_store
from headrace.storage.objects.keys import object_key
from headrace.storage.stats import UploadCounters
from headrace.storage.upload.object_upload import ObjectUpload
from headrace.storage.upload.plan import plan_upload
from headrace.storage.upload.retry import Retrying
from tests.environment.minio import ACCESS_KEY, SECRET_KEY
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane

PLAIN_PART_BYTES = 16 * MIB
PLAIN_PARTS_INFLIGHT = 4
MIN_RATIO = 0.9
BLOCKS = (1, 4)


@dataclass
class Row:
    """Runs of one kind of block, in MB/s."""

    blocks: int
    ours_mb_s: list[float] = field(default_factory=list)
    plain_mb_s: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Median of the ratios of adjacent runs."""
        pairs = zip(self.ours_mb_s, self.plain_mb_s, strict=True)
        return statistics.median(ours / plain for ours, plain in pairs)

    @property
    def marks(self) -> list[Mark]:
        """The marks of this row."""
        if self.blocks == 1:
            return []
        what = f"upload of {self.blocks} blocks, share of a plain multipart upload's MB/s"
        return [Mark(what, self.ratio, MIN_RATIO, at_least=True)]


async def timed(act: Callable[[], Awaitable[object]]) -> float:
    os.sync()
    began = time.perf_counter()
    await act()
    return time.perf_counter() - began


async def measure(endpoint: str, blocks: int, block_bytes: int, runs: int) -> Row:
    """Upload `blocks` blocks, and as many bytes plainly, in turn."""
    config = StorageConfig(bucket_uri=bucket_uri(endpoint))
    rng = random.Random(1)
    store = open_object_store(config.bucket_uri, rng=rng, part_bytes=config.object_part_bytes)
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
    plans = [
        plan_upload(*make_block(1, block_bytes, seed=number), config.stream_split_bytes)
        for number in range(blocks)
    ]
    content = memoryview(random.Random(2).randbytes(MIB) * (block_bytes // MIB))
    pieces = [
        content[at : at + PLAIN_PART_BYTES] for at in range(0, len(content), PLAIN_PART_BYTES)
    ]
    plain_store = S3Store(
        BUCKET,
        endpoint=endpoint,
        region=REGION,
        access_key_id=ACCESS_KEY,
        secret_access_key=SECRET_KEY,
        virtual_hosted_style_request=False,
        client_options={"allow_http": True, "timeout": "120s"},
    )

    async def ours() -> None:
        await asyncio.gather(*map(uploads.upload, plans))

    async def plain() -> None:
        await obstore.put_async(
            plain_store,
            "plain",
            iter(pieces * blocks),
            use_multipart=True,
            chunk_size=PLAIN_PART_BYTES,
            max_concurrency=PLAIN_PARTS_INFLIGHT,
        )

    row = Row(blocks)
    await ours()  # once as a warm-up: connections, the client's code
    await plain()
    for run in range(runs):
        turns = [(row.ours_mb_s, ours), (row.plain_mb_s, plain)]
        for found, act in turns if run % 2 else turns[::-1]:
            found.append(blocks * block_bytes / 1e6 / await timed(act))
    if store.statistics.retries or counters.retries_total:
        sys.exit("the store retried requests, so the figures are not valid")
    await store.delete(
        [object_key(CLUSTER_ID, it) for it in range(await control.prepare_objects(1, 1))]
    )
    await store.close()
    return row


def run(block_mib: int, runs: int) -> list[Row]:
    """Measure each number of blocks."""
    tune()
    rows = []
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".storage-bench-") as directory:
        with bucket_server(Path(directory)) as server:
            for blocks in BLOCKS:
                measuring = measure(server.endpoint, blocks, block_mib * MIB, runs)
                rows.append(uvloop.run(measuring))
    return rows


def print_table(rows: list[Row], block_mib: int) -> None:
    """Print medians and ranges."""
    print(f"\n{'blocks':16}{'ours MB/s':>24}{'plain MB/s':>24}{'ratio':>8}")
    for row in rows:
        cells = ""
        for found in (row.ours_mb_s, row.plain_mb_s):
            spread = f"({min(found):.0f}-{max(found):.0f})"
            cells += f"{statistics.median(found):12.0f}{spread:>12}"
        shape = f"{row.blocks} x {block_mib} MiB"
        print(f"{shape:16}{cells}{row.ratio:8.2f}")
    print("plain: one object of as many bytes, parts of 16 MiB, 4 at a time")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = run(arguments.mib, arguments.runs)
    marks = [mark for row in rows for mark in row.marks]
    if arguments.json:
        found = [
            vars(row) | {"ratio": row.ratio, "marks": [it.as_json() for it in row.marks]}
            for row in rows
        ]
        print(json.dumps(found, indent=1))
    else:
        print_table(rows, arguments.mib)
        print()
        print(*marks, sep="\n")
    return 0 if all(it.is_met for it in marks) else 1


if __name__ == "__main__":
    sys.exit(main())
