"""What the clients' errors, and others on the way, mean."""

import pytest
from botocore.exceptions import ClientError, CredentialRetrievalError, ReadTimeoutError

from headrace.storage.errors import FailureKind, ObjectNotFoundError, ObjectStoreError
from headrace.storage.object_store.failures import kind_of
from headrace.storage.object_store.retrying import RequestRefusedError
from headrace.storage.object_store.s3_errors import Asked, asked_of_bucket, translating
from headrace.storage.object_store.unexpected import UnexpectedClientError

SILENCE = ReadTimeoutError(endpoint_url="http://s3.test/bucket")


def answer(status, code):
    told = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(told, "ListObjectsV2")


def raising(error):
    def call():
        raise error

    return call


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (answer(403, "AccessDenied"), RequestRefusedError),
        (answer(404, "NoSuchBucket"), RequestRefusedError),
        (answer(301, "PermanentRedirect"), RequestRefusedError),
        (answer(400, "InvalidArgument"), RequestRefusedError),
        (answer(400, "ExpiredToken"), ObjectStoreError),
        (answer(429, "TooManyRequests"), ObjectStoreError),
        (answer(503, "SlowDown"), ObjectStoreError),
        (answer(501, "NotImplemented"), ObjectStoreError),
        (SILENCE, ObjectStoreError),
        (PermissionError(13, "Permission denied"), ObjectStoreError),
        (ValueError("time data 'n/a'"), UnexpectedClientError),
    ],
)
def test_about_a_bucket(error, kind):
    with pytest.raises(ObjectStoreError) as caught:
        asked_of_bucket("list", raising(error))
    assert type(caught.value) is kind
    assert caught.value.__cause__ is error
    assert str(caught.value).startswith("list: ")


def test_a_silent_service_is_no_directory():
    """Botocore's timeouts are `OSError`s as well."""
    assert isinstance(SILENCE, OSError)
    with pytest.raises(ObjectStoreError) as caught, translating("9e/c/1", Asked.READ):
        raise SILENCE
    assert str(caught.value).startswith("9e/c/1: Read timeout on endpoint URL")
    assert kind_of(caught.value) is FailureKind.TIMEOUT


def test_about_an_object():
    with pytest.raises(ObjectNotFoundError), translating("9e/c/1", Asked.READ):
        raise answer(404, "NoSuchKey")
    # Not an object that is gone: the program that prints the credentials is.
    with pytest.raises(ObjectStoreError), translating("9e/c/1", Asked.READ):
        raise FileNotFoundError(2, "No such file or directory", "aws-vault")


def test_credentials_that_cannot_be_had_are_told_as_such():
    error = CredentialRetrievalError(provider="custom-process", error_msg="exit code 1")
    with pytest.raises(ObjectStoreError) as caught, translating("9e/c/1", Asked.READ):
        raise error
    assert kind_of(caught.value) is FailureKind.CREDENTIALS
