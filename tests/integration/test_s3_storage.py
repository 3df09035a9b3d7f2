"""Objects in an S3 bucket from upload to deletion: read cold, compacted, deleted."""

import asyncio
import random

import pytest

from headrace.config.node import StorageConfig
from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.compaction.executor import Compactor
from headrace.storage.deletion import ObjectDeleter
from headrace.storage.object_store.factory import ensure_bucket
from headrace.storage.objects.keys import object_key, parse_object_key
from tests.contracts.object_stores import file_store, moto_endpoint, opener, s3_uri
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane, loop_ms
from tests.unit.storage.samples import batches, write

MIB = 1024 * 1024


@pytest.fixture(scope="module")
def moto():
    with moto_endpoint() as endpoint:
        asyncio.run(ensure_bucket(s3_uri(endpoint)))
        yield endpoint


@pytest.fixture(scope="module")
def minio(minio):
    asyncio.run(ensure_bucket(s3_uri(minio.endpoint)))
    return minio.endpoint


@pytest.fixture(params=["file", "moto", pytest.param("minio", marks=pytest.mark.s3)])
def open_store(request, tmp_path):
    if request.param == "file":
        return file_store(tmp_path)
    return opener(s3_uri(request.getfixturevalue(request.param)))


async def read(cache, stream_id, end):
    found = []
    while not found or found[-1].base_offset + 1 < end:
        start = found[-1].base_offset + 1 if found else 0
        found += await cache.read(stream_id, start, end, MIB)
    return found


def test_the_life_of_objects(open_store):
    """Six uploads of a stream of 18 MiB and two small ones; the large one leaves, the rest merges."""
    config = StorageConfig(stream_split_bytes=16 * MIB, block_cache_bytes=32 * MIB)
    large = batches(1, 0, 180, size=105_000)
    small = {stream_id: batches(stream_id, 0, 60, size=500) for stream_id in (2, 9)}

    async def main():
        store = open_store()
        objects = ControlPlane()
        for n in range(6):
            streams = [
                large[n * 30 : n * 30 + 30],
                *(it[n * 10 : n * 10 + 10] for it in small.values()),
            ]
            await objects.upload(store, write(streams))

        async def check():
            cache = BlockCache(config, store, objects, CLUSTER_ID)
            assert await read(cache, 1, 180) == large
            for stream_id, expected in small.items():
                assert await read(cache, stream_id, 60) == expected
            await cache.shutdown()

        await check()
        compactor = Compactor(config, store, objects, CLUSTER_ID, rng=random.Random(0))
        await compactor.compact()
        assert compactor.statistics.failures == 0
        assert sorted(it.kind.name for it in objects.committed.values()) == ["STREAM", "STREAM_SET"]
        await check()
        deleter = ObjectDeleter(
            config, store, objects, CLUSTER_ID, rng=random.Random(0), wall_clock_ms=loop_ms
        )
        await deleter.delete()
        assert objects.forgotten == list(range(6))
        await check()
        keys = [key for key, _ in await store.list("")]
        assert sorted(keys) == sorted(object_key(CLUSTER_ID, it) for it in objects.committed)
        assert {parse_object_key(key) for key in keys} == {
            (CLUSTER_ID, it) for it in objects.committed
        }
        await store.close()

    asyncio.run(main())


@pytest.mark.s3
def test_more_keys_than_one_page_or_one_deletion_takes(minio):
    async def main():
        store = opener(s3_uri(minio))()
        keys = [object_key("many", n) for n in range(2100)]
        gate = asyncio.Semaphore(32)

        async def put(key):
            async with gate:
                await store.put(key, [b"x"])

        await asyncio.gather(*map(put, keys))
        assert [key for key, _ in await store.list("")] == sorted(keys)
        await store.delete(keys[:2050])
        assert [key for key, _ in await store.list("")] == sorted(keys[2050:])

    asyncio.run(main())
