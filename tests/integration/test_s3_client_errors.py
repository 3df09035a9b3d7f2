"""What the pinned clients raise for each answer of a service, and none, and what the table makes of it.

A new version of obstore or boto3 that says it in another way fails here, and not in an outage.
"""

import asyncio
import random
import tomllib
from importlib.metadata import version
from pathlib import Path

import obstore
import pytest

from headrace.storage.errors import (
    CopyUnsupportedError,
    CorruptObjectError,
    FailureKind,
    ObjectNotFoundError,
    ObjectStoreError,
    StorageError,
)
from headrace.storage.object_store.failures import kind_of
from headrace.storage.object_store.retrying import RequestRefusedError, Retries, RetryPolicy
from headrace.storage.object_store.s3_access import resolve_access
from headrace.storage.object_store.s3_client import S3Client, make_client
from headrace.storage.object_store.s3_errors import Asked, failure_of, translating_obstore
from headrace.storage.object_store.s3_store import open_store
from headrace.storage.object_store.uri import parse_bucket_uri
from tests.environment.ports import free_port
from tests.integration.s3_fault_server import (
    ACCESS_DENIED,
    CUT,
    INTERNAL_ERROR,
    OK_WITH_ERROR,
    RESET,
    SILENT,
    SLOW_DOWN,
    TOKEN_EXPIRED,
    Answer,
    FaultServer,
)

ROOT = Path(__file__).parents[2]
PAGE = b"<html><body>Please come back later.</body></html>"
NOWHERE = Answer(404, "NoSuchKey")

# What is answered, what kind of failure that is, and what error a read of an object gets.
ANSWERS = [
    (SLOW_DOWN, FailureKind.THROTTLED, ObjectStoreError),
    (Answer(429, "TooManyRequests"), FailureKind.THROTTLED, ObjectStoreError),
    (Answer(429, body=PAGE), FailureKind.THROTTLED, ObjectStoreError),
    (INTERNAL_ERROR, FailureKind.SERVER, ObjectStoreError),
    (Answer(503, body=PAGE), FailureKind.SERVER, ObjectStoreError),
    (Answer(502, body=PAGE), FailureKind.SERVER, ObjectStoreError),
    (Answer(504, body=PAGE), FailureKind.SERVER, ObjectStoreError),
    (Answer(400, "RequestTimeout"), FailureKind.TIMEOUT, ObjectStoreError),
    (ACCESS_DENIED, FailureKind.REFUSED, RequestRefusedError),
    (Answer(403, "SignatureDoesNotMatch"), FailureKind.REFUSED, RequestRefusedError),
    (Answer(403, body=PAGE), FailureKind.REFUSED, RequestRefusedError),
    (Answer(401, "Unauthorized"), FailureKind.REFUSED, RequestRefusedError),
    (Answer(301, "PermanentRedirect"), FailureKind.REFUSED, RequestRefusedError),
    (Answer(400, "AuthorizationHeaderMalformed"), FailureKind.REFUSED, RequestRefusedError),
    (Answer(404, "NoSuchBucket"), FailureKind.REFUSED, RequestRefusedError),
    (TOKEN_EXPIRED, FailureKind.CREDENTIALS, ObjectStoreError),
    (Answer(403, "ExpiredToken"), FailureKind.CREDENTIALS, ObjectStoreError),
    (Answer(403, "RequestTimeTooSkewed"), FailureKind.CLOCK, ObjectStoreError),
    (CUT, FailureKind.CONNECTION, ObjectStoreError),
    (RESET, FailureKind.CONNECTION, ObjectStoreError),
    (NOWHERE, None, ObjectNotFoundError),
    (Answer(404, body=PAGE), None, ObjectNotFoundError),
    (Answer(416, "InvalidRange"), None, CorruptObjectError),
    (Answer(409, "OperationAborted"), FailureKind.OTHER, ObjectStoreError),
]
COPIES = [
    (Answer(501, "NotImplemented"), None, CopyUnsupportedError),
    (Answer(405, "MethodNotAllowed"), None, CopyUnsupportedError),
    (Answer(400, "InvalidRequest"), None, CopyUnsupportedError),
    (Answer(400, "InvalidRange"), None, CorruptObjectError),
    (OK_WITH_ERROR, FailureKind.SERVER, ObjectStoreError),
]
# Nothing of the sort is said of a bucket that lists: the request is refused.
BUCKETS = [
    (NOWHERE, FailureKind.REFUSED, RequestRefusedError),
    (Answer(400, "InvalidArgument"), FailureKind.REFUSED, RequestRefusedError),
    (Answer(404, "NoSuchUpload"), FailureKind.OTHER, ObjectStoreError),
]


