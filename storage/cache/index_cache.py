"""Index blocks of objects, read once and kept within a bound."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from headrace.storage.errors import CorruptObjectError, ObjectStoreError, StorageError
from headrace.storage.objects.footer import FOOTER_BYTES
from headrace.storage.objects.index_block import ObjectIndex
from headrace.storage.objects.keys import object_key
from headrace.storage.objects.reader import decode_index, decode_tail, index_in_tail, tail_start
from headrace.storage.ports import ObjectStore
from headrace.storage.request_budget import RequestBudget
from headrace.task_failures import report_unexpected

ENTRY_OVERHEAD_BYTES = 512  # of one cached index, beside its bytes


async def load_index(store: ObjectStore, key: str, size_bytes: int) -> ObjectIndex:
    """Read the index of an object: one request, two when there are unusually many small blocks.

    Raises:
        ObjectNotFoundError: the object is gone.
        CorruptObjectError: footer or index do not match their checksums or the size, twice; names
            the object.
        ObjectStoreError: the bucket does not answer.
    """
    try:
        return await _load_index_once(store, key, size_bytes)
    except CorruptObjectError:
        # Bits may have flipped on the way: ask the bucket once more.
        try:
            return await _load_index_once(store, key, size_bytes)
        except CorruptObjectError as error:
            raise CorruptObjectError(f"{key}: {error}") from error


async def _load_index_once(store: ObjectStore, key: str, size_bytes: int) -> ObjectIndex:
    if size_bytes < FOOTER_BYTES:
        raise CorruptObjectError(f"object of {size_bytes} bytes is too small for a footer")
    tail = await store.get_range(key, tail_start(size_bytes), size_bytes)
    footer = decode_tail(tail, size_bytes)
    view = index_in_tail(tail, footer)
    if view is None:
        end = footer.index_position + footer.index_length
        view = await store.get_range(key, footer.index_position, end)
    return decode_index(view, footer)


@dataclass(slots=True)
class IndexCacheStatistics:
    """Counted since the start."""

    hits: int = 0
    misses: int = 0
    corrupt: int = 0  # at a second look, too
    cached_bytes: int = 0


class ObjectIndexCache:
    """Indexes by object id, LRU by bytes, each loaded by one request for all readers."""

    def __init__(
        self, store: ObjectStore, cluster_id: str, *, max_bytes: int, budget: RequestBudget
    ) -> None:
        self._store = store
        self._cluster_id = cluster_id
        self._max_bytes = max_bytes
        self._budget = budget
        self._indexes: OrderedDict[int, ObjectIndex] = OrderedDict()
        self._loading: dict[int, asyncio.Task[ObjectIndex]] = {}
        self.statistics = IndexCacheStatistics()

    def cached(self, object_id: int) -> ObjectIndex | None:
        """Return an index if it is cached."""
        index = self._indexes.get(object_id)
        if index is not None:
            self._indexes.move_to_end(object_id)
            self.statistics.hits += 1
        return index

    async def load(self, object_id: int, size_bytes: int) -> ObjectIndex:
        """Return the index of an object; raises what `load_index` raises.

        Cancellation: the request continues for other readers that wait for it.
        """
        index = self.cached(object_id)
        if index is not None:
            return index
        self.statistics.misses += 1
        task = self._loading.get(object_id)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._load(object_id, size_bytes))
            self._loading[object_id] = task
            task.add_done_callback(lambda done: self._loaded(object_id, done))
        await asyncio.wait((task,))
        if task.cancelled():
            raise ObjectStoreError("the block cache is shut down")
        return task.result()

    async def shutdown(self) -> None:
        """Abandon what is being loaded."""
        tasks = list(self._loading.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _load(self, object_id: int, size_bytes: int) -> ObjectIndex:
        async with self._budget.reserved(size_bytes - tail_start(size_bytes)):
            return await load_index(
                self._store, object_key(self._cluster_id, object_id), size_bytes
            )

    def _loaded(self, object_id: int, task: asyncio.Task[ObjectIndex]) -> None:
        del self._loading[object_id]
        report_unexpected(task, StorageError)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self.statistics.corrupt += isinstance(error, CorruptObjectError)
            return
        self._indexes[object_id] = task.result()
        self.statistics.cached_bytes += _charge(task.result())
        while self.statistics.cached_bytes > self._max_bytes:
            _, evicted = self._indexes.popitem(last=False)
            self.statistics.cached_bytes -= _charge(evicted)


def _charge(index: ObjectIndex) -> int:
    return index.size_bytes + ENTRY_OVERHEAD_BYTES
