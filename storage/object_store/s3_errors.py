"""Our errors for those of the two S3 clients, by the table in `headrace.storage.object_store.failures`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Final, TypeVar

from headrace.storage.errors import (
    CopyUnsupportedError,
    CorruptObjectError,
    FailureKind,
    ObjectNotFoundError,
    ObjectStoreError,
    StorageError,
)
from headrace.storage.object_store.failures import Failure, failure_in
from headrace.storage.object_store.retrying import RequestRefusedError
from headrace.storage.object_store.unexpected import storage_errors_only

NO_SUCH_UPLOAD: Final = "NoSuchUpload"
_NOT_FOUND: Final = frozenset({"NoSuchKey", "NotFound", "404", ""})
_UNSUPPORTED: Final = frozenset(
    {
        "NotImplemented",
        "MethodNotAllowed",
        "UnsupportedOperation",
        "InvalidArgument",
        "InvalidRequest",
    }
)
_RANGE: Final = "Range specified is not valid"  # for a source of that size, says AWS
_MAX_MESSAGE_LENGTH: Final = 500

_T = TypeVar("_T")


class Asked(Enum):
    """What a request is about: an answer that means something of one means nothing of another."""

    READ = "read"  # an object
    COPY = "copy"  # a range of one
    WRITE = "write"  # an object: to write it again is always right
    BUCKET = "bucket"  # a list, or the bucket itself


def failure_of(error: BaseException) -> Failure:
    """Return what is known of a request that failed with an error of botocore or obstore."""
    types = tuple(it.__name__ for it in type(error).__mro__)
    text = text_of(error)
    answer = getattr(error, "response", None)
    if not isinstance(answer, dict):
        return failure_in(text, types)
    status = int(answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    return Failure(types, status, str(answer.get("Error", {}).get("Code", "")), text)


def text_of(error: BaseException | None) -> str:
    """Return an error's text without what obstore adds for debugging."""
    return str(error).partition("Debug source:")[0].strip()


def error_for(what: str, error: BaseException, asked: Asked) -> StorageError:
    """Return our error for one of botocore or obstore.

    Args:
        what: what the request was about: a key, mostly.
        error: what was raised.
        asked: what the request asked for.
    """
    failure = failure_of(error)
    message = f"{what}: {failure.text}".replace("\n", " ")[:_MAX_MESSAGE_LENGTH]
    kind = failure.kind
    if kind is FailureKind.REFUSED or _refuses_bucket(failure, asked):
        return RequestRefusedError(message, FailureKind.REFUSED)
    if kind is FailureKind.OTHER:
        if asked in (Asked.READ, Asked.COPY):
            if _is_not_found(failure):
                return ObjectNotFoundError(message)
            if _is_range(failure):
                return CorruptObjectError(message)
        if asked is Asked.COPY and (failure.code in _UNSUPPORTED or failure.status in (405, 501)):
            return CopyUnsupportedError(message)
    return ObjectStoreError(message, kind)


@contextmanager
def translating(what: str, asked: Asked) -> Iterator[None]:
    """Raise our errors for those of boto3, of files, and for all others raised there.

    Args:
        what: what is asked for, for the messages.
        asked: see `error_for`.

    Raises:
        StorageError: always one, but for what is no `Exception`, and `MemoryError`.
    """
    with storage_errors_only(what):
        try:
            yield
        except Exception as error:
            # First of all: some of botocore's are `OSError`s too.
            if type(error).__module__.startswith(("botocore", "boto3", "s3transfer")):
                raise error_for(what, error, asked) from error
            if isinstance(error, OSError):
                raise ObjectStoreError(f"{what}: {error}") from error
            raise


@contextmanager
def translating_obstore(what: str, asked: Asked) -> Iterator[None]:
    """Raise our errors for those of obstore, whose "not found" is Python's.

    Args:
        what: what is asked for, for the messages.
        asked: see `error_for`.

    Raises:
        StorageError: for any of them.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, FileNotFoundError) or type(error).__module__.startswith("obstore"):
            raise error_for(what, error, asked) from error
        raise


def asked_of_bucket(what: str, call: Callable[[], _T]) -> _T:
    """Call what asks for a list; see `translating`."""
    with translating(what, Asked.BUCKET):
        return call()


def _refuses_bucket(failure: Failure, asked: Asked) -> bool:
    return (
        asked is Asked.BUCKET
        and 300 <= failure.status < 500
        and failure.kind is FailureKind.OTHER
        and failure.code != NO_SUCH_UPLOAD
    )


def _is_not_found(failure: Failure) -> bool:
    if failure.code == "NoSuchKey" or "FileNotFoundError" in failure.types:
        return True
    return failure.status == 404 and failure.code in _NOT_FOUND


def _is_range(failure: Failure) -> bool:
    is_argument = failure.code == "InvalidArgument" and _RANGE in failure.text
    return failure.status == 416 or failure.code == "InvalidRange" or is_argument
