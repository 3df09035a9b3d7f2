"""Whatever happens, the bucket's objects, read by their byte tables alone, are what was appended.

The histories of `test_invariants` have the engine alone; these have all of storage, on the control
plane's own rules: uploads, compaction of both kinds, deletion, trims, topics that go and come back,
caches too small for what is read, crashes, and publications of the metadata.
"""

import asyncio
import struct
from collections.abc import Awaitable, Callable, Coroutine

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.cache.data_blocks import DataBlockCache
from headrace.storage.cache.index_cache import load_index
from headrace.storage.compaction import plan, rewrite
from headrace.storage.errors import ObjectStoreError, OffsetOutOfRangeError, RetriableStorageError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.objects.keys import object_key
from headrace.storage.objects.writer import ObjectWriter
from headrace.storage.record_batch import StreamRecordBatch
from headrace.storage.request_budget import RequestBudget
from tests.simulation.faulty_store import Rates
from tests.simulation.virtual_time import run
from tests.unit.metadata.pure_controller import CLUSTER_ID
from tests.unit.storage.audited_world import CONFIG, World
from tests.unit.storage.fakes import settle
from tests.unit.storage.object_auditor import audit_object
from tests.unit.storage.samples import batches, joined, write

SEEDS = 16
STEPS = 80
TOPICS = ("a", "b")


class History:
    """One history of a world."""

    def __init__(self, seed: int) -> None:
        self.world = World(seed)
        self.rng = self.world.rng
        self._background: set[asyncio.Task] = set()
        self._publications: set[asyncio.Task] = set()

    async def run(self) -> None:
        world = self.world
        await world.start()
        for name in TOPICS:
            await world.open_topic(name)
        world.loss = self.rng.choice([0.0, 0.1])
        world.store.rates = self.rng.choice(
            [Rates(max_latency_ms=20), Rates(refused=0.05, lost_reply=0.05, max_latency_ms=50)]
        )
        actions: list[tuple[Callable, int]] = [
            (self.append, 40),
            (self.confirm, 20),
            (self.archive, 14),
            (self.read, 12),
            (self.pass_time, 6),
            (self.compact, 8),
            (self.delete, 4),
            (self.publish, 3),
            (self.trim, 3),
            (self.recreate, 1),
            (self.crash, 1),
        ]
        for _ in range(STEPS):
            (action,) = self.rng.choices(*zip(*actions, strict=True))
            await action()
            world.auditor.check_accounts()
        await self.finish()

    async def append(self) -> None:
        stream = self.rng.choice(self.world.streams)
        for _ in range(self.rng.choice([1, 3, 8])):
            size = self.rng.choice([0, 30, 200, 700, 1_500])
            if self.world.engine.admits(size + 100):
                self.world.auditor.append(stream, self.rng.choice([1, 1, 5]), size)

    async def confirm(self) -> None:
        pending = self.world.engine.stats().open_appends
        if pending:
            self.world.wal.confirm_records(self.rng.randint(1, pending))
            await asyncio.sleep(0)

    async def archive(self) -> None:
        self.world.engine._pipeline.archive_aged()

    async def pass_time(self) -> None:
        await asyncio.sleep(self.rng.choice([0.01, 1, 30]))

    async def read(self) -> None:
        self._begin(self._read())

    async def compact(self) -> None:
        self._begin(self.world.compactor.compact())

    async def delete(self) -> None:
        if self.rng.random() < 0.5:
            await asyncio.sleep(61)
        self._begin(self.world.deleter.delete())

    async def publish(self) -> None:
        """Begin a publication; one that is still under way is of a leader that was deposed."""
        if any(not it.done() for it in self._publications):
            self.world.new_publisher()
        self._publications.add(asyncio.create_task(self.world.publisher.publish()))

    async def trim(self) -> None:
        stream = self.rng.choice(self.world.streams)
        offset = self.rng.randint(stream.start_offset, stream.committed_offset)
        await self._insist(lambda: stream.trim(offset))

    async def recreate(self) -> None:
        await self._background_done()
        name = self.rng.choice(TOPICS)
        self.world.delete_topic(name)
        await self._insist(lambda: self.world.open_topic(name))

    async def crash(self) -> None:
        await self._background_done()
        await self.world.crash()

    async def finish(self) -> None:
        """Everything is read alike by everybody, and the bucket holds what the metadata know."""
        world = self.world
        await self._background_done()
        await asyncio.gather(*self._publications)
        world.calm()
        await world.read_everything()
        compared = await world.settle_bucket()
        assert compared.is_settled, list(compared.findings())
        await world.read_everything()
        blocks = BlockCache(CONFIG, world.store, world.compactor._objects, CLUSTER_ID)
        await world.read_everything(blocks)
        await blocks.shutdown()
        await world.stop()

    async def _read(self) -> None:
        stream = self.rng.choice(self.world.streams)
        offset = self.rng.randint(stream.start_offset, stream.confirm_offset)
        for _ in range(self.rng.choice([1, 5])):
            if offset == stream.confirm_offset:
                return
            try:
                found = await stream.fetch(offset, self.rng.choice([1, 1_000, 5_000]))
            except ObjectStoreError:
                continue
            except OffsetOutOfRangeError:
                assert offset < stream.start_offset, "trimmed meanwhile"
                return
            offset = self.world.auditor.check_read(stream.stream_id, offset, found)

    def _begin(self, work: Coroutine) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)

    async def _background_done(self) -> None:
        tasks, self._background = self._background, set()
        await asyncio.gather(*tasks)

    async def _insist(self, attempt: Callable[[], Awaitable]) -> None:
        for _ in range(100):
            try:
                await attempt()
            except (RetriableStorageError, ObjectStoreError):
                await asyncio.sleep(1)
            else:
                return
        pytest.fail("the control plane never answered")


