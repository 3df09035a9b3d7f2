"""The order of uploads, commits and trims, and what starts an upload."""

import asyncio

import pytest

from headrace.metadata.rpc.requests import CommitStreamSetObject
from headrace.storage.errors import CommitRefusedError, EngineFailedError, FencedError
from headrace.storage.objects.keys import object_key
from tests.simulation.virtual_time import run
from tests.unit.storage.fakes import CLUSTER_ID, SMALL, FakeBlocks, Node, require_dense, settle

BLOCK_BYTES = SMALL.upload_threshold_bytes


def key(object_id: int) -> str:
    return object_key(CLUSTER_ID, object_id)


async def fill_block(node: Node, stream) -> None:
    """Append until a block is archived."""
    before = node.engine._pipeline._archived_wal_end
    while node.engine._pipeline._archived_wal_end == before:
        node.append(stream, 50_000)
        await settle()


def test_a_full_block_is_uploaded_committed_and_trimmed_in_this_order():
    async def scenario():
        node = await Node().start()
        stream = await node.open(1)
        await fill_block(node, stream)
        await settle()
        kinds = [event[0] for event in node.journal.of("put", "commit", "trim")]
        assert kinds == ["put", "commit", "trim"]
        assert stream.committed_offset == stream.confirm_offset
        assert node.engine.stats().unuploaded_bytes == 0
        require_dense(node.objects_of(1), 0, stream.committed_offset)

    run(scenario())


def test_blocks_are_uploaded_side_by_side_but_committed_in_order():
    """Uploads finish in reverse order."""

    async def scenario():
        node = await Node().start()
        stream, other = await node.open(1), await node.open(2)
        node.store.hold()
        ends = []
        for _ in range(2):
            node.append(other, 10)
            await fill_block(node, stream)
            ends.append(stream.confirm_offset)
        assert node.store.puts_inflight == 4
        node.store.release(key(3))
        node.store.release(key(2))
        await settle()
        assert node.journal.of("put") == [("put", key(3)), ("put", key(2))]
        assert node.journal.of("commit", "trim") == []
        node.store.release_all()
        await settle()
        commits = [
            {stream_id: (start, end) for stream_id, start, end in event[1]}
            for event in node.journal.of("commit")
        ]
        assert commits == [
            {1: (0, ends[0]), 2: (0, 1)},
            {1: (ends[0], ends[1]), 2: (1, 2)},
        ]
        kinds = [event[0] for event in node.journal.of("commit", "trim")]
        assert kinds == ["commit", "trim", "commit", "trim"]

    run(scenario())


def test_nothing_is_trimmed_before_the_commit_is_answered():
    async def scenario():
        node = await Node().start()
        stream = await node.open(1)
        gate = node.control.faults[CommitStreamSetObject].gate = asyncio.Event()
        await fill_block(node, stream)
        await asyncio.sleep(100)
        assert len(node.journal.of("put")) == 1
        assert node.journal.of("trim") == []
        assert node.engine.stats().unuploaded_bytes > BLOCK_BYTES // 2
        gate.set()
        await settle()
        assert len(node.journal.of("trim")) == 1

    run(scenario())


def test_trim_is_the_end_of_the_block_not_of_what_came_later():
    async def scenario():
        node = await Node().start()
        stream = await node.open(1)
        node.store.hold()
        await fill_block(node, stream)
        end = node.wal.records[-1].end_offset
        node.append(stream, 100)
        await settle()
        node.store.release_all()
        await settle()
        assert node.wal.trim_offset == end - 1
        assert [record.offset for record in node.wal.after_crash()] == [end]

    run(scenario())


def test_each_commit_tells_the_wal_offset_below_which_everything_is_uploaded():
    """It is the end of its own block, whatever else is uploaded already: the commits are in order."""

    async def scenario():
        node = await Node().start()
        stream, other = await node.open(1), await node.open(2)
        node.store.hold()
        ends = []
        for _ in range(3):
            node.append(other, 10)
            await fill_block(node, stream)
            ends.append(node.wal.records[-1].end_offset)
        node.store.release_all()
        await settle()
        told = [it.wal_end_offset for it in node.control.commits]
        assert told == ends
        assert [offset for _, offset in node.journal.of("trim")] == [end - 1 for end in ends]

    run(scenario())


def test_force_uploads_what_is_acknowledged_and_waits_for_it():
    async def scenario():
        node = await Node().start()
        stream = await node.open(1)
        await node.append_all(stream, [100] * 3)
        await node.engine.force_upload()
        require_dense(node.objects_of(1), 0, 3)
        assert node.engine.stats().uploaded_blocks_total == 1
        await node.engine.force_upload()
        assert node.engine.stats().uploaded_blocks_total == 1, "nothing new"

    run(scenario())


def test_a_confirmation_that_reaches_into_padding_is_waited_for_only_up_to_the_record():
    async def scenario():
        node = await Node(auto_confirm=False).start()
        stream = await node.open(1)
        node.append(stream, 100)
        node.wal.confirm(node.wal.next_offset + 4096)
        await node.engine.force_upload()
        require_dense(node.objects_of(1), 0, 1)

    run(scenario())


