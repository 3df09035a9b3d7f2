"""IO by kernel AIO or by threads, whichever is faster on this machine now: see `headrace.wal.device.io_choice`."""

import logging
from collections.abc import Callable
from functools import partial

from headrace.wal.device.block_device import BlockDevice, WriteDone
from headrace.wal.device.file_backed_device import FileBackedDevice
from headrace.wal.device.file_device import DeviceFile
from headrace.wal.device.io_choice import IoChoice, Note

logger = logging.getLogger("headrace.wal")


class MeasuredDevice(FileBackedDevice):
    """A `BlockDevice` on two devices of the same open file, each with a descriptor of its own."""

    def __init__(
        self,
        file: DeviceFile,
        first: BlockDevice,
        second: BlockDevice,
        monotonic_ns: Callable[[], int],
    ) -> None:
        """Begin with the first, whose file it is."""
        super().__init__(file)
        self._devices = (first, second)
        self._monotonic_ns = monotonic_ns
        self._choice = IoChoice()

    @property
    def io(self) -> str:
        """The kind of IO that is used now."""
        return self._devices[self._choice.kind].io

    @property
    def hangs(self) -> bool:
        """See `BlockDevice`."""
        return any(it.hangs for it in self._devices)

    def write(self, position: int, data: memoryview, done: WriteDone) -> None:
        """See `BlockDevice.write`."""
        kind, note = self._choice.take(len(data))
        if note is not None:
            done = partial(self._measured, note, kind, self._monotonic_ns(), done)
        self._devices[kind].write(position, data, done)

    async def read(self, position: int, into: memoryview) -> None:
        """See `BlockDevice.read`."""
        await self._devices[0].read(position, into)

    async def close(self) -> None:
        """See `BlockDevice.close`."""
        # One after the other: a close that is cancelled still releases, which needs that it has begun.
        first, second = self._devices
        try:
            await first.close()
        finally:
            await second.close()

    def _measured(
        self, note: Note, kind: int, begun_ns: int, done: WriteDone, error: OSError | None
    ) -> None:
        try:
            if error is None:
                self._tell(note, kind, self._monotonic_ns() - begun_ns)
        finally:
            done(error)

    def _tell(self, note: Note, kind: int, latency_ns: int) -> None:
        before = self._choice.kind
        note(kind, latency_ns)
        if self._choice.kind != before:
            logger.info(
                "the other kind of IO is faster now; the WAL is written by it",
                extra={"path": self.path, "io": self.io},
            )
