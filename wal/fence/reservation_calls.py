"""Persistent reservations by system calls: the block layer's, and NVMe's own report where that has none. Pure.

Nothing is opened here, and the call itself is an argument.

A number that a call returns is the device's status, an OSError is the kernel's.

`pr_preempt` has its two keys as the drivers use them: `old_key` is the one of the caller, `new_key` the one of the
victim. The kernel's documentation reads the other way round; `nvme_pr_preempt`, `sd_pr_preempt` and all who call them
(nfsd, the SCSI target) agree.

Source: linux/pr.h, linux/nvme_ioctl.h, drivers/nvme/host/pr.c; NVM Express Base Specification, "Reservation Report".
"""

import errno
import struct
from array import array
from collections.abc import Callable
from typing import Final

from headrace.wal.errors import WalFenceError
from headrace.wal.fence.reservation_rules import (
    MAX_KEYS,
    NO_KEY,
    Command,
    Register,
    Report,
    Reserve,
    taking,
)

# (descriptor, request, argument, which may be changed) -> result
Ioctl = Callable[[int, int, bytearray], int]

REGISTER: Final = 0x401870C8
RESERVE: Final = 0x401070C9
PREEMPT_ABORT: Final = 0x401870CC
READ_KEYS: Final = 0xC01070CE  # from Linux 6.19 on, as the next
READ_RESERVATION: Final = 0x801070CF
NVME_NAMESPACE: Final = 0x4E40
NVME_IO_COMMAND: Final = 0xC0484E43

WRITE_EXCLUSIVE: Final = 1
RESERVATION_REPORT: Final = 0x0E

REGISTRATION: Final = struct.Struct("=QQII")  # old key, new key, flags, -
RESERVATION: Final = struct.Struct("=QII")  # key, type, flags
PREEMPTION: Final = struct.Struct("=QQII")  # own key, key of the victim, type, flags
KEY_LIST: Final = struct.Struct("=IIQ")  # generation, number, address
HELD: Final = struct.Struct("=QII")  # key, generation, type
# opcode, flags, -, namespace, 2 words, metadata, data, metadata length, data length, 6 words, time-out, result
NVME_COMMAND: Final = struct.Struct("=BBHIIIQQIIIIIIIIII")

# Statuses of "reservation conflict": the block layer's, and NVMe's, which older kernels pass on as it is.
_CONFLICT: Final = 0x18
_NVME_CONFLICT: Final = 0x83
_NVME_STATUS_BITS: Final = 0x7FF
_NVME_OTHER_HOST_ID: Final = 0x18  # the host has an identifier of the other length
_NO_SUCH_CALL: Final = frozenset({errno.ENOTTY, errno.EINVAL, errno.EOPNOTSUPP})

# The report with 16 bytes of host identifier, and with 8: header, entry, position of the key in it.
_REPORT_HEADER: Final = struct.Struct("<IBH")  # generation, type, number of entries
_HOLDS: Final = 2  # position in an entry; bit 0: it holds the reservation
_EXTENDED: Final = (64, 64, 8)
_SHORT: Final = (24, 24, 16)


def take(ioctl: Ioctl, fd: int, place: str, epoch: int) -> None:
    """Reserve an open device for this machine; see `headrace.wal.fence.reservation_rules`.

    Raises:
        WalFenceError: a newer epoch, or another program, has it, or it takes no reservations.
        OSError: the kernel refuses.
    """
    steps = taking(place, epoch, read(ioctl, fd, place))
    command = next(steps, None)
    while command is not None:
        perform(ioctl, fd, place, command)
        report = read(ioctl, fd, place)
        try:
            command = steps.send(report)
        except StopIteration:
            return


