import asyncio

import pytest

from headrace.broker.adapters.deletable_objects import MIN_LISTING_MS
from headrace.broker.adapters.destroyed_objects import FIRST_SNAPSHOT_MS
from headrace.broker.adapters.storage_metadata import StorageMetadata
from headrace.metadata.errors import ControllerUnavailableError, NodeFencedError, RefusedError
from headrace.metadata.follower.client import NewTopic
from headrace.metadata.image import MetadataImage
from headrace.metadata.published import NO_SNAPSHOT
from headrace.metadata.rpc.requests import OpenStreamBatch
from headrace.metadata.rpc.responses import StreamOutcome, StreamsOpened
from headrace.protocol.errors import ErrorCode
from headrace.storage.errors import (
    CommitRefusedError,
    FencedError,
    ObjectStoreError,
    RetriableStorageError,
)
from headrace.storage.ports import (
    NO_OBJECT_ID,
    Lease,
    ObjectManager,
    StreamManager,
    StreamObject,
    StreamRange,
    StreamSetCommit,
)
from tests.unit.metadata.running_cluster import Cluster, scenario

RETENTION_MS = 600_000


@pytest.fixture
def cluster(tmp_path):
    return Cluster(tmp_path / "metadata")


def adapter_of(client, boot_clock_ms=lambda: 0, newest_snapshot=None, *, retention_ms=RETENTION_MS):
    return StorageMetadata(
        client,
        object_delete_retention_ms=retention_ms,
        boot_clock_ms=boot_clock_ms,
        newest_snapshot=newest_snapshot,
    )


async def seen_for_long(client):
    """An adapter that has seen for long enough what is destroyed now."""
    times = [0]
    adapter = adapter_of(client, lambda: times[-1])
    await adapter.get_objects_to_delete(0)
    times.append(RETENTION_MS)
    return adapter


async def open_topic(client, name="topic"):
    """Create a topic and open both its streams; return the adapter and their ids."""
    (result,) = await client.create_topics([NewTopic(name, 1)])
    partition = result.topic.partitions[0]
    adapter = adapter_of(client)
    for stream_id in (partition.data_stream_id, partition.meta_stream_id):
        await adapter.open_stream(stream_id, partition.leader_epoch)
    return adapter, partition.data_stream_id, partition.meta_stream_id


def piece(stream_id, start, end, epoch=0):
    return StreamRange(stream_id, epoch, start, end)


async def upload(adapter, *ranges, stream_objects=(), compacted=()):
    """Commit ranges as a Stream Set Object and others as Stream Objects; return the commit."""
    object_id = await adapter.prepare_objects(1, 60_000) if ranges else NO_OBJECT_ID
    objects = [
        StreamObject(await adapter.prepare_objects(1, 60_000), 50, it) for it in stream_objects
    ]
    commit = StreamSetCommit(object_id, 100, list(ranges), objects, list(compacted))
    await adapter.commit_stream_set_object(commit)
    return commit


@scenario
async def test_it_is_what_the_engine_asks_for(cluster):
    adapter = adapter_of(cluster.new_client())
    streams: StreamManager = adapter
    objects: ObjectManager = adapter
    lease: Lease = adapter

    assert not lease.is_lease_valid()
    assert await streams.get_opening_streams() == []
    assert objects.get_objects(1, 0, 1, 1) == []


@scenario
async def test_objects_are_deleted_when_their_retention_has_passed(cluster):
    async with cluster.controller(), cluster.client() as client:
        adapter, data, _ = await open_topic(client)
        commit = await upload(adapter, piece(data, 0, 10))
        await adapter.trim_stream(data, 0, 10)
        destroyed_ms = cluster.wall.now_ms
        adapter = await seen_for_long(client)

        assert await adapter.get_objects_to_delete(destroyed_ms + RETENTION_MS - 1) == []
        assert await adapter.get_objects_to_delete(destroyed_ms + RETENTION_MS) == [
            commit.object_id
        ]
        cluster.boot.now_ms += 9_000
        assert await adapter.get_objects_to_delete(destroyed_ms + RETENTION_MS) == [], "no lease"
        assert await client._session.heartbeat(client.image.index)
        await adapter.forget_objects([commit.object_id])
        assert await adapter.get_objects_to_delete(destroyed_ms + RETENTION_MS) == []


class Snapshots:
    """What a bucket tells of its newest snapshot; it can refuse to."""

    def __init__(self, newest=NO_SNAPSHOT):
        self.newest = newest
        self.listings = 0
        self.fails = False

    async def __call__(self):
        self.listings += 1
        if self.fails:
            raise ObjectStoreError("injected")
        return self.newest


