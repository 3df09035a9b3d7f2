"""Another capacity for a running log, on a simulated disk and on real files."""

import asyncio
import errno
import logging
import os
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from headrace.wal.errors import WalDeviceError, WalFailedError, WalOverCapacityError, WalStateError
from headrace.wal.layout import RING_POSITION, newest_superblock
from headrace.wal.port import ResizableLog
from headrace.wal.ring.log import DeltaWal
from tests.simulation.disk import SimulatedDevice, SimulatedDisk
from tests.simulation.wal_run import KIB, SMALL, WalOnDisk

MIB = 1024 * KIB
OLD = SMALL.capacity_bytes
LARGER = OLD + 64 * KIB
SMALLER = OLD - 20 * KIB
DISK_BYTES = 2 * OLD
WRITES_OF_A_SWITCH = 2

Scenario = Callable[[WalOnDisk], Awaitable[None]]


def satisfies_the_port(wal: DeltaWal) -> ResizableLog:
    return wal


def run(scenario: Scenario, disk: SimulatedDisk | None = None) -> SimulatedDisk:
    """Run a scenario on a log that is ready for appends."""
    on = disk or SimulatedDisk(DISK_BYTES)

    async def main() -> None:
        log = WalOnDisk(on)
        await log.begin()
        await scenario(log)

    asyncio.run(main())
    return on


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0)


async def confirmed(log: WalOnDisk) -> None:
    await until(lambda: log.wal.confirmed_offset == log.wal.next_offset)


async def emptied(log: WalOnDisk) -> None:
    """Park appends and release everything, as the engine does once it is in the bucket."""
    log.wal.begin_resize()
    await confirmed(log)
    if log.wal.used_bytes:
        log.trim(log.wal.confirmed_offset - 1)


async def recovered(disk: SimulatedDisk, capacity_bytes: int) -> tuple[WalOnDisk, list[bytes]]:
    """Crash, and start again with this configuration."""
    disk.has_writer = False
    log = WalOnDisk(disk, replace(SMALL, capacity_bytes=capacity_bytes))
    return log, [bytes(record.body) for record in await log.begin()]


@pytest.mark.parametrize("capacity_bytes", [LARGER, SMALLER, OLD])
def test_the_log_goes_on_with_another_capacity(capacity_bytes: int) -> None:
    async def scenario(log: WalOnDisk) -> None:
        before = log.append(b"before the resize")
        await emptied(log)
        await log.wal.resize(capacity_bytes)
        assert log.wal.device_bytes == capacity_bytes
        assert log.wal.capacity_bytes == capacity_bytes - RING_POSITION
        assert log.wal.used_bytes == 0
        assert log.wal.next_offset >= before
        bodies = []
        while log.wal.room_for(3000):  # to the last byte of the new ring
            bodies.append(b"%04d" % len(bodies) + bytes(2996))
            assert log.append(bodies[-1]) > before
            await confirmed(log)
        assert len(bodies) == (capacity_bytes - RING_POSITION) // 4096
        for configured in (OLD, capacity_bytes):
            again, found = await recovered(log.disk, configured)
            assert found == bodies
            assert again.wal.device_bytes == configured
            bodies = []

    run(scenario)


def test_appends_are_parked_from_begin_to_end() -> None:
    async def scenario(log: WalOnDisk) -> None:
        end = log.append(b"appended before")
        log.wal.begin_resize()
        assert not log.wal.room_for(1)
        with pytest.raises(WalOverCapacityError, match="being resized"):
            log.append(b"parked")
        await confirmed(log)
        assert log.confirmed[-1] >= end, "what was appended before goes on"
        rooms = log.rooms
        log.trim(log.wal.confirmed_offset - 1)
        await log.wal.resize(LARGER)
        assert log.rooms > rooms, "who waits is told"
        assert log.wal.room_for(1)
        log.wal.cancel_resize()
        assert log.wal.room_for(1)

    run(scenario)


