"""The size of the file below a running log; a device has the size that it has.

File systems take their time: freeing 24 GiB in one call was measured to take 0.8 s, and a write to the same file waits
for it. So both directions go by a thread, and a file shrinks in steps, with as long a rest after each as it took.
The thread is a daemon: one that hangs in the kernel must keep neither the log from being shut down nor the process
from ending.
"""

import asyncio
import logging
from collections.abc import Callable

from headrace.daemon_threads import in_own_thread
from headrace.task_failures import report_unexpected
from headrace.wal.device.block_device import BlockDevice
from headrace.wal.errors import WalDeviceError, WalError

SHRINK_STEP_BYTES = 64 * 1024 * 1024
# Who must wait for a change to end waits so long for one that hangs. Its descriptor stays open then.
HANG_TIMEOUT_S = 10.0

_logger = logging.getLogger("headrace.wal")


class DeviceSize:
    """Grows and shrinks one file, one change at a time."""

    def __init__(self, device: BlockDevice) -> None:
        self._device = device
        self._work: asyncio.Future[None] | None = None  # in a thread
        self._shrinking: asyncio.Task[None] | None = None

    async def at_least(self, size_bytes: int) -> None:
        """Let a file grow to this, unless it has that size; check a device. No shrinking goes on.

        Raises:
            WalDeviceError: there is no room, and the size is what it was; or the change before hangs.

        Cancellation: waits for the end.
        """
        if not await self.settled():
            raise WalDeviceError(f"the file system of {self._device.path} does not answer")
        if self._device.size_bytes >= size_bytes or not self._device.is_file:
            self._device.allocate(size_bytes)
        else:
            await self._in_thread(self._device.allocate, size_bytes)

    def shrink(self, size_bytes: int) -> None:
        """Begin to shrink a file to this, which is all that the log on it uses.

        A file that cannot shrink is only larger than needed; the next start tries again.
        """
        present_bytes = self._device.size_bytes
        if not self._device.is_file or present_bytes <= size_bytes or self._is_busy:
            return
        self._shrinking = asyncio.create_task(self._shrink(present_bytes, size_bytes))

    async def shrunk(self) -> None:
        """Return when shrinking has ended; a cancellation does not end it."""
        if self._shrinking is not None:
            await asyncio.wait([self._shrinking])

    async def settled(self) -> bool:
        """End shrinking; return whether no thread uses the device any more: only then may it be closed."""
        if self._shrinking is not None:
            self._shrinking.cancel()
            await asyncio.wait([self._shrinking])
            self._shrinking = None
        return await self._thread_done()

    @property
    def _is_busy(self) -> bool:
        return any(work is not None and not work.done() for work in (self._work, self._shrinking))

    async def _shrink(self, present_bytes: int, size_bytes: int) -> None:
        clock_s = asyncio.get_running_loop().time
        while present_bytes > size_bytes:
            present_bytes = max(size_bytes, present_bytes - SHRINK_STEP_BYTES)
            started_s = clock_s()
            try:
                await self._in_thread(self._device.shrink, present_bytes)
            except OSError as error:
                _logger.warning("%s stays larger than needed: %s", self._device.path, error)
                return
            await asyncio.sleep(clock_s() - started_s)

    async def _in_thread(self, change: Callable[[int], None], size_bytes: int) -> None:
        self._work = work = in_own_thread("wal-size", change, size_bytes)
        # A caller may have given up on a thread that hangs: how it ends later is read here.
        work.add_done_callback(lambda done: report_unexpected(done, OSError, WalError))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            await self._thread_done()
            raise

    async def _thread_done(self) -> bool:
        while (work := self._work) is not None and not work.done():
            if not (await asyncio.wait([work], timeout=HANG_TIMEOUT_S))[0]:
                return False
        return True