class Waiting:
    """Objects whose retention has passed, and what their deletion waits for."""

    RETENTION_MS = 1_000

    def __init__(self, client, opening, data):
        self.client, self.opening, self.data = client, opening, data
        self.snapshots = Snapshots()
        self.now_ms = 500
        self.adapter = adapter_of(
            client, lambda: self.now_ms, self.snapshots, retention_ms=self.RETENTION_MS
        )
        self.end = 0

    async def destroyed(self):
        """Make one more, which this node sees at once, and let its retention pass."""
        commit = await upload(self.opening, piece(self.data, self.end, self.end + 10))
        self.end += 10
        await self.opening.trim_stream(self.data, 0, self.end)
        await self.found()
        self.now_ms += self.RETENTION_MS
        return commit.object_id

    async def found(self):
        self.now_ms += MIN_LISTING_MS
        return await self.adapter.get_objects_to_delete(1 << 60)


@scenario
async def test_an_object_stays_until_the_newest_snapshot_has_its_destruction(cluster):
    async with cluster.controller() as node, cluster.client() as client:
        waiting = Waiting(client, *(await open_topic(client))[:2])
        waiting.snapshots.newest = client.image.index
        object_id = await waiting.destroyed()
        destroyed_at = client.image.index
        assert await waiting.found() == []
        assert waiting.adapter.deletable.awaiting_snapshot == 1
        await client._session.heartbeat(client.image.index)
        assert node.awaited_snapshot == destroyed_at

        waiting.snapshots.newest = destroyed_at - 1
        assert await waiting.found() == []
        waiting.snapshots.newest = destroyed_at
        assert await waiting.found() == [object_id]
        assert waiting.adapter.deletable.awaiting_snapshot == 0
        await client._session.heartbeat(client.image.index)
        assert node.awaited_snapshot == NO_SNAPSHOT


@scenario
async def test_a_snapshot_of_metadata_that_are_not_ours_proves_nothing(cluster):
    async with cluster.controller(), cluster.client() as client:
        waiting = Waiting(client, *(await open_topic(client))[:2])
        await waiting.destroyed()
        waiting.snapshots.newest = client.image.index + 1
        assert await waiting.found() == []


@scenario
async def test_the_bucket_is_asked_once_for_all_that_is_destroyed_and_no_more_often_than_the_bound(
    cluster,
):
    async with cluster.controller(), cluster.client() as client:
        waiting = Waiting(client, *(await open_topic(client))[:2])
        ids = [await waiting.destroyed(), await waiting.destroyed()]
        asked = waiting.snapshots.listings
        waiting.snapshots.newest = 0
        await waiting.found()
        waiting.now_ms += MIN_LISTING_MS - 1
        await waiting.adapter.get_objects_to_delete(1 << 60)
        assert waiting.snapshots.listings == asked + 1
        waiting.snapshots.newest = client.image.index
        for _ in range(5):
            assert await waiting.found() == ids
        assert waiting.snapshots.listings == asked + 2


@scenario
async def test_without_any_snapshot_an_object_waits_for_one_that_may_be_on_its_way(cluster):
    async with cluster.controller(), cluster.client() as client:
        waiting = Waiting(client, *(await open_topic(client))[:2])
        object_id = await waiting.destroyed()
        waiting.now_ms += FIRST_SNAPSHOT_MS - waiting.RETENTION_MS - MIN_LISTING_MS - 1
        assert await waiting.found() == []
        waiting.now_ms += 1
        assert await waiting.found() == [object_id]
        waiting.snapshots.newest = 0  # the first one has come, and is of before
        assert await waiting.found() == []


@scenario
async def test_a_bucket_that_does_not_tell_its_snapshots_holds_the_deletion_up(cluster):
    async with cluster.controller(), cluster.client() as client:
        waiting = Waiting(client, *(await open_topic(client))[:2])
        object_id = await waiting.destroyed()
        waiting.snapshots.newest = client.image.index
        waiting.snapshots.fails = True
        with pytest.raises(ObjectStoreError):
            await waiting.found()
        waiting.snapshots.fails = False
        assert await waiting.adapter.get_objects_to_delete(1 << 60) == [object_id]


