"""A third of the seeded bugs are caught, another one every day, and an eighth of what simulated clusters must catch.

`make seeded` tries all, and with `ARGS=--simulation` those of the simulation.
"""

from dataclasses import replace

import pytest

from tests.environment.rotation import turn_of_today
from tests.seeded.bug import tables
from tests.seeded.runner import Outcome, copied_project, run, run_simulations, try_bug

PARTS = 3
SIMULATED_PARTS = 8
WAL = {bug.id: bug for bug in tables()["wal"]}


@pytest.mark.timeout(600)
def test_todays_third_of_the_seeded_bugs_is_caught() -> None:
    _, part = turn_of_today(PARTS)
    bugs = [bug for table in tables().values() for bug in table if bug.test][part::PARTS]
    results = list(run(bugs))
    for result in results:
        print(result)
    assert [str(result) for result in results if result.outcome is not Outcome.CAUGHT] == []
    assert len(results) == len(bugs) >= 8


@pytest.mark.timeout(900)
def test_todays_part_of_those_that_simulated_clusters_must_catch() -> None:
    _, part = turn_of_today(SIMULATED_PARTS)
    simulated = [bug for table in tables().values() for bug in table if bug.simulated]
    results = list(run_simulations(simulated[part::SIMULATED_PARTS]))
    assert [str(result) for result in results if result.outcome is not Outcome.CAUGHT] == []
    assert results


# --- and the runner would say so


def test_what_is_not_caught_or_does_not_run_is_told() -> None:
    bug = replace(WAL["wal-04"], in_process=True)
    harmless = replace(bug, new="lambda superblock: +superblock.sequence")
    elsewhere = replace(
        bug, file="wal/ring/zeroing.py", function="Zeroing.stop", old="self._stopped = True", new=""
    )
    sloppy = replace(bug, new="lambda superblock: superblock.no_such_field")
    gone = "tests/unit/wal/test_layout.py::test_that_does_not_exist"
    assert bug.test is not None
    with copied_project() as copy:
        assert try_bug(copy, bug, bug.test).outcome is Outcome.CAUGHT
        missed = try_bug(copy, harmless, bug.test)
        assert missed.outcome is Outcome.MISSED
        for broken, test, why in [
            (elsewhere, bug.test, "did not import the changed file"),
            (sloppy, bug.test, "AttributeError"),
            (bug, gone, "not found"),
        ]:
            result = try_bug(copy, broken, test)
            assert result.outcome is Outcome.BROKEN
            assert why in result.why
