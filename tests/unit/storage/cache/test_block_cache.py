"""BlockCache: what a cold read returns, whatever lies where, fails or moves meanwhile."""

import asyncio
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headrace.config.node import StorageConfig
from headrace.storage.cache import block_cache
from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.errors import CorruptObjectError, ObjectNotFoundError, ObjectStoreError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.objects.data_block import BLOCK_HEADER_BYTES
from headrace.storage.objects.keys import object_key
from headrace.storage.ports import (
    NO_OBJECT_ID,
    ObjectType,
    StreamObject,
    StreamRange,
    StreamSetCommit,
)
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane
from tests.simulation.faulty_store import Fault, FaultyStore, Rates
from tests.simulation.virtual_time import run
from tests.unit.storage.samples import batches, write

MIB = 1024 * 1024


class Setup:
    """A bucket, its metadata, and a cache in front of them."""

    def __init__(self, max_latency_ms=5, **config):
        self.store = FaultyStore(MemoryObjectStore(), rates=Rates(max_latency_ms=max_latency_ms))
        self.objects = ControlPlane()
        self.cache = BlockCache(StorageConfig(**config), self.store, self.objects, CLUSTER_ID)

    async def upload(
        self, *streams, max_block_bytes=5 * 133, kind=ObjectType.STREAM_SET, ranges=None
    ):
        written = write(streams, max_block_bytes)
        return await self.objects.upload(self.store, written, kind, ranges=ranges)

    async def read(self, stream_id, start, end=10**9, max_bytes=10**9):
        return await self.cache.read(stream_id, start, end, max_bytes)

    async def offsets(self, *args, **kwargs):
        return [it.base_offset for it in await self.read(*args, **kwargs)]


def test_whole_batches_from_the_one_that_holds_the_start():
    async def main():
        setup = Setup()
        await setup.upload(batches(1, 100, 20, count=10))
        assert await setup.read(1, 100) == batches(1, 100, 20, count=10)
        assert await setup.read(1, 255, 280) == batches(1, 250, 3, count=10)
        assert await setup.offsets(1, 299) == [290]
        assert await setup.offsets(1, 290, 291) == [290]

    run(main())


def test_the_size_is_a_limit_but_for_the_first_batch():
    async def main():
        setup = Setup()
        await setup.upload(batches(1, 0, 40))
        await setup.read(1, 0)  # from here on nothing is left out because it would take a wait
        assert await setup.offsets(1, 3, max_bytes=350) == [3, 4, 5]
        assert await setup.offsets(1, 3, max_bytes=100) == [3]
        assert await setup.offsets(1, 3, max_bytes=1) == [3]
        assert await setup.offsets(1, 3, max_bytes=0) == [3]
        assert await setup.offsets(1, 3, max_bytes=2000) == list(range(3, 23))

    run(main())


def test_objects_of_both_kinds_follow_one_another():
    async def main():
        setup = Setup()
        await setup.upload(batches(1, 0, 7), batches(2, 0, 3))
        await setup.upload(batches(1, 7, 5), kind=ObjectType.STREAM)
        await setup.upload(batches(0, 0, 3), batches(1, 12, 1), batches(2, 3, 9))
        assert await setup.read(1, 0) == batches(1, 0, 13)
        assert await setup.read(2, 1) == batches(2, 1, 11)

    run(main())


def test_payloads_are_slices():
    async def main():
        setup = Setup()
        await setup.upload(batches(1, 0, 5))
        first, *rest = await setup.read(1, 0)
        assert all(it.payload.obj is first.payload.obj for it in rest)

    run(main())


def test_a_second_read_is_served_from_memory():
    async def main():
        setup = Setup()
        await setup.upload(batches(1, 0, 50))
        expected = await setup.read(1, 0)
        requests = setup.store.requests["get_range"]
        assert await setup.read(1, 0) == expected
        assert setup.store.requests["get_range"] == requests

    run(main())


def test_readers_of_the_same_share_their_requests():
    async def main():
        setup = Setup()
        await setup.upload(batches(1, 0, 50))
        found = await asyncio.gather(*(setup.read(1, 0) for _ in range(10)))
        assert all(it == batches(1, 0, 50) for it in found)
        assert setup.store.requests["get_range"] == 2  # index, and all blocks

    run(main())


