"""What simulated clusters have found is not found again."""

import pytest

from tests.simulation.cluster.regressions import Regression, regressions
from tests.simulation.cluster.swarm import run


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("regression", regressions(), ids=lambda it: it.name)
def test_a_find_is_not_found_again(regression: Regression) -> None:
    seconds, nature = regression.seconds, regression.nature
    (report,) = run([regression.seed], seconds=seconds, nature=nature)
    assert report.findings == [], regression.what
    assert report.acknowledged


def test_each_find_has_its_number() -> None:
    numbers = [int(it.name.partition("-")[0]) for it in regressions()]
    assert numbers == list(range(1, len(numbers) + 1))
