"""Tries every crash of every workload: `python -m tests.simulation.wal_crash_run --images 500000 --seed 1`.

A run consists of ten shares, each with runs of its own of every workload; `--share 3/10` is one of
them. It goes on until each workload has given its part of the distinct states. A finding is printed
with the words that repeat it alone: `--replay "a full ring:9001:20:s0"`.
"""

import argparse
import logging
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from tests.simulation.wal_catalogue import BY_NAME, WORKLOADS
from tests.simulation.wal_crash_judge import Judge, Verdicts, replay

SHARES = 10
TORN_PER_WRITE = 8
DAMAGED = 0.05
_FINDINGS_SHOWN = 20
_MAX_RUNS = 500  # of one workload in one share


@dataclass(frozen=True, slots=True)
class Unit:
    """One workload's part of one share."""

    workload: str
    share: int
    seed: int
    states: int

    def judge(self) -> Verdicts:
        """Run the workload with one seed after the other until there are enough states."""
        disabled = logging.root.manager.disable
        logging.disable(logging.CRITICAL)  # a workload that lets writes fail is told so, loudly
        total = Verdicts()
        try:
            for number in range(_MAX_RUNS):
                seed = (self.seed * SHARES + self.share) * _MAX_RUNS + number
                judge = Judge(BY_NAME[self.workload], seed)
                total.add(judge.run(torn=TORN_PER_WRITE, damaged=DAMAGED))
                if len(total.states) >= self.states or total.violations:
                    break
        finally:
            logging.disable(disabled)  # others in this process may wait for a message
        return total


def units(images: int, seed: int, shares: Iterable[int]) -> list[Unit]:
    """Return the work for so many distinct states, of all ten shares together."""
    states = -(-images // (SHARES * len(WORKLOADS)))
    return [Unit(workload.name, share, seed, states) for share in shares for workload in WORKLOADS]


def judge_all(work: Sequence[Unit], *, jobs: int = 1) -> Iterator[tuple[Unit, Verdicts]]:
    """Judge units, in this process or in several."""
    if jobs == 1:
        for unit in work:
            yield unit, unit.judge()
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from zip(work, pool.map(Unit.judge, work, chunksize=4), strict=True)


@dataclass(slots=True)
class Summary:
    """What a run has seen."""

    verdicts: Verdicts
    by_workload: dict[str, int]  # distinct states
    seconds: float

    def __str__(self) -> str:
        found = self.verdicts
        return (
            f"{len(found.states):,} distinct images after a crash ({found.images:,} judged, {found.blank:,} of a blank "
            f"disk) from {len(self.by_workload)} workloads in {self.seconds:.0f} s: "
            f"{found.images / max(self.seconds, 1e-9):,.0f} images/s, {len(found.violations)} violations; "
            f"{found.damaged:,} damaged as well, {found.refused:,} of them refused"
        )


def run(work: Sequence[Unit], *, jobs: int = 1, progress_s: float = 10.0) -> Summary:
    """Judge units; print progress now and then."""
    started = told = time.monotonic()
    summary = Summary(Verdicts(), dict.fromkeys((unit.workload for unit in work), 0), 0.0)
    for done, (unit, verdicts) in enumerate(judge_all(work, jobs=jobs), start=1):
        summary.by_workload[unit.workload] += len(verdicts.states)
        summary.verdicts.add(verdicts)
        now = time.monotonic()
        summary.seconds = now - started
        if now - told >= progress_s:
            told = now
            print(f"{done}/{len(work)}: {summary}", file=sys.stderr, flush=True)
    return summary


def report(summary: Summary) -> int:
    """Print what was seen; return the exit code."""
    for violation in summary.verdicts.violations[:_FINDINGS_SHOWN]:
        print(f'--replay "{violation.replay}"\n    {violation.what}')
    print(summary)
    return int(bool(summary.verdicts.violations))


def repeat(words: str) -> int:
    """Judge one outcome alone, and show it; return the exit code.

    Raises:
        LookupError: the words name none.
    """
    name, seed, index, outcome = _words(words)
    if not index:  # it failed while it ran
        return _tell(Judge(BY_NAME[name], int(seed)).verdicts)
    point, kept, verdicts = replay(BY_NAME[name], int(seed), int(index), outcome)
    print(f"behind event {index} ({point.event!r:.120}) of {len(point.inflight)} writes in flight")
    for write in point.inflight:
        fates = [sectors for other, sectors in kept if other is write]
        fate = "lost" if not fates else "kept" if fates[0] is None else f"sectors {fates[0]} kept"
        print(f"  {len(write.data)} bytes at {write.position}: {fate}")
    return _tell(verdicts)


def _words(words: str) -> tuple[str, str, str, str]:
    """Take apart what names an outcome, or a run: its point and outcome are empty then."""
    name, *rest = words.split(":")
    seed, index, outcome = (
        [*rest, "", ""] if len(rest) == 1 else rest if len(rest) == 3 else ("",) * 3
    )
    if not seed.isdecimal() or not (index or "0").isdecimal():
        msg = f"{words!r} is not WORKLOAD:SEED:POINT:OUTCOME, as a finding prints it"
        raise LookupError(msg)
    if name not in BY_NAME:
        raise LookupError(f"there is no workload {name!r}; there are {', '.join(sorted(BY_NAME))}")
    return name, seed, index, outcome


def _tell(verdicts: Verdicts) -> int:
    for violation in verdicts.violations:
        print(violation.what)
    print(f"{len(verdicts.violations)} violations")
    return int(bool(verdicts.violations))


def parse_shares(text: str) -> list[int]:
    """Turn `3/10` into the third share's number."""
    share, _, shares = text.partition("/")
    if shares != str(SHARES) or not 1 <= int(share) <= SHARES:
        msg = f"a share is 1/{SHARES} to {SHARES}/{SHARES}"
        raise argparse.ArgumentTypeError(msg)
    return [int(share) - 1]


def main(arguments: list[str]) -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="tests.simulation.wal_crash_run", description=__doc__)
    parser.add_argument("--images", type=int, default=500_000, help="distinct states of all shares")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=parse_shares, default=list(range(SHARES)), metavar="K/10")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--replay", metavar="WORKLOAD:SEED:POINT:OUTCOME")
    options = parser.parse_args(arguments)
    if options.replay is not None:
        try:
            return repeat(options.replay)
        except LookupError as error:
            parser.error(f"--replay: {error.args[0]}")
    work = units(options.images, options.seed, options.share)
    return report(run(work, jobs=options.jobs))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
