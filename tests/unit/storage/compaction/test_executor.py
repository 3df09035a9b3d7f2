"""Compactor: reads stay the same, rounds come to an end, failures pass."""

import asyncio
import logging
import random

import pytest

from headrace.config.node import StorageConfig
from headrace.metadata.rpc.requests import CommitStreamSetObject, CompactStreamObject
from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.compaction import executor, rewrite
from headrace.storage.compaction.executor import MAX_COMMIT_ATTEMPTS, Compactor
from headrace.storage.errors import (
    CommitRefusedError,
    FencedError,
    RetriableStorageError,
)
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.objects.keys import object_key
from headrace.storage.ports import ObjectType
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane
from tests.simulation.faulty_store import FaultyStore, Rates
from tests.simulation.virtual_time import run
from tests.unit.storage.samples import batches, write


class Setup:
    """A bucket, its metadata, and a compactor."""

    def __init__(self, open_streams=(), **config):
        config = {"stream_split_bytes": 10_000, "object_block_bytes": 2000} | config
        self.config = StorageConfig(**config)
        self.store = FaultyStore(MemoryObjectStore())
        self.objects = ControlPlane()
        # Whatever replaces objects by others.
        self.commits = self.objects.faults[CommitStreamSetObject]
        self.objects.faults[CompactStreamObject] = self.commits
        self.open_streams = open_streams
        self.compactor = self.compactor_on(self.store)
        self.written = {}

    def compactor_on(self, store):
        return Compactor(
            self.config,
            store,
            self.objects,
            CLUSTER_ID,
            rng=random.Random(0),
            streams=lambda: self.open_streams,
        )

    async def upload(self, *streams, kind=ObjectType.STREAM_SET, ranges=None):
        for made in streams:
            self.written.setdefault(made[0].stream_id, []).extend(made)
        written = write(streams, 2000)
        ranges = written.ranges if ranges is None else ranges(written.ranges)
        return await self.objects.upload(self.store, written, kind, ranges=ranges)

    async def upload_small(self, number, streams=(1, 2, 3), ranges=None):
        for _ in range(number):
            made = []
            for stream_id in streams:
                before = self.written.get(stream_id)
                start = before[-1].base_offset + before[-1].count if before else 0
                made.append(batches(stream_id, start, 3))
            await self.upload(*made, ranges=ranges)

    async def read_all(self):
        """Read what is live of every stream, with nothing cached."""
        cache = BlockCache(self.config, self.store.inner, self.objects, CLUSTER_ID)
        found = {}
        for stream_id, of_stream in self.written.items():
            offset = max(
                self.objects.image.streams[stream_id].start_offset, of_stream[0].base_offset
            )
            end = of_stream[-1].base_offset + of_stream[-1].count
            found[stream_id] = []
            while offset < end:
                part = await cache.read(stream_id, offset, end, 10**9)
                found[stream_id] += part
                offset = part[-1].base_offset + part[-1].count
        await cache.shutdown()
        return found

    async def check(self):
        for stream_id, found in (await self.read_all()).items():
            start = self.objects.image.streams[stream_id].start_offset
            live = [it for it in self.written[stream_id] if it.base_offset + it.count > start]
            assert found == live

    def kinds(self):
        return sorted(found.kind.name for found in self.objects.committed.values())


def test_small_objects_become_one():
    async def main():
        setup = Setup()
        await setup.upload_small(6)
        await setup.compactor.compact()
        assert setup.kinds() == ["STREAM_SET"]
        await setup.check()
        statistics = setup.compactor.statistics
        assert (statistics.groups, statistics.objects_in, statistics.objects_out) == (1, 6, 1)
        assert statistics.bytes_in > statistics.bytes_out > 0
        assert setup.objects.destroyed == list(range(6))
        assert setup.objects.prepared == []

    run(main())


def test_large_streams_leave():
    async def main():
        setup = Setup(stream_split_bytes=1500)
        await setup.upload_small(6, streams=(1, 2))
        await setup.upload(batches(1, 18, 1), batches(5, 0, 1))
        await setup.compactor.compact()
        assert setup.kinds() == ["STREAM", "STREAM", "STREAM_SET"]
        await setup.check()

    run(main())


def test_a_second_round_has_nothing_to_do():
    async def main():
        setup = Setup(open_streams=[(1, 1), (2, 1), (3, 1)], stream_split_bytes=3000)
        for _ in range(40):
            await setup.upload_small(1)
        await setup.compactor.compact()
        await setup.check()
        assert len(setup.objects.committed) <= 9  # three per stream, too few for a group
        writes = setup.store.requests["put_stream"]
        for _ in range(5):
            await setup.compactor.compact()
        assert setup.store.requests["put_stream"] == writes

    run(main())


