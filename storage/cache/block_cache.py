"""BlockCache: reads committed offsets of streams back from the bucket.

It finds the objects in the metadata, their blocks in the objects' indexes, and reads the blocks
ahead of sequential readers. Its memory and its requests are its own: cold reads evict nothing of
the LogCache and delay no upload.
"""

import asyncio
from collections.abc import Iterator, Sequence

from headrace.config.node import StorageConfig
from headrace.loop_clock import loop_ms
from headrace.storage.cache.cached_block import CachedBlock
from headrace.storage.cache.data_blocks import DataBlockCache, DataBlockStatistics
from headrace.storage.cache.index_cache import IndexCacheStatistics, ObjectIndexCache
from headrace.storage.cache.read_ahead import AheadRequest, ReadAhead
from headrace.storage.errors import CorruptObjectError, ObjectNotFoundError, StorageError
from headrace.storage.objects.index_block import IndexEntry, ObjectIndex
from headrace.storage.ports import ObjectManager, ObjectRange, ObjectStore, ObjectType
from headrace.storage.record_batch import StreamRecordBatch
from headrace.storage.request_budget import RequestBudget
from headrace.task_failures import report_unexpected
from headrace.turns import Work, turns_of

OBJECTS_PER_PLAN = 8
MAX_REPLANS = 5
REPLAN_DELAY_MS = 20  # before the second plan; doubled for each one after
INDEX_CACHE_SHARE = 8  # the indexes get this fraction of the cache
# Of the rest: the inflight reads of readers, what is read ahead, and the window of one reader.
INFLIGHT_SHARE = 4
WINDOW_SHARE = 4
MAX_AHEAD_TASKS = 32
# Small blocks of one object are read alone at first, and then with what lies behind them.
SMALL_BYTES = 16 * 1024
SMALL_READS_ALONE = 8
NEIGHBOUR_BYTES = 256 * 1024
MAX_SMALL_READS = 1_000  # objects whose reads are counted