def test_a_sequential_reader_waits_less_and_less():
    async def main():
        setup = Setup(max_latency_ms=0)
        number = 2000
        for start in (0, number):
            await setup.upload(batches(1, start, number, size=20_000), max_block_bytes=200_000)
        offset, reads, waits = 0, 0, 0
        while offset < 2 * number:
            misses = setup.cache.statistics.misses
            found = await setup.read(1, offset, 2 * number, max_bytes=MIB)
            assert found[0].base_offset == offset
            offset = found[-1].base_offset + 1
            reads += 1
            waits += setup.cache.statistics.misses > misses
            await asyncio.sleep(0.001)  # the consumer's own work, in which the reads ahead go on
        assert reads > 70
        assert waits < 12
        assert setup.cache.statistics.wasted_blocks == 0
        assert setup.cache.statistics.read_bytes < 2 * number * 20_000 * 1.02  # nothing read twice

    run(main())


def test_reads_ahead_are_whole_requests():
    """Blocks are a little smaller than a part of a window: what is left over must not become requests."""

    async def main():
        setup = Setup()
        end = 8_320  # 130 blocks of 64 batches, 0.97 MiB each
        payload = bytes(15_900)
        made = [it._replace(payload=memoryview(payload)) for it in batches(1, 0, end, size=1)]
        await setup.upload(made, max_block_bytes=MIB)
        offset = 0
        while offset < end:
            offset = (await setup.read(1, offset, end, max_bytes=MIB))[-1].end_offset
        assert setup.cache.statistics.requests <= 130 // 4 + 9  # some while the window grows

    run(main())


def test_reading_ahead_crosses_objects():
    async def main():
        setup = Setup(max_latency_ms=0)
        for start in range(0, 400, 10):
            await setup.upload(batches(1, start, 10, size=1000), batches(2, start, 1))
        offset, waits = 0, 0
        while offset < 400:
            requests = setup.cache.statistics.misses + setup.cache.index_statistics.misses
            found = await setup.read(1, offset, 400, max_bytes=10_000)
            offset = found[-1].base_offset + 1
            await asyncio.sleep(0.001)
            waits += setup.cache.statistics.misses + setup.cache.index_statistics.misses > requests
        assert setup.cache.statistics.read_ahead_blocks > 100
        assert waits <= 10  # of 40 reads, each in another object

    run(main())


def test_memory_stays_within_its_bound():
    async def main():
        capacity = 2 * MIB
        setup = Setup(block_cache_bytes=capacity, max_read_ahead_bytes=32 * MIB)
        for stream_id in range(6):
            await setup.upload(batches(stream_id, 0, 300, size=20_000), max_block_bytes=100_000)

        def check():
            found = setup.cache.statistics
            used = found.cached_bytes + found.loading_bytes
            assert used + setup.cache.index_statistics.cached_bytes <= capacity

        async def consume(stream_id):
            offset = 0
            while offset < 300:
                found = await setup.read(stream_id, offset, max_bytes=200_000)
                assert found == batches(stream_id, offset, len(found), size=20_000)
                offset += len(found)
                check()

        await asyncio.gather(*map(consume, range(6)))
        assert setup.cache.statistics.evicted_blocks > 0

    run(main())


def test_a_batch_larger_than_the_cache_is_read():
    async def main():
        setup = Setup(block_cache_bytes=10_000)
        large = batches(1, 0, 3, size=50_000)
        await setup.upload(large)
        assert await setup.read(1, 0, max_bytes=1) == large[:1]
        assert await setup.read(1, 0) == large

    run(main())


