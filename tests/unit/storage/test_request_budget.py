"""RequestBudget: bounds, order, and no leak when waiters give up."""

import asyncio

import pytest

from headrace.storage.request_budget import RequestBudget
from tests.simulation.virtual_time import run


class Reader:
    def __init__(self, budget, size):
        self.entered = False
        self.leave = asyncio.Event()
        self.task = asyncio.create_task(self._read(budget, size))

    async def _read(self, budget, size):
        async with budget.reserved(size):
            self.entered = True
            await self.leave.wait()


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


def test_requests_and_bytes_are_bounded():
    async def main():
        budget = RequestBudget(max_requests=2, max_bytes=100)
        readers = [Reader(budget, size) for size in (10, 10, 10)]
        await settle()
        assert [it.entered for it in readers] == [True, True, False]
        readers[0].leave.set()
        await settle()
        assert readers[2].entered
        large = Reader(budget, 90)
        readers[1].leave.set()
        await settle()
        assert large.entered
        assert (budget.requests, budget.bytes) == (2, 100)
        for it in (readers[2], large):
            it.leave.set()
        await settle()
        assert (budget.requests, budget.bytes) == (0, 0)

    run(main())


def test_nobody_overtakes():
    async def main():
        budget = RequestBudget(max_requests=10, max_bytes=100)
        first, large, small = Reader(budget, 60), Reader(budget, 60), Reader(budget, 10)
        await settle()
        assert (large.entered, small.entered) == (False, False)
        assert not budget.try_acquire(10)
        first.leave.set()
        await settle()
        assert (large.entered, small.entered) == (True, True)
        for it in (large, small):
            it.leave.set()
        await settle()

    run(main())


def test_what_is_larger_than_the_budget_goes_alone():
    async def main():
        budget = RequestBudget(max_requests=10, max_bytes=100)
        small, huge = Reader(budget, 10), Reader(budget, 5000)
        await settle()
        assert not huge.entered
        small.leave.set()
        await settle()
        assert huge.entered
        assert not budget.try_acquire(1)
        huge.leave.set()
        await settle()
        assert budget.try_acquire(1)
        budget.release(1)
        assert (budget.requests, budget.bytes) == (0, 0)

    run(main())


@pytest.mark.parametrize("granted_in_the_same_moment", [False, True])
def test_a_waiter_that_gives_up_leaks_nothing(granted_in_the_same_moment):
    async def main():
        budget = RequestBudget(max_requests=1, max_bytes=100)
        first, second, third = (Reader(budget, 10) for _ in range(3))
        await settle()
        if granted_in_the_same_moment:
            first.leave.set()
            await asyncio.sleep(0)  # first has left, second is granted but has not run yet
        second.task.cancel()
        first.leave.set()
        await settle()
        assert not second.entered
        assert third.entered
        third.leave.set()
        await settle()
        assert (budget.requests, budget.bytes) == (0, 0)

    run(main())


def test_room_that_becomes_free_as_a_waiter_gives_up_goes_to_the_next():
    async def main():
        budget = RequestBudget(max_requests=1, max_bytes=100)
        assert budget.try_acquire(10)
        second, third = (Reader(budget, 10) for _ in range(2))
        await settle()
        second.task.cancel()
        budget.release(10)  # before second has had its turn
        await settle()
        assert (second.entered, third.entered) == (False, True)
        third.leave.set()
        await settle()
        assert (budget.requests, budget.bytes) == (0, 0)

    run(main())


def test_try_acquire_takes_what_is_there():
    async def main():
        budget = RequestBudget(max_requests=2, max_bytes=100)
        assert budget.try_acquire(60)
        assert not budget.try_acquire(60)
        assert budget.try_acquire(40)
        assert not budget.try_acquire(0)
        budget.release(60)
        budget.release(40)
        assert (budget.requests, budget.bytes) == (0, 0)

    run(main())
