"""A fence by persistent reservations of block devices, as NVMe and SCSI devices that several machines share have them.

It distinguishes machines, not processes of one machine. So a device of another broker is taken only while no process of
this machine writes to it.
"""

import asyncio
import errno
import fcntl
import logging
import os
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path

from headrace.daemon_threads import OneThreadEach, StillRunningError
from headrace.wal.errors import WalFenceError
from headrace.wal.fence.port import TAKE_TIMEOUT_S
from headrace.wal.fence.reservation_calls import Ioctl, take

logger = logging.getLogger("headrace.wal")


def _system_call(fd: int, request: int, argument: bytearray) -> int:
    status: int = fcntl.ioctl(fd, request, argument, True)  # noqa: FBT003 - it may be changed
    return status


def _open_device(place: str, flags: int) -> int:
    if not stat.S_ISBLK(Path(place).stat().st_mode):
        msg = (
            f"{place} is not a block device, and headrace.wal.fence=reservation works for these "
            f"only; command:PROGRAM and none work for files, too"
        )
        raise WalFenceError(msg)
    return os.open(place, flags)


class ReservationFence:
    """See `headrace.wal.fence.port.DeviceFence`."""

    description = "persistent reservation of the device"

    def __init__(
        self,
        node_id: int,
        *,
        ioctl: Ioctl = _system_call,
        open_device: Callable[[str, int], int] = _open_device,
    ) -> None:
        """Make the fence of a node.

        Args:
            node_id: of this node.
            ioctl: the system call.
            open_device: gives a descriptor of a block device: (path, flags).
        """
        self._node_id = node_id
        self._ioctl = ioctl
        self._open_device = open_device
        self._threads = OneThreadEach("wal-fence")

    async def take(self, place: str, epoch: int, *, owner: int) -> None:
        """Take a block device; see the port."""
        # The log of this node is already open in this process, exclusively.
        is_foreign = owner != self._node_id
        try:
            async with asyncio.timeout(TAKE_TIMEOUT_S):
                flags = os.O_EXCL if is_foreign else 0
                await self._threads.begin(place, partial(self._take, place, epoch, flags))
        except TimeoutError as error:
            msg = f"{place} could not be reserved within {TAKE_TIMEOUT_S:g} s: look for its errors in dmesg"
            raise WalFenceError(msg) from error
        except OSError as error:
            raise WalFenceError(f"{place} cannot be reserved: {_reason(error)}") from error
        logger.info("device reserved", extra={"place": place, "epoch": epoch, "owner": owner})

    def _take(self, place: str, epoch: int, flags: int) -> None:
        fd = self._open_device(place, os.O_RDWR | flags)
        try:
            take(self._ioctl, fd, place, epoch)
        finally:
            os.close(fd)


def _reason(error: OSError) -> str:
    if isinstance(error, StillRunningError):
        return f"it hangs: {error.strerror}"
    if error.errno == errno.EBUSY:
        return (
            "a process of this machine has it open, and a reservation does not keep that one from writing: end it, or "
            "let a broker on another machine take the device"
        )
    if error.errno in (errno.EPERM, errno.EACCES):
        return (
            f"{error.strerror}. It takes a whole device, not a partition, and the right to write to it, with kernels "
            f"before 6.6 CAP_SYS_ADMIN"
        )
    if error.errno == errno.EOPNOTSUPP:
        return (
            "it takes no persistent reservations; use headrace.wal.fence=command:PROGRAM, or none"
        )
    return error.strerror or str(error)
