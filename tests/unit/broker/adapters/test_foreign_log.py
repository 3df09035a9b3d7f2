"""Reading the log of another broker to drain it: whose it is, whether it is whole, and what is written to it."""

import asyncio
import random
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from headrace.broker.adapters.foreign_log import ForeignLogs
from headrace.broker.adapters.wal_bucket import WalBucket
from headrace.config.node import WalConfig
from headrace.metadata.images.logs import Drain, LogImage, LogState
from headrace.metadata.records.logs import LogMedium
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.wal.errors import (
    WalCorruptError,
    WalDeviceError,
    WalError,
    WalFailedError,
    WalIdentityError,
)
from headrace.wal.fence.port import NoFence
from headrace.wal.objects.errors import WalObjectCorruptError
from headrace.wal.objects.log import ObjectWal
from headrace.wal.ring.log import DeltaWal
from tests.simulation.disk import SimulatedDevice, SimulatedDisk

MIB = 1 << 20
PLACE = "/shared/wal-7"
OWNER, OWNER_EPOCH, DRAIN_EPOCH = 7, 40, 50
CONFIG = WalConfig(path=PLACE, capacity_bytes=4 * MIB, batch_interval_ms=1)


def ignore(_: object) -> None:
    """Hear what nobody asks for."""


class Device:
    """A disk that several brokers reach."""

    medium = LogMedium.FILE

    def __init__(self) -> None:
        self.disk = SimulatedDisk(CONFIG.capacity_bytes)

    def end_owner(self) -> None:
        """Let the owner's process end."""
        self.disk.end_process()

    def damage(self, body: bytes) -> None:
        """Flip a bit of a record."""
        self.disk.image[self.disk.image.find(body)] ^= 1

    def wal(self, epoch: int = OWNER_EPOCH, on_failed: Callable[[WalError], None] = ignore):
        """The WAL of the owner."""
        return DeltaWal(
            CONFIG,
            node_id=OWNER,
            node_epoch=epoch,
            cluster_id="c",
            rng=random.Random(epoch),
            wall_clock_ms=lambda: 0,
            on_confirmed=ignore,
            on_failed=on_failed,
            opener=lambda config, writable: self.disk.open(config.path, writable=writable),
        )

    def logs(self, cluster_id: str = "c") -> ForeignLogs:
        """How another broker opens it."""
        return ForeignLogs(
            config=WalConfig(path="/own", capacity_bytes=64 * MIB),
            cluster_id=cluster_id,
            rng=random.Random(9),
            look=lambda _: None,
            open_device=lambda config, writable: self.disk.open(config.path, writable=writable),
            fence=NoFence(),
            open_bucket=never,
            variables={},
        )


class Bucket(Device):
    """A bucket that all brokers reach."""

    medium = LogMedium.BUCKET

    def __init__(self) -> None:
        self.store = MemoryObjectStore()

    def end_owner(self) -> None:
        """It has no lock."""

    def damage(self, body: bytes) -> None:
        objects = self.store.objects
        for key, content in objects.items():
            if (at := bytes(content).find(body)) >= 0:
                damaged = bytearray(content)
                damaged[at] ^= 1
                objects[key] = bytes(damaged)

    def wal(self, epoch: int = OWNER_EPOCH, on_failed: Callable[[WalError], None] = ignore):
        return ObjectWal(
            CONFIG,
            WalBucket(self.store),
            node_id=OWNER,
            node_epoch=epoch,
            cluster_id="c",
            rng=random.Random(epoch),
            on_confirmed=ignore,
            on_failed=on_failed,
        )

    def logs(self, cluster_id: str = "c") -> ForeignLogs:
        async def open_bucket(uri, **_options):
            assert uri == PLACE
            return self.store

        return ForeignLogs(
            config=WalConfig(path="/own"),
            cluster_id=cluster_id,
            rng=random.Random(9),
            look=never,
            open_device=never,
            fence=NoFence(),
            open_bucket=open_bucket,
            variables={},
        )


def never(*_args: object, **_options: object):
    raise AssertionError("the other medium")


@pytest.fixture(params=[Device, Bucket])
def shared(request):
    return request.param()


