"""The token buckets that keep a device within what it may be asked for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.wal.ring.budget import MAX_IO_BYTES, IoBudget, TokenBucket

SECOND = 1_000_000_000


def spend(budget: IoBudget, size_bytes: int, until_ns: int) -> list[int]:
    """Write whenever allowed; return when."""
    now_ns, writes = 0, []
    while now_ns < until_ns:
        delay_ns = budget.delay_ns(size_bytes, now_ns)
        if delay_ns == 0:
            budget.take(size_bytes)
            writes.append(now_ns)
        else:
            now_ns += delay_ns
    return writes


@pytest.mark.parametrize("iops", [1, 7, 100, 3000])
def test_no_second_sees_more_than_the_limit(iops: int) -> None:
    writes = spend(IoBudget(max_iops=iops, max_bandwidth_bytes=0, now_ns=0), 4096, 5 * SECOND)
    for first, later in zip(writes, writes[max(iops, 2) :], strict=False):
        assert later - first >= SECOND


@given(
    iops=st.integers(2, 5000),
    bandwidth=st.integers(1, 1 << 30),
    pauses_ns=st.lists(st.integers(0, 300_000_000), min_size=1, max_size=30),
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=10),
)
@settings(max_examples=60, deadline=None)
def test_no_second_sees_more_whatever_is_asked_for_and_when(
    iops: int, bandwidth: int, pauses_ns: list[int], sizes: list[int]
) -> None:
    """Requests of up to 12 times 64 KiB, so up to 3 operations each, in bursts with pauses between them."""
    budget = IoBudget(max_iops=iops, max_bandwidth_bytes=bandwidth, now_ns=0)
    now_ns, spent = 0, []
    for pause_ns in pauses_ns:
        now_ns += pause_ns
        for size in (size * 64 * 1024 for size in sizes):
            now_ns += budget.delay_ns(size, now_ns)
            assert budget.delay_ns(size, now_ns) == 0, "the delay is enough"
            budget.take(size)
            spent.append((now_ns, -(-size // MAX_IO_BYTES), size))
    operations_excess = max(0, max(count for _, count, _ in spent) - max(1, iops / 50))
    bytes_excess = max(0, max(size for _, _, size in spent) - max(1, bandwidth / 50))
    for start_ns, _, _ in spent:
        inside = [entry for entry in spent if start_ns <= entry[0] < start_ns + SECOND]
        assert sum(count for _, count, _ in inside) <= iops + operations_excess
        assert sum(size for _, _, size in inside) <= bandwidth + bytes_excess + 1


def test_a_limit_is_nearly_used_up() -> None:
    writes = spend(IoBudget(max_iops=3000, max_bandwidth_bytes=0, now_ns=0), 4096, 10 * SECOND)
    assert len(writes) > 0.97 * 30_000


def test_large_writes_count_as_several_operations() -> None:
    budget = IoBudget(max_iops=1000, max_bandwidth_bytes=0, now_ns=0)
    writes = spend(budget, 4 * MAX_IO_BYTES, 4 * SECOND)
    assert 900 <= len(writes) <= 1010


def test_bandwidth() -> None:
    budget = IoBudget(max_iops=0, max_bandwidth_bytes=125 << 20, now_ns=0)
    written = len(spend(budget, 256 * 1024, 4 * SECOND)) * 256 * 1024
    assert 0.95 * (500 << 20) < written < 1.01 * (500 << 20)


def test_one_write_larger_than_a_second_is_allowed_and_paid_for() -> None:
    budget = IoBudget(max_iops=0, max_bandwidth_bytes=1 << 20, now_ns=0)
    assert 0 < budget.delay_ns(8 << 20, 0) < SECOND // 10
    assert budget.delay_ns(8 << 20, SECOND) == 0
    budget.take(8 << 20)
    assert 7 * SECOND < budget.delay_ns(1, SECOND) < 9 * SECOND


def test_nothing_is_limited_by_zero() -> None:
    budget = IoBudget(max_iops=0, max_bandwidth_bytes=0, now_ns=0)
    for _ in range(1000):
        assert budget.delay_ns(1 << 30, 0) == 0
        budget.take(1 << 30)


def test_a_clock_that_goes_back_gives_nothing() -> None:
    bucket = TokenBucket(50, SECOND)
    bucket.take(1)
    assert bucket.delay_ns(1, 0) > 0


def test_a_device_that_splits_writes_counts_their_parts() -> None:
    budget = IoBudget(max_iops=100, max_bandwidth_bytes=0, now_ns=0, max_io_bytes=64 * 1024)
    assert 190 <= len(spend(budget, 128 * 1024, 4 * SECOND)) <= 200


def test_operations_under_way_when_a_second_begins_are_within_its_limit() -> None:
    """Submitted at the budget's times and all completed late together: still no second has more."""
    budget = IoBudget(max_iops=500, max_bandwidth_bytes=0, now_ns=0, max_inflight=10)
    submitted = spend(budget, 4096, 4 * SECOND)
    completed = [later for _, later in zip(submitted, submitted[10:], strict=False)]
    for first, later in zip(completed, submitted[510:], strict=False):
        assert later - first >= SECOND
    assert len(submitted) >= 0.95 * 500 * 4
