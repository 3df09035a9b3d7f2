"""What devices on an open file have in common, whichever way their operations go."""

from headrace.wal.device.file_device import DeviceFile
from headrace.wal.device.holes import unwritten_ranges
from headrace.wal.port import Medium


class FileBackedDevice:
    """The part of a `BlockDevice` that is its file's."""

    def __init__(self, file: DeviceFile) -> None:
        self._file = file

    @property
    def path(self) -> str:
        """Path of the file or device."""
        return self._file.path

    @property
    def size_bytes(self) -> int:
        """Current size."""
        return self._file.size_bytes

    @property
    def medium(self) -> Medium:
        """See `headrace.wal.device.block_device.BlockDevice`."""
        return self._file.medium

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return self._file.is_file

    @property
    def lock_name(self) -> str:
        """See `BlockDevice`."""
        return self._file.lock_name

    def allocate(self, size_bytes: int) -> None:
        """See `BlockDevice.allocate`."""
        self._file.allocate(size_bytes)

    def shrink(self, size_bytes: int) -> None:
        """See `BlockDevice.shrink`."""
        self._file.shrink(size_bytes)

    def unwritten(self, start: int, end: int) -> list[tuple[int, int]]:
        """See `BlockDevice.unwritten`."""
        return unwritten_ranges(self._file, start, end)
