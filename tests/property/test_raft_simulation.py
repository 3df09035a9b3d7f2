"""The quorum's core among simulated networks, disks and clocks: a tenth of `make soak`'s seeds, another one a day."""

import os

import pytest

from headrace.metadata.raft.effects import HardState, Persist
from tests.environment.rotation import turn_of_today
from tests.simulation import raft_run
from tests.simulation.raft_disk import SimulatedLog
from tests.simulation.raft_simulation import Report, simulate
from tests.simulation.raft_swarm import FAULTS

SEEDS = 6000  # of all tenths together
TENTHS = 10
EVENTS = 1000


def run(seeds: range, events: int = EVENTS, jobs: int = 1) -> Report:
    """Run seeds; the first violation is the test's."""
    total = Report()
    for report in raft_run.run(seeds, events=events, jobs=jobs):
        total.add(report)
        for it in report.findings:
            msg = f"{it.invariant}: {it.what}\n{raft_run.describe(it, events)}"
            raise AssertionError(msg)
    return total


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_todays_tenth_of_the_seeds() -> None:
    turn, tenth = turn_of_today(TENTHS)
    start = (turn * TENTHS + tenth) * (SEEDS // TENTHS)
    print(f"--seeds {SEEDS // TENTHS} --start {start} --events {EVENTS}")  # repeats it
    total = run(range(start, start + SEEDS // TENTHS), jobs=min(os.cpu_count() or 1, 2))
    assert total.runs == SEEDS // TENTHS


@pytest.mark.slow
def test_the_same_seeds_each_time() -> None:
    """Long runs, in which everything that can happen does: what the seeded mistakes are tried on."""
    total = run(range(40), events=2500)
    assert total.faults.keys() == set(FAULTS)
    assert min(total.faults.values()) > 5
    assert total.terms > 200
    assert total.committed > 2000
    assert total.reads > 500
    assert total.changes > 40
    assert total.installed > 20
    assert total.refused > 4


def test_a_seed_is_a_run() -> None:
    for seed in (3, 4, 5):
        assert simulate(seed, EVENTS) == simulate(seed, EVENTS)
    assert simulate(3, EVENTS).digest != simulate(4, EVENTS).digest


# --- the test is tested


def forgetful(log: SimulatedLog, persist: Persist, steps: int | None = None) -> None:
    """Perform a write, but for the vote."""
    hard_state = persist.hard_state and HardState(persist.hard_state.term, -1)
    perform(log, Persist(hard_state, persist.truncate_from, persist.entries), steps)


perform = SimulatedLog.perform


def test_a_disk_that_forgets_is_found_and_found_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(SimulatedLog, "perform", forgetful)
    assert raft_run.main(["--seeds", "4", "--jobs", "1"]) == 1
    printed = capsys.readouterr().out
    assert "R-6" in printed
    words = next(line for line in printed.splitlines() if "--replay" in line).split()
    seed = words[words.index("--replay") + 1]
    assert f"seed {seed}: " in printed
    assert raft_run.main(["--replay", seed, "--trace"]) == 1
    assert "R-6" in capsys.readouterr().out
    monkeypatch.undo()
    assert raft_run.main(["--replay", seed]) == 0
