"""Each API at its bounds: how long all others waited, the longest turn of the event loop, and the peak memory.

`python -m bench.turns [--before TREE] [--kafka] [--only TEXT] [--partitions N]`: this tree, an older one beside it, and Apache Kafka. A
probe in a process of its own asks for ApiVersions every 10 ms meanwhile: its longest wait is what others see. The
turn is the broker's own figure, in processor time, and so does not depend on what else the machine does.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench.bounds import CASES, Case, exchange, prepare
from bench.bounds_apis import MORE_CASES
from bench.bounds_batches import BATCH_CASES
from bench.bounds_large import large_cases
from bench.bounds_shapes import shape_cases
from bench.process_usage import usage
from tests.e2e.broker_process import HeadraceProcess
from tests.environment.kafka import ApacheKafka

MB = 1_000_000
GROUPS = 1_000  # in the last cases
PROBE = """
import select, socket, struct, sys, time
request = struct.pack(">ihhih", 10, 18, 0, 1, -1)
probe = socket.create_connection((sys.argv[1], int(sys.argv[2])))
longest = 0.0
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0.01)[0]:
    began = time.monotonic()
    probe.sendall(request)
    (left,) = struct.unpack(">i", probe.recv(4, socket.MSG_WAITALL))
    probe.recv(left, socket.MSG_WAITALL)
    longest = max(longest, time.monotonic() - began)
print(longest)
"""
BUCKET = re.compile(r'^headrace_event_loop_turn_cpu_seconds_bucket{le="([^"]+)"} (\S+)$', re.MULTILINE)  # fmt: skip


@dataclass(frozen=True)
class Server:
    """A broker under test."""

    name: str
    bootstrap: str
    process_id: int
    headrace: HeadraceProcess | None = None

    def turns(self) -> dict[float, float]:
        """How many turns were at most so long, where the broker tells."""
        if self.headrace is None:
            return {}
        return {float(at): float(count) for at, count in BUCKET.findall(self.headrace.get("/metrics"))}  # fmt: skip


def measure(server: Server, case: Case) -> str:
    """Send one case; return what it cost."""
    turns, began = server.turns(), usage(server.process_id)
    Path(f"/proc/{server.process_id}/clear_refs").write_text("5")
    host, port = server.bootstrap.rsplit(":", 1)
    with subprocess.Popen(
        [sys.executable, "-c", PROBE, host, port],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as probe:
        assert probe.stdout is not None
        probe.stdout.readline()
        exchange(server.bootstrap, case)
        waited, _ = probe.communicate("stop\n")
    ended = usage(server.process_id)
    cpu_s = ended.cpu_s - began.cpu_s
    grown = max(0, ended.rss_peak_bytes - began.rss_bytes) / MB
    longest = f", turn {_longest(turns, server.turns())}" if turns else ""
    return f"waited {float(waited) * 1e3:.0f} ms{longest}, +{grown:.0f} MB, {cpu_s:.2f} s of CPU"


def _longest(before: dict[float, float], after: dict[float, float]) -> str:
    """The bucket of the longest turn."""
    counts = {bound: count - before.get(bound, 0.0) for bound, count in after.items()}
    total = counts[float("inf")]
    return (
        f"<= {10 + 1e3 * next(bound for bound, count in counts.items() if count == total):.0f} ms"
    )


def servers(arguments: argparse.Namespace, directory: Path) -> Iterator[Server]:
    """Start one server after the other; each ends when the next is asked for."""
    trees = {"this tree": None, **({"before": arguments.before} if arguments.before else {})}
    for name, tree in trees.items():
        # `-m` would put the working directory before everything else.
        environment = {"PYTHONSAFEPATH": "1", "PYTHONPATH": str(tree)} if tree else {}
        with HeadraceProcess(directory / name, environment=environment) as process:
            yield Server(name, process.bootstrap, process.process.process_id, process)
    if arguments.kafka:
        with ApacheKafka(directory / "kafka") as kafka:
            yield Server("Apache Kafka", kafka.bootstrap, kafka.process.process_id)


def main() -> int:
    """Print a table, row by row, one server at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="an older tree of this project")
    parser.add_argument("--kafka", action="store_true", help="Apache Kafka as well")
    parser.add_argument("--only", default="", help="cases whose name has this text")
    parser.add_argument(
        "--partitions", type=int, default=50_000, help="of one topic, in the last cases"
    )
    arguments = parser.parse_args()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for server in servers(arguments, directory):
            prepare(server.bootstrap)
            print(f"{server.name}, {os.cpu_count()} cores")
            large = large_cases(arguments.partitions, GROUPS) if server.headrace else ()
            for case in (*CASES, *MORE_CASES, *BATCH_CASES, *shape_cases(), *large):
                if arguments.only in case.name:
                    print(f"  {case.name:50} {measure(server, case)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
