"""The answer to a commit is lost for long, and what was committed is compacted, trimmed or deleted meanwhile."""

import asyncio

import pytest

from headrace.metadata.errors import ControllerUnavailableError
from headrace.metadata.rpc.requests import CommitStreamSetObject
from tests.simulation.virtual_time import run
from tests.unit.storage import audited_world
from tests.unit.storage.audited_world import World

LOST_AFTER_S = 30  # a client waits so long for an answer
BLOCKS = 4


class Forgetful(audited_world.Client):
    """Loses the answer to an upload's commit when it is told to."""

    loses_next = False

    async def change(self, request, answered):
        is_upload = isinstance(request, CommitStreamSetObject) and not request.compacted_object_ids
        if not (is_upload and Forgetful.loses_next):
            return await super().change(request, answered)
        Forgetful.loses_next = False
        await super().change(request, answered)
        await asyncio.sleep(LOST_AFTER_S)
        raise ControllerUnavailableError("the answer was lost")


@pytest.fixture(autouse=True)
def no_retention(monkeypatch):
    monkeypatch.setattr(audited_world, "RETENTION_MS", 0)
    monkeypatch.setattr(audited_world, "Client", Forgetful)


async def compacted(world: World) -> None:
    await world.compactor.compact()


async def trimmed(world: World) -> None:
    """Retention on another node's word, say."""
    for stream in world.streams:
        end = world.controller.stream(stream.stream_id).end_offset
        world.controller.trim(stream.stream_id, end, epoch=stream.epoch)
        stream.start_offset = world.auditor.logs[stream.stream_id].trimmed = end


async def topic_deleted(world: World) -> None:
    await world.compactor.compact()
    world.delete_topic("b")


async def all_deleted(world: World) -> None:
    for name in ("a", "b"):
        world.delete_topic(name)


@pytest.mark.parametrize("fate", [compacted, trimmed, topic_deleted, all_deleted])
def test_the_commit_is_recognised_although_its_objects_are_forgotten(fate) -> None:
    async def main() -> None:
        world = World(1)
        await world.start()
        for name in ("a", "b"):
            await world.open_topic(name)
        world.calm()
        for number in range(BLOCKS):
            for stream in world.streams:
                world.auditor.append(stream, 1, 200)
            world.wal.confirm_records(world.engine.stats().open_appends)
            await asyncio.sleep(0)
            Forgetful.loses_next = number == BLOCKS - 1
            world.engine._pipeline.archive_aged()
            await asyncio.sleep(5)
        assert world.engine.stats().uploaded_blocks_total == BLOCKS - 1
        newest = max(world.controller.image.objects.by_id)
        await fate(world)
        await world.publisher.publish()
        await world.deleter.delete()
        assert newest not in world.controller.image.objects.by_id
        await asyncio.sleep(2 * LOST_AFTER_S)
        assert not world.engine.stats().failed
        assert world.engine.stats().uploaded_blocks_total == BLOCKS
        assert world.engine.stats().upload_expired_total == 0
        await world.read_everything()
        assert (await world.settle_bucket()).is_settled
        await world.stop()

    run(main())