@scenario
async def test_the_objects_of_a_node_that_is_gone_are_deleted_by_the_first(cluster):
    async with (
        cluster.controller() as node,
        cluster.client(1) as first,
        cluster.client(2) as second,
        cluster.client(3) as third,
    ):
        ids = [
            await adapter_of(client).prepare_objects(1, 1_000) for client in (first, second, third)
        ]
        cluster.wall.now_ms += 1_000
        await node.check_deadlines()
        await third.shutdown()
        for client in (first, second):
            await client._wait_until(lambda image: image.brokers[3].fenced)
        far_ms = cluster.wall.now_ms + RETENTION_MS

        assert await (await seen_for_long(first)).get_objects_to_delete(far_ms) == [ids[0], ids[2]]
        assert await (await seen_for_long(second)).get_objects_to_delete(far_ms) == [ids[1]]


class FailingClient:
    """Fails every change in one way."""

    node_id, node_epoch = 1, 2
    image = MetadataImage()

    def __init__(self, failure):
        self._failure = failure

    def is_lease_valid(self):
        return True

    async def change(self, request, answered):
        if isinstance(request, OpenStreamBatch) and isinstance(self._failure, RefusedError):
            outcome = StreamOutcome(self._failure.code, self._failure.message)
            return StreamsOpened((outcome,) * len(request.streams))
        raise self._failure


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (NodeFencedError("over"), FencedError),
        (RefusedError(ErrorCode.STALE_BROKER_EPOCH, "over"), FencedError),
        (RefusedError(ErrorCode.FENCED_LEADER_EPOCH, "over"), FencedError),
        (RefusedError(ErrorCode.RESOURCE_NOT_FOUND, "gone"), FencedError),
        (RefusedError(ErrorCode.REASSIGNMENT_IN_PROGRESS, "open"), RetriableStorageError),
        (RefusedError(ErrorCode.UNKNOWN_LEADER_EPOCH, "early"), RetriableStorageError),
        (ControllerUnavailableError("away"), RetriableStorageError),
        (RefusedError(ErrorCode.INVALID_REQUEST, "no"), CommitRefusedError),
    ],
)
def test_what_the_engine_should_do_about_a_failure(failure, expected):
    adapter = adapter_of(FailingClient(failure))

    for call in (adapter.open_stream, lambda *args: adapter.trim_stream(*args, 1)):
        with pytest.raises(expected) as error:
            asyncio.run(call(1, 1))

        assert type(error.value) is expected


def test_a_commit_that_names_what_is_gone_is_refused_not_fenced():
    adapter = adapter_of(FailingClient(RefusedError(ErrorCode.RESOURCE_NOT_FOUND, "gone")))
    commit = StreamSetCommit(1, 1, [], [], [2])

    with pytest.raises(CommitRefusedError):
        asyncio.run(adapter.commit_stream_set_object(commit))


@scenario
async def test_stream_set_objects_of_a_node_that_is_gone_are_adopted_by_the_first(cluster):
    async with (
        cluster.controller() as node,
        cluster.client(3) as third,
    ):
        adapter, data, meta = await open_topic(third)
        old = await upload(adapter, piece(data, 0, 10), piece(meta, 0, 1))
        async with cluster.client(1) as first, cluster.client(2) as second:
            first_adapter, second_adapter = adapter_of(first), adapter_of(second)
            assert first_adapter.get_stream_set_objects() == []
            assert first_adapter.get_adopted_streams() == []
            await third.shutdown()
            for client in (first, second):
                await client._wait_until(lambda image: image.brokers[3].fenced)

            (adopted,) = first_adapter.get_stream_set_objects()
            ranges = [piece(data, 0, 10), piece(meta, 0, 1)]
            assert adopted == (old.object_id, 100, sorted(ranges, key=lambda it: it.stream_id))
            assert second_adapter.get_stream_set_objects() == []
            assert (first_adapter.is_sweeper(), second_adapter.is_sweeper()) == (True, False)
            cluster.boot.now_ms += 8_000
            assert not first_adapter.is_sweeper(), (
                "its lease is over, and what it knows may be, too"
            )
            assert await first._session.heartbeat(first.image.index)
            assert first_adapter.is_sweeper()

            streams = [(data, 0), (meta, 0)]
            assert sorted(first_adapter.get_adopted_streams()) == streams
            assert second_adapter.get_adopted_streams() == []
            new = await upload(first_adapter, *adopted[2], compacted=[old.object_id])
            assert [it[0] for it in first_adapter.get_stream_set_objects()] == [new.object_id]
            assert node.image.objects.by_id[new.object_id].node_id == 1