def test_objects_stay_few_over_time():
    async def main():
        setup = Setup(open_streams=[(1, 1), (2, 1), (3, 1)], stream_split_bytes=3000)
        for _ in range(60):
            await setup.upload_small(2)
            await setup.compactor.compact()
            assert len(setup.objects.committed) < 25
        await setup.check()

    run(main())


def test_stream_objects_of_open_streams_are_merged():
    async def main():
        setup = Setup(open_streams=[(1, 9)])
        for start in range(0, 50, 10):
            await setup.upload(batches(1, start, 10), kind=ObjectType.STREAM)
            await setup.upload(batches(2, start, 10), kind=ObjectType.STREAM)
        await setup.objects.open_stream(1, 9)
        await setup.compactor.compact()
        assert len(setup.objects.get_stream_objects(1)) == 1
        assert len(setup.objects.get_stream_objects(2)) == 5
        (merged,) = [
            it.ranges[0] for it in setup.objects.committed.values() if it.ranges[0].epoch == 9
        ]
        assert (merged.start_offset, merged.end_offset) == (0, 50)
        await setup.check()

    run(main())


def test_trimmed_data_are_dropped():
    async def main():
        setup = Setup()
        await setup.upload_small(4)
        await setup.objects.trim_stream(1, 1, 5)
        await setup.objects.trim_all(2)
        before = sum(it.size_bytes for it in setup.objects.committed.values())
        await setup.compactor.compact()
        (merged,) = setup.objects.committed.values()
        assert {it.stream_id for it in merged.ranges} == {1, 3}
        assert merged.size_bytes < before * 0.6
        setup.written.pop(2)
        await setup.check()

    run(main())


def test_an_object_that_is_mostly_dead_is_rewritten_by_itself_once():
    async def main():
        setup = Setup()
        await setup.upload(batches(1, 0, 60), batches(2, 0, 1))
        await setup.compactor.compact()
        assert setup.objects.compactions == 0
        await setup.objects.trim_stream(1, 1, 50)
        await setup.compactor.compact()
        assert setup.objects.compactions == 1
        await setup.check()
        for _ in range(3):
            await setup.compactor.compact()
        assert setup.objects.compactions == 1

    run(main())


def test_one_tiny_object_is_not_rewritten_for_ever():
    async def main():
        setup = Setup()
        await setup.upload(batches(1, 0, 1, size=1))
        for _ in range(3):
            await setup.compactor.compact()
        assert setup.objects.compactions == 0

    run(main())