def test_a_cancelled_resize_changes_nothing() -> None:
    async def scenario(log: WalOnDisk) -> None:
        log.append(b"one 1")
        log.wal.begin_resize()
        log.wal.cancel_resize()
        log.append(b"two 2")
        await confirmed(log)
        assert log.wal.device_bytes == OLD
        assert (await recovered(log.disk, OLD))[1] == [b"one 1", b"two 2"]

    run(scenario)


def test_a_ring_that_is_not_empty_is_not_switched() -> None:
    async def scenario(log: WalOnDisk) -> None:
        log.append(b"not trimmed")
        log.wal.begin_resize()
        await confirmed(log)
        writes = log.disk.writes
        with pytest.raises(WalStateError, match="4096 bytes of the WAL are in use"):
            await log.wal.resize(LARGER)
        assert log.disk.writes == writes
        log.wal.cancel_resize()
        log.append(b"and goes on")
        await confirmed(log)
        assert (await recovered(log.disk, OLD))[1] == [b"not trimmed", b"and goes on"]

    run(scenario)


def test_the_trim_that_empties_the_ring_must_be_durable_first() -> None:
    """Else a crash would find the records of the old generation beside the superblock of the new one."""

    async def scenario(log: WalOnDisk) -> None:
        log.append(b"released")
        log.wal.begin_resize()
        await confirmed(log)
        log.disk.automatic = False
        log.trim(log.wal.confirmed_offset - 1)
        resizing = asyncio.create_task(log.wal.resize(LARGER))
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(log.disk.pending) == 1, "the trim alone"
        generation_id = log.wal.superblock.generation_id
        written = newest_superblock(log.disk.pending[0].data.ljust(RING_POSITION, b"\0"))
        assert written is None or written.generation_id == generation_id
        log.disk.complete()
        await until(lambda: bool(log.disk.pending))
        log.disk.complete()
        await until(lambda: bool(log.disk.pending))
        assert not resizing.done(), "one superblock is not enough"
        log.disk.complete()
        await resizing

    run(scenario)


@pytest.mark.parametrize(
    ("capacity_bytes", "message"),
    [
        (
            DISK_BYTES + 4096,
            f"has {DISK_BYTES} bytes, less than the requested capacity of {DISK_BYTES + 4096}",
        ),
        (8192, "a WAL of 8192 bytes is too small"),
        (-1, "too small"),
    ],
)
def test_what_is_impossible_is_refused_before_anything_happens(
    capacity_bytes: int, message: str
) -> None:
    async def scenario(log: WalOnDisk) -> None:
        image = bytes(log.disk.image)
        with pytest.raises(WalDeviceError, match=message):
            await log.wal.prepare_resize(capacity_bytes)
        assert log.wal.room_for(1)
        log.wal.begin_resize()
        with pytest.raises(WalDeviceError, match=message):
            await log.wal.resize(capacity_bytes)
        log.wal.cancel_resize()
        assert bytes(log.disk.image) == image
        log.append(b"goes on")
        await confirmed(log)

    run(scenario)


def test_calls_out_of_order_are_refused() -> None:
    async def main() -> None:
        log = WalOnDisk(SimulatedDisk(DISK_BYTES))
        with pytest.raises(WalStateError):
            log.wal.begin_resize()
        log.wal.cancel_resize()
        await log.begin()
        with pytest.raises(WalStateError, match="begin_resize first"):
            await log.wal.resize(LARGER)
        log.wal.begin_resize()
        first = asyncio.create_task(log.wal.resize(LARGER))
        await asyncio.sleep(0)
        with pytest.raises(WalStateError, match="already being resized"):
            await log.wal.resize(SMALLER)
        await first
        await log.wal.shutdown()
        with pytest.raises(WalFailedError):
            log.wal.begin_resize()
        with pytest.raises(WalFailedError):
            await log.wal.resize(LARGER)
        log.wal.cancel_resize()
        assert not log.wal.room_for(1)

    asyncio.run(main())


