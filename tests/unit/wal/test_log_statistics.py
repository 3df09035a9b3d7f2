"""What a log tells of itself, while writes are under way, after them, and after an error."""

import asyncio

from headrace.wal.layout import RING_POSITION
from tests.simulation.disk import SimulatedDisk
from tests.simulation.wal_run import SMALL, WalOnDisk


def on_a_slow_disk() -> tuple[WalOnDisk, SimulatedDisk]:
    disk = SimulatedDisk(SMALL.capacity_bytes)
    return WalOnDisk(disk), disk


async def turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_what_is_not_confirmed_is_queued_and_gets_older() -> None:
    async def main() -> None:
        log, disk = on_a_slow_disk()
        await log.begin()
        wal = log.wal
        assert wal.statistics.queue() == (0, 0)
        disk.automatic = False
        for _ in range(4):
            log.append(bytes(6000))
        await turns()
        first = wal.statistics.queue()
        assert first.writes == 3, "the fourth block is still open"
        assert first.oldest_age_ns > 0
        assert wal.statistics.queue().oldest_age_ns > first.oldest_age_ns
        assert sum(wal.statistics.appends.counts) == 0
        oldest = next(write for write in disk.pending if write.position >= RING_POSITION)
        disk.complete(disk.pending.index(oldest))
        assert sum(wal.statistics.appends.counts) == 1
        disk.automatic = True
        while disk.pending:
            disk.complete()
        while wal.confirmed_offset < wal.next_offset:
            await asyncio.sleep(0)
        assert wal.statistics.queue() == (0, 0)
        assert sum(wal.statistics.appends.counts) == 4
        await wal.shutdown()

    asyncio.run(main())


def test_every_append_is_measured_once_however_blocks_are_cut() -> None:
    async def main() -> None:
        log, _ = on_a_slow_disk()
        await log.begin()
        count = 0
        for size in (1, 100, 4000, 12_000, 7_000, 30, 4008, 4016, 8100, 15_000) * 20:
            while not log.wal.room_for(size):
                log.trim(log.wal.confirmed_offset - 1)
                await asyncio.sleep(0)
            log.append(bytes(max(size, 4)))
            count += 1
        await log.wal.shutdown()
        statistics = log.wal.statistics
        assert sum(statistics.appends.counts) == count
        assert statistics.appends.sum_ns > 0
        assert sum(statistics.writes.counts) == statistics.writes_total
        assert 0 < statistics.superblock_writes_total < statistics.writes_total
        assert statistics.io_errors_total == 0

    asyncio.run(main())


def test_an_error_is_counted_and_is_no_write() -> None:
    async def main() -> None:
        log, disk = on_a_slow_disk()
        await log.begin()
        before = log.wal.statistics.writes_total
        disk.fault = lambda number, position: OSError(5, "Input/output error")
        log.append(b"lost")
        while not log.failures:
            await asyncio.sleep(0)
        assert log.wal.statistics.io_errors_total == 1
        assert log.wal.statistics.writes_total == before

    asyncio.run(main())


def test_every_write_of_a_superblock_is_counted_those_of_start_reset_and_shutdown_too() -> None:
    async def main() -> None:
        log, disk = on_a_slow_disk()
        superblocks = 0
        submit = disk.submit

        def counted(position: int, data: memoryview, done: object) -> None:
            nonlocal superblocks
            superblocks += position < RING_POSITION
            submit(position, data, done)

        disk.submit = counted
        await log.begin()
        assert log.wal.statistics.superblock_writes_total == superblocks >= 4
        log.append(b"some")
        await log.wal.shutdown()
        assert log.wal.statistics.superblock_writes_total == superblocks >= 6

    asyncio.run(main())
