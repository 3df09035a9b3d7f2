"""The time index never skips the first record that is new enough, and stays within its bound."""

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.broker.partition.time_index import MAX_SEGMENT_MS, TimeIndex


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
    assert (index.segment_max_ms, index.segment_max_offset) == (9, 3)


def test_trim_forgets_entries_below_the_log_start() -> None:
    index = TimeIndex(interval_bytes=1)
    for base in range(10):
        index.append(base, base, 1)
    index.trim(6, 10)
    assert min(entry.offset for entry in index.entries) == 7


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 8)), min_size=1, max_size=200),
    st.integers(0, 51),
    st.integers(1, 20),
    st.integers(2, 9),
)
def test_no_record_below_the_start_of_a_search_is_new_enough(
    batches: list[tuple[int, int]], wanted: int, interval: int, max_entries: int
) -> None:
    index = TimeIndex(interval_bytes=interval, max_entries=max_entries)
    for base, (timestamp, size) in enumerate(batches):
        index.append(base, timestamp, size)
        assert len(index.entries) <= max_entries
    start = index.start_of_search(wanted)
    first = next((base for base, (timestamp, _) in enumerate(batches) if timestamp >= wanted), None)
    if first is None:
        assert start is None
    else:
        assert start is not None
        assert start <= first


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-1, 60), st.integers(1, 8)), min_size=1, max_size=200),
    st.integers(1, 20),
    st.integers(2, 9),
    st.integers(1, 70),
    st.integers(0, 62),
    st.integers(1, 60),
    st.floats(0, 1),
)
def test_what_age_and_size_give_up_may_go(
    batches: list[tuple[int, int]],
    interval: int,
    max_entries: int,
    segment_ms: int,
    young_ms: int,
    retained: int,
    trimmed: float,
) -> None:
    index = TimeIndex(interval_bytes=interval, max_entries=max_entries)
    for base, (timestamp, size) in enumerate(batches):
        index.append(base, timestamp, size, segment_ms)
        assert len(index.entries) <= max_entries
    sizes = [size for _, size in batches]
    assert all(timestamp < young_ms for timestamp, _ in batches[: index.offset_of_age(young_ms)])
    by_size = index.offset_of_size(retained)
    assert by_size == 0 or sum(sizes[by_size:]) >= retained
    start = int(trimmed * len(batches))
    index.trim(start, len(batches))
    counted = index.end_bytes - index.start_bytes
    assert sum(sizes[start:]) <= counted <= sum(sizes)
    assert all(entry.offset > start for entry in index.entries)
    if start == len(batches):
        assert counted == 0
    again = counted, index.entries
    index.trim(start, len(batches))
    assert (index.end_bytes - index.start_bytes, index.entries) == again
    by_size = index.offset_of_size(retained)
    assert by_size == 0 or sum(sizes[by_size:]) >= retained


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-1, 60), st.integers(1, 8)), min_size=1, max_size=120),
    st.integers(1, 20),
    st.integers(2, 5),
    st.lists(st.floats(0, 1), max_size=3),
)
def test_each_step_knows_its_newest_batch(
    batches: list[tuple[int, int]], interval: int, max_entries: int, cuts: list[float]
) -> None:
    index = TimeIndex(interval_bytes=interval, max_entries=max_entries)
    trims = {int(cut * len(batches)): int(cut * cut * len(batches)) for cut in cuts}
    log_start = 0
    for base, (timestamp, size) in enumerate(batches):
        if base in trims and trims[base] > log_start:
            log_start = trims[base]
            index.trim(log_start, base)
        index.append(base, timestamp, size)
    times = [timestamp for timestamp, _ in batches]
    covered = 0
    for number, segment in enumerate(index.segments()):
        end = len(batches) if segment.end is None else segment.end
        assert number == 0 or segment.start == covered
        covered = end
        if number == 0:  # deleted batches of the first segment may still count
            continue
        newest = max(times[segment.start : end], default=-1)
        assert segment.max_ms == newest
        assert segment.max_offset == (-1 if newest == -1 else times.index(newest, segment.start))
    assert covered == len(batches)
    assert index.max_timestamp_ms >= max(times[log_start:])


def test_what_was_given_up_keeps_nothing_young() -> None:
    index = TimeIndex(interval_bytes=1)
    for base, timestamp in enumerate((10, 1_000_000, 20, 30)):
        index.append(base, timestamp, 1)
    assert index.offset_of_age(100) == 1
    index.trim(2, 4)
    assert (index.max_timestamp_ms, index.offset_of_age(25)) == (30, 3)
    index.append(4, 30 + MAX_SEGMENT_MS, 1)
    assert index.entries[-1].offset == 4


def test_bytes_and_steps_of_time_divide_the_log() -> None:
    index = TimeIndex(interval_bytes=10)
    for base in range(10):
        index.append(base, 1_000 + base, 5)
    assert [entry.offset for entry in index.entries] == [2, 4, 6, 8]
    assert index.offset_of_size(25) == 4
    # 0 to 3 are older, and 4 as well, but no segment ends behind it.
    assert index.offset_of_age(1_005) == 4
    slow = TimeIndex()
    for hour in range(5):
        slow.append(hour, hour * MAX_SEGMENT_MS, 1)
    assert [entry.offset for entry in slow.entries] == [1, 2, 3, 4]
    assert slow.offset_of_age(2 * MAX_SEGMENT_MS + 1) == 3
    week = TimeIndex()
    for hour in range(3):
        week.append(hour, hour * MAX_SEGMENT_MS, 1, 7 * 24 * MAX_SEGMENT_MS)
    assert [entry.offset for entry in week.entries] == [1, 2], "an hour is the most"
    fine = TimeIndex()
    for minute in range(5):
        fine.append(minute, minute * 60_000, 1, 120_000)
    assert [entry.offset for entry in fine.entries] == [2, 4]


def test_records_without_a_time_go_with_those_before_them() -> None:
    index = TimeIndex(interval_bytes=1)
    index.append(0, -1, 1)
    index.append(1, -1, 1)
    assert index.offset_of_age(1 << 60) == 0
    index.append(2, 50, 1)
    index.append(3, -1, 1)
    index.append(4, -1, 1)
    assert index.offset_of_age(50) == 0
    assert index.offset_of_age(51) == 4
