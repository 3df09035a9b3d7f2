"""Finds out whether a file or device is in memory only, as a tmpfs is: no sync makes its content durable."""

import os
import stat
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs")
_RAM_DISK = 1  # major number of /dev/ram0 ...; /dev/zram0 has no fixed one


def is_in_memory(path: str, mounts: Path = _MOUNTS) -> bool:
    """Whether what lies at `path` is lost with the machine; False where this system does not say.

    Of a path that does not exist yet, the nearest directory above it counts.

    Args:
        path: a file, directory or block device.
        mounts: the table of mounts, in the format of proc_pid_mountinfo(5).
    """
    place = Path(path).absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        status = place.stat()
        if stat.S_ISBLK(status.st_mode):
            return os.major(status.st_rdev) == _RAM_DISK
        return file_system_of(status.st_dev, mounts.read_text()) in _IN_MEMORY
    except OSError:
        return False


def file_system_of(device: int, mounts: str) -> str:
    """Return the type of the file system with this `st_dev`; empty if no mount has it.

    A line is `25 24 0:23 / /dev/shm rw,relatime shared:2 - tmpfs tmpfs rw,size=1g`: the device is the third word, the
    type follows the dash.
    """
    numbers = f"{os.major(device)}:{os.minor(device)}"
    for line in mounts.splitlines():
        fields, _, system = line.partition(" - ")
        if fields.split()[2:3] == [numbers]:
            return system.split()[0]
    return ""
