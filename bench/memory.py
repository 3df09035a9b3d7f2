"""`python -m bench.memory`: the resident memory of one broker during floods, and after them.

One node with a bucket of files, whose caches are small. The floods are those of `tests/e2e/floods.py`: fetch sessions
with many partitions, groups with many offsets, large answers that many clients ask for at once. Then connections are
closed, groups and topics deleted, and a client goes on with small requests. The exit code is 1 when the memory does not
come back to within the mark in a minute.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench.process_usage import usage
from headrace.protocol.api_keys import ApiKey
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.floods import Client, Floods, Size
from tests.environment.paths import ROOT

MIB: Final = 1 << 20
MARK_BYTES: Final = 150 * MIB
MARK_S: Final = 60
LOOK_S: Final = 5
SETTINGS: Final = {"s3.wal.cache.size": str(16 * MIB), "s3.block.cache.size": str(16 * MIB)}


def main() -> int:
    """Print a line for each step; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("--partitions", type=int, default=Size.partitions, help="of each topic")
    parser.add_argument("--code", type=Path, default=ROOT, help="the checkout that runs")
    arguments = parser.parse_args()
    size = replace(Size(), partitions=arguments.partitions)
    with tempfile.TemporaryDirectory() as it:
        settings = SETTINGS | {"s3.wal.upload.threshold": str(16 * MIB)}
        with HeadraceProcess(Path(it) / "node", overrides=settings, code=arguments.code) as node:
            return measured(node, size)


def measured(node: HeadraceProcess, size: Size) -> int:
    """Flood the node, and wait until its memory is back."""
    process_id = node.process.process_id
    print(f"{'':60} {'MiB':>6} {'peak':>6} {'CPU s':>6}")

    def row(what: str) -> int:
        now = usage(process_id)
        figures = f"{now.rss_bytes / MIB:6.0f} {now.rss_peak_bytes / MIB:6.0f} {now.cpu_s:6.1f}"
        print(f"{what:60} {figures}", flush=True)
        return now.rss_bytes

    first = row("start")
    floods = Floods(node.port, size)
    for done in floods.steps():
        row(done)
    floods.withdraw()
    row("connections, groups and topics are gone")
    with Client(node.port) as client:
        for second in range(LOOK_S, MARK_S + 1, LOOK_S):
            until = time.monotonic() + LOOK_S
            while time.monotonic() < until:
                client.ask(ApiKey.METADATA, 4, b"\0\0\0\0\0")
                time.sleep(0.1)
            if (last := row(f"{second} s later")) - first <= MARK_BYTES:
                break
    print(f"{(last - first) / MIB:.0f} MiB more than at the start; the mark is {MARK_BYTES // MIB}")
    return int(last - first > MARK_BYTES)


if __name__ == "__main__":
    sys.exit(main())
