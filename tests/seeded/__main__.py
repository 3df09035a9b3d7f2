"""Seeds bugs and sees whether the suite catches them: `python -m tests.seeded [--package wal] [--only ID]`."""

import argparse
import sys
from collections.abc import Sequence
from itertools import chain

from tests.seeded import pages, rate
from tests.seeded.bug import SeededBug, tables
from tests.seeded.runner import Outcome, run, run_simulations


def chosen(package: str | None, only: Sequence[str] | None) -> list[SeededBug]:
    """Return the bugs of a table (or all) with these ids (or all)."""
    found = tables()
    bugs = [bug for name, table in found.items() if package in (None, name) for bug in table]
    return [bug for bug in bugs if not only or bug.id in only]


def main(arguments: list[str]) -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="tests.seeded", description=__doc__)
    parser.add_argument("--package", choices=sorted(tables()))
    parser.add_argument("--only", action="append", metavar="ID")
    parser.add_argument("--list", action="store_true", help="list the bugs and their tests and end")
    parser.add_argument(
        "--docs",
        action="store_true",
        help="write how soon clusters notice into docs/reliability.md and end",
    )
    parser.add_argument(
        "--simulation",
        action="store_true",
        help="let simulated clusters catch those that have a nature named, also those that have a test",
    )
    parser.add_argument(
        "--rate",
        action="store_true",
        help="write down how soon simulated clusters of drawn natures notice each of some bugs; takes hours",
    )
    options = parser.parse_args(arguments)
    if options.rate:
        asked = [it for it in rate.tried_bugs() if not options.only or it.id in options.only]
        for result in rate.measure(asked, rate.version()):
            print(result, flush=True)
        return 0
    if options.docs:
        pages.write()
        return 0
    if options.list:
        for name, table in tables().items():
            if options.package in (None, name):
                print(
                    pages.listed(
                        name, [it for it in table if not options.only or it.id in options.only]
                    )
                )
        return 0
    bugs = chosen(options.package, options.only)
    if not bugs:
        parser.error("there is no such bug")
    tested = [] if options.simulation else [it for it in bugs if it.test]
    simulated = [it for it in bugs if it.simulated and (options.simulation or not it.test)]
    tried = caught = 0
    for result in chain(run(tested), run_simulations(simulated)):
        print(result, flush=True)
        tried += 1
        caught += result.outcome is Outcome.CAUGHT
    print(f"{caught} of {tried} seeded bugs are caught")
    return int(caught < tried)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
