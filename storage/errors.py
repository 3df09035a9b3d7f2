"""Errors of the stream engine, by what the caller should do. Pure."""

from collections.abc import Sequence


class StorageError(Exception):
    """Base of all below."""


class RetriableStorageError(StorageError):
    """Try again later; nothing is lost."""


class ObjectStoreError(RetriableStorageError):
    """The bucket did not answer as asked within the bounded retries."""


class NotDeletedError(ObjectStoreError):
    """Of the keys that were to be deleted, `keys` are still there, or may be; the others are gone."""

    def __init__(self, message: str, keys: Sequence[str]) -> None:
        super().__init__(message)
        self.keys = keys


class InvalidRequestError(ValueError):
    """A key or a range that is none was asked for: a mistake of ours, which no store gets to see."""


class ObjectNotFoundError(StorageError):
    """The object is gone (compacted away): plan again from newer metadata."""


class CopyUnsupportedError(StorageError):
    """The bucket does not copy parts of objects: read and write them instead."""


class CorruptObjectError(StorageError):
    """Bytes of an object do not match their checksums; never served."""


class BackPressureError(StorageError):
    """No room within the admission time-out; definitely not appended."""


class OffsetOutOfRangeError(StorageError):
    """The offset lies outside of `[start_offset, confirm_offset]`."""


class FencedError(StorageError):
    """Somebody newer owns this stream or this node id: stop."""


class CommitRefusedError(StorageError):
    """The control plane refuses a commit as inconsistent with what it knows."""


class ObjectNotPreparedError(CommitRefusedError):
    """A commit names an object whose preparation has expired: upload it again under a new id.

    Also tells that no earlier attempt of the same commit took effect, since a repetition of one
    that did would have succeeded.
    """


class StreamClosedError(StorageError):
    """This handle of the stream has been closed; definitely not appended."""


class ResizeRefusedError(StorageError):
    """The WAL cannot have the capacity that was asked for; nothing has changed."""


class RecordTooLargeError(StorageError):
    """The record can never fit into the WAL; definitely not appended."""


class RecoveryError(StorageError):
    """The WAL and the control plane contradict each other: refuse to start, lose nothing."""


class EngineFailedError(StorageError):
    """The engine confirms nothing any more (WAL failed or shut down).

    The outcome of appends that were open is unknown.
    """
