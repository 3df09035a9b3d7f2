"""What every ObjectStore must do, run on all of them."""

import asyncio
import random
from pathlib import Path

import pytest

from headrace.storage.errors import (
    CopyUnsupportedError,
    CorruptObjectError,
    NotDeletedError,
    ObjectNotFoundError,
    ObjectStoreError,
)
from headrace.storage.object_store.factory import ensure_bucket
from headrace.storage.object_store.filesystem import FileObjectStore
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.object_store.retrying import RetryingObjectStore
from headrace.storage.object_store.s3 import S3ObjectStore
from headrace.storage.object_store.uri import parse_bucket_uri
from headrace.storage.ports import CopiedRange, ObjectStore
from tests.contracts.object_stores import (
    PART_BYTES,
    file_store,
    memory_store,
    moto_endpoint,
    opener,
    s3_uri,
)
from tests.environment.minio import DOMAIN
from tests.integration.s3_fault_server import FaultServer
from tests.simulation.faulty_store import FaultyStore

MIB = 1024 * 1024
REAL_SERVER = (pytest.mark.slow, pytest.mark.s3)

IMPLEMENTATIONS: tuple[type[ObjectStore], ...] = (
    MemoryObjectStore,
    FileObjectStore,
    S3ObjectStore,
    RetryingObjectStore,
    FaultyStore,
)


@pytest.fixture(scope="module")
def moto():
    with moto_endpoint() as endpoint:
        asyncio.run(ensure_bucket(s3_uri(endpoint)))
        yield endpoint


@pytest.fixture(scope="module")
def minio(minio):
    asyncio.run(ensure_bucket(s3_uri(minio.endpoint)))
    return minio.endpoint


@pytest.fixture(scope="module")
def faults():
    """The server of the fault tests while it does no wrong; its lists come in small pages."""
    with FaultServer() as server:
        server.bucket.page_size = 2
        yield server


@pytest.fixture(scope="module")
def fault_server(faults):
    return faults.endpoint


@pytest.fixture(
    params=[
        "mem",
        "file",
        "faulty",
        pytest.param("moto", marks=pytest.mark.slow),
        pytest.param("fault_server", marks=pytest.mark.slow),
        pytest.param("minio", marks=REAL_SERVER),
        # Each PUT carries a checksum.
        pytest.param("fault_server&checksum=SHA256", marks=pytest.mark.slow),
        pytest.param("minio&checksum=SHA256", marks=REAL_SERVER),
        # The bucket is in the host name.
        pytest.param("minio&pathStyle=false", marks=REAL_SERVER),
    ]
)
def open_store(request, tmp_path, monkeypatch):
    match request.param:
        case "mem":
            return memory_store()
        case "file":
            return file_store(tmp_path)
        case "faulty":
            return lambda: FaultyStore(MemoryObjectStore())
        case server:
            name, _, options = server.partition("&")
            endpoint = request.getfixturevalue(name)
            if "pathStyle=false" in options:
                monkeypatch.setenv("HTTP_PROXY", endpoint)
                endpoint = endpoint.replace("127.0.0.1", DOMAIN)
            return opener(s3_uri(endpoint, options=f"&{options}"))


def run(open_store, scenario):
    """Run a scenario on a store; close the store."""

    async def main():
        store = open_store()
        try:
            return await scenario(store)
        finally:
            await store.close()

    return asyncio.run(main())


async def content(store, key, size):
    return bytes(await store.get_range(key, 0, size))


def test_parts_are_joined_in_order(open_store):
    async def scenario(store):
        parts = [b"ab", memoryview(b"xcdx")[1:3], b"", bytearray(b"e")]
        await store.put("00/c/1", parts)
        assert await content(store, "00/c/1", 5) == b"abcde"
        assert await store.list("") == [("00/c/1", 5)]

    run(open_store, scenario)


def test_many_small_parts(open_store):
    async def scenario(store):
        parts = [b"%04d" % n for n in range(5000)]
        await store.put("a", parts)
        assert await content(store, "a", 20_000) == b"".join(parts)

    run(open_store, scenario)


