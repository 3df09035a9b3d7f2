"""Appends as fast as one event loop can, and prints what the WAL takes and confirms.

    python -m bench.wal_append [--path FILE_OR_DEVICE] [--seconds 3] [--uvloop]

Each row: records of one size; `clients` appends are kept open, and each is replaced when it is confirmed. `append`
is the time inside `DeltaWal.append`, `p50` and `p99` the time from append to confirmation.
"""

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections import deque
from pathlib import Path

from config.node import WalConfig
from wal.log import DeltaWal

SIZES = (1024, 16 * 1024, 1024 * 1024)
HEADER = bytes(33)
CAPACITY_BYTES = 2 << 30


class Load:
    """Keeps `clients` appends open."""

    def __init__(self, payload: bytes, clients: int) -> None:
        self.payload = payload
        self.clients = clients
        self.open: deque[tuple[int, float]] = deque()
        self.latencies: list[float] = []
        self.append_s = 0.0
        self.appended = 0
        self.last_offset = -1
        self.running = True
        self.full = False

    def fill(self) -> None:
        append = self.wal.append
        header, payload, clock = HEADER, self.payload, time.perf_counter
        while self.running and len(self.open) < self.clients:
            if not self.wal.room_for(len(header) + len(payload)):
                return
            begin = clock()
            appended = append(header, payload)
            end = clock()
            self.append_s += end - begin
            self.appended += 1
            self.open.append((appended.end_offset, end))

    def on_confirmed(self, offset: int) -> None:
        now = time.perf_counter()
        while self.open and self.open[0][0] <= offset:
            self.last_offset, began = self.open.popleft()
            self.latencies.append(now - began)
        if self.wal.used_bytes > self.wal.capacity_bytes // 2:
            self.wal.trim(self.last_offset - 1)
        self.fill()


def make_log(path: str, io: str, load: Load) -> DeltaWal:
    return DeltaWal(
        WalConfig(path=path, capacity_bytes=CAPACITY_BYTES, io=io),
        node_id=1,
        node_epoch=1,
        cluster_id="bench",
        rng=random.SystemRandom(),
        wall_clock_ms=lambda: int(time.time() * 1000),
        on_confirmed=load.on_confirmed,
        on_failed=lambda error: sys.exit(str(error)),
        on_room=load.fill,
    )


async def start(wal: DeltaWal) -> None:
    await wal.start()
    async for _ in wal.recover():
        pass
    await wal.reset()


async def prepare(path: str) -> None:
    """Write the file once and format it, so that no row pays for first writes."""
    zeros = bytes(4 << 20)
    with open(path, "wb") as file:
        for _ in range(0, CAPACITY_BYTES, len(zeros)):
            file.write(zeros)
    wal = make_log(path, "auto", Load(b"", 0))
    await start(wal)
    await wal.shutdown()


async def measure(path: str, io: str, size: int, clients: int, seconds: float) -> str:
    load = Load(random.Random(1).randbytes(size), clients)
    load.wal = make_log(path, io, load)
    await start(load.wal)
    begin = time.perf_counter()
    cpu = time.process_time()
    load.fill()
    await asyncio.sleep(seconds)
    load.running = False
    elapsed = time.perf_counter() - begin
    cpu = time.process_time() - cpu
    done = len(load.latencies)
    cuts = statistics.quantiles(load.latencies, n=100)
    writes = load.wal.statistics
    device = load.wal.device
    while load.open:
        await asyncio.sleep(0.001)
    load.wal.trim(load.last_offset - 1)
    await load.wal.shutdown()
    return (
        f"{device.io:8}{size // 1024:6} KiB{clients:8}{done / elapsed:12,.0f}{done * size / elapsed / 1e6:10,.0f}"
        f"{load.append_s / load.appended * 1e6:10.2f}{cuts[49] * 1e3:9.2f}{cuts[98] * 1e3:9.2f}"
        f"{writes.written_bytes_total / writes.writes_total / 1024:9.0f}{cpu / elapsed:6.0%}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--path", help="file or block device (its content is lost); default: a new file"
    )
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--clients", type=int, nargs="*", default=[1, 64])
    parser.add_argument("--io", nargs="*", default=["aio", "threads"])
    parser.add_argument("--uvloop", action="store_true")
    arguments = parser.parse_args()
    run = asyncio.run
    if arguments.uvloop:
        import uvloop

        run = uvloop.run
    sys.setswitchinterval(0.0001)
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".wal-bench-") as directory:
        path = arguments.path or f"{directory}/wal"
        if arguments.path is None:
            run(prepare(path))
        print(
            f"{'io':8}{'record':>10}{'clients':>8}{'appends/s':>12}{'MB/s':>10}"
            f"{'append us':>10}{'p50 ms':>9}{'p99 ms':>9}{'KiB/io':>9}{'cpu':>6}"
        )
        for io in arguments.io:
            for size in SIZES:
                for clients in arguments.clients:
                    print(run(measure(path, io, size, clients, arguments.seconds)), flush=True)


if __name__ == "__main__":
    main()
