"""Runs the quorum's simulation: `python -m tests.simulation.raft_run --seeds 6000 --start 0`.

Each seed is a run of its own, the same each time; one in fifty is run twice and both must be equal.
A finding is printed with the end of its story and the words that repeat it:
`--replay 4711 --trace` prints the whole story.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.simulation.raft_simulation import EVENTS, Finding, Report, Run, simulate

TWICE = 50  # one seed in so many
_FINDINGS_SHOWN = 10
_MAX_FINDINGS = 200  # then it is no use to go on
_CHUNK = 20


def share(seeds: Sequence[int], events: int = EVENTS) -> Report:
    """Run some seeds."""
    total = Report()
    for seed in seeds:
        report = simulate(seed, events)
        if seed % TWICE == 0 and simulate(seed, events) != report:
            finding = Finding(seed, "R-16", "the same seed ran differently the second time", [])
            report.findings.append(finding)
        total.add(report)
    return total


def run(seeds: range, *, events: int = EVENTS, jobs: int = 1) -> Iterator[Report]:
    """Run seeds, in this process or in several; yield a report of each chunk."""
    chunks = [seeds[at : at + _CHUNK] for at in range(0, len(seeds), _CHUNK)]
    if jobs == 1:
        yield from map(partial(share, events=events), chunks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        try:
            yield from pool.map(partial(share, events=events), chunks)
        finally:
            pool.shutdown(cancel_futures=True)


def describe(finding: Finding, events: int = EVENTS) -> str:
    """Return a finding as it is printed."""
    words = f"--replay {finding.seed}" + ("" if events == EVENTS else f" --events {events}")
    head = f"seed {finding.seed}: {finding.invariant}: {finding.what}"
    return "\n".join((*finding.story, head, f"python -m tests.simulation.raft_run {words} --trace"))


def run_all(seeds: range, *, events: int, jobs: int, progress_s: float = 10.0) -> Report:
    """Run seeds and tell how it goes."""
    started = told = time.monotonic()
    total = Report()
    for report in run(seeds, events=events, jobs=jobs):
        for finding in report.findings[: _FINDINGS_SHOWN - len(total.findings)]:
            print(describe(finding, events), flush=True)
        total.add(report)
        now = time.monotonic()
        if now - told >= progress_s:
            told = now
            rate = total.runs / (now - started)
            print(
                f"{total.runs}/{len(seeds)}, {rate:.0f} a second: {total}",
                file=sys.stderr,
                flush=True,
            )
        if len(total.findings) >= _MAX_FINDINGS:
            break
    return total


def main(arguments: list[str]) -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="tests.simulation.raft_run", description=__doc__)
    parser.add_argument("--seeds", type=int, default=6000, help="how many")
    parser.add_argument("--start", type=int, default=0, help="the first one")
    parser.add_argument("--events", type=int, default=EVENTS, help="of each, before the calm")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--replay", type=int, metavar="SEED")
    parser.add_argument("--trace", action="store_true", help="with --replay: print the whole story")
    options = parser.parse_args(arguments)
    if options.replay is not None:
        return repeat(options.replay, options.events, whole=options.trace)
    started = time.monotonic()
    seeds = range(options.start, options.start + options.seeds)
    total = run_all(seeds, events=options.events, jobs=options.jobs)
    print(f"{total} in {time.monotonic() - started:.0f} s")
    if total.findings:
        print("seeds:", *(f"{it.seed} ({it.invariant})" for it in total.findings))
    return int(bool(total.findings))


def repeat(seed: int, events: int, *, whole: bool) -> int:
    """Run one seed and show it; return the exit code."""
    again = Run(seed, events, None) if whole else Run(seed, events)
    report = again.perform()
    if whole:
        print(*again.world.story(), sep="\n")
    print(again.swarm)
    for finding in report.findings:
        print(f"{finding.invariant}: {finding.what}" if whole else describe(finding, events))
    print(report)
    return int(bool(report.findings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