async def at_the_first_superblock(log: WalOnDisk) -> "asyncio.Task[None]":
    """Begin a resize; its first write is at the disk when this returns."""
    offset = log.wal.append(b"", b"released").offset
    log.wal.begin_resize()
    await confirmed(log)
    log.trim(offset)  # as far as it goes; later offsets release nothing more
    await until(lambda: log.wal.used_bytes == 0)
    log.disk.automatic = False
    resizing = asyncio.create_task(log.wal.resize(SMALLER))
    await until(lambda: len(log.disk.pending) == 1)
    return resizing


def test_nothing_is_written_beside_the_superblocks_of_a_switch() -> None:
    async def scenario(log: WalOnDisk) -> None:
        resizing = await at_the_first_superblock(log)
        log.wal.trim(
            log.wal.confirmed_offset - 1
        )  # news, and nothing that the next generation needs
        assert len(log.disk.pending) == 1
        log.disk.automatic = True
        log.disk.complete()
        await resizing
        assert (await recovered(log.disk, OLD))[1] == []

    run(scenario)


def test_a_log_that_fails_while_switching_stays_failed(caplog: pytest.LogCaptureFixture) -> None:
    """A write that is reported late is not trusted any more, even if it does complete."""
    caplog.set_level(logging.CRITICAL + 1)

    async def scenario(log: WalOnDisk) -> None:
        resizing = await at_the_first_superblock(log)
        log.wal._on_failed(TimeoutError("a write took too long"))
        log.disk.automatic = True
        log.disk.complete()
        with pytest.raises(WalFailedError, match="took too long"):
            await resizing
        with pytest.raises(WalFailedError, match="took too long"):
            log.wal.append(b"", b"refused")

    run(scenario)


@pytest.mark.parametrize("failing", range(WRITES_OF_A_SWITCH + 1))
def test_an_error_while_switching_fails_the_log_like_any_other(
    failing: int, caplog: pytest.LogCaptureFixture
) -> None:
    """The write of the trim, of the first superblock, of the second."""
    caplog.set_level(logging.CRITICAL + 1)

    async def scenario(log: WalOnDisk) -> None:
        log.append(b"released")
        log.wal.begin_resize()
        await confirmed(log)
        number = log.disk.writes + failing
        log.disk.fault = lambda write, position: OSError(5, "EIO") if write == number else None
        log.trim(log.wal.confirmed_offset - 1)
        with pytest.raises(WalFailedError, match="EIO"):
            await log.wal.resize(SMALLER)
        log.wal.cancel_resize()
        assert len(log.failures) == 1
        with pytest.raises(WalFailedError, match="EIO"):
            log.append(b"refused")
        with pytest.raises(WalFailedError, match="EIO"):
            await log.wal.shutdown()
        assert not log.disk.has_writer
        log.disk.fault = lambda write, position: None
        again, found = await recovered(log.disk, OLD)
        assert found == ([b"released"] if failing == 0 else [])
        again.append(b"goes on")
        await confirmed(again)

    run(scenario)


def test_a_superblock_that_hangs_fails_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL + 1)

    async def main() -> None:
        log = WalOnDisk(SimulatedDisk(DISK_BYTES), replace(SMALL, io_timeout_ms=20))
        await log.begin()
        log.wal.begin_resize()
        log.disk.fault = lambda write, position: SimulatedDisk.HANG
        with pytest.raises(WalFailedError):
            await log.wal.resize(LARGER)
        assert len(log.failures) == 1

    asyncio.run(main())


def steps_of_a_resize() -> range:
    """Turns of the loop after which a resize may be interrupted."""
    return range(40)


