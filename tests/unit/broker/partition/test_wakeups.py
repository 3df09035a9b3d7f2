"""Readers of partitions that have moved are called in as many turns as it takes, and all of them are."""

import asyncio

import pytest

from headrace.broker.partition.wakeups import READERS_PER_LOOK, Reader, Wakeups
from tests.simulation import virtual_time


class Readers:
    """Makes readers, and knows which were called."""

    def __init__(self) -> None:
        self.called: list[int] = []

    def of(self, partition: int, number: int) -> dict[Reader, None]:
        return {lambda: self.called.append(partition): None for _ in range(number)}


def test_few_are_called_at_once() -> None:
    async def run() -> None:
        wakeups, readers = Wakeups(), Readers()
        for partition in range(3):
            wakeups.wake(readers.of(partition, 2))
        assert readers.called == [0, 0, 1, 1, 2, 2]
        assert not wakeups.is_behind

    virtual_time.run(run())


@pytest.mark.parametrize(("partitions", "each"), [(1, 5 * READERS_PER_LOOK), (160, 2)])
def test_many_are_called_in_many_turns_and_in_order(
    partitions: int, each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        wakeups, readers = Wakeups(), Readers()
        for partition in range(partitions):
            wakeups.wake(readers.of(partition, each))
        called = []
        while wakeups.is_behind:
            called.append(len(readers.called))
            await asyncio.sleep(0)
        assert called == [READERS_PER_LOOK * turn for turn in range(1, 5)]
        assert readers.called == [number for number in range(partitions) for _ in range(each)]

    monkeypatch.setattr("headrace.turns.Work.share_s", 0.0)
    virtual_time.run(run())


def test_it_has_caught_up_when_all_know_of_what_had_moved_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> None:
        wakeups, readers = Wakeups(), Readers()
        wakeups.wake(readers.of(1, 3 * READERS_PER_LOOK))
        waiting = asyncio.create_task(wakeups.caught_up())
        given_up = asyncio.create_task(wakeups.caught_up())
        await asyncio.sleep(0)
        given_up.cancel()
        wakeups.wake(readers.of(2, 3 * READERS_PER_LOOK))
        await waiting
        assert readers.called.count(1) == 3 * READERS_PER_LOOK
        assert readers.called.count(2) < 3 * READERS_PER_LOOK
        while wakeups.is_behind:
            await asyncio.sleep(0)
        assert readers.called.count(2) == 3 * READERS_PER_LOOK

    monkeypatch.setattr("headrace.turns.Work.share_s", 0.0)
    virtual_time.run(run())


def test_one_that_raises_keeps_no_other_from_being_called() -> None:
    async def run() -> None:
        wakeups, readers = Wakeups(), Readers()

        def fail() -> None:
            raise MemoryError

        with pytest.raises(MemoryError):
            wakeups.wake({fail: None, **readers.of(0, 1)})
        wakeups.wake(readers.of(1, 1))
        await asyncio.sleep(0)
        assert sorted(readers.called) == [0, 1]

    virtual_time.run(run())
