"""Unexpected errors of a client: neither an answer of the store nor the lack of one.

An answer with a value that cannot be parsed, a panic in a library, a credential provider that
prints nonsense: none of it may end a broker, so all of it is an `ObjectStoreError` like any other,
to be tried again. So is a mistake of ours that shows only there; it stays visible, since the log
has the cause with the error.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from headrace.storage.errors import FailureKind, InvalidRequestError, ObjectStoreError, StorageError

MAX_MESSAGE_LENGTH: Final = 500


class UnexpectedClientError(ObjectStoreError):
    """An error that no table explains; `__cause__` is what was raised."""


@contextmanager
def storage_errors_only(what: str) -> Iterator[None]:
    """Raise nothing but errors of ours.

    Args:
        what: what is being done, for the message.

    Raises:
        StorageError: as raised.
        InvalidRequestError: as raised: no store was asked.
        UnexpectedClientError: anything else was raised.
        MemoryError, BaseException: as raised, and a group with one of them in it.
    """
    try:
        yield
    except (StorageError, InvalidRequestError):
        raise
    except BaseException as error:
        if not all(map(_is_failure, _singles(error))):
            raise
        raise unexpected(what, error) from error


def unexpected(what: str, error: BaseException) -> UnexpectedClientError:
    """Return our error for one that no table explains; raise it from that one."""
    first = next(_singles(error))
    message = f"{what}: {type(first).__name__}: {first}"
    return UnexpectedClientError(message.replace("\n", " ")[:MAX_MESSAGE_LENGTH], FailureKind.OTHER)


def _is_failure(error: BaseException) -> bool:
    # A panic is of Rust, where a call panics before it has become a future; no `Exception`, but no more.
    is_panic = type(error).__name__ == "PanicException"
    return is_panic or (isinstance(error, Exception) and not isinstance(error, MemoryError))


def _singles(error: BaseException) -> Iterator[BaseException]:
    """Yield what a group is of, as tasks side by side end in one; an error alone is its own."""
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for one in error.exceptions:
        yield from _singles(one)
