"""`make bench`: Headrace and Apache Kafka on this machine, in alternating runs, as one table with ratios.

One librdkafka client in C is the load. All brokers run for the whole time; while one is measured the others are idle.
Each figure is the median of the runs. Headrace acknowledges records that are durable; Kafka's are in the page cache.

`--before CHECKOUT` puts Headrace of another version beside this one (`git worktree add --detach ../before COMMIT`). The
end says which rows take more processor time than they did; with `--keep` the figures go to `bench/processor_time.csv`.
"""

import argparse
import os
import shutil
import signal
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench import load_program, processor_time
from bench.node_sizes import (
    BLOCK_CACHE_BYTES,
    LOG_CACHE_BYTES,
    MIB,
    SETTINGS,
    UPLOAD_THRESHOLD_BYTES,
    WAL_BYTES,
    wal_path,
)
from bench.process_usage import usage
from tests.e2e.broker_process import HeadraceProcess
from tests.environment.kafka import ApacheKafka, run_tool
from tests.environment.paths import ROOT

RECORD_BYTES = 1024
RING_CAPACITIES = 3  # a throughput run fills the ring at least this many times
HOT_BYTES = 512 * MIB  # of the consume run: in LogCache, and in Kafka's page cache
HOT_PASSES = 8  # consumers of one run, one after the other: one is done in less than half a second
PACED_RATE = 5_000
SPACE_FACTOR = 1.1
FIGURES = (
    "MB/s", "requests/s", "p50 ms", "p99 ms", "p999 ms", "CPU ms/MB", "CPU us/record", "RSS MiB",
)  # fmt: skip


class Server(Protocol):
    """A server under test."""

    name: str
    bootstrap: str

    @property
    def process_id(self) -> int: ...


@dataclass
class Headrace:
    """A Headrace broker, with the sizes that the table shows."""

    process: HeadraceProcess
    name: str = "headrace"

    @property
    def bootstrap(self) -> str:
        return self.process.bootstrap

    @property
    def process_id(self) -> int:
        return self.process.process.process_id


@dataclass
class Kafka:
    """Apache Kafka, one KRaft node."""

    broker: ApacheKafka
    name: str = "kafka"

    @property
    def bootstrap(self) -> str:
        return self.broker.bootstrap

    @property
    def process_id(self) -> int:
        return self.broker.process.process_id


@dataclass(frozen=True)
class Workload:
    """One row of the table."""

    name: str
    partitions: int
    batch_bytes: int
    linger_ms: float
    measure: str  # produce | consume | paced
    bytes_total: int


def workloads(*, quick: bool) -> list[Workload]:
    """The rows; a quick run writes less than the ring, and its figures are not to be quoted."""
    volume = 128 * MIB if quick else RING_CAPACITIES * WAL_BYTES
    paced = (2 if quick else 15) * PACED_RATE * RECORD_BYTES
    hot = HOT_BYTES // 4 if quick else HOT_BYTES
    return [
        Workload("produce 16 KB", 1, 16_384, 5, "produce", volume),
        Workload("produce 1 MB", 1, 1_000_000, 5, "produce", volume),
        Workload("produce 1 MB x100", 100, 1_000_000, 20, "produce", volume),
        Workload("consume hot", 1, 1_000_000, 5, "consume", hot),
        Workload("5,000 records/s", 1, 16_384, 0, "paced", paced),
    ]


