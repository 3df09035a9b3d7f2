"""ColdReads: one read for all who ask for a place, also for who asks after the first has given up."""

import asyncio
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from headrace.broker.fetch import cold_reads
from headrace.broker.fetch.cold_reads import ColdReads
from headrace.storage.errors import ObjectNotFoundError, StorageError
from headrace.storage.record_batch import StreamRecordBatch
from tests.simulation.virtual_time import run

PLENTY = 1 << 20


class Block(bytearray):
    """Memory that tells when it is gone."""


class Place:
    """A partition whose reads wait for `answer`."""

    topic, index = "t", 0

    def __init__(self, *, size_bytes: int = 10, block_bytes: int = 0) -> None:
        self.begun = self.ended = 0
        self.answer = asyncio.Event()
        self.error: Exception | None = None
        self.size_bytes = size_bytes
        self.block_bytes = max(size_bytes, block_bytes)
        self.brought: Callable[[], object] = lambda: None  # while it is in memory

    @property
    def reads(self) -> "Place":
        return self

    async def read(self, offset: int, max_bytes: int) -> list[StreamRecordBatch]:
        self.begun += 1
        try:
            await self.answer.wait()
        finally:
            self.ended += 1
        if self.error is not None:
            raise self.error
        block = Block(self.block_bytes)
        self.brought = weakref.ref(block)
        return [StreamRecordBatch(1, 0, offset, 1, memoryview(block)[: self.size_bytes])]


class Slow:
    """A partition whose reads take longer than a Fetch waits."""

    def __init__(self, error: Exception | None) -> None:
        self.error = error

    @property
    def reads(self) -> "Slow":
        return self

    async def read(self, offset: int, max_bytes: int) -> list[StreamRecordBatch]:
        await asyncio.sleep(2.5)
        if self.error is not None:
            raise self.error
        return []


class Scene:
    def __init__(self) -> None:
        self.failed: list[tuple[Any, int, StorageError]] = []
        self.reads = ColdReads(lambda *told: self.failed.append(told))

    async def ask(self, place: Place, wait_s: float = 1.0, offset: int = 0) -> Any:
        deadline_s = asyncio.get_running_loop().time() + wait_s
        return await self.reads.read(place, offset, PLENTY, deadline_s)  # type: ignore[arg-type]

    async def leave(self, *places: Place) -> None:
        for place in places:
            assert await self.ask(place, 0.01) is None


def test_all_who_ask_share_one_read() -> None:
    async def main() -> None:
        scene, place = Scene(), Place()
        asked = [asyncio.create_task(scene.ask(place)) for _ in range(3)]
        other = asyncio.create_task(scene.ask(place, offset=7))
        await asyncio.sleep(0.5)
        assert place.begun == 2
        place.answer.set()
        assert [(await task)[0].base_offset for task in (*asked, other)] == [0, 0, 0, 7]
        await scene.ask(place)
        assert place.begun == 3, "what was answered is not kept"

    run(main())


def test_who_gives_up_leaves_the_read_to_the_next() -> None:
    async def main() -> None:
        scene, place = Scene(), Place()
        await scene.leave(place)
        asking = asyncio.create_task(scene.ask(place))
        await asyncio.sleep(0.5)
        place.answer.set()
        assert len(await asking) == 1
        assert place.begun == 1

    run(main())


@pytest.mark.parametrize("error", [None, ObjectNotFoundError("lost")])
def test_what_became_of_it_while_nobody_waited_is_found(error: Exception | None) -> None:
    async def main() -> None:
        scene, place = Scene(), Place()
        place.error = error
        await scene.leave(place)
        place.answer.set()
        await asyncio.sleep(cold_reads.MAX_DETACHED_MS / 1000 - 1)
        if error is None:
            assert len(await scene.ask(place)) == 1
        else:
            with pytest.raises(ObjectNotFoundError):
                await scene.ask(place)
            assert scene.failed == [(place, 0, error)], "told once"
        assert place.begun == 1
        await asyncio.gather(scene.ask(place), return_exceptions=True)
        assert place.begun == 2, "and asked for anew after that"

    run(main())


def test_it_is_forgotten_after_a_while() -> None:
    async def main() -> None:
        scene, place = Scene(), Place()
        await scene.leave(place)
        place.answer.set()
        await asyncio.sleep(cold_reads.MAX_DETACHED_MS / 1000 + 1)
        await scene.ask(place)
        assert place.begun == 2

    run(main())


def test_what_is_found_is_not_forgotten_in_the_place_of_its_successor() -> None:
    async def main() -> None:
        scene, place = Scene(), Place()
        await scene.leave(place)
        place.answer.set()
        await asyncio.sleep(1)
        await scene.ask(place)
        place.answer.clear()
        await asyncio.sleep(1)
        await scene.leave(place)  # the second read, under way when the first is to be forgotten
        await asyncio.sleep(cold_reads.MAX_DETACHED_MS / 1000 - 1)
        place.answer.set()
        await scene.ask(place)
        assert place.begun == 2

    run(main())


def test_who_is_cancelled_ends_what_nobody_else_waits_for() -> None:
    async def main() -> None:
        scene, place = Scene(), Place()
        first, second = (asyncio.create_task(scene.ask(place, 60)) for _ in range(2))
        await asyncio.sleep(1)
        first.cancel()
        await asyncio.sleep(1)
        assert (place.begun, place.ended) == (1, 0)
        second.cancel()
        await asyncio.sleep(1)
        assert (place.begun, place.ended) == (1, 1)
        place.answer.set()
        assert len(await scene.ask(place)) == 1
        assert place.begun == 2

    run(main())


