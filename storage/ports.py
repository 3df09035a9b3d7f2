"""What the stream engine needs from others: the control plane, a lease, an object store.

`headrace.metadata.follower.client` satisfies the first three structurally; nothing here imports it.
"""

from collections.abc import AsyncIterable, Callable, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol

import msgspec

from headrace.storage.record_batch import StreamRecordBatch

Buffer = bytes | memoryview

NO_OBJECT_ID = -1
NO_WAL_OFFSET = -1


class CopiedRange(NamedTuple):
    """Bytes `[start, end)` of an object in the same bucket."""

    key: str
    start: int
    end: int

    @property
    def size_bytes(self) -> int:
        """Size of the range."""
        return self.end - self.start


class ObjectType(IntEnum):
    """Kinds of objects in the bucket."""

    STREAM_SET = 1  # many streams, one node
    STREAM = 2  # one stream


class StreamMetadata(NamedTuple):
    """A stream in the controller's metadata: `[start_offset, end_offset)` is committed."""

    stream_id: int
    epoch: int
    start_offset: int
    end_offset: int


class StreamRange(NamedTuple):
    """Offsets `[start_offset, end_offset)` of a stream, held by one object."""

    stream_id: int
    epoch: int
    start_offset: int
    end_offset: int


class StreamObject(msgspec.Struct, frozen=True):
    """A Stream Object that a commit adds."""

    object_id: int
    size_bytes: int
    range: StreamRange


class StreamSetCommit(msgspec.Struct, frozen=True):
    """One atomic commit: a Stream Set Object or none, Stream Objects, and what they replace."""

    object_id: int  # NO_OBJECT_ID when every stream went to a Stream Object of its own
    size_bytes: int
    ranges: Sequence[StreamRange]
    stream_objects: Sequence[StreamObject]
    compacted_object_ids: Sequence[int] = ()
    wal_end_offset: int = (
        NO_WAL_OFFSET  # with this commit, everything below it in the WAL is uploaded
    )


class ObjectRange(msgspec.Struct, frozen=True):
    """The object that holds a part of a stream."""

    object_id: int
    object_type: ObjectType
    size_bytes: int
    start_offset: int
    end_offset: int


class StreamManager(Protocol):
    """Streams in the control plane. Every call carries this node's id and epoch.

    Raises (all): FencedError, when a newer owner or a newer registration of this node exists;
    RetriableStorageError, when no controller answers: the request may have taken effect.
    """

    async def open_stream(self, stream_id: int, epoch: int) -> StreamMetadata:
        """Become the owner of a stream at `epoch`."""
        ...

    async def close_stream(self, stream_id: int, epoch: int, end_offset: int) -> None:
        """Give up ownership of the stream; everything below `end_offset` is committed."""
        ...

    async def trim_stream(self, stream_id: int, epoch: int, new_start_offset: int) -> None:
        """Drop what lies below `new_start_offset`."""
        ...

    async def get_opening_streams(self) -> Sequence[StreamMetadata]:
        """Streams that this node has open, and what is committed of them: input of recovery."""
        ...


class UploadedObjects(Protocol):
    """Uploads in the control plane: prepare, upload, commit; in the name of one WAL."""

    async def prepare_objects(self, count: int, ttl_ms: int) -> int:
        """Reserve `count` consecutive ids and return the first. Ids are never reused."""
        ...

    async def commit_stream_set_object(self, commit: StreamSetCommit) -> None:
        """Commit; a repetition of a commit that took effect succeeds.

        Raises:
            CommitRefusedError: a range does not start at its stream's end.
            ObjectNotPreparedError: an object is not prepared (any more); nothing was committed.
        """
        ...


class ObjectManager(UploadedObjects, Protocol):
    """Objects in the control plane: uploads, and then compaction, deletion, look-ups."""

    async def compact_stream_object(
        self, stream_object: StreamObject, source_object_ids: Sequence[int]
    ) -> None:
        """Replace Stream Objects by one that covers exactly their offsets."""
        ...

    def get_objects(
        self, stream_id: int, start_offset: int, end_offset: int, limit: int
    ) -> Sequence[ObjectRange]:
        """From the newest image, in offset order, contiguous from the one that holds the start."""
        ...

    def get_stream_set_objects(self) -> Sequence[tuple[int, int, Sequence[StreamRange]]]:
        """This node's Stream Set Objects, adopted ones included: (object id, size, ranges), oldest first."""
        ...

    def get_stream_objects(self, stream_id: int) -> Sequence[ObjectRange]:
        """All Stream Objects of one stream, in offset order."""
        ...

    def is_committed(self, object_id: int) -> bool:
        """Whether an object is in use, according to this node's newest image."""
        ...

    async def get_objects_to_delete(self, now_ms: int) -> Sequence[int]:
        """Destroyed objects, and prepared ones that have expired, which nothing can want any more."""
        ...

    async def forget_objects(self, object_ids: Sequence[int]) -> None:
        """Record that these have been deleted from the bucket."""
        ...


