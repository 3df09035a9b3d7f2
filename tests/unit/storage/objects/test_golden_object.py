"""An object of format version 1, as it lies in buckets: every later version that reads version 1 reads this one.

The file is never written again. It was made with blocks of at most 134 bytes, and has
everything that an object can have.
"""

import asyncio
import hashlib
import random
from pathlib import Path

import pytest

from headrace.config.node import StorageConfig
from headrace.storage.audit.object_check import check_object
from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.compaction.source import SourceObject
from headrace.storage.errors import CorruptObjectError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.objects.data_block import iterate_batches
from headrace.storage.objects.keys import object_key
from headrace.storage.ports import ObjectRange, ObjectType
from tests.unit.storage.object_auditor import audit_object

OBJECT = (Path(__file__).parent / "version_1.object").read_bytes()
SHA256 = "fdec194dd048870ef60b32fb976fb658ba4e27e75dd352604e5c91dafa381e0e"
LAYOUT = [
    (2, 97),
    (1, 60),
    (1, 268),
    (2, 106),
    (1, 59),
    (1, 74),
    (1, 53),
    (1, 60),
]  # batches and bytes of each block
KEY = object_key("cluster", 7)
SPAN = 2**31 - 1

# (stream id, (epoch, base offset, count, payload))
CONTENT = [
    (3, [(1, 0, 1, b"first"), (1, 1, 5, b"five offsets"), (2, 6, 1, b"a newer epoch")]),
    (3, [(2, 7, 1, b"larger than a block: " + bytes(range(200)))]),
    (3, [(2, 8, 1, b""), (2, 9, 1, b"behind one without payload")]),
    (3, [(2, 20, 2, b"behind a gap")]),
    (4, [(7, 2**40, SPAN, b"as far as a block can reach"), (7, 2**40 + SPAN, 1, b"beyond")]),
    (2**40 + 5, [(2**33, 2**62, 1, b"large numbers")]),
]
RANGES = [(3, 0, 10), (3, 20, 22), (4, 2**40, 2**40 + SPAN + 1), (2**40 + 5, 2**62, 2**62 + 1)]
BATCHES = [(stream_id, *batch) for stream_id, batches in CONTENT for batch in batches]


class Metadata:
    """Knows the one object."""

    def get_objects(self, stream_id, start_offset, end_offset, limit):
        return [
            ObjectRange(7, ObjectType.STREAM_SET, len(OBJECT), start, end)
            for stream, start, end in RANGES
            if stream == stream_id and start <= start_offset < end
        ]


async def stored(content):
    store = MemoryObjectStore()
    await store.put(KEY, [content])
    return store


def plain(batches):
    return [(*it[:4], bytes(it.payload)) for it in batches]


async def read_by_cache(store):
    """Read each range as a consumer's fetches do; return batches and errors."""
    cache = BlockCache(StorageConfig(), store, Metadata(), "cluster")
    found, errors = [], []
    for stream_id, start, end in RANGES:
        offset = start
        while offset < end:
            try:
                batches = await cache.read(stream_id, offset, end, 10_000)
            except CorruptObjectError as error:
                errors.append(str(error))
                break
            found += plain(batches)
            offset = batches[-1].end_offset
    await cache.shutdown()
    return found, errors


async def read_by_compaction(store):
    """Read each range as a compaction does; return batches and errors."""
    source = SourceObject(store, "cluster", 7, 1 << 20)
    found, errors = [], []
    try:
        await source.open(len(OBJECT))
    except CorruptObjectError as error:
        return [], [str(error)]
    for stream_id, start, end in RANGES:
        try:
            async for _, data in source.blocks(stream_id, start, end):
                found += plain(iterate_batches(data))
        except CorruptObjectError as error:
            errors.append(str(error))
    return found, errors


READERS = [read_by_cache, read_by_compaction]


def test_the_file_is_the_one_that_was_committed():
    assert hashlib.sha256(OBJECT).hexdigest() == SHA256


@pytest.mark.parametrize("reader", READERS)
def test_version_1_is_read(reader):
    async def main():
        assert await reader(await stored(OBJECT)) == (BATCHES, [])

    asyncio.run(main())


def test_version_1_is_whole_for_tools_and_for_a_reader_of_the_byte_tables():
    async def main():
        report = await check_object(await stored(OBJECT), KEY, len(OBJECT))
        assert (report.is_whole, report.unindexed_bytes) == (True, 0)
        assert report.runs == RANGES

    asyncio.run(main())
    blocks = audit_object(OBJECT, 134)
    assert [tuple(it) for block in blocks for it in block.batches] == BATCHES
    assert [(len(it.batches), it.size_bytes) for it in blocks] == LAYOUT


@pytest.mark.parametrize("reader", READERS)
def test_damage_at_any_byte_is_named_and_never_served(reader):
    """One random bit of every byte; every bit of a smaller object: `test_reader`."""
    rng = random.Random(1)

    async def main():
        for position in range(len(OBJECT)):
            damaged = bytearray(OBJECT)
            damaged[position] ^= 1 << rng.randrange(8)
            require_damage(*await reader(await stored(bytes(damaged))))

    asyncio.run(main())


@pytest.mark.parametrize("reader", READERS)
def test_truncation_at_every_byte_is_named_and_never_served(reader):
    async def main():
        for length in range(1, len(OBJECT)):
            require_damage(*await reader(await stored(OBJECT[:length])))

    asyncio.run(main())


@pytest.mark.parametrize("reader", READERS)
def test_bytes_of_another_object_are_not_served(reader):
    """Each aligned piece of 64 bytes replaced by the one before it, as a misdirected write does."""

    async def main():
        for at in range(64, len(OBJECT) - 64, 64):
            misplaced = OBJECT[:at] + OBJECT[at - 64 : at] + OBJECT[at + 64 :]
            require_damage(*await reader(await stored(misplaced)))

    asyncio.run(main())


def require_damage(found, errors):
    assert errors, "not detected"
    assert all(KEY in it or "object 7" in it for it in errors), "not named"
    assert set(found) < set(BATCHES), "served"
