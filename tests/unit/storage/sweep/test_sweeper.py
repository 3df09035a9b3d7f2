"""Sweeper: sees the whole bucket in bounded rounds, and survives what the bucket does."""

import asyncio
import logging
import random

import pytest

from headrace.config.node import StorageConfig
from headrace.storage.audit.comparison import KnownBucket, KnownObject, KnownObjectState
from headrace.storage.audit.inventory import ListedObject
from headrace.storage.errors import NotDeletedError, ObjectStoreError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.object_store.unexpected import unexpected
from headrace.storage.objects.keys import object_key
from headrace.storage.sweep import sweeper as module
from headrace.storage.sweep.rules import IncompleteUpload
from headrace.storage.sweep.sweeper import Sweeper
from headrace.storage.sweep.swept_bucket import SweptBucket, open_swept_bucket
from tests.simulation.faulty_store import Fault, FaultyStore
from tests.simulation.virtual_time import run

HOUR_MS = 3_600_000
NOW_MS = 10**12


class Uploads:
    def __init__(self):
        self.inflight = []
        self.aborted = []
        self.error = None
        self.kept = []

    async def pages(self):
        if self.error is not None:
            raise self.error
        for upload in list(self.inflight):
            yield [upload]

    async def abort(self, uploads):
        self.aborted += [it.upload_id for it in uploads if it.upload_id not in self.kept]
        if any(it.upload_id in self.kept for it in uploads):
            raise ObjectStoreError("denied")


class Scene:
    """Objects 0 to 99 of which the even ones are known; put two hours ago."""

    def __init__(self):
        self.store = FaultyStore(MemoryObjectStore())
        self.uploads = Uploads()
        self.known = set(range(0, 100, 2))
        self.next_object_id = 100
        self.is_turn = True
        self.listed = []
        self.unreadable = ""  # a piece of the list
        self.sweeper = Sweeper(
            StorageConfig(object_prepare_ttl_ms=HOUR_MS),
            self.store,
            SweptBucket(self, self.uploads),
            self,
            rng=random.Random(0),
            wall_clock_ms=lambda: NOW_MS,
        )
        for object_id in range(100):
            self.store.inner.objects[object_key("c", object_id)] = b"x"

    def is_sweeper(self):
        return self.is_turn

    def known_bucket(self, object_ids):
        known = {
            it: KnownObject(it, KnownObjectState.COMMITTED, 1, 0)
            for it in object_ids
            if it in self.known
        }
        return KnownBucket("c", known, self.next_object_id)

    async def pages(self, prefix=""):
        self.listed.append(prefix)
        if prefix == self.unreadable:
            raise unexpected("list", ValueError("time data 'n/a'"))
        keys = sorted(it for it in self.store.inner.objects if it.startswith(prefix))
        for start in range(0, len(keys), 2):
            yield [ListedObject(it, 1, NOW_MS - 2 * HOUR_MS) for it in keys[start : start + 2]]

    def left(self):
        return len(self.store.inner.objects)


def test_what_nobody_knows_is_removed():
    async def main():
        scene = Scene()
        await scene.sweeper.sweep()
        assert scene.left() == 50
        statistics = scene.sweeper.statistics
        assert (statistics.laps, statistics.listed_objects, statistics.removed_objects) == (
            1,
            100,
            50,
        )
        await scene.sweeper.sweep()
        assert (scene.left(), statistics.removed_objects, statistics.laps) == (50, 50, 2)

    run(main())


def test_a_large_bucket_takes_several_rounds(monkeypatch):
    monkeypatch.setattr(module, "MAX_PAGES_PER_ROUND", 10)

    async def main():
        scene = Scene()
        rounds = 0
        while scene.sweeper.statistics.laps == 0:
            before = len(scene.listed)
            await scene.sweeper.sweep()
            assert len(scene.listed) - before < 8
            rounds += 1
        assert rounds > 3
        assert scene.listed == list(module.PREFIXES)
        assert scene.left() == 50

    run(main())


def test_of_a_cluster_one_sweeps():
    async def main():
        scene = Scene()
        scene.is_turn = False
        await scene.sweeper.sweep()
        assert (scene.left(), scene.listed) == (100, [])

    run(main())


def test_metadata_that_are_not_this_buckets_remove_nothing_and_say_so(caplog):
    async def main():
        scene = Scene()
        scene.next_object_id = 0
        with caplog.at_level(logging.ERROR, logger="headrace.storage.sweep"):
            await scene.sweeper.sweep()
        assert scene.left() == 100
        # Even the known ones have ids that were never given out.
        assert scene.sweeper.statistics.beyond_metadata == 100
        assert len(caplog.records) == 1

    run(main())


