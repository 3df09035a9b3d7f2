"""What boto3's errors mean to us. Recognised by shape: botocore takes 100 ms to import."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from headrace.storage.errors import (
    CopyUnsupportedError,
    CorruptObjectError,
    ObjectNotFoundError,
    ObjectStoreError,
)
from headrace.storage.object_store.retrying import RefusedError
from headrace.storage.object_store.unforeseen import foreseen

# Refusals that pass by themselves: a clock that is being set, a token that is being renewed, an
# upload that somebody cleaned away.
_PASSING: Final = frozenset(
    {"RequestTimeTooSkewed", "ExpiredToken", "SlowDown", "RequestTimeout", "NoSuchUpload"}
)
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


def is_answer(error: BaseException) -> bool:
    """Whether the error is botocore's, an answer of the service or the lack of one."""
    return type(error).__module__.startswith(("botocore", "boto3", "s3transfer"))


def status_of(error: BaseException) -> int:
    """HTTP status of an answer; 0 where nobody answered."""
    answer = getattr(error, "response", None) or {}
    return int(answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def code_of(error: BaseException) -> str:
    """S3's name of an error; empty where nobody answered."""
    answer = getattr(error, "response", None) or {}
    return str(answer.get("Error", {}).get("Code", ""))


def translated(what: str, error: BaseException) -> Exception:
    """Return our error for one of botocore's.

    Args:
        what: what the request was about: a key, mostly.
        error: see `is_answer`.
    """
    status, code = status_of(error), code_of(error)
    message = f"{what}: {error}".replace("\n", " ")[:_MAX_MESSAGE_LENGTH]
    if code in _PASSING:
        return ObjectStoreError(message)
    if code == "NoSuchKey" or (status == 404 and code in ("404", "NotFound", "")):
        return ObjectNotFoundError(message)
    if status == 416 or code == "InvalidRange" or (code == "InvalidArgument" and _RANGE in message):
        return CorruptObjectError(message)
    if code in _UNSUPPORTED or status in (405, 501):
        return CopyUnsupportedError(message)
    # 301 and the malformed header: another region's bucket.
    if code in ("NoSuchBucket", "AuthorizationHeaderMalformed") or status in (301, 401, 403):
        return RefusedError(message)
    return ObjectStoreError(message)


def translated_of_bucket(what: str, error: BaseException) -> Exception:
    """Return our error for one of botocore's about no object: a list, or the bucket itself."""
    status = status_of(error)
    refused = 300 <= status < 500 and status != 429 and code_of(error) not in _PASSING
    kind = RefusedError if refused else ObjectStoreError
    return kind(f"{what}: {error}".replace("\n", " ")[:_MAX_MESSAGE_LENGTH])


@contextmanager
def translating(
    what: str, translate: Callable[[str, BaseException], Exception] = translated
) -> Iterator[None]:
    """Raise our errors for those of boto3, of files, and for whatever else goes wrong there.

    Args:
        what: what is asked for, for the messages.
        translate: what botocore's errors mean.

    Raises:
        StorageError: always one, but for what is no `Exception`, and `MemoryError`.
    """
    with foreseen(what):
        try:
            yield
        except Exception as error:
            # First of all: some of botocore's are `OSError`s too.
            if is_answer(error):
                raise translate(what, error) from error
            if isinstance(error, OSError):
                raise ObjectStoreError(f"{what}: {error}") from error
            raise


def asked_of_bucket(what: str, call: Callable[[], _T]) -> _T:
    """Call, translating what is raised; see `translated_of_bucket`."""
    with translating(what, translated_of_bucket):
        return call()