def log_image(shared, **changes) -> LogImage:
    fields = {
        "log_id": OWNER,
        "owner": OWNER,
        "epoch": OWNER_EPOCH,
        "generation": "0" * 16,
        "medium": shared.medium,
        "places": (PLACE,),
        "uploaded_offset": 0,
        "state": LogState.DRAINING,
        "drain": Drain(DRAIN_EPOCH, 2, 45),
    }
    return LogImage(**(fields | changes))


async def started(shared, epoch: int = OWNER_EPOCH, on_failed=ignore):
    wal = shared.wal(epoch, on_failed)
    await wal.start()
    async for _ in wal.recover():
        pass
    await wal.reset()
    return wal


async def append(wal, *bodies: bytes) -> None:
    for body in bodies:
        wal.append(b"", body)
    while wal.confirmed_offset < wal.next_offset:
        await asyncio.sleep(0.001)


async def read(shared, log: LogImage, cluster_id: str = "c") -> tuple[list[bytes], int]:
    found = await shared.logs(cluster_id).open(log, PLACE)
    try:
        bodies = [bytes(record.body) async for record in found.recover()]
        return bodies, found.position
    finally:
        await found.close()


def test_what_was_confirmed_is_read_beside_an_owner_that_hangs(shared) -> None:
    async def main() -> None:
        wal = await started(shared)
        await append(wal, b"first---", b"second--")
        bodies, position = await read(shared, log_image(shared))
        assert bodies == [b"first---", b"second--"]
        assert position >= wal.confirmed_offset
        # A second drain, after the first has died.
        again = log_image(shared, drain=Drain(DRAIN_EPOCH + 1, 3, 46))
        assert (await read(shared, again))[0] == bodies

    asyncio.run(main())


def test_a_foreign_device_is_never_written() -> None:
    async def main() -> None:
        shared = Device()
        await append(await started(shared), b"first---")
        before, writes = bytes(shared.disk.image), shared.disk.writes
        await read(shared, log_image(shared))
        assert (bytes(shared.disk.image), shared.disk.writes) == (before, writes)

    asyncio.run(main())


def test_to_a_log_in_a_bucket_exactly_a_fence_is_added_and_its_owner_can_confirm_nothing_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # An owner that is held up for so long adds an object of its own, and removes an older one.
    monkeypatch.setattr("headrace.wal.objects.writer.REFRESH_DELAY_S", 3_600.0)

    async def main() -> None:
        shared = Bucket()
        failures: list[WalError] = []
        wal = await started(shared, on_failed=failures.append)
        await append(wal, b"first---")
        before = dict(await shared.store.list(""))
        await read(shared, log_image(shared))
        after = dict(await shared.store.list(""))
        assert len(after) == len(before) + 1
        assert before.items() <= after.items()
        confirmed = wal.confirmed_offset
        wal.append(b"", b"too late")
        while not failures:
            await asyncio.sleep(0.001)
        assert wal.confirmed_offset == confirmed
        with pytest.raises(WalFailedError):
            await wal.shutdown()

    asyncio.run(main())


def test_the_owner_takes_its_log_over_again_after_a_drain(shared) -> None:
    async def main() -> None:
        await append(await started(shared), b"first---")
        await read(shared, log_image(shared))
        shared.end_owner()
        wal = shared.wal(DRAIN_EPOCH + 10)
        await wal.start()
        assert [bytes(it.body) async for it in wal.recover()] == [b"first---"]
        await wal.reset()
        await append(wal, b"second--")

    asyncio.run(main())


@pytest.mark.parametrize(
    ("changes", "cluster_id", "error"),
    [
        ({"owner": 8}, "c", "WAL of node 7|there is no WAL of node 8"),
        ({}, "another", "cluster 'c'|there is no WAL"),
        ({"epoch": OWNER_EPOCH + 1}, "c", "node epoch 40, but node 7 has used another one since"),
        ({"uploaded_offset": 1 << 40}, "c", "is an old copy: it ends at offset"),
        ({"drain": Drain(OWNER_EPOCH - 1, 2, 3), "epoch": 3}, "c", "node epoch 40, newer than"),
    ],
)
def test_another_or_older_log_is_refused(shared, changes, cluster_id, error) -> None:
    async def main() -> None:
        await append(await started(shared), b"first---")
        with pytest.raises((WalDeviceError, WalIdentityError), match=error):
            await read(shared, log_image(shared, **changes), cluster_id)

    asyncio.run(main())