class TestFailures:
    """The loop survives them, and nothing is lost or committed twice."""

    def test_a_lost_reply_of_the_control_plane(self):
        async def main():
            setup = Setup()
            await setup.upload_small(4)
            setup.commits.after = [RetriableStorageError("no answer"), TimeoutError()]
            await setup.compactor.compact()
            assert (setup.objects.compactions, setup.compactor.statistics.groups) == (1, 1)
            await setup.check()

        run(main())

    def test_a_control_plane_that_stays_away(self):
        async def main():
            setup = Setup()
            await setup.upload_small(4)
            setup.commits.before = [RetriableStorageError("no answer")] * MAX_COMMIT_ATTEMPTS
            await setup.compactor.compact()
            assert setup.compactor.statistics.failures == 1
            assert setup.kinds() == ["STREAM_SET"] * 4
            await setup.compactor.compact()
            assert setup.kinds() == ["STREAM_SET"]
            await setup.check()

        run(main())

    @pytest.mark.parametrize("error", [CommitRefusedError("expired"), FencedError("newer owner")])
    def test_a_refused_commit(self, error):
        async def main():
            setup = Setup()
            await setup.upload_small(4)
            setup.commits.before = [error]
            await setup.compactor.compact()
            assert setup.compactor.statistics.failures == 1
            assert setup.kinds() == ["STREAM_SET"] * 4
            await setup.check()

        run(main())

    @pytest.mark.parametrize("gone", [False, True])
    def test_a_damaged_object_holds_up_nothing_else(self, gone, caplog):
        async def main():
            setup = Setup()
            await setup.upload_small(6)
            key = object_key(CLUSTER_ID, 2)
            if gone:
                await setup.store.delete([key])
            else:
                content = setup.store.inner.objects[key]
                setup.store.inner.objects[key] = content[:50] + b"\xff\xff" + content[52:]
            with caplog.at_level(logging.ERROR, logger="headrace.storage.compaction"):
                await setup.compactor.compact()
                await setup.compactor.compact()
            assert len(caplog.records) == 1
            assert setup.compactor.statistics.damaged_objects == 1
            assert 2 in setup.objects.committed
            assert len(setup.objects.committed) == 2

        run(main())

    def test_a_bucket_that_fails_at_random(self):
        """Reads are the same after every round, whatever failed in it."""

        async def main():
            for seed in range(6):
                setup = Setup(open_streams=[(1, 1), (2, 1), (3, 1)], stream_split_bytes=3000)
                setup.store._rng = random.Random(seed)
                setup.store.rates = Rates(refused=0.05, lost_reply=0.05, flipped_bit=0.05)
                for _ in range(6):
                    setup.store.rates, rates = Rates(), setup.store.rates
                    await setup.upload_small(3)
                    setup.store.rates = rates
                    await setup.compactor.compact()
                    await setup.check()
                setup.store.rates = Rates()
                setup.compactor._damaged.clear()
                for _ in range(3):
                    await setup.compactor.compact()
                await setup.check()
                assert len(setup.objects.committed) < 12

        run(main())

    def test_readers_meanwhile_see_no_difference(self):
        async def main():
            setup = Setup(open_streams=[(1, 1), (2, 1), (3, 1)], stream_split_bytes=2000)
            setup.store.rates = Rates(max_latency_ms=10)
            await setup.upload_small(30)
            cache = BlockCache(setup.config, setup.store, setup.objects, CLUSTER_ID)
            done = False

            async def reader(stream_id, rng):
                reads = 0
                while not done or reads < 10:
                    start = rng.randrange(90)
                    found = await cache.read(stream_id, start, 90, 2000)
                    assert found == setup.written[stream_id][start : start + len(found)]
                    reads += 1
                    await asyncio.sleep(0.001)
                    # What is destroyed goes at once: no retention helps the readers here.
                    destroyed = setup.objects.destroyed
                    await setup.store.delete([object_key(CLUSTER_ID, it) for it in destroyed])
                    await setup.objects.forget_objects(destroyed)

            async with asyncio.TaskGroup() as group:
                for stream_id in (1, 2, 3):
                    group.create_task(reader(stream_id, random.Random(stream_id)))
                for _ in range(3):
                    await setup.compactor.compact()
                done = True
            assert setup.compactor.statistics.groups > 0
            await cache.shutdown()

        run(main())


def test_memory_bounds_windows_and_groups():
    small = Compactor(
        StorageConfig(compaction_memory_bytes=8 * 1024 * 1024),
        MemoryObjectStore(),
        ControlPlane(),
        CLUSTER_ID,
        rng=random.Random(0),
    )
    assert small._set_limits.max_objects * small._window_bytes <= 4 * 1024 * 1024
    large = Setup().compactor
    assert large._window_bytes == 16 * 1024 * 1024
    assert large._set_limits.max_objects == 15


class TestTimeOfAGroup:
    """Ids that a group needs longer than they live are never committed: it would go on for ever."""

    def setup_expiring(self, monkeypatch, **config):
        monkeypatch.setattr(rewrite, "PACE_BYTES", 300)
        return Setup(object_prepare_ttl_ms=60_000, **config)

    def test_a_group_is_no_larger_than_the_throttle_lets_through_in_time(self, monkeypatch):
        async def main():
            setup = self.setup_expiring(monkeypatch, compaction_bytes_per_s=200)
            await setup.upload_small(12)
            assert sum(size for _, size, _ in setup.objects.get_stream_set_objects()) > 200 * 60
            await setup.compactor.compact()
            assert setup.compactor.statistics.failures == 0
            assert len(setup.objects.committed) < 6
            await setup.check()

        run(main())

    def test_groups_become_smaller_when_the_bucket_is_slower_than_that(self, monkeypatch):
        monkeypatch.setattr(executor, "MIN_GROUP_BYTES_LOWERED", 5_000)

        async def main():
            setup = self.setup_expiring(monkeypatch)
            setup.store.rates = Rates(max_latency_ms=12_000)
            await setup.upload_small(24)
            for _ in range(8):
                await setup.compactor.compact()
            failures = setup.compactor.statistics.failures
            assert 1 <= failures <= 4
            assert len(setup.objects.committed) < 12
            await setup.check()

        run(main())


def test_it_runs_at_its_interval_until_cancelled():
    async def main():
        setup = Setup(stream_set_object_compaction_interval_ms=60_000)
        await setup.upload_small(4)
        task = asyncio.create_task(setup.compactor.run())
        await asyncio.sleep(44)
        assert setup.compactor.statistics.rounds == 0
        await asyncio.sleep(600)
        assert 8 <= setup.compactor.statistics.rounds <= 14
        assert setup.kinds() == ["STREAM_SET"]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(main())
