"""The time index never skips the first record that is new enough, and stays within its bound."""

from hypothesis import given, settings
from hypothesis import strategies as st

from broker.partition.time_index import TimeIndex


def test_a_time_after_every_record_is_found_nowhere() -> None:
    index = TimeIndex(interval_bytes=10)
    assert index.start_of_search(0) is None
    index.append(0, 50, 5)
    assert index.start_of_search(50) == 0
    assert index.start_of_search(51) is None


def test_the_newest_timestamp_names_the_first_batch_that_has_it() -> None:
    index = TimeIndex()
    for base, timestamp in ((0, 5), (3, 9), (6, 9), (9, 4)):
        index.append(base, timestamp, 100)
    assert (index.max_timestamp_ms, index.max_timestamp_offset) == (9, 3)


def test_trim_forgets_entries_below_the_log_start() -> None:
    index = TimeIndex(interval_bytes=1)
    for base in range(10):
        index.append(base, base, 1)
    index.trim(6, 10)
    assert min(entry.offset for entry in index.entries) == 6


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 8)), min_size=1, max_size=200),
    st.integers(0, 51),
    st.integers(1, 20),
    st.integers(2, 9),
)
def test_no_record_below_the_start_of_a_search_is_new_enough(
    batches: list[tuple[int, int]], wanted: int, interval: int, entries_max: int
) -> None:
    index = TimeIndex(interval_bytes=interval, entries_max=entries_max)
    for base, (timestamp, size) in enumerate(batches):
        index.append(base, timestamp, size)
        assert len(index.entries) <= entries_max
    start = index.start_of_search(wanted)
    first = next((base for base, (timestamp, _) in enumerate(batches) if timestamp >= wanted), None)
    if first is None:
        assert start is None
    else:
        assert start is not None
        assert start <= first
