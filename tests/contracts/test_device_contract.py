"""What every block device must do: files by kernel AIO and by threads, loop devices, the simulated disk."""

import asyncio
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from headrace.config.node import WalConfig
from headrace.wal.device.block_device import BlockDevice
from headrace.wal.device.buffers import BufferPool
from headrace.wal.device.open_device import open_device
from headrace.wal.errors import WalDeviceError, WalLockedError
from tests.simulation.disk import SimulatedDisk

PAGE = 4096
SIZE = 64 * PAGE
pool = BufferPool(idle_bytes_per_class=1 << 20)


@dataclass
class Target:
    """A device that can be opened again and again."""

    open: Callable[[bool], BlockDevice]
    fixed_size: bool


def loop_device(image: Path, sector_bytes: int) -> str | None:
    """Attach a loop device; None where that is not allowed."""
    image.write_bytes(bytes(SIZE))
    command = ["losetup", "--find", "--show", "--sector-size", str(sector_bytes), str(image)]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


@pytest.fixture(
    params=[
        "file-aio",
        "file-threads",
        "file-auto",
        "loop-aio-512",
        "loop-aio-4096",
        "loop-threads-4096",
        "simulated",
    ]
)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Target]:
    kind, *how = request.param.split("-")
    if kind == "simulated":
        disk = SimulatedDisk(SIZE)
        yield Target(lambda writable: disk.open("disk", writable=writable), fixed_size=True)
        return
    path = str(tmp_path / "device")
    if kind == "loop":
        device = loop_device(tmp_path / "image", int(how[1]))
        if device is None:
            pytest.skip("no loop devices here (they need root)")
        path = device
    else:
        Path(path).write_bytes(bytes(SIZE))
    config = WalConfig(path=path, io=how[0])
    try:
        yield Target(lambda writable: open_device(config, writable), fixed_size=kind == "loop")
    finally:
        if kind == "loop":
            subprocess.run(["losetup", "--detach", path], check=True)


def on(target: Target, scenario: Callable[[BlockDevice], Awaitable[None]]) -> None:
    async def main() -> None:
        device = target.open(True)
        try:
            async with asyncio.timeout(20):
                await scenario(device)
        finally:
            await device.close()

    asyncio.run(main())


def page(fill: int, pages: int = 1) -> memoryview:
    view = pool.take(pages * PAGE)[: pages * PAGE]
    view[:] = bytes([fill]) * len(view)
    return view


async def write(device: BlockDevice, position: int, data: memoryview) -> OSError | None:
    future: asyncio.Future[OSError | None] = asyncio.get_running_loop().create_future()
    device.write(position, data, future.set_result)
    return await future


async def read(device: BlockDevice, position: int, size: int) -> bytes:
    into = pool.take(size)[:size]
    await device.read(position, into)
    return bytes(into)


def test_what_is_written_is_read(target: Target) -> None:
    async def scenario(device: BlockDevice) -> None:
        assert await write(device, 2 * PAGE, page(7, 3)) is None
        assert await read(device, PAGE, 5 * PAGE) == (
            bytes(PAGE) + bytes([7]) * 3 * PAGE + bytes(PAGE)
        )

    on(target, scenario)


def test_what_is_written_is_there_after_opening_again(target: Target) -> None:
    async def first(device: BlockDevice) -> None:
        assert await write(device, 0, page(9)) is None

    async def second(device: BlockDevice) -> None:
        assert await read(device, 0, PAGE) == bytes([9]) * PAGE

    on(target, first)
    on(target, second)


def test_done_is_called_once_and_not_before_write_has_returned(target: Target) -> None:
    async def scenario(device: BlockDevice) -> None:
        calls: list[OSError | None] = []
        device.write(0, page(1), calls.append)
        assert calls == []
        await write(device, PAGE, page(2))
        async with asyncio.timeout(5):
            while not calls:
                await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        assert calls == [None]

    on(target, scenario)


def test_many_writes_at_once_all_complete(target: Target) -> None:
    async def scenario(device: BlockDevice) -> None:
        results = await asyncio.gather(
            *(write(device, number * PAGE, page(number + 1)) for number in range(60))
        )
        assert results == [None] * 60
        content = await read(device, 0, 60 * PAGE)
        assert [content[at] for at in range(0, len(content), PAGE)] == list(range(1, 61))

    on(target, scenario)


def test_one_completion_that_raises_does_not_swallow_the_others(target: Target) -> None:
    async def scenario(device: BlockDevice) -> None:
        reports: list[object] = []
        asyncio.get_running_loop().set_exception_handler(
            lambda loop, context: reports.append(context["exception"])
        )
        done: list[OSError | None] = []

        def fail(error: OSError | None) -> None:
            raise RuntimeError("a bug of the caller")

        for number in range(8):
            device.write(number * PAGE, page(1), fail if number % 2 else done.append)
        while len(done) + len(reports) < 8:
            await asyncio.sleep(0)
        assert done == [None] * 4
        assert all(isinstance(report, RuntimeError) for report in reports)

    on(target, scenario)


def test_the_memory_of_a_write_is_not_reused_before_it_is_done(target: Target) -> None:
    async def scenario(device: BlockDevice) -> None:
        own = BufferPool(idle_bytes_per_class=1 << 20)
        done = asyncio.Event()
        view = own.take(PAGE)
        view[:] = bytes([6]) * PAGE
        device.write(0, view, lambda error: done.set())
        del view
        while not done.is_set():
            own.take(PAGE)[:] = bytes([0xEE]) * PAGE
            await asyncio.sleep(0)
        assert await read(device, 0, PAGE) == bytes([6]) * PAGE

    on(target, scenario)


def test_reading_beyond_the_end_is_an_error(target: Target) -> None:
    async def scenario(device: BlockDevice) -> None:
        with pytest.raises(OSError, match="read of 8192 bytes"):
            await read(device, SIZE - PAGE, 2 * PAGE)

    on(target, scenario)


def test_size_and_allocation(target: Target) -> None:
    async def scenario(device: BlockDevice) -> None:
        assert device.size_bytes == SIZE
        device.allocate(SIZE)
        device.allocate(PAGE)
        assert device.size_bytes == SIZE
        if target.fixed_size:
            with pytest.raises(WalDeviceError, match=str(SIZE)):
                device.allocate(SIZE + PAGE)
        else:
            device.allocate(2 * SIZE)
            assert device.size_bytes == 2 * SIZE
            assert await read(device, SIZE, SIZE) == bytes(SIZE)

    on(target, scenario)


def test_one_writer_and_any_number_of_readers(target: Target) -> None:
    async def scenario(device: BlockDevice) -> None:
        assert await write(device, 0, page(5)) is None
        with pytest.raises(WalLockedError):
            target.open(True)
        readers = [target.open(False) for _ in range(3)]
        for reader in readers:
            assert await read(reader, 0, PAGE) == bytes([5]) * PAGE
            await reader.close()

    on(target, scenario)
    on(target, scenario)


def test_closing_waits_for_what_is_under_way(target: Target) -> None:
    async def main() -> None:
        device = target.open(True)
        done: list[OSError | None] = []
        for number in range(10):
            device.write(number * PAGE, page(3), done.append)
        if device.io != "simulated":
            await device.close()
            assert done == [None] * 10
            return
        while len(done) < 10:
            await asyncio.sleep(0)
        await device.close()

    asyncio.run(main())
