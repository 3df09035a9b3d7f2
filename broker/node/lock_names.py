"""Names of the locks that a process holds, as other processes may know them."""

from contextlib import suppress
from pathlib import Path
from typing import Final

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


def lock_name(path: Path) -> str:
    """Name the lock on an open file, for every process of this boot of this machine; empty: not known.

    The kernel keeps such a lock with the inode, so another file at the same path has another name.
    """
    with suppress(OSError):
        found = path.stat()
        return f"{BOOT_ID.read_text().strip()}:{found.st_dev}:{found.st_ino}"
    return ""
