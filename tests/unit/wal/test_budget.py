"""The token buckets that keep a device within what it may be asked for."""

import pytest

from wal.budget import IO_BYTES_MAX, IoBudget, TokenBucket

SECOND = 1_000_000_000


def spend(budget: IoBudget, size_bytes: int, until_ns: int) -> list[int]:
    """Write whenever allowed; return when."""
    now_ns, writes = 0, []
    while now_ns < until_ns:
        delay_ns = budget.delay_ns(now_ns)
        if delay_ns == 0:
            budget.take(size_bytes)
            writes.append(now_ns)
        else:
            now_ns += delay_ns
    return writes


@pytest.mark.parametrize("iops", [1, 7, 100, 3000])
def test_no_second_sees_more_than_the_limit_and_one(iops: int) -> None:
    writes = spend(IoBudget(iops_max=iops, bandwidth_bytes_max=0, now_ns=0), 4096, 5 * SECOND)
    for first, later in zip(writes, writes[iops + 1 :], strict=False):
        assert later - first >= SECOND


def test_a_limit_is_nearly_used_up() -> None:
    writes = spend(IoBudget(iops_max=3000, bandwidth_bytes_max=0, now_ns=0), 4096, 10 * SECOND)
    assert len(writes) > 0.97 * 30_000


def test_large_writes_count_as_several_operations() -> None:
    budget = IoBudget(iops_max=1000, bandwidth_bytes_max=0, now_ns=0)
    writes = spend(budget, 4 * IO_BYTES_MAX, 4 * SECOND)
    assert 900 <= len(writes) <= 1010


def test_bandwidth() -> None:
    budget = IoBudget(iops_max=0, bandwidth_bytes_max=125 << 20, now_ns=0)
    written = len(spend(budget, 256 * 1024, 4 * SECOND)) * 256 * 1024
    assert 0.95 * (500 << 20) < written < 1.01 * (500 << 20)


def test_one_write_larger_than_a_second_is_allowed_and_paid_for() -> None:
    budget = IoBudget(iops_max=0, bandwidth_bytes_max=1 << 20, now_ns=0)
    assert budget.delay_ns(0) == 0
    budget.take(8 << 20)
    assert 7 * SECOND < budget.delay_ns(0) < 9 * SECOND


def test_nothing_is_limited_by_zero() -> None:
    budget = IoBudget(iops_max=0, bandwidth_bytes_max=0, now_ns=0)
    for _ in range(1000):
        assert budget.delay_ns(0) == 0
        budget.take(1 << 30)


def test_a_clock_that_goes_back_gives_nothing() -> None:
    bucket = TokenBucket(50, SECOND)
    bucket.take(1)
    assert bucket.delay_ns(0) > 0