@pytest.mark.parametrize("turns", steps_of_a_resize())
def test_a_cancellation_leaves_a_running_log_of_either_capacity(turns: int) -> None:
    async def scenario(log: WalOnDisk) -> None:
        log.append(b"released")
        await emptied(log)
        resizing = asyncio.create_task(log.wal.resize(LARGER))
        for _ in range(turns):
            await asyncio.sleep(0)
        resizing.cancel()
        await asyncio.wait([resizing])
        log.wal.cancel_resize()
        capacity_bytes = log.wal.device_bytes
        assert capacity_bytes == OLD if not turns else capacity_bytes in (OLD, LARGER)
        assert log.wal.room_for(1)
        log.append(b"goes on")
        await confirmed(log)
        await until(lambda: not log.disk.pending)
        again, found = await recovered(log.disk, OLD)
        assert [body for body in found if body != b"released"] == [b"goes on"]
        if capacity_bytes == LARGER:
            assert found == [b"goes on"]
        assert not log.failures + again.failures

    run(scenario)


def test_the_cancellations_met_both_capacities() -> None:
    """Otherwise the test above would not show what it says."""
    met = set()

    async def scenario(log: WalOnDisk) -> None:
        await emptied(log)
        resizing = asyncio.create_task(log.wal.resize(LARGER))
        for _ in range(turns):
            await asyncio.sleep(0)
        met.add((resizing.done(), log.wal.device_bytes))
        await resizing

    for turns in steps_of_a_resize():  # noqa: B007 - the scenario uses it
        run(scenario)
    assert {(False, OLD), (True, LARGER)} <= met


@pytest.mark.parametrize("turns", steps_of_a_resize())
def test_a_shutdown_while_resizing_ends_it(turns: int) -> None:
    async def scenario(log: WalOnDisk) -> None:
        log.append(b"released")
        await emptied(log)
        resizing = asyncio.create_task(log.wal.resize(SMALLER))
        for _ in range(turns):
            await asyncio.sleep(0)
        await log.wal.shutdown()
        await asyncio.wait([resizing])
        assert not resizing.cancelled(), "nobody cancelled it"
        error = resizing.exception()
        assert error is None or isinstance(error, WalFailedError)
        assert not log.disk.has_writer
        assert not log.failures
        superblock = newest_superblock(log.disk.image[:RING_POSITION])
        assert superblock is not None
        assert superblock.capacity_bytes == SMALLER or error is not None
        assert (await recovered(log.disk, OLD))[1] == []

    run(scenario)


def test_giving_up_while_a_resize_waits_ends_it() -> None:
    async def scenario(log: WalOnDisk) -> None:
        log.disk.automatic = False
        log.append(b"on its way")
        log.wal.begin_resize()
        resizing = asyncio.create_task(log.wal.resize(LARGER))
        await asyncio.sleep(0)
        log.wal.cancel_resize()
        with pytest.raises(WalStateError, match="cancelled"):
            await resizing
        log.append(b"goes on")
        log.disk.automatic = True
        while log.disk.pending:
            log.disk.complete()
        await confirmed(log)

    run(scenario)


def test_a_trim_of_the_old_life_does_no_harm_to_the_new_one() -> None:
    async def scenario(log: WalOnDisk) -> None:
        old_end = log.append(b"released")
        await emptied(log)
        await log.wal.resize(LARGER)
        log.append(b"new")
        await confirmed(log)
        log.wal.trim(old_end - 1)
        assert (await recovered(log.disk, OLD))[1] == [b"new"]

    run(scenario)


def test_resizes_in_a_row_while_the_log_is_used() -> None:
    """Records of every generation are seen by nobody after it, whatever the ring was."""

    async def scenario(log: WalOnDisk) -> None:
        rng = random.Random(5)
        offsets = []
        for turn in range(20):
            for _ in range(rng.randrange(12)):
                offsets.append(log.append(bytes(rng.randrange(4, 4000))))
                if rng.randrange(2):
                    await confirmed(log)
            await emptied(log)
            await log.wal.resize(rng.choice([OLD, LARGER, SMALLER, SMALLER + 4096 * turn]))
        log.append(b"last")
        await confirmed(log)
        assert offsets == sorted(set(offsets))
        assert (await recovered(log.disk, OLD))[1] == [b"last"]

    run(scenario)


