"""Dying in a recovery or in the reset behind it, any number of times: all of it or, once reset, nothing."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from itertools import product

import pytest

from headrace.config.node import WalConfig
from headrace.wal.errors import WalCorruptError
from headrace.wal.layout import PAGE_BYTES, newest_superblock
from headrace.wal.port import RecoveredRecord
from tests.simulation.disk import SECTOR_BYTES, SimulatedDisk
from tests.simulation.wal_run import SMALL, WalOnDisk

BODIES = [b"first---", b"second--" * 400, b"third---" * 900]
SECTORS = range(PAGE_BYTES // SECTOR_BYTES)
# What a power cut leaves of the superblock that is being written.
FATES = {"nothing": (), "all": SECTORS, "what counts": (0,), "the rest": SECTORS[1:]}
# Which of the two superblocks of a reset is under way.
DEATHS = list(product((0, 1), FATES))


async def written() -> SimulatedDisk:
    """A disk with a log that was not shut down."""
    disk = SimulatedDisk(SMALL.capacity_bytes)
    log = WalOnDisk(disk)
    await log.begin()
    for body in BODIES:
        log.append(body)
    while log.wal.confirmed_offset < log.wal.next_offset:
        await asyncio.sleep(0)
    disk.cut_power()
    return disk


async def recovered(log: WalOnDisk) -> list[RecoveredRecord]:
    await log.wal.start()
    return [record async for record in log.wal.recover()]


async def die_in_reset(
    disk: SimulatedDisk, written_before: int, fate: str, config: WalConfig = SMALL
) -> list[bytes]:
    """Recover, and lose power in the reset; return what was recovered."""
    log = WalOnDisk(disk, config)
    found = [bytes(record.body) for record in await recovered(log)]
    disk.automatic = False
    resetting = asyncio.create_task(log.wal.reset())
    for left in range(written_before, -1, -1):
        while not disk.pending:
            await asyncio.sleep(0)
        if left:
            disk.complete()
    (write,) = disk.pending
    for sector in FATES[fate]:
        at = sector * SECTOR_BYTES
        disk.image[write.position + at : write.position + at + SECTOR_BYTES] = write.data[
            at : at + SECTOR_BYTES
        ]
    disk.pending.clear()
    disk.cut_power()
    disk.automatic = True
    resetting.cancel()
    with suppress(asyncio.CancelledError):
        await resetting
    return found


def takes_effect(written_before: int, fate: str) -> bool:
    """Whether the new generation is on the device, by one superblock at least."""
    return written_before == 1 or 0 in FATES[fate]


@pytest.mark.parametrize("first", DEATHS, ids=str)
def test_every_death_in_a_reset_leaves_the_old_life_or_the_new_one(first: tuple[int, str]) -> None:
    async def main() -> None:
        for second in DEATHS:
            disk = await written()
            expected = BODIES
            for death in (first, second):
                assert await die_in_reset(disk, *death) == expected
                if takes_effect(*death):
                    expected = []
            await goes_on(disk, expected)

    asyncio.run(main())


async def goes_on(disk: SimulatedDisk, expected: list[bytes]) -> None:
    """What is expected is recovered, and then nothing of it comes back."""
    found = newest_superblock(memoryview(disk.image))
    assert found is not None
    log = WalOnDisk(disk)
    assert [bytes(record.body) for record in await log.begin()] == expected
    assert log.wal.superblock.head_offset > found.head_offset
    log.append(b"new-----")
    while log.wal.confirmed_offset < log.wal.next_offset:
        await asyncio.sleep(0)
    disk.cut_power()
    assert [bytes(record.body) for record in await recovered(WalOnDisk(disk))] == [b"new-----"]


def test_ten_deaths_lose_nothing() -> None:
    async def main() -> None:
        disk = await written()
        for _ in range(10):
            assert await die_in_reset(disk, 0, "nothing") == BODIES
        await goes_on(disk, BODIES)

    asyncio.run(main())


def test_a_recovery_that_is_left_anywhere_changes_nothing() -> None:
    async def main() -> None:
        disk = await written()
        image = bytes(disk.image)
        for taken in range(len(BODIES) + 1):
            log = WalOnDisk(disk)
            await log.wal.start()
            walk = log.wal.recover()
            for _ in range(taken):
                await anext(walk)
            await walk.aclose()
            disk.cut_power()
            assert bytes(disk.image) == image
        await goes_on(disk, BODIES)

    asyncio.run(main())


@pytest.mark.parametrize("death", DEATHS, ids=str)
def test_an_accepted_loss_is_accepted_until_the_reset_took_effect(death: tuple[int, str]) -> None:
    async def main() -> None:
        disk = await written()
        disk.image[disk.image.index(b"first---")] ^= 1
        with pytest.raises(WalCorruptError) as refusal:
            await recovered(WalOnDisk(disk))
        disk.cut_power()
        config = replace(SMALL, accept_loss_generation=f"{refusal.value.generation_id:016x}")
        assert await die_in_reset(disk, *death, config) == BODIES[1:]
        if takes_effect(*death):
            await goes_on(disk, [])
            return
        with pytest.raises(WalCorruptError):  # still for whoever did not accept it
            await recovered(WalOnDisk(disk))
        disk.cut_power()
        assert await die_in_reset(disk, *death, config) == BODIES[1:]

    asyncio.run(main())


def test_offsets_go_on_growing_behind_a_superblock_that_was_lost() -> None:
    """It had freed a whole lap, and the log was further than the one before it would allow."""

    async def main() -> None:
        disk = SimulatedDisk(SMALL.capacity_bytes)
        log = WalOnDisk(disk, replace(SMALL, window_bytes_initial=SMALL.max_window_bytes))
        await log.begin()
        for lap in range(2):
            while log.wal.room_for(6000):
                end = log.append(b"%d" % lap * 6000)
                while log.wal.confirmed_offset < log.wal.next_offset:
                    await asyncio.sleep(0)
            if not lap:
                log.wal.trim(log.wal.confirmed_offset - 1)
                while log.wal.used_bytes:
                    await asyncio.sleep(0)
        newest = log.wal.superblock
        disk.cut_power()
        disk.image[newest.slot_position] ^= 1
        older = newest_superblock(memoryview(disk.image))
        assert older is not None
        assert end > older.head_offset + older.ring.size_bytes
        again = WalOnDisk(
            disk, replace(SMALL, accept_loss_generation=f"{newest.generation_id:016x}")
        )
        found = {bytes(record.body[:1]) for record in await again.begin()}
        assert found == {b"1"}
        assert again.wal.superblock.head_offset >= end

    asyncio.run(main())
