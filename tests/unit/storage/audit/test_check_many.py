"""Many objects at once, a bounded number at a time."""

import asyncio

import pytest

from headrace.storage.audit.check_many import check_many
from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.memory import MemoryObjectStore
from tests.unit.storage.samples import batches, joined, write

CONTENT = joined(write([batches(1, 0, 2)]))


class BusyStore(MemoryObjectStore):
    """Knows how many reads are under way."""

    def __init__(self, number):
        super().__init__()
        self.objects = {f"k{n}": CONTENT for n in range(number)}
        self.inflight = self.most = 0
        self.fails = False

    async def get_range(self, key, start, end):
        self.inflight += 1
        self.most = max(self.most, self.inflight)
        await asyncio.sleep(0)
        self.inflight -= 1
        if self.fails:
            raise ObjectStoreError("no answer")
        return await super().get_range(key, start, end)


def check(store, keys, parallel):
    async def collect():
        candidates = ((key, len(CONTENT)) for key in keys)
        found = check_many(store, candidates, blocks=True, parallel=parallel)
        return {key: report async for key, report in found}

    return asyncio.run(collect())


@pytest.mark.parametrize("parallel", [1, 3, 50])
def test_so_many_at_a_time_and_each_once(parallel):
    store = BusyStore(20)
    reports = check(store, store.objects, parallel)
    assert len(reports) == 20
    assert all(report.is_whole for report in reports.values())
    assert store.most == min(parallel, 20)


def test_one_that_is_gone_holds_nobody_up():
    reports = check(BusyStore(3), ["k0", "gone", "k2"], 2)
    assert reports["gone"] is None
    assert reports["k2"].is_whole


def test_a_bucket_that_does_not_answer_ends_it():
    store = BusyStore(20)
    store.fails = True
    with pytest.raises(ObjectStoreError):
        check(store, store.objects, 4)
    assert store.inflight == 0
