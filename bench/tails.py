"""What single records wait for beside other work: the tail of 5,000 acknowledged records a second.

    python -m bench.tails [--only "busy core"] [--seconds 15] [--runs 3] [--modes aio,threads] [--device /dev/DEVICE] [--alone]

| beside | what else runs |
|---|---|
| nothing | |
| uploads | a producer of 100 MB/s, whose records go to the WAL and the bucket on the same disk |
| cold reader | a consumer of a topic of 1 GiB that was in no memory when it began, again and again |
| compaction | a round over what 100 partitions have got just before |
| full disk queue | another process that writes files of 1 GiB, with and without the page cache, and removes them |
| busy core | another process that never sleeps |

A node with its WAL in a file for each of `--modes`, one with its WAL on a block device if one is given (everything on
it is overwritten), and Apache Kafka take turns. Latency runs from the moment at which a record is due until its
acknowledgement. Of Headrace, its own metrics tell where the time went: `loop` is how long what has come waits for the
event loop, looked at 100 times a second and good for a millisecond (a long turn counts once, however much came in it),
`request` is a Produce request from its last byte to its answer, `append` is from the append to durable, `write` is the
device's; beside uploads they count that producer's, too. `fio` is a write of 8 KiB with O_DSYNC beside the same work.
Figures are medians of the runs, in ms.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench import load_program
from bench.cold_topic import MIB, RECORD_BYTES, create_topic, produce_topic
from bench.node_sizes import SETTINGS, wal_path
from bench.storage_isolation import ColdConsumer
from tests.e2e.broker_process import HeadraceProcess
from tests.environment.kafka import ApacheKafka

RATE: Final = 5_000
BATCH_BYTES: Final = 16_384
BESIDE_MB_PER_S: Final = 100
COLD_BYTES: Final = 1024 * MIB
MERGED_BYTES: Final = 1024 * MIB
MERGED_PARTITIONS: Final = 100
WARM_UP_S: Final = 1.0
FIO_S: Final = 5
SETTLE_S: Final = 180.0
QUANTILES: Final = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
STEPS: Final = {
    "loop": ("headrace_event_loop_turn_seconds", ""),
    "request": ("headrace_request_duration_seconds", 'api="produce"'),
    "append": ("headrace_wal_append_duration_seconds", ""),
    "write": ("headrace_wal_write_duration_seconds", ""),
}
_SPIN: Final = "while True: pass"
_FILL_DISK: Final = """
import mmap, os, sys
block = mmap.mmap(-1, 1 << 20)
block.write(os.urandom(1 << 20))
while True:
    names = [f"{sys.argv[1]}/large-{number}" for number in range(4)]
    for number, name in enumerate(names):
        flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC | (os.O_DIRECT if number % 2 else 0)
        file = os.open(name, flags)
        for _ in range(1024):
            os.write(file, block)
        os.close(file)
    for name in names:
        os.unlink(name)
