"""BudgetedObjectStore: every request waits for the budget, and nothing that writes waits for itself."""

import asyncio

import pytest

from headrace.config.node import StorageConfig
from headrace.storage.errors import ObjectNotFoundError
from headrace.storage.object_store.budgeted import BudgetedObjectStore, compaction_view
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.ports import CopiedRange
from headrace.storage.request_budget import RequestBudget
from tests.simulation.virtual_time import run

OPERATIONS = {
    "put": lambda store: store.put("new", [b"1234"]),
    "create": lambda store: store.create("new", [b"1234"]),
    "compose": lambda store: store.compose("new", [CopiedRange("old", 0, 2), b"34"]),
    "get_range": lambda store: store.get_range("old", 0, 4),
    "delete": lambda store: store.delete(["old"]),
    "list": lambda store: store.list(""),
}


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


async def opened(requests=1, size_bytes=100):
    inner, budget = MemoryObjectStore(), RequestBudget(requests, size_bytes)
    await inner.put("old", [b"abcd"])
    return BudgetedObjectStore(inner, budget), budget, inner


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("taken_bytes", [0, 100])
def test_a_request_waits_for_room(operation, taken_bytes):
    async def main():
        store, budget, inner = await opened(requests=1 if taken_bytes == 0 else 9)
        before = await inner.list("")
        assert budget.try_acquire(taken_bytes)
        task = asyncio.create_task(OPERATIONS[operation](store))
        await settle()
        needs_bytes = operation not in ("delete", "list")
        if taken_bytes == 0 or needs_bytes:
            assert not task.done()
            assert await inner.list("") == before
        budget.release(taken_bytes)
        await task
        assert (budget.requests, budget.bytes) == (0, 0)

    run(main())


def test_a_failed_request_gives_its_room_back():
    async def main():
        store, budget, _ = await opened()
        with pytest.raises(ObjectNotFoundError):
            await store.get_range("none", 0, 4)
        assert (budget.requests, budget.bytes) == (0, 0)

    run(main())


def test_an_object_that_is_made_of_reads_needs_no_second_slot():
    async def main():
        store, _, inner = await opened(requests=1)

        async def chunks():
            for start in range(4):
                yield [await store.get_range("old", start, start + 1)]

        async with asyncio.timeout(1):
            await store.put_stream("new", chunks())
        assert bytes(await inner.get_range("new", 0, 4)) == b"abcd"

    run(main())


def test_closing_it_closes_nothing():
    async def main():
        store, _, inner = await opened()
        await store.close()
        assert bytes(await inner.get_range("old", 0, 4)) == b"abcd"

    run(main())


def test_compaction_has_the_bounds_that_are_configured():
    async def main():
        for limits, at_once in (
            ({"max_compaction_requests": 3}, 3),
            ({"max_compaction_request_bytes": 8}, 2),
        ):
            inner = SlowReads()
            store = compaction_view(inner, StorageConfig(**limits))
            await asyncio.gather(*(store.get_range("any", 0, 4) for _ in range(9)))
            assert inner.max_inflight == at_once

    run(main())


class SlowReads(MemoryObjectStore):
    """Counts the reads that are under way at once."""

    def __init__(self):
        super().__init__()
        self.inflight = self.max_inflight = 0

    async def get_range(self, key, start, end):
        self.inflight += 1
        self.max_inflight = max(self.inflight, self.max_inflight)
        await asyncio.sleep(1)
        self.inflight -= 1
        return memoryview(bytes(end - start))
