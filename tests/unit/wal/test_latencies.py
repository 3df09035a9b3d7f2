"""Histograms of latencies, and which append belongs to which block."""

from hypothesis import given
from hypothesis import strategies as st

from headrace.wal.device.latencies import BUCKETS_NS, LatencyHistogram, OpenBlocks

MS = 1_000_000


def test_a_latency_is_counted_where_its_upper_bound_is() -> None:
    histogram = LatencyHistogram()
    for latency_ns in (0, MS, MS + 1, 30_000 * MS, 30_000 * MS + 1):
        histogram.observe(latency_ns)
    found = dict(zip((*BUCKETS_NS, None), histogram.counts, strict=True))
    assert {bound: number for bound, number in found.items() if number} == {
        BUCKETS_NS[0]: 1,
        MS: 1,
        BUCKETS_NS[BUCKETS_NS.index(MS) + 1]: 1,
        30_000 * MS: 1,
        None: 1,
    }
    assert histogram.max_ns == 30_000 * MS + 1


@given(st.lists(st.tuples(st.integers(0, 10**11), st.integers(1, 1000))))
def test_nothing_is_lost(observed: list[tuple[int, int]]) -> None:
    histogram = LatencyHistogram()
    for latency_ns, count in observed:
        histogram.observe(latency_ns, count)
    assert sum(histogram.counts) == sum(count for _, count in observed)
    assert histogram.sum_ns == sum(latency * count for latency, count in observed)


def test_appends_count_from_the_begin_of_their_block() -> None:
    histogram = LatencyHistogram()
    blocks = OpenBlocks(histogram)
    assert blocks.oldest_age_ns(5 * MS) == 0
    for offset, appends, at_ms in ((4096, 3, 10), (8192, 1, 12), (12288, 2, 13)):
        for number in range(appends):
            blocks.appends_total += 1
            if number == 0:
                blocks.begin(offset, at_ms * MS)
    assert blocks.oldest_age_ns(14 * MS) == 4 * MS
    blocks.confirmed(12288, 15 * MS)
    assert sum(histogram.counts) == 4
    assert histogram.sum_ns == 3 * 5 * MS + 3 * MS
    assert blocks.oldest_age_ns(15 * MS) == 2 * MS
    blocks.confirmed(16384, 15 * MS)
    assert sum(histogram.counts) == 6
    assert blocks.oldest_age_ns(15 * MS) == 0
