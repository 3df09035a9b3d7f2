"""The share of a turn: who may go on, who waits, and for how long. Time is counted, not measured."""

import asyncio
import gc
import weakref
from collections.abc import Generator
from itertools import pairwise

import pytest

from headrace.turns import ITEMS_PER_LOOK, MAX_TURN_S, Turns, Work, turns_of


class Clock:
    """Stands still unless it is told."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


async def next_turn() -> None:
    await asyncio.sleep(0)


def test_work_goes_on_until_the_share_is_used_up() -> None:
    async def test() -> None:
        clock = Clock()
        turns = Turns(clock, share_s=1.0)
        turn = 0

        async def count() -> None:
            nonlocal turn
            while True:
                turn += 1
                await next_turn()

        counting = asyncio.create_task(count())
        await next_turn()
        begin = turn
        assert not turns.is_used_up()
        clock.now_s += 0.9
        await turns.pause()
        assert turn == begin
        clock.now_s += 0.25
        assert turns.is_used_up()
        await turns.pause()
        assert turn > begin
        assert not turns.is_used_up()
        counting.cancel()

    asyncio.run(test())


def test_those_that_wait_get_a_turn_each_in_their_order() -> None:
    async def test() -> None:
        clock = Clock()
        turns = Turns(clock, share_s=1.0)
        log: list[tuple[str, int]] = []
        turn = 0

        async def work(name: str) -> None:
            for _ in range(3):
                turns.is_used_up()  # the share of this turn begins here, if it has not
                clock.now_s += 1.0
                log.append((name, turn))
                await turns.pause()

        workers = [asyncio.create_task(work(name)) for name in "abc"]
        while not all(worker.done() for worker in workers):
            await next_turn()
            turn += 1
        assert [name for name, _ in log] == ["a", "b", "c"] * 3
        later = [at for _, at in log[3:]]
        assert len(set(later)) == len(later), "one of them in each turn"

    asyncio.run(test())


def test_one_that_was_cancelled_keeps_nobody_waiting() -> None:
    async def test() -> None:
        clock = Clock()
        turns = Turns(clock, share_s=1.0)
        assert not turns.is_used_up()
        clock.now_s += 1.0
        given_up, waiting = (asyncio.create_task(turns.pause()) for _ in range(2))
        await next_turn()
        given_up.cancel()
        async with asyncio.timeout(10):
            await waiting

    asyncio.run(test())


def test_items_are_looked_at_in_their_order_and_in_several_turns() -> None:
    async def test() -> None:
        clock = Clock()
        turns = Turns(clock, share_s=1.0)
        seen = []
        others = 0

        async def other() -> None:
            nonlocal others
            while True:
                others += 1
                await next_turn()

        task = asyncio.create_task(other())
        async for item in turns.each(range(10 * ITEMS_PER_LOOK)):
            seen.append(item)
            clock.now_s += 1.0
        batches = [list(batch) async for batch in turns.batches(seen, 7)]
        task.cancel()
        assert seen == list(range(10 * ITEMS_PER_LOOK))
        assert [it for batch in batches for it in batch] == seen
        assert {len(batch) for batch in batches[:-1]} == {7}
        assert others >= 9

    asyncio.run(test())


def test_many_short_lists_are_as_much_work_as_a_long_one() -> None:
    """A request of 100,000 topics of one partition each, or of none."""

    async def test(each: int) -> int:
        clock = Clock()
        turns = Turns(clock, share_s=1.0)
        others = 0

        async def other() -> None:
            nonlocal others
            while True:
                others += 1
                await next_turn()

        task = asyncio.create_task(other())
        for _ in range(10 * ITEMS_PER_LOOK):
            clock.now_s += 1.0
            async for _ in turns.each(range(each)):
                pass
        task.cancel()
        return others

    for each in (0, 1, 3):
        assert asyncio.run(test(each)) >= 9 * max(1, each)


def test_steps_are_run_to_their_end() -> None:
    def steps(fails: bool) -> Generator[None, None, str]:
        for _ in range(3):
            yield
        if fails:
            raise ValueError("a bug")
        return "done"

    async def test() -> None:
        turns = Turns(lambda: 0.0, 1.0)
        assert await turns.run(steps(fails=False)) == "done"
        with pytest.raises(ValueError, match="a bug"):
            await turns.run(steps(fails=True))

    asyncio.run(test())


def test_as_many_are_woken_as_the_turns_before_had_room_for() -> None:
    """What they do takes no time of their wake-up, such as to read on: only the turns get longer."""

    async def test(piece_s: float) -> list[int]:
        clock = Clock()
        turns = Turns(clock, share_s=1.0)
        done = 0

        async def wait() -> None:
            nonlocal done
            await turns.another()
            clock.now_s += piece_s
            done += 1

        waiting = [asyncio.create_task(wait()) for _ in range(40)]
        await next_turn()
        seen = [0]
        while done < len(waiting):
            await next_turn()
            seen.append(done)
        return [after - before for before, after in pairwise(seen) if after > before]

    assert asyncio.run(test(0.0)) == [1, 2, 4, 8, 16, 9]
    assert max(asyncio.run(test(0.3))) == 4
    assert max(asyncio.run(test(5.0))) <= 2


def test_all_work_of_a_class_on_one_loop_shares_its_turns() -> None:
    async def test() -> None:
        assert turns_of(Work.UPKEEP) is turns_of(Work.UPKEEP)
        assert turns_of(Work.UPKEEP) is not turns_of(Work.METADATA)

    asyncio.run(test())
    assert sum(work.share_s for work in Work) == pytest.approx(MAX_TURN_S)


def test_what_is_called_and_waits_again_uses_the_rest_of_the_share() -> None:
    """Else two connections with much to do would start two requests in each turn."""

    async def test() -> None:
        clock = Clock()
        share = Turns(clock, share_s=1.0)
        done: list[int] = []

        def piece(number: int) -> None:
            done.append(number)
            clock.now_s += 0.25
            share.call_later(lambda: piece(number))

        for number in (1, 2):
            share.call_later(lambda number=number: piece(number))  # type: ignore[misc]
        await asyncio.sleep(0)
        assert done == [1, 2] * 2

    asyncio.run(test())


@pytest.mark.parametrize("waiting", [1, 5])
def test_a_class_has_its_share_of_a_turn_whatever_others_take(waiting: int) -> None:
    """Else metadata would be applied one piece in a turn where clients keep the broker busy."""

    async def test(others_s: float) -> float:
        clock = Clock()
        turns = Turns(clock, share_s=1.0)
        pieces = rounds = 0

        async def others() -> None:
            nonlocal rounds
            while True:
                rounds += 1
                clock.now_s += others_s
                await next_turn()

        async def work() -> None:
            nonlocal pieces
            while True:
                pieces += 1
                clock.now_s += 0.1
                await turns.pause()

        tasks = [asyncio.create_task(it) for it in (others(), *(work() for _ in range(waiting)))]
        while rounds < 100:
            await next_turn()
        for task in tasks:
            task.cancel()
        return pieces / rounds

    quiet, busy = asyncio.run(test(0.0)), asyncio.run(test(5.0))
    assert busy == pytest.approx(quiet, rel=0.2)


def test_a_mistake_of_what_is_called_does_not_end_the_turns() -> None:
    async def test() -> None:
        turns = Turns(Clock(), share_s=1.0)
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)

        def mistake() -> None:
            raise ValueError("a bug")

        turns.call_later(mistake)
        waiting = turns.another()
        async with asyncio.timeout(10):
            await waiting

    asyncio.run(test())


def test_turns_of_a_loop_that_has_ended_are_not_kept() -> None:
    loops = []

    async def test() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        turns_of(Work.UPKEEP)

    for _ in range(3):
        asyncio.run(test())
    gc.collect()
    assert sum(it() is not None for it in loops) <= 1