class TestObjectsThatGo:
    """A reader that meets a 404 plans again from newer metadata."""

    async def replaced(self, setup, delay_ms):
        """Upload, compact, delete the old object; the metadata follow after a while."""
        old = await setup.upload(batches(1, 0, 20))
        new = await setup.objects.prepare_objects(1, 60_000)
        written = write([batches(1, 0, 20)], 5 * 133)
        await setup.store.put(object_key(CLUSTER_ID, new), written.parts)
        newer = StreamObject(new, written.size_bytes, written.ranges[0])
        commit = StreamSetCommit(NO_OBJECT_ID, 0, (), (newer,), (old,))
        await setup.store.delete([object_key(CLUSTER_ID, old)])

        async def follow():
            await asyncio.sleep(delay_ms / 1000)
            await setup.objects.commit_stream_set_object(commit)

        return asyncio.create_task(follow())

    @pytest.mark.parametrize("delay_ms", [1, 100, 500])
    def test_it_is_read_from_where_it_went(self, delay_ms):
        async def main():
            setup = Setup()
            following = await self.replaced(setup, delay_ms)
            assert await setup.read(1, 5) == batches(1, 5, 15)
            await following

        run(main())

    def test_patience_is_bounded(self):
        async def main():
            setup = Setup()
            following = await self.replaced(setup, 10_000)
            with pytest.raises(ObjectNotFoundError):
                await setup.read(1, 5)
            assert asyncio.get_running_loop().time() < 2
            assert setup.store.requests["get_range"] == block_cache.MAX_REPLANS + 1
            await following

        run(main())

    def test_blocks_that_are_in_memory_need_no_object(self):
        async def main():
            setup = Setup()
            object_id = await setup.upload(batches(1, 0, 20))
            expected = await setup.read(1, 0)
            await setup.store.delete([object_key(CLUSTER_ID, object_id)])
            assert await setup.read(1, 0) == expected

        run(main())

    def test_the_object_goes_between_index_and_data(self):
        async def main():
            setup = Setup()
            await setup.upload(batches(1, 0, 20))
            setup.store.then("get_range", None, Fault.NOT_FOUND)
            assert await setup.read(1, 0) == batches(1, 0, 20)

        run(main())

    def test_offsets_that_no_object_holds(self):
        async def main():
            setup = Setup()
            await setup.upload(batches(1, 10, 5))
            for start in (0, 15, 99):
                with pytest.raises(ObjectNotFoundError, match="no object holds"):
                    await setup.read(1, start)

        run(main())


class TestDamage:
    """Corrupt bytes are never served."""

    def damage(self, setup, object_id, position):
        key = object_key(CLUSTER_ID, object_id)
        content = bytearray(setup.store.inner.objects[key])
        content[position] ^= 0x10
        setup.store.inner.objects[key] = bytes(content)

    def test_a_bit_that_flipped_on_the_way_is_read_again(self):
        async def main():
            setup = Setup()
            await setup.upload(batches(1, 0, 20))
            setup.store.then("get_range", None, Fault.FLIPPED_BIT)
            assert await setup.read(1, 0) == batches(1, 0, 20)
            assert setup.cache.statistics.corrupt_blocks == 1

        run(main())

    def test_a_damaged_index_is_an_error_and_not_kept(self):
        async def main():
            setup = Setup()
            object_id = await setup.upload(batches(1, 0, 20))
            self.damage(setup, object_id, -60)
            with pytest.raises(CorruptObjectError):
                await setup.read(1, 0)
            self.damage(setup, object_id, -60)
            assert await setup.read(1, 0) == batches(1, 0, 20)

        run(main())

    def test_a_damaged_block_is_never_served_and_what_is_before_it_is(self):
        async def main():
            setup = Setup()
            object_id = await setup.upload(batches(1, 0, 20))
            self.damage(setup, object_id, 2 * (14 + 5 * 133) + 300)  # the third block: 10 to 14
            assert await setup.read(1, 0) == batches(1, 0, 10)
            for start in (10, 12):
                with pytest.raises(CorruptObjectError):
                    await setup.read(1, start)
            assert await setup.read(1, 15) == batches(1, 15, 5)

        run(main())

    def test_an_object_without_the_promised_offsets(self):
        async def main():
            setup = Setup()
            await setup.upload(batches(1, 0, 20), ranges=[StreamRange(2, 1, 0, 20)])
            with pytest.raises(CorruptObjectError, match="lacks offset"):
                await setup.read(2, 0)

        run(main())


