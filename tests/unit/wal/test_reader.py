"""Reading the log of somebody else, beside its owner."""

import asyncio

import pytest

from tests.simulation.disk import SimulatedDisk
from tests.simulation.wal_run import SMALL, WalOnDisk
from wal.errors import WalCorruptError, WalDeviceError
from wal.reader import WalReader


def reader_of(disk: SimulatedDisk) -> WalReader:
    return WalReader(
        SMALL, opener=lambda config, writable: disk.open(config.path, writable=writable)
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
            await reader.open()
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
            await reader_of(SimulatedDisk(SMALL.capacity_bytes)).open()

    asyncio.run(main())


def test_damage_is_refused() -> None:
    async def main() -> None:
        log = await written()
        log.disk.image[:8192] = bytes(8192)
        with pytest.raises(WalCorruptError):
            await reader_of(log.disk).open()

    asyncio.run(main())
