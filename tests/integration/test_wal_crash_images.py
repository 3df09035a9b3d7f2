"""A tenth of `make soak`'s crash states of the WAL, another one every day."""

from tests.environment.rotation import turn_of_today
from tests.simulation.wal_catalogue import WORKLOADS
from tests.simulation.wal_crash_run import SHARES, report, run, units

IMAGES = 500_000  # of all shares


def test_todays_tenth_of_the_crash_states() -> None:
    seed, share = turn_of_today(SHARES)
    print(f"--images {IMAGES} --seed {seed} --share {share + 1}/{SHARES}")  # repeats it
    summary = run(units(IMAGES, seed, [share]))
    assert report(summary) == 0
    assert len(summary.verdicts.states) >= IMAGES // SHARES
    assert len(summary.by_workload) == len(WORKLOADS) >= 40
    assert min(summary.by_workload.values()) >= IMAGES // SHARES // len(WORKLOADS)
    assert summary.verdicts.refused > 1000
