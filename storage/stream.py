"""A stream that this node has open: append, fetch, trim, close.

Reads are merged from two caches: LogCache holds the recent end of a stream, the block cache reads
the offsets before it from objects.
"""

from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol

from headrace.invariants import require
from headrace.storage.append_path import AppendPath
from headrace.storage.cache.log_cache import LogCache
from headrace.storage.errors import (
    CorruptObjectError,
    EngineFailedError,
    ObjectNotFoundError,
    OffsetOutOfRangeError,
    StorageError,
    StreamClosedError,
)
from headrace.storage.open_appends import OnAck
from headrace.storage.ports import Buffer, StreamManager, StreamMetadata
from headrace.storage.record_batch import StreamRecordBatch
from headrace.storage.upload.pipeline import UploadPipeline


class BlockReader(Protocol):
    """Reads committed data from objects (`BlockCache`)."""

    async def read(
        self, stream_id: int, start: int, end: int, max_bytes: int
    ) -> list[StreamRecordBatch]:
        """Whole batches from the one that holds `start`, contiguous, at least one, below `end`.

        Raises:
            ObjectNotFoundError: an object is gone, also according to the newest metadata.
        """
        ...

    async def span(self, stream_id: int, offset: int, *, of_object: bool) -> tuple[int, int]:
        """Offsets that are read as a whole with `offset`: those of its block, or of its object.

        Raises:
            ObjectNotFoundError: the metadata name no object for `offset`.
            ObjectStoreError: the bucket does not answer.
        """
        ...


class _State(Enum):
    OPEN = auto()
    CLOSING = auto()
    CLOSED = auto()


