"""Blocks that are large beside the cache: why `headrace.config.relations` wants eight of them to fit."""

import asyncio

import pytest

from headrace.config.node import NodeConfig, StorageConfig
from headrace.config.relations import MIN_CACHED_BLOCKS, RelationError
from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.ports import ObjectType
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane
from tests.simulation.virtual_time import run
from tests.unit.storage.samples import batches, write

MIB = 1024 * 1024
READERS = 4
BATCHES, BATCH_BYTES = 128, 64 * 1024


async def read_per_byte(config: StorageConfig) -> float:
    """Bytes read from the bucket for each byte that readers side by side ask for in small pieces."""
    objects, store = ControlPlane(), MemoryObjectStore()
    for stream_id in range(READERS):
        made = batches(stream_id, 0, BATCHES, size=BATCH_BYTES)
        await objects.upload(store, write([made], config.object_block_bytes), ObjectType.STREAM)
    cache = BlockCache(config, store, objects, CLUSTER_ID)

    async def follow(stream_id: int) -> None:
        offset = 0
        while offset < BATCHES:
            offset += len(await cache.read(stream_id, offset, BATCHES, 4 * BATCH_BYTES))
            await asyncio.sleep(0.001)

    await asyncio.gather(*map(follow, range(READERS)))
    await cache.shutdown()
    return cache.statistics.read_bytes / (READERS * BATCHES * BATCH_BYTES)


def config_of(blocks: int) -> StorageConfig:
    return StorageConfig(object_block_bytes=2 * MIB, block_cache_bytes=blocks * 2 * MIB)


def test_what_fits_is_read_once() -> None:
    config = config_of(MIN_CACHED_BLOCKS)
    NodeConfig(storage=config)
    assert run(read_per_byte(config)) < 1.2


def test_what_does_not_is_read_again_and_again_and_refused() -> None:
    config = config_of(MIN_CACHED_BLOCKS // 2)
    assert run(read_per_byte(config)) > 2
    with pytest.raises(RelationError, match=r"s3\.object\.block\.size"):
        NodeConfig(storage=config)
