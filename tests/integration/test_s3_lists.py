"""Lists through the real clients: whole, or an error, whatever answers come."""

import asyncio
import random

import pytest

from headrace.storage.audit.probe import probe_bucket
from headrace.storage.audit.rights import LIST_UPLOADS, Status
from headrace.storage.errors import ObjectStoreError
from headrace.storage.sweep.swept_bucket import open_swept_bucket
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
        place = open_swept_bucket(
            f"s3://bucket?endpoint={server.endpoint}&accessKey=a&secretKey=b", {}
        )

        async def keys():
            return [it.key async for page in place.lister.pages() for it in page]

        with server.bucket.always(answer, "GET", query=query), pytest.raises(ObjectStoreError):
            asyncio.run(keys())
        assert asyncio.run(keys()) == sorted(server.bucket.objects)


def uploads_of(uri):
    async def look():
        return [page async for page in open_swept_bucket(uri, {}).uploads.pages()]

    return asyncio.run(look())


def test_uploads_below_a_prefix_are_listed_from_there_on_and_no_further():
    """The whole bucket's, since MinIO has none below a prefix; S3's list is sorted."""
    with FaultServer() as server:
        bucket = server.bucket
        bucket.page_size = 3
        ours = {f"ours/9e/c/{n}" for n in range(7)}
        for others in ("a", "our", "ours0", "z"):
            bucket.upload_keys |= {f"{others}-{n}": f"{others}/{n}" for n in range(20)}
        bucket.upload_keys |= {f"ours-{key}": key for key in ours}
        pages = uploads_of(f"s3://bucket/ours?endpoint={server.endpoint}&accessKey=a&secretKey=b")
        assert {f"ours/{it.key}" for page in pages for it in page} == ours
        assert len(bucket.log) == len(pages) == 3
        whole = uploads_of(f"s3://bucket?endpoint={server.endpoint}&accessKey=a&secretKey=b")
        assert {it.key for page in whole for it in page} == set(bucket.upload_keys.values())


@pytest.mark.parametrize("lists", [True, False])
def test_a_probe_looks_for_an_upload_that_it_began(lists):
    with FaultServer() as server:
        uri = f"s3://bucket/ours?endpoint={server.endpoint}&accessKey=a&secretKey=b"
        for n in range(20):
            server.bucket.upload_keys |= {f"{key}{n}": f"{key}/{n}" for key in ("aa", "zz")}
        if not lists:
            nothing = Answer(rewritten=(b"<Upload>.*</Upload>", b""))
            server.bucket.fail("GET", nothing, query="uploads")
        report = asyncio.run(probe_bucket(uri, rng=random.Random(0), environment={}))
        outcome = next(it for it in report.outcomes if it.step is LIST_UPLOADS)
        assert outcome.status == (Status.OK if lists else Status.FAILED)
        assert lists or outcome.detail == "an upload that was begun is not listed"
        assert report.left_behind == []
        assert server.bucket.uploads == {}
        assert len(server.bucket.upload_keys) == 40


def entry(text):
    return Answer(
        200,
        body=b"<?xml version='1.0'?>\n<R><IsTruncated>false</IsTruncated>" + text + b"</R>",
    )


# Pages of a list, with a value that is none.
UNPARSABLE = [
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


@pytest.mark.parametrize("answer", UNPARSABLE)
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


@pytest.mark.parametrize("answer", UNPARSABLE)
@pytest.mark.parametrize("pages", ["lister", "uploads"])
def test_the_listers_say_so_as_well(answer, pages):
    with FaultServer() as server:
        uri = f"s3://bucket?endpoint={server.endpoint}&accessKey=a&secretKey=b"
        place = open_swept_bucket(uri, {})

        async def look():
            return [page async for page in getattr(place, pages).pages()]

        with server.bucket.always(answer, "GET"), pytest.raises(ObjectStoreError):
            asyncio.run(look())
        assert asyncio.run(look()) == [[]]
