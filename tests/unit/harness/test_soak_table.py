"""What the soak calls a slope, and what it does not."""

import pytest

from tests.cluster.soak_table import MIN_SAMPLES, Measure, judge, table

MEMORY = Measure("memory_mib", tolerance_percent=5, tolerance=8)
EXACT = Measure("threads", tolerance_percent=0, tolerance=0)


def slopes(values: list[float], measure: Measure = MEMORY) -> bool:
    (verdict,) = judge([{measure.name: value} for value in values], [measure])
    return verdict.has_slope


def test_growth_of_the_first_third_is_a_warm_up() -> None:
    assert not slopes([it * 50 for it in range(10)] + [500.0] * 20)


def test_growth_that_goes_on_is_a_slope() -> None:
    assert slopes([100 + 5 * it for it in range(30)])
    assert slopes([100.0] * 20 + [114.0] * 10)


def test_growth_within_the_tolerance_is_none() -> None:
    assert not slopes([100.0] * 20 + [113.0] * 10)


def test_what_goes_up_and_down_has_no_slope_whatever_its_peaks() -> None:
    assert not slopes([10, 100, 1_000] * 10)
    assert not slopes([100.0] * 29 + [10_000.0])


def test_what_shrinks_has_no_slope() -> None:
    assert not slopes([1_000.0 - it for it in range(30)])


def test_without_a_tolerance_one_more_is_a_slope() -> None:
    assert not slopes([14] * 30, EXACT)
    assert slopes([14] * 20 + [15] * 10, EXACT)


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="too few"):
        slopes([1.0] * (MIN_SAMPLES - 1))


def test_the_table_names_what_grows() -> None:
    samples = [{"memory_mib": 100.0, "threads": float(it)} for it in range(30)]
    lines = table(judge(samples, [MEMORY, EXACT])).splitlines()
    assert lines[2] == "| memory_mib | 100.0 | 100.0 | 100.0 | 113.0 | 100.0 |  |"
    assert lines[3].startswith("| threads | 4.5 | 14.5 | 24.5 | 14.5 | 29.0 | GROWS |")
    assert len(lines) == 4
