"""ObjectIndexCache: one or two requests per index, one for all who ask, bounded."""

import asyncio

import pytest

from headrace.storage.cache.index_cache import ENTRY_OVERHEAD_BYTES, ObjectIndexCache, load_index
from headrace.storage.errors import CorruptObjectError, ObjectNotFoundError, ObjectStoreError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.objects.index_block import INDEX_ENTRY_BYTES
from headrace.storage.objects.keys import object_key
from headrace.storage.request_budget import RequestBudget
from tests.simulation.faulty_store import Fault, FaultyStore, Rates
from tests.simulation.virtual_time import run
from tests.unit.storage.samples import batches, write


async def stored(*objects):
    """Put objects with ids from 0 on; return the store and their sizes."""
    store = FaultyStore(MemoryObjectStore(), rates=Rates(max_latency_ms=10))
    for object_id, written in enumerate(objects):
        await store.put(object_key("c", object_id), written.parts)
    return store, [written.size_bytes for written in objects]


def cache_of(store, max_bytes=1_000_000):
    return ObjectIndexCache(store, "c", max_bytes=max_bytes, budget=RequestBudget(4, 1_000_000))


def test_an_index_takes_one_request():
    async def main():
        store, (size,) = await stored(write([batches(1, 0, 3), batches(5, 7, 2)]))
        index = await load_index(store, object_key("c", 0), size)
        assert [(it.stream_id, it.start_offset, it.end_offset) for it in index] == [
            (1, 0, 3),
            (5, 7, 9),
        ]
        assert store.requests["get_range"] == 1

    run(main())


def test_a_long_index_takes_two():
    async def main():
        store, (size,) = await stored(write([batches(1, 0, 3000, size=1)], max_block_bytes=40))
        assert len(await load_index(store, object_key("c", 0), size)) == 3000
        assert store.requests["get_range"] == 2

    run(main())


def test_an_index_that_was_damaged_on_the_way_is_read_again():
    async def main():
        store, (size,) = await stored(write([batches(1, 0, 1, size=0)]))
        for _ in range(50):  # bits anywhere, also where they do no harm
            store.then("get_range", Fault.FLIPPED_BIT)
            assert len(await load_index(store, object_key("c", 0), size)) == 1
            store.script.clear()
        assert store.requests["get_range"] > 80

    run(main())


@pytest.mark.parametrize("size", [0, 1, 47, 48, 100])
def test_what_is_no_object_is_corrupt(size):
    async def main():
        store = MemoryObjectStore()
        await store.put("a", [bytes(size)])
        with pytest.raises(CorruptObjectError):
            await load_index(store, "a", size)

    run(main())


def test_all_who_ask_share_one_request():
    async def main():
        store, (size,) = await stored(write([batches(1, 0, 3)]))
        cache = cache_of(store)
        assert cache.cached(0) is None
        found = await asyncio.gather(*(cache.load(0, size) for _ in range(10)))
        assert all(it is found[0] for it in found)
        assert store.requests["get_range"] == 1
        assert cache.cached(0) is found[0]
        assert await cache.load(0, size) is found[0]
        assert cache.statistics.hits == 2

    run(main())


def test_one_who_gives_up_does_not_take_it_from_the_others():
    async def main():
        store, (size,) = await stored(write([batches(1, 0, 3)]))
        cache = cache_of(store)
        first, second = (asyncio.create_task(cache.load(0, size)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        assert len(await second) == 1
        assert first.cancelled()

    run(main())


def test_a_failure_is_told_to_all_and_not_kept():
    async def main():
        store, (size,) = await stored(write([batches(1, 0, 3)]))
        cache = cache_of(store)
        store.then("get_range", Fault.NOT_FOUND)
        found = await asyncio.gather(
            *(cache.load(0, size) for _ in range(3)), return_exceptions=True
        )
        assert all(isinstance(it, ObjectNotFoundError) for it in found)
        assert len(await cache.load(0, size)) == 1

    run(main())


@pytest.mark.parametrize("error", [ObjectStoreError("no answer"), KeyError("a mistake")])
def test_only_what_nobody_expected_is_handed_to_the_loop(error):
    async def main():
        told = []
        asyncio.get_running_loop().set_exception_handler(lambda _, it: told.append(it["exception"]))
        store, (size,) = await stored(write([batches(1, 0, 3)]))
        cache = cache_of(store)

        async def broken(*_):
            raise error

        store.get_range = broken
        with pytest.raises(type(error)):
            await cache.load(0, size)
        await asyncio.sleep(0)
        assert told == ([error] if isinstance(error, KeyError) else [])

    run(main())


def test_damage_is_counted_and_a_bit_that_flipped_on_the_way_is_not():
    async def main():
        store, (size,) = await stored(write([batches(1, 0, 3)]))
        cache = cache_of(store)
        store.then("get_range", Fault.NOT_FOUND)
        await asyncio.gather(cache.load(0, size), return_exceptions=True)
        assert cache.statistics.corrupt == 0
        store.inner.objects[object_key("c", 0)] = bytes(size)
        found = await asyncio.gather(
            *(cache.load(0, size) for _ in range(3)), return_exceptions=True
        )
        assert all(isinstance(it, CorruptObjectError) for it in found)
        assert cache.statistics.corrupt == 1

    run(main())


def test_the_bytes_of_indexes_are_bounded():
    async def main():
        charge = INDEX_ENTRY_BYTES + ENTRY_OVERHEAD_BYTES
        store, sizes = await stored(*(write([batches(it, 0, 1)]) for it in range(4)))
        cache = cache_of(store, max_bytes=2 * charge)
        for object_id in (0, 1, 0, 2):
            await cache.load(object_id, sizes[object_id])
            assert cache.statistics.cached_bytes <= 2 * charge
        assert [cache.cached(it) is not None for it in range(4)] == [True, False, True, False]
        assert cache.statistics.cached_bytes == 2 * charge

    run(main())


def test_an_index_larger_than_the_cache_is_read_and_not_kept():
    async def main():
        store, (size,) = await stored(write([batches(1, 0, 3)]))
        cache = cache_of(store, max_bytes=10)
        assert len(await cache.load(0, size)) == 1
        assert cache.statistics.cached_bytes == 0

    run(main())


def test_shutdown_fails_those_who_wait():
    async def main():
        store, (size,) = await stored(write([batches(1, 0, 3)]))
        cache = cache_of(store)
        waiting = asyncio.create_task(cache.load(0, size))
        await asyncio.sleep(0)
        await cache.shutdown()
        with pytest.raises(ObjectStoreError, match="shut down"):
            await waiting

    run(main())
