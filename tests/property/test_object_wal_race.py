"""Owners of an object WAL that do not know of each other: what any of them acknowledged is found or committed."""

import pytest

from tests.simulation.object_wal_race import run_race


@pytest.mark.parametrize("seed", range(20))
def test_what_was_acknowledged_is_found_by_the_successor(seed: int) -> None:
    """And nothing is acknowledged behind its fence, nothing appears from nowhere, and the newest is never fenced."""
    run_race(seed)


@pytest.mark.parametrize("seed", range(100, 104))
def test_fences_may_go_once_nothing_of_older_lives_is_under_way(seed: int) -> None:
    """Generations of hours: fences are swept away beside owners that wake up."""
    run_race(seed, long_pauses=True)


def test_races_are_what_they_should_be() -> None:
    seen = sum((run_race(seed).seen for seed in range(4)), run_race(4).seen)
    for what in (
        "records recovered",
        "generations begun",
        "killed",
        "WalFencedError",
        "create: exists",
        "late",
        "lost",
    ):
        assert seen[what] > 0, what