def test_an_object_of_several_upload_parts(open_store):
    async def scenario(store):
        unit = bytes(range(251)) * 4178  # about a megabyte, out of step with every power of two
        parts = [memoryview(unit)] * 13
        size = 13 * len(unit)
        assert size > 2 * PART_BYTES
        await store.put("large", parts)
        assert await store.list("") == [("large", size)]
        assert await content(store, "large", size) == unit * 13

    run(open_store, scenario)


def test_one_large_buffer(open_store):
    async def scenario(store):
        buffer = bytes(range(256)) * 4096 * 11
        await store.put("large", [buffer])
        assert await content(store, "large", len(buffer)) == buffer

    run(open_store, scenario)


def test_ranges(open_store):
    async def scenario(store):
        await store.put("a", [bytes(range(100))])
        assert bytes(await store.get_range("a", 0, 1)) == b"\x00"
        assert bytes(await store.get_range("a", 10, 20)) == bytes(range(10, 20))
        assert bytes(await store.get_range("a", 99, 100)) == b"\x63"
        found = await store.get_range("a", 0, 100)
        assert isinstance(found, memoryview)
        assert (found.format, found.nbytes, found.c_contiguous) == ("B", 100, True)

    run(open_store, scenario)


@pytest.mark.parametrize(("start", "end"), [(0, 101), (50, 101), (99, 200), (100, 101), (500, 501)])
def test_a_range_beyond_the_end_is_never_answered_short(open_store, start, end):
    async def scenario(store):
        await store.put("a", [bytes(100)])
        with pytest.raises(CorruptObjectError):
            await store.get_range("a", start, end)

    run(open_store, scenario)


@pytest.mark.parametrize(("start", "end"), [(0, 0), (5, 5), (5, 4), (-1, 3)])
def test_an_empty_range_is_refused(open_store, start, end):
    async def scenario(store):
        await store.put("a", [bytes(100)])
        with pytest.raises(ValueError, match="empty range"):
            await store.get_range("a", start, end)

    run(open_store, scenario)


def test_a_missing_object_is_not_found(open_store):
    async def scenario(store):
        with pytest.raises(ObjectNotFoundError):
            await store.get_range("00/c/404", 0, 1)

    run(open_store, scenario)


def test_putting_again_succeeds_and_changes_nothing(open_store):
    """A repeated request finds what the first, whose answer was lost, has published."""

    async def scenario(store):
        await store.put("a", (b"first",))
        await store.put("a", (b"fi", b"rst"))
        assert await content(store, "a", 5) == b"first"
        assert await store.list("") == [("a", 5)]

    run(open_store, scenario)


def test_a_published_key_is_never_replaced(open_store):
    async def scenario(store):
        await store.put("a", (b"first",))
        for other in (b"other", b"another"):
            with pytest.raises(ObjectStoreError):
                await store.put("a", (other,))
            with pytest.raises(ObjectStoreError):
                await store.put_stream("a", chunks_of(other))
        assert await content(store, "a", 5) == b"first"
        assert await store.list("") == [("a", 5)]

    run(open_store, scenario)


def test_creating_never_replaces(open_store):
    async def scenario(store):
        assert await store.create("a/1", [b"fir", memoryview(b"st"), bytearray()])
        assert not await store.create("a/1", [b"second, and longer"])
        assert await content(store, "a/1", 5) == b"first"
        await store.put("a/2", [b"put"])
        assert not await store.create("a/2", [b"created"])
        assert await store.list("") == [("a/1", 5), ("a/2", 3)]
        await store.delete(["a/1"])
        assert await store.create("a/1", [b"again"])
        assert await content(store, "a/1", 5) == b"again"

    run(open_store, scenario)


def test_one_of_many_creates(open_store):
    async def scenario(store):
        contents = [f"writer {n}".encode() for n in range(8)]
        created = await asyncio.gather(*(store.create("one", [each]) for each in contents))
        assert created.count(True) == 1
        assert await content(store, "one", 8) == contents[created.index(True)]

    run(open_store, scenario)


