"""A file that grows at once and shrinks in steps, beside everything else."""

import asyncio
import errno
import threading
from collections.abc import Awaitable, Callable

import pytest

from headrace.wal.device import device_size
from headrace.wal.device.device_size import SHRINK_STEP_BYTES, DeviceSize
from headrace.wal.errors import WalDeviceError

STEP = SHRINK_STEP_BYTES
BOUND_S = 5


class FakeFile:
    """A file whose changes of size can be held up; each is noted as it is made."""

    is_file = True
    path = "fake"

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.sizes: list[int] = []
        self.threads: set[int] = set()
        self.error: Exception | None = None
        self.may_go = threading.Event()
        self.may_go.set()
        self.inflight = threading.Event()

    def allocate(self, size_bytes: int) -> None:
        if self.size_bytes < size_bytes:
            self._change(size_bytes)

    def shrink(self, size_bytes: int) -> None:
        self._change(size_bytes)

    def _change(self, size_bytes: int) -> None:
        self.threads.add(threading.get_ident())
        self.inflight.set()
        assert self.may_go.wait(BOUND_S)
        self.inflight.clear()
        if self.error is not None:
            raise self.error
        self.size_bytes = size_bytes
        self.sizes.append(size_bytes)


class FakeDevice(FakeFile):
    is_file = False

    def allocate(self, size_bytes: int) -> None:
        if self.size_bytes < size_bytes:
            raise WalDeviceError("too small")


def run(file: FakeFile, scenario: Callable[[DeviceSize], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(BOUND_S):
            size = DeviceSize(file)
            await scenario(size)
            await size.settled()

    asyncio.run(main())
    assert threading.get_ident() not in file.threads, "the loop was held up"


async def until_inflight(file: FakeFile) -> None:
    while not file.inflight.is_set():
        await asyncio.sleep(0)


def test_it_grows_at_once_and_shrinks_in_steps() -> None:
    file = FakeFile(STEP)

    async def scenario(size: DeviceSize) -> None:
        await size.at_least(4 * STEP + 4096)
        assert file.sizes == [4 * STEP + 4096]
        await size.at_least(STEP)
        size.shrink(STEP)
        assert file.size_bytes == 4 * STEP + 4096, "not while anybody waits"
        await size.shrunk()
        assert file.sizes[1:] == [3 * STEP + 4096, 2 * STEP + 4096, STEP + 4096, STEP]
        size.shrink(STEP)
        await size.shrunk()
        assert len(file.sizes) == 5

    run(file, scenario)


def test_growing_ends_the_shrinking() -> None:
    file = FakeFile(10 * STEP)

    async def scenario(size: DeviceSize) -> None:
        file.may_go.clear()
        size.shrink(STEP)
        await until_inflight(file)
        growing = asyncio.create_task(size.at_least(20 * STEP))
        for _ in range(20):
            await asyncio.sleep(0)
        assert file.sizes == []
        file.may_go.set()
        await growing
        assert file.sizes == [9 * STEP, 20 * STEP]
        await size.shrunk()
        assert file.size_bytes == 20 * STEP

    run(file, scenario)


def test_a_device_is_only_checked() -> None:
    file = FakeDevice(STEP)

    async def scenario(size: DeviceSize) -> None:
        await size.at_least(STEP)
        with pytest.raises(WalDeviceError, match="too small"):
            await size.at_least(STEP + 4096)
        size.shrink(4096)
        await size.shrunk()
        assert file.sizes == []

    run(file, scenario)


def test_a_file_that_cannot_shrink_stays(caplog: pytest.LogCaptureFixture) -> None:
    file = FakeFile(3 * STEP)
    file.error = OSError(errno.EIO, "Input/output error")

    async def scenario(size: DeviceSize) -> None:
        size.shrink(STEP)
        await size.shrunk()
        assert file.size_bytes == 3 * STEP
        assert "stays larger than needed" in caplog.text

    run(file, scenario)


def test_a_growth_that_is_cancelled_is_waited_for() -> None:
    """Its thread uses the descriptor, which may be closed right afterwards."""
    file = FakeFile(STEP)

    async def scenario(size: DeviceSize) -> None:
        file.may_go.clear()
        growing = asyncio.create_task(size.at_least(2 * STEP))
        await until_inflight(file)
        growing.cancel()
        for _ in range(20):
            await asyncio.sleep(0)
        assert not growing.done()
        growing.cancel()  # whoever insists is let go, but the thread is not forgotten
        await asyncio.wait([growing])
        closing = asyncio.create_task(size.settled())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not closing.done()
        size.shrink(4096)
        file.may_go.set()
        await closing
        assert file.sizes == [2 * STEP], "nothing else was begun meanwhile"

    run(file, scenario)


def test_waiting_for_the_end_may_be_given_up() -> None:
    file = FakeFile(2 * STEP)

    async def scenario(size: DeviceSize) -> None:
        file.may_go.clear()
        size.shrink(STEP)
        waiting = asyncio.create_task(size.shrunk())
        await until_inflight(file)
        waiting.cancel()
        await asyncio.wait([waiting])
        file.may_go.set()
        await size.shrunk()
        assert file.size_bytes == STEP

    run(file, scenario)


def test_a_change_that_hangs_holds_nobody_up_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_size, "HANG_TIMEOUT_S", 0.01)
    file = FakeFile(STEP)

    async def scenario(size: DeviceSize) -> None:
        file.may_go.clear()
        growing = asyncio.create_task(size.at_least(2 * STEP))
        await until_inflight(file)
        growing.cancel()
        await asyncio.wait([growing])
        assert growing.cancelled()
        assert not await size.settled(), "not to be closed"
        with pytest.raises(WalDeviceError, match="does not answer"):
            await size.at_least(3 * STEP)
        assert [each.daemon for each in threading.enumerate() if each.ident in file.threads] == [
            True
        ]
        file.may_go.set()
        while not await size.settled():
            pass
        assert file.sizes == [2 * STEP]

    run(file, scenario)
