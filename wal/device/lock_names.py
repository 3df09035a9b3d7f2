"""Names of locks on files, as other processes of the machine may know them.

The kernel keeps such a lock with the inode. Who holds one names it by the descriptor that holds it: at its path may
lie another file by then, whose lock is not held.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


def lock_name(descriptor: int) -> str:
    """Name the lock on an open file, for every process of this boot of this machine; empty: not known."""
    with suppress(OSError):
        status = os.fstat(descriptor)
        return f"{BOOT_ID.read_text().strip()}:{status.st_dev}:{status.st_ino}"
    return ""


def free_lock(path: Path) -> str:
    """Return the name of the free lock on a file; empty: it is held, or that is not known.

    The lock is taken for an instant, shared, so that several who look do not see each other.
    """
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return lock_name(descriptor)
        finally:
            os.close(descriptor)
    return ""
