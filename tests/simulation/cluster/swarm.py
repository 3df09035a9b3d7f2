"""Runs many seeds of the simulated cluster: `python -m tests.simulation.cluster.swarm --seeds 1000`.

Each seed is a run of its own in a process of its own, the same each time; one in fifty is run twice and both must be
equal. A run goes on behind the last seed that the ledger names, and adds a line for each twenty:
first and last seed, records acknowledged, processor seconds, and the seeds that found something. Lines that begin with
"# code" say which version of the code those behind them are of (`code`).
`python -m tests.simulation.cluster.run SEED --trace` repeats one and shows what happened.
"""

import argparse
import ast
import hashlib
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.simulation.cluster.nature import Nature
from tests.simulation.cluster.natures import NATURES
from tests.simulation.cluster.run import SECONDS, Report, simulate

LEDGER = Path(__file__).with_name("ledger.txt")
TWICE = 50  # one seed in so many
PER_LINE = 20
_FINDINGS_SHOWN = 3
PACKAGES = ("broker", "config", "headrace", "metadata", "protocol", "storage", "wal")
_CODE = "# code "  # before the lines of each version of it
_HEADER = "# first last virtual_s acknowledged processor_s seeds_with_findings"


def run(
    seeds: Sequence[int],
    *,
    seconds: float = SECONDS,
    jobs: int = 1,
    nature: Nature | None = None,
) -> Iterator[Report]:
    """Run seeds, each in a process that ends with it; yield the reports in the order of the seeds."""
    planned = [it for seed in seeds for it in ([seed, seed] if seed % TWICE == 0 else [seed])]
    simulated = partial(simulate, seconds=seconds, nature=nature)
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
        before: Report | None = None
        for report in pool.imap(simulated, planned):
            if before is not None and before.seed == report.seed:
                if before.trace != report.trace:
                    before.findings.append(f"another trace the second time: {report.trace}")
                continue
            if before is not None:
                yield before
            before = report
        if before is not None:
            yield before


@dataclass(slots=True)
class Total:
    """What some seeds have seen together."""

    seeds: list[int] = field(default_factory=list)
    found: list[int] = field(default_factory=list)
    acknowledged: int = 0
    read: int = 0
    virtual_s: float = 0.0
    processor_s: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, report: Report) -> None:
        self.seeds.append(report.seed)
        if report.findings:
            self.found.append(report.seed)
        self.acknowledged += report.acknowledged
        self.read += report.read
        self.virtual_s += report.virtual_s
        self.processor_s += report.processor_s
        self.counts += report.counts

    def line(self) -> str:
        """Return the ledger's line."""
        found = ",".join(map(str, self.found)) or "none"
        numbers = f"{self.virtual_s:.0f} {self.acknowledged} {self.processor_s:.0f}"
        return f"{self.seeds[0]} {self.seeds[-1]} {numbers} {found}"

    def __str__(self) -> str:
        return (
            f"{len(self.seeds)} seeds, {self.virtual_s:,.0f} virtual s, {self.acknowledged:,} records acknowledged, "
            f"{self.read:,} read, {len(self.found)} seeds with findings {self.found[:20]}; "
            f"{self.processor_s:.0f} s of the processor"
        )


def next_seed(ledger: Path) -> int:
    """Return the seed behind the last one of a ledger."""
    if not ledger.exists():
        return 0
    lines = [it for it in ledger.read_text().splitlines() if it and not it.startswith("#")]
    return int(lines[-1].split()[1]) + 1 if lines else 0


def code() -> str:
    """Return a name of the code that is simulated: its version of all modules, and of the simulation."""
    return _version(path.read_bytes() for path in _modules(*PACKAGES, "tests/simulation"))


def simulation() -> str:
    """Return a name of the simulation itself: natures, faults, clients and judges, however they are laid out."""
    modules = [it for it in _modules("tests/simulation/cluster") if it.name != Path(__file__).name]
    trees = (ast.parse(path.read_text()) for path in modules)
    return _version(ast.dump(it).encode() for it in trees)


def _modules(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((LEDGER.parents[3] / folder).rglob("*.py"))


def _version(contents: Iterable[bytes]) -> str:
    found = hashlib.sha256()
    for content in contents:
        found.update(content)
    return found.hexdigest()[:12]


def run_all(
    seeds: range,
    *,
    seconds: float,
    jobs: int,
    ledger: Path | None,
    minutes: float,
    nature: Nature | None = None,
    until_found: bool = False,
) -> Total:
    """Run seeds, tell how it goes, and keep the ledger."""
    total, part = Total(), Total()
    until_s = time.monotonic() + 60 * minutes
    version = _CODE + code()

    def write_down() -> None:
        if ledger is not None and part.seeds:
            text = ledger.read_text() if ledger.exists() else f"{_HEADER}\n"
            if version not in [it for it in text.splitlines() if it.startswith(_CODE)][-1:]:
                text += f"{version}\n"
            ledger.write_text(f"{text}{part.line()}\n")

    for report in run(seeds, seconds=seconds, jobs=jobs, nature=nature):
        for finding in report.findings[:_FINDINGS_SHOWN]:
            print(f"seed {report.seed}: {finding}", flush=True)
        total.add(report)
        part.add(report)
        if len(part.seeds) == PER_LINE:
            write_down()
            part = Total()
            print(total, file=sys.stderr, flush=True)
        if time.monotonic() > until_s or (until_found and total.found):
            break
    write_down()
    return total


def main(arguments: list[str]) -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="tests.simulation.cluster.swarm", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000, help="how many")
    parser.add_argument("--start", type=int, help="the first one; without it the ledger's next one")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="virtual ones of each")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="at most")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--nature", choices=NATURES, help="with one kind of fault; needs --start")
    parser.add_argument("--until-found", action="store_true", help="end with the first finding")
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    options = parser.parse_args(arguments)
    if options.nature is not None and options.start is None:
        parser.error("the ledger is of drawn natures: --nature needs --start")
    ledger = options.ledger if options.start is None else None
    start = next_seed(options.ledger) if options.start is None else options.start
    seeds = range(start, start + options.seeds)
    total = run_all(
        seeds,
        seconds=options.seconds,
        jobs=options.jobs,
        ledger=ledger,
        minutes=options.minutes,
        nature=None if options.nature is None else NATURES[options.nature],
        until_found=options.until_found,
    )
    print(total, *sorted(total.counts.items()), sep="\n")
    return int(bool(total.found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
