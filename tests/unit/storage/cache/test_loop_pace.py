"""LoopPace: how much all readers together do in one turn of the loop, and in which order."""

import asyncio

from headrace.storage.cache.loop_pace import LoopPace
from tests.simulation.virtual_time import run


class Turns:
    """Counts the loop's turns, as whatever else runs on it sees them."""

    def __init__(self):
        self.number = 0
        self._next()

    def _next(self):
        self.number += 1
        asyncio.get_running_loop().call_soon(self._next)


async def shares(pace, sizes):
    """The turns in which so many readers got their shares."""
    turns = Turns()

    async def reader(size):
        await pace.share(size)
        return turns.number

    return await asyncio.gather(*map(reader, sizes))


def test_a_turn_has_room_for_so_many_bytes():
    found = run(shares(LoopPace(100), [40] * 10))
    each_turn = [found.count(turn) for turn in sorted(set(found))]
    assert each_turn == [2] * 5
    assert found == sorted(found)


def test_what_is_larger_than_a_turn_s_share_has_a_turn_alone():
    found = run(shares(LoopPace(100), [500, 1, 500, 100, 1]))
    assert len(set(found)) == 5


def test_nobody_overtakes():
    found = run(shares(LoopPace(100), [90, 90, 5, 5]))
    assert found[1] > found[0]
    assert found[2] >= found[1]
    assert found == sorted(found)


def test_one_reader_gives_way_when_it_has_had_its_share():
    async def main():
        pace, turns, seen = LoopPace(100), Turns(), []
        for _ in range(6):
            await pace.share(50)
            seen.append(turns.number)
        assert seen == [seen[0] + passed for passed in (0, 0, 1, 1, 2, 2)]  # and no turn is lost

    run(main())


def test_a_pause_makes_room():
    async def main():
        pace, turns = LoopPace(100), Turns()
        await pace.share(100)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        before = turns.number
        await pace.share(100)
        assert turns.number == before

    run(main())


def test_those_who_give_up_are_passed_over():
    async def main():
        pace = LoopPace(100)
        await pace.share(100)
        waiting = [asyncio.create_task(pace.share(100)) for _ in range(3)]
        await asyncio.sleep(0)
        for task in waiting[:2]:
            task.cancel()
        async with asyncio.timeout(1):
            await waiting[2]
        async with asyncio.timeout(1):
            await pace.share(100)

    run(main())
