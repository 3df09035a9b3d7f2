"""Readers that take their time, while what they read is merged and deleted under them at once."""

import asyncio
import random

import pytest

from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.compaction import plan
from headrace.storage.deletion import ObjectDeleter
from headrace.storage.ports import ObjectType
from tests.simulation.control_plane import CLUSTER_ID, loop_ms
from tests.simulation.faulty_store import Rates
from tests.simulation.virtual_time import run
from tests.unit.storage.compaction.test_executor import Setup
from tests.unit.storage.samples import batches

READERS = 6


class Scene(Setup):
    """Every request to the bucket takes up to a second; nothing is retained."""

    def __init__(self):
        super().__init__(open_streams=[(7, 1)], block_cache_bytes=20_000)
        self.store._rng = random.Random(1)
        self.store.rates = Rates(max_latency_ms=1_000)
        self.deleter = ObjectDeleter(
            self.config,
            self.store,
            self.objects,
            CLUSTER_ID,
            rng=random.Random(2),
            wall_clock_ms=loop_ms,
        )
        self.passes = 0

    async def write(self, rounds):
        for n in range(rounds):
            await self.upload_small(4)
            await self.upload(batches(7, n * 20, 20), kind=ObjectType.STREAM)
            await self.compactor.compact()
            await self.deleter.delete()
            await asyncio.sleep(1)

    async def read_on(self, rng):
        """Read everything that was written when a pass began, in small steps, again and again."""
        cache = BlockCache(self.config, self.store, self.objects, CLUSTER_ID)
        try:
            while True:
                for stream_id, written in list(self.written.items()):
                    await self._read_pass(cache, stream_id, list(written), rng)
                self.passes += 1
                await asyncio.sleep(rng.random())
        finally:
            await cache.shutdown()

    async def _read_pass(self, cache, stream_id, written, rng):
        end = min(self.objects.end(stream_id), written[-1].end_offset)
        offset = 0
        while offset < end:
            part = await cache.read(stream_id, offset, end, rng.choice([1, 500, 5_000]))
            assert part == written[offset : offset + len(part)]
            offset += len(part)
            await asyncio.sleep(rng.random() * 3)


@pytest.mark.parametrize("copied", [False, True])
def test_no_read_ever_fails(copied, monkeypatch):
    if copied:
        monkeypatch.setattr(plan, "MIN_COPIED_BYTES", 5_000)

    async def main():
        scene = Scene()
        readers = [asyncio.create_task(scene.read_on(random.Random(n))) for n in range(READERS)]
        await scene.write(25)
        for reader in readers:
            assert not reader.done() or reader.result()
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        assert scene.passes > READERS
        assert len(scene.objects.forgotten) > 50
        assert (scene.compactor.statistics.copied_bytes > 0) == copied
        await scene.check()

    run(main())
