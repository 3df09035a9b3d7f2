"""Large uploads through the real client: one request or few, whatever the server does to them."""

import asyncio
import random

import pytest

from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store import s3
from headrace.storage.object_store.factory import open_object_store
from headrace.storage.object_store.retrying import RequestRefusedError, RetryPolicy
from headrace.storage.sweep.swept_bucket import open_swept_bucket
from tests.integration.s3_fault_server import (
    ACCESS_DENIED,
    CUT,
    CUT_AFTER,
    INTERNAL_ERROR,
    OK_WITH_ERROR,
    SILENT,
    SLOW_DOWN,
    Answer,
    FaultServer,
)

MIB = 1024 * 1024
BUFFERS = [random.Random(n).randbytes(300_000) for n in range(80)]
CONTENT = b"".join(BUFFERS)  # 22.9 MiB


def run(scenario, *, part_bytes=64 * MIB, options="", **policy):
    with FaultServer() as server:

        async def main():
            store = open_object_store(
                f"s3://bucket?endpoint={server.endpoint}&accessKey=a&secretKey=b{options}",
                rng=random.Random(0),
                part_bytes=part_bytes,
                policy=RetryPolicy(**({"max_attempts": 4, "backoff_ms_initial": 1} | policy)),
            )
            await scenario(store, server.bucket)
            await store.close()

        asyncio.run(main())


@pytest.mark.parametrize("options", ["", "&checksum=SHA256"])
def test_an_object_of_up_to_a_part_is_one_request(options):
    async def scenario(store, bucket):
        await store.put("a", BUFFERS)
        assert bucket.objects == {"a": CONTENT}
        assert [it.method for it in bucket.requests] == ["PUT"]
        assert ("x-amz-checksum-sha256" in bucket.requests[0].headers) == bool(options)

    run(scenario, options=options)


def test_a_larger_object_has_four_parts_and_two_more_requests():
    async def scenario(store, bucket):
        await store.put("a", BUFFERS)
        assert bucket.objects == {"a": CONTENT}
        assert sorted(it.method for it in bucket.requests) == 2 * ["POST"] + 4 * ["PUT"]
        sizes = [int(it.headers["content-length"]) for it in bucket.requests if it.method == "PUT"]
        assert max(sizes) - min(sizes) < 4

    run(scenario, part_bytes=5 * MIB)


@pytest.mark.parametrize("fault", [SLOW_DOWN, INTERNAL_ERROR, CUT, CUT_AFTER])
def test_a_large_request_is_repeated(fault):
    async def scenario(store, bucket):
        bucket.fail("PUT", fault)
        await store.put("a", BUFFERS)
        assert bucket.objects == {"a": CONTENT}
        assert store.statistics.errors == 0

    run(scenario)


@pytest.mark.parametrize(
    "fault", [Answer(500, "InternalError", done=True), CUT_AFTER, OK_WITH_ERROR]
)
def test_a_completion_whose_answer_says_nothing_is_settled_by_the_object(fault):
    async def scenario(store, bucket):
        bucket.fail("POST", fault, query="uploadId")
        await store.put("a", BUFFERS)
        assert bucket.objects == {"a": CONTENT}
        assert bucket.uploads == {}

    run(scenario, part_bytes=5 * MIB)


def test_a_refusal_is_not_repeated():
    async def scenario(store, bucket):
        with bucket.always(ACCESS_DENIED, "PUT"), pytest.raises(RequestRefusedError):
            await store.put("a", BUFFERS)
        assert len(bucket.requests) == 1

    run(scenario)


def test_a_server_that_falls_silent_is_given_up_in_time():
    async def scenario(store, bucket):
        with bucket.always(SILENT, "PUT"), pytest.raises(ObjectStoreError, match="no answer"):
            await store.put("a", BUFFERS)
        assert bucket.objects == {}

    run(scenario, max_attempts=2, attempt_ms_base=200, attempt_bytes_per_s=1 << 30)


def test_a_chunked_object_of_up_to_a_part_is_one_request():
    async def chunks():
        for buffer in BUFFERS:
            yield (buffer,)

    async def scenario(store, bucket):
        await store.put_stream("a", chunks())
        assert bucket.objects == {"a": CONTENT}
        assert len(bucket.requests) == 1

    run(scenario)


PAGE = Answer(200, body=b"<html><body>Please come back later.</body></html>")


@pytest.mark.parametrize("part_bytes", [64 * MIB, 5 * MIB])
@pytest.mark.parametrize(
    ("method", "query"), [("PUT", ""), ("POST", "uploads"), ("POST", "uploadId")]
)
def test_a_proxys_page_is_no_success(method, query, part_bytes):
    """A 200 that is not the service's, at any step: nothing is taken for stored that is not."""

    async def scenario(store, bucket):
        bucket.fail(method, PAGE, query=query)
        await store.put("a", BUFFERS)
        assert bucket.objects == {"a": CONTENT}
        bucket.fail("PUT", PAGE)
        await store.put("small", [CONTENT[:1000]])
        assert bucket.objects["small"] == CONTENT[:1000]

    run(scenario, part_bytes=part_bytes)