class BlockCache:
    """Cold reads of one broker. `shutdown` ends the inflight ones."""

    def __init__(
        self, config: StorageConfig, store: ObjectStore, objects: ObjectManager, cluster_id: str
    ) -> None:
        index_bytes = config.block_cache_bytes // INDEX_CACHE_SHARE
        data_bytes = config.block_cache_bytes - index_bytes
        inflight_bytes = max(1, min(config.max_read_bytes, data_bytes // INFLIGHT_SHARE))
        self.budget = RequestBudget(config.max_read_requests, inflight_bytes)
        self.ahead_budget = RequestBudget(max(1, config.max_read_requests // 2), inflight_bytes)
        self._objects = objects
        self._max_block_bytes = min(config.object_block_bytes, data_bytes)
        self._indexes = ObjectIndexCache(
            store, cluster_id, max_bytes=index_bytes, budget=self.budget
        )
        self._blocks = DataBlockCache(
            store,
            cluster_id,
            capacity_bytes=data_bytes,
            budget=self.budget,
            ahead_budget=self.ahead_budget,
        )
        self._ahead = ReadAhead(min(config.max_read_ahead_bytes, data_bytes // WINDOW_SHARE))
        self._ahead_tasks: dict[asyncio.Task[None], None] = {}
        self._small_reads: dict[int, int] = {}  # by object, the latest last

    @property
    def statistics(self) -> DataBlockStatistics:
        """Counters of blocks."""
        return self._blocks.statistics

    @property
    def index_statistics(self) -> IndexCacheStatistics:
        """Counters of indexes."""
        return self._indexes.statistics

    async def read(
        self, stream_id: int, start: int, end: int, max_bytes: int
    ) -> list[StreamRecordBatch]:
        """Read whole batches, contiguous from the one that holds `start`.

        Args:
            stream_id: the stream.
            start: an offset that is committed.
            end: exclusive; batches that begin below it are returned.
            max_bytes: of payloads; the first batch is returned even if it is larger.

        Returns:
            At least one batch. Fewer than `max_bytes` when the rest cannot be read now.

        Raises:
            ObjectNotFoundError: after several looks at the metadata, no object holds `start`.
            CorruptObjectError: the object that holds `start` is damaged.
            ObjectStoreError: the bucket does not answer.
        """
        for replan in range(MAX_REPLANS + 1):
            try:
                return await self._read(stream_id, start, end, max_bytes)
            except ObjectNotFoundError:
                # Compacted away since the metadata were read; newer metadata may arrive soon.
                if replan == MAX_REPLANS:
                    raise
                await asyncio.sleep((REPLAN_DELAY_MS << replan) / 1000)
        raise AssertionError("the last plan returns or raises")

    async def span(self, stream_id: int, offset: int, *, of_object: bool) -> tuple[int, int]:
        """Return the offsets that are read as a whole with `offset`, which cannot be read.

        Args:
            stream_id: the stream.
            offset: an offset that is committed.
            of_object: whether the object is gone: then all that it held of the stream counts.

        Raises:
            ObjectNotFoundError: no object holds `offset`.
            ObjectStoreError: the bucket does not answer.
        """
        found = self._objects.get_objects(stream_id, offset, offset + 1, 1)
        if not found:
            raise ObjectNotFoundError(f"no object holds offset {offset} of stream {stream_id}")
        source = found[0]
        start, end = source.start_offset, source.end_offset
        if of_object:
            return start, end
        try:
            index = await self._indexes.load(source.object_id, source.size_bytes)
            block = next(index.find(stream_id, offset, end), None)
        except (CorruptObjectError, ObjectNotFoundError):
            return start, end
        if block is None:
            return offset, end
        if block.start_offset > offset:
            return offset, min(block.start_offset, end)
        return max(block.start_offset, start), min(block.end_offset, end)

    async def shutdown(self) -> None:
        """Abandon what is being read ahead, and fail what is being read."""
        tasks = list(self._ahead_tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._indexes.shutdown()
        await self._blocks.shutdown()

    async def _read(
        self, stream_id: int, start: int, end: int, max_bytes: int
    ) -> list[StreamRecordBatch]:
        reading = _Reading(stream_id, start, end, max_bytes)
        plan = self._objects.get_objects(stream_id, start, end, OBJECTS_PER_PLAN)
        if not plan:
            raise ObjectNotFoundError(f"no object holds offset {start} of stream {stream_id}")
        try:
            for source in plan:
                if reading.is_done() or not await self._read_object(reading, source):
                    break
        except StorageError:
            # What has been read is valid; the next read begins with what cannot be read now.
            if not reading.batches:
                raise
        self._read_ahead(reading, start)
        return reading.batches

    async def _read_object(self, reading: "_Reading", source: ObjectRange) -> bool:
        """Read what one object has; return whether to continue with the next one."""
        index = self._indexes.cached(source.object_id)
        if index is None:
            if not reading.is_worth_waiting():
                return False
            reading.waited = True
            index = await self._open(reading, source)
        limit = min(reading.end, source.end_offset)
        while reading.offset < limit and not reading.is_done():
            entries = _pick(index, reading, source.object_id, limit)
            blocks = self._blocks.cached(source.object_id, entries)
            if not blocks:
                if not reading.is_worth_waiting():
                    return False
                reading.waited = True
                near = self._neighbours(source, index, entries)
                blocks = await self._blocks.load(source.object_id, entries, near)
            for block in blocks:
                if reading.is_done():
                    break
                await turns_of(Work.COLD_READS).pause()
                await self._take(reading, block, limit)
        return True

    def _neighbours(
        self, source: ObjectRange, index: ObjectIndex, entries: Sequence[IndexEntry]
    ) -> list[IndexEntry]:
        """Choose what to read along with small blocks of a Stream Set Object of which others were small, too.

        When very many partitions are opened or read, each needs a kilobyte of the same object: a request for every
        one costs far more than the bytes between them.
        """
        size_bytes = sum([it.size for it in entries])
        if source.object_type is not ObjectType.STREAM_SET or size_bytes > SMALL_BYTES:
            return []
        reads = self._small_reads.pop(source.object_id, 0) + 1
        self._small_reads[source.object_id] = reads
        if len(self._small_reads) > MAX_SMALL_READS:
            del self._small_reads[next(iter(self._small_reads))]
        if reads <= SMALL_READS_ALONE or self._blocks.is_loading(source.object_id, entries[-1]):
            return []
        room = min(NEIGHBOUR_BYTES, self._blocks.max_run_bytes) - size_bytes
        return list(index.following(entries[-1], room))

    async def _open(self, reading: "_Reading", source: ObjectRange) -> ObjectIndex:
        """Read an index, and at the same time the blocks that are most likely needed next.

        A reader that begins at the start of a Stream Object needs the object's first bytes, which can
        be read without the index: so the first byte takes as long as one request, not two.
        """
        head: asyncio.Task[memoryview] | None = None
        if source.object_type is ObjectType.STREAM and reading.offset == source.start_offset:
            wanted_bytes = min(reading.room_bytes, self._blocks.max_run_bytes)
            head_bytes = min(max(wanted_bytes, self._max_block_bytes), source.size_bytes)
            head = self._blocks.begin_head(source.object_id, head_bytes)
        index = await self._indexes.load(source.object_id, source.size_bytes)
        if head is not None:
            await asyncio.wait((head,))
            entries = index.find(reading.stream_id, reading.offset, source.end_offset)
            self._blocks.adopt(source.object_id, entries, head)
        return index

    async def _take(self, reading: "_Reading", block: CachedBlock, limit: int) -> None:
        try:
            reading.take(block, limit)
        except CorruptObjectError:
            # Bits may have flipped on the way: ask the bucket once more.
            self._blocks.discard(block)
            reading.waited = True
            (again,) = await self._blocks.load(block.object_id, (block.entry,))
            try:
                reading.take(again, limit)
            except CorruptObjectError:
                self._blocks.discard(again)
                raise

    def _read_ahead(self, reading: "_Reading", start: int) -> None:
        request = self._ahead.observe(
            reading.stream_id,
            (start, reading.offset),
            reading.taken_bytes,
            waited=reading.waited,
            now_ms=loop_ms(),
        )
        if request is None:
            return
        if len(self._ahead_tasks) >= MAX_AHEAD_TASKS or request.offset >= reading.end:
            self._ahead.finished(request.sequence, request.offset, 0)
            return
        task = asyncio.get_running_loop().create_task(
            self._run_ahead(request, reading.stream_id, reading.end)
        )
        self._ahead_tasks[task] = None
        task.add_done_callback(self._ahead_ended)

    def _ahead_ended(self, task: asyncio.Task[None]) -> None:
        self._ahead_tasks.pop(task, None)
        report_unexpected(task)

    async def _run_ahead(self, request: AheadRequest, stream_id: int, end: int) -> None:
        """Start the reads of a request; each continues in a task of its own."""
        sequence, offset, size_bytes = request
        begun_bytes = 0

        def wasted() -> None:
            self._ahead.wasted(sequence, loop_ms())

        try:
            for source in self._objects.get_objects(stream_id, offset, end, OBJECTS_PER_PLAN):
                index = await self._indexes.load(source.object_id, source.size_bytes)
                room = size_bytes - begun_bytes
                entries = list(_up_to(index.find(stream_id, offset, source.end_offset), room))
                begun = self._blocks.read_ahead(source.object_id, entries, wasted)
                if begun:
                    begun_bytes += sum(entry.size for entry in entries[:begun])
                    offset = entries[begun - 1].end_offset
                is_full = begun_bytes >= size_bytes or offset < source.end_offset
                if begun < len(entries) or is_full:
                    break
        except StorageError:
            wasted()  # a reader that needs these blocks gets the error itself
        finally:
            self._ahead.finished(sequence, offset, begun_bytes)


class _Reading:
    """One inflight read."""

    __slots__ = (
        "_full",
        "batches",
        "end",
        "max_bytes",
        "offset",
        "stream_id",
        "taken_bytes",
        "waited",
    )

    def __init__(self, stream_id: int, start: int, end: int, max_bytes: int) -> None:
        self.stream_id = stream_id
        self.offset = start  # next to be read
        self.end = end
        self.max_bytes = max_bytes
        self.taken_bytes = 0
        self.batches: list[StreamRecordBatch] = []
        self.waited = False  # for the bucket
        self._full = False

    @property
    def room_bytes(self) -> int:
        return max(0, self.max_bytes - self.taken_bytes)

    def is_done(self) -> bool:
        return self._full or self.offset >= self.end or self.taken_bytes >= self.max_bytes > 0

    def is_worth_waiting(self) -> bool:
        """Whether to wait for the bucket: not when the reader has about what it wants."""
        return self.taken_bytes * 2 < self.max_bytes or not self.batches

    def take(self, block: CachedBlock, limit: int) -> None:
        room = self.max_bytes - self.taken_bytes  # negative behind a first batch that is too large
        taken = block.collect(self.offset, limit, room, with_first=not self.batches)
        if taken.batches:
            self.batches += taken.batches
            self.taken_bytes += taken.size_bytes
            self.offset = taken.end_offset
        self._full = self.offset < min(limit, block.entry.end_offset)


def _pick(index: ObjectIndex, reading: _Reading, object_id: int, limit: int) -> list[IndexEntry]:
    """Choose the blocks that will about fill what the reader has room for, at least one.

    Raises:
        CorruptObjectError: the index lacks an offset that the object holds by the metadata.
    """
    room = reading.room_bytes
    picked: list[IndexEntry] = []
    expected = reading.offset
    for entry in index.find(reading.stream_id, reading.offset, limit):
        if entry.start_offset > expected:
            break
        picked.append(entry)
        expected = entry.end_offset
        ahead = expected - max(entry.start_offset, reading.offset)
        room -= entry.size * ahead // (entry.end_offset - entry.start_offset)
        if room <= 0:
            break
    if not picked:
        raise CorruptObjectError(
            f"object {object_id} lacks offset {reading.offset} of stream {reading.stream_id}"
        )
    return picked


def _up_to(entries: Iterator[IndexEntry], size_bytes: int) -> Iterator[IndexEntry]:
    """Yield as many as fit, and at least one. One more would often be a request of its own."""
    for number, entry in enumerate(entries):
        size_bytes -= entry.size
        if number and size_bytes < 0:
            return
        yield entry
