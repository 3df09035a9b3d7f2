"""The process behind `FaultDisk`: a FUSE file system of one file, `disk`, whose content has a volatile cache.

    python -m tests.environment.fault_disk_server DIRECTORY SIZE_BYTES SEED

It mounts DIRECTORY/mount, keeps the medium in DIRECTORY/image and takes commands, one JSON object a line, at the socket
DIRECTORY/control. It ends, and cleans up, when its standard input does: that is when whoever started it is gone.

It speaks the kernel's protocol itself. So operations wait here without a thread each, complete in any order, and
asynchronous direct IO of the kernel stays asynchronous, which libfuse 2 does not let it be.

Source: linux/fuse.h (protocol 7.31).
"""

import ctypes
import errno
import heapq
import json
import mmap
import os
import random
import selectors
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from enum import IntEnum
from functools import partial
from pathlib import Path

from tests.environment.fault_disk_state import Fault, FaultyDisk, Operation, VolatileCache
from tests.environment.unix_addresses import short_address

MAX_WRITE = 1 << 20
HEADER = struct.Struct("<IIQQIIIHH")  # length, opcode, unique, node, uid, gid, pid, extensions
ANSWER = struct.Struct("<IiQ")  # length, -errno, unique
TRANSFER = struct.Struct("<QQIIQII")  # handle, position, size, flags, lock owner, open flags
ATTRIBUTES = struct.Struct("<6Q10I")
INIT_IN = struct.Struct("<IIII")
INIT_OUT = struct.Struct("<IIIIHHIIHHI7I")
ASYNC_READ, BIG_WRITES, ASYNC_DIO, MAX_PAGES = 1 << 0, 1 << 5, 1 << 15, 1 << 22
DIRECT_IO, PARALLEL_DIRECT_WRITES = 1 << 0, 1 << 6
MS_NOSUID, MS_NODEV, MNT_DETACH = 2, 4, 2
ROOT_NODE, DISK_NODE = 1, 2
FOREVER_S = 1 << 30
DETACH_WITHIN_S = 5.0


class Opcode(IntEnum):
    """Requests that are understood; all others are answered with ENOSYS."""

    LOOKUP = 1
    FORGET = 2
    GETATTR = 3
    SETATTR = 4
    OPEN = 14
    READ = 15
    WRITE = 16
    STATFS = 17
    RELEASE = 18
    FSYNC = 20
    FLUSH = 25
    INIT = 26
    INTERRUPT = 36
    DESTROY = 38
    BATCH_FORGET = 42


libc = ctypes.CDLL(None, use_errno=True)


