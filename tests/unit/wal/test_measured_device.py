"""A device that is written by the faster one of two kinds of IO."""

import asyncio
import errno
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from headrace.config.node import WalConfig
from headrace.daemon_threads import DaemonThread
from headrace.wal.device import file_device
from headrace.wal.device.aio_device import AioDevice
from headrace.wal.device.block_device import WriteDone
from headrace.wal.device.buffers import BufferPool
from headrace.wal.device.file_device import open_file
from headrace.wal.device.io_choice import MIN_BETWEEN, MIN_WINDOWS, PAIRS
from headrace.wal.device.measured_device import MeasuredDevice
from headrace.wal.device.open_device import open_device
from headrace.wal.device.thread_device import ThreadDevice
from headrace.wal.errors import WalLockedError

PAGE = 4096
WRITES = 8 * -(-PAIRS * (MIN_BETWEEN + 4) * MIN_WINDOWS // 8)  # that decide, in whole rounds
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
    page[:] = bytes([fill % 256]) * PAGE
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
    return MeasuredDevice(file, first, second, clock)


def test_the_faster_kind_gets_the_writes_and_all_of_them_are_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "headrace.wal")

    async def main() -> None:
        clock = Clock()
        slow, fast = slowed(clock, 4_000_000), slowed(clock, 350_000)
        device = measured(tmp_path / "wal", clock, slow, fast)
        assert device.io == "aio"
        for number in range(WRITES):
            assert await write(device, number) is None
        assert device.io == "threads"
        assert slow.writes + fast.writes == WRITES
        assert fast.writes >= PAIRS * MIN_WINDOWS
        for number in range(8):
            page = pool.take(PAGE)[:PAGE]
            await device.read(number * PAGE, page)
            assert set(page) == {(WRITES - 8 + number) % 256}
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


@pytest.mark.parametrize("cancels", [1, 2])
def test_a_close_that_is_cancelled_releases_all(cancels: int, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "wal"
        path.write_bytes(bytes(8 * PAGE))
        config = WalConfig(path=str(path), io="auto")
        before = descriptors()
        device = open_device(config, True)
        closing = asyncio.ensure_future(device.close())
        for _ in range(cancels):
            await asyncio.sleep(0)
            closing.cancel()
        await asyncio.wait([closing])
        assert descriptors() == before
        await open_device(config, True).close()

    asyncio.run(main())


@pytest.mark.parametrize("lacking", ["threads", "descriptors"])
def test_without_threads_aio_alone_does_it_and_nothing_stays(
    lacking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun: list[DaemonThread] = []
    start = DaemonThread.start

    def run_out(self: DaemonThread) -> None:
        if len(begun) == 2:
            raise RuntimeError("can't start new thread")
        begun.append(self)
        start(self)

    def refuse(_: int) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    async def main() -> None:
        path = tmp_path / "wal"
        path.write_bytes(bytes(8 * PAGE))
        config = WalConfig(path=str(path), io="auto", io_threads=4)
        before = descriptors()
        with monkeypatch.context() as patched:
            if lacking == "threads":
                patched.setattr(DaemonThread, "start", run_out)
            else:
                patched.setattr(file_device.os, "dup", refuse)
            device = open_device(config, True)
        assert device.io == "aio"
        await device.close()
        assert descriptors() == before
        await open_device(config, True).close()
        for thread in begun:
            thread.join(10)
            assert not thread.is_alive()

    asyncio.run(main())
    assert "using kernel AIO alone" in caplog.text


def descriptors() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


def test_descriptors_are_given_back(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "wal"
        path.write_bytes(bytes(8 * PAGE))
        before = descriptors()
        for _ in range(3):
            await open_device(WalConfig(path=str(path), io="auto"), True).close()
        assert descriptors() == before

    asyncio.run(main())
