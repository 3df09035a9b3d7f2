"""What the stream engine may rely on of its control plane: the adapter on a real controller, and on the one in memory.

The second is what all other tests of the storage stand on, so whatever one of these tests says is true of both.
"""

import asyncio

import pytest

from headrace.broker.adapters.stream_batches import MAX_STREAMS
from headrace.metadata.follower.client import NewTopic
from headrace.metadata.records.topics import PartitionChangeRecord
from headrace.metadata.rpc.requests import (
    CloseStreamBatch,
    CommitStreamSetObject,
    CompactStreamObject,
    ForgetObjects,
    OpenStreamBatch,
    PrepareObjects,
    TrimStream,
)
from headrace.storage.errors import (
    CommitRefusedError,
    FencedError,
    ObjectNotPreparedError,
    RetriableStorageError,
)
from headrace.storage.ports import (
    ObjectRange,
    ObjectType,
    StreamMetadata,
    StreamObject,
    StreamSetCommit,
)
from tests.contracts.control_planes import MemoryController, RealController, until_answered
from tests.unit.broker.adapters.test_storage_metadata import (
    RETENTION_MS,
    adapter_of,
    open_topic,
    piece,
    seen_for_long,
    upload,
)
from tests.unit.metadata.running_cluster import scenario


@pytest.fixture(params=["a real controller", "in memory"])
def place(request, tmp_path):
    if request.param == "in memory":
        return MemoryController()
    return RealController(tmp_path / "metadata")


@scenario
async def test_a_start_opens_the_streams_of_many_partitions_by_few_entries(place):
    async with place.controller(), place.client() as client:
        (result,) = await client.create_topics([NewTopic("topic", MAX_STREAMS + 8)])
        adapter = adapter_of(client)
        ids = [it.data_stream_id for it in result.topic.partitions]
        before = client.image.index
        opened = await asyncio.gather(*(adapter.open_stream(it, 0) for it in ids))
        assert [it.stream_id for it in opened] == ids
        assert all(client.image.streams[it].opened for it in ids)
        assert client.image.index - before == 2


@scenario
async def test_life_of_a_stream(place):
    async with place.controller(), place.client() as client:
        adapter, data, meta = await open_topic(client)
        assert adapter.is_lease_valid()
        assert sorted(await adapter.get_opening_streams()) == [
            StreamMetadata(data, 0, 0, 0),
            StreamMetadata(meta, 0, 0, 0),
        ]

        await upload(adapter, piece(data, 0, 10), stream_objects=[piece(data, 10, 30)])
        await adapter.trim_stream(data, 0, 5)
        assert await adapter.open_stream(data, 0) == StreamMetadata(data, 0, 5, 30)
        await adapter.close_stream(data, 0, 30)
        await adapter.close_stream(data, 0, 30)

        assert await adapter.get_opening_streams() == [StreamMetadata(meta, 0, 0, 0)]
        with pytest.raises(FencedError, match="epoch 0 has ended"):
            await adapter.open_stream(data, 0)


@scenario
async def test_where_the_parts_of_a_stream_lie(place):
    async with place.controller(), place.client() as client:
        adapter, data, _ = await open_topic(client)
        first = await upload(adapter, piece(data, 0, 10))
        second = await upload(adapter, stream_objects=[piece(data, 10, 30)])
        split = second.stream_objects[0].object_id
        in_set = ObjectRange(first.object_id, ObjectType.STREAM_SET, 100, 0, 10)
        alone = ObjectRange(split, ObjectType.STREAM, 50, 10, 30)

        assert adapter.get_objects(data, 0, 30, 9) == [in_set, alone]
        assert adapter.get_objects(data, 3, 10, 9) == [in_set]
        assert adapter.get_objects(data, 0, 30, 1) == [in_set]
        assert adapter.get_objects(data, 30, 40, 9) == []
        assert adapter.get_stream_objects(data) == [alone]
        assert adapter.get_stream_objects(999) == []


@scenario
async def test_repeating_a_commit_succeeds(place):
    async with place.controller(), place.client() as client:
        adapter, data, _ = await open_topic(client)
        commit = await upload(adapter, piece(data, 0, 10), stream_objects=[piece(data, 10, 20)])
        index = client.image.index

        await adapter.commit_stream_set_object(commit)

        assert client.image.index == index


