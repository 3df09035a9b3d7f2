"""The load: its schedule waits for nothing, and latency counts from it; in virtual time."""

import asyncio
from collections.abc import Callable

from headrace.config.node import WalConfig
from headrace.wal.layout import RING_POSITION
from headrace.wal.ring.wake_timer import LoopTimer
from headrace.wal.tools.benchmark.figures import Load
from headrace.wal.tools.benchmark.load import LoadDriver
from tests.simulation.disk import SimulatedDisk
from tests.simulation.virtual_time import run

KIB = 1024
CONFIG = WalConfig(
    path="simulated",
    capacity_bytes=RING_POSITION + 4096 * KIB,
    block_bytes=64 * KIB,
    io_depth=4,
    max_window_bytes=1024 * KIB,
)


class StallingDisk(SimulatedDisk):
    """Completes writes at once, but for a time in which it completes none."""

    def __init__(self, stall_from_s: float, stall_to_s: float) -> None:
        super().__init__(CONFIG.capacity_bytes, automatic=False)
        self.stall = (stall_from_s, stall_to_s)
        self.max_depth = 0

    def submit(self, position: int, data: memoryview, done: Callable) -> None:
        super().submit(position, data, done)
        self.max_depth = max(self.max_depth, len(self.pending))
        loop = asyncio.get_running_loop()
        begin, end = self.stall
        delay = end - loop.time() if begin <= loop.time() < end else 0.001
        loop.call_later(delay, self.complete)


def drive(load: Load, disk: StallingDisk, seconds: float) -> LoadDriver:
    async def main() -> LoadDriver:
        loop = asyncio.get_running_loop()
        driver = LoadDriver(
            load,
            CONFIG,
            opener=lambda config, writable: disk.open(config.path, writable=writable),
            clock_ns=lambda: round(loop.time() * 1e9),
            wake_timer=LoopTimer,
        )
        await driver.wal.start()
        async for _ in driver.wal.recover():
            pass
        await driver.wal.reset()
        disk.stall = tuple(loop.time() + offset for offset in disk.stall)
        driver.begin()
        await asyncio.sleep(seconds)
        driver.end()
        await driver.wal.shutdown()
        return driver

    return run(main())


def test_a_stall_is_charged_to_every_record_that_was_due_meanwhile() -> None:
    """1,000 records a second and a stall of 100 ms: a hundred of them waited, by 50 ms on average."""
    disk = StallingDisk(0.5, 0.6)
    latencies = drive(Load(KIB, 1000 * KIB), disk, 1.0).take_latencies()
    assert 995 <= len(latencies) <= 1005, "the rate is kept, stall or not"
    late_ns = [latency for latency in latencies if latency > 10_000_000]
    assert 80 <= len(late_ns) <= 110
    assert 40e6 < sum(late_ns) / len(late_ns) < 60e6


def test_records_that_find_no_room_are_not_forgotten() -> None:
    """4,000 KiB a second, 1,024 KiB of which may be unconfirmed, and a stall of a second."""
    disk = StallingDisk(0.2, 1.2)
    latencies = drive(Load(4 * KIB, 4000 * KIB), disk, 2.5).take_latencies()
    assert len(latencies) >= 2400
    assert max(latencies) >= 990e6


def test_flat_out_keeps_the_device_busy_and_the_open_bytes_bounded() -> None:
    disk = StallingDisk(9.0, 9.0)
    driver = drive(Load(16 * KIB, 0), disk, 0.5)
    latencies = driver.take_latencies()
    assert CONFIG.io_depth <= disk.max_depth <= CONFIG.io_depth + 1, "and a superblock"
    # 4 writes of 3 records each millisecond, at least; twice as much is open.
    assert len(latencies) > 4 * 3 * 450
    assert max(latencies) < 10e6


def test_the_ring_is_trimmed_as_it_fills() -> None:
    driver = drive(Load(64 * KIB, 0), StallingDisk(9.0, 9.0), 0.5)
    assert len(driver.take_latencies()) * 64 * KIB > 3 * CONFIG.capacity_bytes