def perform(ioctl: Ioctl, fd: int, place: str, command: Command) -> None:
    """Give a command to the device; that it conflicts with what others did is no error.

    Raises:
        WalFenceError: the device refuses it for another reason.
        OSError: the kernel does.
    """
    if isinstance(command, Register):
        request, argument = REGISTER, REGISTRATION.pack(command.old, command.new, 0, 0)
    elif isinstance(command, Reserve):
        request, argument = RESERVE, RESERVATION.pack(command.key, WRITE_EXCLUSIVE, 0)
    else:
        # With abort: a write of the victim that is inflight must not come after.
        request = PREEMPT_ABORT
        argument = PREEMPTION.pack(command.key, command.victim, WRITE_EXCLUSIVE, 0)
    status = ioctl(fd, request, bytearray(argument))
    if status and status != _CONFLICT and status & _NVME_STATUS_BITS != _NVME_CONFLICT:
        name = type(command).__name__.lower()
        msg = f"{place} cannot be reserved: it answers {name!r} with status {status:#x}"
        raise WalFenceError(msg)


def read(ioctl: Ioctl, fd: int, place: str) -> Report:
    """Ask who has registered, and who holds the reservation.

    Raises:
        WalFenceError: it cannot be found out.
        OSError: the kernel refuses.
    """
    try:
        return _read_by_block_layer(ioctl, fd, place)
    except OSError as error:
        if error.errno not in _NO_SUCH_CALL:
            raise
    try:
        return _read_by_nvme(ioctl, fd, place)
    except OSError as error:
        if error.errno not in _NO_SUCH_CALL:
            raise
        msg = (
            f"{place} does not report who has reserved it: either it takes no persistent reservations (as most local "
            f"disks, loop devices and software RAID), or it is not NVMe, which needs Linux 6.19. Use "
            f"headrace.wal.fence=command:PROGRAM, or none"
        )
        raise WalFenceError(msg) from error


def _read_by_block_layer(ioctl: Ioctl, fd: int, place: str) -> Report:
    keys = array("Q", bytes(8 * MAX_KEYS))
    counted = bytearray(KEY_LIST.pack(0, MAX_KEYS, keys.buffer_info()[0]))
    _require_success(ioctl(fd, READ_KEYS, counted), place)
    count = KEY_LIST.unpack(counted)[1]
    held = bytearray(HELD.size)
    _require_success(ioctl(fd, READ_RESERVATION, held), place)
    key, _, kind = HELD.unpack(held)
    return Report(tuple(keys[: _bounded(count, place)]), key if kind else NO_KEY)


def _read_by_nvme(ioctl: Ioctl, fd: int, place: str) -> Report:
    namespace = ioctl(fd, NVME_NAMESPACE, bytearray(8))
    status, report = _nvme_report(ioctl, fd, namespace, _EXTENDED)
    form = _EXTENDED
    if status & _NVME_STATUS_BITS == _NVME_OTHER_HOST_ID:
        form = _SHORT
        status, report = _nvme_report(ioctl, fd, namespace, form)
    _require_success(status, place)
    _, kind, count = _REPORT_HEADER.unpack_from(report)
    header, entry, at = form
    starts = [header + entry * number for number in range(_bounded(count, place))]
    keys = [int.from_bytes(report[start + at : start + at + 8], "little") for start in starts]
    holds = [kind and report[start + _HOLDS] & 1 for start in starts]
    holders = (key for key, it in zip(keys, holds, strict=True) if it)
    return Report(tuple(keys), next(holders, NO_KEY))


def _nvme_report(
    ioctl: Ioctl, fd: int, namespace: int, form: tuple[int, int, int]
) -> tuple[int, bytes]:
    header, entry, _ = form
    data = array("B", bytes(header + entry * MAX_KEYS))
    words = len(data) // 4 - 1
    command = NVME_COMMAND.pack(
        RESERVATION_REPORT, 0, 0, namespace, 0, 0, 0, data.buffer_info()[0], 0, len(data),
        words, form is _EXTENDED, 0, 0, 0, 0, 0, 0,
    )  # fmt: skip
    return ioctl(fd, NVME_IO_COMMAND, bytearray(command)), data.tobytes()


def _bounded(count: int, place: str) -> int:
    if count > MAX_KEYS:
        msg = f"{count} machines have registered at {place}; more than {MAX_KEYS} are not supported"
        raise WalFenceError(msg)
    return count


def _require_success(status: int, place: str) -> None:
    if status:
        msg = f"{place} does not report who has reserved it: status {status:#x}"
        raise WalFenceError(msg)
