"""Listing a directory: everything, in pages, with times; and reading it without leaving a trace."""

import asyncio
import os
import random

import pytest

from headrace.storage.audit import lister as module
from headrace.storage.audit.audited_bucket import open_audited_bucket
from headrace.storage.audit.inventory import ListedObject
from headrace.storage.audit.lister import DirectoryLister, find_object
from headrace.storage.errors import CorruptObjectError, ObjectNotFoundError, ObjectStoreError


def put(root, key, size=3, modified_ms=5_000):
    path = root / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    os.utime(path, ns=(modified_ms * 1_000_000,) * 2)


def listed(root, prefix=""):
    async def collect():
        return [page async for page in DirectoryLister(root).pages(prefix)]

    return asyncio.run(collect())


def opened(root):
    return open_audited_bucket(f"file://{root}", rng=random.Random(0), environment={})


def test_everything_is_listed_hidden_files_included(tmp_path):
    put(tmp_path, "9e/c/1", 7, 12_345)
    put(tmp_path, ".tmp/1-2-3")
    put(tmp_path, "x/.hidden/y")
    (page,) = listed(tmp_path)
    assert sorted(page) == [
        ListedObject(".tmp/1-2-3", 3, 5_000),
        ListedObject("9e/c/1", 7, 12_345),
        ListedObject("x/.hidden/y", 3, 5_000),
    ]


def test_pages_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_PAGE_ENTRIES", 4)
    for number in range(10):
        put(tmp_path, f"a/{number}")
    pages = listed(tmp_path)
    assert [len(page) for page in pages] == [4, 4, 2]
    assert len({one.key for page in pages for one in page}) == 10


@pytest.mark.parametrize(
    ("prefix", "keys"),
    [
        ("a/", ["a/1", "a/12"]),
        ("a/1", ["a/1", "a/12"]),
        ("a/12", ["a/12"]),
        ("b", ["b/1", "bb/1"]),
        ("nothing/at/all", []),
    ],
)
def test_a_prefix_need_not_be_whole_segments(tmp_path, prefix, keys):
    for key in ("a/1", "a/12", "b/1", "bb/1"):
        put(tmp_path, key)
    assert sorted(one.key for page in listed(tmp_path, prefix) for one in page) == keys


def test_one_key_is_found_among_those_that_begin_like_it(tmp_path):
    put(tmp_path, "a/1", 1)
    put(tmp_path, "a/12", 2)
    found = asyncio.run(find_object(DirectoryLister(tmp_path), "a/1"))
    assert (found.key, found.size_bytes) == ("a/1", 1)
    assert asyncio.run(find_object(DirectoryLister(tmp_path), "a/")) is None


def test_reading_a_directory_changes_nothing_in_it(tmp_path):
    (tmp_path / "a").write_bytes(b"0123456789")
    before = sorted(tmp_path.rglob("*"))

    async def read():
        place = opened(tmp_path)
        assert await place.reader.get_range("a", 2, 5) == b"234"
        with pytest.raises(CorruptObjectError):
            await place.reader.get_range("a", 8, 11)
        for key in ("b", "a/b"):
            with pytest.raises(ObjectNotFoundError):
                await place.reader.get_range(key, 0, 1)
        with pytest.raises(ValueError, match="key"):
            await place.reader.get_range("../a", 0, 1)
        await place.close()

    asyncio.run(read())
    assert sorted(tmp_path.rglob("*")) == before


def test_a_directory_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(ObjectStoreError, match="not a directory"):
        opened(tmp_path / "missing")
    assert not (tmp_path / "missing").exists()


def test_a_bucket_in_memory_cannot_be_opened():
    with pytest.raises(ValueError, match="mem://"):
        open_audited_bucket("mem://", rng=random.Random(0), environment={})


def test_folders_that_a_prefix_leaves_out_are_not_looked_into(tmp_path, monkeypatch):
    """The root of a disk has a folder that only the superuser may read."""
    for key in ("ab/c/1", "ac/c/2", "b0/c/3", "lost+found/x"):
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).write_bytes(b"x")
    scandir = os.scandir

    def guarded(path):
        if "lost+found" in str(path):
            raise PermissionError(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)

    async def keys(prefix):
        pages = [page async for page in DirectoryLister(tmp_path).pages(prefix)]
        return sorted(it.key for page in pages for it in page)

    assert asyncio.run(keys("a")) == ["ab/c/1", "ac/c/2"]
    assert asyncio.run(keys("ab/c/")) == ["ab/c/1"]
    assert asyncio.run(keys("ab/c")) == ["ab/c/1"]
    with pytest.raises(ObjectStoreError):
        asyncio.run(keys(""))