class Benchmark:
    """Runs the workloads and collects their figures."""

    def __init__(self, servers: list[Server], say: Callable[[str], None]) -> None:
        self.servers = servers
        self._say = say
        self._topics = 0
        self.figures: dict[tuple[str, str, str], list[float]] = defaultdict(list)

    def run(self, workload: Workload, run_number: int) -> None:
        """One run of a workload on every server; the first server alternates."""
        servers = self.servers if run_number % 2 == 0 else self.servers[::-1]
        for server in servers:
            os.sync()
            self._topics += 1
            topic = f"bench-{self._topics}"
            topics_tool(server, "--create", "--topic", topic, "--partitions", workload.partitions)
            found = self._measure(server, workload, topic)
            topics_tool(server, "--delete", "--topic", topic)
            for figure, value in found.items():
                self.figures[workload.name, server.name, figure].append(value)
            shown = ", ".join(f"{figure} {value:,.2f}" for figure, value in found.items())
            self._say(f"  {workload.name:18} run {run_number + 1} {server.name:9} {shown}")

    def _measure(self, server: Server, workload: Workload, topic: str) -> dict[str, float]:
        records = workload.bytes_total // RECORD_BYTES
        before = usage(server.process_id)
        paced = workload.measure == "paced"
        result = load_program.produce(
            server.bootstrap,
            topic,
            records=records,
            record_bytes=RECORD_BYTES,
            batch_bytes=workload.batch_bytes,
            linger_ms=workload.linger_ms,
            rate=PACED_RATE if paced else 0,
        )
        if workload.measure == "consume":
            before = usage(server.process_id)
            result = self._consume(server, topic, records, workload.partitions)
            records *= HOT_PASSES
        after = usage(server.process_id)
        megabytes = result["bytes"] / 1e6
        processor_s = after.cpu_s - before.cpu_s
        found = {
            "MB/s": megabytes / result["seconds"],
            "CPU ms/MB": processor_s * 1000 / megabytes,
            "CPU us/record": processor_s * 1e6 / records,
            "RSS MiB": after.rss_bytes / MIB,
        }
        if workload.measure == "produce":
            found["requests/s"] = result["requests"] / result["seconds"]
        if paced:
            found |= {f"{q} ms": result[f"{q}_ms"] for q in ("p50", "p99", "p999")}
        return found

    @staticmethod
    def _consume(server: Server, topic: str, records: int, partitions: int) -> dict[str, float]:
        """Read a topic HOT_PASSES times; return bytes and seconds together."""
        passes = [
            load_program.consume(server.bootstrap, topic, records=records, partitions=partitions)
            for _ in range(HOT_PASSES)
        ]
        return {it: sum(each[it] for each in passes) for it in ("bytes", "seconds")}


def topics_tool(server: Server, *arguments: object) -> None:
    """Create or delete a topic with Kafka's own tool."""
    run_tool(
        "org.apache.kafka.tools.TopicCommand",
        "--bootstrap-server",
        server.bootstrap,
        *map(str, arguments),
    )


def print_table(
    figures: dict[tuple[str, str, str], list[float]], rows: list[Workload], names: list[str]
) -> None:
    """Medians, their spread, and the ratio of Headrace to each of the others."""
    ratios = [f"/ {name}" for name in names[1:]]
    print(
        f"\n{'workload':20}{'figure':14}"
        + "".join(f"{name:>26}" for name in names)
        + "".join(f"{it:>11}" for it in ratios)
    )
    for row in rows:
        for figure in FIGURES:
            found = [figures.get((row.name, name, figure)) for name in names]
            if not all(found):
                continue
            cells, medians = [], []
            for values in filter(None, found):
                medians.append(statistics.median(values))
                spread = f"({min(values):,.1f}-{max(values):,.1f})"
                cells.append(f"{medians[-1]:>11,.2f} {spread:>14}")
            compared = [f"{medians[0] / it:11.2f}" if it else "" for it in medians[1:]]
            print(f"{row.name:20}{figure:14}" + "".join(cells + compared))


