"""Data blocks read back from the bucket: LRU by bytes, one request for all readers of a block.

Adjacent blocks are read by one request, and what one request read is kept and evicted as a whole
(a *segment*): its blocks are slices of one buffer, so evicting some of them would free nothing. The
bytes of segments and of inflight requests never exceed the capacity together, with one exception: a
block larger than the capacity is read, alone, and not kept. Slices that readers still hold after an
eviction are not counted here.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from headrace.storage.cache.cached_block import CachedBlock, ReadRun
from headrace.storage.errors import ObjectStoreError, StorageError
from headrace.storage.objects.index_block import IndexEntry
from headrace.storage.objects.keys import object_key
from headrace.storage.ports import ObjectStore
from headrace.storage.request_budget import RequestBudget
from headrace.task_failures import report_unexpected

# Of one request, unless a single block is larger. S3 gives a connection about 90 MB/s, so a window of
# reading ahead must be several requests, and many enough that their first bytes cost nothing.
MAX_RUN_BYTES = 4 * 1024 * 1024
MIN_CAPACITY_RUNS = 16  # a run is at most this fraction of the capacity


@dataclass(slots=True)
class DataBlockStatistics:
    """Counted since the start, except for the sizes."""

    hits: int = 0  # blocks
    misses: int = 0
    requests: int = 0
    read_bytes: int = 0
    read_ahead_blocks: int = 0
    evicted_blocks: int = 0
    wasted_blocks: int = 0  # read ahead, evicted unread
    corrupt_blocks: int = 0
    cached_bytes: int = 0
    loading_bytes: int = 0


class DataBlockCache:
    """Blocks by (object id, position in the object)."""

    def __init__(
        self,
        store: ObjectStore,
        cluster_id: str,
        *,
        capacity_bytes: int,
        budget: RequestBudget,
        ahead_budget: RequestBudget,
    ) -> None:
        self._store = store
        self._cluster_id = cluster_id
        self._capacity_bytes = capacity_bytes
        self.max_run_bytes = min(MAX_RUN_BYTES, max(1, capacity_bytes // MIN_CAPACITY_RUNS))
        self._budget = budget
        self._ahead_budget = ahead_budget
        self._blocks: dict[tuple[int, int], CachedBlock] = {}
        self._segments: OrderedDict[ReadRun, None] = OrderedDict()
        self._loading: dict[tuple[int, int], asyncio.Task[list[CachedBlock]]] = {}
        self._heads: dict[int, asyncio.Task[memoryview]] = {}
        self._tasks: dict[asyncio.Task[list[CachedBlock]] | asyncio.Task[memoryview], None] = {}
        self.statistics = DataBlockStatistics()

    def cached(self, object_id: int, entries: Sequence[IndexEntry]) -> list[CachedBlock]:
        """Return the first of these blocks of one object, as many as are cached without a gap."""
        found = []
        for entry in entries:
            block = self._blocks.get((object_id, entry.position))
            if block is None:
                break
            self._touch(block)
            found.append(block)
        return found

    async def load(
        self,
        object_id: int,
        entries: Sequence[IndexEntry],
        neighbours: Iterable[IndexEntry] = (),
    ) -> list[CachedBlock]:
        """Return blocks of one object, reading those that are missing, and `neighbours` behind them on the way.

        Cancellation: requests continue, for other readers that wait for them and into the cache.

        Raises:
            ObjectNotFoundError, ObjectStoreError, CorruptObjectError: as the store raises them.
        """
        found: dict[int, CachedBlock] = {}
        missing = []
        for entry in entries:
            block = self._blocks.get((object_id, entry.position))
            if block is None:
                missing.append(entry)
            else:
                self._touch(block)
                found[entry.position] = block
        self.statistics.misses += len(missing)
        if missing:
            known = self._blocks
            near = [it for it in neighbours if (object_id, it.position) not in known]
            for run in self._runs(object_id, [*missing, *near]):
                self._start(object_id, run, on_wasted=None)
        tasks = {self._loading[object_id, entry.position] for entry in missing}
        if tasks:
            await asyncio.wait(tasks)
        for task in tasks:
            for block in _result(task):
                block.segment.used = True
                found[block.entry.position] = block
        return [found[entry.position] for entry in entries]

    def is_loading(self, object_id: int, entry: IndexEntry) -> bool:
        """Whether a block is being read."""
        return (object_id, entry.position) in self._loading

    def _touch(self, block: CachedBlock) -> None:
        self.statistics.hits += 1
        block.segment.used = True
        self._segments.move_to_end(block.segment)

    def read_ahead(
        self, object_id: int, entries: Sequence[IndexEntry], on_wasted: Callable[[], None]
    ) -> int:
        """Begin to read blocks that will be needed soon, as far as the budget allows.

        Returns:
            How many of `entries`, from the first, are now cached or inflight.
        """
        absent = [entry for entry in entries if (object_id, entry.position) not in self._blocks]
        for run in self._runs(object_id, absent):
            size = run[-1].position + run[-1].size - run[0].position
            if not self._ahead_budget.try_acquire(size):
                return entries.index(run[0])
            self._start(object_id, run, on_wasted=on_wasted)
            self.statistics.read_ahead_blocks += len(run)
        return len(entries)

    def begin_head(self, object_id: int, size_bytes: int) -> asyncio.Task[memoryview]:
        """Begin to read the first bytes of an object whose index is being read; one request for all.

        The result is for `adopt`; if it fails, a reader that then needs the blocks gets the error.
        """
        task = self._heads.get(object_id)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._read_head(object_id, size_bytes))
            self._heads[object_id] = task
            self._tasks[task] = None

            def done(finished: asyncio.Task[memoryview]) -> None:
                self._tasks.pop(finished, None)
                del self._heads[object_id]
                report_unexpected(finished, StorageError)  # perhaps nothing else reads it

            task.add_done_callback(done)
        return task

    def adopt(
        self, object_id: int, entries: Iterable[IndexEntry], head: asyncio.Task[memoryview]
    ) -> None:
        """Keep the blocks within the first bytes of an object, unless they are cached or being read."""
        if head.cancelled() or head.exception() is not None:
            return
        content = head.result()
        whole: list[IndexEntry] = []
        for entry in entries:
            key = (object_id, entry.position)
            end = entry.position + entry.size
            if end > len(content) or key in self._blocks or key in self._loading:
                break
            whole.append(entry)
        if whole:
            self.statistics.misses += len(whole)
            self._keep(_cut(object_id, whole, content, 0, None))

    def discard(self, block: CachedBlock) -> None:
        """Evict the segment of a block that turned out to be corrupt."""
        self.statistics.corrupt_blocks += 1
        if block.segment in self._segments:
            self._evict(block.segment)

    async def shutdown(self) -> None:
        """Abandon what is being read."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _runs(self, object_id: int, entries: Sequence[IndexEntry]) -> Iterator[list[IndexEntry]]:
        """Group the blocks that are not being read yet into runs of adjacent ones, bounded in size."""
        run: list[IndexEntry] = []
        size = 0
        for entry in entries:
            if (object_id, entry.position) in self._loading:
                continue
            adjacent = run and run[-1].position + run[-1].size == entry.position
            if run and (not adjacent or size + entry.size > self.max_run_bytes):
                yield run
                run, size = [], 0
            run.append(entry)
            size += entry.size
        if run:
            yield run

    def _start(
        self, object_id: int, run: Sequence[IndexEntry], on_wasted: Callable[[], None] | None
    ) -> None:
        """Read a run in a task of its own; with `on_wasted`, its budget is held already."""
        task = asyncio.get_running_loop().create_task(self._read(object_id, run, on_wasted))
        self._tasks[task] = None
        for entry in run:
            self._loading[object_id, entry.position] = task

        def done(finished: asyncio.Task[list[CachedBlock]]) -> None:
            self._tasks.pop(finished, None)
            for entry in run:
                del self._loading[object_id, entry.position]
            if on_wasted is not None:
                self._ahead_budget.release(run[-1].position + run[-1].size - run[0].position)
            report_unexpected(finished, StorageError)
            if not finished.cancelled() and finished.exception() is None:
                self._keep(finished.result())

        task.add_done_callback(done)

    async def _read(
        self, object_id: int, run: Sequence[IndexEntry], on_wasted: Callable[[], None] | None
    ) -> list[CachedBlock]:
        start = run[0].position
        end = run[-1].position + run[-1].size
        if on_wasted is not None:
            content = await self._fetch(object_id, start, end)
        else:
            async with self._budget.reserved(end - start):
                content = await self._fetch(object_id, start, end)
        return _cut(object_id, run, content, start, on_wasted)

    async def _read_head(self, object_id: int, size_bytes: int) -> memoryview:
        async with self._budget.reserved(size_bytes):
            return await self._fetch(object_id, 0, size_bytes)

    async def _fetch(self, object_id: int, start: int, end: int) -> memoryview:
        statistics = self.statistics
        statistics.loading_bytes += end - start
        self._make_room()
        try:
            content = await self._store.get_range(
                object_key(self._cluster_id, object_id), start, end
            )
        finally:
            statistics.loading_bytes -= end - start
        statistics.requests += 1
        statistics.read_bytes += len(content)
        return content

    def _keep(self, blocks: Sequence[CachedBlock]) -> None:
        """Keep what one request read."""
        segment = blocks[0].segment
        if segment.size_bytes > self._capacity_bytes:
            return
        self._segments[segment] = None
        for block in blocks:
            self._blocks[block.object_id, block.entry.position] = block
        self.statistics.cached_bytes += segment.size_bytes
        self._make_room()

    def _make_room(self) -> None:
        statistics = self.statistics
        while (
            self._segments
            and statistics.cached_bytes + statistics.loading_bytes > self._capacity_bytes
        ):
            segment = next(iter(self._segments))
            self._evict(segment)
            statistics.evicted_blocks += len(segment.block_keys)
            if not segment.used and segment.on_wasted is not None:
                statistics.wasted_blocks += len(segment.block_keys)
                segment.on_wasted()

    def _evict(self, segment: ReadRun) -> None:
        del self._segments[segment]
        self.statistics.cached_bytes -= segment.size_bytes
        for key in segment.block_keys:
            del self._blocks[key]


def _cut(
    object_id: int,
    entries: Sequence[IndexEntry],
    content: memoryview,
    start: int,
    on_wasted: Callable[[], None] | None,
) -> list[CachedBlock]:
    """Cut what one request read, from `start` of the object on, into its blocks: one segment."""
    block_keys = [(object_id, entry.position) for entry in entries]
    segment = ReadRun(len(content), block_keys, on_wasted)
    return [
        CachedBlock(
            object_id,
            entry,
            content[entry.position - start : entry.position - start + entry.size],
            segment,
        )
        for entry in entries
    ]


def _result(task: asyncio.Task[list[CachedBlock]]) -> list[CachedBlock]:
    if task.cancelled():
        raise ObjectStoreError("the block cache is shut down")
    return task.result()
