"""Checkpoints and newest records of partitions that are about to come are read before these are opened."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from headrace.broker.partition.ends_ahead import (
    MAX_AHEAD,
    MAX_READING,
    MAX_RECORDS_AHEAD,
    EndsAhead,
)
from headrace.config.node import StorageConfig
from headrace.metadata.records.objects import (
    ObjectsPreparedRecord,
    RecordedRange,
    StreamSetObjectRecord,
)
from headrace.metadata.records.streams import (
    RangeRecord,
    StreamRecord,
    StreamState,
    StreamStateRecord,
)
from headrace.metadata.records.topics import PartitionMoveEndedRecord, PartitionMoveRecord
from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.ports import ObjectType
from headrace.storage.record_batch import StreamRecordBatch
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane
from tests.simulation.virtual_time import run
from tests.unit.broker.cluster_scene import (
    NODE_ID,
    FakeClient,
    broker_records,
    topic_id,
    topic_records,
)
from tests.unit.storage.samples import batches, write

SOURCE = 2
META = 1_001  # streams of the first topic's partition 0
DATA = META - 1


class Client(FakeClient):
    """Partitions of broker 2."""

    def __init__(self, partitions: int = 1) -> None:
        super().__init__(*broker_records(), *broker_records(SOURCE))
        self.apply(*topic_records("t", 1, partitions, leader=SOURCE))
        for index in range(partitions):
            for stream_id in (DATA + 2 * index, META + 2 * index):
                self.apply(
                    StreamRecord(stream_id, topic_id(1), index, -1, 0, 0),
                    RangeRecord(stream_id, 0, 0, SOURCE, 0),
                    StreamStateRecord(stream_id, 0, StreamState.OPENED, SOURCE),
                )
        self._object_id = 0

    def commit(self, start: int, end: int, index: int = 0, stream: int = META) -> None:
        """A checkpoint of a partition, or its records, are in the bucket."""
        number, self._object_id = self._object_id, self._object_id + 1
        self.apply(ObjectsPreparedRecord(number, 1, SOURCE, 0, 1 << 40))
        covered = (RecordedRange(stream + 2 * index, 0, start, end),)
        self.apply(StreamSetObjectRecord(number, SOURCE, number, 100, 0, covered))

    def begin_move(self, index: int = 0, target: int = NODE_ID) -> None:
        self.apply(PartitionMoveRecord(topic_id(1), index, self.image.index + 1, target))


class Blocks:
    """Reads take a while; notes them."""

    def __init__(self) -> None:
        self.reads: list[tuple[int, int, int]] = []
        self.at_once = self.most_at_once = 0
        self.fails = False

    async def read(
        self, stream_id: int, start: int, end: int, max_bytes: int
    ) -> list[StreamRecordBatch]:
        self.reads.append((stream_id, start, end))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0.1)
        self.at_once -= 1
        if self.fails:
            raise ObjectStoreError("no answer")
        return []


@asynccontextmanager
async def reading(client: Client, blocks: Blocks | BlockCache) -> AsyncIterator[None]:
    ahead = EndsAhead(client=client, blocks=blocks, node_id=NODE_ID)  # type: ignore[arg-type]
    task = asyncio.create_task(ahead.run())
    await asyncio.sleep(1)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()


def test_the_newest_checkpoint_is_read_when_the_move_is_known_and_when_there_is_a_newer_one() -> (
    None
):
    async def main() -> None:
        client, blocks = Client(), Blocks()
        client.commit(0, 3)
        async with reading(client, blocks):
            assert blocks.reads == []
            client.begin_move()
            await asyncio.sleep(1)
            assert blocks.reads == [(META, 2, 3)]
            client.apply(*topic_records("u", 2))
            await asyncio.sleep(1)
            assert blocks.reads == [(META, 2, 3)]
            client.commit(3, 4)
            await asyncio.sleep(1)
            assert blocks.reads == [(META, 2, 3), (META, 3, 4)]

    run(main())


def test_the_newest_records_are_read_too() -> None:
    async def main() -> None:
        client, blocks = Client(), Blocks()
        client.commit(0, 3)
        client.commit(0, 100, stream=DATA)
        async with reading(client, blocks):
            client.begin_move()
            await asyncio.sleep(1)
            assert blocks.reads == [(META, 2, 3), (DATA, 99, 100)]
            client.commit(100, 120, stream=DATA)
            await asyncio.sleep(1)
            assert blocks.reads[2:] == [(DATA, 119, 120)]

    run(main())


def test_of_many_partitions_only_checkpoints_are_read() -> None:
    async def main() -> None:
        partitions = MAX_RECORDS_AHEAD + 10
        client, blocks = Client(partitions), Blocks()
        for index in range(partitions):
            client.commit(0, 1, index=index)
            client.commit(0, 1, index=index, stream=DATA)
            client.begin_move(index)
        async with reading(client, blocks):
            await asyncio.sleep(60)
            streams = [stream_id % 2 for stream_id, *_ in blocks.reads]
            assert streams.count(META % 2) == partitions
            assert streams.count(DATA % 2) == MAX_RECORDS_AHEAD
            client.commit(1, 2, index=0, stream=DATA)
            client.commit(1, 2, index=partitions - 1, stream=DATA)
            await asyncio.sleep(1)
            assert blocks.reads[-1] == (DATA, 1, 2)

    run(main())


def test_moves_that_were_under_way_at_the_start_are_known() -> None:
    async def main() -> None:
        client, blocks = Client(), Blocks()
        client.commit(0, 3)
        client.begin_move()
        async with reading(client, blocks):
            assert blocks.reads == [(META, 2, 3)]

    run(main())


def test_what_goes_elsewhere_and_what_has_no_checkpoint_is_not_read() -> None:
    async def main() -> None:
        client, blocks = Client(2), Blocks()
        client.commit(0, 3)
        async with reading(client, blocks):
            client.begin_move(0, target=SOURCE + 1)
            client.begin_move(1)
            await asyncio.sleep(1)
            assert blocks.reads == []
            move = client.image.moves[topic_id(1), 1]
            client.apply(PartitionMoveEndedRecord(topic_id(1), 1, move.epoch))
            client.commit(0, 1, index=1)
            await asyncio.sleep(1)
            assert blocks.reads == []

    run(main())


def test_a_read_that_fails_ends_nothing() -> None:
    async def main() -> None:
        client, blocks = Client(), Blocks()
        client.commit(0, 3)
        blocks.fails = True
        async with reading(client, blocks):
            client.begin_move()
            await asyncio.sleep(1)
            blocks.fails = False
            client.commit(3, 4)
            await asyncio.sleep(1)
            assert blocks.reads == [(META, 2, 3), (META, 3, 4)]

    run(main())


def test_only_some_are_read_at_once_and_of_very_many_only_so_many() -> None:
    async def main() -> None:
        client, blocks = Client(MAX_AHEAD + 10), Blocks()
        for index in range(MAX_AHEAD + 10):
            client.commit(0, 1, index=index)
        async with reading(client, blocks):
            for index in range(MAX_AHEAD + 10):
                client.begin_move(index)
            await asyncio.sleep(60)
            assert len(blocks.reads) == len(set(blocks.reads)) == MAX_AHEAD
            assert blocks.most_at_once == MAX_READING

    run(main())


class CountingStore(MemoryObjectStore):
    """Counts what is read."""

    gets = 0

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        self.gets += 1
        return await super().get_range(key, start, end)


def test_an_opening_reads_nothing_of_the_bucket_any_more() -> None:
    async def main() -> None:
        store, objects, client = CountingStore(), ControlPlane(), Client()
        await objects.upload(store, write([batches(META, 0, 3, count=1)]), ObjectType.STREAM_SET)
        cache = BlockCache(StorageConfig(), store, objects, CLUSTER_ID)
        client.commit(0, 3)
        async with reading(client, cache):
            client.begin_move()
            await asyncio.sleep(1)
        before = store.gets
        assert before > 0
        (found,) = await cache.read(META, 2, 3, 1)
        assert found.base_offset == 2
        assert store.gets == before
        await cache.shutdown()

    run(main())
