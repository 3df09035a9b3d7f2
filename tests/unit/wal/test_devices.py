"""Errors and hanging operations of the two ways of IO, on files that cannot do what they are asked."""

import asyncio
import errno
import os
import threading
from pathlib import Path

import pytest

from headrace.wal.device import aio_device, thread_device
from headrace.wal.device.aio_device import AioDevice, AioUnavailableError
from headrace.wal.device.buffers import BufferPool
from headrace.wal.device.file_device import DeviceFile
from headrace.wal.device.thread_device import ThreadDevice

PAGE = 4096
pool = BufferPool(idle_bytes_per_class=1 << 20)


def read_only(tmp_path: Path) -> DeviceFile:
    path = tmp_path / "wal"
    path.write_bytes(bytes(PAGE))
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    return DeviceFile(str(path), fd, is_file=True, is_direct=True, writable=False)


def device_on(file: DeviceFile, io: str) -> AioDevice | ThreadDevice:
    loop = asyncio.get_running_loop()
    if io == "aio":
        return AioDevice(file, loop, depth=2)
    return ThreadDevice(file, loop, threads=2)


@pytest.mark.parametrize("io", ["aio", "threads"])
def test_an_error_of_the_kernel_is_passed_on(io: str, tmp_path: Path) -> None:
    async def main() -> None:
        device = device_on(read_only(tmp_path), io)
        future: asyncio.Future[OSError | None] = asyncio.get_running_loop().create_future()
        device.write(0, pool.take(PAGE), future.set_result)
        error = await future
        assert isinstance(error, OSError)
        assert error.errno == 9  # EBADF: not open for writing
        await device.close()

    asyncio.run(main())


@pytest.mark.parametrize("io", ["aio", "threads"])
def test_an_unaligned_operation_is_refused_by_the_kernel(io: str, tmp_path: Path) -> None:
    async def main() -> None:
        device = device_on(read_only(tmp_path), io)
        with pytest.raises(OSError, match="Invalid argument"):
            await device.read(1, pool.take(PAGE)[:100])
        await device.close()

    asyncio.run(main())