@scenario
async def test_compaction_sees_what_is_live_and_swaps_it(place):
    async with place.controller(), place.client() as client:
        adapter, data, meta = await open_topic(client)
        first = await upload(adapter, piece(data, 0, 10), piece(meta, 0, 4))
        second = await upload(adapter, piece(data, 10, 20), piece(meta, 4, 8))
        await adapter.trim_stream(data, 0, 10)
        sources = adapter.get_stream_set_objects()
        assert sources == [
            (first.object_id, 100, [piece(meta, 0, 4)]),
            (second.object_id, 100, [piece(data, 10, 20), piece(meta, 4, 8)]),
        ]

        merged = await upload(
            adapter,
            piece(data, 10, 20),
            stream_objects=[piece(meta, 0, 8)],
            compacted=[object_id for object_id, _, _ in sources],
        )

        assert [it[0] for it in adapter.get_stream_set_objects()] == [merged.object_id]
        assert adapter.get_stream_objects(meta)[0].end_offset == 8


@scenario
async def test_compaction_sees_no_offsets_below_the_start_of_a_stream(place):
    async with place.controller(), place.client() as client:
        adapter, data, meta = await open_topic(client)
        shared = await upload(adapter, piece(data, 0, 10), piece(meta, 0, 4))
        alone = await upload(adapter, stream_objects=[piece(data, 10, 30)])
        await adapter.trim_stream(data, 0, 7)
        ranges = [piece(data, 7, 10), piece(meta, 0, 4)]
        assert adapter.get_stream_set_objects() == [(shared.object_id, 100, ranges)]
        rewritten = await upload(adapter, *ranges, compacted=[shared.object_id])
        assert adapter.get_stream_set_objects() == [(rewritten.object_id, 100, ranges)]

        await adapter.trim_stream(data, 0, 15)
        (source,) = adapter.get_stream_objects(data)
        assert (source.start_offset, source.end_offset) == (15, 30)
        merged = StreamObject(await adapter.prepare_objects(1, 60_000), 90, piece(data, 15, 30))
        await adapter.compact_stream_object(merged, [alone.stream_objects[0].object_id])
        assert [it.object_id for it in adapter.get_stream_objects(data)] == [merged.object_id]


@scenario
async def test_merging_stream_objects(place):
    async with place.controller(), place.client() as client:
        adapter, data, _ = await open_topic(client)
        sources = []
        for start in (0, 10):
            commit = await upload(adapter, stream_objects=[piece(data, start, start + 10)])
            sources.append(commit.stream_objects[0].object_id)
        merged = StreamObject(await adapter.prepare_objects(1, 60_000), 90, piece(data, 0, 20))

        await adapter.compact_stream_object(merged, sources)
        await adapter.compact_stream_object(merged, sources)

        assert [it.object_id for it in adapter.get_stream_objects(data)] == [merged.object_id]
        assert adapter.is_committed(merged.object_id)
        destroyed = await (await seen_for_long(client)).get_objects_to_delete(1 << 60)
        assert destroyed
        assert not any(adapter.is_committed(it) for it in (*destroyed, 10**6))


@scenario
async def test_a_wall_clock_that_is_set_forward_deletes_nothing_sooner(place):
    async with place.controller(), place.client() as client:
        opening, data, _ = await open_topic(client)
        times = [500]
        adapter = adapter_of(client, lambda: times[-1])
        commit = await upload(opening, piece(data, 0, 10))
        assert await adapter.get_objects_to_delete(0) == []
        await opening.trim_stream(data, 0, 10)
        times.append(1_000)
        far_ms = place.wall.now_ms + 10 * RETENTION_MS
        assert await adapter.get_objects_to_delete(far_ms) == []
        times.append(1_000 + RETENTION_MS - 1)
        assert await adapter.get_objects_to_delete(far_ms) == []
        times.append(1_000 + RETENTION_MS)
        assert await adapter.get_objects_to_delete(far_ms) == [commit.object_id]


@scenario
async def test_expired_objects_are_deleted_after_they_were_marked(place):
    async with place.controller(), place.client() as client:
        adapter = adapter_of(client)
        object_id = await adapter.prepare_objects(1, 1_000)
        far_ms = place.wall.now_ms + 10 * RETENTION_MS
        assert await adapter.get_objects_to_delete(far_ms) == [], "it might still be committed"
        place.wall.now_ms += 1_000
        await place.mark_expired()
        await client._wait_until(lambda image: image.index == place.image().index)

        assert await (await seen_for_long(client)).get_objects_to_delete(far_ms) == [object_id]


