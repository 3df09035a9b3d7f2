"""One handle for each stream, the one of the newest epoch."""

import asyncio

import pytest

from headrace.metadata.rpc.requests import CloseStreamBatch
from headrace.storage.errors import EngineFailedError, FencedError, StreamClosedError
from tests.simulation.virtual_time import run
from tests.unit.storage.fakes import Node, require_dense, settle


def test_begins_where_the_control_plane_says():
    async def scenario():
        node = await Node().start()
        first = await node.open(1)
        await node.append_all(first, [10] * 5)
        await first.trim(2)
        await first.close()
        stream = await node.open(1, epoch=2)
        assert (stream.epoch, stream.start_offset, stream.next_offset) == (2, 2, 5)
        assert stream.confirm_offset == stream.committed_offset == 5
        await node.append_all(stream, [10])
        require_dense(await stream.fetch(2, 1000), 2, 6)

    run(scenario())


def test_same_epoch_is_the_same_handle():
    async def scenario():
        node = await Node().start()
        assert await node.open(1) is await node.open(1)

    run(scenario())


def test_older_epoch_is_fenced():
    async def scenario():
        node = await Node().start()
        await node.open(1, epoch=3)
        with pytest.raises(FencedError):
            await node.open(1, epoch=2)

    run(scenario())


def test_newer_epoch_supersedes_the_handle_after_uploading_what_it_holds():
    async def scenario():
        node = await Node().start()
        old = await node.open(1, epoch=1)
        await node.append_all(old, [10] * 3)
        new = await node.open(1, epoch=2)
        assert new.next_offset == 3
        kinds = [event[0] for event in node.journal.of("open", "commit")]
        assert kinds == ["open", "commit", "open"]
        with pytest.raises(StreamClosedError):
            old.append(b"late", 1, node.acks.callback("late"))
        await node.append_all(new, [10])
        assert node.engine.open_streams() == [(1, 2)]
        assert node.engine._cache.get(1, 3, 4, 10)[0].epoch == 2

    run(scenario())


def test_waits_for_uploads_of_an_abandoned_handle():
    async def scenario():
        node = await Node().start()
        old = await node.open(1)
        await node.append_all(old, [10] * 3)
        old.abandon()
        stream = await node.open(1, epoch=2)
        assert stream.next_offset == 3

    run(scenario())


def test_a_close_that_is_answered_late_leaves_the_newer_handle_alone():
    async def scenario():
        node = await Node().start()
        old = await node.open(1)
        await node.append_all(old, [10])
        gate = node.control.faults[CloseStreamBatch].answer_gate = asyncio.Event()
        closing = asyncio.create_task(old.close())
        await settle()
        assert node.journal.of("close")
        new = await node.open(1, epoch=2)
        gate.set()
        await closing
        assert node.engine.open_streams() == [(1, 2)]
        assert not new.is_closed
        await node.append_all(new, [10])
        await node.engine.force_upload()
        assert new.committed_offset == 2

    run(scenario())


def test_two_at_once_are_told_apart():
    async def scenario():
        node = await Node().start()
        results = await asyncio.gather(node.open(1), node.open(1), return_exceptions=True)
        assert sorted(type(result).__name__ for result in results) == [
            "RetriableStorageError",
            "Stream",
        ]
        assert await node.open(1) in results

    run(scenario())


def test_not_on_a_failed_engine():
    async def scenario():
        node = await Node().start()
        node.wal.fail(OSError("EIO"))
        with pytest.raises(EngineFailedError):
            await node.open(1)

    run(scenario())
