"""A few seeds of `tests.unit.metadata.quorum.chaos`."""

import pytest

from tests.unit.metadata.quorum import chaos


@pytest.mark.parametrize("seed", [12, 17, 18])
def test_what_was_answered_outlives_whatever_fails(seed):
    counts = chaos.run(seed, 15)

    assert counts["NONE"] > 100
    assert counts["fenced"] > 0


def test_a_run_is_its_seed():
    assert chaos.run(5, 3) == chaos.run(5, 3)