@scenario
async def test_a_restarted_broker_recovers_and_then_opens(place):
    """What the WAL holds is committed under the old stream epoch, by the new node epoch."""
    async with place.controller():
        async with place.client() as client:
            adapter, data, meta = await open_topic(client)
            await upload(adapter, piece(data, 0, 10))
            zombie = adapter
        async with place.client(serve=False) as client:
            adapter = adapter_of(client)
            assert sorted(await adapter.get_opening_streams()) == [
                StreamMetadata(data, 0, 0, 10),
                StreamMetadata(meta, 0, 0, 0),
            ]
            await upload(adapter, piece(data, 10, 15, epoch=0))
            await client.serve()
            epoch = client.image.topic("topic").partitions[0].leader_epoch
            assert epoch == 1
            assert await adapter.open_stream(data, epoch) == StreamMetadata(data, 1, 0, 15)
            with pytest.raises(FencedError):
                await upload(adapter, piece(data, 15, 20, epoch=0))
            with pytest.raises(FencedError):
                await zombie.prepare_objects(1, 1_000)
            assert not zombie.is_lease_valid()


@scenario
async def test_what_cannot_be_committed(place):
    async with place.controller(), place.client() as client:
        adapter, data, _ = await open_topic(client)
        with pytest.raises(CommitRefusedError) as refused:
            await upload(adapter, piece(data, 1, 2))
        assert not isinstance(refused.value, ObjectNotPreparedError)
        with pytest.raises(CommitRefusedError):
            await adapter.close_stream(data, 0, 9)

        expired = await adapter.prepare_objects(1, 1_000)
        place.wall.now_ms += 1_000
        await place.mark_expired()
        commit = StreamSetCommit(expired, 1, [piece(data, 0, 1)], [])
        with pytest.raises(ObjectNotPreparedError):
            await adapter.commit_stream_set_object(commit)


@scenario
async def test_a_deleted_stream_has_no_owner(place):
    async with place.controller(), place.client() as client:
        adapter, data, _ = await open_topic(client)
        await client.delete_topics([client.image.topic("topic").topic_id])

        with pytest.raises(FencedError):
            await adapter.open_stream(data, 0)
        with pytest.raises(FencedError):
            await adapter.trim_stream(data, 0, 0)
        await adapter.close_stream(data, 0, 0)


@scenario
async def test_what_is_known_of_some_objects(place):
    async with place.controller(), place.client() as client:
        adapter, data, _ = await open_topic(client)
        prepared = await adapter.prepare_objects(2, 60_000)
        commit = await upload(adapter, piece(data, 0, 10))

        known = adapter.known_bucket([prepared, commit.object_id, 77])

        assert known.cluster_id == place.image().cluster_id
        assert known.next_object_id == commit.object_id + 1
        assert {it.object_id: (it.state.value, it.size_bytes) for it in known.objects.values()} == {
            prepared: ("prepared", 0),
            commit.object_id: ("committed", 100),
        }


@scenario
async def test_each_stream_that_is_closed_has_an_outcome_of_its_own_and_all_go_with_one_entry(
    place,
):
    async with place.controller(), place.client() as client:
        (result,) = await client.create_topics([NewTopic("topic", 3)])
        first, second, third = (it.data_stream_id for it in result.topic.partitions)
        adapter = adapter_of(client)
        for stream_id in (first, second):
            await adapter.open_stream(stream_id, 0)
        await upload(adapter, piece(second, 0, 10))
        before = client.image.index

        outcomes = await asyncio.gather(
            adapter.close_stream(first, 0, 0),
            adapter.close_stream(second, 0, 7),
            adapter.close_stream(third, 0, 0),
            adapter.close_stream(2 * 10**6, 0, 0),
            return_exceptions=True,
        )

        assert client.image.index == before + 1
        assert [type(it) for it in outcomes] == [
            type(None),
            CommitRefusedError,  # not committed to its end
            RetriableStorageError,  # never opened at this epoch
            FencedError,  # there is none
        ]
        opened = [client.image.streams[it].opened for it in (first, second, third)]
        assert opened == [False, True, False]


@scenario
async def test_each_stream_that_is_opened_has_an_outcome_of_its_own(place):
    async with place.controller(), place.client() as client, place.client(2):
        (result,) = await client.create_topics(
            [NewTopic("topic", assignments={0: [1], 1: [2], 2: [1]})]
        )
        mine, others, early = (it.data_stream_id for it in result.topic.partitions)
        adapter = adapter_of(client)
        outcomes = await asyncio.gather(
            adapter.open_stream(mine, 0),
            adapter.open_stream(others, 0),
            adapter.open_stream(early, 7),
            return_exceptions=True,
        )
        assert outcomes[0] == StreamMetadata(mine, 0, 0, 0)
        assert [type(it) for it in outcomes[1:]] == [FencedError, RetriableStorageError]


