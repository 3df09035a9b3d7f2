"""DataBlockCache: who reads what, what is kept, and that the bytes add up."""

import asyncio
import gc
import weakref

import pytest

from headrace.storage.cache.data_blocks import DataBlockCache
from headrace.storage.cache.index_cache import load_index
from headrace.storage.errors import ObjectNotFoundError, ObjectStoreError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.objects.keys import object_key
from headrace.storage.request_budget import RequestBudget
from tests.simulation.faulty_store import Fault, FaultyStore, Rates
from tests.simulation.virtual_time import run
from tests.unit.storage.samples import batches, write

BLOCK_BYTES = 14 + 5 * 133  # five batches of 100 bytes


class Setup:
    """An object of 20 blocks of stream 1, and a cache in front of it."""

    async def open(self, capacity_blocks=100, ahead_requests=4, run_blocks=100):
        self.store = FaultyStore(MemoryObjectStore(), rates=Rates(max_latency_ms=10))
        written = write([batches(1, 0, 100)], max_block_bytes=5 * 133)
        await self.store.put(object_key("c", 7), written.parts)
        self.entries = list(await load_index(self.store, object_key("c", 7), written.size_bytes))
        assert len(self.entries) == 20
        self.store.log.clear()
        self.cache = DataBlockCache(
            self.store,
            "c",
            capacity_bytes=capacity_blocks * BLOCK_BYTES,
            budget=RequestBudget(4, 100 * BLOCK_BYTES),
            ahead_budget=RequestBudget(ahead_requests, 100 * BLOCK_BYTES),
        )
        self.cache.max_run_bytes = run_blocks * BLOCK_BYTES
        self.wasted = 0
        return self

    async def load(self, *ordinals):
        return await self.cache.load(7, [self.entries[it] for it in ordinals])

    def cached(self, *ordinals):
        return [len(self.cache.cached(7, [self.entries[it]])) == 1 for it in ordinals]

    def ahead(self, *ordinals):
        def waste():
            self.wasted += 1

        return self.cache.read_ahead(7, [self.entries[it] for it in ordinals], waste)

    async def settle(self):
        while self.cache._tasks:
            await asyncio.wait(set(self.cache._tasks))

    def check_accounts(self):
        segments = list(self.cache._segments)
        statistics = self.cache.statistics
        assert statistics.cached_bytes == sum(it.size_bytes for it in segments)
        assert statistics.cached_bytes == BLOCK_BYTES * sum(len(it.block_keys) for it in segments)
        assert len(self.cache._blocks) == sum(len(it.block_keys) for it in segments)
        assert statistics.cached_bytes + statistics.loading_bytes <= self.cache._capacity_bytes


def offsets(blocks):
    return [it.entry.start_offset for it in blocks]


def test_adjacent_blocks_take_one_request():
    async def main():
        setup = await Setup().open()
        assert offsets(await setup.load(3, 4, 5)) == [15, 20, 25]
        assert setup.store.requests["get_range"] == 1 + 1  # and the index before
        assert offsets(await setup.load(2, 3, 6)) == [10, 15, 30]  # two gaps around what is there
        assert setup.store.requests["get_range"] == 1 + 3
        statistics = setup.cache.statistics
        assert (statistics.requests, statistics.misses, statistics.hits) == (3, 5, 1)
        setup.check_accounts()

    run(main())


def test_requests_are_of_moderate_size():
    async def main():
        setup = await Setup().open(run_blocks=3)
        await setup.load(*range(8))
        assert setup.cache.statistics.requests == 3
        setup.check_accounts()

    run(main())


def test_all_who_ask_share_one_request():
    async def main():
        setup = await Setup().open()
        found = await asyncio.gather(setup.load(1, 2), setup.load(2), setup.load(2, 3))
        assert [offsets(it) for it in found] == [[5, 10], [10], [10, 15]]
        assert found[0][1] is found[1][0] is found[2][0]
        assert setup.cache.statistics.requests == 2  # 1 and 2 together, 3
        assert setup.cache.statistics.read_bytes == 3 * BLOCK_BYTES

    run(main())


