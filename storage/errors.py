"""Errors of the stream engine, by what the caller should do."""


class StorageError(Exception):
    """Base of all below."""


class RetriableStorageError(StorageError):
    """Try again later; nothing is lost."""


class ObjectStoreError(RetriableStorageError):
    """The bucket did not answer as asked within the bounded retries."""


class ObjectNotFoundError(StorageError):
    """The object is gone (compacted away): plan again from newer metadata."""


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


class EngineFailedError(StorageError):
    """The engine can confirm nothing any more (WAL failed or shut down): outcome of open appends is unknown."""
