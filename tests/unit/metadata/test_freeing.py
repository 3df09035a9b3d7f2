"""What a change takes out of the metadata is freed in steps, when nothing uses it any more."""

import asyncio
import sys

import pytest

from headrace.metadata.follower import freeing as module
from headrace.metadata.follower.freeing import LOOK_AGAIN_S, MAX_LOOKS, PartsFreeing, parts_gone
from headrace.metadata.image import MetadataImage
from headrace.persistent_map import PersistentMap
from tests.simulation.virtual_time import run
from tests.unit.counted_steps import counted
from tests.unit.metadata.test_follower import Log, caught_up, following

STEP = 10


@pytest.fixture(autouse=True)
def short_steps(monkeypatch):
    monkeypatch.setattr(module, "STEP_PARTS", STEP)


def test_partitions_and_streams_that_are_gone_are_collected_in_steps(controller):
    controller.create("kept", 1)
    controller.create("a", 2 * STEP)
    old = controller.image
    topic = old.topic("a")
    controller.delete("a")

    parts, steps = counted(parts_gone(old, controller.image))

    gone = {it for it in old.streams.values() if it.topic_id == topic.topic_id}
    assert steps == len(old.streams) // STEP
    assert set(parts) == {*topic.partitions, *gone}
    assert len(parts) == 3 * 2 * STEP


def test_few_parts_are_not_looked_for(controller):
    controller.create("a", STEP // 2 - 1)
    old = controller.image
    controller.delete("a")

    assert counted(parts_gone(old, controller.image)) == ([], 0)


def test_parts_are_freed_in_many_turns_once_nothing_else_uses_them(monkeypatch):
    async def main():
        parts = {number: f"part {number}" for number in range(3 * STEP)}
        old = MetadataImage(streams=PersistentMap(parts))
        del parts
        freeing = PartsFreeing()
        await freeing.collect(old, MetadataImage())
        await asyncio.sleep(10 * LOOK_AGAIN_S)
        assert len(freeing) == 3 * STEP  # a reader still has the image

        del old
        left = set()
        while freeing:
            left.add(len(freeing))
            await asyncio.sleep(0.01 if len(freeing) == 3 * STEP else 0)
        assert left == {3 * STEP, 2 * STEP, STEP}

    monkeypatch.setattr("headrace.turns.Work.share_s", 0.0)
    run(main())


def test_what_goes_meanwhile_is_freed_as_well(monkeypatch):
    async def main():
        freeing = PartsFreeing()
        for name in ("a", "b"):
            parts = {number: f"{name} {number}" for number in range(STEP)}
            await freeing.collect(MetadataImage(streams=PersistentMap(parts)), MetadataImage())
        assert freeing
        del parts
        await asyncio.sleep(2 * LOOK_AGAIN_S)
        assert len(freeing) == 0

    monkeypatch.setattr("headrace.turns.Work.share_s", 0.0)
    run(main())


def test_two_that_keep_the_same_parts_do_not_wait_for_each_other_for_ever():
    async def main():
        parts = {number: f"part {number}" for number in range(3 * STEP)}
        freeings = [PartsFreeing(), PartsFreeing()]
        for freeing in freeings:
            await freeing.collect(MetadataImage(streams=PersistentMap(parts)), MetadataImage())
        del parts
        await asyncio.sleep((MAX_LOOKS + 2) * LOOK_AGAIN_S)
        assert [len(freeing) for freeing in freeings] == [0, 0]

    run(main())


@pytest.mark.parametrize("by_snapshot", [False, True], ids=["entries", "snapshot"])
def test_a_follower_keeps_what_is_gone_for_the_last_reader_of_an_image(controller, by_snapshot):
    async def main():
        controller.create("a", STEP)
        log = Log(controller.entries)
        follower = following(log)
        read = await caught_up(follower, controller)
        stream = next(iter(read.streams.values()))
        users = sys.getrefcount(stream)
        controller.delete("a")
        log.entries = controller.entries
        if by_snapshot:
            log.take_snapshot(controller.image)
        assert not (await caught_up(follower, controller)).streams

        del read  # the image is freed, its parts are not yet
        assert sys.getrefcount(stream) == users
        await asyncio.sleep(2 * LOOK_AGAIN_S)
        assert sys.getrefcount(stream) == users - 1

    run(main())
