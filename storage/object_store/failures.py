"""What kind of failure a bucket's error is, for metrics and readiness. Pure.

The client has few types for what servers answer; the text has the status and S3's code.
"""

from enum import Enum
from typing import Final


class FailureKind(Enum):
    """Why an attempt failed; the values are labels of a metric."""

    THROTTLED = "throttled"  # 503 SlowDown, 429
    SERVER = "server"  # any other 5xx
    TIMEOUT = "timeout"  # no answer, or not all of it, in time
    CONNECTION = "connection"  # refused, reset, or the body ended early
    REFUSED = "refused"  # credentials, rights, no such bucket, another region
    CREDENTIALS = "credentials"  # expired, and about to be renewed
    CLOCK = "clock"  # this machine's or the server's is off
    OTHER = "other"


# In this order: an error's text may hold what several of them look for.
_SIGNS: Final[tuple[tuple[FailureKind, tuple[str, ...]], ...]] = (
    (FailureKind.CLOCK, ("RequestTimeTooSkewed",)),
    (FailureKind.CREDENTIALS, ("ExpiredToken", "RequestExpired", "TokenRefreshRequired")),
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