def test_a_gap_that_the_metadata_know_nothing_of_is_never_skipped():

    async def main():
        setup = Setup()
        whole = StreamRange(1, 1, 0, 13)
        await setup.upload([*batches(1, 0, 5), *batches(1, 8, 5)], ranges=[whole])
        assert await setup.read(1, 0) == batches(1, 0, 5)
        for start in (5, 7):
            with pytest.raises(CorruptObjectError):
                await setup.read(1, start)
        assert await setup.read(1, 8) == batches(1, 8, 5)

    run(main())


def test_an_error_is_the_reader_s_only_when_there_is_nothing_before_it():
    async def main():
        setup = Setup()
        await setup.upload(batches(1, 0, 5))
        await setup.upload(batches(1, 5, 5))
        setup.store.then("get_range", None, None, Fault.REFUSED)
        assert await setup.read(1, 0) == batches(1, 0, 5)
        setup.store.then("get_range", Fault.REFUSED)
        with pytest.raises(ObjectStoreError):
            await setup.read(1, 5)
        assert await setup.read(1, 5) == batches(1, 5, 5)

    run(main())


def test_shutdown_ends_everything():
    async def main():
        setup = Setup(max_latency_ms=1000)
        await setup.upload(batches(1, 0, 500, size=10_000), max_block_bytes=50_000)
        waiting = asyncio.create_task(setup.read(1, 0, max_bytes=50_000))
        await asyncio.sleep(0.001)
        await setup.cache.shutdown()
        with pytest.raises(ObjectStoreError, match="shut down"):
            await waiting
        assert len(asyncio.all_tasks()) == 1

    run(main())


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([2_000, 20_000, 10**7]), st.booleans())
@example(1_000_001, 10**7, False)  # empty batches behind a first one that is larger than the limit
def test_every_read_equals_what_was_written(seed, cache_bytes, faults):
    """Random streams in random objects, read at random by several readers, also beside faults."""
    rng = random.Random(seed)
    written: dict[int, list] = {stream_id: [] for stream_id in range(3)}

    async def main():
        setup = Setup(block_cache_bytes=cache_bytes, max_read_ahead_bytes=cache_bytes)
        for _ in range(rng.randint(1, 6)):
            streams = []
            for stream_id, before in written.items():
                if rng.random() < 0.8:
                    count = rng.choice([1, 1, 7])
                    start = before[-1].base_offset + before[-1].count if before else 5
                    made = batches(stream_id, start, rng.randint(1, 30), count, rng.randint(0, 400))
                    before += made
                    streams.append(made)
            if streams:
                await setup.upload(*streams, max_block_bytes=rng.randint(40, 3000))
        if faults:
            setup.store.rates = Rates(
                refused=0.1, not_found=0.1, flipped_bit=0.1, max_latency_ms=20
            )

        async def reader(reader_rng):
            stream_id = reader_rng.randrange(3)
            expected = written[stream_id]
            if not expected:
                return
            last = expected[-1].base_offset + expected[-1].count
            start = reader_rng.randrange(5, last)
            for _ in range(15):
                end = reader_rng.randint(start + 1, last)
                size = reader_rng.choice([0, 100, 1000, 10**6])
                try:
                    found = await setup.read(stream_id, start, end, size)
                except (ObjectStoreError, CorruptObjectError, ObjectNotFoundError):
                    assert faults
                    continue
                check(expected, found, start, end, size)
                start = found[-1].base_offset + found[-1].count
                if start >= last or reader_rng.random() < 0.2:
                    start = reader_rng.randrange(5, last)

        await asyncio.gather(*(reader(random.Random(rng.random())) for _ in range(4)))
        await setup.cache.shutdown()

    run(main())


def check(expected, found, start, end, max_bytes):
    """Compare with the uncached truth: contiguous from the batch that holds `start`, and not too much."""
    first = next(n for n, it in enumerate(expected) if it.base_offset + it.count > start)
    assert found == expected[first : first + len(found)]
    assert found
    assert found[-1].base_offset < end
    assert len(found) == 1 or sum(len(it.payload) for it in found) <= max_bytes


