"""Rewrites Stream Objects with the batches that a `BatchCleaner` leaves; commits nothing.

Offsets stay. A batch that stays covers the gap before it: it has the offset where the last one before it ended, so that
a reader of an offset in the gap gets the next batch, and the new object holds exactly the offsets of the old ones.
(If it covered the gap behind it, a reader there would get it again and again.) So the last batch of an object has to
stay, and one before a gap that is wider than the count of a batch. So has the last one that is cleaned: what comes
behind it may not be for every reader yet, and must not be what a reader of the gap gets.

Memory: one window of a source, the batch that was dropped last, and what the store has inflight.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Final

from headrace.config.node import StorageConfig
from headrace.storage.compaction.rewrite import CHUNK_BYTES, RewriteError, Spend
from headrace.storage.compaction.source import SourceObject
from headrace.storage.objects.data_block import iterate_batches
from headrace.storage.objects.keys import object_key
from headrace.storage.objects.writer import ObjectWriter
from headrace.storage.ports import (
    Buffer,
    Cleaning,
    ObjectManager,
    ObjectRange,
    ObjectStore,
    StreamObject,
    StreamRange,
)
from headrace.storage.record_batch import HEADER_BYTES, MAX_COUNT, StreamRecordBatch

MAX_CLEANED_BYTES: Final = 1024 * 1024 * 1024  # of the objects that become one

# Cleaning waits for everything else, and a Stream Object that was merged by copies may have 10 GiB.
PREPARE_TTL_MS: Final = 12 * 60 * 60_000

Sources = Sequence[tuple[ObjectRange, SourceObject]]  # adjacent, in offset order


class StreamCleaner:
    """Reads the Stream Objects of a stream, and writes cleaned ones."""

    def __init__(
        self,
        config: StorageConfig,
        store: ObjectStore,
        objects: ObjectManager,
        cluster_id: str,
        spend: Spend,
    ) -> None:
        """Prepare; `spend` is called for the bytes that are read."""
        self._config = config
        self._store = store
        self._objects = objects
        self._cluster_id = cluster_id
        self._spend = spend

    async def look_at(self, cleaning: Cleaning, stream_id: int, sources: Sources) -> None:
        """Show the batches that a pass wants to see before it cleans.

        Raises:
            DamagedSourceError, ValueError: the sources are not what the metadata say.
            StorageError: the bucket does not answer, or the pass is abandoned.
        """
        batches = self._batches(stream_id, sources, cleaning.start_offset)
        async with aclosing(batches):
            async for batch in batches:
                if batch.end_offset > cleaning.end_offset or not await cleaning.look_at(batch):
                    return

    async def write(
        self, cleaning: Cleaning, offsets: StreamRange, sources: Sources
    ) -> StreamObject:
        """Write one object with what stays of some.

        Args:
            cleaning: the pass.
            offsets: of all sources, and the epoch of the new object.
            sources: opened.

        Raises:
            DamagedSourceError, RewriteError, ValueError: the sources are not what the metadata say.
            StorageError: bucket or control plane do not answer, or refuse, or the pass is abandoned.
        """
        ttl_ms = max(PREPARE_TTL_MS, self._config.object_prepare_ttl_ms)
        object_id = await self._objects.prepare_objects(1, ttl_ms)
        output = _Output(self._config.object_block_bytes, cleaning, offsets)
        found = self._batches(offsets.stream_id, sources, offsets.start_offset)
        async with aclosing(found) as batches, aclosing(output.chunks(batches)) as chunks:
            await self._store.put_stream(object_key(self._cluster_id, object_id), chunks)
        return StreamObject(object_id, output.size_bytes, offsets)

    async def _batches(
        self, stream_id: int, sources: Sources, start_offset: int
    ) -> AsyncGenerator[StreamRecordBatch, None]:
        """Yield every batch that ends behind `start_offset`."""
        for found, source in sources:
            blocks = source.blocks(
                stream_id, max(found.start_offset, start_offset), found.end_offset
            )
            async for _, data in blocks:
                await self._spend(len(data))
                for batch in iterate_batches(data):
                    if batch.end_offset > start_offset:
                        yield batch
            source.release()


class _Output:
    """One object being written."""

    def __init__(self, max_block_bytes: int, cleaning: Cleaning, offsets: StreamRange) -> None:
        self._writer = ObjectWriter(max_block_bytes)
        self._cleaning = cleaning
        self._offsets = offsets
        self._end = offsets.start_offset  # behind what was written
        self._pending_bytes = 0
        self.size_bytes = 0

    async def chunks(
        self, batches: AsyncIterator[StreamRecordBatch]
    ) -> AsyncGenerator[Sequence[Buffer], None]:
        """Yield the object part by part.

        Raises:
            RewriteError: the batches are not exactly those of the planned offsets.
        """
        dropped: StreamRecordBatch | None = None  # right before what comes next
        expected: int | None = None  # of a trimmed stream the first begins below its live offsets
        async for batch in batches:
            begin = batch.base_offset
            if begin > self._end if expected is None else begin != expected:
                raise RewriteError(f"the batch at {begin} does not follow {expected or self._end}")
            expected = batch.end_offset
            is_last = batch.end_offset > self._cleaning.end_offset  # the one before
            if dropped is not None and (is_last or expected - self._end > MAX_COUNT):
                await self._keep(dropped)
            dropped = None if await self._written(batch, must_stay=False) else batch
            if self._pending_bytes >= CHUNK_BYTES:
                self._pending_bytes = 0
                yield self._writer.drain()
        if dropped is not None:
            await self._keep(dropped)
        yield self._finish()

    async def _keep(self, dropped: StreamRecordBatch) -> None:
        if not await self._written(dropped, must_stay=True):
            raise RewriteError(f"the batch at {dropped.base_offset} has to stay")

    async def _written(self, batch: StreamRecordBatch, *, must_stay: bool) -> bool:
        payload: Buffer | None = batch.payload
        is_cleaned = batch.end_offset <= self._cleaning.end_offset
        if is_cleaned:
            payload = await self._cleaning.clean(batch, must_stay=must_stay)
            if payload is None:
                return False
        # Copied, if it is a view: it would keep the window that it was read in.
        copied = (
            memoryview(bytes(payload)) if payload is batch.payload else memoryview(payload or b"")
        )
        count = batch.end_offset - self._end
        written = StreamRecordBatch(batch.stream_id, batch.epoch, self._end, count, copied)
        self._writer.add(self._offsets.stream_id, (written,))
        self._end = batch.end_offset
        self._pending_bytes += HEADER_BYTES + len(copied)
        if is_cleaned:
            self._cleaning.kept(written)
        return True

    def _finish(self) -> Sequence[Buffer]:
        written = self._writer.finish()
        planned = self._offsets
        found = [(it.stream_id, it.start_offset, it.end_offset) for it in written.ranges]
        if found != [(planned.stream_id, planned.start_offset, planned.end_offset)]:
            raise RewriteError(f"planned {planned}, written {written.ranges}")
        self.size_bytes = written.size_bytes
        return written.parts
