"""Lists through the real clients: whole, or an error, whatever answers come."""

import asyncio

import pytest

from storage.errors import ObjectStoreError
from storage.sweep.place import open_swept_place
from tests.integration.s3_fault_server import CUT, OK_WITH_ERROR, SLOW_DOWN, Answer, FaultServer
from tests.integration.test_s3_faults import run


def test_lists_come_in_pages_and_pages_fail():
    async def scenario(store, bucket):
        bucket.page_size = 3
        keys = [f"{n:02d}/c/{n}" for n in range(10)]
        for key in keys:
            await store.put(key, [b"x"])
        bucket.fail("GET", CUT, SLOW_DOWN, query="continuation-token")
        assert [key for key, _ in await store.list("")] == keys
        assert store.statistics.retries == 2
        await store.delete(keys)
        assert bucket.deletions() == keys

    run(scenario)


# None of these is a page of a list, whatever the status says.
NO_PAGES = [
    OK_WITH_ERROR,
    Answer(200, body=b"<html><body>Please come back later.</body></html>"),
    Answer(200, body=b"<?xml version='1.0'?>\n<ListBucketResult></ListBucketResult>"),
    Answer(200, body=b"<?xml version='1.0'?>\n<ListBucketResult><IsTrunc"),
    Answer(200, body=b""),
    # There is more, and nothing to ask for it with.
    Answer(
        200,
        body=b"<?xml version='1.0'?>\n<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
    ),
]


@pytest.mark.parametrize("query", ["list-type", "continuation-token"], ids=["first", "later"])
@pytest.mark.parametrize("answer", NO_PAGES)
def test_what_is_no_page_of_a_list_makes_no_shorter_list(answer, query):
    async def scenario(store, bucket):
        bucket.page_size = 3
        keys = [f"{n:02d}/c/{n}" for n in range(10)]
        for key in keys:
            await store.put(key, [b"x"])
        bucket.fail("GET", answer, query=query)
        assert [key for key, _ in await store.list("")] == keys
        assert store.statistics.retries == 1
        with bucket.always(answer, "GET", query=query), pytest.raises(ObjectStoreError):
            await store.list("")

    run(scenario)


@pytest.mark.parametrize("query", ["list-type", "continuation-token"], ids=["first", "later"])
@pytest.mark.parametrize("answer", NO_PAGES)
def test_the_lister_takes_no_such_answer_for_a_page_either(answer, query):
    with FaultServer() as server:
        server.bucket.page_size = 3
        server.bucket.objects = {f"{n:02d}/c/{n}": b"x" for n in range(10)}
        place = open_swept_place(
            f"s3://bucket?endpoint={server.endpoint}&accessKey=a&secretKey=b", {}
        )

        async def keys():
            return [it.key async for page in place.lister.pages() for it in page]

        with server.bucket.always(answer, "GET", query=query), pytest.raises(ObjectStoreError):
            asyncio.run(keys())
        assert asyncio.run(keys()) == sorted(server.bucket.objects)


def entry(text):
    return Answer(
        200,
        body=b"<?xml version='1.0'?>\n<R><IsTruncated>false</IsTruncated>" + text + b"</R>",
    )


# Pages of a list, with a value that is none.
UNPARSEABLE = [
    entry(
        b"<Contents><Key>9e/c/1</Key><Size>1</Size><LastModified>n/a</LastModified></Contents>"
        b"<Upload><Key>9e/c/1</Key><UploadId>1</UploadId><Initiated>n/a</Initiated></Upload>"
    ),
    entry(b"<KeyCount>many</KeyCount><MaxUploads>many</MaxUploads>"),
    entry(b"<MaxKeys>1e3</MaxKeys><MaxUploads>1e3</MaxUploads>"),
    entry(
        b"<Contents><Key>9e/c/1</Key><Size>large</Size></Contents>"
        b"<Upload><Key>9e/c/1</Key><Initiated>2025-99-99T00:00:00Z</Initiated></Upload>"
    ),
]


@pytest.mark.parametrize("answer", UNPARSEABLE)
def test_a_value_that_cannot_be_parsed_is_the_buckets_error(answer):
    """Botocore raises ValueError."""

    async def scenario(store, bucket):
        await store.put("9e/c/1", [b"x"])
        bucket.fail("GET", answer, answer)
        assert await store.list("") == [("9e/c/1", 1)]
        assert store.statistics.retries == 2
        with bucket.always(answer, "GET", query="list-type"), pytest.raises(ObjectStoreError):
            await store.list("")

    run(scenario)


@pytest.mark.parametrize("answer", UNPARSEABLE)
@pytest.mark.parametrize("pages", ["lister", "uploads"])
def test_the_listers_say_so_as_well(answer, pages):
    with FaultServer() as server:
        uri = f"s3://bucket?endpoint={server.endpoint}&accessKey=a&secretKey=b"
        place = open_swept_place(uri, {})

        async def look():
            return [page async for page in getattr(place, pages).pages()]

        with server.bucket.always(answer, "GET"), pytest.raises(ObjectStoreError):
            asyncio.run(look())
        assert asyncio.run(look()) == [[]]
