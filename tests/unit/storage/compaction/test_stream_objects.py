"""Stream Objects merged by copies: nothing through the broker, the same reads, and an end to it."""

import asyncio
import logging

import pytest

from headrace.storage.compaction import plan, rewrite
from headrace.storage.errors import CopyUnsupportedError, ObjectStoreError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.ports import ObjectType, unnoticed
from tests.simulation.faulty_store import Fault, FaultyStore
from tests.simulation.virtual_time import run
from tests.unit.storage.compaction.test_executor import Setup
from tests.unit.storage.samples import batches

KIB = 1024


@pytest.fixture(autouse=True)
def small_limits(monkeypatch):
    monkeypatch.setattr(plan, "MIN_COPIED_BYTES", 8_000)
    monkeypatch.setattr(plan, "MAX_REWRITTEN_BYTES", 40_000)
    monkeypatch.setattr(plan, "MAX_COPIED_BYTES", 1_000_000)
    monkeypatch.setattr(plan, "SMALL_OBJECT_BYTES", 1_000)


class RemoteStore(MemoryObjectStore):
    """Copies remotely, unless it cannot; counts what is read and written through the broker."""

    def __init__(self):
        super().__init__()
        self.can_copy = self.is_remote = True
        self.read_bytes = self.written_bytes = 0

    @property
    def copies_remotely(self):
        return self.is_remote

    async def compose(self, key, pieces, progress=unnoticed):
        if not self.can_copy:
            raise CopyUnsupportedError("NotImplemented")
        read = self.read_bytes
        await super().compose(key, pieces, progress)
        self.read_bytes = read

    async def get_range(self, key, start, end):
        self.read_bytes += end - start
        return await super().get_range(key, start, end)

    async def put_stream(self, key, chunks):
        async def counted():
            async for parts in chunks:
                self.written_bytes += sum(map(len, parts))
                yield parts

        await super().put_stream(key, counted())


class Scene(Setup):
    def __init__(self, **config):
        super().__init__(open_streams=[(1, 9)], **config)
        self.remote = RemoteStore()
        self.store = FaultyStore(self.remote)
        self.compactor._store = self.compactor._merger._store = self.store
        self.next = 0

    async def upload_stream(self, number, batch_count=20, size=400):
        for _ in range(number):
            made = batches(1, self.next, batch_count, size=size, epoch=9)
            self.next += batch_count
            await self.upload(made, kind=ObjectType.STREAM)

    def counts(self):
        return self.store.requests["compose"], self.store.requests["put_stream"]


def test_large_objects_are_copied():
    async def main():
        scene = Scene()
        await scene.upload_stream(8)
        await scene.compactor.compact()
        assert scene.kinds() == ["STREAM"]
        assert scene.counts() == (1, 0)
        statistics = scene.compactor.statistics
        assert (statistics.groups, statistics.objects_in, statistics.objects_out) == (1, 8, 1)
        assert statistics.copied_bytes == statistics.bytes_out > 60_000
        assert scene.remote.written_bytes == 0
        await scene.check()

    run(main())


def test_a_copy_tells_how_far_it_is():
    async def main():
        scene = Scene()
        await scene.upload_stream(8)
        statistics = scene.compactor.statistics
        real, seen = scene.remote.compose, []

        async def compose(key, pieces, progress):
            for _ in range(2):
                progress(10_000)
                seen.append(statistics.group_done_bytes)
            assert statistics.group_bytes > 60_000
            progress(-20_000)
            await real(key, pieces, progress)
            seen.append(statistics.group_done_bytes)

        scene.remote.compose = compose
        await scene.compactor.compact()
        assert seen == [10_000, 20_000, statistics.bytes_out]
        assert statistics.group_done_bytes == 0
        assert statistics.throttled_seconds == 0
        await scene.check()

    run(main())


def test_small_objects_are_read_and_rewritten():
    async def main():
        scene = Scene()
        await scene.upload_stream(8, batch_count=1)
        await scene.compactor.compact()
        assert scene.counts() == (0, 1)
        assert scene.compactor.statistics.copied_bytes == 0
        await scene.check()

    run(main())


def test_small_blocks_are_joined_while_that_is_cheap():
    async def main():
        scene = Scene(object_block_bytes=8 * KIB)
        await scene.upload_stream(8, batch_count=3)  # blocks of 1.3 KiB
        await scene.compactor.compact()
        assert scene.counts() == (0, 1)
        ((_, size_bytes, _),) = [(0, it.size_bytes, 0) for it in scene.objects.committed.values()]
        assert size_bytes < 8 * 3 * 433 + 2 * 60 + 48
        await scene.check()

    run(main())


