"""A new file is zeroed behind the appends' back, and never over them."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest

from headrace.config.node import WalConfig
from headrace.wal.layout import RING_POSITION
from headrace.wal.ring import zeroing
from tests.simulation.disk import Completed, SimulatedDevice, SimulatedDisk, Submitted
from tests.simulation.wal_run import WalOnDisk

MIB = 1024 * 1024
CONFIG = WalConfig(path="new", capacity_bytes=RING_POSITION + 20 * MIB, block_bytes=MIB)


class NewFile(SimulatedDevice):
    """A file that the log finds blank."""

    is_file = True


class FileDisk(SimulatedDisk):
    """Opens as a file."""

    def open(self, path: str, *, writable: bool) -> SimulatedDevice:
        return NewFile(self, path, writable=writable)


@pytest.fixture(autouse=True)
def close_to_the_appends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zeroing, "_MARGIN_BYTES", 2 * MIB)
    monkeypatch.setattr(zeroing, "_MIN_DELAY_S", 0.0)


def zero_writes(disk: SimulatedDisk) -> list[Submitted]:
    return [
        event
        for event in disk.trace
        if isinstance(event, Submitted) and event.position >= RING_POSITION and not any(event.data)
    ]


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not reached():
            await asyncio.sleep(0)


def test_a_new_file_is_zeroed_from_its_end_towards_the_appends() -> None:
    async def main() -> None:
        disk = FileDisk(CONFIG.capacity_bytes)
        log = WalOnDisk(disk, CONFIG)
        await log.begin()
        before = disk.writes
        await until(lambda: disk.writes == before + 18)
        await log.wal.shutdown()
        positions = [write.position for write in zero_writes(disk)]
        assert positions == [RING_POSITION + at * MIB for at in range(19, 1, -1)]

    asyncio.run(main())


def test_what_an_interrupted_pass_left_is_zeroed_by_the_next_life() -> None:
    """Neither what was zeroed, nor what was appended: the appends of the next generation begin at the start."""

    async def main() -> None:
        disk = FileDisk(CONFIG.capacity_bytes)
        first = WalOnDisk(disk, CONFIG)
        await first.begin()
        while first.wal.next_offset < first.wal.superblock.head_offset + 5 * MIB:
            first.append(b"\xff" * 900_000)
        await until(lambda: len(zero_writes(disk)) == 3)
        await first.wal.shutdown()
        before = len(zero_writes(disk))
        assert before < 10
        written = {write.position for write in disk.trace if isinstance(write, Submitted)}
        again = WalOnDisk(disk, CONFIG)
        assert await again.begin()
        await until(lambda: not disk.pending and len(disk.pages_written) == 20 * 256 + 2)
        await again.wal.shutdown()
        resumed = zero_writes(disk)[before:]
        assert not written & {write.position for write in resumed}
        assert [write.position for write in resumed] == sorted(
            (write.position for write in resumed), reverse=True
        )
        zeroed = sum(len(write.data) for write in zero_writes(disk))
        assert zeroed >= 14 * MIB
        last = WalOnDisk(disk, CONFIG)
        await last.begin()
        await last.wal.shutdown()
        assert sum(len(write.data) for write in zero_writes(disk)) == zeroed, "nothing is left"

    asyncio.run(main())


def test_a_pass_that_was_cut_off_in_a_step_is_resumed() -> None:
    async def main() -> None:
        disk = FileDisk(CONFIG.capacity_bytes)
        await WalOnDisk(disk, CONFIG).begin()
        disk.automatic = False
        await until(lambda: len(disk.pending) == 1)
        disk.pending.clear()  # the power fails
        disk.has_writer, disk.automatic = False, True
        disk.pages_written = {page for page in disk.pages_written if page < 2}
        again = WalOnDisk(disk, CONFIG)
        await again.begin()
        before = disk.writes
        await until(lambda: disk.writes == before + 18)
        await again.wal.shutdown()
        assert len(zero_writes(disk)) == 1 + 18

    asyncio.run(main())


class HoledFile(NewFile):
    """A file with holes of odd sizes, none of which is next to another."""

    def unwritten(self, start: int, end: int) -> list[tuple[int, int]]:
        return [(start + 3 * MIB, start + 3 * MIB + 4096), (start + 9 * MIB, end - 8192)]


def test_only_what_was_never_written_is_zeroed() -> None:
    async def main() -> None:
        disk = FileDisk(CONFIG.capacity_bytes)
        disk.open = lambda path, *, writable: HoledFile(disk, path, writable=writable)
        log = WalOnDisk(disk, CONFIG)
        await log.begin()
        before = disk.writes
        await until(lambda: disk.writes == before + 12)
        await log.wal.shutdown()
        ranges = sorted(
            (write.position, write.position + len(write.data)) for write in zero_writes(disk)
        )
        assert ranges[0] == (RING_POSITION + 3 * MIB, RING_POSITION + 3 * MIB + 4096)
        assert ranges[1][0] == RING_POSITION + 9 * MIB
        assert ranges[-1][1] == CONFIG.capacity_bytes - 8192
        for (_, end), (begin, _) in pairwise(ranges[1:]):
            assert end == begin

    asyncio.run(main())


@pytest.mark.parametrize("seed", range(2))
def test_zeros_never_meet_a_record(seed: int) -> None:
    """No block is submitted where a step is under way, and no step where a block lies."""

    async def main() -> None:
        rng = random.Random(seed)
        disk = FileDisk(CONFIG.capacity_bytes, rng=rng)
        log = WalOnDisk(disk, CONFIG)
        await log.begin()
        while log.wal.room_for(800_000):
            log.append(b"\xff" * rng.randrange(300_000, 800_000))
            for _ in range(rng.randrange(6)):
                await asyncio.sleep(0)
        await until(lambda: log.wal.confirmed_offset == log.wal.next_offset)
        inflight: dict[int, Submitted] = {}
        taken: list[Submitted] = []
        for event in disk.trace:
            if isinstance(event, Submitted):
                for other in [*inflight.values(), *(taken if not any(event.data) else [])]:
                    assert (
                        event.position + len(event.data) <= other.position
                        or other.position + len(other.data) <= event.position
                    )
                inflight[event.number] = event
                if event.position >= RING_POSITION and any(event.data):
                    taken.append(event)
            elif isinstance(event, Completed):
                del inflight[event.number]
        disk.has_writer = False
        assert len(await WalOnDisk(disk, CONFIG).begin()) == len(
            [event for event in disk.trace if getattr(event, "what", "") == "append"]
        )

    asyncio.run(main())


def test_an_error_while_zeroing_fails_the_log() -> None:
    async def main() -> None:
        disk = FileDisk(CONFIG.capacity_bytes)
        log = WalOnDisk(disk, CONFIG)
        await log.begin()
        disk.fault = lambda number, position: OSError(5, "Input/output error")
        await until(lambda: bool(log.failures))
        assert "Input/output error" in str(log.failures[0])

    asyncio.run(main())


def test_zeroing_keeps_to_the_budget() -> None:
    async def main() -> None:
        disk = FileDisk(CONFIG.capacity_bytes)
        log = WalOnDisk(disk, replace(CONFIG, max_bandwidth_bytes=MIB))
        await log.begin()
        for _ in range(300):
            await asyncio.sleep(0)
        assert len(zero_writes(disk)) <= 1
        await log.wal.shutdown()

    asyncio.run(main())