def test_the_versions_are_those_that_are_tested():
    """The ranges of pyproject.toml end before the next version that may speak in another way."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ranges = dict(it.split(">=") for it in project["dependencies"] if it.startswith(("bot", "obs")))
    assert ranges.keys() == {"boto3", "obstore"}
    for name, bounds in ranges.items():
        least, _, limit = bounds.partition(",<")
        found, lower, upper = (
            [int(number) for number in it.split(".")] for it in (version(name), least, limit)
        )
        assert lower <= found < upper, name


class Clients:
    """Both clients of a bucket of the fault server."""

    def __init__(self, endpoint, read_timeout_s=10):
        uri = f"s3://bucket?endpoint={endpoint}&accessKey=a&secretKey=b"
        access = resolve_access(parse_bucket_uri(uri), {})
        self.store = open_store(access, dict)
        self.boto3 = S3Client(
            lambda: make_client(access, read_timeout_s),
            threads=1,
            name="test",
            retries=Retries(RetryPolicy(max_attempts=1), random.Random(0)),
        )

    async def get(self):
        with translating_obstore("9e/c/1", Asked.READ):
            await obstore.get_range_async(self.store, "9e/c/1", start=0, end=5)

    async def put(self):
        with translating_obstore("9e/c/1", Asked.WRITE):
            await obstore.put_async(self.store, "9e/c/1", b"content", use_multipart=False)

    async def delete(self):
        with translating_obstore("delete", Asked.WRITE):
            await obstore.delete_async(self.store, ["9e/c/1"])

    async def read(self):
        await self._boto3(Asked.READ, "get_object", Key="9e/c/1")

    async def put_part(self, asked=Asked.WRITE):
        await self._boto3(asked, "upload_part", Key="9e/c/2", UploadId="1", PartNumber=1, Body=b"x")

    async def copy(self):
        source = {"Bucket": "bucket", "Key": "9e/c/1"}
        await self._boto3(
            Asked.COPY,
            "upload_part_copy",
            Key="9e/c/2",
            UploadId="1",
            PartNumber=1,
            CopySource=source,
        )

    async def list(self):
        await self._boto3(Asked.BUCKET, "list_objects_v2")

    async def _boto3(self, asked, operation, **arguments):
        await self.boto3.once(
            "9e/c/1", asked, lambda it: getattr(it, operation)(Bucket="bucket", **arguments)
        )


def check(answer, kind, error, ask, *, read_timeout_s=10):
    """Ask once, with the answer: what is raised, and by how many requests."""
    with FaultServer() as server:
        server.bucket.objects["9e/c/1"] = b"content"

        async def main():
            clients = Clients(server.endpoint, read_timeout_s)
            with server.bucket.always(answer), pytest.raises(StorageError) as caught:
                await ask(clients)
            await clients.boto3.close()
            return caught.value

        found = asyncio.run(main())
        assert type(found) is error, repr(found)
        if isinstance(found, ObjectStoreError):
            assert found.kind is not None, "the table knew, not whoever reads the text"
            assert kind_of(found) is kind
        assert len(server.bucket.requests) == 1, "no client repeats anything"
        if answer.status >= 300 and answer.status != 301:
            failure = failure_of(found.__cause__)
            assert failure.status == answer.status
            assert answer.body or failure.code == answer.code
        server.bucket.objects.clear()


@pytest.mark.parametrize("ask", [Clients.get, Clients.read, Clients.copy])
@pytest.mark.parametrize(("answer", "kind", "error"), ANSWERS)
def test_of_an_object_that_is_read(answer, kind, error, ask):
    check(answer, kind, error, ask)


@pytest.mark.parametrize("ask", [Clients.put, Clients.delete, Clients.put_part])
@pytest.mark.parametrize(("answer", "kind", "error"), ANSWERS)
def test_of_an_object_that_is_written(answer, kind, error, ask):
    """To write it again is always right: nothing is not found, and no range too long."""
    if kind is None:
        kind, error = FailureKind.OTHER, ObjectStoreError
    check(answer, kind, error, ask)


@pytest.mark.parametrize(("answer", "kind", "error"), COPIES)
def test_of_a_range_that_is_copied(answer, kind, error):
    check(answer, kind, error, Clients.copy)


@pytest.mark.parametrize(
    ("answer", "kind", "error"),
    [*(it for it in ANSWERS if it[1] not in (None, FailureKind.OTHER)), *BUCKETS],
)
def test_of_a_list(answer, kind, error):
    check(answer, kind, error, Clients.list)


@pytest.mark.parametrize("ask", [Clients.read, Clients.put_part, Clients.list])
def test_a_service_that_says_nothing(ask):
    check(SILENT, FailureKind.TIMEOUT, ObjectStoreError, ask, read_timeout_s=1)


@pytest.mark.parametrize("name", ["get", "put", "delete", "read", "put_part", "list"])
def test_nobody_listens(name):
    async def main():
        clients = Clients(f"http://127.0.0.1:{free_port()}")
        with pytest.raises(ObjectStoreError) as caught:
            await getattr(clients, name)()
        await clients.boto3.close()
        return caught.value

    assert asyncio.run(main()).kind is FailureKind.CONNECTION


@pytest.mark.parametrize(
    ("answer", "is_created"),
    [
        (Answer(412, "PreconditionFailed"), False),
        (Answer(409, "ConditionalRequestConflict"), None),
    ],
)
def test_only_a_412_says_that_a_key_is_taken(answer, is_created):
    """obstore has one type for both."""
    with FaultServer() as server:

        async def main():
            store = Clients(server.endpoint).store
            with (
                server.bucket.always(answer),
                pytest.raises(obstore.exceptions.AlreadyExistsError) as caught,
            ):
                await obstore.put_async(store, "9e/c/1", b"x", use_multipart=False, mode="create")
            return failure_of(caught.value)

        failure = asyncio.run(main())
        assert (failure.status, failure.code) == (answer.status, answer.code)
        assert (failure.status == 412) == (is_created is False)


@pytest.mark.parametrize("answer", [Answer(body_cut_at=3), Answer(short_by=2)])
def test_a_body_that_ends_early(answer):
    with FaultServer() as server:
        server.bucket.objects["9e/c/1"] = b"content"

        async def main():
            with server.bucket.always(answer), pytest.raises(ObjectStoreError) as caught:
                await Clients(server.endpoint).get()
            return caught.value

        assert asyncio.run(main()).kind is FailureKind.CONNECTION
        server.bucket.objects.clear()
