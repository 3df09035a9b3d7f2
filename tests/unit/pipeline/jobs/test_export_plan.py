"""How what is missing is divided."""

from hypothesis import given
from hypothesis import strategies as st

from headrace.pipeline.jobs.export_plan import by_day, chunk_bytes
from headrace.pipeline.source.catalog import TopicPartition
from headrace.pipeline.source.plan import WantedRange

MIB = 1 << 20
A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def test_what_is_of_one_day_comes_together() -> None:
    wanted = [WantedRange(A, 5, 30), WantedRange(B, 0, 10), WantedRange(A, 40, 50)]
    starts = {A: [(10, 100), (45, 101)], B: [(0, 100), (4, 101)]}
    assert by_day(wanted, starts) == [
        [WantedRange(A, 5, 10)],
        [WantedRange(A, 10, 30), WantedRange(B, 0, 4), WantedRange(A, 40, 45)],
        [WantedRange(B, 4, 10), WantedRange(A, 45, 50)],
    ]


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=4),
    st.lists(st.integers(0, 40), max_size=4, unique=True).map(sorted),
)
def test_no_offset_is_lost_or_doubled(pairs: list[tuple[int, int]], cuts: list[int]) -> None:
    wanted = [WantedRange(A, *it) for it in pairs if it[0] < it[1]]
    found = by_day(wanted, {A: [(cut, day) for day, cut in enumerate(cuts)]})
    assert sorted(
        o for day in found for it in day for o in range(it.start_offset, it.end_offset)
    ) == (sorted(o for it in wanted for o in range(it.start_offset, it.end_offset)))


@given(st.integers(1, 1 << 42), st.floats(0.02, 4))
def test_files_are_of_a_good_size(total: int, ratio: float) -> None:
    most = chunk_bytes(total, ratio, 256 * MIB)
    if total * ratio > 256 * MIB:
        assert 128 * MIB <= most * ratio <= 512 * MIB
    if total * ratio < 384 * MIB:
        assert most == total or total * ratio > 256 * MIB


def test_a_sample_that_tells_nothing_has_no_great_effect() -> None:
    assert chunk_bytes(1 << 40, 0.0, 256 * MIB) <= 256 * MIB / 0.02 + 1
