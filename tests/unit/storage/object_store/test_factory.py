"""What a URI opens."""

import asyncio
import random
from pathlib import Path

import pytest

from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.factory import ensure_bucket, open_bucket, open_object_store


def open_to_write(uri: str) -> None:
    """As a node does."""

    async def main() -> None:
        await (await open_bucket(uri, rng=random.Random(0), environment={})).close()

    asyncio.run(main())


def test_each_kind_is_opened(tmp_path):
    async def main():
        for uri in ("mem://", f"file://{tmp_path}/b", "s3://bucket?accessKey=a&secretKey=b"):
            store = open_object_store(uri, rng=random.Random(0))
            assert store.statistics.put_requests == 0
            await store.close()

    asyncio.run(main())


def test_two_memory_buckets_are_two():
    async def main():
        first, second = (open_object_store("mem://", rng=random.Random(0)) for _ in range(2))
        await first.put("a", [b"x"])
        assert await second.list("") == []

    asyncio.run(main())


def test_what_is_no_uri_is_refused():
    with pytest.raises(ValueError, match="scheme"):
        open_object_store("ftp://x", rng=random.Random(0))


def test_parts_below_the_minimum_of_s3_are_refused():
    with pytest.raises(ValueError, match="at least"):
        open_object_store(
            "s3://bucket?accessKey=a&secretKey=b", rng=random.Random(0), part_bytes=1024
        )


def test_only_s3_needs_its_bucket_to_be_created(tmp_path):
    assert asyncio.run(ensure_bucket("mem://")) is False
    assert asyncio.run(ensure_bucket(f"file://{tmp_path}")) is False


def test_a_directory_is_writable_and_nothing_is_left_there(tmp_path):
    open_to_write("mem://")
    open_to_write(f"file://{tmp_path}/bucket")
    assert [it for it in (tmp_path / "bucket").rglob("*") if it.is_file()] == []


@pytest.mark.parametrize("in_the_way", ["bucket", "bucket/.tmp"])
def test_a_directory_that_cannot_be_written_is_noticed(tmp_path, in_the_way):
    (tmp_path / in_the_way).parent.mkdir(exist_ok=True)
    (tmp_path / in_the_way).write_text("a file")
    with pytest.raises(ObjectStoreError, match="bucket directory"):
        open_to_write(f"file://{tmp_path}/bucket")


def test_a_directory_without_a_way_to_publish_is_noticed(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError(31, "Too many links")

    monkeypatch.setattr(Path, "hardlink_to", refused)
    with pytest.raises(ObjectStoreError, match="Too many links"):
        open_to_write(f"file://{tmp_path}/bucket")
    assert [it for it in (tmp_path / "bucket").rglob("*") if it.is_file()] == []
