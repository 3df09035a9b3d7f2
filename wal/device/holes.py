"""Which parts of a file were never written: only allocated, so that the first write to them costs more."""

import os

from headrace.wal.device.file_device import DeviceFile
from headrace.wal.layout import align_down, align_up

# More are not returned: a ring is written in order, so there are only a few.
MAX_RANGES = 4096


def unwritten_ranges(file: DeviceFile, start: int, end: int) -> list[tuple[int, int]]:
    """Return the [begin, end) ranges between two positions that were never written, in whole pages, in order.

    Empty for a device, and where the file system does not report it; ext4 and xfs do.

    Source: lseek(2), SEEK_HOLE; space that is allocated and not written counts as a hole.
    """
    if not file.is_file:
        return []
    found: list[tuple[int, int]] = []
    at = start
    try:
        while at < end and len(found) < MAX_RANGES:
            hole = os.lseek(file.fd, at, os.SEEK_HOLE)
            if hole >= end:
                break
            at = _data_behind(file.fd, hole, end)
            begin, stop = align_up(hole), align_down(min(at, end))
            if begin < stop:
                found.append((begin, stop))
    except OSError:
        return []
    return found


def _data_behind(fd: int, hole: int, end: int) -> int:
    try:
        return os.lseek(fd, hole, os.SEEK_DATA)
    except OSError:  # ENXIO: there is none up to the end of the file
        return end