@pytest.mark.parametrize(
    ("pages_of", "body"),
    [
        (
            lambda place: place.uploads.pages(),
            b"<ListMultipartUploadsResult><IsTruncated>false</IsTruncated><Upload><Key>a</Key></Upload></ListMultipartUploadsResult>",
        ),
        (
            lambda place: place.lister.pages(),
            b"<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key></Contents></ListBucketResult>",
        ),
    ],
)
def test_a_list_that_lacks_what_lists_have_is_the_buckets_error(pages_of, body):
    """And not one that ends the node."""
    with FaultServer() as server:
        uri = f"s3://bucket?endpoint={server.endpoint}&accessKey=a&secretKey=b"
        place = open_swept_bucket(uri, {})

        async def main():
            server.bucket.fail("GET", Answer(200, body=body))
            with pytest.raises(ObjectStoreError, match="KeyError: "):
                await anext(pages_of(place))

        asyncio.run(main())


@pytest.mark.parametrize("answer", [Answer(short_by=100), Answer(416, "InvalidRange")])
def test_an_object_that_is_looked_at_in_vain_is_put_again(answer):
    """The completion's answer is lost, and the object cannot be compared either."""

    async def scenario(store, bucket):
        bucket.fail("POST", *[CUT_AFTER] * 4, query="uploadId")
        bucket.fail("GET", answer, answer, answer)
        await store.put("a", BUFFERS)
        assert bucket.objects == {"a": CONTENT}

    run(scenario, part_bytes=5 * MIB)


# The connection ends in the middle of a body, or nothing comes back when all of it was sent.
BROKEN_OFF = [CUT, CUT_AFTER, INTERNAL_ERROR, OK_WITH_ERROR]


@pytest.mark.parametrize("options", ["", "&checksum=SHA256"])
@pytest.mark.parametrize("fault", BROKEN_OFF)
def test_what_was_broken_off_is_sent_in_small_parts_of_which_one_is_repeated(
    fault, options, monkeypatch
):
    monkeypatch.setattr(s3, "REPEATED_PART_BYTES", 5 * MIB)

    async def scenario(store, bucket):
        bucket.fail("PUT", fault)
        bucket.fail("PUT", CUT, INTERNAL_ERROR, query="partNumber=2")
        await store.put("a", BUFFERS)
        assert bucket.objects == {"a": CONTENT}
        sizes = [int(it.headers["content-length"]) for it in bucket.requests if it.method == "PUT"]
        assert sizes[0] == len(CONTENT)
        # Five parts, and one of them twice more.
        assert sum(sizes[1:]) == len(CONTENT) + 2 * 5 * MIB
        assert max(sizes[1:]) == 5 * MIB
        assert store.statistics.retries == 1
        await store.put("b", BUFFERS)
        assert bucket.requests[-1].headers["content-length"] == str(len(CONTENT))

    run(scenario, options=options)


def test_a_silence_breaks_off_as_well(monkeypatch):
    monkeypatch.setattr(s3, "REPEATED_PART_BYTES", 5 * MIB)

    async def scenario(store, bucket):
        bucket.fail("PUT", SILENT)
        await store.put("a", BUFFERS)
        assert bucket.objects == {"a": CONTENT}
        assert sum("partNumber" in it for it in bucket.log) == 5

    run(scenario, attempt_ms_base=1_000, attempt_bytes_per_s=1 << 30)


def test_who_is_asked_to_slow_down_sends_no_more_requests_than_before(monkeypatch):
    monkeypatch.setattr(s3, "REPEATED_PART_BYTES", 5 * MIB)

    async def scenario(store, bucket):
        bucket.fail("PUT", SLOW_DOWN, SLOW_DOWN)
        await store.put("a", BUFFERS)
        assert [it.method for it in bucket.requests] == ["PUT"] * 3

    run(scenario)


def test_of_few_objects_it_is_known_that_they_were_broken_off(monkeypatch):
    """It is known for as long as nobody asks: an object that is given up is never put again."""
    monkeypatch.setattr(s3, "REPEATED_PART_BYTES", 5 * MIB)
    monkeypatch.setattr(s3, "MAX_BROKEN_OFF", 2)

    async def scenario(store, bucket):
        with bucket.always(CUT, "PUT"):
            for key in "abc":
                with pytest.raises(ObjectStoreError):
                    await store.put(key, BUFFERS)
        bucket.requests.clear()
        await store.put("a", BUFFERS)  # forgotten
        assert len(bucket.requests) == 1
        await store.put("c", BUFFERS)
        assert len(bucket.requests) == 1 + 7

    run(scenario, max_attempts=1)
