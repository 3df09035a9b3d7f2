"""Which process uses a file or device, as the kernel shows it: nothing is locked or claimed to find out.

`/proc/locks` shows the locks of processes that this one could see in `/proc`, so a writer in another
container, or on another machine with a shared file system, is not found. This is for messages only;
the lock itself decides which process may write.
"""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_BLOCK_DEVICES = Path("/sys/dev/block")


@dataclass(frozen=True, slots=True)
class Writer:
    """The process that holds the lock."""

    pid: int
    program: str

    def __str__(self) -> str:
        """Name it for messages."""
        return f"process {self.pid} ({self.program})"


def find_writer(fd: int) -> Writer | None:
    """Return the process that holds an exclusive `flock` on the open file; None when none is visible.

    Raises:
        OSError: this system does not show it.
    """
    lock_id = _lock_id(fd)
    for line in (_PROC / "locks").read_text().splitlines():
        pid = exclusive_lock(line, lock_id)
        if pid is not None:
            return Writer(pid, _program(pid))
    return None


def exclusive_lock(line: str, lock_id: str) -> int | None:
    """Return the holder's process id if a line of /proc/locks is an exclusive flock of `lock_id`.

    Such a line is `7: FLOCK  ADVISORY  WRITE 4242 fe:00:131074 0 EOF`; `7: -> FLOCK ...` waits.
    """
    words = line.split()
    is_match = words[1:2] == ["FLOCK"] and words[3:4] == ["WRITE"] and words[5:6] == [lock_id]
    return int(words[4]) if is_match else None


def _lock_id(fd: int) -> str:
    """Name a file as /proc/locks does: by the device of its mount, which `st_dev` is not everywhere."""
    fdinfo = (_PROC / "self/fdinfo" / str(fd)).read_text().splitlines()
    mount = next(line.split()[1] for line in fdinfo if line.startswith("mnt_id:"))
    status = os.fstat(fd)
    numbers = f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}"
    for line in (_PROC / "self/mountinfo").read_text().splitlines():
        words = line.split()
        if words[0] == mount:
            numbers = words[2]
    major, minor = map(int, numbers.split(":"))
    return f"{major:02x}:{minor:02x}:{status.st_ino}"


def _program(pid: int) -> str:
    try:
        return (_PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return "?"


def use_of_device(path: str) -> str:
    """Return what a block device or a partition of it is used for; "" when nothing is known."""
    with suppress(OSError):
        status = Path(path).stat()
        if stat.S_ISBLK(status.st_mode):
            numbers = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
            return _use_of(numbers) or _use_of_partitions(numbers)
    return ""


def _use_of_partitions(numbers: str) -> str:
    for partition in sorted((_BLOCK_DEVICES / numbers).glob("*/partition")):
        use = _use_of((partition.parent / "dev").read_text().strip())
        if use:
            return f"{partition.parent.name} on it is {use}"
    return ""


def _use_of(numbers: str) -> str:
    device = _BLOCK_DEVICES / numbers
    nodes = {f"/dev/{device.resolve().name}"}
    for line in (_PROC / "self/mountinfo").read_text().splitlines():
        words = line.split()
        source = words[words.index("-") + 2]  # names the device where the number does not: Btrfs
        if words[2] == numbers or source in nodes:
            return f"mounted at {words[4]}"
    swaps = (_PROC / "swaps").read_text().splitlines()[1:]
    if nodes & {line.split()[0] for line in swaps if line.strip()}:
        return "used as swap space"
    holders = sorted(holder.name for holder in (device / "holders").glob("*"))
    return f"a part of {', '.join(holders)}" if holders else ""