@scenario
async def test_a_stream_is_open_at_one_broker_until_that_one_has_closed_it(place):
    async with place.controller(), place.client() as client, place.client(2) as other:
        (result,) = await client.create_topics([NewTopic("topic", assignments={0: [1]})])
        (partition,) = result.topic.partitions
        data = partition.data_stream_id
        old, new = adapter_of(client), adapter_of(other)
        await old.open_stream(data, 0)
        await upload(old, piece(data, 0, 10))
        await place.write(PartitionChangeRecord(result.topic.topic_id, 0, 2, 1))

        with pytest.raises(RetriableStorageError):
            await new.open_stream(data, 1)
        with pytest.raises(FencedError):
            await old.open_stream(data, 0)
        await upload(old, piece(data, 10, 20))
        await old.close_stream(data, 0, 20)
        assert await new.open_stream(data, 1) == StreamMetadata(data, 1, 0, 20)
        with pytest.raises(FencedError):
            await upload(old, piece(data, 20, 30))
        with pytest.raises(FencedError):
            await old.close_stream(data, 0, 20)


@scenario
async def test_what_is_repeated_because_its_answer_was_lost_takes_effect_once(place):
    async with place.controller(), place.client() as client:
        adapter, data, _ = await open_topic(client)
        (result,) = await client.create_topics([NewTopic("unopened")])
        meta = result.topic.partitions[0].meta_stream_id

        async def with_lost_answer(kind, call, entries=1):
            before = client.image.index
            place.lose_answer(kind)
            result = await until_answered(call)
            assert client.image.index == before + entries
            return result

        await with_lost_answer(OpenStreamBatch, lambda: adapter.open_stream(meta, 0))
        # Ids are never reused: those of the lost answer expire.
        first = await with_lost_answer(
            PrepareObjects, lambda: adapter.prepare_objects(2, 60_000), entries=2
        )
        commit = StreamSetCommit(first, 100, [piece(data, 0, 10)], [], [])
        await with_lost_answer(
            CommitStreamSetObject, lambda: adapter.commit_stream_set_object(commit)
        )
        single = await upload(adapter, stream_objects=[piece(meta, 0, 5)])
        merged = StreamObject(first + 1, 50, piece(meta, 0, 5))
        sources = [it.object_id for it in single.stream_objects]
        await with_lost_answer(
            CompactStreamObject, lambda: adapter.compact_stream_object(merged, sources)
        )
        await with_lost_answer(ForgetObjects, lambda: adapter.forget_objects(sources))
        await with_lost_answer(TrimStream, lambda: adapter.trim_stream(data, 0, 5))
        await with_lost_answer(CloseStreamBatch, lambda: adapter.close_stream(data, 0, 10))
        assert client.image.streams[data].start_offset == 5


@scenario
async def test_nothing_of_a_process_counts_once_a_newer_one_has_registered(place):
    async with place.controller(), place.client() as client:
        adapter, data, _ = await open_topic(client)
        prepared = await adapter.prepare_objects(2, 60_000)
        async with place.client(serve=False):
            before = place.image()
            commit = StreamSetCommit(prepared, 1, [piece(data, 0, 1)], [], [])
            for call in (
                lambda: adapter.open_stream(data, 0),
                lambda: adapter.close_stream(data, 0, 0),
                lambda: adapter.trim_stream(data, 0, 0),
                lambda: adapter.prepare_objects(1, 60_000),
                lambda: adapter.commit_stream_set_object(commit),
                lambda: adapter.forget_objects([prepared]),
            ):
                with pytest.raises(FencedError):
                    await call()
            assert not adapter.is_lease_valid()
            assert place.image() is before


@scenario
async def test_objects_are_deleted_after_their_retention_and_forgotten(place):
    async with place.controller(), place.client() as client:
        adapter, data, _ = await open_topic(client)
        commit = await upload(adapter, piece(data, 0, 10))
        await adapter.trim_stream(data, 0, 10)
        destroyed_ms = place.wall.now_ms
        adapter = await seen_for_long(client)

        assert await adapter.get_objects_to_delete(destroyed_ms + RETENTION_MS - 1) == []
        assert await adapter.get_objects_to_delete(destroyed_ms + RETENTION_MS) == [
            commit.object_id
        ]
        await adapter.forget_objects([commit.object_id])
        assert await adapter.get_objects_to_delete(destroyed_ms + RETENTION_MS) == []
        assert not adapter.is_committed(commit.object_id)
