"""Small writes by threads, larger ones by kernel AIO.

Workers of the kernel complete each O_DSYNC write of AIO: where processes compete for the cores, a worker waits for its
turn, and a blocking write in a thread takes a fraction of that. Larger writes take as long as the device needs either
way, and AIO needs neither a thread nor the interpreter's lock for them.
"""

from typing import Final

from headrace.wal.device.block_device import BlockDevice, WriteDone
from headrace.wal.device.file_backed_device import FileBackedDevice
from headrace.wal.device.file_device import DeviceFile

SMALL_BYTES: Final = 64 * 1024


class SizedDevice(FileBackedDevice):
    """A `BlockDevice` on two devices of the same open file, each with a descriptor of its own."""

    io = "both"

    def __init__(self, file: DeviceFile, small: BlockDevice, large: BlockDevice) -> None:
        super().__init__(file)
        self._small = small
        self._large = large

    @property
    def hangs(self) -> bool:
        """See `BlockDevice`."""
        return self._small.hangs or self._large.hangs

    def write(self, position: int, data: memoryview, done: WriteDone) -> None:
        """See `BlockDevice.write`."""
        device = self._small if len(data) <= SMALL_BYTES else self._large
        device.write(position, data, done)

    async def read(self, position: int, into: memoryview) -> None:
        """See `BlockDevice.read`."""
        await self._large.read(position, into)

    async def close(self) -> None:
        """See `BlockDevice.close`."""
        # One after the other: a close that is cancelled still releases, which needs that it has begun.
        try:
            await self._large.close()
        finally:
            await self._small.close()
