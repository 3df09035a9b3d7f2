"""SourceObject: large reads, little memory, no damage passed on."""

import pytest

from headrace.storage.compaction.source import DamagedSourceError, SourceObject
from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.objects.data_block import iterate_batches
from headrace.storage.objects.keys import object_key
from tests.simulation.faulty_store import Fault, FaultyStore
from tests.simulation.virtual_time import run
from tests.unit.storage.samples import batches, write

BLOCK_BYTES = 14 + 5 * 133


async def opened(window_blocks, *streams):
    store = FaultyStore(MemoryObjectStore())
    written = write(streams, max_block_bytes=5 * 133)
    await store.put(object_key("c", 3), written.parts)
    source = SourceObject(store, "c", 3, int(window_blocks * BLOCK_BYTES))
    await source.open(written.size_bytes)
    store.requests.clear()
    return store, source


async def read(source, stream_id, start, end):
    found = []
    async for entry, data in source.blocks(stream_id, start, end):
        of_block = list(iterate_batches(data))
        assert len(of_block) == entry.record_count
        found += of_block
    return found


@pytest.mark.parametrize(
    ("window_blocks", "requests"), [(100, 1), (4, 5), (4.9, 5), (1, 20), (0.1, 20)]
)
def test_blocks_are_read_by_windows(window_blocks, requests):
    async def main():
        store, source = await opened(window_blocks, batches(1, 0, 100))
        assert await read(source, 1, 0, 100) == batches(1, 0, 100)
        assert store.requests["get_range"] == requests

    run(main())


def test_streams_of_one_window_share_it():
    async def main():
        store, source = await opened(100, *(batches(it, 0, 5) for it in range(10)))
        for stream_id in range(10):
            assert await read(source, stream_id, 0, 5) == batches(stream_id, 0, 5)
        assert store.requests["get_range"] == 1

    run(main())


def test_dead_streams_in_front_are_not_read():
    async def main():
        store, source = await opened(2, *(batches(it, 0, 50) for it in range(3)))
        assert await read(source, 2, 0, 50) == batches(2, 0, 50)
        assert store.requests["get_range"] == 5

    run(main())


def test_only_blocks_that_hold_the_offsets():
    async def main():
        _, source = await opened(100, batches(1, 0, 100))
        assert await read(source, 1, 12, 21) == batches(1, 10, 15)

    run(main())


def test_a_bit_that_flipped_on_the_way_is_read_again():
    async def main():
        store, source = await opened(1, batches(1, 0, 10))
        store.then("get_range", Fault.FLIPPED_BIT, None, Fault.FLIPPED_BIT)
        assert await read(source, 1, 0, 10) == batches(1, 0, 10)
        assert store.requests["get_range"] == 4

    run(main())


def test_damage_names_the_object():
    async def main():
        store, source = await opened(1, batches(1, 0, 10))
        key = object_key("c", 3)
        content = store.inner.objects[key]
        store.inner.objects[key] = content[:100] + b"!!" + content[102:]
        with pytest.raises(DamagedSourceError, match="object 3") as caught:
            await read(source, 1, 0, 10)
        assert caught.value.object_id == 3

    run(main())


def test_an_object_that_is_gone_names_itself():
    async def main():
        store, source = await opened(1, batches(1, 0, 10))
        await store.delete([object_key("c", 3)])
        with pytest.raises(DamagedSourceError) as caught:
            await read(source, 1, 0, 10)
        assert caught.value.object_id == 3
        with pytest.raises(DamagedSourceError):
            await SourceObject(store, "c", 3, 1000).open(5000)

    run(main())


def test_a_bucket_that_does_not_answer_is_no_damage():
    async def main():
        store, source = await opened(1, batches(1, 0, 10))
        store.then("get_range", Fault.REFUSED)
        with pytest.raises(ObjectStoreError):
            await read(source, 1, 0, 10)

    run(main())