def test_deleting(open_store):
    async def scenario(store):
        for key in ("a/1", "a/2", "b"):
            await store.put(key, [b"x"])
        await store.delete(["a/1", "b", "never/was"])
        assert await store.list("") == [("a/2", 1)]
        await store.delete(["a/1"])
        await store.delete([])
        with pytest.raises(ObjectNotFoundError):
            await store.get_range("a/1", 0, 1)

    run(open_store, scenario)


@pytest.fixture(params=["file", pytest.param("fault_server", marks=pytest.mark.slow)])
def keeping(request, tmp_path, monkeypatch):
    """Return what opens a store, and what has a key of it fail whenever it is to be deleted."""
    if request.param == "file":
        kept = set()
        unlink = Path.unlink

        def guarded(self, missing_ok=False):
            if self.name in kept:
                raise PermissionError(1, "Operation not permitted", str(self))
            unlink(self, missing_ok)

        monkeypatch.setattr(Path, "unlink", guarded)
        return file_store(tmp_path), kept.add
    uri = s3_uri(request.getfixturevalue("fault_server"))
    prefix = parse_bucket_uri(uri).prefix
    bucket = request.getfixturevalue("faults").bucket
    return opener(uri), lambda name: bucket.undeletable.extend([f"{prefix}b/{name}"] * 2)


def test_a_key_that_stays_holds_up_no_other(keeping):
    open_store, keep = keeping
    keys = ["a/1", "b/2", "b/3", "c/4"]

    async def scenario(store):
        for key in keys:
            await store.put(key, [b"x"])
        keep("2")
        with pytest.raises(NotDeletedError) as caught:
            await store.delete(keys)
        assert list(caught.value.keys) == ["b/2"]
        assert await store.list("") == [("b/2", 1)]
        assert store.statistics.deleted_objects == 3

    run(open_store, scenario)


def test_prefixes_match_whole_segments(open_store):
    async def scenario(store):
        for key in ("b/c/2", "ab/1", "a/b/1", "a/2", "a2"):
            await store.put(key, [b"x"])
        keys = {
            prefix: [key for key, _ in await store.list(prefix)]
            for prefix in ("", "a", "a/", "a/b", "c")
        }
        assert keys == {
            "": ["a/2", "a/b/1", "a2", "ab/1", "b/c/2"],
            "a": ["a/2", "a/b/1"],
            "a/": ["a/2", "a/b/1"],
            "a/b": ["a/b/1"],
            "c": [],
        }

    run(open_store, scenario)


@pytest.mark.parametrize("key", ["", "../a", "a//b", ".tmp/x", "/a"])
def test_keys_that_could_escape_are_refused(open_store, key):
    async def scenario(store):
        for call in (
            lambda: store.put(key, [b"x"]),
            lambda: store.create(key, [b"x"]),
            lambda: store.put_stream(key, chunks_of(b"x")),
            lambda: store.get_range(key, 0, 1),
            lambda: store.delete([key]),
        ):
            with pytest.raises(ValueError, match="invalid object key"):
                await call()

    run(open_store, scenario)


async def chunks_of(*chunks):
    for chunk in chunks:
        yield (chunk, memoryview(chunk))


def test_streaming(open_store):
    async def scenario(store):
        await store.put_stream("small", chunks_of(b"a", b"bc"))
        assert await content(store, "small", 6) == b"aabcbc"
        large = bytes(range(256)) * 4096 * 3
        await store.put_stream("large", chunks_of(large, b"-", large))
        size = 4 * len(large) + 2
        assert await content(store, "large", size) == large * 2 + b"--" + large * 2
        assert [size for _, size in await store.list("")] == [size, 6]

    run(open_store, scenario)


class ProducerError(Exception):
    """Nothing that a store knows."""


