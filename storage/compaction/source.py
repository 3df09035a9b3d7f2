"""Reads the blocks of one object in order, by large requests and within a fixed memory."""

from collections.abc import AsyncIterator

from headrace.storage.cache.index_cache import load_index
from headrace.storage.errors import CorruptObjectError, ObjectNotFoundError
from headrace.storage.objects.data_block import verify_block
from headrace.storage.objects.index_block import IndexEntry, ObjectIndex
from headrace.storage.objects.keys import object_key
from headrace.storage.ports import ObjectStore


class DamagedSourceError(CorruptObjectError):
    """A committed object is gone or damaged: it cannot be compacted, now or later."""

    def __init__(self, object_id: int, reason: Exception) -> None:
        super().__init__(f"object {object_id}: {reason}")
        self.object_id = object_id


class SourceObject:
    """An object being compacted. Keeps one window of its bytes."""

    def __init__(
        self, store: ObjectStore, cluster_id: str, object_id: int, window_bytes: int
    ) -> None:
        """Read `window_bytes` at a time, or one block if that is larger. Call `open` first."""
        self._store = store
        self.key = object_key(cluster_id, object_id)
        self.object_id = object_id
        self._window_bytes = window_bytes
        self._window = memoryview(b"")
        self._window_start = 0
        self.index: ObjectIndex

    async def open(self, size_bytes: int) -> None:
        """Read the index.

        Raises:
            DamagedSourceError: the object is gone or damaged.
            ObjectStoreError: the bucket does not answer.
        """
        try:
            self.index = await load_index(self._store, self.key, size_bytes)
        except (CorruptObjectError, ObjectNotFoundError) as error:
            raise DamagedSourceError(self.object_id, error) from error

    async def blocks(
        self, stream_id: int, start_offset: int, end_offset: int
    ) -> AsyncIterator[tuple[IndexEntry, memoryview]]:
        """Yield the verified data of the blocks that hold any of these offsets, in order.

        Raises:
            DamagedSourceError: the object is gone, or a block is damaged at a second look too.
            ObjectStoreError: the bucket does not answer.
        """
        for entry in self.index.find(stream_id, start_offset, end_offset):
            try:
                data = await self._data(entry)
            except (CorruptObjectError, ObjectNotFoundError) as error:
                raise DamagedSourceError(self.object_id, error) from error
            yield entry, data

    def release(self) -> None:
        """Free the window."""
        self._window = memoryview(b"")

    async def _data(self, entry: IndexEntry) -> memoryview:
        content = await self._block(entry)
        try:
            return _verified(entry, content)
        except CorruptObjectError:
            # Bits may have flipped on the way: ask the bucket once more.
            end = entry.position + entry.size
            return _verified(entry, await self._store.get_range(self.key, entry.position, end))

    async def _block(self, entry: IndexEntry) -> memoryview:
        at = entry.position - self._window_start
        if at < 0 or at + entry.size > len(self._window):
            self.release()
            limit = entry.position + max(self._window_bytes, entry.size)
            end = self.index.block_boundary(entry.position, limit)
            self._window = await self._store.get_range(self.key, entry.position, end)
            self._window_start = entry.position
            at = 0
        return self._window[at : at + entry.size]


def _verified(entry: IndexEntry, content: memoryview) -> memoryview:
    record_count, data = verify_block(content)
    if record_count != entry.record_count:
        raise CorruptObjectError(f"block of {record_count} batches, the index says {entry}")
    return data
