"""What the kernel reports of the block device under a path: how it splits writes, and what it has written.

Source: Documentation/block/stat.rst and Documentation/ABI/stable/sysfs-block of Linux.
"""

import os
import stat
from pathlib import Path
from typing import NamedTuple

from headrace.wal.layout import PAGE_BYTES

_SYSFS = Path("/sys/dev/block")
_SECTOR_BYTES = 512  # of the counters, for any size of the device's own sectors
_WRITES, _SECTORS_WRITTEN = 4, 6  # fields of `stat`


class WriteCounters(NamedTuple):
    """The device's own counters; they never wrap."""

    writes: int  # completed, after splitting and merging
    written_bytes: int


def max_write_bytes(path: str, *, sysfs: Path = _SYSFS) -> int | None:
    """Return the largest write that reaches the device in one piece; None where that is not known.

    A write comes from scattered pages, so the number of segments bounds it as well. For a file it is the device
    of its file system.
    """
    device = _sysfs_directory(path, sysfs)
    if device is None:
        return None
    for queue in (
        device / "queue",
        device.resolve().parent / "queue",
    ):  # a partition has none itself
        try:
            sectors_kib = int((queue / "max_sectors_kb").read_text())
            segments = int((queue / "max_segments").read_text())
        except (OSError, ValueError):
            continue
        return max(PAGE_BYTES, min(sectors_kib * 1024, segments * PAGE_BYTES))
    return None


def write_counters(path: str, *, sysfs: Path = _SYSFS) -> WriteCounters | None:
    """Read the counters of the device; None where there are none."""
    device = _sysfs_directory(path, sysfs)
    try:
        fields = [] if device is None else (device / "stat").read_text().split()
        return WriteCounters(int(fields[_WRITES]), int(fields[_SECTORS_WRITTEN]) * _SECTOR_BYTES)
    except (OSError, ValueError, IndexError):
        return None


def _sysfs_directory(path: str, sysfs: Path) -> Path | None:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    number = found.st_rdev if stat.S_ISBLK(found.st_mode) else found.st_dev
    return sysfs / f"{os.major(number)}:{os.minor(number)}"