def test_a_place_that_hangs_stops_only_its_drain() -> None:
    shared, let_go = Device(), threading.Event()

    async def main() -> None:
        logs = replace(
            shared.logs(),
            look=lambda _: let_go.wait(30),
            config=WalConfig(path="/own", io_timeout_ms=10),
        )
        with pytest.raises(TimeoutError):
            await logs.open(log_image(shared), PLACE)
        with pytest.raises(WalDeviceError, match="/shared/wal-7 hangs: an earlier look"):
            await logs.open(log_image(shared), PLACE)
        let_go.set()

    asyncio.run(main())


class HangingDevice(SimulatedDevice):
    """Its reads come back when the test lets them, whoever waits for them."""

    let_go: asyncio.Event
    _is_closed = False

    @property
    def hangs(self) -> bool:  # type: ignore[override]
        return self._is_closed and not self.let_go.is_set()

    async def read(self, position: int, into: memoryview) -> None:
        await self.let_go.wait()
        await super().read(position, into)

    async def close(self) -> None:
        await super().close()
        self._is_closed = True


def test_what_hangs_at_a_place_is_not_added_to() -> None:
    """Nobody looks at it and nobody reads it, until what was asked of it before has come back."""
    shared = Device()

    async def main() -> None:
        wal = await started(shared)
        await append(wal, b"first---")
        shared.end_owner()
        let_go, opened, looks = asyncio.Event(), [], []

        def open_device(config: WalConfig, _writable: bool) -> HangingDevice:
            device = HangingDevice(shared.disk, config.path, writable=False)
            device.let_go = let_go
            opened.append(device)
            return device

        logs = replace(
            shared.logs(),
            look=looks.append,
            open_device=open_device,
            config=WalConfig(path="/own", io_timeout_ms=100),
        )
        with pytest.raises(TimeoutError):
            await logs.open(log_image(shared), PLACE)
        for _ in range(3):
            with pytest.raises(WalDeviceError, match="/shared/wal-7 hangs: an earlier read"):
                await logs.open(log_image(shared), PLACE)
        assert (len(opened), len(looks)) == (1, 1)
        let_go.set()
        found = await logs.open(log_image(shared), PLACE)
        assert [bytes(it.body) async for it in found.recover()] == [b"first---"]
        with pytest.raises(OSError, match="an earlier attempt to read it has not ended yet"):
            await logs.open(log_image(shared), PLACE)
        await found.close()
        await (await logs.open(log_image(shared), PLACE)).close()

    asyncio.run(main())


def test_an_empty_place_is_refused(shared) -> None:
    async def main() -> None:
        with pytest.raises(WalDeviceError, match=r"is blank|there is no WAL of node 7"):
            await read(shared, log_image(shared))

    asyncio.run(main())


def test_a_generation_that_began_after_the_one_that_is_known_holds_nothing_that_counts(
    shared,
) -> None:
    """The owner registered again, reset the log, and died before it told: all before was committed."""

    async def main() -> None:
        await append(await started(shared), b"first---")
        shared.end_owner()
        await started(shared, OWNER_EPOCH + 5)
        assert (await read(shared, log_image(shared)))[0] == []

    asyncio.run(main())


def test_accepted_damage_is_left_out_whatever_generation_the_log_is_in(shared) -> None:
    """A resize, or the fence of a drain before, is of another generation than the one that the operator named."""

    async def main() -> None:
        wal = await started(shared)
        for body in (b"first" * 900, b"second" * 900, b"third" * 900):
            await append(wal, body)
        shared.damage(b"second" * 900)
        with pytest.raises((WalCorruptError, WalObjectCorruptError)):
            await read(shared, log_image(shared))
        accepted = log_image(shared, damage_accepted=True, generation="f" * 16)
        bodies, _ = await read(shared, accepted)
        assert bodies == [b"first" * 900, b"third" * 900]

    asyncio.run(main())
