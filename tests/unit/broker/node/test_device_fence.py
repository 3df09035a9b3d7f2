"""A node takes its WAL's device before it writes to it, and begins again when somebody has taken it."""

import asyncio
import os
from contextlib import suppress
from dataclasses import replace

import pytest

from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.node import Fencing, Node, NodeAddress
from headrace.config.node import WalConfig
from headrace.wal.device.block_device import explained
from headrace.wal.fence.command import CommandFence
from headrace.wal.fence.make import make_fence
from headrace.wal.fence.port import DeviceFence, NoFence
from headrace.wal.fence.reservation import ReservationFence
from tests.simulation import virtual_time
from tests.simulation.shared_device import SharedDevice
from tests.unit.broker.node.test_nothing_is_opened import CONFIG, PORT, Ports, World, run_node

PLACE = CONFIG.wal.path


class Fenced(World):
    """A node on machine "a", whose WAL is on a device that other machines have attached, too."""

    def __init__(self) -> None:
        super().__init__()
        self.device = SharedDevice()
        self.disk.fault = self.fault
        self.taken: list[tuple[str, int, int, int]] = []  # place, epoch, owner, writes before

    def fault(self, number: int, position: int) -> OSError | None:
        try:
            self.device.machine("a").write()
        except OSError as error:
            return explained(error)
        return None

    def fence(self, machine: str, node_id: int) -> DeviceFence:
        return ReservationFence(
            node_id,
            ioctl=self.device.machine(machine).ioctl,
            open_device=lambda place, flags: os.open("/dev/null", os.O_RDWR),
        )

    def environment(self, ports: Ports) -> NodeEnvironment:
        world = self

        class Noting:
            description = "noted"

            def __init__(self, fence: DeviceFence) -> None:
                self._fence = fence

            async def take(self, place: str, epoch: int, *, owner: int) -> None:
                world.taken.append((place, epoch, owner, world.disk.writes))
                await self._fence.take(place, epoch, owner=owner)

        return replace(
            super().environment(ports), make_fence=lambda _, node: Noting(self.fence("a", node))
        )


def test_each_start_takes_the_device_with_its_epoch_before_it_writes_anything() -> None:
    async def main() -> None:
        world = Fenced()
        assert await run_node(world, CONFIG, b"a") == [b"a"]
        assert await run_node(world, CONFIG, b"b") == [b"a", b"b"]
        (place, first, owner, writes), (_, second, _, _) = world.taken
        assert (place, owner, writes) == (PLACE, 1, 0)
        assert 0 < first < second
        assert {*world.device.landed} == {"a"}

    virtual_time.run(main())


def test_a_node_whose_device_was_taken_by_a_newer_epoch_writes_nothing_and_says_why() -> None:
    async def main() -> None:
        world = Fenced()
        await world.fence("b", 2).take(PLACE, 1 << 40, owner=1)
        with pytest.raises(ExceptionGroup) as failed:
            await run_node(world, CONFIG)
        assert any("another broker has this log now" in it for it in messages(failed.value))
        assert world.disk.writes == 0

    virtual_time.run(main())


@pytest.mark.parametrize("is_taken_back", [True, False])
def test_a_node_whose_device_is_taken_while_it_serves_acknowledges_nothing_more_and_begins_again(
    *, is_taken_back: bool
) -> None:
    """The next role has a newer epoch and takes the device, unless that of the other is newer still."""

    async def main() -> None:
        world, ports, stop = Fenced(), Ports(), asyncio.Event()
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[NodeAddress] = loop.create_future()
        told: list[str] = []
        again = asyncio.Event()
        fencing = Fencing(told.append, lambda failure: told.append("over"), again.set)
        node = loop.create_task(
            Node(CONFIG, world.environment(ports)).run(ready.set_result, stop, fencing=fencing)
        )
        await ready
        client = ports.client(PORT)
        while (await client.produce(b"acknowledged", topic="events"))[0]:
            await asyncio.sleep(0.1)
        ((_, epoch, _, _),) = world.taken
        taken_with = epoch + 1 if is_taken_back else 1 << 40
        await world.fence("b", 2).take(PLACE, taken_with, owner=1)
        landed = len(world.device.landed)
        late = loop.create_task(client.produce(b"late", topic="events"))
        if is_taken_back:
            await again.wait()
            assert world.taken[1][1] > taken_with
            client = ports.client(PORT)
            assert await client.values(topic="events") == [b"acknowledged"]
            stop.set()
            await node
        else:
            with pytest.raises(ExceptionGroup) as failed:
                await node
            assert any("another broker has this log now" in it for it in messages(failed.value))
            assert len(world.device.landed) == landed
        # What bounds the end of a role begins with what has ended it, and not with a controller's word.
        assert "another machine has reserved the device" in told[0]
        assert told[1:] == ["over"]
        late.cancel()
        with suppress(asyncio.CancelledError, asyncio.IncompleteReadError):
            assert (await late)[0] != 0

    virtual_time.run(main())


def messages(error: BaseException) -> list[str]:
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return [str(error), *(text for one in inner for text in messages(one))]


def test_a_wal_in_a_bucket_is_not_taken() -> None:
    async def main() -> None:
        world = Fenced()
        config = replace(CONFIG, wal=replace(CONFIG.wal, path="s3://no-such-bucket/wal"))
        assert await run_node(world, config, b"a") == [b"a"]
        assert world.taken == []

    virtual_time.run(main())


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("none", NoFence),
        ("reservation", ReservationFence),
        ("command:/bin/fence --zone a", CommandFence),
    ],
)
def test_the_setting_names_the_fence(setting: str, expected: type) -> None:
    fence = make_fence(WalConfig(fence=setting), 1)
    assert isinstance(fence, expected)
    assert fence.description
