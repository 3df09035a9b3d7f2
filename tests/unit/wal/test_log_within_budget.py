"""The log as a whole keeps to its budgets, superblocks included, and uses them up; in virtual time."""

import asyncio
import random
from contextlib import suppress
from dataclasses import replace

import pytest

from headrace.config.node import WalConfig
from headrace.wal.errors import WalFailedError
from headrace.wal.layout import RING_POSITION
from headrace.wal.ring.log import DeltaWal
from headrace.wal.ring.wake_timer import LoopTimer
from tests.simulation.disk import SimulatedDisk
from tests.simulation.virtual_time import run

KIB = 1024
CONFIG = WalConfig(
    path="simulated",
    capacity_bytes=RING_POSITION + 1024 * KIB,
    block_bytes=32 * KIB,
    io_depth=4,
    window_bytes_initial=32 * KIB,
    max_window_bytes=256 * KIB,
    max_record_bytes=64 * KIB,
)
SECONDS = 4


class BusyLog:
    """Appends whenever there is room and trims whatever is confirmed, which wants a superblock each time."""

    def __init__(self, config: WalConfig, record_bytes: int) -> None:
        self.record = bytes(record_bytes)
        self.disk = SimulatedDisk(config.capacity_bytes)
        self.writes: list[tuple[float, int]] = []  # when, bytes
        self.superblocks = 0
        self.running = True
        self.confirmed_bytes = 0
        submit = self.disk.submit

        def counted(position: int, data: memoryview, done: object) -> None:
            self.writes.append((asyncio.get_running_loop().time(), len(data)))
            self.superblocks += position < RING_POSITION
            submit(position, data, done)

        self.disk.submit = counted
        self.wal = DeltaWal(
            config,
            node_id=1,
            node_epoch=1,
            cluster_id="c",
            rng=random.Random(1),
            wall_clock_ms=lambda: 0,
            on_confirmed=self._on_confirmed,
            on_failed=lambda error: pytest.fail(str(error)),
            on_room=self._fill,
            opener=lambda config, writable: self.disk.open(config.path, writable=writable),
            monotonic_ns=lambda: int(asyncio.get_running_loop().time() * 1e9),
            wake_timer=LoopTimer,
        )

    async def work(self, seconds: float) -> None:
        await self.wal.start()
        async for _ in self.wal.recover():
            pass
        await self.wal.reset()
        self.writes.clear()
        self.superblocks = 0
        self._fill()
        await asyncio.sleep(seconds)
        self.running = False

    def _fill(self) -> None:
        while self.running and self.wal.room_for(len(self.record)):
            self.wal.append(b"", self.record)

    def _on_confirmed(self, offset: int) -> None:
        with suppress(WalFailedError):  # it is being shut down
            self.wal.trim(offset - 1)
        self._fill()


def busiest(amounts: list[tuple[float, int]]) -> int:
    """The largest sum within any second."""
    return max(
        sum(amount for at, amount in amounts if begin <= at < begin + 1) for begin, _ in amounts
    )


@pytest.mark.parametrize("record_bytes", [100, 20_000])
def test_no_second_sees_more_writes_than_allowed_and_nearly_all_are_used(record_bytes: int) -> None:
    async def main() -> None:
        log = BusyLog(replace(CONFIG, max_iops=200), record_bytes)
        await log.work(SECONDS)
        assert busiest([(at, 1) for at, _ in log.writes]) <= 200
        assert len(log.writes) >= 0.93 * 200 * SECONDS, "the others may have been under way"
        assert log.superblocks > 100, "each trim wants one"

    run(main())


def test_bandwidth_is_reached_within_few_operations_by_larger_blocks() -> None:
    """200 operations a second of 100-byte records move 3 MiB a second only if each carries many."""

    async def main() -> None:
        limit = 3 * 1024 * KIB
        log = BusyLog(replace(CONFIG, max_iops=200, max_bandwidth_bytes=limit), 100)
        await log.work(SECONDS)
        assert busiest([(at, 1) for at, _ in log.writes]) <= 200
        assert busiest(log.writes) <= limit
        assert sum(size for _, size in log.writes) >= 0.95 * limit * SECONDS

    run(main())


def test_what_was_appended_is_written_at_shutdown_whatever_the_budget() -> None:
    async def main() -> None:
        log = BusyLog(replace(CONFIG, max_iops=20), 20_000)
        await log.work(1)
        end = log.wal.next_offset
        await log.wal.shutdown()
        assert log.wal.confirmed_offset >= end

    run(main())


def test_a_shutdown_that_a_budget_holds_back_ends_and_says_so() -> None:
    async def main() -> None:
        log = BusyLog(replace(CONFIG, max_bandwidth_bytes=2 * KIB), 20_000)
        await log.work(1)
        begin_s = asyncio.get_running_loop().time()
        with pytest.raises(
            WalFailedError, match=r"after 30 s: iops or iobandwidth of s3\.wal\.path"
        ):
            await log.wal.shutdown()
        assert asyncio.get_running_loop().time() - begin_s <= 31
        writes = len(log.writes)
        await asyncio.sleep(600)
        assert len(log.writes) == writes, "the device is somebody else's by now"

    run(main())
