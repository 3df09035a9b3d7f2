"""Streams that are about to leave are uploaded by themselves, beside the blocks of all others."""

import asyncio
import random

import pytest

from headrace.metadata.rpc.requests import CommitStreamSetObject
from headrace.storage.errors import EngineFailedError, FencedError
from tests.simulation.virtual_time import run
from tests.unit.storage.fakes import Node, PassingError, require_dense, settle

LEAVES = (1, 2)  # data and meta of one partition
STAYS = 3


async def node_with_three(**options):
    node = await Node(**options).start()
    streams = {it: await node.open(it) for it in (*LEAVES, STAYS)}
    return node, streams


def commits(node):
    """The streams of each commit."""
    return [sorted(it[0] for it in event[1]) for event in node.journal.of("commit")]


def test_only_what_leaves_is_uploaded():
    async def scenario():
        node, streams = await node_with_three()
        for stream in streams.values():
            await node.append_all(stream, [100] * 3)
        node.engine.leaving.begin(LEAVES)

        await node.engine.leaving.upload(LEAVES)

        assert commits(node) == [[1, 2]]
        assert [streams[it].committed_offset for it in (1, 2, 3)] == [3, 3, 0]
        for stream_id in LEAVES:
            require_dense(node.objects_of(stream_id), 0, 3)
        assert node.journal.of("trim") == []
        require_dense(await streams[1].fetch(0, 1 << 20), 0, 3)

    run(scenario())


def test_nothing_is_uploaded_again_with_the_block():
    async def scenario():
        node, streams = await node_with_three()
        for stream in streams.values():
            await node.append_all(stream, [100] * 3)
        node.engine.leaving.begin(LEAVES)
        await node.engine.leaving.upload(LEAVES)
        await node.engine.force_upload()
        assert commits(node) == [[1, 2], [3]]
        assert node.wal.after_crash() == []

    run(scenario())


def test_a_block_of_which_all_has_left_is_trimmed_without_a_commit():
    async def scenario():
        node, streams = await node_with_three()
        await node.append_all(streams[1], [100] * 3)
        node.engine.leaving.begin(LEAVES)
        await node.engine.leaving.upload(LEAVES)
        await node.engine.force_upload()
        assert commits(node) == [[1]]
        assert node.wal.after_crash() == []
        await node.engine.shutdown()

    run(scenario())


def test_a_large_block_before_it_is_waited_for_but_none_behind():
    async def scenario():
        node, streams = await node_with_three()
        await node.append_all(streams[1], [100])
        await node.append_all(streams[STAYS], [100])
        node.store.hold()
        forced = asyncio.create_task(node.engine.force_upload())  # a block with the first record
        await settle()
        (before,) = node.store.held
        node.engine.leaving.begin(LEAVES)
        await node.append_all(streams[1], [100])
        left = asyncio.create_task(node.engine.leaving.upload(LEAVES))
        await settle()
        (apart,) = set(node.store.held) - {before}
        node.store.release(apart)
        await settle()
        assert not left.done()  # a stream has no gaps
        assert commits(node) == []
        assert (
            node.engine.leaving.bytes_before >= 200
        )  # both records of the block, and what they cost
        node.store.release(before)
        await asyncio.gather(forced, left)
        assert commits(node) == [[1, 3], [1]]
        assert node.engine.leaving.bytes_before == 0

    run(scenario())


def test_what_is_all_in_an_older_block_is_waited_for():
    """Nothing is left to be taken out of the block that is filled: the whole stream is in one on its way."""

    async def scenario():
        node, streams = await node_with_three()
        await node.append_all(streams[1], [100])
        node.store.hold()
        forced = asyncio.create_task(node.engine.force_upload())
        await settle()
        node.engine.leaving.begin(LEAVES)
        left = asyncio.create_task(node.engine.leaving.upload(LEAVES))
        await settle()
        assert not left.done()
        assert node.engine.leaving.bytes_before >= 100
        node.store.release_all()
        await asyncio.gather(forced, left)
        assert streams[1].committed_offset == 1
        assert node.engine.leaving.bytes_before == 0

    run(scenario())


def test_who_waits_no_longer_counts_no_more():
    async def scenario():
        node, streams = await node_with_three()
        await node.append_all(streams[1], [100])
        node.store.hold()
        forced = asyncio.create_task(node.engine.force_upload())
        await settle()
        node.engine.leaving.begin(LEAVES)
        left = asyncio.create_task(node.engine.leaving.upload(LEAVES))
        await settle()
        assert node.engine.leaving.bytes_before >= 100
        left.cancel()
        await settle()
        assert node.engine.leaving.bytes_before == 0
        node.store.release_all()
        await forced

    run(scenario())


