"""What a failed request to a bucket means: one table, for metrics, readiness and retries. Pure.

S3's code decides, then the HTTP status, then the type of the exception. The text of an error counts
last, where there was no answer and the client has one type for everything.

Source: Amazon S3 API reference, "Error responses"; tests/integration/test_s3_client_errors.py has
each row raised by the client versions that are pinned.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from headrace.storage.errors import FailureKind, ObjectStoreError

CREDENTIALS_FAILED: Final = "the provider of S3 credentials failed"

_BY_CODE: Final[Mapping[str, FailureKind]] = {
    "RequestTimeTooSkewed": FailureKind.CLOCK,
    "ExpiredToken": FailureKind.CREDENTIALS,
    "RequestExpired": FailureKind.CREDENTIALS,
    "TokenRefreshRequired": FailureKind.CREDENTIALS,
    "SlowDown": FailureKind.THROTTLED,
    "TooManyRequests": FailureKind.THROTTLED,
    "RequestLimitExceeded": FailureKind.THROTTLED,
    "RequestTimeout": FailureKind.TIMEOUT,
    "NoSuchBucket": FailureKind.REFUSED,
    # Another region's bucket: nothing but the configuration can change that.
    "AuthorizationHeaderMalformed": FailureKind.REFUSED,
    "InternalError": FailureKind.SERVER,
    "ServiceUnavailable": FailureKind.SERVER,
}
_BY_STATUS: Final[Mapping[int, FailureKind]] = {
    301: FailureKind.REFUSED,  # another region's bucket
    401: FailureKind.REFUSED,
    403: FailureKind.REFUSED,
    429: FailureKind.THROTTLED,
    500: FailureKind.SERVER,
    502: FailureKind.SERVER,
    503: FailureKind.SERVER,
    504: FailureKind.SERVER,
}
# Names of classes, since botocore takes 100 ms to import; bases come after what is derived from them.
_BY_TYPE: Final[Mapping[str, FailureKind]] = {
    # botocore's
    "ReadTimeoutError": FailureKind.TIMEOUT,
    "ConnectTimeoutError": FailureKind.TIMEOUT,
    "HTTPClientError": FailureKind.CONNECTION,  # base of all that ends without an answer
    "IncompleteReadError": FailureKind.CONNECTION,
    "NoCredentialsError": FailureKind.CREDENTIALS,
    "PartialCredentialsError": FailureKind.CREDENTIALS,
    "CredentialRetrievalError": FailureKind.CREDENTIALS,
    # obstore's; its UnauthenticatedError may be a credential provider that fails as well
    "PermissionDeniedError": FailureKind.REFUSED,
}
# In this order: an error's text may hold what several of them look for.
_BY_TEXT: Final[Sequence[tuple[str, FailureKind]]] = (
    (CREDENTIALS_FAILED, FailureKind.CREDENTIALS),
    ("Error when retrieving credentials", FailureKind.CREDENTIALS),
    ("no answer within", FailureKind.TIMEOUT),
    ("timed out", FailureKind.TIMEOUT),
    ("Read timeout", FailureKind.TIMEOUT),
    ("redirect without LOCATION", FailureKind.REFUSED),  # obstore's 301
    ("error sending request", FailureKind.CONNECTION),
    ("body error", FailureKind.CONNECTION),
    ("onnection", FailureKind.CONNECTION),
    ("Could not connect", FailureKind.CONNECTION),
    (", got ", FailureKind.CONNECTION),  # obstore's, of a body that ended early
)
# What may be different with the next request; all else is the same, or is about more than a request.
PASSING: Final = frozenset(
    {
        FailureKind.THROTTLED,
        FailureKind.SERVER,
        FailureKind.TIMEOUT,
        FailureKind.CONNECTION,
    }
)

# obstore has status and code in its text alone: "... non-2xx status code: 503 Service Unavailable: <Error>...".
_STATUS: Final = re.compile(r"(?:status code: |^)(\d{3})\b")
_CODE: Final = re.compile(r"<Code>(\w+)</Code>|An error occurred \((\w+)\)")


class Failure(msgspec.Struct, frozen=True):
    """What is known of a request that failed."""

    types: Sequence[str] = ()  # names of the exception's class and its bases, in this order
    status: int = 0  # of HTTP; 0: no answer
    code: str = ""  # S3's name of an error
    text: str = ""

    @property
    def kind(self) -> FailureKind:
        """What the table says."""
        if self.code in _BY_CODE:
            return _BY_CODE[self.code]
        if self.status in _BY_STATUS:
            return _BY_STATUS[self.status]
        for name in self.types:
            if name in _BY_TYPE:
                return _BY_TYPE[name]
        if self.status >= 300:
            return FailureKind.OTHER  # there is an answer: the text is the service's
        return next((kind for sign, kind in _BY_TEXT if sign in self.text), FailureKind.OTHER)


def failure_in(text: str, types: Sequence[str] = ()) -> Failure:
    """Read status and code out of a text that has them."""
    status, code = _STATUS.search(text), _CODE.search(text)
    return Failure(
        types,
        int(status[1]) if status else 0,
        (code[1] or code[2]) if code else "",
        text,
    )


def kind_of(error: ObjectStoreError) -> FailureKind:
    """Return the kind of failure of one of our errors."""
    return error.kind if error.kind is not None else failure_in(str(error)).kind


def is_passing(error: ObjectStoreError) -> bool:
    """Whether the same request may well work in a moment."""
    return kind_of(error) in PASSING


_ERROR: Final = re.compile(r"<Error>(.*?)</Error>", re.DOTALL)
_KEY: Final = re.compile(r"<Key>(.*?)</Key>", re.DOTALL)


def keys_left(answer: str, prefix: str) -> Sequence[str]:
    """Return the keys that the answer to DeleteObjects has errors for; none if it cannot be parsed.

    Args:
        answer: an error's text, with the answer's body in it.
        prefix: what our keys have in front of them there.
    """
    if "<DeleteResult" not in answer or "</DeleteResult>" not in answer:
        return ()
    # Loaded only where it is used: it loads an HTTP client.
    from xml.sax.saxutils import unescape  # noqa: PLC0415

    left = []
    for error in _ERROR.findall(answer):
        key = _KEY.search(error)
        if key is None:
            return ()
        left.append(unescape(key[1]).removeprefix(prefix))
    return left