class GrowingDevice(SimulatedDevice):
    """A simulated disk that is a file: it is zeroed ahead, and its size follows."""

    is_file = True

    def allocate(self, size_bytes: int) -> None:
        self.disk.image.extend(bytes(max(0, size_bytes - len(self.disk.image))))

    def shrink(self, size_bytes: int) -> None:
        ends = [write.position + len(write.data) for write in self.disk.pending]
        assert max(ends, default=0) <= size_bytes, "shrunk while something is under way there"
        del self.disk.image[size_bytes:]


def test_a_step_of_zeroing_that_is_under_way_is_waited_for() -> None:
    """It is a write into the ring: it would wipe what the next generation puts there."""

    async def main() -> None:
        disk = SimulatedDisk(16 * MIB)
        log = WalOnDisk(disk, replace(SMALL, capacity_bytes=16 * MIB))
        log.wal._opener = lambda config, writable: GrowingDevice(disk, "file", writable=writable)
        await log.begin()
        disk.automatic = False
        await until(lambda: len(disk.pending) == 1)  # the zeroing's
        log.wal.begin_resize()
        resizing = asyncio.create_task(log.wal.resize(12 * MIB))
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(disk.pending) == 1, "no superblock is written beside it"
        disk.automatic = True
        disk.complete()
        await resizing
        await log.wal.finish_resize()
        assert len(disk.image) == 12 * MIB
        await log.wal.shutdown()

    asyncio.run(main())


# --- on files


class WalOnFile:
    """A log in a file."""

    def __init__(self, path: Path, capacity_bytes: int = MIB, io: str = "auto") -> None:
        self.path = path
        self.confirmed = 0
        self.failures: list[Exception] = []
        self.wal = DeltaWal(
            replace(SMALL, path=str(path), capacity_bytes=capacity_bytes, io=io),
            node_id=1,
            node_epoch=1,
            cluster_id="file",
            rng=random.Random(1),
            wall_clock_ms=lambda: 0,
            on_confirmed=self._on_confirmed,
            on_failed=self.failures.append,
        )

    def _on_confirmed(self, offset: int) -> None:
        self.confirmed = offset

    async def begin(self) -> list[bytes]:
        await self.wal.start()
        bodies = [bytes(record.body) async for record in self.wal.recover()]
        await self.wal.reset()
        return bodies

    async def append(self, body: bytes) -> None:
        end = self.wal.append(b"", body).end_offset
        async with asyncio.timeout(10):
            while self.confirmed < end:
                await asyncio.sleep(0)

    async def resize(self, capacity_bytes: int) -> None:
        await self.wal.prepare_resize(capacity_bytes)
        self.wal.begin_resize()
        if self.wal.used_bytes:
            self.wal.trim(self.confirmed - 1)
        await self.wal.resize(capacity_bytes)
        await self.wal.finish_resize()

    @property
    def file_bytes(self) -> int:
        return self.path.stat().st_size


@pytest.mark.parametrize("io", ["aio", "threads"])
def test_a_file_grows_and_shrinks_with_its_log(tmp_path: Path, io: str) -> None:
    async def main() -> None:
        log = WalOnFile(tmp_path / "wal", io=io)
        await log.begin()
        for capacity_bytes in (4 * MIB, MIB, 64 * KIB, 2 * MIB):
            await log.append(b"x" * 5000)
            await log.resize(capacity_bytes)
            assert log.file_bytes == log.wal.device_bytes == capacity_bytes
            assert log.path.stat().st_blocks * 512 >= capacity_bytes, "its space is reserved"
        await log.append(b"last")
        await log.wal.shutdown()
        again = WalOnFile(tmp_path / "wal", 2 * MIB)
        assert await again.begin() == [b"last"]
        await again.wal.shutdown()

    asyncio.run(main())


