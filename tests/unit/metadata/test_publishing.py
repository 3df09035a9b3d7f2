"""Snapshots of the metadata in a bucket."""

import asyncio
from itertools import pairwise

import msgspec
import pytest

from headrace.metadata.image import MetadataImage
from headrace.metadata.leader import publishing
from headrace.metadata.leader.publishing import (
    KEPT,
    SHORTEST_INTERVAL_MS,
    SnapshotPublisher,
    newest_published,
)
from headrace.metadata.log.snapshot_format import decode_snapshot
from headrace.metadata.published import NO_SNAPSHOT, parse_published_key, published_key
from headrace.metadata.records.entry import SnapshotId
from tests.simulation import virtual_time
from tests.unit.metadata.pure_controller import CLUSTER_ID, PureController


class MemoryBucket:
    """Remembers; fails when told to, or never answers."""

    def __init__(self):
        self.objects = {}
        self.failing = set()
        self.hanging = False

    async def put(self, key, parts):
        await self._answer("put")
        self.objects[key] = b"".join(parts)

    async def list(self, prefix):
        await self._answer("list")
        return [(key, len(it)) for key, it in self.objects.items() if key.startswith(prefix + "/")]

    async def delete(self, keys):
        await self._answer("delete")
        for key in keys:
            del self.objects[key]

    async def _answer(self, what):
        if what in self.failing:
            raise ConnectionError("injected")
        if self.hanging:
            await asyncio.Event().wait()


class OldCopyError(Exception):
    pass


class Scene:
    def __init__(self):
        self.bucket = MemoryBucket()
        self.image = None
        self.awaited = NO_SNAPSHOT
        self.unknown = []
        self.publisher = SnapshotPublisher(
            self.bucket,
            lambda: self.image,
            bucket_errors=(ConnectionError,),
            interval_ms=1,
            wall_clock_ms=lambda: 77,
            awaited_index=lambda: self.awaited,
            on_unknown=self.refuse,
        )

    async def refuse(self, reason):
        self.unknown.append(reason)
        raise OldCopyError

    def publish(self):
        asyncio.run(self.publisher.publish())

    def key(self, index):
        return published_key(CLUSTER_ID, SnapshotId(index, 1))


@pytest.fixture
def scene():
    return Scene()


def image_at(index):
    return MetadataImage(cluster_id=CLUSTER_ID, index=index, term=1)


def test_keys():
    key = published_key("abc_-9", SnapshotId(12, 3))
    assert key == "metadata/abc_-9/00000000000000000012-00000000000000000003.checkpoint"
    assert parse_published_key(key) == ("abc_-9", SnapshotId(12, 3))
    for other in ("metadata/a/12-3.checkpoint", key + ".tmp", "x/" + key, key.replace("/", ".")):
        assert parse_published_key(other) is None


def test_the_image_of_a_leader_is_published_whole(scene):
    controller = PureController()
    controller.register()
    controller.opened_stream("orders")
    scene.image = controller.image
    scene.publish()

    (key,) = scene.bucket.objects
    assert parse_published_key(key) == (
        CLUSTER_ID,
        SnapshotId(controller.image.index, controller.image.term),
    )
    assert decode_snapshot(scene.bucket.objects[key]) == controller.image
    statistics = scene.publisher.statistics
    assert (statistics.published, statistics.index) == (1, controller.image.index)
    assert (statistics.size_bytes, statistics.published_ms) == (len(scene.bucket.objects[key]), 77)


def test_nothing_is_published_by_who_does_not_lead_or_has_nothing_new(scene):
    scene.publish()
    scene.image = MetadataImage(index=3, term=1)  # not founded yet
    scene.publish()
    assert not scene.bucket.objects
    scene.image = image_at(5)
    scene.publish()
    scene.publish()
    assert scene.publisher.statistics.published == 1


def test_the_newest_are_kept_and_nobody_elses_are_touched(scene):
    others = [
        f"metadata/{CLUSTER_ID}/notes.txt",
        published_key("other", SnapshotId(1, 1)),
        f"metadata/{CLUSTER_ID}x/00000000000000000001-00000000000000000001.checkpoint",
    ]
    scene.bucket.objects = dict.fromkeys(others, b"")
    for index in range(1, 8):
        scene.image = image_at(index)
        scene.publish()
    kept = [scene.key(index) for index in (5, 6, 7)]
    assert len(kept) == KEPT
    assert sorted(scene.bucket.objects) == sorted([*others, *kept])