class Cleaning(Protocol):
    """One pass over a stream whose batches are cleaned: first some are looked at, then all of them are cleaned.

    What batches hold is opaque to storage: it hands over payloads, and gets payloads of the same batches back.
    """

    start_offset: int  # of the first batch to look at
    end_offset: int  # behind the last one; what begins there or later is not cleaned

    async def look_at(self, batch: StreamRecordBatch) -> bool:
        """Learn what a batch holds; False, and nothing is learned, if there is no room: the pass ends before it."""
        ...

    async def clean(self, batch: StreamRecordBatch, *, must_stay: bool) -> Buffer | None:
        """Return the payload that the batch is to have; None if it is to go, which one that `must_stay` never does.

        May be called again for one that was to go, if it has to stay after all.

        Raises:
            CleaningAbandonedError: this pass cannot be right; nothing that it has not committed may take effect.
        """
        ...

    def kept(self, batch: StreamRecordBatch) -> None:
        """Take note of a batch that stays, as it was written, in offset order."""
        ...

    async def finish(self) -> None:
        """Take note that every batch below the end was cleaned, and what replaces them is committed."""
        ...


class BatchCleaner(Protocol):
    """Knows which streams are cleaned, and how: asked by compaction."""

    def leaves(self, stream_id: int) -> bool:
        """Whether a stream must not stay in Stream Set Objects: what is to be cleaned is in Stream Objects."""
        ...

    def begin(self, stream_id: int, start_offset: int, end_offset: int) -> Cleaning | None:
        """Begin to clean a stream of which Stream Objects hold these offsets.

        None if that is not worth while, or not possible since the stream begins below them.
        """
        ...


class NothingCleaned:
    """A `BatchCleaner` for which every batch stays."""

    def leaves(self, stream_id: int) -> bool:
        """Whether a stream must leave Stream Set Objects: none."""
        del stream_id
        return False

    def begin(self, stream_id: int, start_offset: int, end_offset: int) -> Cleaning | None:
        """Begin nothing."""
        del stream_id, start_offset, end_offset
        return None


class Lease(Protocol):
    """The gate between durable and acknowledged."""

    def is_lease_valid(self) -> bool:
        """Whether no other node can own yet what this node has open."""
        ...


Progress = Callable[[int], None]


def unnoticed(size_bytes: int) -> None:
    """Ignore the progress."""
    del size_bytes


class ObjectStore(Protocol):
    """A bucket. Every method may raise `ObjectStoreError` after its bounded retries.

    A failed `put` is ambiguous: it may have happened, or may yet happen.
    """

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        """Write an object: the concatenation of `parts`.

        A key is published once: its content is a function of the key. A writer that finds it published has succeeded if
        the content is the same, else it is refused. An attempt that was given up (cancelled, timed out) may still
        publish its object later, but changes nothing that another attempt has published.
        Where nothing can publish only what is absent (a service without `If-None-Match`, a file system without hard
        links), it may replace an object by the same bytes. An attempt that was given up may still read
        `parts`, so the sequence is immutable, and the buffers do not change. The same holds for `put_stream` and
        `compose`.

        Raises:
            ObjectStoreError: the key has another content, or see above.
        """
        ...

    async def create(self, key: str, parts: Sequence[Buffer]) -> bool:
        """Write an object unless its key exists, atomically and in one request.

        Never repeated by the store: an error is ambiguous as with `put`, and the caller settles it
        by reading.

        Returns:
            Whether it was written; if not, the existing object is unchanged.
        """
        ...

    async def put_stream(self, key: str, chunks: AsyncIterable[Sequence[Buffer]]) -> None:
        """Write an object chunk by chunk, so that it need not fit in memory.

        Unlike `put` it cannot be retried as a whole, only in its parts. An error of `chunks` passes
        through; the object does not exist then.
        """
        ...

    @property
    def copies_remotely(self) -> bool:
        """Whether `compose` leaves the work to a service, and costs this machine almost nothing."""
        ...

    async def compose(
        self,
        key: str,
        pieces: Sequence[CopiedRange | Buffer],
        progress: Progress = unnoticed,
    ) -> None:
        """Write an object: the concatenation of `pieces`, ranges being copied within the bucket.

        Ambiguous when it fails, as `put`; the key must be new. `progress` is called, on the loop, with the bytes that
        have been written; a number below 0 takes back what a failed attempt has reported.

        Raises:
            ObjectNotFoundError: a source is gone.
            CorruptObjectError: a source ends before its range.
            CopyUnsupportedError: this store cannot; trying again will not help.
        """
        ...

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        """Read `[start, end)`, all of it.

        Raises:
            ObjectNotFoundError: there is no such object.
            CorruptObjectError: the object ends before `end`.
        """
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete; a key that does not exist is not an error.

        Raises:
            NotDeletedError: some could not be deleted, all others are.
        """
        ...

    async def list(self, prefix: str) -> Sequence[tuple[str, int]]:
        """(key, size) of all objects below `prefix` (whole segments; empty: all), by key."""
        ...

    async def close(self) -> None:
        """Release connections and threads."""
        ...
