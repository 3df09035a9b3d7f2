"""Names of the locks that a process holds, as other processes may know them."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


def lock_name(path: Path) -> str:
    """Name the lock on an open file, for every process of this boot of this machine; empty: not known.

    The kernel keeps such a lock with the inode, so another file at the same path has another name.
    """
    with suppress(OSError):
        return _name(path.stat())
    return ""


def free_lock(path: Path) -> str:
    """Return the name of the lock on a file that nobody holds; empty: it is held, or that is not known.

    The lock is taken for an instant, shared, so that several who look do not see each other.
    """
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return _name(os.fstat(descriptor))
        finally:
            os.close(descriptor)
    return ""


def _name(status: os.stat_result) -> str:
    return f"{BOOT_ID.read_text().strip()}:{status.st_dev}:{status.st_ino}"
