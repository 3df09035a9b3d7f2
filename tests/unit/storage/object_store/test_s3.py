"""S3ObjectStore: how buffers are joined, and what the client's errors become."""

import asyncio

import pytest
from obstore.exceptions import GenericError, PermissionDeniedError, UnauthenticatedError

from headrace.storage.errors import CorruptObjectError, ObjectNotFoundError, ObjectStoreError
from headrace.storage.object_store import s3
from headrace.storage.object_store.retrying import RefusedError


def test_small_buffers_are_joined_and_large_ones_pass(monkeypatch):
    monkeypatch.setattr(s3, "JOIN_BYTES", 10)
    large = bytes(25)
    found = list(s3._joined([b"ab", b"cd", large, large, b"x", b"0123456789", b"end"]))
    assert [len(it) for it in found] == [29, 25, 11, 3]
    assert found[1] is large
    assert b"".join(found) == b"abcd" + large * 2 + b"x0123456789end"


def test_nothing_joined_is_nothing():
    assert list(s3._joined([])) == []


def test_chunks_are_joined_one_by_one():
    async def chunks():
        yield (b"a", b"b")
        yield ()
        yield (b"c",)

    async def main():
        return [it async for it in s3._joined_chunks(chunks())]

    assert asyncio.run(main()) == [b"ab", b"c"]


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (FileNotFoundError("404: <Code>NoSuchKey</Code>"), ObjectNotFoundError),
        (FileNotFoundError("404: <Code>NoSuchBucket</Code>"), RefusedError),
        (PermissionDeniedError("403 Forbidden: <Code>AccessDenied</Code>"), RefusedError),
        (GenericError("403 Forbidden: <Code>SignatureDoesNotMatch</Code>"), RefusedError),
        (UnauthenticatedError("401 Unauthorized"), RefusedError),
        (GenericError("416: <Code>InvalidRange</Code>"), CorruptObjectError),
        (GenericError("503 Service Unavailable"), ObjectStoreError),
    ],
)
def test_errors_are_translated(raised, expected):
    with pytest.raises(expected) as caught, s3._translated("key", ObjectNotFoundError):
        raise raised
    assert type(caught.value) is expected
    assert caught.value.__cause__ is raised


@pytest.mark.parametrize("reason", ["RequestTimeTooSkewed", "ExpiredToken", "SlowDown"])
def test_refusals_that_pass_by_themselves_are_retried(reason):
    with pytest.raises(ObjectStoreError) as caught, s3._translated("key", ObjectNotFoundError):
        raise PermissionDeniedError(f"403 Forbidden: <Code>{reason}</Code>")
    assert not isinstance(caught.value, RefusedError)


def test_messages_are_short_and_on_one_line():
    with pytest.raises(ObjectStoreError) as caught, s3._translated("key", ObjectNotFoundError):
        raise GenericError("line\n" * 1000)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 500


def test_other_exceptions_pass():
    with pytest.raises(ZeroDivisionError), s3._translated("key", ObjectNotFoundError):
        raise ZeroDivisionError
