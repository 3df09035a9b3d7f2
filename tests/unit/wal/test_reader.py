"""Reading the log of somebody else, beside its owner."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from headrace.config.node import WalConfig
from headrace.wal.errors import WalChangedError, WalCorruptError, WalDeviceError
from headrace.wal.layout import PAGE_BYTES, RING_POSITION
from headrace.wal.ring import ring_writer
from headrace.wal.ring.reader import WalReader
from tests.simulation.disk import SimulatedDevice, SimulatedDisk
from tests.simulation.wal_run import SMALL, WalOnDisk


def reader_of(disk: SimulatedDisk, config: WalConfig = SMALL) -> WalReader:
    return WalReader(
        config, opener=lambda config, writable: disk.open(config.path, writable=writable)
    )


async def written() -> WalOnDisk:
    log = WalOnDisk(SimulatedDisk(SMALL.capacity_bytes))
    await log.begin()
    log.append(b"first---")
    log.append(b"second--")
    while log.wal.confirmed_offset < log.wal.next_offset:
        await asyncio.sleep(0)
    return log


def test_the_records_of_a_running_owner_are_read_and_nothing_is_written() -> None:
    async def main() -> None:
        log = await written()
        before, writes = bytes(log.disk.image), log.disk.writes
        for _ in range(2):
            reader = reader_of(log.disk)
            await reader.start()
            assert (reader.superblock.node_id, reader.superblock.cluster_id) == (7, "simulation")
            bodies = [bytes(record.body) async for record in reader.recover()]
            assert bodies == [b"first---", b"second--"]
            assert reader.summary.records == 2
            await reader.close()
        assert (bytes(log.disk.image), log.disk.writes) == (before, writes)
        log.append(b"third---")

    asyncio.run(main())


def test_a_blank_device_has_no_log() -> None:
    async def main() -> None:
        with pytest.raises(WalDeviceError, match="is blank"):
            await reader_of(SimulatedDisk(SMALL.capacity_bytes)).start()

    asyncio.run(main())


def test_damage_is_refused() -> None:
    async def main() -> None:
        log = await written()
        log.disk.image[:8192] = bytes(8192)
        with pytest.raises(WalCorruptError):
            await reader_of(log.disk).start()

    asyncio.run(main())


def test_damage_in_the_ring_is_refused_as_what_it_is() -> None:
    async def main() -> None:
        log = await written()
        await log.wal.shutdown()  # says what was confirmed
        log.disk.image[RING_POSITION + 100] ^= 1
        reader = reader_of(log.disk)
        await reader.start()
        with pytest.raises(WalCorruptError, match="acknowledged tail lost"):
            await drained(reader)

    asyncio.run(main())


class Meanwhile(SimulatedDevice):
    """Something happens between two reads of a device."""

    reads = 0

    def __init__(self, disk: SimulatedDisk, happens: Callable[[], Awaitable[None]]) -> None:
        super().__init__(disk, "simulated", writable=False)
        self.happens = happens

    async def read(self, position: int, into: memoryview) -> None:
        await super().read(position, into)
        if position >= RING_POSITION:
            self.reads += 1
            if self.reads == 1:
                into[:] = bytes(len(into))  # as the ring was before the first write
                await self.happens()


@pytest.mark.parametrize("superblock_changes", [False, True])
def test_a_writer_at_work_is_not_taken_for_damage(
    superblock_changes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ring_writer, "_REFRESH_DELAY_S", 0.0)

    async def main() -> None:
        log = await written()
        while log.wal.superblock.confirmed_offset < log.wal.confirmed_offset:
            await asyncio.sleep(0)

        async def happens() -> None:
            if superblock_changes:
                log.wal.trim(log.wal.confirmed_offset - 1)
                while log.wal.used_bytes:
                    await asyncio.sleep(0)

        device = Meanwhile(log.disk, happens)
        reader = WalReader(SMALL, opener=lambda config, writable: device)
        await reader.start()
        with pytest.raises(WalChangedError, match="being written to"):
            await drained(reader)

    asyncio.run(main())


class Moving(SimulatedDevice):
    """Each look at the ring finds one block more that is written."""

    blocks_seen = -1

    async def read(self, position: int, into: memoryview) -> None:
        await super().read(position, into)
        if position == 0:
            self.blocks_seen += 1  # each look begins with the superblocks
        elif position == RING_POSITION:
            written = self.blocks_seen * PAGE_BYTES
            into[written:] = bytes(len(into) - written)


def test_damage_that_moves_is_a_writer_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring_writer, "_REFRESH_DELAY_S", 0.0)

    async def main() -> None:
        log = await written()
        log.append(b"third---")
        while log.wal.superblock.confirmed_offset < log.wal.next_offset:
            await asyncio.sleep(0)
        device = Moving(log.disk, "simulated", writable=False)
        reader = WalReader(SMALL, opener=lambda config, writable: device)
        await reader.start()
        with pytest.raises(WalChangedError, match="being written to"):
            await drained(reader)
        assert device.blocks_seen == 1

    asyncio.run(main())


async def drained(reader: WalReader) -> int:
    return len([record async for record in reader.recover()])


def test_a_loss_is_accepted_by_the_life_that_the_refusal_names(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        log = await written()
        await log.wal.shutdown()
        at = log.disk.image.index(b"first---")
        log.disk.image[at] ^= 1
        generation = f"{log.wal.superblock.generation_id:016x}"
        image = bytes(log.disk.image)
        for accepted in ("", "0123456789abcdef"):
            reader = reader_of(log.disk, replace(SMALL, accept_loss_generation=accepted))
            await reader.start()
            with pytest.raises(WalCorruptError, match=f"headrace.wal.accept.loss={generation}"):
                await drained(reader)
        reader = reader_of(log.disk, replace(SMALL, accept_loss_generation=generation))
        await reader.start()
        assert [bytes(record.body) async for record in reader.recover()] == [b"second--"]
        assert reader.summary.lost_bytes == 24 + 8
        assert bytes(log.disk.image) == image

    asyncio.run(main())
    lines = [record.getMessage() for record in caplog.records if record.levelname == "CRITICAL"]
    assert len(lines) == 2
    assert "(32 bytes) at device position 8248" in lines[0]
    assert "names generation 0123456789abcdef" in caplog.text
