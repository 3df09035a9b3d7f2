"""A block device that several machines share, with persistent reservations as NVMe and SCSI devices have them.

`machine(name)` is what one machine sees of it: `ioctl`, as the kernel's, and writes. A write that has passed the
device's check is inflight until `land`; only an abort keeps it from landing then.

Source: NVM Express Base Specification, "Reservations"; drivers/nvme/target/pr.c shows the same rules as code.
"""

import ctypes
import errno
import os
from dataclasses import dataclass, field

from headrace.wal.fence import reservation_calls as calls

CONFLICT = 0x18
NVME_CONFLICT = 0x4083  # as older kernels pass it on, with "do not retry"
OTHER_HOST_ID = 0x4018
PREEMPT = 0x401870CB


@dataclass(eq=False)
class Write:
    """A write that the device has let through."""

    machine: str
    is_aborted: bool = False


@dataclass
class SharedDevice:
    """The device."""

    reads_by: str = "block layer"  # or "nvme", with long or short identifiers of hosts
    has_long_host_ids: bool = True
    conflict: int = CONFLICT
    keys: dict[str, int] = field(default_factory=dict)  # by machine
    holder: str = ""
    kind: int = 0
    inflight: list[Write] = field(default_factory=list)
    landed: list[str] = field(default_factory=list)  # machines, in the order of their writes
    calls: list[tuple[str, int]] = field(default_factory=list)  # (machine, request)

    def machine(self, name: str) -> "Machine":
        return Machine(self, name)

    @property
    def holder_key(self) -> int:
        return self.keys[self.holder] if self.holder else 0

    def register(self, machine: str, old: int, new: int) -> int:
        present = self.keys.get(machine, 0)
        if present != old and not (old == 0 and present == new):
            return self.conflict
        self.keys[machine] = new
        return 0

    def reserve(self, machine: str, key: int, kind: int) -> int:
        if self.keys.get(machine) != key or self.holder not in ("", machine):
            return self.conflict
        self.holder, self.kind = machine, kind
        return 0

    def preempt(self, machine: str, own: int, victim: int, kind: int, *, abort: bool) -> int:
        if self.keys.get(machine) != own:
            return self.conflict
        if self.holder == machine:
            self.kind = kind
            return 0
        victims = [name for name, key in self.keys.items() if key == victim and name != machine]
        if not victims:
            return self.conflict
        if self.holder in victims:
            self.holder, self.kind = machine, kind
        for name in victims:
            del self.keys[name]
            for write in self.inflight:
                write.is_aborted |= abort and write.machine == name
        return 0

    def clear(self) -> None:
        """What an operator does by hand."""
        self.keys.clear()
        self.holder, self.kind = "", 0

    def begin_write(self, machine: str) -> Write:
        if self.holder not in ("", machine):
            raise OSError(errno.EBADE, os.strerror(errno.EBADE), "shared device")
        write = Write(machine)
        self.inflight.append(write)
        return write

    def land(self, write: Write) -> None:
        self.inflight.remove(write)
        if not write.is_aborted:
            self.landed.append(write.machine)


class Machine:
    """One machine that has the device attached."""

    def __init__(self, device: SharedDevice, name: str) -> None:
        self._device = device
        self.name = name

    def write(self) -> None:
        """Write, and wait for it."""
        self._device.land(self._device.begin_write(self.name))

    def ioctl(self, fd: int, request: int, argument: bytearray) -> int:
        device = self._device
        device.calls.append((self.name, request))
        if request == calls.REGISTER:
            old, new, flags, _ = calls.REGISTRATION.unpack(argument)
            assert not flags, "with this flag no key is compared"
            return device.register(self.name, old, new)
        if request == calls.RESERVE:
            key, kind, flags = calls.RESERVATION.unpack(argument)
            assert not flags
            return device.reserve(self.name, key, kind)
        if request in (PREEMPT, calls.PREEMPT_ABORT):
            own, victim, kind, flags = calls.PREEMPTION.unpack(argument)
            assert not flags
            abort = request == calls.PREEMPT_ABORT
            return device.preempt(self.name, own, victim, kind, abort=abort)
        if request == calls.READ_KEYS and device.reads_by == "block layer":
            _, room, address = calls.KEY_LIST.unpack(argument)
            keys = [*device.keys.values()]
            _put(address, b"".join(key.to_bytes(8, "little") for key in keys[:room]))
            calls.KEY_LIST.pack_into(argument, 0, 1, len(keys), address)
            return 0
        if request == calls.READ_RESERVATION and device.reads_by == "block layer":
            calls.HELD.pack_into(argument, 0, device.holder_key, 1, device.kind)
            return 0
        if request == calls.NVME_NAMESPACE and device.reads_by == "nvme":
            return 7
        if request == calls.NVME_IO_COMMAND and device.reads_by == "nvme":
            return self._report(argument)
        raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))

    def _report(self, argument: bytearray) -> int:
        opcode, _, _, namespace, _, _, _, address, _, size, words, is_extended, *_ = (
            calls.NVME_COMMAND.unpack(argument)
        )
        assert (opcode, namespace, words) == (calls.RESERVATION_REPORT, 7, size // 4 - 1)
        device = self._device
        if bool(is_extended) != device.has_long_host_ids:
            return OTHER_HOST_ID
        kind = device.kind if device.holder else 0
        count = len(device.keys)
        report = bytearray(bytes(4) + bytes([kind]) + count.to_bytes(2, "little"))
        report = report.ljust(64 if is_extended else 24, b"\0")
        for machine, key in device.keys.items():
            entry = b"\xff\xff" + bytes([machine == device.holder]) + bytes(5)
            host, word = machine.encode(), key.to_bytes(8, "little")
            if is_extended:
                report += (entry + word + host.ljust(16, b"\0")).ljust(64, b"\0")
            else:
                report += entry + host.ljust(8, b"\0")[:8] + word
        _put(address, bytes(report[:size]))
        return 0


def _put(address: int, data: bytes) -> None:
    ctypes.memmove(address, data, len(data))
