"""Writes the outputs of one group: reads sources window by window, streams the new objects out.

Memory: one window per source, and of each output (a Stream Set Object, and at most one Stream
Object at the same time) one chunk here and what the store has inflight.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing

from headrace.storage.compaction.plan import Run
from headrace.storage.compaction.source import SourceObject
from headrace.storage.objects.index_block import IndexEntry
from headrace.storage.objects.keys import object_key
from headrace.storage.objects.writer import ObjectWriter
from headrace.storage.ports import (
    NO_OBJECT_ID,
    Buffer,
    ObjectManager,
    ObjectStore,
    StreamObject,
    StreamRange,
)
from headrace.turns import Work, turns_of

CHUNK_BYTES = 4 * 1024 * 1024
PACE_BYTES = 1024 * 1024  # after this much work, the event loop may run other tasks
RUN_COST_BYTES = 32 * 1024  # what planning a run costs, as bytes copied


Spend = Callable[[int], Awaitable[None]]


async def _give_way(size_bytes: int) -> None:
    del size_bytes
    await turns_of(Work.UPKEEP).pause()


class RewriteError(Exception):
    """The output differs from the plan: the sources contradict the metadata."""


class Rewriter:
    """Rewrites one group of objects; used once."""

    def __init__(  # noqa: PLR0913 - its ports, and its limits
        self,
        store: ObjectStore,
        objects: ObjectManager,
        cluster_id: str,
        sources: Sequence[SourceObject],
        *,
        max_block_bytes: int,
        prepare_ttl_ms: int,
        spend: Spend = _give_way,
        read_once: bool = False,
    ) -> None:
        """Prepare.

        Args:
            store: the bucket.
            objects: prepares the ids.
            cluster_id: part of every object's key.
            sources: opened; by ordinal as in the runs.
            max_block_bytes: size of the blocks that are written.
            prepare_ttl_ms: how long it may take.
            spend: awaited after so many bytes were copied; it delays what follows.
            read_once: whether no source is in more than one piece, so that its window can be freed.
        """
        self._store = store
        self._objects = objects
        self._cluster_id = cluster_id
        self._sources = sources
        self._max_block_bytes = max_block_bytes
        self._prepare_ttl_ms = prepare_ttl_ms
        self._spend = spend
        self._read_once = read_once
        self._since_pause_bytes = 0
        self._unspent_bytes = 0
        # The Stream Set Object, if any run goes there.
        self.object_id = NO_OBJECT_ID
        self.size_bytes = 0
        self.ranges: list[StreamRange] = []
        self.stream_objects: list[StreamObject] = []

    async def write(self, runs: Iterator[Run]) -> None:
        """Write every run into its object, in one pass.

        Raises:
            DamagedSourceError, RewriteError, ValueError: the sources are not what the metadata say.
            StorageError: bucket or control plane do not answer, or refuse.
        """
        set_runs = self._set_runs(runs)
        first = await anext(set_runs, None)
        if first is None:
            return
        # Only now it is known that there will be a Stream Set Object.
        object_id = await self._prepare()
        output = await self._write(object_id, _chained(first, set_runs))
        self.object_id, self.size_bytes, self.ranges = object_id, output.size_bytes, output.planned

    async def _set_runs(self, runs: Iterator[Run]) -> AsyncIterator[Run]:
        """Yield the runs of the Stream Set Object; write the others in between."""
        for run in runs:
            if run.to_stream_object:
                await self._write_stream_object(run)
            else:
                await self._pace(RUN_COST_BYTES)
                yield run

    async def _write_stream_object(self, run: Run) -> None:
        object_id = await self._prepare()
        output = await self._write(object_id, _chained(run, None))
        self.stream_objects.append(StreamObject(object_id, output.size_bytes, run.range))

    async def _prepare(self) -> int:
        return await self._objects.prepare_objects(1, self._prepare_ttl_ms)

    async def _write(self, object_id: int, runs: AsyncIterator[Run]) -> "_Output":
        output = _Output(self._max_block_bytes)
        async with aclosing(self._chunks(output, runs)) as chunks:
            await self._store.put_stream(object_key(self._cluster_id, object_id), chunks)
        return output

    async def _chunks(
        self, output: "_Output", runs: AsyncIterator[Run]
    ) -> AsyncGenerator[Sequence[Buffer], None]:
        async for run in runs:
            for piece in run.pieces:
                offsets = piece.range
                blocks = self._sources[piece.source].blocks(
                    offsets.stream_id, offsets.start_offset, offsets.end_offset
                )
                async for entry, data in blocks:
                    output.add(entry, offsets.epoch, data)
                    self._unspent_bytes += len(data)
                    await self._pace(len(data))
                    if output.pending_bytes >= CHUNK_BYTES:
                        yield output.drain()
                if self._read_once:
                    self._sources[piece.source].release()
            output.planned.append(run.range)
        yield output.finish()

    async def _pace(self, work_bytes: int) -> None:
        self._since_pause_bytes += work_bytes
        if self._since_pause_bytes >= PACE_BYTES:
            spent, self._unspent_bytes = self._unspent_bytes, 0
            self._since_pause_bytes = 0
            await self._spend(spent)


class _Output:
    """One object being written."""

    def __init__(self, max_block_bytes: int) -> None:
        self._writer = ObjectWriter(max_block_bytes)
        self.planned: list[StreamRange] = []
        self.pending_bytes = 0  # added since `drain`
        self.size_bytes = 0

    def add(self, entry: IndexEntry, epoch: int, data: memoryview) -> None:
        # Copied now: a view would keep its window, and sources that advance side by side change
        # their windows together, so that for a moment each had two.
        self._writer.add_block(entry, epoch, memoryview(bytes(data)))
        self.pending_bytes += len(data)

    def drain(self) -> Sequence[Buffer]:
        self.pending_bytes = 0
        return self._writer.drain()

    def finish(self) -> Sequence[Buffer]:
        """Close the object.

        Raises:
            RewriteError: it does not hold exactly the planned offsets.
        """
        written = self._writer.finish()
        if len(written.ranges) != len(self.planned):
            raise RewriteError(f"{len(self.planned)} runs became {len(written.ranges)} ranges")
        for planned, found in zip(self.planned, written.ranges, strict=True):
            # The first block of a trimmed stream may begin earlier than its live range.
            if (
                found.stream_id != planned.stream_id
                or found.start_offset > planned.start_offset
                or found.end_offset != planned.end_offset
            ):
                raise RewriteError(f"planned {planned}, written {found}")
        self.size_bytes = written.size_bytes
        return written.parts


async def _chained(first: Run, others: AsyncIterator[Run] | None) -> AsyncIterator[Run]:
    yield first
    if others is not None:
        async for run in others:
            yield run
