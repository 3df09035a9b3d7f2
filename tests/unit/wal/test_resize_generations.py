"""What ends with a generation of the log when the next begins, and what goes on."""

import asyncio
import random
import threading
from dataclasses import replace

import pytest

from headrace.config.node import WalConfig
from headrace.wal.device import device_size
from headrace.wal.device.buffers import BufferPool
from headrace.wal.errors import WalOverCapacityError
from headrace.wal.layout import RING_POSITION
from headrace.wal.ring import zeroing
from headrace.wal.ring.generations import Generations
from headrace.wal.ring.ring_writer import WalClocks
from headrace.wal.ring.superblock_store import WalIdentity
from headrace.wal.ring.wake_timer import LoopTimer
from tests.simulation.disk import SimulatedDevice, SimulatedDisk
from tests.simulation.wal_run import SMALL, WalOnDisk

MIB = 1024 * 1024
CONFIG = WalConfig(path="file", capacity_bytes=RING_POSITION + 16 * MIB, block_bytes=MIB)


class File(SimulatedDevice):
    """Of which the log finds everything unwritten."""

    is_file = True

    def shrink(self, size_bytes: int) -> None:
        """Keep the size."""


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def confirmed(log: WalOnDisk) -> None:
    async with asyncio.timeout(5):
        while log.wal.confirmed_offset != log.wal.next_offset:
            await asyncio.sleep(0)


def test_zeroing_of_the_old_life_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next step was due already: it would wipe what the new generation has put there."""
    monkeypatch.setattr(zeroing, "_MARGIN_BYTES", MIB)
    monkeypatch.setattr(zeroing, "_MIN_DELAY_S", 0.0)

    async def main() -> None:
        disk = SimulatedDisk(CONFIG.capacity_bytes)
        log = WalOnDisk(disk, CONFIG)
        log.wal._opener = lambda config, writable: File(disk, "file", writable=writable)
        await log.begin()
        before = disk.writes
        async with asyncio.timeout(5):
            while disk.writes < before + 2:
                await asyncio.sleep(0)
        log.wal.begin_resize()
        await log.wal.resize(CONFIG.capacity_bytes)
        bodies: list[bytes] = []
        while log.wal.room_for(800_000):
            bodies.append(bytes([len(bodies) + 1]) * 800_000)
            log.append(bodies[-1])
            await confirmed(log)
        await turns(200)
        disk.has_writer = False
        again = WalOnDisk(disk, CONFIG)
        assert [bytes(record.body) for record in await again.begin()] == bodies

    asyncio.run(main())


def test_nothing_is_admitted_to_a_life_that_is_being_replaced() -> None:
    """It would be written into the ring of the new generation, and acknowledged by nobody."""

    async def main() -> None:
        disk = SimulatedDisk(2 * SMALL.capacity_bytes)
        log = WalOnDisk(disk, SMALL)
        await log.begin()
        log.wal.begin_resize()
        disk.automatic = False
        resizing = asyncio.create_task(log.wal.resize(2 * SMALL.capacity_bytes))
        async with asyncio.timeout(5):
            while not disk.pending:
                await asyncio.sleep(0)
        log.wal.cancel_resize()
        assert not log.wal.room_for(1)
        with pytest.raises(WalOverCapacityError):
            log.append(b"too early")
        disk.automatic = True
        disk.complete()
        await resizing
        log.append(b"in time")
        await confirmed(log)
        disk.has_writer = False
        assert [bytes(record.body) for record in await WalOnDisk(disk, SMALL).begin()] == [
            b"in time"
        ]

    asyncio.run(main())


def test_a_life_goes_on_with_the_budget_that_the_one_before_has_left() -> None:
    async def main() -> None:
        config = replace(SMALL, max_bandwidth_bytes=MIB)
        generations = Generations(
            config,
            WalIdentity("cluster", 1, 1),
            random.Random(1),
            WalClocks(lambda: 0, lambda: 0, LoopTimer),
            BufferPool(idle_bytes_per_class=0),
        )
        first = generations.first(config.capacity_bytes)
        second_ns = 1_000_000_000
        assert generations.group_commit(first).try_spend(10 * MIB, second_ns)
        after = generations.group_commit(generations.after(first, config.capacity_bytes))
        assert after.spend_delay_ns(4096, second_ns) > 9 * second_ns

    asyncio.run(main())


class SlowFile(File):
    """Takes its time to grow, and tells when it was closed."""

    def __init__(self, disk: SimulatedDisk) -> None:
        super().__init__(disk, "file", writable=True)
        self.growing = threading.Event()
        self.may_go_on = threading.Event()
        self.events: list[str] = []

    def allocate(self, size_bytes: int) -> None:
        if size_bytes > self.size_bytes:
            self.growing.set()
            assert self.may_go_on.wait(5)
            self.events.append("grown")

    async def close(self) -> None:
        self.events.append("closed")
        await super().close()


def test_a_file_is_not_closed_while_it_grows() -> None:
    """The descriptor's number may be another file's by then."""

    async def main() -> None:
        disk = SimulatedDisk(SMALL.capacity_bytes)
        file = SlowFile(disk)
        log = WalOnDisk(disk, SMALL)
        log.wal._opener = lambda config, writable: file
        await log.begin()
        growing = asyncio.create_task(log.wal.prepare_resize(2 * SMALL.capacity_bytes))
        async with asyncio.timeout(5):
            while not file.growing.is_set():
                await asyncio.sleep(0)
        closing = asyncio.create_task(log.wal.shutdown())
        await turns(100)
        assert file.events == []
        file.may_go_on.set()
        await closing
        await growing
        assert file.events == ["grown", "closed"]

    asyncio.run(main())


def test_a_file_that_hangs_while_it_grows_does_not_hold_up_the_shutdown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(device_size, "HANG_TIMEOUT_S", 0.01)

    async def main() -> None:
        file = SlowFile(SimulatedDisk(SMALL.capacity_bytes))
        log = WalOnDisk(file.disk, SMALL)
        log.wal._opener = lambda config, writable: file
        await log.begin()
        growing = asyncio.create_task(log.wal.prepare_resize(2 * SMALL.capacity_bytes))
        async with asyncio.timeout(5):
            while not file.growing.is_set():
                await asyncio.sleep(0)
            await log.wal.shutdown()
        assert file.events == [], "neither grown nor closed"
        file.may_go_on.set()
        await growing

    asyncio.run(main())