def test_a_block_is_committed_after_what_was_taken_out_of_it():
    """Else the WAL would be trimmed past records that are in no object."""

    async def scenario():
        node, streams = await node_with_three()
        await node.append_all(streams[STAYS], [100])
        await node.append_all(streams[1], [100])
        await node.append_all(streams[STAYS], [100])
        node.engine.leaving.begin(LEAVES)
        node.store.hold()
        forced = asyncio.create_task(node.engine.force_upload())
        await settle()
        apart, block = sorted(node.store.held)
        if node.store.held is not None:
            node.store.release(block)
            await settle()
        first_done = commits(node)
        assert first_done == []
        assert node.journal.of("trim") == []
        node.store.release(apart)
        await forced
        assert commits(node) == [[1], [3]]

    run(scenario())


def test_what_was_taken_out_and_not_committed_is_recovered():
    async def scenario():
        node, streams = await node_with_three()
        for stream in streams.values():
            await node.append_all(stream, [100] * 2)
        node.engine.leaving.begin(LEAVES)
        node.store.hold()
        left = asyncio.create_task(node.engine.leaving.upload(LEAVES))
        forced = asyncio.create_task(node.engine.force_upload())
        await settle()
        surviving = node.wal.after_crash()
        for task in (left, forced):
            task.cancel()
        node.store.held = None
        second = await node.next_life(surviving=surviving).start()
        assert second.report.records == 6
        for stream_id in (*LEAVES, STAYS):
            require_dense(second.objects_of(stream_id), 0, 2)

    run(scenario())


def test_what_was_committed_apart_is_not_taken_again_by_recovery():
    async def scenario():
        node, streams = await node_with_three()
        for stream in streams.values():
            await node.append_all(stream, [100] * 2)
        node.engine.leaving.begin(LEAVES)
        await node.engine.leaving.upload(LEAVES)
        second = await node.next_life().start()
        assert second.report.records == 2
        for stream_id in (*LEAVES, STAYS):
            require_dense(second.objects_of(stream_id), 0, 2)

    run(scenario())


def test_a_stream_that_stays_goes_on_with_the_blocks():
    async def scenario():
        node, streams = await node_with_three()
        node.engine.leaving.begin(LEAVES)
        await node.append_all(streams[1], [100])
        await node.engine.leaving.upload(LEAVES)
        node.engine.leaving.end(LEAVES)
        await node.append_all(streams[1], [100])
        await node.append_all(streams[STAYS], [100])
        await node.engine.force_upload()
        assert commits(node) == [[1], [1, 3]]
        node.engine.leaving.begin(LEAVES)
        await node.append_all(streams[1], [100])
        await node.engine.leaving.upload(LEAVES)
        require_dense(node.objects_of(1), 0, 3)

    run(scenario())


def test_one_that_was_to_leave_before_waits_for_its_earlier_uploads():
    async def scenario():
        node, streams = await node_with_three()
        node.engine.leaving.begin(LEAVES)
        await node.append_all(streams[1], [100])
        node.store.hold()
        first = asyncio.create_task(node.engine.leaving.upload(LEAVES))
        await settle()
        (held,) = node.store.held
        node.engine.leaving.end(LEAVES)
        first.cancel()
        node.engine.leaving.begin(LEAVES)
        await node.append_all(streams[1], [100])
        again = asyncio.create_task(node.engine.leaving.upload(LEAVES))
        await settle()
        (newer,) = set(node.store.held) - {held}
        node.store.release(newer)
        await settle()
        assert commits(node) == []
        node.store.release(held)
        await again
        require_dense(node.objects_of(1), 0, 2)

    run(scenario())


def test_errors_that_pass_are_waited_for():
    async def scenario():
        node, streams = await node_with_three()
        await node.append_all(streams[1], [100])
        node.engine.leaving.begin(LEAVES)
        node.store.put_faults = [PassingError("503")]
        node.control.faults[CommitStreamSetObject].after = [PassingError("lost")]
        await node.engine.leaving.upload(LEAVES)
        assert streams[1].committed_offset == 1

    run(scenario())