def test_many_readers_of_what_is_in_memory_leave_the_loop_its_turns(monkeypatch):
    """A Fetch of many partitions whose blocks have been read ahead; K: cold reads never slow an append."""

    async def main():
        setup = Setup(max_latency_ms=0)
        readers = 24
        for reader in range(readers):
            await setup.upload(batches(reader, 0, 4, size=250_000), max_block_bytes=MIB)
            await setup.read(reader, 0, max_bytes=1)  # verified
        for block in list(setup.cache._blocks._blocks.values()):
            block._data = None  # as when it has just been read ahead
        turns = 0

        def turn():
            nonlocal turns
            turns += 1
            asyncio.get_running_loop().call_soon(turn)

        turn()
        found = await asyncio.gather(*(setup.read(it, 0, max_bytes=MIB) for it in range(readers)))
        assert all(len(it) == 4 for it in found)
        assert readers <= turns < 4 * readers  # one block in a turn

    monkeypatch.setattr("headrace.turns.Work.share_s", 0.0)
    run(main())


class SlowStore(MemoryObjectStore):
    """Takes a second for each read."""

    async def get_range(self, key, start, end):
        await asyncio.sleep(1)
        return await super().get_range(key, start, end)


class TestAnObjectThatIsSeenForTheFirstTime:
    """Index and first blocks of a Stream Object come side by side."""

    def open(self, **config):
        setup = Setup(**{"object_block_bytes": BLOCK_HEADER_BYTES + 5 * 133, **config})
        setup.store.inner = SlowStore()
        setup.store.rates = Rates()
        return setup

    @pytest.mark.parametrize(
        ("kind", "start", "seconds"),
        [
            (ObjectType.STREAM, 0, 1),
            (ObjectType.STREAM, 7, 2),  # where that lies, the index alone knows
            (ObjectType.STREAM_SET, 0, 2),
        ],
    )
    def test_the_first_byte_takes_one_request_s_time(self, kind, start, seconds):
        async def main():
            setup = self.open()
            await setup.upload(batches(1, 0, 100), kind=kind)
            found = await setup.read(1, start, max_bytes=500)
            assert found == batches(1, start, len(found))
            assert asyncio.get_running_loop().time() == pytest.approx(seconds, abs=0.1)
            assert setup.store.requests["get_range"] == 2
            check_accounts(setup)

        run(main())

    def test_no_byte_more_than_a_block_may_have_is_asked_for(self):
        """Fourteen more had to wait for another window of the connection: 5 ms, 7 ms away."""

        async def main():
            setup = self.open()
            await setup.upload(batches(1, 0, 100), kind=ObjectType.STREAM)
            ranges = []
            get_range = setup.store.get_range

            async def recorded(key, start, end):
                ranges.append((start, end))
                return await get_range(key, start, end)

            setup.store.get_range = recorded
            await setup.read(1, 0, max_bytes=500)
            assert (0, BLOCK_HEADER_BYTES + 5 * 133) in ranges

        run(main())

    def test_all_who_begin_there_share_it(self):
        async def main():
            setup = self.open()
            await setup.upload(batches(1, 0, 100), kind=ObjectType.STREAM)
            found = await asyncio.gather(*(setup.read(1, 0, max_bytes=500) for _ in range(8)))
            assert found == [batches(1, 0, 5)] * 8
            assert setup.store.requests["get_range"] == 2
            check_accounts(setup)

        run(main())

    def test_beside_others_who_begin_elsewhere(self):
        async def main():
            setup = self.open()
            await setup.upload(batches(1, 0, 100), kind=ObjectType.STREAM)
            found = await asyncio.gather(*(setup.read(1, it % 2, max_bytes=500) for it in range(8)))
            assert [it[0].base_offset for it in found] == [0, 1] * 4
            assert setup.cache.statistics.requests <= 2  # who began elsewhere may have been faster
            check_accounts(setup)
            before = setup.store.requests["get_range"]
            assert await setup.offsets(1, 0, max_bytes=500) == [0, 1, 2, 3, 4]
            assert setup.store.requests["get_range"] == before

        run(main())

    @pytest.mark.parametrize("fault", [Fault.REFUSED, Fault.NOT_FOUND])
    def test_if_only_that_fails_the_block_is_asked_for_again(self, fault):
        async def main():
            setup = self.open()
            await setup.upload(batches(1, 0, 100), kind=ObjectType.STREAM)
            # The index is asked for first: its task was made second, so this is the head's fault.
            setup.store.then("get_range", fault)
            assert await setup.read(1, 0, max_bytes=500) == batches(1, 0, 5)
            check_accounts(setup)

        run(main())

    def test_a_block_that_was_damaged_on_the_way_is_read_again(self):
        async def main():
            setup = self.open()
            await setup.upload(batches(1, 0, 100), kind=ObjectType.STREAM)
            setup.store.then("get_range", Fault.FLIPPED_BIT)
            assert await setup.read(1, 0, max_bytes=500) == batches(1, 0, 5)
            check_accounts(setup)

        run(main())

    def test_after_a_trim_the_object_s_first_bytes_are_not_taken_for_the_start(self):
        async def main():
            setup = self.open()
            await setup.upload(batches(1, 0, 100), kind=ObjectType.STREAM)
            await setup.objects.trim_stream(1, 1, 42)
            found = await setup.read(1, 42, max_bytes=500)
            assert [it.base_offset for it in found][:3] == [42, 43, 44]
            check_accounts(setup)

        run(main())

    def test_an_end_while_it_is_read(self):
        async def main():
            setup = self.open()
            await setup.upload(batches(1, 0, 100), kind=ObjectType.STREAM)
            waiting = asyncio.create_task(setup.read(1, 0))
            await asyncio.sleep(0.5)
            await setup.cache.shutdown()
            with pytest.raises(ObjectStoreError, match="shut down"):
                await waiting
            assert len(asyncio.all_tasks()) == 1

        run(main())


