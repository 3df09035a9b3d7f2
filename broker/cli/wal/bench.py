"""`headrace wal bench`: what a file or device makes of the log."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_rows, heading, talk
from headrace.broker.cli.progress import progress
from headrace.broker.cli.sizes import SizeType, size_text
from headrace.broker.cli.wal.log_argument import (
    EXIT_USAGE,
    explained,
    is_bucket,
    location_options,
    wal_path,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from headrace.wal.tools.benchmark.figures import Row
    from headrace.wal.tools.benchmark.session import Session

_TITLE = (
    f"{'record':>8} {'offered':>9} {'avg ms':>8} {'p99 ms':>8} {'max ms':>8} {'MB/s':>8} {'IOPS':>7} "
    f"{'KiB/IO':>7} {'depth':>6} {'CPU':>5} {'fio ms':>8} {'fio MB/s':>9} {'latency':>8} {'throughput':>10}"
)


@click.command("bench")
@location_options
@click.option(
    "--io",
    type=click.Choice(["auto", "aio", "threads"]),
    default="auto",
    help="How to write: kernel AIO, threads, or the faster one.",
)
@click.option(
    "--iops-max",
    "max_iops",
    type=click.IntRange(min=0),
    default=0,
    help="Limit of writes per second; 0 is no limit.",
)
@click.option(
    "--bandwidth-max",
    "max_bandwidth",
    type=SizeType(),
    default=0,
    metavar="SIZE",
    help="Limit of bytes per second; 0 is no limit.",
)
@click.option(
    "--offered",
    type=SizeType(),
    default="120MiB",
    show_default=True,
    metavar="SIZE",
    help="Bytes per second in the first half of the table; the second half is as fast as possible.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0.1, 3600),
    default=3.0,
    show_default=True,
    help="Length of a run.",
)
@click.option(
    "--runs", type=click.IntRange(1, 100), default=3, show_default=True, help="Runs for each row."
)
@click.option(
    "--capacity", type=SizeType(), metavar="SIZE", help="Capacity of the ring. Default: up to 1GiB."
)
@click.option("--fio/--no-fio", "with_fio", default=True, help="Compare with fio.  [default: yes]")
@click.option("--force", is_flag=True, help="Overwrite the file or device, whatever is on it.")
@output_option
def bench(
    *,
    path: str | None,
    file: Path | None,
    io: str,
    max_iops: int,
    max_bandwidth: int,
    offered: int,
    seconds: float,
    runs: int,
    capacity: int | None,
    with_fio: bool,
    force: bool,
    output: str,
) -> None:
    """Measure the log on a file or device, which is OVERWRITTEN.

    PATH is a blank file or device, or does not exist: then it is a file while the command runs. The
    command leaves the WAL of a cluster "benchmark", which the next run overwrites; `headrace wal
    format --force PATH` erases it for a node. For records of six sizes the table shows how long an
    append takes until it is durable, and the writes to the device, at a fixed rate and as fast as
    possible. If fio is installed, each run is followed by one of fio with the same size and number
    of writes; the last columns are our average latency and our throughput divided by fio's.
    """
    from headrace.config.node import WalConfig
    from headrace.config.uris import redacted
    from headrace.wal.tools.benchmark.fio import find_fio
    from headrace.wal.tools.benchmark.session import Plan, Session, article_loads, expendable

    path = wal_path(path, file)
    if is_bucket(path):
        raise CommandFailedError(
            f"{redacted(path)} is a WAL in a bucket: there is no device to measure",
            hint="PATH is a file or a device.",
            exit_code=EXIT_USAGE,
        )
    fio = find_fio() if with_fio else None
    if with_fio and fio is None:
        talk("fio is not installed (Debian: apt-get install fio): its columns stay empty")
    plan = Plan(article_loads(offered), seconds=seconds, runs=runs, fio=fio)
    place = expendable(path, capacity_bytes=capacity, force=force, reading=_reading)
    with explained(path), place as size_bytes:
        config = WalConfig(
            path=path,
            capacity_bytes=size_bytes,
            io=io,
            max_iops=max_iops,
            max_bandwidth_bytes=max_bandwidth,
        )
        _run(Session(config, plan), output=output)


def _reading(total: int) -> "AbstractContextManager[Callable[[int], None]]":
    return progress("reading", total=total)


def _run(session: "Session", *, output: str) -> None:
    import asyncio

    import uvloop

    from headrace.broker.telemetry.runtime_tuning import tune

    tune()  # as a node does

    async def main() -> list["Row"]:
        rows: list[Row] = []
        async for row in session.rows():
            if output == "table":
                if not rows:
                    heading(_TITLE)
                click.echo(_line(row))
                sys.stdout.flush()
            rows.append(row)
        return rows

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        rows = runner.run(main())
    if output != "table":
        emit_rows([_document(row, session.io) for row in rows], output=output)


def _line(row: "Row") -> str:
    ours, fio = row.ours, row.fio
    offered = size_text(row.load.bytes_per_second) if row.load.bytes_per_second else "flat out"
    line = (
        f"{size_text(row.load.record_bytes):>8} {offered:>9} {ours.average_ms:8.3f} {ours.p99_ms:8.3f} "
        f"{ours.max_ms:8.2f} {ours.bytes_per_second / 1e6:8.1f} {ours.iops:7.0f} {ours.request_bytes / 1024:7.1f} "
        f"{ours.depth:6.2f} {ours.cpu_share:5.0%}"
    )
    if fio is None:
        return f"{line} {'-':>8} {'-':>9} {'-':>8} {'-':>10}"
    return (
        f"{line} {fio.average_ms:8.3f} {fio.bytes_per_second / 1e6:9.1f} {row.latency_ratio:8.2f} "
        f"{row.throughput_ratio:10.2f}"
    )


def _document(row: "Row", io: str) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "io": io,
        **row.load._asdict(),
        "wal": asdict(row.ours),
        "fio": None if row.fio is None else asdict(row.fio),
        "latency_ratio": row.latency_ratio,
        "throughput_ratio": row.throughput_ratio,
    }
