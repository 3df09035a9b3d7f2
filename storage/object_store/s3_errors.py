"""What boto3's errors mean to us. Recognised by shape: botocore takes 100 ms to import."""

from typing import Final

from storage.errors import (
    CopyUnsupportedError,
    CorruptObjectError,
    ObjectNotFoundError,
    ObjectStoreError,
)
from storage.object_store.retrying import RefusedError

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
_MESSAGE_LENGTH_MAX: Final = 500


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
    message = f"{what}: {error}".replace("\n", " ")[:_MESSAGE_LENGTH_MAX]
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
