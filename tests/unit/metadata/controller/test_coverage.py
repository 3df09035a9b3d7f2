import pytest

from headrace.metadata.controller.coverage import merged


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([], []),
        ([(0, 5)], [(0, 5)]),
        ([(5, 9), (0, 5)], [(0, 9)]),
        ([(0, 5), (6, 9)], [(0, 5), (6, 9)]),
        ([(0, 5), (4, 9)], None),
        ([(0, 5), (0, 5)], None),
    ],
)
def test_intervals_that_touch_are_joined(intervals, expected):
    assert merged(intervals) == expected