class Stream:
    """An append-only sequence of batches; offsets are dense.

    `start_offset` is the first that may be read, `next_offset` what the next append gets,
    `confirm_offset` (exclusive) how far it is acknowledged, `committed_offset` (exclusive) how
    far it is in the bucket. `trimming_to` is where `trim` was last asked to move the start to.
    """

    __slots__ = (
        "_blocks",
        "_cache",
        "_on_closed",
        "_path",
        "_pipeline",
        "_state",
        "_streams",
        "committed_offset",
        "confirm_offset",
        "confirmed_wal_end",
        "epoch",
        "next_offset",
        "start_offset",
        "stream_id",
        "trimming_to",
    )

    def __init__(
        self,
        metadata: StreamMetadata,
        *,
        path: AppendPath,
        cache: LogCache,
        blocks: BlockReader,
        pipeline: UploadPipeline,
        streams: StreamManager,
        on_closed: Callable[["Stream"], None],
    ) -> None:
        self.stream_id = metadata.stream_id
        self.epoch = metadata.epoch
        self.start_offset = metadata.start_offset
        self.next_offset = metadata.end_offset
        self.confirm_offset = metadata.end_offset
        self.committed_offset = metadata.end_offset
        self.confirmed_wal_end = -1  # WAL offset behind the newest acknowledged record
        self._path = path
        self._cache = cache
        self._blocks = blocks
        self._pipeline = pipeline
        self._streams = streams
        self._on_closed = on_closed
        self._state = _State.OPEN
        self.trimming_to = metadata.start_offset  # as far as requested, known to be done or not

    @property
    def is_closed(self) -> bool:
        """Whether this handle takes no appends any more."""
        return self._state is not _State.OPEN

    def append(self, payload: Buffer, count: int, on_ack: OnAck) -> int:
        """Append a batch of `count` offsets, copying its payload once, and return its base offset.

        Args:
            payload: opaque bytes; the caller may reuse them when this returns.
            count: offsets that the batch takes, at least 1.
            on_ack: called once, on the loop, in the order of appends, and never from here: with
                None when the batch is durable, readable and acknowledged; with an error when its
                outcome is unknown.

        Raises:
            BackPressureError: the WAL is full. Nothing has changed.
            RecordTooLargeError: it never fits. Nothing has changed.
            ValueError: `count` or the length does not fit the format. Nothing has changed.
            StreamClosedError, EngineFailedError, FencedError: appends are over; likewise.
        """
        if self._state is not _State.OPEN:
            raise StreamClosedError(f"stream {self.stream_id} is closed")
        return self._path.append(self, payload, count, on_ack)

    def append_in_doubt(self, error: Exception) -> None:
        """Fail the engine: what the owner of this stream keeps about a record that was appended is not whole.

        Going on would acknowledge records whose offsets, sequences or sizes are not known any more.
        """
        failure = EngineFailedError(
            f"stream {self.stream_id}: an append was not completed: {error!r}"
        )
        failure.__cause__ = error
        self._path.fail(failure)

    def fetch_cached(self, start: int, max_bytes: int) -> list[StreamRecordBatch] | None:
        """Batches from memory, without copying or waiting; None when `fetch` must be called.

        Whole batches from the one that holds `start`, all acknowledged, whose payloads come to at
        most `max_bytes`, except that there is always one; none when `start` is `confirm_offset`.
        """
        confirm_offset = self.confirm_offset
        if (
            start < self.start_offset
            or start > confirm_offset
            or self._state is _State.CLOSED
            or self._path.failure is not None
        ):
            return None
        if start == confirm_offset:
            return []
        batches = self._cache.get(self.stream_id, start, confirm_offset, max_bytes)
        if batches is not None:
            self._path.counters.cache_hits_total += 1
        return batches

    def forget_cached(self, end_offset: int) -> None:
        """Read what lies below an offset, as far as it is committed, from the bucket only: it is cleaned there."""
        self._cache.forget(self.stream_id, min(end_offset, self.committed_offset))

    async def fetch(self, start: int, max_bytes: int) -> list[StreamRecordBatch]:
        """Batches as `fetch_cached` returns them, from memory or from the bucket.

        Raises:
            OffsetOutOfRangeError: `start` is below `start_offset` or above `confirm_offset`.
            ObjectStoreError: the bucket does not answer.
            ObjectNotFoundError: an object is gone, also according to the newest metadata.
            CorruptObjectError: the bucket's bytes are not what was written.
            StreamClosedError, EngineFailedError, FencedError: this node no longer serves it.
        """
        self._require_readable(start)
        cached = self.fetch_cached(start, max_bytes)
        if cached is not None:
            return cached
        self._path.counters.cache_misses_total += 1
        try:
            batches = await self._read_objects(start, max_bytes)
        except ObjectNotFoundError as error:
            if start < self.trimming_to:  # trimmed, not lost
                raise OffsetOutOfRangeError(
                    f"offset {start} of stream {self.stream_id} is being trimmed"
                ) from error
            raise
        self._require_readable(start)
        return batches

    async def unreadable_span(self, offset: int, error: StorageError) -> tuple[int, int]:
        """Offsets `[start, end)` that cannot be read because of the damage that `fetch` met at `offset`.

        Of a damaged block its offsets, else those of the object: it is gone, or its index is damaged.

        Raises:
            ObjectNotFoundError: the metadata name no object for `offset`, so nothing is known about it.
            ObjectStoreError: the bucket does not answer.
        """
        start, end = await self._blocks.span(
            self.stream_id, offset, of_object=isinstance(error, ObjectNotFoundError)
        )
        cached_from = self._cache.first_offset(self.stream_id)
        if cached_from is not None and offset < cached_from:
            end = min(end, cached_from)
        return max(start, self.start_offset), min(end, self.confirm_offset)

    def _require_readable(self, start: int) -> None:
        if self._state is _State.CLOSED:
            raise StreamClosedError(f"stream {self.stream_id} is closed")
        failure = self._path.failure
        if failure is not None:
            raise type(failure)(*failure.args)
        if not self.start_offset <= start <= self.confirm_offset:
            raise OffsetOutOfRangeError(
                f"offset {start} of stream {self.stream_id} is outside of "
                f"{self.start_offset} to {self.confirm_offset}"
            )

    async def _read_objects(self, start: int, max_bytes: int) -> list[StreamRecordBatch]:
        """Read up to where LogCache begins, then continue from there if there is room left."""
        cached_from = self._cache.first_offset(self.stream_id)
        # What LogCache does not hold is committed; where it holds nothing, everything is.
        end = self.confirm_offset
        if cached_from is not None and start < cached_from < end:
            end = cached_from
        batches = await self._blocks.read(self.stream_id, start, end, max_bytes)
        reached = _require_contiguous(self.stream_id, batches, start)
        bytes_left = max_bytes - sum([len(batch.payload) for batch in batches])
        if bytes_left <= 0 or reached >= self.confirm_offset:
            return batches
        more = self._cache.get(self.stream_id, reached, self.confirm_offset, bytes_left)
        if more is not None and len(more[0].payload) <= bytes_left:
            require(more[0].base_offset == reached, "the caches' batches must be the same")
            batches = [*batches, *more]
        return batches

    async def trim(self, new_start_offset: int) -> None:
        """Drop everything below an offset; nothing happens if that has been done.

        Raises:
            OffsetOutOfRangeError: beyond `confirm_offset`.
            StorageError: the control plane does not answer; the stream is unchanged, or has been
                trimmed there but not here. Do it again.
        """
        if new_start_offset <= self.start_offset:
            return
        self._require_readable(new_start_offset)
        if new_start_offset > self.committed_offset:
            # The control plane cannot trim what is not committed yet.
            await self._pipeline.committed(self.confirmed_wal_end)
        self.trimming_to = max(self.trimming_to, new_start_offset)
        await self._streams.trim_stream(self.stream_id, self.epoch, new_start_offset)
        self.start_offset = max(self.start_offset, new_start_offset)

    async def confirmed(self) -> None:
        """Wait until everything appended so far is acknowledged.

        Raises:
            EngineFailedError, FencedError: it never will be.
        """
        if self.confirm_offset < self.next_offset:
            await self._path.confirmed()

    async def close(self) -> None:
        """Take no more appends, upload all records, and give up ownership of the stream.

        Raises:
            StorageError: it is still this node's; appends stay refused. Close it again.
        """
        if self._state is _State.CLOSED:
            return
        self._state = _State.CLOSING
        await self._settle()
        await self._streams.close_stream(self.stream_id, self.epoch, self.next_offset)
        self._forget()

    async def supersede(self) -> None:
        """Make room for a newer handle of the same stream on this node: close, but only here."""
        if self._state is _State.CLOSED:
            return
        self._state = _State.CLOSING
        await self._settle()
        self._forget()

    def abandon(self) -> None:
        """Forget the stream, which has been deleted; its cached records do no harm."""
        if self._state is not _State.CLOSED:
            self._forget()

    async def _settle(self) -> None:
        await self.confirmed()
        if self.committed_offset < self.confirm_offset:
            await self._pipeline.committed(self.confirmed_wal_end)
        require(self.committed_offset == self.next_offset, "closed with records not in the bucket")

    def _forget(self) -> None:
        self._state = _State.CLOSED
        self._on_closed(self)


def _require_contiguous(stream_id: int, batches: list[StreamRecordBatch], start: int) -> int:
    """Check what was read from objects; return the offset behind it."""
    expected = -1
    for batch in batches:
        is_next = batch.base_offset == expected if expected >= 0 else batch.base_offset <= start
        if not is_next or batch.stream_id != stream_id:
            raise CorruptObjectError(
                f"read offset {batch.base_offset} of stream {batch.stream_id}, expected offset "
                f"{max(expected, start)} of stream {stream_id}"
            )
        expected = batch.end_offset
    if expected <= start:
        raise CorruptObjectError(f"no batch of stream {stream_id} holds offset {start}")
    return expected
