"""The log of another broker on a device: it is taken away from its owner before it is read."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import structs

from headrace.broker.adapters.foreign_log import ForeignLogs
from headrace.metadata.images.logs import Drain, LogImage, LogState
from headrace.metadata.records.logs import LogMedium
from headrace.wal.device.block_device import explained
from headrace.wal.errors import WalDeviceError, WalFenceError, WalIdentityError
from headrace.wal.fence.port import DeviceFence, NoFence
from headrace.wal.fence.reservation import ReservationFence
from tests.simulation.disk import SimulatedDisk
from tests.simulation.shared_device import SharedDevice
from tests.simulation.wal_run import SMALL, WalOnDisk

PLACE = "/dev/shared"
OWNER, DRAINER = 7, 2
OWNER_EPOCH, DRAIN_EPOCH = 3, 5
LOG = LogImage(
    log_id=OWNER,
    owner=OWNER,
    epoch=OWNER_EPOCH,
    generation="",
    medium=LogMedium.DEVICE,
    places=(PLACE,),
    uploaded_offset=0,
    state=LogState.DRAINING,
    drain=Drain(DRAIN_EPOCH, DRAINER, 4),
)


class Taking:
    """A fence, and what happens while it takes a device."""

    description = "of the test"

    def __init__(self, happens: Callable[[], Awaitable[None]]) -> None:
        self._happens = happens
        self.taken: list[tuple[str, int, int]] = []

    async def take(self, place: str, epoch: int, *, owner: int) -> None:
        self.taken.append((place, epoch, owner))
        await self._happens()


async def nothing() -> None:
    pass


async def refuse() -> None:
    raise WalFenceError("not taken")


def logs_of(disk: SimulatedDisk, fence: DeviceFence, cluster_id: str = "simulation") -> ForeignLogs:
    async def open_bucket(uri: str, **_: Any) -> Any:
        raise AssertionError(uri)

    return ForeignLogs(
        config=SMALL,
        cluster_id=cluster_id,
        rng=disk.rng,
        look=lambda _: None,
        open_device=lambda config, writable: disk.open(config.path, writable=writable),
        fence=fence,
        open_bucket=open_bucket,
        variables={},
    )


async def owner_of(disk: SimulatedDisk, *bodies: bytes) -> WalOnDisk:
    owner = WalOnDisk(disk, epoch=OWNER_EPOCH)
    await owner.begin()
    await write(owner, *bodies)
    return owner


async def write(owner: WalOnDisk, *bodies: bytes) -> None:
    for body in bodies:
        owner.append(body)
    while owner.wal.confirmed_offset < owner.wal.next_offset and not owner.failures:
        await asyncio.sleep(0)


async def bodies_in(logs: ForeignLogs, log: LogImage = LOG) -> list[bytes]:
    found = await logs.open(log, PLACE)
    try:
        return [bytes(record.body) async for record in found.recover()]
    finally:
        await found.close()


def test_it_is_taken_at_the_epoch_of_the_drain_for_its_owner() -> None:
    async def main() -> None:
        disk = SimulatedDisk(SMALL.capacity_bytes)
        await owner_of(disk, b"first---", b"second--")
        fence = Taking(nothing)
        assert await bodies_in(logs_of(disk, fence)) == [b"first---", b"second--"]
        assert fence.taken == [(PLACE, DRAIN_EPOCH, OWNER)]

    asyncio.run(main())


def test_what_the_owner_writes_until_it_is_taken_counts() -> None:
    async def main() -> None:
        disk = SimulatedDisk(SMALL.capacity_bytes)
        owner = await owner_of(disk, b"first---", b"second--")

        async def end() -> None:
            owner.trim(owner.wal.confirmed_offset - 1)
            await owner.wal.shutdown()

        assert await bodies_in(logs_of(disk, Taking(end))) == []

    asyncio.run(main())


def test_a_log_that_cannot_be_taken_is_not_read() -> None:
    async def main() -> None:
        disk = SimulatedDisk(SMALL.capacity_bytes)
        await owner_of(disk, b"first---")
        with pytest.raises(WalFenceError, match="not taken"):
            await logs_of(disk, Taking(refuse)).open(LOG, PLACE)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("cluster_id", "log", "error"),
    [
        ("another", LOG, WalIdentityError),
        ("simulation", structs.replace(LOG, owner=8), WalIdentityError),
        ("simulation", LOG, WalDeviceError),
    ],
)
def test_a_device_that_holds_something_else_is_not_taken_from_anybody(
    cluster_id: str, log: LogImage, error: type[Exception]
) -> None:
    """Devices may have other names on this machine."""

    async def main() -> None:
        disk = SimulatedDisk(SMALL.capacity_bytes)
        if error is WalIdentityError:
            await owner_of(disk, b"first---")
        fence = Taking(nothing)
        with pytest.raises(error):
            await logs_of(disk, fence, cluster_id).open(log, PLACE)
        assert fence.taken == []

    asyncio.run(main())


def test_an_owner_that_wakes_up_afterwards_confirms_nothing_and_says_why() -> None:
    async def main() -> None:
        device, disk = SharedDevice(), SimulatedDisk(SMALL.capacity_bytes)

        def fence(machine: str, node_id: int) -> DeviceFence:
            return ReservationFence(
                node_id,
                ioctl=device.machine(machine).ioctl,
                open_device=lambda place, flags: os.open("/dev/null", os.O_RDWR),
            )

        def fault(number: int, position: int) -> OSError | None:
            try:
                device.machine("a").write()
            except OSError as error:
                return explained(error)
            return None

        await fence("a", OWNER).take(PLACE, OWNER_EPOCH, owner=OWNER)
        disk.fault = fault
        owner = await owner_of(disk, b"first---")
        confirmed = owner.confirmed[-1]
        logs = logs_of(disk, fence("b", DRAINER))
        assert await bodies_in(logs) == [b"first---"]
        await write(owner, b"late----")
        assert owner.confirmed[-1] == confirmed
        assert "another machine has reserved the device" in str(owner.failures[0])
        assert await bodies_in(logs) == [b"first---"]

    asyncio.run(main())


def test_without_a_fence_it_is_read_all_the_same() -> None:
    async def main() -> None:
        disk = SimulatedDisk(SMALL.capacity_bytes)
        await owner_of(disk, b"first---")
        assert await bodies_in(logs_of(disk, NoFence())) == [b"first---"]

    asyncio.run(main())