@pytest.fixture
def small_compaction(monkeypatch):
    """Copies, and outputs in several pieces, already of little."""
    monkeypatch.setattr(plan, "MIN_COPIED_BYTES", 6_000)
    monkeypatch.setattr(rewrite, "CHUNK_BYTES", 1_500)


@pytest.mark.usefixtures("small_compaction")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_bucket_holds_what_was_appended_in_every_history(seed):
    run(History(seed).run())


# Named ones.


def test_blocks_of_two_objects_are_told_apart():
    """The key of a cached block has the id of its object, which is never given again."""

    async def main():
        store = MemoryObjectStore()
        budget = RequestBudget(4, 1 << 20)
        cache = DataBlockCache(
            store, "c", capacity_bytes=1 << 20, budget=budget, ahead_budget=budget
        )
        for object_id, start in ((7, 0), (8, 10)):
            written = write([batches(1, start, 10)])
            key = object_key("c", object_id)
            await store.put(key, written.parts)
            (entry,) = await load_index(store, key, written.size_bytes)
            (block,) = await cache.load(object_id, [entry])
            found = block.collect(start, start + 10, 1 << 20, with_first=True)
            assert found.batches == batches(1, start, 10)

    run(main())


def test_nothing_of_a_deleted_topic_is_served_under_its_name():
    """Neither from LogCache nor from BlockCache, at the same offsets."""

    async def main():
        world = World(1)
        await world.start()
        for size in (100, 50):
            stream, _ = await world.open_topic("a")
            assert stream.fetch_cached(0, 1 << 20) == []
            for _ in range(60):
                world.auditor.append(stream, 1, size)
            world.wal.confirm()
            await world.engine.force_upload()
            await settle()
            await world.read_everything()
            await world.read_everything(world.blocks)
            world.delete_topic("a")
        await world.stop()

    run(main())


EDGES = st.sampled_from([0, 1, 2**15 - 1, 2**31 - 2, 2**31 - 1, 2**31, 2**62, 2**63 - 1, 2**63])


@settings(max_examples=60, deadline=None)
@given(EDGES, EDGES, EDGES, st.lists(EDGES, min_size=1, max_size=3))
def test_what_does_not_fit_its_field_is_refused_and_all_else_is_read_back(
    stream_id, epoch, start, counts
):
    made = []
    for count in counts:
        made.append(StreamRecordBatch(stream_id, epoch, start, count, memoryview(b"x")))
        start += count
    writer = ObjectWriter(1 << 20)
    try:
        writer.add(stream_id, made)
        written = writer.finish()
    except (ValueError, struct.error):
        assert max(stream_id, epoch, start) >= 2**63 or not all(0 < it < 2**31 for it in counts)
        return
    found = [it for block in audit_object(joined(written)) for it in block.batches]
    assert [tuple(it) for it in found] == [tuple(it) for it in made]
    (covered,) = written.ranges
    assert (covered.start_offset, covered.end_offset) == (made[0].base_offset, start)
