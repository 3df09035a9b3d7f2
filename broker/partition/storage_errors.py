"""The error codes that clients get for errors of the stream engine: the only such table. Pure."""

from typing import Final

from headrace.protocol.errors import ErrorCode
from headrace.storage.errors import (
    BackPressureError,
    CorruptObjectError,
    EngineFailedError,
    FencedError,
    OffsetOutOfRangeError,
    RecordTooLargeError,
    StorageError,
    StreamClosedError,
)

# `Stream.append` raises before anything has changed: every error is a definite refusal.
_CODES: Final[tuple[tuple[type[StorageError], ErrorCode], ...]] = (
    (BackPressureError, ErrorCode.NOT_ENOUGH_REPLICAS),
    (RecordTooLargeError, ErrorCode.MESSAGE_TOO_LARGE),
    (StreamClosedError, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    (EngineFailedError, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    (FencedError, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    (OffsetOutOfRangeError, ErrorCode.OFFSET_OUT_OF_RANGE),
    (CorruptObjectError, ErrorCode.CORRUPT_MESSAGE),
    (StorageError, ErrorCode.KAFKA_STORAGE_ERROR),
)


def code_of(error: StorageError) -> ErrorCode:
    """The error code of a read or append that failed."""
    return next(code for kind, code in _CODES if isinstance(error, kind))
