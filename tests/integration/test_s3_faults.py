"""What S3 servers do under stress, seen through the real client."""

import asyncio
import random

import pytest

from headrace.storage.errors import (
    CorruptObjectError,
    FailureKind,
    NotDeletedError,
    ObjectNotFoundError,
    ObjectStoreError,
)
from headrace.storage.object_store.factory import open_object_store
from headrace.storage.object_store.retrying import RequestRefusedError, RetryPolicy
from headrace.storage.ports import CopiedRange
from tests.contracts.object_stores import PART_BYTES
from tests.integration.s3_fault_server import (
    ACCESS_DENIED,
    CUT,
    CUT_AFTER,
    INTERNAL_ERROR,
    OK_WITH_ERROR,
    RESET,
    SILENT,
    SILENT_AFTER,
    SILENT_LATE,
    SLOW_DOWN,
    TOKEN_EXPIRED,
    Answer,
    FaultServer,
)

CONTENT = bytes(range(256)) * 40
LARGE = CONTENT * 1200  # three parts


def run(scenario, *, options="", **policy):
    with FaultServer() as server:

        async def main():
            store = open_object_store(
                f"s3://bucket?endpoint={server.endpoint}&accessKey=a&secretKey=b{options}",
                rng=random.Random(0),
                part_bytes=PART_BYTES,
                policy=RetryPolicy(**({"max_attempts": 4, "backoff_ms_initial": 1} | policy)),
            )
            await scenario(store, server.bucket)
            await store.close()

        asyncio.run(main())
        server.bucket.check_truth()


@pytest.mark.parametrize(
    "fault",
    [
        SLOW_DOWN,
        INTERNAL_ERROR,
        CUT,
        RESET,
        Answer(429, "TooManyRequests"),
        Answer(502, "BadGateway"),
        OK_WITH_ERROR,
        TOKEN_EXPIRED,
        Answer(403, "ExpiredToken"),
        Answer(403, "RequestTimeTooSkewed"),
    ],
)
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
        bucket.fail("PUT", CUT_AFTER, Answer(500, "InternalError", done=True))
        await store.put("a", [CONTENT])
        assert bucket.objects == {"a": CONTENT}
        # Once there, it is looked at instead of written again.
        assert [it.method for it in bucket.requests] == [*["PUT"] * 3, "HEAD", "GET"]
        assert len(bucket.truth) == 1

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


COMPLETE = "uploadId"


