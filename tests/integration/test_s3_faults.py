"""What S3 servers do under stress, seen through the real client."""

import asyncio
import random

import pytest

from storage.errors import CorruptObjectError, ObjectStoreError
from storage.object_store.factory import open_object_store
from storage.object_store.retrying import RetryPolicy
from tests.contracts.object_stores import PART_BYTES
from tests.integration.s3_fault_server import CUT, INTERNAL_ERROR, SLOW_DOWN, Answer, FaultServer

CONTENT = bytes(range(256)) * 40
LARGE = CONTENT * 1200  # three parts


def run(scenario, **policy):
    with FaultServer() as server:

        async def main():
            store = open_object_store(
                f"s3://bucket?endpoint={server.endpoint}&accessKey=a&secretKey=b",
                rng=random.Random(0),
                part_bytes=PART_BYTES,
                policy=RetryPolicy(**({"attempts_max": 4, "backoff_ms_initial": 1} | policy)),
            )
            await scenario(store, server.bucket)

        asyncio.run(main())


@pytest.mark.parametrize("fault", [SLOW_DOWN, INTERNAL_ERROR, CUT, Answer(429, "TooManyRequests")])
def test_requests_are_repeated(fault):
    async def scenario(store, bucket):
        bucket.fail("PUT", fault, fault)
        await store.put("a", [CONTENT])
        bucket.fail("GET", fault, fault)
        assert bytes(await store.get_range("a", 100, 5000)) == CONTENT[100:5000]
        bucket.fail("POST", fault, query="delete")
        await store.delete(["a"])
        assert bucket.objects == {}
        assert store.statistics.errors == 0
        assert store.statistics.retries == 5

    run(scenario)


def test_a_put_whose_reply_was_lost_is_repeated_without_harm():
    async def scenario(store, bucket):
        bucket.fail("PUT", Answer(done=True), Answer(500, "InternalError", done=True))
        await store.put("a", [CONTENT])
        assert bucket.objects == {"a": CONTENT}
        assert len(bucket.log) == 3

    run(scenario)


@pytest.mark.parametrize(
    "fault",
    [
        SLOW_DOWN,
        CUT,
        Answer(done=True),
        Answer(500, "InternalError", done=True),
        # Another request for the key is under way, which is not yet an object.
        Answer(409, "ConditionalRequestConflict"),
    ],
)
def test_a_creation_is_tried_once(fault):
    """So that who asked for it knows what it may have done."""

    async def scenario(store, bucket):
        bucket.fail("PUT", fault)
        with pytest.raises(ObjectStoreError):
            await store.create("a", [CONTENT])
        assert bucket.log == ["PUT "]

    run(scenario)


def test_a_creation_that_is_refused_for_what_is_there():
    async def scenario(store, bucket):
        bucket.fail("PUT", Answer(412, "PreconditionFailed"))
        assert not await store.create("a", [CONTENT])
        assert bucket.log == ["PUT "]

    run(scenario)


def test_a_storm_that_does_not_end_is_an_error():
    async def scenario(store, bucket):
        bucket.fail("PUT", *[SLOW_DOWN] * 20)
        with pytest.raises(ObjectStoreError, match="SlowDown"):
            await store.put("a", [CONTENT])
        assert len(bucket.log) == 4  # our attempts; the client adds none of its own
        assert bucket.objects == {}

    run(scenario)


@pytest.mark.parametrize("fault", [SLOW_DOWN, INTERNAL_ERROR, CUT])
def test_parts_of_a_large_object_are_repeated_alone(fault):
    async def scenario(store, bucket):
        bucket.fail("PUT", fault, fault, query="partNumber=2")
        await store.put("a", [LARGE])
        assert bucket.objects == {"a": LARGE}
        assert sum("partNumber=1" in it for it in bucket.log) == 1
        assert sum("partNumber=2" in it for it in bucket.log) == 3

    run(scenario)


def test_a_large_upload_that_is_gone_is_begun_again():
    """NoSuchUpload: a lifecycle rule or an administrator removed it."""

    async def scenario(store, bucket):
        bucket.fail("PUT", Answer(404, "NoSuchUpload"), query="partNumber=3")
        await store.put("a", [memoryview(LARGE)[:100], memoryview(LARGE)[100:]])
        assert bucket.objects == {"a": LARGE}
        assert bucket.uploads == {}
        assert store.statistics.retries == 1

    run(scenario)


def test_a_completion_whose_reply_was_lost():
    """The client repeats it and is told NoSuchUpload; the upload is begun again, with the same content."""

    async def scenario(store, bucket):
        bucket.fail("POST", Answer(500, "InternalError", done=True), query="uploadId")
        await store.put("a", [LARGE])
        assert bucket.objects == {"a": LARGE}

    run(scenario)


def test_a_failed_large_upload_leaves_nothing_behind():
    async def chunks():
        yield (LARGE,)

    async def scenario(store, bucket):
        bucket.fail("PUT", *[Answer(403, "AccessDenied")] * 3, query="partNumber")
        with pytest.raises(ObjectStoreError):
            await store.put_stream("a", chunks())
        assert bucket.objects == {}
        assert bucket.uploads == {}

    run(scenario)


def test_a_body_that_ends_early_is_not_taken_for_the_whole():
    async def scenario(store, bucket):
        await store.put("a", [CONTENT])
        bucket.fail("GET", Answer(body_cut_at=100))
        assert bytes(await store.get_range("a", 0, 5000)) == CONTENT[:5000]
        bucket.objects["a"] = CONTENT[:3000]
        with pytest.raises(CorruptObjectError):
            await store.get_range("a", 0, 5000)

    run(scenario)


def test_keys_of_a_batch_that_were_not_deleted_are_deleted_again():
    """E-27: the request succeeds, and says of single keys that they are still there."""

    async def scenario(store, bucket):
        for key in "abc":
            await store.put(key, [b"x"])
        bucket.undeletable = ["b", "c"]
        await store.delete(["a", "b", "c"])
        assert bucket.objects == {}
        assert store.statistics.retries >= 1

    run(scenario)


def test_a_clock_that_is_off_for_a_moment():
    async def scenario(store, bucket):
        bucket.fail("PUT", Answer(403, "RequestTimeTooSkewed"))
        await store.put("a", [CONTENT])
        assert store.statistics.retries == 1

    run(scenario)
