"""S3ObjectStore: what obstore's errors become."""

import pytest
from obstore.exceptions import GenericError, PermissionDeniedError, UnauthenticatedError

from headrace.storage.errors import CorruptObjectError, ObjectNotFoundError, ObjectStoreError
from headrace.storage.object_store.retrying import RequestRefusedError
from headrace.storage.object_store.s3_errors import Asked, translating_obstore


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (FileNotFoundError("404: <Code>NoSuchKey</Code>"), ObjectNotFoundError),
        (FileNotFoundError("404: <Code>NoSuchBucket</Code>"), RequestRefusedError),
        (PermissionDeniedError("403 Forbidden: <Code>AccessDenied</Code>"), RequestRefusedError),
        (GenericError("403 Forbidden: <Code>SignatureDoesNotMatch</Code>"), RequestRefusedError),
        (UnauthenticatedError("401 Unauthorized"), RequestRefusedError),
        (GenericError("416: <Code>InvalidRange</Code>"), CorruptObjectError),
        (GenericError("503 Service Unavailable"), ObjectStoreError),
    ],
)
def test_errors_are_translated(raised, expected):
    with pytest.raises(expected) as caught, translating_obstore("key", Asked.READ):
        raise raised
    assert type(caught.value) is expected
    assert caught.value.__cause__ is raised


@pytest.mark.parametrize("reason", ["RequestTimeTooSkewed", "ExpiredToken", "SlowDown"])
def test_refusals_that_pass_by_themselves_are_retried(reason):
    with pytest.raises(ObjectStoreError) as caught, translating_obstore("key", Asked.READ):
        raise PermissionDeniedError(f"403 Forbidden: <Code>{reason}</Code>")
    assert not isinstance(caught.value, RequestRefusedError)


def test_messages_are_short_and_on_one_line():
    with pytest.raises(ObjectStoreError) as caught, translating_obstore("key", Asked.READ):
        raise GenericError("line\n" * 1000)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 500


def test_other_exceptions_pass():
    with pytest.raises(ZeroDivisionError), translating_obstore("key", Asked.READ):
        raise ZeroDivisionError