@pytest.mark.parametrize("fault", [Fault.REFUSED, Fault.LOST_REPLY])
def test_a_bucket_that_fails_is_swept_later(fault):
    async def main():
        scene = Scene()
        scene.uploads.inflight = [IncompleteUpload(object_key("c", 1), "old", 0)]
        scene.store.then("delete", fault)
        await scene.sweeper.sweep()
        assert scene.sweeper.statistics.failures == 1
        assert scene.uploads.aborted == ["old"]  # uploads have their turn nevertheless
        await scene.sweeper.sweep()
        assert scene.left() == 50

    run(main())


def test_a_key_that_cannot_be_deleted_holds_up_nothing():
    async def main():
        scene = Scene()
        stuck = object_key("c", 1)
        delete = scene.store.inner.delete

        async def delete_others(keys):
            await delete([it for it in keys if it != stuck])
            if stuck in keys:
                raise NotDeletedError("AccessDenied", [stuck])

        scene.store.inner.delete = delete_others
        await scene.sweeper.sweep()
        statistics = scene.sweeper.statistics
        assert (scene.left(), statistics.removed_objects, statistics.failures) == (51, 49, 1)
        assert statistics.laps == 1

    run(main())


def test_uploads_are_ended(monkeypatch):
    async def main():
        scene = Scene()
        scene.uploads.inflight = [
            IncompleteUpload(object_key("c", 1), "forgotten", NOW_MS - 2 * HOUR_MS),
            IncompleteUpload(object_key("c", 3), "young", NOW_MS - HOUR_MS),
            IncompleteUpload("others/1", "not ours", 0),
        ]
        await scene.sweeper.sweep()
        assert scene.uploads.aborted == ["forgotten"]
        assert scene.sweeper.statistics.aborted_uploads == 1
        scene.uploads.error = ObjectStoreError("denied")
        await scene.sweeper.sweep()
        assert scene.sweeper.statistics.failures == 1

    run(main())


def test_an_upload_that_cannot_be_ended_holds_up_no_other():
    async def main():
        scene = Scene()
        scene.uploads.inflight = [
            IncompleteUpload(object_key("c", 1), upload_id, 0) for upload_id in ("kept", "old")
        ]
        scene.uploads.kept = ["kept"]
        await scene.sweeper.sweep()
        assert scene.uploads.aborted == ["old"]
        assert scene.sweeper.statistics.failures == 1
        assert scene.sweeper.statistics.aborted_uploads == 1

    run(main())


def test_a_piece_that_cannot_be_listed_is_told_and_holds_up_no_other(caplog):
    async def main():
        scene = Scene()
        scene.unreadable = "5"
        await scene.sweeper.sweep()
        assert scene.listed == list("012345")
        await scene.sweeper.sweep()
        assert scene.listed == [*module.PREFIXES, *"012345"]
        statistics = scene.sweeper.statistics
        assert (statistics.failures, statistics.laps) == (2, 0)  # the bucket was not seen whole
        left = [it for it in scene.store.inner.objects if int(it.rpartition("/")[2]) % 2]
        assert left
        assert {it[0] for it in left} == {"5"}
        assert ["time data" in str(it.exc_info[1]) for it in caplog.records] == [True, True]
        scene.unreadable = ""
        await scene.sweeper.sweep()
        await scene.sweeper.sweep()
        assert (scene.left(), statistics.laps) == (50, 1)

    run(main())


def test_it_runs_at_its_interval():
    async def main():
        scene = Scene()
        task = asyncio.create_task(scene.sweeper.run())
        await asyncio.sleep(44 * 60)
        assert scene.listed == []
        await asyncio.sleep(32 * 60)
        assert scene.sweeper.statistics.laps == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(main())


def test_a_directory_and_a_bucket_in_memory(tmp_path):
    async def main():
        (tmp_path / ".tmp").mkdir()
        (tmp_path / ".tmp" / "left").write_bytes(b"half")
        place = open_swept_bucket(f"file://{tmp_path}", {})
        ((found,),) = [page async for page in place.uploads.pages()]
        assert found.key == ".tmp/left"
        await place.uploads.abort([found, found])
        assert not (tmp_path / ".tmp" / "left").exists()
        assert open_swept_bucket("mem://", {}) is None

    asyncio.run(main())