@pytest.mark.parametrize(
    "fault",
    [CUT_AFTER, Answer(500, "InternalError", done=True), Answer(503, "SlowDown", done=True)],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_a_completion_whose_reply_was_lost_is_not_done_again(fault, streamed):
    """The client repeats it and is told NoSuchUpload, although it has succeeded: the object's size settles it."""

    async def chunks():
        yield (LARGE,)

    async def scenario(store, bucket):
        bucket.fail("POST", fault, query=COMPLETE)
        await (store.put_stream("a", chunks()) if streamed else store.put("a", [LARGE]))
        assert bucket.objects == {"a": LARGE}
        assert sum("partNumber" in it for it in bucket.log) == 3
        assert store.statistics.retries == store.statistics.errors == 0

    run(scenario)


def test_a_completion_that_finds_no_upload_and_no_object_is_no_success():
    """A lifecycle rule was faster; what lies under the key has another size."""

    async def chunks():
        yield (LARGE,)

    async def scenario(store, bucket):
        bucket.fail("POST", *[Answer(404, "NoSuchUpload")] * 2, query=COMPLETE)
        for _ in range(2):
            with pytest.raises(ObjectStoreError):
                await store.put_stream("a", chunks())
            bucket.objects["a"] = b"another"
        assert bucket.uploads == {}
        del bucket.objects["a"]

    run(scenario)


def test_an_error_inside_of_a_200_is_no_completion():
    async def scenario(store, bucket):
        bucket.fail("POST", OK_WITH_ERROR, query=COMPLETE)
        await store.put("a", [LARGE])
        assert bucket.objects == {"a": LARGE}
        assert sum("partNumber" in it for it in bucket.log) == 3
        bucket.fail("POST", *[OK_WITH_ERROR] * 5, query=COMPLETE)
        await store.put("b", [LARGE])
        assert bucket.objects["b"] == LARGE
        assert store.statistics.failures == {FailureKind.SERVER: 1}
        assert bucket.uploads == {}

    run(scenario)


def test_an_error_inside_of_a_200_is_no_copied_part():
    async def scenario(store, bucket):
        await store.put("a", [LARGE])
        bucket.fail("PUT", OK_WITH_ERROR, query="partNumber=1")
        bucket.fail("POST", OK_WITH_ERROR, CUT_AFTER, query=COMPLETE)
        await store.compose("b", [CopiedRange("a", 0, len(LARGE)), b"end"])
        assert bucket.objects["b"] == LARGE + b"end"
        assert bucket.uploads == {}

    run(scenario)


def test_a_part_whose_tag_is_not_what_was_stored():
    """The completion is refused for it; the upload is begun again."""

    async def scenario(store, bucket):
        bucket.fail("PUT", Answer(etag='"of something else"'), query="partNumber=2")
        await store.put("a", [LARGE])
        assert bucket.objects == {"a": LARGE}
        assert bucket.uploads == {}
        assert store.statistics.retries == 1

    run(scenario)


def test_an_object_whose_tag_is_wrong_is_read_by_its_content():
    async def scenario(store, bucket):
        bucket.fail("PUT", Answer(etag='"of something else"'))
        await store.put("a", [CONTENT])
        bucket.fail("GET", Answer(etag='"and another"'))
        assert bytes(await store.get_range("a", 0, 5000)) == CONTENT[:5000]

    run(scenario)


IMPATIENT = {"attempt_ms_base": 150, "attempt_bytes_per_s": 1 << 30}


def assert_timed_out(store, times):
    """At least so often: on a busy machine an attempt without a fault may take too long as well."""
    assert store.statistics.failures.keys() == {FailureKind.TIMEOUT}
    assert store.statistics.failures[FailureKind.TIMEOUT] >= times


@pytest.mark.parametrize("fault", [SILENT, SILENT_AFTER])
def test_no_answer_within_the_time_of_an_attempt(fault):
    async def scenario(store, bucket):
        bucket.fail("PUT", fault)
        await store.put("a", [CONTENT])
        bucket.fail("GET", fault)
        assert bytes(await store.get_range("a", 0, 5000)) == CONTENT[:5000]
        bucket.fail("POST", fault)
        await store.delete(["a"])
        assert bucket.objects == {}
        assert_timed_out(store, 3)

    run(scenario, **IMPATIENT)


def test_a_put_that_lands_when_nobody_waits_for_it_any_more():
    async def scenario(store, bucket):
        bucket.fail("PUT", SILENT_LATE, SILENT_LATE)
        await store.put("a", [CONTENT])
        assert bucket.land() == 2
        assert bucket.objects == {"a": CONTENT}
        bucket.fail("PUT", *[SILENT_LATE] * 4)
        with pytest.raises(ObjectStoreError, match=r"no answer within 0\.15"):
            await store.put("b", [CONTENT])
        assert bucket.land() == 4
        assert bucket.objects["b"] == CONTENT

    run(scenario, **IMPATIENT)


def test_a_large_upload_that_is_given_up_is_begun_again():
    """What is left of the first is aborted or, where that is lost as well, for the sweep."""

    async def scenario(store, bucket):
        bucket.fail("PUT", SILENT, query="partNumber=2")
        await store.put("a", [LARGE])
        assert bucket.objects == {"a": LARGE}
        assert sum("partNumber=2" in it for it in bucket.log) == 2

    run(scenario, attempt_ms_base=2_000, attempt_bytes_per_s=1 << 30)


def test_slow_answers_are_waited_for():
    async def scenario(store, bucket):
        await store.put("a", [CONTENT])
        bucket.fail("GET", Answer(delay_ms=200))
        assert bytes(await store.get_range("a", 0, 5000)) == CONTENT[:5000]
        bucket.fail("GET", Answer(pieces=20, piece_delay_ms=10))
        assert bytes(await store.get_range("a", 0, 5000)) == CONTENT[:5000]
        assert store.statistics.retries == 0

    run(scenario)


def test_a_trickle_is_given_up_in_time():
    async def scenario(store, bucket):
        await store.put("a", [CONTENT])
        bucket.fail("GET", Answer(delay_ms=60_000), Answer(pieces=5000, piece_delay_ms=50))
        assert bytes(await store.get_range("a", 0, 5000)) == CONTENT[:5000]
        assert_timed_out(store, 2)

    run(scenario, **IMPATIENT)


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
        bucket.fail("GET", Answer(body_cut_at=100), Answer(body_cut_at=0), Answer(short_by=1))
        assert bytes(await store.get_range("a", 0, 5000)) == CONTENT[:5000]
        assert store.statistics.failures == {FailureKind.CONNECTION: 3}
        bucket.objects["a"] = CONTENT[:3000]
        with pytest.raises(CorruptObjectError):
            await store.get_range("a", 0, 5000)
        bucket.objects["a"] = CONTENT

    run(scenario)


def test_bits_that_flip_are_for_the_checksums_of_blocks():
    """Nothing of the store notices: see the tests of the engine for who does."""

    async def scenario(store, bucket):
        await store.put("a", [CONTENT])
        bucket.fail("GET", Answer(flipped_bit=999))
        found = bytes(await store.get_range("a", 0, 5000))
        assert sum(a != b for a, b in zip(found, CONTENT, strict=False)) == 1

    run(scenario)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(404, "NoSuchKey"), ObjectNotFoundError),
        # As if the object ended there.
        (
            Answer(short_by=2000, header=("Content-Range", "bytes 0-2999/3000")),
            CorruptObjectError,
        ),
    ],
)
def test_an_object_that_is_not_found_or_cut_short_for_a_while(answer, error):
    async def scenario(store, bucket):
        await store.put("a", [CONTENT])
        bucket.fail("GET", *[answer] * (RetryPolicy().max_looks - 1))
        assert bytes(await store.get_range("a", 0, 5000)) == CONTENT[:5000]
        assert store.statistics.errors == 0
        bucket.fail("GET", *[answer] * RetryPolicy().max_looks)
        with pytest.raises(error):
            await store.get_range("a", 0, 5000)

    run(scenario)


