"""Brokers whose process has ended are found by their locks, and nobody else is."""

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from headrace.broker.node.ended_brokers import (
    LOOK_MS,
    LOOKS,
    MAX_LOCKS_WATCHED,
    EndedBrokers,
    watched_locks,
)
from headrace.metadata.errors import ControllerUnavailableError, NodeFencedError
from headrace.metadata.image import BrokerState
from headrace.metadata.proof import recorded_lock
from headrace.metadata.records.logs import LogMedium, LogReach
from headrace.metadata.rpc.requests import BeginLog, EndLog, ReportEnd
from tests.simulation.control_plane import MemoryClient
from tests.simulation.virtual_time import run
from tests.unit.metadata.pure_controller import PureController

PLACE_OF_2 = Path("/wals/2")


class World:
    """Brokers 1 and 2, whose logs both can reach; broker 1 looks."""

    def __init__(self, record_lock=str):
        self.controller = PureController()
        for node_id in (1, 2):
            self.controller.register(node_id, record_lock=record_lock)
            self.controller.begin_log(node_id)
        self.free = {}  # locks that nobody holds, by path
        self.looks = 0
        self.client = MemoryClient(self.controller, 1)

    def free_lock(self, path):
        self.looks += 1
        return self.free.get(path, "")

    @property
    def state(self):
        return self.controller.image.brokers[2].state

    @asynccontextmanager
    async def looking(self):
        task = asyncio.create_task(EndedBrokers(self.client, self.free_lock).run())
        yield
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    @staticmethod
    async def pass_looks(count):
        await asyncio.sleep((count * LOOK_MS + 1) / 1000)


@pytest.fixture
def world():
    return World()


def test_a_free_lock_ends_the_epoch_at_the_second_look(world):
    async def scenario():
        async with world.looking():
            await world.pass_looks(5)
            assert world.state == BrokerState.ACTIVE
            world.free[PLACE_OF_2] = "wal of 2"
            await world.pass_looks(LOOKS - 1)
            assert world.state == BrokerState.ACTIVE
            await world.pass_looks(1)
            assert world.state == BrokerState.EXPIRED
            looks = world.looks
            await world.pass_looks(3)
            assert world.looks == looks, "nothing is left to look at"

    run(scenario())


def test_a_lock_of_which_a_digest_is_recorded_is_shown_by_its_name():
    world = World(record_lock=recorded_lock)

    async def scenario():
        async with world.looking():
            world.free[PLACE_OF_2] = "wal of 2"
            await world.pass_looks(LOOKS)
            assert world.state == BrokerState.EXPIRED

    run(scenario())


def test_a_lock_that_is_free_for_a_moment_ends_nothing(world):
    """The next process of the node has it before it registers."""

    async def scenario():
        async with world.looking():
            for _ in range(3):
                world.free[PLACE_OF_2] = "wal of 2"
                await world.pass_looks(LOOKS - 1)
                world.free.clear()
                await world.pass_looks(1)
            assert world.state == BrokerState.ACTIVE

    run(scenario())


def test_looks_at_two_processes_of_a_broker_do_not_add_up(world):
    async def scenario():
        async with world.looking():
            world.free[PLACE_OF_2] = "wal of 2"
            await world.pass_looks(LOOKS - 1)
            world.controller.fence(2)
            world.controller.register(2)
            world.controller.begin_log(2)
            await world.pass_looks(LOOKS - 1)
            assert world.state == BrokerState.ACTIVE

    run(scenario())


def test_another_file_at_the_place_proves_nothing(world):
    """One of this machine, where the broker runs on another, or the file has been replaced."""

    async def scenario():
        async with world.looking():
            world.free[PLACE_OF_2] = "wal of somebody"
            await world.pass_looks(5)
            assert world.state == BrokerState.ACTIVE

    run(scenario())


def test_it_is_reported_again_when_no_controller_has_answered(world):
    async def scenario():
        world.client.faults[ReportEnd].before = [ControllerUnavailableError("none leads")]
        async with world.looking():
            world.free[PLACE_OF_2] = "wal of 2"
            await world.pass_looks(LOOKS)
            assert world.state == BrokerState.ACTIVE
            await world.pass_looks(1)
            assert world.state == BrokerState.EXPIRED

    run(scenario())


def test_who_is_fenced_stops(world):
    async def scenario():
        world.free[PLACE_OF_2] = "wal of 2"
        watching = asyncio.create_task(EndedBrokers(world.client, world.free_lock).run())
        await world.pass_looks(1)
        world.controller.register(1, serve=False)
        world.controller.unfence(1)
        world.controller.begin_log(1)
        with pytest.raises(NodeFencedError):
            await watching

    run(scenario())


class TestWatched:
    def test_those_of_living_brokers_within_reach(self, world):
        assert watched_locks(world.controller.image, 1) == {PLACE_OF_2: 2}
        assert watched_locks(world.controller.image, 2) == {Path("/wals/1"): 1}

    def test_not_what_is_out_of_reach(self, world):
        world.controller.begin_log(1, reach=(LogReach(LogMedium.FILE, "/elsewhere"),))
        assert watched_locks(world.controller.image, 1) == {}

    def test_not_of_brokers_that_have_ended(self, world):
        world.controller.fence(2)
        assert watched_locks(world.controller.image, 1) == {}

    def test_not_of_a_broker_that_is_starting_or_leaves_in_order(self, world):
        world.controller.do(EndLog(*world.controller.sender(2), 2))
        assert watched_locks(world.controller.image, 1) == {}
        world.controller.register(2)
        assert watched_locks(world.controller.image, 1) == {}

    def test_not_by_a_broker_that_is_not_active(self, world):
        world.controller.register(1, serve=False)
        assert watched_locks(world.controller.image, 1) == {}

    def test_a_log_in_a_bucket_has_no_lock(self, world):
        controller = world.controller
        everything = (LogReach(LogMedium.BUCKET, ""),)
        controller.begin_log(1, reach=everything)
        controller.do(
            BeginLog(*controller.sender(2), 2, "01", LogMedium.BUCKET, ("0@s3://wals",), ())
        )
        assert watched_locks(controller.image, 1) == {}


def test_there_is_a_bound_of_locks_that_are_looked_at():
    world = World()
    for node_id in range(3, MAX_LOCKS_WATCHED + 10):
        world.controller.register(node_id)
        world.controller.begin_log(node_id)

    async def scenario():
        async with world.looking():
            await world.pass_looks(1)
            assert world.looks == MAX_LOCKS_WATCHED

    run(scenario())