@pytest.mark.parametrize("error", [FencedError("replaced"), RuntimeError("a mistake")])
def test_an_upload_that_cannot_succeed_ends_the_engine(error):
    async def scenario():
        node, streams = await node_with_three()
        await node.append_all(streams[1], [100])
        node.engine.leaving.begin(LEAVES)
        node.store.put_faults = [error]
        with pytest.raises(EngineFailedError):
            await node.engine.leaving.upload(LEAVES)
        await settle()
        assert node.engine.stats().failed

    run(scenario())


def test_a_stop_ends_who_waits():
    async def scenario():
        node, streams = await node_with_three()
        await node.append_all(streams[1], [100])
        node.engine.leaving.begin(LEAVES)
        node.store.hold()
        left = asyncio.create_task(node.engine.leaving.upload(LEAVES))
        await settle()
        node.engine.fence("replaced")
        with pytest.raises(EngineFailedError):
            await left

    run(scenario())


def test_after_a_fence_nothing_is_uploaded_and_a_shutdown_waits_for_nothing():
    async def scenario():
        node, streams = await node_with_three()
        await node.append_all(streams[1], [100])
        node.engine.leaving.begin(LEAVES)
        node.engine.fence("replaced")
        node.store.hold()

        left = asyncio.create_task(node.engine.leaving.upload(LEAVES))
        await settle()

        assert not node.store.held
        async with asyncio.timeout(60):
            await node.engine.shutdown()
        assert isinstance(left.exception(), FencedError)
        assert commits(node) == []

    run(scenario())


def test_an_upload_that_waits_to_be_committed_is_not_after_a_fence():
    async def scenario():
        node, streams = await node_with_three()
        await node.append_all(streams[1], [100])
        await node.append_all(streams[STAYS], [100])
        node.store.hold()
        forced = asyncio.create_task(node.engine.force_upload())
        await settle()
        (before,) = node.store.held
        node.engine.leaving.begin(LEAVES)
        await node.append_all(streams[1], [100])
        left = asyncio.create_task(node.engine.leaving.upload(LEAVES))
        await settle()
        (apart,) = set(node.store.held) - {before}
        node.store.release(apart)  # its objects are there; they wait for the block before
        await settle()

        node.engine.fence("replaced")
        node.store.release_all()
        outcomes = await asyncio.gather(forced, left, return_exceptions=True)
        async with asyncio.timeout(60):
            await node.engine.shutdown()

        assert all(isinstance(it, (FencedError, EngineFailedError)) for it in outcomes)
        assert commits(node) == []

    run(scenario())


def test_tasks_that_come_after_a_stop_are_cancelled():
    async def scenario():
        node = await Node().start()
        node.engine.fence("replaced")
        task = asyncio.create_task(asyncio.sleep(3600))

        node.engine._pipeline.own(task)
        await asyncio.wait([task], timeout=5)

        assert task.cancelled()

    run(scenario())


@pytest.mark.parametrize("seed", range(12))
def test_whatever_leaves_and_stays_in_which_order_all_of_it_is_recovered(seed):
    """Random appends, archivings, leavings and returns; a crash at any moment loses and doubles nothing."""

    async def scenario():
        rng = random.Random(seed)
        node, streams = await node_with_three(upload_threshold_bytes=4_000)
        tasks = []
        leaving = False
        node.store.hold()
        for _ in range(rng.randint(20, 60)):
            step = rng.randrange(6)
            if step <= 1:
                node.append(streams[rng.choice((1, 1, 2, 3))], rng.choice((50, 500)))
            elif step == 2 and node.store.held:
                node.store.release(rng.choice(list(node.store.held)))
            elif step == 3:
                leaving = not leaving
                (node.engine.leaving.begin if leaving else node.engine.leaving.end)(LEAVES)
            elif step == 4 and leaving:
                tasks.append(asyncio.create_task(node.engine.leaving.upload(LEAVES)))
            elif step == 5:
                tasks.append(asyncio.create_task(node.engine.force_upload()))
            await settle()
        ends = {it: stream.next_offset for it, stream in streams.items()}
        assert len(node.acks.acked) == sum(ends.values())
        if rng.random() < 0.5:
            node.store.release_all()
            await asyncio.gather(*tasks)
            await node.engine.shutdown()
            assert node.wal.after_crash() == []
        surviving = node.wal.after_crash()
        for task in tasks:
            task.cancel()
        node.store.held = None
        second = await node.next_life(surviving=surviving).start()
        for stream_id, end in ends.items():
            require_dense(second.objects_of(stream_id), 0, end)

    run(scenario())