def test_waiters_gather_behind_an_upload_that_others_wait_for():
    """A thousand streams that close together make a few objects, not a thousand."""

    async def scenario():
        node = await Node().start()
        streams = [await node.open(stream_id) for stream_id in range(200)]
        for stream in streams:
            node.append(stream, 100)
        await settle()
        closing = [asyncio.create_task(streams[0].close())]
        await settle()
        node.store.hold()
        for stream in streams[1:]:
            node.append(stream, 100)
            await settle()
            closing.append(asyncio.create_task(stream.close()))
            await settle()
        node.store.release_all()
        await asyncio.gather(*closing)
        assert node.engine.stats().uploaded_blocks_total <= 3
        assert len(node.journal.of("close")) == 200

    run(scenario())


def test_old_blocks_are_uploaded_without_being_asked():
    async def scenario():
        node = await Node().start()
        stream = await node.open(1)
        running = asyncio.create_task(node.engine.run())
        await asyncio.sleep(90)
        await node.append_all(stream, [100])
        loop = asyncio.get_running_loop()
        begin = loop.time()
        while not node.journal.of("commit"):
            await asyncio.sleep(1)
        waited_ms = (loop.time() - begin) * 1000
        assert SMALL.upload_interval_ms <= waited_ms <= SMALL.upload_interval_ms + 2000
        await asyncio.sleep(1000)
        assert len(node.journal.of("commit")) == 1, "nothing to upload, nothing uploaded"
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    run(scenario())


def test_small_old_blocks_do_not_pile_up_while_the_bucket_is_down():
    async def scenario():
        node = await Node().start()
        stream = await node.open(1)
        node.store.is_down = True
        running = asyncio.create_task(node.engine.run())
        for _ in range(60):
            await node.append_all(stream, [100])
            await asyncio.sleep(120)
        assert node.engine._pipeline.inflight == SMALL.upload_concurrency
        node.store.is_down = False
        await asyncio.sleep(200)
        require_dense(node.objects_of(1), 0, 60)
        assert len(node.journal.of("commit")) == SMALL.upload_concurrency + 1
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    run(scenario())


def test_a_wal_that_fills_with_padding_is_uploaded_before_it_is_full():
    async def scenario():
        node = await Node(wal_capacity_bytes=60_000).start()
        stream = await node.open(1)
        for _ in range(100):
            assert node.engine.admits(1000)
            node.append(stream, 1000)
            await settle()
        assert len(node.journal.of("trim")) >= 4

    run(scenario())


def test_waiting_for_what_is_committed_does_not_wait():
    async def scenario():
        node = await Node().start()
        stream = await node.open(1)
        await node.append_all(stream, [100])
        await node.engine.force_upload()
        await node.engine._pipeline.shutdown()
        await node.engine.force_upload()
        await node.append_all(stream, [100])
        with pytest.raises(EngineFailedError):
            await node.engine.force_upload()

    run(scenario())


@pytest.mark.parametrize("error", [CommitRefusedError("elsewhere"), FencedError("replaced")])
def test_a_refused_commit_fails_the_engine_loudly(error):
    async def scenario():
        node = await Node().start()
        stream = await node.open(1)
        running = asyncio.create_task(node.engine.run())
        await node.append_all(stream, [100])
        node.wal.auto_confirm = False
        node.append(stream, 100)
        node.control.faults[CommitStreamSetObject].before = [error]
        with pytest.raises(type(error)):
            await node.engine.force_upload()
        with pytest.raises(ExceptionGroup) as failed:
            await running
        assert failed.group_contains(type(error))
        assert node.journal.of("trim") == []
        assert set(node.acks.failed) == {(1, 1)}
        with pytest.raises(type(error)):
            node.append(stream, 100)
        assert node.engine.stats().failed

    run(scenario())


def test_a_bug_in_an_upload_fails_the_engine_loudly():
    async def scenario():
        node = await Node().start()
        stream = await node.open(1)
        running = asyncio.create_task(node.engine.run())
        await node.append_all(stream, [100])
        node.store.put_faults = [KeyError("a bug")]
        with pytest.raises(EngineFailedError):
            await node.engine.force_upload()
        with pytest.raises(ExceptionGroup) as failed:
            await running
        assert failed.group_contains(EngineFailedError)
        assert isinstance(node.engine._failure.__cause__, KeyError)
        await node.engine.shutdown()

    run(scenario())


def test_a_failed_upload_stops_the_others_and_everybody_who_waits():
    async def scenario():
        node = await Node().start()
        stream = await node.open(1)
        node.store.hold()
        await fill_block(node, stream)
        await fill_block(node, stream)
        waiting = [asyncio.create_task(node.engine.force_upload()) for _ in range(3)]
        await settle()
        node.control.fence()
        node.store.release(key(0))
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert {type(result) for result in results} == {FencedError}
        await settle()
        assert node.store.puts_inflight == 0
        assert not node.engine._pipeline._tasks
        assert node.journal.of("commit", "trim") == []

    run(scenario())


def test_a_waiter_may_give_up():
    async def scenario():
        node = await Node().start()
        stream = await node.open(1)
        node.store.hold()
        await node.append_all(stream, [100])
        waiting = asyncio.create_task(node.engine.force_upload())
        await settle()
        waiting.cancel()
        await settle()
        node.store.release_all()
        await settle()
        require_dense(node.objects_of(1), 0, 1)

    run(scenario())


def test_shutdown_leaves_no_task_behind():
    async def scenario():
        node = await Node(shutdown_timeout_ms=1000).start()
        stream = await node.open(1)
        node.store.hold()
        await fill_block(node, stream)
        await node.engine.shutdown()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert isinstance(node.blocks, FakeBlocks)

    run(scenario())