@pytest.mark.parametrize("configured", [4 * MIB, 64 * KIB])
def test_a_restart_takes_over_the_configured_capacity(tmp_path: Path, configured: int) -> None:
    async def main() -> None:
        log = WalOnFile(tmp_path / "wal")
        await log.begin()
        await log.append(b"kept")
        await log.wal.shutdown()
        again = WalOnFile(tmp_path / "wal", configured)
        assert await again.begin() == [b"kept"], (
            "recovered with the capacity that it was written with"
        )
        await again.wal.finish_resize()
        assert again.file_bytes == again.wal.device_bytes == configured
        await again.append(b"more")
        await again.wal.shutdown()

    asyncio.run(main())


def full_disk(present_bytes: int) -> Callable[[int, int, int], None]:
    """What the kernel may do: allocate some of it, then find no more."""

    def posix_fallocate(fd: int, start: int, size: int) -> None:
        if start + size > present_bytes:
            os.ftruncate(fd, present_bytes + 4096)
            raise OSError(errno.ENOSPC, "No space left on device")

    return posix_fallocate


def test_a_file_that_cannot_grow_leaves_the_log_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        log = WalOnFile(tmp_path / "wal")
        await log.begin()
        monkeypatch.setattr(os, "posix_fallocate", full_disk(MIB))
        with pytest.raises(WalDeviceError, match=r"cannot allocate 4194304 bytes.*No space left"):
            await log.resize(4 * MIB)
        assert log.file_bytes == MIB, "nothing is taken from a full disk for nothing"
        await log.append(b"goes on")
        await log.resize(512 * KIB)
        assert log.file_bytes == 512 * KIB
        await log.wal.shutdown()

    asyncio.run(main())


def test_a_restart_on_a_full_disk_keeps_the_capacity_that_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What is in the log is worth more than its size."""

    async def main() -> None:
        log = WalOnFile(tmp_path / "wal")
        await log.begin()
        await log.append(b"kept")
        await log.wal.shutdown()
        monkeypatch.setattr(os, "posix_fallocate", full_disk(MIB))
        again = WalOnFile(tmp_path / "wal", 4 * MIB)
        assert await again.begin() == [b"kept"]
        assert again.wal.device_bytes == again.file_bytes == MIB
        assert "cannot allocate 4194304 bytes" in caplog.text
        assert "keeps its capacity of 1048576 bytes" in caplog.text
        await again.append(b"goes on")
        await again.wal.shutdown()
        with pytest.raises(WalDeviceError, match="No space left"):
            await WalOnFile(tmp_path / "new", 4 * MIB).wal.start()

    asyncio.run(main())


def test_a_resize_that_is_given_up_gives_the_space_back(tmp_path: Path) -> None:
    async def main() -> None:
        log = WalOnFile(tmp_path / "wal")
        await log.begin()
        await log.wal.prepare_resize(4 * MIB)
        assert log.file_bytes == 4 * MIB
        await log.append(b"meanwhile")
        log.wal.begin_resize()
        log.wal.cancel_resize()
        await log.append(b"goes on")
        await log.wal.finish_resize()
        assert log.file_bytes == MIB
        await log.wal.shutdown()
        again = WalOnFile(tmp_path / "wal")
        assert await again.begin() == [b"meanwhile", b"goes on"]
        await again.wal.shutdown()

    asyncio.run(main())


def test_a_crash_before_the_file_shrank_is_made_up_for_by_the_next_start(tmp_path: Path) -> None:
    async def main() -> None:
        log = WalOnFile(tmp_path / "wal")
        await log.begin()
        await log.wal.shutdown()
        with (tmp_path / "wal").open("r+b") as file:
            file.truncate(8 * MIB)
        again = WalOnFile(tmp_path / "wal")
        assert await again.begin() == []
        await again.wal.finish_resize()
        assert again.file_bytes == MIB
        await again.wal.shutdown()

    asyncio.run(main())
