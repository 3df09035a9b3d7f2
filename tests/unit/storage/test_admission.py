"""Back-pressure of the engine: who waits, who is woken, who is refused."""

import asyncio

import pytest

from headrace.storage.admission import AdmissionGate
from headrace.storage.errors import BackPressureError, EngineFailedError
from tests.simulation.virtual_time import run
from tests.unit.storage.fakes import Node, settle


class Room:
    """Bytes that appends may still take."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.relieved = 0

    def has(self, size: int) -> bool:
        return size <= self.room

    def gate(self, **options) -> AdmissionGate:
        options.setdefault("timeout_ms", 10_000)
        return AdmissionGate(has_room=self.has, relieve=self.relieve, **options)

    def relieve(self) -> None:
        self.relieved += 1


async def append(gate: AdmissionGate, room: Room, size: int, log: list[int]) -> None:
    await gate.wait(size)
    assert room.room >= size, "admitted without room"
    room.room -= size
    log.append(size)


def test_with_room_nobody_waits():
    async def scenario():
        room = Room(100)
        gate = room.gate()
        assert gate.admits(100)
        assert not gate.admits(101)
        await gate.wait(100)
        assert room.relieved == 0

    run(scenario())


def test_woken_in_order_and_never_beyond_the_room():
    async def scenario():
        room = Room(0)
        gate = room.gate()
        log: list[int] = []
        sizes = [50, 10, 60, 5, 5]
        async with asyncio.TaskGroup() as group:
            for size in sizes:
                group.create_task(append(gate, room, size, log))
            await settle()
            assert gate.waiting == 5
            assert room.relieved >= 1
            for more in (20, 30, 15, 55, 5, 5):
                room.room += more
                gate.poll()
                await settle()
                assert log == sizes[: len(log)]
        assert log == sizes
        assert room.room == 0
        assert gate.waiting == 0

    run(scenario())


def test_nobody_overtakes_those_who_wait():
    async def scenario():
        room = Room(10)
        gate = room.gate()
        log: list[int] = []
        waiting = asyncio.create_task(append(gate, room, 20, log))
        await settle()
        assert not gate.admits(1), "there is room, but somebody is before us"
        late = asyncio.create_task(append(gate, room, 1, log))
        await settle()
        assert log == []
        room.room = 30
        gate.poll()
        assert not gate.admits(1), "the one who was called has not appended yet"
        await asyncio.gather(waiting, late)
        assert log == [20, 1]
        assert gate.admits(9)

    run(scenario())


def test_room_is_noticed_without_being_told():
    """A WAL frees space when a trim is durable, and says nothing."""

    async def scenario():
        room = Room(0)
        gate = room.gate()
        log: list[int] = []
        waiting = asyncio.create_task(append(gate, room, 20, log))
        await settle()
        room.room = 20
        await waiting
        assert asyncio.get_running_loop().time() < 1_001

    run(scenario())


def test_room_taken_by_others_in_between_is_waited_for_again():
    async def scenario():
        room = Room(0)
        gate = room.gate()
        log: list[int] = []
        first = asyncio.create_task(append(gate, room, 20, log))
        await settle()
        room.room = 20
        gate.poll()
        room.room = 0  # taken without asking, before the waiter runs
        await settle()
        assert not first.done()
        room.room = 20
        await first

    run(scenario())


def test_refused_after_the_time_out_and_the_next_one_has_its_turn():
    async def scenario():
        room = Room(10)
        gate = room.gate(timeout_ms=10_000)
        loop = asyncio.get_running_loop()
        log: list[int] = []
        begin = loop.time()
        large = asyncio.create_task(append(gate, room, 20, log))
        await settle()
        await asyncio.sleep(5)
        small = asyncio.create_task(append(gate, room, 1, log))
        with pytest.raises(BackPressureError, match="10000 ms"):
            await large
        assert loop.time() - begin == pytest.approx(10, abs=0.1)
        await small
        assert loop.time() - begin < 10.1
        assert gate.refused_total == 1

    run(scenario())


def test_refused_at_once_when_too_many_wait():
    async def scenario():
        room = Room(0)
        gate = room.gate(max_waiting=2)
        waiting = [asyncio.create_task(append(gate, room, 1, [])) for _ in range(2)]
        await settle()
        with pytest.raises(BackPressureError, match="already wait for room"):
            await gate.wait(1)
        assert gate.refused_total == 1
        for task in waiting:
            task.cancel()
        await settle()
        assert gate.waiting == 0

    run(scenario())


def test_a_cancelled_head_lets_the_next_one_in():
    async def scenario():
        room = Room(10)
        gate = room.gate()
        log: list[int] = []
        large = asyncio.create_task(append(gate, room, 20, log))
        small = asyncio.create_task(append(gate, room, 5, log))
        await settle()
        large.cancel()
        await settle()
        assert small.done()
        assert log == [5]

    run(scenario())


def test_stopping_sends_everybody_away():
    async def scenario():
        room = Room(0)
        gate = room.gate()
        waiting = [asyncio.create_task(append(gate, room, 1, [])) for _ in range(3)]
        await settle()
        gate.stop(EngineFailedError("stopped"))
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert {type(result) for result in results} == {EngineFailedError}
        room.room = 100
        assert not gate.admits(1)
        with pytest.raises(EngineFailedError):
            await gate.wait(1)

    run(scenario())


class TestInTheEngine:
    def test_a_full_log_cache_holds_appends_up_until_an_upload_is_committed(self):
        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            node.store.hold()
            while node.engine.admits(10_000):
                node.append(stream, 10_000)
                await settle()
            waiting = asyncio.create_task(node.engine.admission(10_000))
            await asyncio.sleep(5.005)  # between two looks
            assert not waiting.done()
            before = asyncio.get_running_loop().time()
            node.store.release_all()
            await waiting
            assert asyncio.get_running_loop().time() == before, "woken by the commit itself"
            assert node.engine.admits(10_000)

        run(scenario())

    def test_a_full_wal_holds_appends_up_until_a_trim_is_durable(self):
        """Also when LogCache is far from full: somebody who waits makes the block go early."""

        async def scenario():
            node = await Node(wal_capacity_bytes=40_000).start()
            stream = await node.open(1)
            node.wal.trim_is_durable = False
            node.store.hold()
            while node.engine.admits(10_000):
                node.append(stream, 10_000)
                await settle()
            waiting = asyncio.create_task(node.engine.admission(10_000))
            await settle()
            node.store.release_all()
            await asyncio.sleep(1)
            assert node.journal.of("trim")
            assert not waiting.done(), "the trim is not durable yet"
            node.wal.free_trimmed()
            await waiting

        run(scenario())

    def test_refused_while_the_bucket_is_down_and_nothing_is_lost(self):
        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            node.store.is_down = True
            while node.engine.admits(10_000):
                node.append(stream, 10_000)
                await settle()
            with pytest.raises(BackPressureError):
                await node.engine.admission(10_000)
            stats = node.engine.stats()
            assert stats.admission_refused_total == 1
            assert stats.upload_retries_total > 0
            assert stats.unuploaded_bytes <= stats.log_cache_capacity_bytes
            node.store.is_down = False
            await asyncio.sleep(60)
            assert node.engine.admits(10_000)
            assert node.acks.failed == {}

        run(scenario())

    def test_a_body_larger_than_the_cache_passes_when_it_is_empty(self):
        async def scenario():
            node = await Node().start()
            stream = await node.open(1)
            size = 2 * node.config.log_cache_bytes
            node.append(stream, 10)
            assert not node.engine.admits(size)
            await node.engine.admission(size)
            node.append(stream, size)
            await settle()
            assert stream.confirm_offset == 2

        run(scenario())

    def test_what_can_never_fit_into_the_wal_is_told_so_by_append(self):
        async def scenario():
            node = await Node(wal_capacity_bytes=10_000).start()
            assert node.engine.admits(20_000), "waiting would not help"
            stream = await node.open(1)
            with pytest.raises(BackPressureError):
                stream.append(bytes(20_000), 1, node.acks.callback("never"))

        run(scenario())

    def test_told_of_free_space_it_does_not_wait_for_the_next_look(self):
        async def scenario():
            node = await Node(wal_capacity_bytes=20_000).start()
            stream = await node.open(1)
            node.wal.trim_is_durable = False
            node.append(stream, 15_000)
            await settle()
            waiting = asyncio.create_task(node.engine.admission(10_000))
            await asyncio.sleep(1)
            node.wal.free_trimmed()
            node.engine.room_freed()
            before = asyncio.get_running_loop().time()
            await waiting
            assert asyncio.get_running_loop().time() == before

        run(scenario())
