"""Errors of the stream engine, by what the caller should do. Pure."""

from collections.abc import Sequence
from enum import Enum
from typing import Final


class StorageError(Exception):
    """Base of all below."""


class RetriableStorageError(StorageError):
    """Try again later; nothing is lost."""


class FailureKind(Enum):
    """Why a request to the bucket failed; the values are labels of a metric."""

    THROTTLED = "throttled"  # 503 SlowDown, 429
    SERVER = "server"  # any other 5xx
    TIMEOUT = "timeout"  # no answer, or not all of it, in time
    CONNECTION = "connection"  # refused, reset, or the body ended early
    REFUSED = "refused"  # credentials, rights, no such bucket, another region
    CREDENTIALS = "credentials"  # expired and about to be renewed, or their provider fails
    CLOCK = "clock"  # this machine's or the server's is off
    OTHER = "other"


class ObjectStoreError(RetriableStorageError):
    """The bucket did not answer, or not correctly, within the bounded retries."""

    def __init__(self, message: str, kind: FailureKind | None = None) -> None:
        super().__init__(message)
        self.kind = kind  # None: not known where it was raised


class NotDeletedError(ObjectStoreError):
    """Of the keys that were to be deleted, `keys` still exist, or may exist; the others are deleted."""

    def __init__(self, message: str, keys: Sequence[str], kind: FailureKind | None = None) -> None:
        super().__init__(message, kind)
        self.keys = keys


class InvalidRequestError(ValueError):
    """An invalid key or range was requested: a bug of the caller, found before a store sees it."""


class ObjectNotFoundError(StorageError):
    """The object is gone (compacted away): plan again from newer metadata."""


class CopyUnsupportedError(StorageError):
    """The bucket does not support copies of parts of objects: read and write them instead."""


class CorruptObjectError(StorageError):
    """Bytes of an object do not match their checksums; never served."""


# What the bucket should hold is not there, or not as it was written. Trying again does not help by itself.
DAMAGE: Final = (CorruptObjectError, ObjectNotFoundError)


class BackPressureError(StorageError):
    """No room within the admission time-out; definitely not appended."""


class OffsetOutOfRangeError(StorageError):
    """The offset lies outside of `[start_offset, confirm_offset]`."""


class FencedError(StorageError):
    """A newer owner has this stream or this node id: stop."""


class CommitRefusedError(StorageError):
    """The control plane refuses a commit that contradicts its metadata."""


class ObjectNotPreparedError(CommitRefusedError):
    """A commit names an object whose preparation has expired: upload it again under a new id.

    It also means that no earlier attempt of the same commit took effect, since a repetition of one
    that did would have succeeded.
    """


class CleaningAbandonedError(StorageError):
    """A pass over a stream whose batches are cleaned ends early: what it has committed is right, but not all."""


class StreamClosedError(StorageError):
    """This handle of the stream has been closed; definitely not appended."""


class ResizeRefusedError(StorageError):
    """The WAL cannot have the requested capacity; nothing has changed."""


class RecordTooLargeError(StorageError):
    """The record can never fit into the WAL; definitely not appended."""


class RecoveryError(StorageError):
    """The WAL and the control plane contradict each other: refuse to start, so that nothing is lost."""


class EngineFailedError(StorageError):
    """The engine confirms nothing any more (WAL failed or shut down).

    The outcome of appends that were open is unknown.
    """
