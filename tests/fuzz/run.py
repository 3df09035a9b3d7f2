"""Fuzz for as long as you like: `python -m tests.fuzz.run --seconds 600 --seed 1 [--target records]`.

Every input is made from a seed of its own, which is what a finding is reported with; `--repeat SEED`
runs that input alone, under one target.
"""

import argparse
import random
import resource
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.fuzz.targets import TARGETS

MAX_MEMORY_BYTES = 4 << 30


@dataclass
class Outcome:
    """What a run over one target has seen."""

    inputs: int = 0
    accepted: int = 0
    slowest_seconds: float = 0.0
    slowest_seed: int = -1
    findings: list[tuple[int, str]] = field(default_factory=list)


def fuzz(target: Callable[[random.Random], bool], seed: int, outcome: Outcome) -> None:
    """Run one input."""
    started = time.perf_counter()
    try:
        outcome.accepted += target(random.Random(seed))
    except KeyboardInterrupt:
        raise
    except BaseException:  # a panic of a native codec is no Exception
        outcome.findings.append((seed, traceback.format_exc()))
    seconds = time.perf_counter() - started
    outcome.inputs += 1
    if seconds > outcome.slowest_seconds:
        outcome.slowest_seconds, outcome.slowest_seed = seconds, seed


def main(arguments: list[str]) -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="tests.fuzz.run", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=sorted(TARGETS), action="append")
    parser.add_argument("--repeat", type=int, metavar="SEED")
    options = parser.parse_args(arguments)
    # Whatever allocates by a claimed size ends as a MemoryError here, which is a finding.
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    chosen = {name: TARGETS[name] for name in options.target or TARGETS}
    outcomes = {name: Outcome() for name in chosen}
    if options.repeat is not None:
        for name, target in chosen.items():
            fuzz(target, options.repeat, outcomes[name])
    else:
        seeds = random.Random(options.seed)
        deadline = time.monotonic() + options.seconds
        while time.monotonic() < deadline:
            for name, target in chosen.items():
                for _ in range(100):
                    fuzz(target, seeds.getrandbits(48), outcomes[name])
    return report(outcomes)


def report(outcomes: dict[str, Outcome]) -> int:
    """Print what was seen; return 1 if anything was found."""
    for name, outcome in outcomes.items():
        print(
            f"{name}: {outcome.inputs} inputs, {outcome.accepted} accepted, slowest "
            f"{outcome.slowest_seconds * 1000:.1f} ms (seed {outcome.slowest_seed}), "
            f"{len(outcome.findings)} findings"
        )
        for seed, text in outcome.findings[:5]:
            print(f"  --target {name} --repeat {seed}\n{text}")
    return int(any(outcome.findings for outcome in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
