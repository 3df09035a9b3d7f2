"""What kind of failure a bucket's error is, for metrics and readiness. Pure.

The client has few types for what servers answer; the text has the status and S3's code.
"""

import re
from collections.abc import Sequence
from enum import Enum
from typing import Final
from xml.sax.saxutils import unescape


class FailureKind(Enum):
    """Why an attempt failed; the values are labels of a metric."""

    THROTTLED = "throttled"  # 503 SlowDown, 429
    SERVER = "server"  # any other 5xx
    TIMEOUT = "timeout"  # no answer, or not all of it, in time
    CONNECTION = "connection"  # refused, reset, or the body ended early
    REFUSED = "refused"  # credentials, rights, no such bucket, another region
    CREDENTIALS = "credentials"  # expired and about to be renewed, or their provider fails
    CLOCK = "clock"  # this machine's or the server's is off
    OTHER = "other"


CREDENTIALS_FAILED: Final = "the provider of S3 credentials failed"

# In this order: an error's text may hold what several of them look for.
_SIGNS: Final[tuple[tuple[FailureKind, tuple[str, ...]], ...]] = (
    (FailureKind.CLOCK, ("RequestTimeTooSkewed",)),
    (
        FailureKind.CREDENTIALS,
        (
            "ExpiredToken",
            "RequestExpired",
            "TokenRefreshRequired",
            CREDENTIALS_FAILED,
            "Error when retrieving credentials",  # botocore's
        ),
    ),
    (
        FailureKind.THROTTLED,
        ("SlowDown", "429 Too Many", "TooManyRequests", "RequestLimitExceeded"),
    ),
    (
        FailureKind.TIMEOUT,
        ("no answer within", "timed out", "RequestTimeout", "Read timeout", "Connect timeout"),
    ),
    (
        FailureKind.REFUSED,
        (
            "403 Forbidden",
            "401 Unauthorized",
            "<Code>NoSuchBucket</Code>",
            # Another region's bucket: nothing but the configuration can change that.
            "301 Moved Permanently",
            "redirect without LOCATION",
            "AuthorizationHeaderMalformed",
        ),
    ),
    (
        FailureKind.SERVER,
        (
            "500 Internal",
            "502 Bad Gateway",
            "503 Service",
            "504 Gateway",
            "InternalError",
            "ServiceUnavailable",
        ),
    ),
    (
        FailureKind.CONNECTION,
        ("error sending request", "body error", "onnection", "Could not connect", ", got "),
    ),
)


def failure_kind(message: str) -> FailureKind:
    """Tell by the text of an error what kind it is."""
    for kind, signs in _SIGNS:
        if any(sign in message for sign in signs):
            return kind
    return FailureKind.OTHER


_ERROR: Final = re.compile(r"<Error>(.*?)</Error>", re.DOTALL)
_KEY: Final = re.compile(r"<Key>(.*?)</Key>", re.DOTALL)


def keys_left(answer: str, prefix: str) -> Sequence[str]:
    """Find the keys that the answer to DeleteObjects has errors for; none if that cannot be told.

    Args:
        answer: an error's text, with the answer's body in it.
        prefix: what our keys have in front of them there.
    """
    if "<DeleteResult" not in answer or "</DeleteResult>" not in answer:
        return ()
    left = []
    for error in _ERROR.findall(answer):
        key = _KEY.search(error)
        if key is None:
            return ()
        left.append(unescape(key[1]).removeprefix(prefix))
    return left
