"""Why the role of the broker of a node has ended, and whether that is a fencing and nothing else. Pure.

A fenced broker has lost its registration, and nothing is wrong with it. What other failures leave behind is not known.
"""

import errno
from collections.abc import Iterator

from headrace.metadata.errors import NodeFencedError
from headrace.storage.errors import EngineFailedError, FencedError
from headrace.wal.errors import WalFailedError
from headrace.wal.objects.errors import WalFencedError


def leaves(failure: BaseException) -> list[BaseException]:
    """Return the failures in a group, and in the groups in it."""
    if isinstance(failure, BaseExceptionGroup):
        return [leaf for each in failure.exceptions for leaf in leaves(each)]
    return [failure]


def reasons(failure: BaseException) -> str:
    """Return what the failures say, each once."""
    return "; ".join(dict.fromkeys(map(str, leaves(failure))))


def was_fenced(failure: BaseException) -> bool:
    """Whether a role has ended because it was fenced, and for no other reason beside it."""
    return all(map(is_fencing, leaves(failure)))


def is_fencing(failure: BaseException) -> bool:
    """Whether another broker may act for this one: by a controller's word, its log's, or the device's."""
    return any(
        isinstance(cause, NodeFencedError | FencedError | WalFencedError)
        or (isinstance(cause, OSError) and cause.errno == errno.EBADE)  # another's reservation
        for cause in _reasons(failure)
    )


def _reasons(failure: BaseException) -> Iterator[BaseException]:
    """Yield a failure and what it passes on: an engine fails because its log did, a log because its device did."""
    yield failure
    while isinstance(failure, EngineFailedError | WalFailedError) and failure.__cause__ is not None:
        failure = failure.__cause__
        yield failure
