"""Seeded bugs are caught: a part of them every day, those of what changed last, and some by simulated clusters.

`make seeded` tries all, and with `ARGS=--simulation` those of the simulation.
"""

import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.environment.rotation import turn_of_today
from tests.seeded.bug import ROOT, tables
from tests.seeded.choice import changed_files, chosen
from tests.seeded.runner import Outcome, copied_project, run, run_simulations, try_bug

PARTS = 6  # and as many again, of what changed last
SIMULATED_PARTS = 8
AUTHOR = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
WAL = {bug.id: bug for bug in tables()["wal"]}


@pytest.mark.timeout(600)
def test_those_of_today_and_of_what_changed_last_are_caught() -> None:
    _, part = turn_of_today(PARTS)
    tested = [bug for table in tables().values() for bug in table if bug.test]
    bugs = chosen(tested, part=part, parts=PARTS, changed=changed_files(ROOT))
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


def test_what_changed_last_is_tried_first() -> None:
    bugs = [replace(WAL["wal-04"], id=f"{it}", file=f"{it}.py", test=None) for it in range(20)]
    bugs[7] = replace(bugs[7], test="tests/test_seven.py::test_it")
    tried = chosen(
        bugs, part=1, parts=5, changed=["no bug.py", "tests/test_seven.py", "6.py", "3.py"]
    )
    assert [it.id for it in tried] == ["1", "6", "11", "16", "7", "3"]
    many = chosen(bugs, part=0, parts=5, changed=[f"{it}.py" for it in reversed(range(20))])
    assert [it.id for it in many] == ["0", "5", "10", "15", "19", "18", "17", "16"]
    assert chosen(bugs, part=0, parts=5, changed=[]) == bugs[::5]


def test_the_history_tells_what_changed_last(tmp_path: Path) -> None:
    def commit(*files: str) -> None:
        for file in files:
            (tmp_path / file).write_text(f"{time.monotonic_ns()}")
        for command in (["add", "."], [*AUTHOR, "commit", "-qm", "a change"]):
            subprocess.run(["git", *command], cwd=tmp_path, check=True)

    assert changed_files(tmp_path / ".") == []
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit("a.py", "b.py")
    commit("c.py")
    commit("a.py")
    assert changed_files(tmp_path) == ["a.py", "c.py", "b.py"]
    assert changed_files(tmp_path, max_files=2) == ["a.py", "c.py"]


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
