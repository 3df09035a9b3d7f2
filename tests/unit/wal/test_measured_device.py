"""A device that is written by the faster one of two kinds of IO."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from headrace.config.node import WalConfig
from headrace.wal.aio_device import AioDevice
from headrace.wal.buffers import BufferPool
from headrace.wal.device import WriteDone
from headrace.wal.errors import WalLockedError
from headrace.wal.file_device import open_file
from headrace.wal.io_choice import PAIRS
from headrace.wal.measured_device import MeasuredDevice
from headrace.wal.open_device import open_device
from headrace.wal.thread_device import ThreadDevice

PAGE = 4096
pool = BufferPool(idle_bytes_per_class=1 << 20)


class Clock:
    """Nanoseconds, moved by the devices."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


def slowed(clock: Clock, latency_ns: int, error: OSError | None = None) -> Any:
    """Return a mixin: a real device whose writes take so long on the clock, and may fail in the end."""

    class Slowed:
        writes = 0

        def write(self, position: int, data: memoryview, done: WriteDone) -> None:
            Slowed.writes += 1

            def finish(found: OSError | None) -> None:
                clock.now_ns += latency_ns
                done(error or found)

            super().write(position, data, finish)  # type: ignore[misc]

    return Slowed


async def write(device: MeasuredDevice, fill: int) -> OSError | None:
    page = pool.take(PAGE)[:PAGE]
    page[:] = bytes([fill]) * PAGE
    future: asyncio.Future[OSError | None] = asyncio.get_running_loop().create_future()
    device.write(fill % 8 * PAGE, page, future.set_result)
    return await future


def measured(path: Path, clock: Clock, *mixins: Any) -> MeasuredDevice:
    path.write_bytes(bytes(8 * PAGE))
    loop = asyncio.get_running_loop()
    file = open_file(str(path), writable=True)
    of_first, of_second = mixins
    first = type("First", (of_first, AioDevice), {})(file, loop, depth=2)
    second = type("Second", (of_second, ThreadDevice), {})(file.duplicate(), loop, threads=1)
    return MeasuredDevice(first, second, clock)


def test_the_faster_kind_gets_the_writes_and_all_of_them_are_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "headrace.wal")

    async def main() -> None:
        clock = Clock()
        slow, fast = slowed(clock, 4_000_000), slowed(clock, 350_000)
        device = measured(tmp_path / "wal", clock, slow, fast)
        assert device.io == "aio"
        for number in range(2 * PAIRS):
            assert await write(device, number) is None
        assert device.io == "threads"
        assert slow.writes == fast.writes == PAIRS
        for number in range(8):
            page = pool.take(PAGE)[:PAGE]
            await device.read(number * PAGE, page)
            assert set(page) == {2 * PAIRS - 8 + number}
        await device.close()

    asyncio.run(main())
    assert [it.getMessage() for it in caplog.records] == [
        "the other kind of IO is faster now; the WAL is written by it"
    ]


def test_a_write_that_fails_is_passed_on_and_says_nothing_about_its_kind(tmp_path: Path) -> None:
    async def main() -> None:
        clock = Clock()
        error = OSError("broken")
        mixins = slowed(clock, 4_000_000), slowed(clock, 0, error)
        device = measured(tmp_path / "wal", clock, *mixins)
        found = [await write(device, number) for number in range(4 * PAIRS)]
        assert found.count(error) >= PAIRS
        assert device.io == "aio"
        await device.close()

    asyncio.run(main())


def test_the_lock_is_held_until_both_kinds_are_closed(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "wal"
        path.write_bytes(bytes(8 * PAGE))
        config = WalConfig(path=str(path), io="auto")
        device = open_device(config, True)
        assert isinstance(device, MeasuredDevice)
        with pytest.raises(WalLockedError):
            open_device(config, True)
        first, second = device._devices
        await first.close()
        with pytest.raises(WalLockedError):
            open_device(config, True)
        await second.close()
        await open_device(config, True).close()

    asyncio.run(main())


def test_descriptors_are_given_back(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "wal"
        path.write_bytes(bytes(8 * PAGE))
        before = len([*Path("/proc/self/fd").iterdir()])
        for _ in range(3):
            await open_device(WalConfig(path=str(path), io="auto"), True).close()
        assert len([*Path("/proc/self/fd").iterdir()]) == before

    asyncio.run(main())
