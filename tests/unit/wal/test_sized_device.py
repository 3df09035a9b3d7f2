"""A device that is written by two kinds of IO."""

import asyncio
import errno
import os
from pathlib import Path
from typing import Any, ClassVar

import pytest

from headrace.config.node import WalConfig
from headrace.daemon_threads import DaemonThread
from headrace.wal.device import file_device
from headrace.wal.device.aio_device import AioDevice
from headrace.wal.device.block_device import WriteDone
from headrace.wal.device.buffers import BufferPool
from headrace.wal.device.file_device import open_file
from headrace.wal.device.open_device import open_device
from headrace.wal.device.sized_device import SMALL_BYTES, SizedDevice
from headrace.wal.device.thread_device import ThreadDevice
from headrace.wal.errors import WalLockedError

PAGE = 4096
pool = BufferPool(idle_bytes_per_class=1 << 20)


def counted() -> Any:
    """Return a mixin: a real device that notes the sizes of its writes."""

    class Counted:
        sizes: ClassVar[list[int]] = []

        def write(self, position: int, data: memoryview, done: WriteDone) -> None:
            self.sizes.append(len(data))
            super().write(position, data, done)  # type: ignore[misc]

    return Counted


async def write(device: SizedDevice, position: int, content: bytes) -> OSError | None:
    buffer = pool.take(len(content))[: len(content)]
    buffer[:] = content
    future: asyncio.Future[OSError | None] = asyncio.get_running_loop().create_future()
    device.write(position, buffer, future.set_result)
    return await future


def test_the_size_of_a_write_chooses_and_all_of_them_are_there(tmp_path: Path) -> None:
    sizes = (PAGE, SMALL_BYTES, SMALL_BYTES + PAGE, 2 * PAGE)

    async def main() -> None:
        path = tmp_path / "wal"
        path.write_bytes(bytes(sum(sizes)))
        loop = asyncio.get_running_loop()
        of_small, of_large = counted(), counted()
        file = open_file(str(path), writable=True)
        small = type("Small", (of_small, ThreadDevice), {})(file.duplicate(), loop, threads=1)
        large = type("Large", (of_large, AioDevice), {})(file, loop, depth=2)
        device = SizedDevice(file, small, large)
        position = 0
        for number, size in enumerate(sizes):
            assert await write(device, position, bytes([number]) * size) is None
            position += size
        await device.close()
        assert of_small.sizes == [PAGE, SMALL_BYTES, 2 * PAGE]
        assert of_large.sizes == [SMALL_BYTES + PAGE]
        assert path.read_bytes() == b"".join(bytes([it]) * size for it, size in enumerate(sizes))

    asyncio.run(main())


def test_the_lock_is_held_until_both_kinds_are_closed(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "wal"
        path.write_bytes(bytes(8 * PAGE))
        config = WalConfig(path=str(path), io="auto")
        device = open_device(config, True)
        assert isinstance(device, SizedDevice)
        with pytest.raises(WalLockedError):
            open_device(config, True)
        first, second = device._large, device._small
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
