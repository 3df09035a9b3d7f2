"""ObjectDeleter: from the bucket first, then from the metadata, in bounded batches."""

import asyncio
import random

import pytest

from headrace.config.node import StorageConfig
from headrace.metadata.rpc.requests import ForgetObjects
from headrace.storage import deletion
from headrace.storage.deletion import ObjectDeleter
from headrace.storage.errors import NotDeletedError, RetriableStorageError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.objects.keys import object_key
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane
from tests.simulation.faulty_store import Fault, FaultyStore
from tests.simulation.virtual_time import run


class Setup:
    """Objects 0 to n, of which object i may go at i milliseconds."""

    async def open(self, number, now_ms=10**9):
        self.store = FaultyStore(MemoryObjectStore())
        self.objects = ControlPlane(clock_ms=lambda: self.now_ms)
        for object_id in range(number):
            self.now_ms = object_id - 1
            assert await self.objects.prepare_objects(1, 1) == object_id
            self.objects.controller.now_ms = object_id
            self.objects.controller.expire()
            await self.store.put(object_key(CLUSTER_ID, object_id), [b"x"])
        self.store.log.clear()
        self.now_ms = now_ms
        self.deleter = ObjectDeleter(
            StorageConfig(),
            self.store,
            self.objects,
            CLUSTER_ID,
            rng=random.Random(0),
            wall_clock_ms=lambda: self.now_ms,
        )
        return self

    def left(self):
        return len(self.store.inner.objects)


def test_what_may_go_goes_and_is_forgotten():
    async def main():
        setup = await Setup().open(10, now_ms=6)
        await setup.deleter.delete()
        assert setup.objects.forgotten == list(range(7))
        assert setup.left() == 3
        assert setup.deleter.statistics.deleted_objects == 7
        await setup.deleter.delete()
        assert setup.store.requests["delete"] == 1  # nothing more to do, so nothing asked

    run(main())


def test_batches_are_bounded(monkeypatch):
    monkeypatch.setattr(deletion, "MAX_BATCH_OBJECTS", 10)
    monkeypatch.setattr(deletion, "MAX_BATCHES_PER_ROUND", 3)

    async def main():
        setup = await Setup().open(35)
        await setup.deleter.delete()
        assert (setup.left(), len(setup.objects.forgotten)) == (5, 30)
        assert [it.count(",") for _, it in setup.store.log] == [9, 9, 9]
        await setup.deleter.delete()
        assert setup.left() == 0

    run(main())


@pytest.mark.parametrize("fault", [Fault.REFUSED, Fault.LOST_REPLY])
def test_what_may_not_have_been_deleted_is_not_forgotten(fault):
    async def main():
        setup = await Setup().open(3)
        setup.store.then("delete", fault)
        await setup.deleter.delete()
        assert setup.objects.forgotten == []
        assert setup.deleter.statistics.failures == 1
        await setup.deleter.delete()
        assert setup.objects.forgotten == [0, 1, 2]
        assert setup.left() == 0

    run(main())


@pytest.mark.parametrize(
    "error", [RetriableStorageError("no answer"), TimeoutError(), ConnectionError()]
)
def test_a_control_plane_that_does_not_answer_is_asked_again(error):
    async def main():
        setup = await Setup().open(3)
        setup.objects.faults[ForgetObjects].before = [error]
        await setup.deleter.delete()
        assert (setup.left(), setup.objects.forgotten) == (0, [])
        await setup.deleter.delete()
        assert setup.objects.forgotten == [0, 1, 2]

    run(main())


def test_it_runs_until_cancelled():
    async def main():
        setup = await Setup().open(3, now_ms=0)
        task = asyncio.create_task(setup.deleter.run())
        await asyncio.sleep(200)
        assert setup.objects.forgotten == [0]
        setup.now_ms = 10
        setup.store.then("delete", Fault.REFUSED)
        await asyncio.sleep(300)
        assert setup.objects.forgotten == [0, 1, 2]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(main())


def test_what_the_bucket_keeps_holds_up_nothing_else(monkeypatch):
    """One key that cannot be deleted must not keep a thousand others, or those of later batches."""
    monkeypatch.setattr(deletion, "MAX_BATCH_OBJECTS", 4)

    async def main():
        setup = await Setup().open(10)
        kept = {object_key(CLUSTER_ID, object_id) for object_id in (0, 1, 2, 3, 6)}
        delete = setup.store.delete

        async def keeping(keys):
            await delete([key for key in keys if key not in kept])
            if left := [key for key in keys if key in kept]:
                raise NotDeletedError("object lock", left)

        setup.store.delete = keeping
        await setup.deleter.delete()
        assert setup.objects.forgotten == [4, 5, 7, 8, 9]
        assert setup.left() == 5
        assert setup.deleter.statistics.deleted_objects == 5
        assert setup.deleter.statistics.failures == 2
        kept.clear()
        await setup.deleter.delete()
        assert setup.left() == 0
        assert sorted(setup.objects.forgotten) == list(range(10))

    run(main())
