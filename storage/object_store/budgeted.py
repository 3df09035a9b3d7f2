"""The bucket as one class of background work sees it: each request waits for room in its budget.

`put_stream` alone takes none: what it writes comes from reads that wait for the same budget, and who
has several inflight bounds them itself.
"""

from collections.abc import AsyncIterable, Sequence

from headrace.config.node import StorageConfig
from headrace.storage.ports import Buffer, CopiedRange, ObjectStore, Progress, unnoticed
from headrace.storage.request_budget import RequestBudget


class BudgetedObjectStore:
    """A view of another store, which it does not close."""

    def __init__(self, inner: ObjectStore, budget: RequestBudget) -> None:
        self._inner = inner
        self.budget = budget

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        async with self.budget.reserved(sum(map(len, parts))):
            await self._inner.put(key, parts)

    async def create(self, key: str, parts: Sequence[Buffer]) -> bool:
        """See `headrace.storage.ports.ObjectStore`."""
        async with self.budget.reserved(sum(map(len, parts))):
            return await self._inner.create(key, parts)

    async def put_stream(self, key: str, chunks: AsyncIterable[Sequence[Buffer]]) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        await self._inner.put_stream(key, chunks)

    @property
    def copies_remotely(self) -> bool:
        """See `headrace.storage.ports.ObjectStore`."""
        return self._inner.copies_remotely

    async def compose(
        self,
        key: str,
        pieces: Sequence[CopiedRange | Buffer],
        progress: Progress = unnoticed,
    ) -> None:
        """See `headrace.storage.ports.ObjectStore`; of ranges that are copied a few MiB are held at most."""
        size_bytes = sum(0 if isinstance(it, CopiedRange) else len(it) for it in pieces)
        async with self.budget.reserved(size_bytes):
            await self._inner.compose(key, pieces, progress)

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        """See `headrace.storage.ports.ObjectStore`."""
        async with self.budget.reserved(end - start):
            return await self._inner.get_range(key, start, end)

    async def delete(self, keys: Sequence[str]) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        async with self.budget.reserved(0):
            await self._inner.delete(keys)

    async def list(self, prefix: str) -> Sequence[tuple[str, int]]:
        """See `headrace.storage.ports.ObjectStore`."""
        async with self.budget.reserved(0):
            return await self._inner.list(prefix)

    async def close(self) -> None:
        """Nothing: the other store is its owner's to close."""


def compaction_view(store: ObjectStore, config: StorageConfig) -> BudgetedObjectStore:
    """Make the bucket that compaction is to work on."""
    budget = RequestBudget(config.max_compaction_requests, config.max_compaction_request_bytes)
    return BudgetedObjectStore(store, budget)
