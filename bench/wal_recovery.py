"""Recovers full rings in new processes, compared with plain reads of the same bytes.

    python -m bench.wal_recovery [--path FILE_OR_DEVICE] [--capacity 2147483648] [--rounds 5]

Per kind of ring, `rounds` times in turn: `read` reads the device once by kernel AIO with O_DIRECT, with reads of the
same size and the same concurrency, always into the same few buffers; `recover` is `WalReader` to the end; `plan` also
decodes each record, decides what must be uploaded and keeps 64 MiB of it at a time, as a start does. Medians; `ratio` is
recover / read; `memory` is the peak of the whole process (VmHWM) in `recover`, and after the slash in `plan`.

The last two kinds have one record, and a window of 512 MiB without valid blocks: blocks of a generation before the last
reset, as a busy log leaves them, and a ring that was only zeroed.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from headrace.broker.telemetry.runtime_tuning import tune
from headrace.config.node import WalConfig
from headrace.storage.ports import StreamMetadata
from headrace.storage.record_batch import decode_batch, encode_header
from headrace.storage.recovery_plan import RecoveryPlan
from headrace.wal.device.buffers import BufferPool
from headrace.wal.layout import RING_POSITION, align_up
from headrace.wal.ring.log import DeltaWal
from headrace.wal.device.open_device import open_device
from headrace.wal.ring.reader import WalReader
from headrace.wal.ring.read_ahead import READS_AHEAD, STEP_BYTES

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
WINDOW_BYTES = 512 * MIB
SEGMENT_BYTES = 64 * MIB
STREAMS = 16


@dataclass(frozen=True)
class Kind:
    name: str
    payload_bytes: int  # of a record, its stream header included
    is_stale: bool = False  # the blocks in the ring are of an earlier generation
    is_full: bool = True


KINDS = (
    Kind("16 KiB", 16 * KIB),
    Kind("1 KiB", 1 * KIB),
    Kind("1 MiB", 1 * MIB),
    Kind("1 record, stale", 16 * KIB, is_stale=True),
    Kind("1 record, zeros", 16 * KIB, is_full=False),
)


def config_of(path: str, capacity_bytes: int, kind: Kind) -> WalConfig:
    config = WalConfig(path=path, capacity_bytes=capacity_bytes)
    if kind.is_stale or not kind.is_full:
        return replace(config, window_bytes_initial=WINDOW_BYTES, max_window_bytes=WINDOW_BYTES)
    return config


class Filling:
    """Fills a log completely, or with one record."""

    def __init__(self, config: WalConfig, kind: Kind) -> None:
        self.kind = kind
        self.progress = asyncio.Event()
        self.next_offsets = [0] * STREAMS
        self.wal = DeltaWal(
            config,
            node_id=1,
            node_epoch=1,
            cluster_id="bench",
            rng=random.SystemRandom(),
            wall_clock_ms=lambda: int(time.time() * 1000),
            on_confirmed=lambda _: self.progress.set(),
            on_failed=lambda error: sys.exit(str(error)),
        )

    async def run(self, *, max_records: int | None) -> None:
        wal = self.wal
        await wal.start()
        async for _ in wal.recover():
            pass
        await wal.reset()
        payload = random.Random(1).randbytes(self.kind.payload_bytes - 33)
        for number in count() if max_records is None else range(max_records):
            while not wal.room_for(self.kind.payload_bytes):
                if wal.confirmed_offset == wal.next_offset:
                    await wal.shutdown()
                    return
                await self.wait()
            stream = number % STREAMS
            wal.append(
                encode_header(stream, 1, self.next_offsets[stream], 1, len(payload)), payload
            )
            self.next_offsets[stream] += 1
            if number % 64 == 0:
                await asyncio.sleep(0)
        while wal.confirmed_offset < wal.next_offset:
            await self.wait()
        await wal.shutdown()

    async def wait(self) -> None:
        self.progress.clear()
        await self.progress.wait()


async def prepare(path: str, capacity_bytes: int, kind: Kind) -> int:
    """Write the ring; return the bytes that a recovery must read."""
    config = config_of(path, capacity_bytes, kind)
    if kind.is_full:
        await Filling(config, kind).run(max_records=None)
    if kind.is_stale or not kind.is_full:
        last = Filling(config, kind)
        await last.run(max_records=1)
        return WINDOW_BYTES
    reader = WalReader(config)
    await reader.open()
    used = reader.superblock.confirmed_offset - reader.superblock.head_offset
    await reader.close()
    return used


def zero(path: str, capacity_bytes: int) -> None:
    """Write the file or device once, so that no ring has the cost of first writes."""
    zeros = bytes(4 * MIB)
    with open(path, "r+b" if Path(path).exists() else "wb") as file:
        for _ in range(0, capacity_bytes, len(zeros)):
            file.write(zeros)
        file.flush()
        os.fsync(file.fileno())


# --- measurements, each in a separate process


async def read_once(config: WalConfig, size_bytes: int) -> dict[str, float]:
    device = open_device(config, False)
    end = min(device.size_bytes, RING_POSITION + align_up(size_bytes))
    positions = iter(range(RING_POSITION, end, STEP_BYTES))
    pool = BufferPool(idle_bytes_per_class=32 * MIB)

    async def work() -> None:
        memory = pool.take(STEP_BYTES)[:STEP_BYTES]
        for position in positions:
            await device.read(position, memory[: min(STEP_BYTES, end - position)])

    begin = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(READS_AHEAD)))
    seconds = time.perf_counter() - begin
    await device.close()
    return {"seconds": seconds}


async def recover(config: WalConfig, *, plan: bool) -> dict[str, float]:
    streams = [
        StreamMetadata(stream_id=stream, epoch=1, start_offset=0, end_offset=0)
        for stream in range(STREAMS)
    ]
    recovery = RecoveryPlan(streams, max_segment_bytes=SEGMENT_BYTES)
    records = 0
    begin, cpu = time.perf_counter(), time.process_time()
    reader = WalReader(config)
    await reader.open()
    if plan:
        async for record in reader.recover():
            records += 1
            recovery.add(decode_batch(record.body, 0)[0])
            if recovery.segment_is_full:
                recovery.cut()
    else:
        async for record in reader.recover():
            records += 1
    seconds = time.perf_counter() - begin
    await reader.close()
    return {"seconds": seconds, "cpu": time.process_time() - cpu, "records": records}


def peak_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * KIB


def measured(path: str, capacity_bytes: int, kind: int, what: str, size_bytes: int) -> dict:
    command = [sys.executable, "-m", "bench.wal_recovery", "--path", path]
    command += ["--capacity", str(capacity_bytes), "--measure", what]
    command += ["--kind", str(kind), "--bytes", str(size_bytes)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def measure(arguments: argparse.Namespace) -> None:
    tune()  # as in a broker
    config = config_of(arguments.path, arguments.capacity, KINDS[arguments.kind[0]])
    if arguments.measure == "read":
        found = asyncio.run(read_once(config, arguments.bytes))
    else:
        found = asyncio.run(recover(config, plan=arguments.measure == "plan"))
    print(json.dumps({**found, "peak": peak_bytes()}))


def memory(found: list[dict]) -> float:
    return max(one["peak"] for one in found) / MIB


def table(path: str, capacity_bytes: int, kinds: list[int], rounds: int) -> None:
    print(
        f"{'ring of':18}{'MiB':>6}{'records':>9}{'read s':>8}{'recover s':>11}{'ratio':>7}{'cpu s':>7}"
        f"{'plan s':>8}{'records/s':>11}{'MB/s':>7}{'memory MiB':>12}"
    )
    for number in kinds:
        kind = KINDS[number]
        zero(path, capacity_bytes)
        size = asyncio.run(prepare(path, capacity_bytes, kind))
        results: dict[str, list[dict]] = {"read": [], "recover": [], "plan": []}
        for _ in range(rounds):
            for what, found in results.items():
                found.append(measured(path, capacity_bytes, number, what, size))
        seconds = {
            what: statistics.median(one["seconds"] for one in found)
            for what, found in results.items()
        }
        records = results["recover"][0]["records"]
        took = seconds["recover"]
        print(
            f"{kind.name:18}{size / MIB:6.0f}{records:9.0f}{seconds['read']:8.2f}{took:11.2f}"
            f"{took / seconds['read']:7.2f}{statistics.median(r['cpu'] for r in results['recover']):7.2f}"
            f"{seconds['plan']:8.2f}{records / took:11,.0f}{size / took / 1e6:7.0f}"
            f"{memory(results['recover']):8.0f}/{memory(results['plan']):.0f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--path", help="file or block device (its content is lost); default: a new file"
    )
    parser.add_argument("--capacity", type=int, default=2 * GIB)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kind", type=int, nargs="*", default=list(range(len(KINDS))))
    parser.add_argument("--measure", choices=["read", "recover", "plan"], help=argparse.SUPPRESS)
    parser.add_argument("--bytes", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments)
        return
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".wal-bench-") as directory:
        path = arguments.path or f"{directory}/wal"
        table(path, arguments.capacity, arguments.kind, arguments.rounds)


if __name__ == "__main__":
    main()
