"""Cold reads, uploads and compaction use one bucket: where one class stands still, the others go on."""

import asyncio
import random

import pytest

from headrace.config.node import StorageConfig
from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.compaction.executor import Compactor
from headrace.storage.object_store.budgeted import compaction_view
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.ports import ObjectType
from headrace.storage.stats import UploadCounters
from headrace.storage.upload.object_upload import ObjectUpload
from headrace.storage.upload.plan import plan_upload
from headrace.storage.upload.retry import Retrying
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane
from tests.simulation.virtual_time import run
from tests.unit.storage.samples import batches, write

READERS = 60
CONFIG = StorageConfig(
    max_read_requests=4, max_compaction_requests=2, upload_concurrency=3, object_block_bytes=500
)
CLASSES = ["cold reads", "compaction", "uploads"]


class OneClassStandsStill(MemoryObjectStore):
    """Answers no request of one class, and counts what is under way of it."""

    def __init__(self) -> None:
        super().__init__()
        self.stuck = ""
        self.inflight = 0

    async def _pass(self, of_class: str) -> None:
        if of_class == self.stuck:
            self.inflight += 1
            await asyncio.Event().wait()

    async def put(self, key, parts):
        await self._pass("uploads")
        await super().put(key, parts)


class View:
    """The store as one class sees it, so that reads of the two that read can be told apart."""

    def __init__(self, store: OneClassStandsStill, of_class: str) -> None:
        self._store = store
        self._class = of_class

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def get_range(self, key, start, end):
        await self._store._pass(self._class)
        return await self._store.get_range(key, start, end)


class Node:
    """The three, as a node joins them."""

    def __init__(self) -> None:
        self.store = OneClassStandsStill()
        self.objects = ControlPlane()
        counters = UploadCounters()
        self.cache = BlockCache(CONFIG, View(self.store, "cold reads"), self.objects, CLUSTER_ID)
        self.compactor = Compactor(
            CONFIG,
            compaction_view(View(self.store, "compaction"), CONFIG),
            self.objects,
            CLUSTER_ID,
            rng=random.Random(0),
        )
        self.uploads = ObjectUpload(
            CONFIG,
            store=self.store,
            objects=self.objects,
            cluster_id=CLUSTER_ID,
            retrying=Retrying(random.Random(0), counters),
            clock_ms=lambda: 0,
            counters=counters,
        )

    async def fill(self) -> None:
        """One object for each cold reader, and some that are worth compacting."""
        for reader in range(READERS):
            written = write([batches(100 + reader, 0, 8)], 500)
            await self.objects.upload(self.store, written, ObjectType.STREAM)
        for start in range(0, 40, 5):
            written = write([batches(1, start, 5), batches(2, start, 5)], 500)
            await self.objects.upload(self.store, written, ObjectType.STREAM_SET)

    async def do(self, of_class: str, number: int = 1) -> None:
        if of_class == "compaction":
            await self.compactor.compact()
            assert self.compactor.statistics.groups > 0
        elif of_class == "uploads":
            made = {5000 + it: batches(5000 + it, 0, 3) for it in range(number)}
            sizes = dict.fromkeys(made, 3 * 133)
            await self.uploads.upload(plan_upload(made, sizes, 1))
        else:
            reads = (self.cache.read(100 + it, 0, 8, 10**6) for it in range(number))
            for found in await asyncio.gather(*reads):
                assert [it.base_offset for it in found] == list(range(8))


@pytest.mark.parametrize(
    ("stuck", "max_inflight"), [("cold reads", 4 + 2), ("compaction", 2), ("uploads", 3)]
)
def test_one_that_stands_still_holds_up_no_other(stuck: str, max_inflight: int) -> None:
    async def main() -> None:
        node = Node()
        await node.fill()
        node.store.stuck = stuck
        standing = asyncio.create_task(node.do(stuck, READERS))
        for _ in range(50):
            await asyncio.sleep(0)
        assert 0 < node.store.inflight <= max_inflight
        assert not standing.done()
        for other in CLASSES:
            if other != stuck:
                async with asyncio.timeout(600):
                    await node.do(other, 20)
        assert not standing.done()
        standing.cancel()
        await asyncio.gather(standing, return_exceptions=True)
        await node.cache.shutdown()

    run(main())
