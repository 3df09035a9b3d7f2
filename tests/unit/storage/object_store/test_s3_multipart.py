"""S3Multipart: which requests it sends, and that the object, not the answer, decides what happened."""

# ruff: noqa: N803 - the names are boto3's

import asyncio
import re
import threading

import pytest
from botocore.exceptions import (
    ClientError,
    CredentialRetrievalError,
    NoCredentialsError,
    ReadTimeoutError,
)

from headrace.storage.errors import (
    CopyUnsupportedError,
    CorruptObjectError,
    ObjectNotFoundError,
    ObjectStoreError,
)
from headrace.storage.object_store.copy_parts import MIB
from headrace.storage.object_store.retrying import RequestRefusedError, Retries, RetryPolicy
from headrace.storage.object_store.s3_client import S3Client
from headrace.storage.object_store.s3_conditions import Conditions
from headrace.storage.object_store.s3_multipart import S3Multipart
from headrace.storage.ports import CopiedRange, unnoticed

TIMED_OUT = ReadTimeoutError(endpoint_url="http://s3")


def answer(code, status):
    return ClientError(
        {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "Operation"
    )


class Service:
    """Keeps objects; each operation's next calls fail as told, before or after they have effect."""

    def __init__(self):
        self.objects = {}
        self.uploads = {}
        self.before = {}
        self.after = {}
        self.log = []
        self.lock = threading.Lock()
        self.ignores_ranges = False
        self.closed = False

    def __getattr__(self, name):
        operation = getattr(type(self), f"_{name}", None)
        if operation is None:
            raise AttributeError(name)

        def call(**arguments):
            with self.lock:
                self.log.append(name)
                for faults, acts in ((self.before, False), (self.after, True)):
                    if faults.get(name):
                        error = faults[name].pop(0)
                        if acts:
                            operation(self, **arguments)
                        raise error
                return operation(self, **arguments)

        return call

    def close(self):
        self.closed = True

    def _create_multipart_upload(self, Bucket, Key):
        self.uploads["u"] = {}
        return {"UploadId": "u"}

    def _upload_part(self, Bucket, Key, UploadId, PartNumber, Body):
        content = Body if isinstance(Body, bytes) else b"".join(iter(Body.read, b""))
        self.uploads[UploadId][PartNumber] = content
        return {"ETag": f"e{PartNumber}"}

    def _upload_part_copy(self, Bucket, Key, UploadId, PartNumber, CopySource, CopySourceRange):
        assert CopySource["Bucket"] == Bucket
        content = self.objects.get(CopySource["Key"])
        if content is None:
            raise answer("NoSuchKey", 404)
        start, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", CopySourceRange).groups())
        if last >= len(content):
            raise answer("InvalidRange", 416)
        piece = content if self.ignores_ranges else content[start : last + 1]
        self.uploads[UploadId][PartNumber] = piece
        return {"CopyPartResult": {"ETag": f"e{PartNumber}"}}

    def _complete_multipart_upload(self, Bucket, Key, UploadId, MultipartUpload, IfNoneMatch=""):
        if UploadId not in self.uploads:
            raise answer("NoSuchUpload", 404)
        if IfNoneMatch and Key in self.objects:
            raise answer("PreconditionFailed", 412)
        parts = self.uploads.pop(UploadId)
        named = [(it["PartNumber"], it["ETag"]) for it in MultipartUpload["Parts"]]
        assert named == [(number, f"e{number}") for number in sorted(parts)]
        self.objects[Key] = b"".join(parts[number] for number in sorted(parts))
        return {"ETag": "e"}

    def _abort_multipart_upload(self, Bucket, Key, UploadId):
        if self.uploads.pop(UploadId, None) is None:
            raise answer("NoSuchUpload", 404)

    def _head_object(self, Bucket, Key):
        if Key not in self.objects:
            raise answer("404", 404)
        return {"ContentLength": len(self.objects[Key])}

    def _delete_object(self, Bucket, Key):
        self.objects.pop(Key, None)


A, B = b"a" * (6 * MIB), b"b" * (7 * MIB)
PIECES = [CopiedRange("a", 0, len(A)), CopiedRange("b", 10, len(B)), b"the end"]
MADE = A + B[10:] + b"the end"


def client_of(make_client, max_attempts=1):
    policy = RetryPolicy(max_attempts=max_attempts, backoff_ms_initial=1)
    return S3Client(make_client, threads=4, name="test", retries=Retries(policy))


def multipart(client, read=None):
    return S3Multipart(client, "bucket", "p/", read, conditions=Conditions())


def reader_of(service):
    async def read(key, start, end):
        content = service.objects[f"p/{key}"]
        if end > len(content):
            raise CorruptObjectError(key)
        return memoryview(content)[start:end]

    return read


def compose(service, pieces=PIECES, progress=unnoticed):
    """What `made` is afterwards."""
    service.objects |= {"p/a": A, "p/b": B}

    async def main():
        client = client_of(lambda: service)
        try:
            await multipart(client, reader_of(service)).compose("made", pieces, progress)
        finally:
            await client.close()

    asyncio.run(main())
    return service.objects["p/made"]


def test_each_part_is_told_when_it_is_in_place():
    service = Service()
    told = []
    compose(
        service, progress=lambda size_bytes: told.append((size_bytes, "p/made" in service.objects))
    )
    assert sorted(told) == [(7, False), (len(A), False), (len(B) - 10, False)]


def test_a_request_for_each_part_and_three_more():
    service = Service()
    assert compose(service) == MADE
    assert sorted(service.log) == [
        "complete_multipart_upload",
        "create_multipart_upload",
        "head_object",
        "upload_part",
        "upload_part_copy",
        "upload_part_copy",
    ]
    assert service.closed


@pytest.mark.parametrize(
    "error", [TIMED_OUT, answer("InternalError", 500), answer("InternalError", 200)]
)
def test_a_completion_whose_answer_was_lost_counts_if_the_object_is_there(error):
    service = Service()
    service.after["complete_multipart_upload"] = [error]
    assert compose(service) == MADE
    assert "abort_multipart_upload" not in service.log


def test_no_such_upload_after_success():
    """The client has repeated a completion that had worked."""
    service = Service()
    service.after["complete_multipart_upload"] = [answer("NoSuchUpload", 404)]
    assert compose(service) == MADE


@pytest.mark.parametrize(
    "error", [TIMED_OUT, answer("InternalError", 200), answer("NoSuchUpload", 404)]
)
def test_a_completion_that_came_to_nothing_is_aborted(error):
    service = Service()
    service.before["complete_multipart_upload"] = [error]
    with pytest.raises(ObjectStoreError):
        compose(service)
    assert "p/made" not in service.objects
    assert service.uploads == {}


def test_another_object_of_that_size_is_not_taken_for_ours():
    service = Service()
    service.before["complete_multipart_upload"] = [TIMED_OUT]
    service.objects["p/made"] = bytes(len(MADE))
    with pytest.raises(ObjectStoreError):
        compose(service)
    assert service.uploads == {}


@pytest.mark.parametrize(
    ("operation", "error", "expected"),
    [
        ("create_multipart_upload", answer("SlowDown", 503), ObjectStoreError),
        ("create_multipart_upload", answer("AccessDenied", 403), RequestRefusedError),
        ("create_multipart_upload", answer("NoSuchBucket", 404), RequestRefusedError),
        ("upload_part", TIMED_OUT, ObjectStoreError),
        ("upload_part_copy", answer("InternalError", 500), ObjectStoreError),
        ("upload_part_copy", answer("NotImplemented", 501), CopyUnsupportedError),
        ("upload_part_copy", answer("MethodNotAllowed", 405), CopyUnsupportedError),
        ("upload_part_copy", answer("InvalidArgument", 400), CopyUnsupportedError),
        ("upload_part_copy", answer("RequestTimeTooSkewed", 403), ObjectStoreError),
        ("upload_part_copy", ConnectionResetError(), ObjectStoreError),
    ],
)
def test_what_fails_leaves_nothing_behind(operation, error, expected):
    service = Service()
    service.before[operation] = [error]
    with pytest.raises(expected) as raised:
        compose(service)
    assert isinstance(raised.value, RequestRefusedError) == (expected is RequestRefusedError)
    assert (service.uploads, "p/made" in service.objects) == ({}, False)


def test_sources_that_are_gone_or_short():
    service = Service()
    with pytest.raises(ObjectNotFoundError):
        compose(service, [*PIECES[:2], CopiedRange("gone", 0, 6 * MIB)])
    with pytest.raises(CorruptObjectError):
        compose(service, [CopiedRange("a", 0, len(A) + 1)])
    assert service.uploads == {}


def test_an_abort_that_fails_as_well_is_left_for_the_sweep(caplog):
    service = Service()
    service.before["upload_part"] = [TIMED_OUT]
    service.before["abort_multipart_upload"] = [answer("InternalError", 500)]
    with pytest.raises(ObjectStoreError):
        compose(service)
    assert service.uploads.keys() == {"u"}
    assert [it.message for it in caplog.records] == [
        "could not abort a multipart upload; the hourly sweep removes it"
    ]


def test_a_service_that_copies_whole_objects_is_found_out():
    service = Service()
    service.ignores_ranges = True
    with pytest.raises(CopyUnsupportedError, match="instead of"):
        compose(service)
    assert "p/made" not in service.objects


@pytest.mark.parametrize("max_attempts", [1, 2])
@pytest.mark.parametrize("operation", ["upload", "put_parts", "compose"])
def test_a_completion_is_settled_at_one_place_whatever_was_written(operation, max_attempts):
    """Its answer was lost; with a second attempt, that one is told that there is no such upload."""
    service = Service()
    service.after["complete_multipart_upload"] = [TIMED_OUT]
    buffers = [A, b"the end"]

    async def main():
        client = client_of(lambda: service, max_attempts)
        copier = multipart(client, reader_of(service))

        async def parts():
            for buffer in buffers:
                yield [buffer]

        match operation:
            case "upload":
                await copier.upload("made", parts())
            case "put_parts":
                await copier.put_parts("made", buffers, 6 * MIB)
            case _:
                await copier.compose("made", buffers)
        await client.close()

    asyncio.run(main())
    assert service.objects["p/made"] == b"".join(buffers)
    assert service.log.count("complete_multipart_upload") == max_attempts
    assert "abort_multipart_upload" not in service.log


def test_parts_that_cannot_be_had_leave_nothing_behind():
    service = Service()

    async def parts():
        yield [A]
        raise ZeroDivisionError

    async def main():
        client = client_of(lambda: service)
        with pytest.raises(ZeroDivisionError):
            await multipart(client).upload("made", parts())
        await client.close()

    asyncio.run(main())
    assert (service.uploads, service.objects) == ({}, {})


@pytest.mark.parametrize("operation", ["upload_part", "abort_multipart_upload"])
def test_requests_of_an_upload_are_repeated_one_by_one(operation):
    service = Service()
    service.before["upload_part"] = [TIMED_OUT, answer("SlowDown", 503)]
    if operation == "abort_multipart_upload":
        service.before["upload_part"] += [answer("AccessDenied", 403)]
        service.before[operation] = [TIMED_OUT, answer("InternalError", 500)]

    async def main():
        client = client_of(lambda: service, max_attempts=3)
        try:
            await multipart(client).put_parts("made", [A, B], 6 * MIB)
        finally:
            await client.close()

    if operation == "upload_part":
        asyncio.run(main())
        assert service.objects == {"p/made": A + B}
        assert service.log.count("upload_part") == 3 + 2
    else:
        with pytest.raises(RequestRefusedError):
            asyncio.run(main())
        assert service.log.count(operation) == 3
    assert service.uploads == {}


def test_after_a_failure_no_more_parts_are_begun():
    service = Service()
    service.before["upload_part_copy"] = [TIMED_OUT] * 4
    with pytest.raises(ObjectStoreError):
        compose(service, [CopiedRange("a", 0, 6 * MIB)] * 30)
    assert service.log.count("upload_part_copy") <= 8


def test_a_cancelled_caller_leaves_no_upload():
    service = Service()
    begun = threading.Event()
    go_on = threading.Event()
    copy = Service._upload_part_copy

    def slow(self, **arguments):
        begun.set()
        assert go_on.wait(10)
        return copy(self, **arguments)

    service.__class__ = type("Slow", (Service,), {"_upload_part_copy": slow})
    service.objects["p/a"] = A

    async def main():
        client = client_of(lambda: service)
        copier = multipart(client)
        task = asyncio.create_task(copier.compose("made", [CopiedRange("a", 0, len(A))]))
        await asyncio.get_running_loop().run_in_executor(None, begun.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()
        client._threads.shutdown(wait=True)

    asyncio.run(main())
    assert service.uploads == {}


def test_credentials_that_are_away_for_a_while_are_looked_for_again():
    """A role's service fails while the client is made, or has none when it is."""
    service = Service()
    bare = Service()
    bare.before["create_multipart_upload"] = [NoCredentialsError()]
    found = iter([CredentialRetrievalError(provider="role", error_msg="away"), bare, service])

    def make_client():
        made = next(found)
        if isinstance(made, Exception):
            raise made
        return made

    async def main():
        client = client_of(make_client)
        copier = multipart(client)
        content = [bytes(6 * MIB), b"end"]
        for _ in range(2):
            with pytest.raises(ObjectStoreError):
                await copier.compose("made", content)
        await copier.compose("made", content)
        await client.close()

    asyncio.run(main())
    assert service.objects == {"p/made": bytes(6 * MIB) + b"end"}