"""


@dataclass
class Server:
    """One of those that take turns."""

    name: str
    bootstrap: str
    directory: Path  # on the disk of its records
    broker: HeadraceProcess | None = None
    cold_records: int = 0


def buckets(text: str, name: str, label: str) -> dict[float, float]:
    """Read a histogram of a page of metrics: how many took at most so many seconds, of all series that match."""
    found: dict[float, float] = defaultdict(float)
    for line in text.splitlines():
        if line.startswith(f"{name}_bucket{{") and label in line:
            series, value = line.rsplit(" ", 1)
            bound = re.search(r'le="([^"]+)"', series)
            assert bound is not None, line
            found[float(bound[1])] += float(value)
    return found


def quantile_ms(before: Mapping[float, float], after: Mapping[float, float], share: float) -> float:
    """Of what came between two looks at a histogram: linear within a bucket, the bound of the first one within it."""
    bounds = sorted(after)
    counts = [after[it] - before.get(it, 0.0) for it in bounds]
    due = share * counts[-1]
    low_s, below = bounds[0], 0.0  # what the first bucket holds is not known any better
    for bound_s, count in zip(bounds, counts, strict=True):
        if count >= due and count > below:
            within = (due - below) / (count - below)
            high_s = low_s if bound_s == float("inf") else bound_s
            return 1000 * (low_s + within * (high_s - low_s))
        low_s, below = bound_s, count
    return 0.0


@contextmanager
def nothing(_: Server) -> Iterator[None]:
    """Alone."""
    yield


@contextmanager
def uploads(server: Server) -> Iterator[None]:
    """A producer of much more."""
    topic = f"beside-{time.monotonic_ns()}"
    create_topic(server.bootstrap, topic)
    with load_program.producing(
        server.bootstrap, topic, mb_per_s=BESIDE_MB_PER_S, record_bytes=RECORD_BYTES,
        batch_bytes=1_000_000, linger_ms=5, chunk_s=5,
    ):  # fmt: skip
        time.sleep(WARM_UP_S)
        yield


@contextmanager
def cold_reader(server: Server) -> Iterator[None]:
    """A consumer that reads all there is of a topic."""
    consumer = ColdConsumer(server.bootstrap, "cold", server.cold_records, 0)
    consumer.start()
    yield
    consumer.stop()


@contextmanager
def compaction(server: Server) -> Iterator[None]:
    """Merges objects; Apache Kafka has none."""
    broker = server.broker
    if broker is None:
        yield
        return
    topic = f"merged-{time.monotonic_ns()}"
    produce_topic(
        server.bootstrap, topic, MERGED_BYTES, batch_bytes=BATCH_BYTES, partitions=MERGED_PARTITIONS
    )
    before = broker.metrics()["headrace_compaction_bytes_in_total"]
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(broker.admin_url("/compact"), b"", headers, method="POST")
    urllib.request.urlopen(request, timeout=30).close()
    yield
    found = broker.metrics()
    done = (
        found["headrace_compaction_bytes_in_total"] + found["headrace_compaction_group_done_bytes"]
    )
    assert done > before, "nothing was merged beside"


@contextmanager
def full_disk_queue(server: Server) -> Iterator[None]:
    """Large files on the disk."""
    with (
        tempfile.TemporaryDirectory(dir=server.directory) as directory,
        other(_FILL_DISK, directory),
    ):
        time.sleep(WARM_UP_S)
        yield


@contextmanager
def busy_core(_: Server) -> Iterator[None]:
    """A process that takes what it can of a core."""
    with other(_SPIN):
        yield


BESIDE: Final[Mapping[str, Callable[[Server], AbstractContextManager[None]]]] = {
    "nothing": nothing,
    "uploads": uploads,
    "cold reader": cold_reader,
    "compaction": compaction,
    "full disk queue": full_disk_queue,
    "busy core": busy_core,
}


@contextmanager
def other(program: str, *arguments: str) -> Iterator[None]:
    """Run a Python program in another process meanwhile."""
    process = subprocess.Popen([sys.executable, "-c", program, *arguments])
    try:
        yield
        assert process.poll() is None, "what runs beside has ended"
    finally:
        process.kill()
        process.wait()


def measure(server: Server, beside: str, seconds: float) -> dict[str, float]:
    """One run: what the producer saw, and what the broker says of it."""
    broker = server.broker
    pages = []
    with BESIDE[beside](server):
        pages.append("" if broker is None else broker.get("/metrics"))
        told = load_program.produce(
            server.bootstrap, "steady", records=round(RATE * seconds), record_bytes=RECORD_BYTES,
            batch_bytes=BATCH_BYTES, linger_ms=0, rate=RATE,
        )  # fmt: skip
        pages.append("" if broker is None else broker.get("/metrics"))
    found = {f"client {name}": told[f"{name}_ms"] for name in QUANTILES}
    if broker is not None:
        for step, (name, label) in STEPS.items():
            before, after = (buckets(page, name, label) for page in pages)
            for quantile, share in QUANTILES.items():
                found[f"{step} {quantile}"] = quantile_ms(before, after, share)
    return found


def settle(servers: Sequence[Server]) -> None:
    """Wait until no node merges any more: what it was asked for beside one run goes on behind it."""
    end_s = time.monotonic() + SETTLE_S
    for broker in filter(None, (it.broker for it in servers)):
        while broker.metrics()["headrace_compaction_running"]:
            assert time.monotonic() < end_s, "compaction does not end"
            time.sleep(0.5)


def fio(server: Server, beside: str) -> dict[str, float]:
    """Writes of 8 KiB with O_DSYNC, one after the other, into a file that is written in full already."""
    with tempfile.TemporaryDirectory(dir=server.directory) as directory, BESIDE[beside](server):
        command = [
            "fio", "--name=wal", f"--filename={directory}/file", "--size=64m", "--rw=write", "--bs=8k",
            "--direct=1", "--sync=dsync", "--overwrite=1", "--time_based", f"--runtime={FIO_S}",
            "--rate_iops=2000", "--output-format=json",
        ]  # fmt: skip
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
    (job,) = json.loads(ran.stdout)["jobs"]
    percentiles = job["write"]["clat_ns"]["percentile"]
    keys = {"p50": "50.000000", "p99": "99.000000", "p999": "99.900000"}
    return {f"fio {name}": percentiles[key] / 1e6 for name, key in keys.items()}


def start(stack: ExitStack, scratch: Path, options: argparse.Namespace) -> list[Server]:
    """Start all that take turns, with a topic that is cold."""
    wals = {mode: f"{scratch / mode / 'data/wal'}" for mode in options.modes.split(",")}
    if options.device is not None:
        wals["device"] = str(options.device)
        erase = ["wal", "format", "--force", str(options.device)]
        subprocess.run([sys.executable, "-m", "headrace.broker", *erase], check=True)
    servers = []
    for name, wal in wals.items():
        mode = "auto" if name == "device" else name
        overrides = {
            **SETTINGS,
            "s3.wal.path": wal_path(wal),
            "headrace.wal.io.mode": mode,
        }
        broker = stack.enter_context(HeadraceProcess(scratch / name, overrides=overrides))
        servers.append(Server(name, broker.bootstrap, scratch / name, broker))
    if not options.alone:
        kafka = stack.enter_context(ApacheKafka(scratch / "kafka"))
        servers.append(Server("kafka", kafka.bootstrap, scratch / "kafka"))
    for server in servers:
        create_topic(server.bootstrap, "steady")
        server.cold_records = produce_topic(
            server.bootstrap, "cold", COLD_BYTES, batch_bytes=BATCH_BYTES
        )
        if server.broker is not None:
            server.broker.restart()
        measure(server, "nothing", WARM_UP_S)
    return servers


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.tails",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="*", choices=BESIDE, default=BESIDE, help="these alone")
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--modes", default="auto", help="of headrace.wal.io.mode: auto,aio,threads")
    parser.add_argument("--device", type=Path, help="a block device: all on it is overwritten")
    parser.add_argument("--alone", action="store_true", help="without Apache Kafka")
    parser.add_argument(
        "--directory", type=Path, help="on a disk with 20 GiB of room for each node"
    )
    options = parser.parse_args()
    load_program.build()
    figures: dict[tuple[str, str], dict[str, list[float]]] = {}
    with (
        tempfile.TemporaryDirectory(dir=options.directory, prefix="headrace-bench-") as scratch,
        ExitStack() as stack,
    ):
        servers = start(stack, Path(scratch), options)
        for beside in options.only:
            for number in range(options.runs):
                for server in servers if number % 2 else servers[::-1]:
                    settle(servers)
                    found = measure(server, beside, options.seconds)
                    if server is servers[0]:
                        settle(servers)
                        found |= fio(server, beside)
                    kept = figures.setdefault((beside, server.name), defaultdict(list))
                    for name, value in found.items():
                        kept[name].append(value)
                    shown = ", ".join(f"{name} {value:.2f}" for name, value in found.items())
                    print(f"  {beside} run {number + 1} {server.name}: {shown}", flush=True)
    told = ("client", *STEPS, "fio")
    print("\n| beside | node | " + " | ".join(f"{it} p50, p99, p999" for it in told) + " |")
    print("|---" * (len(told) + 2) + "|")
    for (beside, name), found_in in figures.items():
        cells = [
            ", ".join(
                f"{statistics.median(values):.2f}"
                for quantile in QUANTILES
                if (values := found_in.get(f"{it} {quantile}"))
            )
            for it in told
        ]
        print(f"| {beside} | {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