def mount(directory: Path) -> int:
    """Mount a FUSE file system at `directory`; return the descriptor of its requests."""
    fd = os.open("/dev/fuse", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    options = f"fd={fd},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other"
    result = libc.mount(
        b"fault_disk", bytes(directory), b"fuse", MS_NOSUID | MS_NODEV, options.encode()
    )
    if result:
        raise OSError(
            ctypes.get_errno(), f"mount of {directory}: {os.strerror(ctypes.get_errno())}"
        )
    return fd


class FuseConnection:
    """Decodes the kernel's requests and passes reads, writes and syncs to `submit`."""

    def __init__(self, fd: int, size_bytes: int, submit: Callable[[Operation], None]) -> None:
        self.fd = fd
        self._size_bytes = size_bytes
        self._submit = submit
        self.is_unmounted = False
        self._buffer = bytearray(MAX_WRITE + 4096)
        self._view = memoryview(self._buffer)

    def take(self) -> bool:
        """Take one request; return whether there was one."""
        try:
            length = os.readv(self.fd, [self._buffer])
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno in {errno.EINTR, errno.ENOENT}:
                return True
            self.is_unmounted = error.errno == errno.ENODEV
            if self.is_unmounted:
                return False
            raise
        _, opcode, unique, node, *_ = HEADER.unpack_from(self._buffer)
        body = self._view[HEADER.size : length]
        match opcode:
            case Opcode.READ | Opcode.WRITE:
                self._transfer(opcode, unique, body)
            case Opcode.FSYNC:
                self._submit(Operation("sync", 0, 0, reply=partial(self._reply, unique)))
            case Opcode.FORGET | Opcode.BATCH_FORGET | Opcode.INTERRUPT:
                pass  # no answer is expected
            case _:
                error, payload = self._administrate(opcode, node, body)
                self._reply(unique, error, payload)
        return True

    def _transfer(self, opcode: int, unique: int, body: memoryview) -> None:
        _, position, size, _, _, flags, _ = TRANSFER.unpack_from(body)
        if opcode == Opcode.READ:
            operation = Operation("read", position, min(size, max(0, self._size_bytes - position)))
            operation.reply = partial(self._reply, unique)
        else:
            data = bytes(body[TRANSFER.size : TRANSFER.size + size])
            operation = Operation("write", position, size, data, durable=bool(flags & os.O_DSYNC))
            if position + size > self._size_bytes:
                self._reply(unique, errno.ENOSPC, b"")
                return
            operation.reply = partial(self._reply_written, unique, operation)
        self._submit(operation)

    def _reply_written(self, unique: int, operation: Operation, error: int, payload: bytes) -> None:
        self._reply(unique, error, b"" if error else struct.pack("<II", operation.size, 0))

    def _administrate(self, opcode: int, node: int, body: memoryview) -> tuple[int, bytes]:
        match opcode:
            case Opcode.INIT:
                return 0, self._init(*INIT_IN.unpack_from(body))
            case Opcode.LOOKUP:
                if bytes(body).rstrip(b"\0") != b"disk":
                    return errno.ENOENT, b""
                entry = struct.pack("<QQQQII", DISK_NODE, 0, FOREVER_S, FOREVER_S, 0, 0)
                return 0, entry + self._attributes(DISK_NODE)
            case Opcode.GETATTR | Opcode.SETATTR:
                return 0, struct.pack("<QII", FOREVER_S, 0, 0) + self._attributes(node)
            case Opcode.OPEN:
                return 0, struct.pack("<QII", 0, DIRECT_IO | PARALLEL_DIRECT_WRITES, 0)
            case Opcode.STATFS:
                return 0, struct.pack("<5Q4I6I", 0, 0, 0, 2, 0, 4096, 255, 4096, 0, *[0] * 6)
            case Opcode.RELEASE | Opcode.FLUSH | Opcode.DESTROY:
                return 0, b""
        return errno.ENOSYS, b""

    @staticmethod
    def _init(major: int, minor: int, max_readahead: int, flags: int) -> bytes:
        wanted = flags & (ASYNC_READ | BIG_WRITES | ASYNC_DIO | MAX_PAGES)
        pages = MAX_WRITE // 4096
        return INIT_OUT.pack(
            major, min(minor, 31), max_readahead, wanted, 64, 48, MAX_WRITE, 1, pages, 0, *[0] * 8
        )

    def _attributes(self, node: int) -> bytes:
        size, mode = (
            (0, stat.S_IFDIR | 0o755)
            if node == ROOT_NODE
            else (self._size_bytes, stat.S_IFREG | 0o600)
        )
        ids = (os.getuid(), os.getgid())
        return ATTRIBUTES.pack(node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, *ids, 0, 4096, 0)

    def _reply(self, unique: int, error: int, payload: bytes) -> None:
        try:
            os.writev(self.fd, [ANSWER.pack(ANSWER.size + len(payload), -error, unique), payload])
        except OSError as problem:
            if problem.errno not in {errno.ENOENT, errno.EINTR, errno.ENODEV}:
                raise


class Server:
    """The loop: requests of the kernel, commands, and completions in random order."""

    def __init__(self, directory: Path, size_bytes: int, seed: int) -> None:
        self._directory = directory
        self._loop_device: str | None = None
        image = os.open(directory / "image", os.O_RDWR)
        self.disk = FaultyDisk(
            VolatileCache(memoryview(mmap.mmap(image, size_bytes))), random.Random(seed)
        )
        self._timers: list[tuple[float, int, Operation]] = []
        self._mount = directory / "mount"
        self._fuse = FuseConnection(mount(self._mount), size_bytes, self._submit)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._fuse.fd, selectors.EVENT_READ, self._on_requests)
        self._selector.register(sys.stdin.buffer.raw, selectors.EVENT_READ, self._on_input_end)
        listener = socket.socket(socket.AF_UNIX)
        with short_address(directory / "control") as address:
            listener.bind(address)
        listener.listen()
        self._selector.register(listener, selectors.EVENT_READ, partial(self._accept, listener))
        self._stopping = False

    def run(self) -> None:
        """Serve until the standard input ends or the file system is unmounted."""
        while not self._stopping:
            busy = bool(self.disk.ready)
            for key, _ in self._selector.select(0 if busy else self._timeout()):
                key.data()
            self._fire_timers()
            if self.disk.ready:
                self.disk.complete_one()

    def _submit(self, operation: Operation) -> None:
        delay_ms = self.disk.submit(operation)
        if delay_ms is not None:
            due = time.monotonic() + delay_ms / 1000
            heapq.heappush(self._timers, (due, id(operation), operation))

    def _timeout(self) -> float | None:
        return max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None

    def _fire_timers(self) -> None:
        while self._timers and self._timers[0][0] <= time.monotonic():
            self.disk.release(heapq.heappop(self._timers)[2])

    def _on_requests(self) -> None:
        while self._fuse.take():
            pass
        self._stopping = self._stopping or self._fuse.is_unmounted

    def _on_input_end(self) -> None:
        if not os.read(0, 4096):
            self._stopping = True

    def _accept(self, listener: socket.socket) -> None:
        client, _ = listener.accept()
        lines = client.makefile("rwb", buffering=0)
        self._selector.register(
            client, selectors.EVENT_READ, lambda: self._on_command(client, lines)
        )

    def _on_command(self, client: socket.socket, lines: socket.SocketIO) -> None:
        try:
            line = lines.readline()
            if line:
                request = json.loads(line)
                answer = getattr(self, "do_" + request.pop("do"))(**request)
                lines.write(json.dumps(answer).encode() + b"\n")
        except OSError:
            line = b""  # whoever asked is gone
        if not line:
            self._selector.unregister(client)
            client.close()

    def do_arm(self, **fault: object) -> None:
        """Arm a fault."""
        self.disk.faults.append(Fault(**fault))

    def do_disarm(self) -> None:
        """Forget all faults; what hangs goes on hanging."""
        self.disk.faults.clear()

    def do_release(self) -> None:
        """Complete what hangs."""
        self.disk.release()

    def do_cut(self, survive: float, seed: int) -> None:
        """Cut the power."""
        self.disk.cut(survive, seed)

    def do_heal(self) -> None:
        """Switch the power on."""
        self.disk.heal()

    def do_blank(self) -> None:
        """Forget everything that was ever written."""
        self.disk.cache.lose(random.Random(0), 0)
        medium = self.disk.cache.medium
        medium[:] = bytes(len(medium))

    def do_forget_journal(self) -> None:
        """Begin a new journal."""
        self.disk.journal.clear()

    def do_attached(self, loop_device: str) -> None:
        """Remember to detach this loop device in the end."""
        self._loop_device = loop_device

    def do_state(self) -> dict[str, object]:
        """Return counters, faults, and what is unsynced or hangs."""
        return {
            "counters": self.disk.counters,
            "faults": [asdict(fault) for fault in self.disk.faults],
            "dirty_bytes": self.disk.cache.dirty_bytes,
            "held": len(self.disk.held),
            "dead": self.disk.dead,
            "max_depth": self.disk.max_depth,
        }

    def do_journal(self) -> list[tuple[str, int, int, str]]:
        """Return the writes and syncs since the journal was begun: (op, position, size, what became of it)."""
        return self.disk.journal

    def clean_up(self) -> None:
        """Leave no mount and no loop device behind; detaching one may need the disk once more."""
        self.disk.release()
        if self._loop_device is not None:
            detach = subprocess.Popen(
                ["losetup", "--detach", self._loop_device], stderr=subprocess.DEVNULL
            )
            deadline = time.monotonic() + DETACH_WITHIN_S
            while detach.poll() is None and time.monotonic() < deadline:
                for key, _ in self._selector.select(0.01):
                    if key.data == self._on_requests:
                        key.data()
                while self.disk.ready:
                    self.disk.complete_one()
        libc.umount2(bytes(self._mount), MNT_DETACH)


def main() -> None:
    """Serve until the standard input ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # whoever started us says when, by closing our input
    directory, size_bytes, seed = sys.argv[1:]
    server = Server(Path(directory), int(size_bytes), int(seed))
    try:
        print("ready", flush=True)
        server.run()
    finally:
        server.clean_up()


if __name__ == "__main__":
    main()
