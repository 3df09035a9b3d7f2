"""How much of a log is cleaned, and when; and its index by time and size afterwards."""

import random

import pytest

from headrace.broker.partition.cleanable import cleanable
from headrace.broker.partition.state import PartitionState
from headrace.broker.partition.time_index import NO_OFFSET, NO_TIMESTAMP, TimeIndex
from headrace.config.topic import EffectiveTopicConfig

HOUR_MS = 3_600_000
NOW_MS = 1_000 * HOUR_MS


def an_index(batches=100, size=10, interval_bytes=100, step_ms=1_000, max_entries=1_000):
    """Batches of two offsets."""
    index = TimeIndex(interval_bytes=interval_bytes, max_entries=max_entries)
    for number in range(batches):
        index.append(2 * number, NOW_MS - (batches - number) * step_ms, size)
    return index


def look(index, *, cleaned=0, start=0, limit=10**9, now_ms=NOW_MS, **overrides):
    config = EffectiveTopicConfig.resolve(
        {"cleanup.policy": "compact"}
        | {name.replace("_", "."): it for name, it in overrides.items()}
    )
    found = cleanable(
        index, config, cleaned_offset=cleaned, log_start_offset=start, limit=limit, now_ms=now_ms
    )
    return found, found.is_due(config)


def test_everything_but_the_active_segment_is_dirty_at_first():
    found, is_due = look(an_index())
    assert (found.first_dirty, found.end) == (0, 180)
    assert (found.dirty_bytes, found.total_bytes, found.dirty_ratio) == (900, 900, 1.0)
    assert is_due


def test_an_empty_log_has_nothing_to_clean():
    found, is_due = look(TimeIndex())
    assert (found.dirty_ratio, is_due) == (0.0, False)


def test_the_share_that_is_dirty_decides():
    index = an_index()
    assert look(index, cleaned=80) == (look(index, cleaned=80)[0], True)
    found, is_due = look(index, cleaned=100)
    assert (found.dirty_bytes, found.total_bytes) == (400, 900)
    assert not is_due
    assert look(index, cleaned=100, min_cleanable_dirty_ratio="0.4")[1]
    assert not look(index, cleaned=180, min_cleanable_dirty_ratio="0")[1]


def test_a_log_is_cleaned_from_its_start_if_it_was_cleaned_below():
    assert look(an_index(), cleaned=10, start=41)[0].first_dirty == 41


def test_nothing_beyond_the_limit():
    assert look(an_index(), limit=100)[0].end == 100
    assert look(an_index(), limit=99)[0].end == 80


def test_what_is_young_stays():
    index = an_index()  # a segment in ten seconds
    assert look(index, min_compaction_lag_ms="0")[0].end == 180
    assert look(index, min_compaction_lag_ms="11000")[0].end == 180
    assert look(index, min_compaction_lag_ms="12000")[0].end == 160
    assert look(index, min_compaction_lag_ms="1000000")[0].end == 0


def test_what_is_old_is_cleaned_however_little_it_is():
    index = an_index(
        step_ms=60_000
    )  # one and a half hours, the last one cleaned ends 10 minutes ago
    assert not look(index, cleaned=160)[1]
    assert look(index, cleaned=160, max_compaction_lag_ms="660000")[1]
    assert not look(index, cleaned=160, max_compaction_lag_ms=str(3 * HOUR_MS))[1]


def cleaned_index(index, end, kept):
    """Replace what lies below `end` by batches (offset, newest_ms, size)."""
    new = index.anew()
    for it in kept:
        new.append(*it)
    index.replace_below(end, new, index.bytes_below(end))


def test_sizes_and_times_follow():
    index = an_index()
    cleaned_index(index, 100, [(0, NOW_MS - 90_000, 7), (40, NOW_MS - 60_000, 8)])
    assert index.end_bytes - index.start_bytes == 515
    assert index.bytes_below(100) == 15
    assert index.bytes_below(120) == 115
    segments = [*index.segments()]
    assert (segments[0].end, segments[0].max_ms, segments[0].max_offset) == (
        100,
        NOW_MS - 60_000,
        40,
    )
    assert index.offset_of_size(500) == 100
    assert index.start_of_search(NOW_MS - 60_000) == 0
    assert index.start_of_search(NOW_MS - 59_999) == 100


def test_nothing_may_be_left_of_a_part():
    index = an_index()
    cleaned_index(index, 100, [])
    assert index.end_bytes == 500
    assert next(iter(index.segments())) == (0, 100, NO_TIMESTAMP, NO_OFFSET)
    assert index.max_timestamp_ms == NOW_MS - 1_000


def test_of_a_segment_that_is_cleaned_in_part_the_newest_batch_is_not_known():
    index = an_index(step_ms=-1_000)  # the oldest is the newest
    new = index.anew()
    new.append(0, NOW_MS, 10)
    index.replace_below(90, new, index.bytes_below(80) + 50)
    assert [(it.start, it.end, it.max_offset) for it in index.segments()][:3] == [
        (0, 90, 0), (90, 100, NO_OFFSET), (100, 120, 100)
    ]  # fmt: skip
    assert (index.bytes_below(90), index.bytes_below(100)) == (10, 60)
    assert index.end_bytes == 560


def test_a_log_start_that_moved_meanwhile_counts():
    state = PartitionState(producer_id_expiration_ms=1)
    state.times = an_index()
    new = state.times.anew()
    for number in range(5):
        new.append(20 * number, NOW_MS, 100)
    before = state.times.bytes_below(100)
    state.trim(61, 200)
    assert state.size_bytes == 700
    state.cleaned(100, new, before, (61, 200))
    assert state.cleaned_offset == 100
    assert state.size_bytes == 500 + 200
    state.cleaned(160, state.times.anew(), 0, (160, 200))
    assert (state.cleaned_offset, state.size_bytes) == (160, 700)


@pytest.mark.parametrize("seed", range(20))
def test_an_index_of_a_cleaned_log_is_as_one_that_never_had_the_rest(seed):
    rng = random.Random(seed)
    interval_bytes, max_entries = rng.choice(((50, 1_000), (50, 6)))
    index = TimeIndex(interval_bytes=interval_bytes, max_entries=max_entries)
    log = []
    for number in range(rng.randint(1, 200)):
        log.append((2 * number, rng.randint(0, 10**6), rng.randint(5, 60)))
        index.append(*log[-1])
    for _ in range(3):
        ends = [it.offset for it in index.entries]
        if not ends:
            return
        end = rng.choice(ends)
        log = [it for it in log if it[0] >= end or rng.random() < 0.4]
        cleaned_index(index, end, [it for it in log if it[0] < end])
        assert index.end_bytes - index.start_bytes == sum(it[2] for it in log)
        assert len(index.entries) <= max_entries
        for segment in index.segments():
            inside = [
                it
                for it in log
                if segment.start <= it[0] and (segment.end is None or it[0] < segment.end)
            ]
            assert segment.max_ms == max((it[1] for it in inside), default=NO_TIMESTAMP)
            if segment.end is not None:
                assert index.bytes_below(segment.end) == sum(
                    it[2] for it in log if it[0] < segment.end
                )