@pytest.mark.parametrize(
    "error",
    [
        CorruptObjectError("the source is damaged"),
        ObjectStoreError("the source cannot be read"),
        ProducerError("not as planned"),
        ValueError("not as planned"),
        FileNotFoundError("not there"),
        TimeoutError("the control plane does not answer"),
    ],
    ids=lambda it: type(it).__name__,
)
@pytest.mark.parametrize("size_mib", [0, 1, 11])
def test_an_error_of_the_producer_passes_and_leaves_nothing(open_store, size_mib, error):
    async def failing():
        for _ in range(size_mib):
            yield (bytes(MIB),)
        raise error

    async def scenario(store):
        with pytest.raises(type(error)) as caught:
            await store.put_stream("a", failing())
        assert caught.value is error
        assert await store.list("") == []
        if isinstance(store, RetryingObjectStore):  # it says nothing about the bucket
            statistics = store.statistics
            assert (statistics.errors, statistics.failures.total()) == (0, 0)
            assert statistics.requests_inflight == 0

    run(open_store, scenario)


def test_requests_run_side_by_side(open_store):
    async def scenario(store):
        keys = [f"{n:02x}/c/{n}" for n in range(24)]
        await asyncio.gather(*(store.put(key, [key.encode()]) for key in keys))
        found = await asyncio.gather(*(content(store, key, len(key)) for key in keys))
        assert [it.decode() for it in found] == keys

    run(open_store, scenario)


def pattern(size, seed):
    return random.Random(seed).randbytes(size)


@pytest.mark.parametrize(
    "sizes_mib",
    [
        (6, 7),
        (6, 1, 1, 6),  # too small to be copied, in the middle
        (1, 1, 1),
        (0.001, 5.5, 0.001),
        (1, 5, 5),  # what the small one needs leaves too little of the next
        (11,),
    ],
)
def test_an_object_is_composed_of_others(open_store, sizes_mib):
    async def scenario(store):
        pieces, expected = [], b""
        for n, size_mib in enumerate(sizes_mib):
            content = pattern(int(size_mib * MIB) + 20, n)
            await store.put(f"source-{n}", [content])
            pieces.append(CopiedRange(f"source-{n}", 3, len(content) - 4))
            expected += content[3:-4]
        told = []
        await store.compose("made", [*pieces, b"the ", memoryview(b"end")], told.append)
        expected += b"the end"
        assert sum(told) == len(expected)
        assert await content_of(store, "made", len(expected)) == expected
        sizes = dict(await store.list(""))
        assert sizes["made"] == len(expected)
        assert len(sizes) == len(sizes_mib) + 1

    run(open_store, scenario)


async def content_of(store, key, size):
    return bytes(await store.get_range(key, 0, size))


def test_pieces_may_come_in_any_order_and_from_one_object(open_store):
    async def scenario(store):
        content = pattern(12 * MIB, 1)
        await store.put("a", [content])
        pieces = [
            b"x" * 10,
            CopiedRange("a", 6 * MIB, 12 * MIB),
            b"y",
            CopiedRange("a", 0, 6 * MIB),
        ]
        await store.compose("made", pieces)
        expected = b"x" * 10 + content[6 * MIB :] + b"y" + content[: 6 * MIB]
        assert await content_of(store, "made", len(expected)) == expected

    run(open_store, scenario)


@pytest.mark.parametrize("size_mib", [1, 6])
def test_a_source_that_is_not_there(open_store, size_mib):
    async def scenario(store):
        await store.put("a", [bytes(6 * MIB)])
        pieces = [CopiedRange("a", 0, 6 * MIB), CopiedRange("gone", 0, size_mib * MIB), b"end"]
        with pytest.raises(ObjectNotFoundError):
            await store.compose("made", pieces)
        assert [key for key, _ in await store.list("")] == ["a"]

    run(open_store, scenario)


@pytest.mark.parametrize("size_mib", [1, 6])
def test_a_source_that_is_too_short(open_store, size_mib):
    async def scenario(store):
        await store.put("a", [bytes(size_mib * MIB)])
        # Moto copies what there is, which shows in the end.
        with pytest.raises((CorruptObjectError, CopyUnsupportedError)):
            await store.compose("made", [CopiedRange("a", 0, size_mib * MIB + 1), b"end"])
        assert [key for key, _ in await store.list("")] == ["a"]

    run(open_store, scenario)
