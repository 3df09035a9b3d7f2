"""Every crash of the production WAL on a simulated disk: acknowledged means recovered, and nothing else appears."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

import pytest

from tests.simulation.disk import CrashPoint, SimulatedDisk, crash_points, outcomes
from tests.simulation.wal_run import KIB, SMALL, Expectation, WalOnDisk, recover_image
from wal.errors import WalCorruptError, WalDeviceError
from wal.layout import RING_POSITION

SEEDS = range(6)
DISK_BYTES = SMALL.capacity_bytes
Workload = Callable[[WalOnDisk, random.Random], Awaitable[None]]


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def quiet(log: WalOnDisk) -> None:
    while log.wal.confirmed_offset < log.wal.next_offset or log.disk.pending:
        await asyncio.sleep(0)


async def append_when_there_is_room(log: WalOnDisk, body: bytes) -> None:
    while not log.wal.room_for(len(body)):
        if log.confirmed and log.confirmed[-1] - 1 > log.wal.trim_offset:
            log.trim(log.confirmed[-1] - 1)
        await asyncio.sleep(0)
    log.append(body)


async def small_records(log: WalOnDisk, rng: random.Random) -> None:
    """A few records a turn, trimmed now and then."""
    for _ in range(40):
        for _ in range(rng.randrange(1, 4)):
            await append_when_there_is_room(log, rng.randbytes(rng.randrange(1, 3000)))
        await turns(rng.randrange(4))
        if rng.random() < 0.2 and log.confirmed:
            log.trim(rng.randrange(log.wal.superblock.head_offset - 1, log.confirmed[-1]))
    await quiet(log)


async def laps(log: WalOnDisk, rng: random.Random) -> None:
    """Several times around the ring, with records that do not fit at its end."""
    while log.wal.next_offset < log.wal.superblock.capacity_bytes * 4:
        await append_when_there_is_room(log, rng.randbytes(rng.choice((900, 4000, 11_000, 15_000))))
        await turns(rng.randrange(6))
    await quiet(log)


async def full_depth(log: WalOnDisk, rng: random.Random) -> None:
    """Bursts that fill the IO depth and grow the window."""
    for _ in range(6):
        for _ in range(6):
            await append_when_there_is_room(log, rng.randbytes(rng.randrange(3000, 7900)))
        await turns(rng.randrange(12))
    await quiet(log)


async def lives(log: WalOnDisk, rng: random.Random) -> None:
    """The ring is reset twice, with and without a graceful shutdown."""
    await small_records(log, rng)
    log.disk.has_writer = False
    second = WalOnDisk(log.disk, replace(SMALL, capacity_bytes=SMALL.capacity_bytes - 16 * KIB))
    await second.begin()
    await full_depth(second, rng)
    if second.wal.trim_offset < second.confirmed[-1] - 1:
        second.trim(second.confirmed[-1] - 1)
    await second.wal.shutdown()
    third = WalOnDisk(log.disk)
    assert await third.begin() == []
    await full_depth(third, rng)


WORKLOADS = (small_records, laps, full_depth, lives)


def recorded(workload: Workload, seed: int, image: bytes | None = None) -> SimulatedDisk:
    """Run a workload to its end; return the disk with its trace."""
    rng = random.Random(seed)
    disk = SimulatedDisk(DISK_BYTES, rng=rng)
    if image is not None:
        disk.image[:] = image

    async def run() -> None:
        log = WalOnDisk(disk)
        await log.begin()
        await workload(log, rng)
        assert not log.failures

    asyncio.run(run())
    return disk


def crashes(
    disk: SimulatedDisk, rng: random.Random, start: bytes
) -> Iterator[tuple[CrashPoint, bytearray]]:
    for point in crash_points(start, disk.trace):
        for image in outcomes(point, rng):
            yield point, image


def is_formatted(image: bytearray) -> bool:
    """Whether a superblock was ever durable: before, the device is blank."""
    return bool(image[:RING_POSITION].strip(b"\0"))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_what_was_acknowledged_survives_every_crash(workload: Workload, seed: int) -> None:
    disk = recorded(workload, seed)
    states = 0
    for point, image in crashes(disk, random.Random(seed), bytes(DISK_BYTES)):
        if not is_formatted(image):
            continue
        superblock, records, _ = recover_image(image)
        Expectation.at(point).judge(superblock, records)
        states += 1
    assert states > 200


@pytest.mark.parametrize("workload", [small_records, full_depth])
def test_a_second_crash_loses_nothing_either(workload: Workload) -> None:
    rng = random.Random(5)
    disk = recorded(workload, 5)
    first = [
        (Expectation.at(point), image)
        for point, image in crashes(disk, rng, bytes(DISK_BYTES))
        if is_formatted(image)
    ]
    for before, image in rng.sample(first, 6):
        again = recorded(full_depth, rng.randrange(1000), image=bytes(image))
        for point, second in crashes(again, rng, bytes(image)):
            superblock, records, _ = recover_image(second)
            Expectation.at(point, before).judge(superblock, records)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_flipped_bit_is_harmless_or_refused(workload: Workload) -> None:
    """Never silent loss of what the device knows to be acknowledged."""
    rng = random.Random(11)
    disk = recorded(workload, 11)
    verdicts = {"harmless": 0, "refused": 0}
    points = list(crashes(disk, rng, bytes(DISK_BYTES)))
    for point, image in rng.sample(points, min(600, len(points))):
        if not is_formatted(image):
            continue
        superblock, records, summary = recover_image(image)
        expected = Expectation.at(point)
        expected.confirmed = min(expected.confirmed, summary.confirmed_offset)
        flip_a_bit(image, rng, [superblock.ring.position(record.offset) for record in records])
        try:
            superblock, records, _ = recover_image(image)
            expected.judge(superblock, records)
            verdicts["harmless"] += 1
        except (WalCorruptError, WalDeviceError):
            verdicts["refused"] += 1
    assert min(verdicts.values()) > 20, verdicts


def flip_a_bit(image: bytearray, rng: random.Random, positions: list[int]) -> None:
    """Mostly in a live record, else anywhere."""
    in_a_record = positions and rng.random() < 0.7
    at = rng.choice(positions) + rng.randrange(200) if in_a_record else rng.randrange(len(image))
    image[at] ^= 1 << rng.randrange(8)


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_lost_superblocks(lost: int) -> None:
    """One damaged copy costs at most what nothing relied on; both refuse the start."""
    disk = recorded(small_records, 3)
    image = bytearray(disk.image)
    for slot in range(lost):
        image[slot * 4096 : slot * 4096 + 512] = bytes(512)
    if lost < 2:
        try:
            superblock, records, _ = recover_image(image)
        except WalCorruptError:
            return
        *_, last = crash_points(bytes(DISK_BYTES), disk.trace)
        Expectation.at(last).judge(superblock, records)
        return
    damaged = SimulatedDisk(DISK_BYTES)
    damaged.image[:] = image
    with pytest.raises(WalCorruptError, match="no valid superblock"):
        asyncio.run(WalOnDisk(damaged).begin())


def test_the_driver_recovers_what_the_core_does() -> None:
    rng = random.Random(2)
    disk = recorded(laps, 2)
    sample = rng.sample(list(crashes(disk, rng, bytes(DISK_BYTES))), 40)

    async def recover(image: bytearray) -> list[tuple[int, bytes]]:
        copy = SimulatedDisk(DISK_BYTES)
        copy.image[:] = image
        wal = WalOnDisk(copy).wal
        await wal.start()
        return [(record.offset, bytes(record.body)) async for record in wal.recover()]

    for _, image in sample:
        if is_formatted(image):
            _, records, _ = recover_image(image)
            expected = [(record.offset, bytes(record.body)) for record in records]
            assert asyncio.run(recover(image)) == expected