def test_one_who_gives_up_does_not_take_it_from_the_others():
    async def main():
        setup = await Setup().open()
        first, second = (asyncio.create_task(setup.load(1)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        assert offsets(await second) == [5]
        assert setup.cached(1) == [True]

    run(main())


def test_the_least_recently_used_goes_first():
    async def main():
        setup = await Setup().open(capacity_blocks=3)
        for ordinal in (0, 2, 4):
            await setup.load(ordinal)
        assert setup.cached(0) == [True]
        await setup.load(6)
        setup.check_accounts()
        assert setup.cached(0, 2, 4, 6) == [True, False, True, True]
        assert setup.cache.statistics.evicted_blocks == 1

    run(main())


def test_what_came_together_goes_together():
    async def main():
        setup = await Setup().open(capacity_blocks=3)
        await setup.load(0, 1)
        await setup.load(5, 6)
        assert setup.cached(0, 1, 5, 6) == [False, False, True, True]
        setup.check_accounts()

    run(main())


def test_room_is_made_before_a_request_not_after():
    async def main():
        setup = await Setup().open(capacity_blocks=4)
        await setup.load(0, 1)
        await setup.load(4, 5)
        task = asyncio.create_task(setup.load(10, 11))
        for _ in range(3):
            await asyncio.sleep(0)
        assert setup.cache.statistics.loading_bytes == 2 * BLOCK_BYTES
        setup.check_accounts()
        assert setup.cached(0, 4) == [False, True]
        await task

    run(main())


def test_what_is_evicted_is_freed_at_once_and_not_by_the_collector():
    """Found by reading 4 GiB through a cache of 256 MiB: the process grew to 1.7 GiB."""

    class Content(bytearray):
        """Unlike a bytearray it can be referred to weakly."""

    async def main():
        setup = await Setup().open(capacity_blocks=4, run_blocks=2)
        contents = []
        get_range = setup.store.get_range

        async def counted(key, start, end):
            content = Content(await get_range(key, start, end))
            contents.append(weakref.ref(content))
            return memoryview(content)

        setup.store.get_range = counted
        for first in range(0, 8, 2):
            await setup.load(first, first + 1)
        await setup.settle()
        assert [it() is not None for it in contents] == [False, False, True, True]

    gc.disable()
    try:
        run(main())
    finally:
        gc.enable()


def test_a_block_larger_than_the_cache_is_read_and_not_kept():
    async def main():
        setup = await Setup().open(capacity_blocks=0.5)
        setup.cache._max_run_bytes = 1
        assert offsets(await setup.load(1)) == [5]
        assert setup.cached(1) == [False]
        assert setup.cache.statistics.cached_bytes == 0

    run(main())


def test_blocks_that_are_evicted_while_a_reader_waits_still_reach_it():
    async def main():
        setup = await Setup().open(capacity_blocks=1, run_blocks=1)
        assert offsets(await setup.load(0, 1, 2, 3)) == [0, 5, 10, 15]
        setup.check_accounts()

    run(main())


@pytest.mark.parametrize(
    ("fault", "error"), [(Fault.NOT_FOUND, ObjectNotFoundError), (Fault.REFUSED, ObjectStoreError)]
)
def test_a_failure_is_told_to_all_and_not_kept(fault, error):
    async def main():
        setup = await Setup().open()
        setup.store.then("get_range", fault)
        found = await asyncio.gather(setup.load(1), setup.load(1), return_exceptions=True)
        assert [type(it) for it in found] == [error, error]
        assert offsets(await setup.load(1)) == [5]
        assert setup.cache.statistics.loading_bytes == 0

    run(main())


def test_reading_ahead_takes_no_one_s_time():
    async def main():
        setup = await Setup().open()
        assert setup.ahead(0, 1, 2) == 3
        assert setup.cached(0) == [False]
        await setup.settle()
        assert setup.cached(0, 1, 2) == [True, True, True]
        assert setup.ahead(0, 1, 2, 3) == 4
        await setup.settle()
        assert setup.cache.statistics.requests == 2
        assert setup.cache.statistics.read_ahead_blocks == 4

    run(main())


def test_reading_ahead_stops_at_its_budget():
    async def main():
        setup = await Setup().open(ahead_requests=2, run_blocks=2)
        assert setup.ahead(*range(10)) == 4
        assert setup.ahead(*range(4, 10)) == 0
        assert offsets(await setup.load(12)) == [60]  # which does not hold up readers
        await setup.settle()
        assert setup.ahead(*range(4, 10)) == 4
        await setup.settle()

    run(main())


def test_a_reader_joins_what_is_being_read_ahead():
    async def main():
        setup = await Setup().open()
        setup.ahead(0, 1)
        assert offsets(await setup.load(1)) == [5]
        assert setup.cache.statistics.requests == 1

    run(main())


def test_waste_is_reported_once_per_request_and_only_when_nothing_of_it_was_read():
    async def main():
        setup = await Setup().open(capacity_blocks=2)
        setup.ahead(0, 1)
        await setup.settle()
        await setup.load(10, 11)
        assert (setup.wasted, setup.cache.statistics.wasted_blocks) == (1, 2)
        setup.ahead(4, 5)
        await setup.settle()
        assert setup.cached(4) == [True]
        await setup.load(10, 11)
        assert setup.wasted == 1

    run(main())


def test_a_failed_read_ahead_gives_its_budget_back():
    async def main():
        setup = await Setup().open(ahead_requests=1)
        setup.store.then("get_range", Fault.REFUSED)
        setup.ahead(0)
        await setup.settle()
        assert setup.ahead(0) == 1
        await setup.settle()
        assert setup.cached(0) == [True]

    run(main())


def test_discarded_blocks_are_read_again():
    async def main():
        setup = await Setup().open()
        (block, _) = await setup.load(0, 1)
        setup.cache.discard(block)
        setup.cache.discard(block)
        assert setup.cached(0, 1) == [False, False]
        setup.check_accounts()
        await setup.load(0)
        assert setup.cache.statistics.corrupt_blocks == 2

    run(main())


def test_shutdown_fails_those_who_wait():
    async def main():
        setup = await Setup().open()
        waiting = asyncio.create_task(setup.load(0))
        setup.ahead(5)
        await asyncio.sleep(0)
        await setup.cache.shutdown()
        with pytest.raises(ObjectStoreError, match="shut down"):
            await waiting
        assert setup.cache.statistics.loading_bytes == 0

    run(main())


@pytest.mark.parametrize("error", [ObjectStoreError("no answer"), KeyError("a mistake")])
@pytest.mark.parametrize("what", ["ahead", "head"])
def test_only_what_nobody_expected_is_handed_to_the_loop(what, error):
    """Nobody waits for what is read ahead."""

    async def main():
        told = []
        asyncio.get_running_loop().set_exception_handler(lambda _, it: told.append(it["exception"]))
        setup = await Setup().open()

        async def broken(*_):
            raise error

        setup.store.get_range = broken
        if what == "ahead":
            setup.cache.read_ahead(7, setup.entries, on_wasted=lambda: None)
        else:
            setup.cache.begin_head(7, 5_000)
        await asyncio.sleep(1)
        assert told == ([error] if isinstance(error, KeyError) else [])

    run(main())