def check_accounts(setup):
    """What is accounted for is what is there, and within its bound."""
    blocks = setup.cache._blocks
    statistics = blocks.statistics
    segments = list(blocks._segments)
    assert statistics.cached_bytes == sum(it.size_bytes for it in segments)
    assert statistics.loading_bytes == 0
    block_keys = [key for found in segments for key in found.block_keys]
    assert sorted(block_keys) == sorted(blocks._blocks)
    assert statistics.cached_bytes <= blocks._capacity_bytes
    assert (blocks._budget.requests, blocks._budget.bytes) == (0, 0)


def test_what_cannot_be_read_is_a_block_or_an_object():
    async def main():
        setup = Setup()
        first = await setup.upload(batches(1, 0, 20), batches(2, 0, 5))  # five batches a block
        second = await setup.upload(batches(1, 20, 20))
        for offset, span in ((0, (0, 5)), (7, (5, 10)), (19, (15, 20)), (24, (20, 25))):
            assert await setup.cache.span(1, offset, of_object=False) == span
        assert await setup.cache.span(1, 7, of_object=True) == (0, 20)
        assert await setup.cache.span(2, 3, of_object=False) == (0, 5)
        with pytest.raises(ObjectNotFoundError):
            await setup.cache.span(1, 40, of_object=False)
        for lost, damaged in ((True, False), (False, True)):
            fresh = BlockCache(StorageConfig(), setup.store, setup.objects, CLUSTER_ID)
            if lost:
                await setup.store.delete([object_key(CLUSTER_ID, first)])
                assert await fresh.span(1, 7, of_object=False) == (0, 20)
            if damaged:
                key = object_key(CLUSTER_ID, second)
                ((_, size_bytes),) = [it for it in await setup.store.list("") if it[0] == key]
                content = bytearray(await setup.store.get_range(key, 0, size_bytes))
                content[-1] ^= 1
                await setup.store.delete([key])
                await setup.store.put(key, (bytes(content),))
                assert await fresh.span(1, 24, of_object=False) == (20, 40)

    run(main())


def test_small_blocks_of_many_streams_are_read_together():
    async def main():
        setup = Setup()
        await setup.upload(*(batches(it, 0, 1) for it in range(1_000)))
        for stream_id in range(1_000):
            assert await setup.read(stream_id, 0) == batches(stream_id, 0, 1)
        assert setup.store.requests["get_range"] < 20
        alone = Setup()
        await alone.upload(*(batches(it, 0, 1) for it in range(1_000)))
        for stream_id in range(0, 1_000, 500):
            await alone.read(stream_id, 0)
        assert alone.cache.statistics.read_bytes < 1_000, "few readers read what they need"

    run(main())