@pytest.mark.parametrize("what", ["put", "list", "delete"])
def test_a_bucket_that_fails_is_told_and_tried_again(scene, what, caplog):
    for index in range(1, 4):
        scene.image = image_at(index)
        scene.publish()
    scene.bucket.failing.add(what)
    scene.image = image_at(4)
    scene.publish()
    assert scene.publisher.statistics.failures == 1
    assert "trying again at the next interval" in caplog.text
    scene.bucket.failing.clear()
    scene.image = image_at(5)
    scene.publish()
    assert len(scene.bucket.objects) == KEPT
    assert scene.key(5) in scene.bucket.objects


def test_a_bucket_that_never_answers_is_given_up(scene, monkeypatch):
    monkeypatch.setattr(publishing, "MAX_PUBLISH_S", 0.001)
    scene.bucket.hanging = True
    scene.image = image_at(1)
    scene.publish()
    assert scene.publisher.statistics.failures == 1


def test_it_goes_on_until_it_is_cancelled(scene):
    async def scenario():
        task = asyncio.create_task(scene.publisher.run())
        for index in (1, 2, 3):
            scene.image = image_at(index)
            while scene.publisher.statistics.index < index:
                await asyncio.sleep(0.001)
        scene.bucket.failing.add("put")
        scene.image = msgspec.structs.replace(scene.image, index=4)
        while not scene.publisher.statistics.failures:
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()

    asyncio.run(scenario())


def test_the_newest_of_a_cluster_is_found_by_its_entry(scene):
    scene.bucket.objects = dict.fromkeys(
        [
            f"metadata/{CLUSTER_ID}/zzz.txt",
            published_key("other", SnapshotId(99, 1)),
            scene.key(9),
            scene.key(10),
        ],
        b"",
    )
    assert asyncio.run(newest_published(scene.bucket, CLUSTER_ID)) == 10
    assert asyncio.run(newest_published(scene.bucket, "third")) == NO_SNAPSHOT


def times_of_publication(scene, awaited):
    """When publications began in ten minutes of a log that grows all the time, in s from the first."""
    times = []

    async def scenario():
        loop = asyncio.get_running_loop()

        def growing():
            times.append(loop.time())
            return image_at(len(times))

        scene.publisher._current_image = growing
        scene.publisher._interval_ms = 60_000
        scene.awaited = awaited
        publishing_task = asyncio.create_task(scene.publisher.run())
        await asyncio.sleep(600)
        publishing_task.cancel()

    virtual_time.run(scenario())
    return [it - times[0] for it in times]


def test_when_nobody_waits_the_interval_counts(scene):
    assert times_of_publication(scene, NO_SNAPSHOT)[:3] == pytest.approx([0, 60, 120])


def test_who_waits_for_a_snapshot_gets_it_within_the_shortest_interval(scene):
    shortest_s = SHORTEST_INTERVAL_MS / 1000
    times = times_of_publication(scene, 3)
    assert times[:4] == pytest.approx([0, shortest_s, 2 * shortest_s, 2 * shortest_s + 60]), (
        "at the third it has what it waits for"
    )


def test_who_waits_for_ever_is_bounded_also_when_the_bucket_fails(scene):
    scene.bucket.failing.add("put")
    times = times_of_publication(scene, 1 << 62)
    assert {round(later - it, 3) for it, later in pairwise(times)} == {SHORTEST_INTERVAL_MS / 1000}


def test_a_mistake_is_none_of_the_bucket_s_errors(scene):
    scene.image = image_at(5)
    scene.bucket.delete = scene.bucket.list = None
    with pytest.raises(TypeError):
        scene.publish()


@pytest.mark.parametrize(("index", "term"), [(7, 2), (7, 3), (9, 1)], ids=str)
def test_a_log_that_cannot_have_led_to_a_published_snapshot_is_an_old_copy(scene, index, term):
    scene.bucket.objects[published_key(CLUSTER_ID, SnapshotId(index, term))] = b""
    scene.image = MetadataImage(cluster_id=CLUSTER_ID, index=8, term=2)
    with pytest.raises(OldCopyError):
        scene.publish()
    assert f"up to entry {index} of term {term}" in scene.unknown[0]
    assert len(scene.bucket.objects) == 1


def test_what_was_published_in_earlier_terms_and_by_this_process_is_known(scene):
    for published in ((5, 1), (7, 2)):
        scene.bucket.objects[published_key(CLUSTER_ID, SnapshotId(*published))] = b""
    for index, term in ((8, 3), (9, 3), (12, 5)):
        scene.image = MetadataImage(cluster_id=CLUSTER_ID, index=index, term=term)
        scene.publish()
    assert scene.publisher.statistics.index == 12
    assert scene.unknown == []
