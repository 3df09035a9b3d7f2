"""A few seeds of `tests.unit.metadata.quorum.chaos`."""

import pytest

from tests.unit.metadata.quorum import chaos


@pytest.mark.parametrize("seed", [11, 12, 24])
def test_what_was_answered_outlives_whatever_fails(seed, tmp_path):
    counts = chaos.run(seed, 15, tmp_path)

    assert counts["NONE"] > 100
    assert counts["fenced"] > 0


def test_a_run_is_its_seed(tmp_path):
    assert chaos.run(5, 3, tmp_path / "one") == chaos.run(5, 3, tmp_path / "two")