def main() -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="alternating runs of each row")
    parser.add_argument("--quick", action="store_true", help="small volumes; not for quoting")
    parser.add_argument("--only", default="", help="run only rows whose name contains this")
    parser.add_argument("--alone", action="store_true", help="without Apache Kafka")
    parser.add_argument(
        "--before", type=Path, metavar="CHECKOUT", help="another version, measured beside this one"
    )
    parser.add_argument(
        "--keep", action="store_true", help=f"add the figures to {processor_time.KEPT.name}"
    )
    parser.add_argument("--directory", type=Path, help="data directory of the brokers")
    options = parser.parse_args()
    commits = None
    if options.keep:
        if options.before is None or options.quick:
            parser.error(
                "--keep needs --before CHECKOUT, which it is compared with, and no --quick"
            )
        try:
            commits = processor_time.commit_of(ROOT), processor_time.commit_of(options.before)
        except ValueError as error:
            parser.error(str(error))
    load_program.build()
    rows = [row for row in workloads(quick=options.quick) if options.only in row.name]
    kinds = 1 + (options.before is not None) + (not options.alone)
    require_space(options.directory, sum(row.bytes_total for row in rows) * options.runs * kinds)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the brokers are stopped
    with tempfile.TemporaryDirectory(dir=options.directory, prefix="headrace-bench-") as scratch:
        return run_all(Path(scratch), rows, options, commits)


def require_space(directory: Path | None, written_bytes: int) -> None:
    """End the program when the disk cannot take all that is written: a full one makes brokers wait, for ever.

    What topics had goes some minutes after they are deleted, so most of it is there at once.
    """
    chosen = directory or Path(tempfile.gettempdir())
    free_bytes = shutil.disk_usage(chosen).free
    if free_bytes < written_bytes * SPACE_FACTOR:
        sys.exit(
            f"bench: {chosen} has {free_bytes // MIB:,} MiB free, and up to "
            f"{int(written_bytes * SPACE_FACTOR) // MIB:,} are needed: fewer --runs, or another --directory"
        )


def headrace(directory: Path, code: Path) -> HeadraceProcess:
    """A Headrace process of one version, with the sizes that the table names."""
    return HeadraceProcess(
        directory,
        overrides={**SETTINGS, "s3.wal.path": wal_path(directory / "data/wal")},
        code=code,
    )


def run_all(
    scratch: Path,
    rows: list[Workload],
    options: argparse.Namespace,
    kept_as: tuple[str, str] | None,
) -> int:
    """Start the brokers, run every row, print the table, keep the figures; return the exit code."""
    print(
        f"WAL {WAL_BYTES // MIB} MiB, upload threshold {UPLOAD_THRESHOLD_BYTES // MIB} MiB, LogCache "
        f"{LOG_CACHE_BYTES // MIB} MiB, BlockCache {BLOCK_CACHE_BYTES // MIB} MiB; records of "
        f"{RECORD_BYTES} bytes, acks=all; {os.cpu_count()} cores shared by broker and client",
    )
    with ExitStack() as brokers:
        ours = brokers.enter_context(headrace(scratch / "headrace", ROOT))
        servers: list[Server] = [Headrace(ours)]
        if options.before is not None:
            before = brokers.enter_context(headrace(scratch / "before", options.before.resolve()))
            servers.append(Headrace(before, "before"))
        if not options.alone:
            servers.append(Kafka(brokers.enter_context(ApacheKafka(scratch / "kafka"))))
        benchmark = measure(servers, rows, options.runs, ours)
    print_table(benchmark.figures, rows, [server.name for server in benchmark.servers])
    if options.before is None:
        return 0
    compared = processor_time.compare(benchmark.figures, [row.name for row in rows])
    if kept_as is not None:
        processor_time.keep(compared, kept_as)
    worse = [it for it in compared if it.is_worse]
    for it in worse:
        print(f"worse: {it}")
    return int(bool(worse))


def measure(
    servers: list[Server], rows: list[Workload], runs: int, ours: HeadraceProcess
) -> Benchmark:
    """Every row, `runs` times on each server."""
    benchmark = Benchmark(servers, lambda line: print(line, flush=True))
    for row in rows:
        for number in range(runs):
            benchmark.run(row, number)
            left = ours.metrics().get("headrace_log_cache_unuploaded_bytes", 0.0)
            if left > UPLOAD_THRESHOLD_BYTES:
                print(
                    f"  not uploaded at the end: {left / MIB:,.0f} MiB, more than the upload threshold",
                    file=sys.stderr,
                )
    return benchmark


if __name__ == "__main__":
    sys.exit(main())
