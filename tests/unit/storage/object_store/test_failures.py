"""Kinds of failures, by what servers and clients say."""

import pytest

from headrace.storage.errors import FailureKind
from headrace.storage.object_store.failures import failure_in, keys_left

STATUS = "Generic S3 error: Error performing PUT http://h/b/k in 5.8ms - Server returned non-2xx status code: "


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (STATUS + "503 Service Unavailable: <Error><Code>SlowDown</Code></Error>", "throttled"),
        (STATUS + "429 Too Many Requests:", "throttled"),
        ("An error occurred (SlowDown) when calling the UploadPartCopy operation", "throttled"),
        (STATUS + "503 Service Unavailable: <html>", "server"),
        (STATUS + "500 Internal Server Error: <Code>InternalError</Code>", "server"),
        ("An error occurred (InternalError) when calling the HeadObject operation", "server"),
        ("Server returned error response: <Error><Code>InternalError</Code></Error>", "server"),
        ("no answer within 30 s", "timeout"),
        ("HTTP error: operation timed out", "timeout"),
        ('Read timeout on endpoint URL: "http://h/b"', "timeout"),
        (STATUS + "400 Bad Request: <Code>RequestTimeout</Code>", "timeout"),
        ("in 816.6us - HTTP error: error sending request", "connection"),
        ("Generic S3 error: HTTP error: request or response body error", "connection"),
        ("Generic S3 error: Requested 0..5000, got 0..4900", "connection"),
        ('Could not connect to the endpoint URL: "http://h/b"', "connection"),
        ("Connection was closed before we received a valid response", "connection"),
        (STATUS + "403 Forbidden: <Error><Code>AccessDenied</Code></Error>", "refused"),
        (STATUS + "401 Unauthorized", "refused"),
        (STATUS + "404 Not Found: <Error><Code>NoSuchBucket</Code></Error>", "refused"),
        (STATUS + "400 Bad Request: <Code>AuthorizationHeaderMalformed</Code>", "refused"),
        ("Received redirect without LOCATION, this normally indicates an incorrect", "refused"),
        (STATUS + "403 Forbidden: <Code>RequestTimeTooSkewed</Code>", "clock"),
        (STATUS + "403 Forbidden: <Code>ExpiredToken</Code>", "credentials"),
        (STATUS + "400 Bad Request: <Code>ExpiredToken</Code>", "credentials"),
        (STATUS + "409 Conflict: <Code>ConditionalRequestConflict</Code>", "other"),
        ("", "other"),
    ],
)
def test_kinds(message, kind):
    assert failure_in(message).kind is FailureKind(kind)


AWS = "<Error><Key>p/b&amp;1</Key><Code>AccessDenied</Code><Message>no</Message></Error>"
MINIO = "<Error>\n<Code>SlowDown</Code><Message/><Key>p/c</Key><VersionId/></Error>"
DELETED = "<Deleted><Key>p/a</Key></Deleted>"
RESULT = "... error response: <?xml?> <DeleteResult xmlns='x'>{}</DeleteResult>"


@pytest.mark.parametrize(
    ("answer", "keys"),
    [
        (RESULT.format(DELETED + AWS + DELETED + MINIO), ["b&1", "c"]),
        (RESULT.format(DELETED), []),
        # Nothing can be told of a request that failed as a whole, or of half an answer.
        ("503 Service Unavailable: <Error><Code>SlowDown</Code></Error>", []),
        (RESULT.format(AWS + "<Error><Code>InternalError</Code></Error>"), []),
        (RESULT.format(AWS).removesuffix("</DeleteResult>"), []),
    ],
)
def test_keys_that_an_answer_has_errors_for(answer, keys):
    assert list(keys_left(answer, "p/")) == keys