@pytest.mark.parametrize(
    "answer",
    [ACCESS_DENIED, Answer(403, "SignatureDoesNotMatch"), Answer(301, "PermanentRedirect")],
)
def test_refusals_are_told_at_once(answer):
    async def scenario(store, bucket):
        with bucket.always(answer):
            for call in (
                lambda: store.put("a", [CONTENT]),
                lambda: store.create("a", [CONTENT]),
                lambda: store.get_range("a", 0, 1),
                lambda: store.list(""),
                lambda: store.delete(["a"]),
            ):
                with pytest.raises(RequestRefusedError):
                    await call()
        assert len(bucket.log) == 5
        assert store.statistics.failures == {FailureKind.REFUSED: 5}

    run(scenario)


def test_a_bucket_of_another_region():
    async def scenario(store, bucket):
        bucket.region = "eu-west-3"
        with pytest.raises(RequestRefusedError, match="AuthorizationHeaderMalformed"):
            await store.put("a", [CONTENT])

    run(scenario)
    with FaultServer() as server:
        server.bucket.region = "eu-west-3"

        async def main():
            uri = f"s3://bucket?endpoint={server.endpoint}&accessKey=a&secretKey=b&region=eu-west-3"
            await open_object_store(uri, rng=random.Random(0)).put("a", [CONTENT])

        asyncio.run(main())


def test_keys_of_a_batch_that_were_not_deleted_are_deleted_again():
    """The request succeeds, and says of single keys that they are still there."""

    async def scenario(store, bucket):
        for key in "abc":
            await store.put(key, [b"x"])
        bucket.undeletable = ["b", "c", "c"]
        await store.delete(["a", "b", "c"])
        assert bucket.objects == {}
        assert store.statistics.retries == 2
        await store.put("d", [b"x"])
        bucket.undeletable = ["d"] * 9
        with pytest.raises(NotDeletedError) as caught:
            await store.delete(["d", "e"])
        assert caught.value.keys == ["d"]

    run(scenario)


def test_a_clock_that_is_two_hours_off_and_then_set():
    async def scenario(store, bucket):
        bucket.clock_offset_s = 7_200
        with pytest.raises(ObjectStoreError, match="RequestTimeTooSkewed") as caught:
            await store.put("a", [CONTENT])
        assert not isinstance(caught.value, RequestRefusedError)
        assert store.statistics.failures == {FailureKind.CLOCK: 4}
        bucket.clock_offset_s = 0
        await store.put("a", [CONTENT])

    run(scenario)


@pytest.mark.parametrize("options", ["", "&checksum=SHA256"])
def test_checksums_are_sent_when_they_are_wanted(options):
    """By whatever has a body: also by parts of what is streamed, and by those of what is composed."""

    async def chunks(content):
        for start in range(0, len(content), 1 << 20):
            yield (content[start : start + (1 << 20)],)

    async def scenario(store, bucket):
        await store.put("a", [CONTENT])
        assert await store.create("b", [CONTENT])
        await store.put("c", [LARGE])
        await store.put_stream("d", chunks(LARGE))
        await store.put_stream("e", chunks(CONTENT))
        await store.compose("f", [CopiedRange("a", 0, 10), CopiedRange("c", 0, len(LARGE)), b"end"])
        assert bucket.objects == {
            "a": CONTENT,
            "b": CONTENT,
            "c": LARGE,
            "d": LARGE,
            "e": CONTENT,
            "f": CONTENT[:10] + LARGE + b"end",
        }
        puts = [it.headers for it in bucket.requests if it.method == "PUT"]
        sums = {
            name: sum(name in it for it in puts)
            for name in ("x-amz-checksum-sha256", "content-md5", "x-amz-copy-source")
        }
        # Of the composed object, the beginning and the end are uploaded.
        expected = (len(puts) - 3, 2, 1) if options else (0, 0, 1)
        assert tuple(sums.values()) == expected
        assert not [it for headers in puts for it in headers if it == "x-amz-trailer"]

    run(scenario, options=options)