def test_only_so_many_are_left_alone() -> None:
    async def main() -> None:
        scene, place = Scene(), Place()
        for offset in range(cold_reads.MAX_DETACHED + 3):
            await scene.ask(place, 0.001, offset)
        await asyncio.sleep(0.01)
        assert place.ended == 3
        begun = place.begun
        assert await scene.ask(place, 0, cold_reads.MAX_DETACHED + 3) is None
        assert place.begun == begun, "begun for nothing"
        place.answer.set()
        for offset in (0, cold_reads.MAX_DETACHED - 1):
            assert (await scene.ask(place, 1, offset))[0].base_offset == offset
        assert place.begun == begun
        await scene.ask(place, 1, cold_reads.MAX_DETACHED)
        assert place.begun == begun + 1

    run(main())


@pytest.mark.parametrize("error", [None, ObjectNotFoundError("lost")])
def test_more_places_than_may_be_left_are_answered_all_the_same(error: Exception | None) -> None:
    """Fetches of 1 s, where a read takes 2.5: as if each began all reads from scratch, none would end."""

    async def main() -> None:
        scene = Scene()
        slow = [Slow(error) for _ in range(4 * cold_reads.MAX_DETACHED)]
        answered: set[Slow] = set()

        async def ask(place: Slow, deadline_s: float) -> None:
            try:
                found = await scene.reads.read(place, 0, PLENTY, deadline_s)  # type: ignore[arg-type]
            except ObjectNotFoundError:
                found = ()
            if found is not None:
                answered.add(place)

        for _ in range(4 * 4):
            deadline_s = asyncio.get_running_loop().time() + 1
            for first in range(0, len(slow), 16):
                async with asyncio.TaskGroup() as group:
                    for place in slow[first : first + 16]:
                        if place not in answered:
                            group.create_task(ask(place, deadline_s))
        assert len(answered) == len(slow)

    run(main())


def test_as_many_as_that_are_kept_of_those_that_ended_and_hold_up_no_other() -> None:
    async def main() -> None:
        scene, place, other = Scene(), Place(), Place()
        for offset in range(cold_reads.MAX_DETACHED):
            await scene.ask(place, 0.001, offset)
        place.answer.set()
        await asyncio.sleep(0.01)
        place.answer.clear()
        await scene.leave(other)
        await scene.ask(place, 0.001, cold_reads.MAX_DETACHED)
        assert (other.begun, other.ended) == (1, 0)
        place.answer.set()
        await asyncio.sleep(0.01)
        begun = place.begun
        assert await scene.ask(place, 0, 1)
        assert place.begun == begun
        assert await scene.ask(place, 1, 0)
        assert place.begun == begun + 1, "the oldest was let go"

    run(main())


def test_what_was_taken_or_let_go_stays_in_memory_no_longer() -> None:
    async def main() -> None:
        scene = Scene()
        places = [Place(size_bytes=cold_reads.MAX_DETACHED_BYTES // 2) for _ in range(4)]
        await scene.leave(*places)
        for place in places:
            place.answer.set()
            await asyncio.sleep(0.1)
        assert [place.brought() is not None for place in places] == [False, False, True, True]
        for place in places[2:]:
            assert await scene.ask(place)
        gc.collect()
        assert [place.brought() for place in places] == [None] * 4

    run(main())


def test_what_counts_is_the_block_that_a_piece_keeps() -> None:
    async def main() -> None:
        scene = Scene()
        block_bytes = cold_reads.MAX_DETACHED_BYTES // 2 - 100
        places = [
            Place(size_bytes=cold_reads.MAX_DETACHED_COPIED_BYTES + 1, block_bytes=block_bytes)
            for _ in range(3)
        ]
        small = [Place(block_bytes=block_bytes) for _ in range(3)]
        await scene.leave(*places, *small)
        for place in (*places, *small):
            place.answer.set()
            await asyncio.sleep(0.1)
        assert [place.brought() is not None for place in places] == [False, True, True]
        assert [place.brought() for place in small] == [None] * 3, "copied"
        for place in (*places, *small):
            (found,) = await scene.ask(place)
            assert found.payload == bytes(place.size_bytes)
        assert [place.begun for place in places] == [2, 1, 1]
        assert [place.begun for place in small] == [1, 1, 1]

    run(main())


@pytest.mark.unexpected_errors
def test_a_mistake_that_nobody_waits_for_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        scene, place = Scene(), Place()
        place.error = AssertionError("a mistake")
        place.answer.set()
        with pytest.raises(AssertionError):
            await scene.ask(place)
        assert not caplog.records
        place.answer.clear()
        await scene.leave(place)
        place.answer.set()
        await asyncio.sleep(0.1)
        (told,) = caplog.records
        assert told.exc_info is not None
        assert told.exc_info[1] is place.error

    run(main())


def test_what_they_brought_is_bounded_and_one_may_be_larger() -> None:
    async def main() -> None:
        scene = Scene()
        places = [Place(size_bytes=cold_reads.MAX_DETACHED_BYTES // 2) for _ in range(3)]
        large = Place(size_bytes=cold_reads.MAX_DETACHED_BYTES * 2)
        hanging = Place()
        await scene.leave(hanging, *places, large)
        for place in places:
            place.answer.set()
            await asyncio.sleep(0.1)
        for place in places:
            await scene.ask(place)
        assert [place.begun for place in places] == [2, 1, 1]
        places[0].answer.clear()
        await scene.leave(places[0])
        for place in (places[0], large):
            place.answer.set()
            await asyncio.sleep(0.1)
        await scene.ask(large)
        assert large.begun == 1
        await scene.ask(places[0])
        assert places[0].begun == 4
        assert (hanging.begun, hanging.ended) == (1, 0), "what is under way costs nothing yet"

    run(main())