def test_an_index_does_not_grow_beyond_its_bound(monkeypatch):
    monkeypatch.setattr(plan, "MAX_INDEX_ENTRIES", 20)

    async def main():
        scene = Scene()
        await scene.upload_stream(8)  # 40 blocks: more than a copy may have
        await scene.compactor.compact()
        assert scene.counts() == (0, 0)  # nor do blocks of that size allow such a group
        scene.compactor._merger._config = scene.config = type(scene.config)(
            stream_split_bytes=10_000, object_block_bytes=64 * KIB
        )
        await scene.compactor.compact()
        assert scene.counts() == (0, 1)
        await scene.check()

    run(main())


def test_it_comes_to_an_end():
    """Without new writes nothing is copied for ever, and each byte is only so often."""

    async def main():
        scene = Scene()
        for _ in range(100):
            await scene.upload_stream(3)
            await scene.compactor.compact()
        await scene.check()
        stored = sum(it.size_bytes for it in scene.objects.committed.values())
        assert len(scene.objects.committed) <= 3 * 7
        assert scene.compactor.statistics.bytes_out < 3 * stored
        before = scene.counts(), scene.compactor.statistics.bytes_out
        for _ in range(5):
            await scene.compactor.compact()
        assert before == (scene.counts(), scene.compactor.statistics.bytes_out)

    run(main())


def test_trimmed_blocks_are_not_copied():
    async def main():
        scene = Scene()
        await scene.upload_stream(8)
        await scene.objects.trim_stream(1, 9, 19)
        await scene.compactor.compact()
        (merged,) = scene.objects.committed.values()
        assert merged.size_bytes < 7.3 / 8 * scene.compactor.statistics.bytes_in
        await scene.check()

    run(main())


def test_a_bucket_that_does_not_copy_is_asked_once(caplog):
    async def main():
        scene = Scene()
        scene.remote.can_copy = False
        await scene.upload_stream(8, batch_count=10)
        with caplog.at_level(logging.WARNING, logger="headrace.storage.compaction"):
            for _ in range(3):
                await scene.compactor.compact()
                await scene.upload_stream(4, batch_count=10)
            await scene.compactor.compact()
        assert scene.counts()[0] == 1
        assert len(caplog.records) == 1
        assert scene.kinds().count("STREAM") < 12
        assert all(it.size_bytes <= 40_000 for it in scene.objects.committed.values())
        await scene.check()

    run(main())


@pytest.mark.parametrize("fault", [Fault.REFUSED, Fault.LOST_REPLY])
def test_a_copy_that_fails_is_made_again_under_another_id(fault):
    async def main():
        scene = Scene()
        await scene.upload_stream(8)
        scene.store.then("compose", fault)
        await scene.compactor.compact()
        assert len(scene.objects.committed) == 8
        assert scene.compactor.statistics.failures == 1
        await scene.compactor.compact()
        assert scene.kinds() == ["STREAM"]
        assert len({key for operation, key in scene.store.log if operation == "compose"}) == 2
        await scene.check()

    run(main())


def test_a_source_that_goes_meanwhile_is_no_damage():
    async def main():
        scene = Scene()
        await scene.upload_stream(8)

        async def compose(key, pieces, progress):
            raise ObjectStoreError("gone")

        scene.remote.compose = compose
        await scene.compactor.compact()
        assert scene.compactor.statistics.damaged_objects == 0
        del scene.remote.compose
        await scene.compactor.compact()
        assert scene.kinds() == ["STREAM"]

    run(main())


@pytest.mark.parametrize("is_remote", [True, False])
def test_what_goes_through_this_machine_is_throttled(is_remote):
    async def main():
        scene = Scene(compaction_bytes_per_s=1_000)
        scene.remote.is_remote = is_remote
        for _ in range(2):
            await scene.upload_stream(8, batch_count=11)
            await scene.compactor.compact()
        statistics = scene.compactor.statistics
        assert (statistics.groups, scene.counts()) == (2, (2, 0))
        # What the first has moved is paid for before the second begins.
        took_s = asyncio.get_running_loop().time()
        assert (took_s > 35, statistics.throttled_seconds > 35) == (not is_remote, not is_remote)

    run(main())


def test_what_is_read_and_rewritten_is_throttled(monkeypatch):
    monkeypatch.setattr(rewrite, "PACE_BYTES", 1_000)

    async def main():
        scene = Scene(compaction_bytes_per_s=1_000)
        await scene.upload_small(8, streams=(2, 3))
        data_bytes = sum(it.size_bytes for it in scene.objects.committed.values())
        done = []
        spend = scene.compactor._throttle.spend

        async def noted(size_bytes):
            done.append(scene.compactor.statistics.group_done_bytes)
            await spend(size_bytes)

        scene.compactor._throttle.spend = noted
        await scene.compactor.compact()
        assert scene.compactor.statistics.groups == 1
        # All but the index entries, and what is left below a step.
        assert asyncio.get_running_loop().time() > data_bytes / 1_000 * 0.5
        assert done == sorted(done)
        assert 0.5 * data_bytes < done[-1] < data_bytes
        assert scene.compactor.statistics.group_done_bytes == 0
        await scene.check()

    run(main())