def test_what_comes_after_the_end_fails_and_is_no_other_device_s(tmp_path: Path) -> None:
    """The next ones may get the numbers of a descriptor that was closed and of a context that was destroyed."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        told = []
        loop.set_exception_handler(lambda _, context: told.append(context))
        file = read_only(tmp_path)
        first = device_on(file, "aio")
        await first.close()
        with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
            file.shrink(0)
        second = device_on(read_only(tmp_path), "aio")
        with pytest.raises(OSError) as raised:
            async with asyncio.timeout(10):
                await first.read(0, pool.take(PAGE))
        assert raised.value.errno in (errno.EBADF, errno.EINVAL)
        await second.read(0, pool.take(PAGE))
        await second.close()
        assert told == []

    asyncio.run(main())


def test_a_short_write_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        device = device_on(read_only(tmp_path), "threads")
        monkeypatch.setattr(thread_device.os, "pwritev", lambda fd, buffers, position: 512)
        future: asyncio.Future[OSError | None] = asyncio.get_running_loop().create_future()
        device.write(0, pool.take(PAGE), future.set_result)
        assert "write of 4096 bytes at position 0" in str(await future)
        assert "ended after 512" in str(await future)
        await device.close()

    asyncio.run(main())


def test_a_thread_that_hangs_does_not_hold_up_closing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        monkeypatch.setattr(thread_device, "_CLOSE_TIMEOUT_S", 0.01)
        device = device_on(read_only(tmp_path), "threads")
        release = threading.Event()
        monkeypatch.setattr(
            thread_device.os, "pwritev", lambda fd, buffers, position: release.wait() and PAGE
        )
        done: list[OSError | None] = []
        device.write(0, pool.take(PAGE), done.append)
        await device.close()
        assert done == []
        os.fstat(device._file.fd)  # still open: the kernel may be using it
        assert device.hangs
        release.set()
        while not done:
            await asyncio.sleep(0)
        assert not device.hangs
        assert device._file.fd == -1, "released as soon as nobody uses it any more"
        for thread in device._threads:
            thread.join(10)
            assert not thread.is_alive()

    asyncio.run(main())


def test_what_the_kernel_holds_back_is_released_when_it_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[tuple[int, int]] = []
    reap = aio_device._Context.reap

    def hold_back(self: aio_device._Context) -> list[tuple[int, int]]:
        held.extend(reap(self))
        return []

    async def main() -> None:
        monkeypatch.setattr(aio_device, "_CLOSE_TIMEOUT_S", 0.01)
        monkeypatch.setattr(aio_device._Context, "reap", hold_back)
        device = device_on(read_only(tmp_path), "aio")
        reading = asyncio.ensure_future(device.read(0, pool.take(PAGE)))
        while not held:
            await asyncio.sleep(0)
        await device.close()
        assert device.hangs
        os.fstat(device._file.fd)
        device._finish(*held.pop())
        await reading
        assert not device.hangs
        await asyncio.sleep(0)
        assert device._file.fd == -1

    asyncio.run(main())


def test_more_operations_than_the_depth_wait_in_order(tmp_path: Path) -> None:
    async def main() -> None:
        device = device_on(read_only(tmp_path), "aio")
        await asyncio.gather(*(device.read(0, pool.take(PAGE)) for _ in range(50)))
        await device.close()

    asyncio.run(main())


@pytest.mark.parametrize("refusal", [errno.EAGAIN, errno.EINTR, errno.ENOMEM])
def test_a_kernel_that_is_short_of_something_is_asked_again(
    refusal: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing was submitted, so it is no failed write, unless it goes on."""
    left = [aio_device._MAX_SUBMITS - 1]
    asked = 0
    submit = aio_device._Context.submit

    def refusing(self: object, control_blocks: object) -> int:
        nonlocal asked
        asked += 1
        if left[0]:
            left[0] -= 1
            return refusal
        return submit(self, control_blocks)  # type: ignore[arg-type]

    monkeypatch.setattr(aio_device._Context, "submit", refusing)
    monkeypatch.setattr(aio_device, "_SUBMIT_PAUSE_S", 0.0)

    async def main() -> None:
        device = device_on(read_only(tmp_path), "aio")
        await asyncio.gather(*(device.read(0, pool.take(PAGE)) for _ in range(5)))
        assert asked == 5 + aio_device._MAX_SUBMITS - 1
        left[0] = aio_device._MAX_SUBMITS
        with pytest.raises(OSError, match=os.strerror(refusal)):
            await device.read(0, pool.take(PAGE))
        await device.read(0, pool.take(PAGE))
        await device.close()

    asyncio.run(main())
    assert [it.levelname for it in caplog.records] == ["WARNING"]


def test_a_context_that_the_kernel_refuses_is_unavailable(tmp_path: Path) -> None:
    async def main() -> None:
        file = read_only(tmp_path)
        with pytest.raises(AioUnavailableError, match="io_setup failed"):
            AioDevice(file, asyncio.get_running_loop(), depth=1 << 30)
        file.close()

    asyncio.run(main())


def test_a_cancelled_read_leaves_the_device_usable(tmp_path: Path) -> None:
    async def main() -> None:
        for io in ("aio", "threads"):
            device = device_on(read_only(tmp_path), io)
            reading = asyncio.create_task(device.read(0, pool.take(PAGE)))
            await asyncio.sleep(0)
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            await device.read(0, pool.take(PAGE))
            await device.close()

    asyncio.run(main())


def test_the_layout_of_the_kernel_structures() -> None:
    """linux/aio_abi.h: 64 and 32 bytes."""
    assert aio_device._CONTROL_BLOCK.size == 64
    assert aio_device._EVENT.size == 32
