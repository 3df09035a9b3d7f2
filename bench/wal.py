"""`make bench-wal`: the WAL on a raw device and on a file, beside fio, beside a buffered file with fsync.

Prints Markdown. Every figure is the median of the runs, which alternate with fio's: ours, fio, ours, fio. Below each
table are the project's own marks. A loop device needs root; without it its rows are left out, with a message.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import uvloop

from bench.buffered_writer import BufferedWriter
from headrace.broker.telemetry.runtime_tuning import tune
from headrace.config.node import WalConfig
from tests.environment.fio import fio_program
from tests.environment.loop_device import LoopDevice
from tests.environment.paths import MissingComponentError
from headrace.wal.tools.benchmark.figures import Load, Row, medians
from headrace.wal.tools.benchmark.session import (
    OFFERED_BYTES_PER_SECOND,
    Plan,
    Session,
    article_loads,
)

MIB = 1024 * 1024
THROUGHPUT_MARK = 0.95  # of fio's, at full speed, from 64 KiB
LATENCY_MARK = 2.5  # times fio's, 4 KiB at the offered rate
IOPS_BUDGET, BANDWIDTH_BUDGET = 3000, 125 * MIB
BANDWIDTH_MARK = 0.95
ONE_AT_A_TIME = Load(4096, 0, max_open=1)
BUDGET_LOADS = tuple(
    Load(size, rate)
    for size, rate in (
        (1024, 100 * MIB),
        (4096, 100 * MIB),
        (65536, 100 * MIB),
        (1024, 0),
        (4096, 0),
        (65536, 0),
        (MIB, 0),
    )
)
WAYS_OF_IO = (ONE_AT_A_TIME, Load(4096, OFFERED_BYTES_PER_SECOND), Load(65536, 0), Load(MIB, 0))

COLUMNS = (
    "record",
    "on",
    "avg ms",
    "p99 ms",
    "max ms",
    "MB/s",
    "IOPS",
    "KiB/IO",
    "depth",
    "CPU",
    "fio ms",
    "fio MB/s",
    "latency / fio",
    "MB/s / fio",
)


def size_text(size: int) -> str:
    return f"{size // MIB} MiB" if size % MIB == 0 else f"{size // 1024} KiB"


def line(row: Row, where: str) -> str:
    ours, fio = row.ours, row.fio
    cells = [
        size_text(row.load.record_bytes),
        where,
        f"{ours.average_ms:.3f}",
        f"{ours.p99_ms:.2f}",
        f"{ours.max_ms:.1f}",
        f"{ours.bytes_per_second / 1e6:,.0f}",
        f"{ours.iops:,.0f}",
        f"{ours.request_bytes / 1024:.0f}",
        f"{ours.depth:.2f}",
        f"{ours.cpu_share:.0%}",
    ]
    if fio is None:
        cells += [""] * 4
    else:
        cells += [
            f"{fio.average_ms:.3f}",
            f"{fio.bytes_per_second / 1e6:,.0f}",
            f"{row.latency_ratio:.2f}",
            f"{row.throughput_ratio:.2f}",
        ]
    return "| " + " | ".join(cells) + " |"


def heading(title: str, columns: tuple[str, ...]) -> None:
    print(f"\n{title}\n\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns), flush=True)


def verdict(what: str, *, holds: bool) -> None:
    print(f"- {'holds' if holds else 'MISSED'}: {what}", flush=True)


class Devices:
    """The devices, and how long each run takes."""

    def __init__(self, stack: ExitStack, scratch: Path, options: argparse.Namespace) -> None:
        self.options = options
        self.capacity_bytes: int = options.capacity_mib * MIB
        self.plan = Plan((), seconds=options.seconds, runs=options.runs, fio=fio_program())
        self.file = str(scratch / "file")
        self.device: str | None = None
        image = LoopDevice(scratch / "image", self.capacity_bytes)
        try:
            self.device = stack.enter_context(image).path
        except MissingComponentError as error:
            print(f"{error}: leaving out the rows of a raw device", file=sys.stderr)
        self.sessions = {"file, O_DIRECT": self.session(self.file)}
        if self.device is not None:
            self.sessions = {"raw device": self.session(self.device)} | self.sessions
        buffered = scratch / "buffered"
        with buffered.open("wb") as file:
            for _ in range(options.capacity_mib):
                file.write(bytes(MIB))
        self.buffered = BufferedWriter(str(buffered), self.capacity_bytes)
        stack.callback(self.buffered.close)

    def session(self, path: str, **settings: object) -> Session:
        config = WalConfig(path=path, capacity_bytes=self.capacity_bytes, **settings)  # type: ignore[arg-type]
        return Session(config, self.plan)


async def article_table(devices: Devices) -> None:
    """The rows of the article, side by side."""
    marks: list[tuple[str, bool]] = []
    rate = None
    for load in article_loads(OFFERED_BYTES_PER_SECOND):
        if load.bytes_per_second != rate:
            rate = load.bytes_per_second
            heading(f"Offered {size_text(rate)}/s" if rate else "Flat out", COLUMNS)
        for where, session in devices.sessions.items():
            row = await session.row(load)
            print(line(row, where), flush=True)
            marks += marks_of(row, where)
        runs = [
            devices.buffered.measure(load, devices.plan.seconds) for _ in range(devices.plan.runs)
        ]
        print(line(Row(load, medians(runs), None), "buffered file, fsync"), flush=True)
    print()
    for what, holds in marks:
        verdict(what, holds=holds)


def marks_of(row: Row, where: str) -> Iterator[tuple[str, bool]]:
    name = f"{size_text(row.load.record_bytes)} records, {where}"
    if row.load.bytes_per_second and row.load.record_bytes == 4096:
        ratio = row.latency_ratio
        assert ratio is not None
        yield f"latency {ratio:.2f} times fio's, mark {LATENCY_MARK}: {name}", ratio <= LATENCY_MARK
    if not row.load.bytes_per_second and row.load.record_bytes >= 65536:
        share = row.throughput_ratio
        assert share is not None
        yield (
            f"throughput {share:.2f} of fio's, mark {THROUGHPUT_MARK}: {name}",
            share >= THROUGHPUT_MARK,
        )


async def ways_of_io(devices: Devices) -> None:
    """Kernel AIO and threads on the file; the first row is one record at a time."""
    heading("Kernel AIO and IO threads, on the file (the first two rows: one at a time)", COLUMNS)
    sessions = {io: devices.session(devices.file, io=io) for io in ("aio", "threads")}
    for load in WAYS_OF_IO:
        for io, session in sessions.items():
            print(line(await session.row(load), io), flush=True)


async def budget_table(devices: Devices) -> None:
    """The article's claim: staying within the free limits of a cloud disk, by the device's own counters."""
    if devices.device is None:
        return
    heading(
        f"Budgets of {IOPS_BUDGET:,} IOPS and {BANDWIDTH_BUDGET // MIB} MiB/s, by the raw device's own counters",
        (
            "record",
            "offered",
            "writes in the busiest second",
            "MiB/s",
            "of the budget",
            "avg ms",
            "p99 ms",
        ),
    )
    marks = []
    session = Session(
        WalConfig(
            path=devices.device,
            capacity_bytes=devices.capacity_bytes,
            max_iops=IOPS_BUDGET,
            max_bandwidth_bytes=BANDWIDTH_BUDGET,
        ),
        Plan((), seconds=devices.options.budget_seconds, runs=1, fio=None),
    )
    for load in BUDGET_LOADS:
        figures, counted = await session.run(load, counted=True)
        assert counted is not None
        name = size_text(load.record_bytes)
        offered = f"{size_text(load.bytes_per_second)}/s" if load.bytes_per_second else "flat out"
        share = counted.bytes_per_second / BANDWIDTH_BUDGET
        print(
            f"| {name} | {offered} | {counted.max_writes_per_second:,} | {counted.bytes_per_second / MIB:.1f} | {share:.3f} | "
            f"{figures.average_ms:.2f} | {figures.p99_ms:.2f} |",
            flush=True,
        )
        writes = counted.max_writes_per_second
        marks.append(
            (f"{writes:,} of {IOPS_BUDGET:,} writes: {name}, {offered}", writes <= IOPS_BUDGET)
        )
        if not load.bytes_per_second:
            marks.append(
                (
                    f"{share:.3f} of the bandwidth, mark {BANDWIDTH_MARK}: {name}, {offered}",
                    share >= BANDWIDTH_MARK,
                )
            )
    print()
    for what, holds in marks:
        verdict(what, holds=holds)


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.wal", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="length of each run")
    parser.add_argument(
        "--runs", type=int, default=3, help="runs of each row, alternating with fio"
    )
    parser.add_argument("--capacity-mib", type=int, default=1024, help="size of each device")
    parser.add_argument(
        "--budget-seconds", type=float, default=10.0, help="length of each budget row"
    )
    parser.add_argument("--only", choices=("article", "io", "budgets"), help="one of the tables")
    parser.add_argument("--directory", type=Path, help="directory of the files")
    options = parser.parse_args()
    tune()  # as a node does
    parts = {"article": article_table, "budgets": budget_table, "io": ways_of_io}
    directory = tempfile.TemporaryDirectory(
        dir=options.directory or Path.cwd(), prefix=".bench-wal-"
    )
    with directory as scratch, ExitStack() as stack:
        devices = Devices(stack, Path(scratch), options)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            for name, part in parts.items():
                if options.only in (None, name):
                    runner.run(part(devices))


if __name__ == "__main__":
    main()
