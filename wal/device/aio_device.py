"""IO by Linux kernel AIO: no thread, so a busy event loop cannot starve it of the interpreter lock.

Completions arrive on an eventfd that the loop watches, which works on asyncio and on uvloop. The
system calls are made without releasing the interpreter lock: they take microseconds, getting the
lock back may take longer.

Source: io_setup(2), io_submit(2), io_getevents(2), linux/aio_abi.h.
"""

import asyncio
import ctypes
import errno
import logging
import os
import platform
import struct
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from headrace.invariants import InvariantError
from headrace.wal.device.block_device import WriteDone, explained, settle, short_io_error
from headrace.wal.device.file_backed_device import FileBackedDevice
from headrace.wal.device.file_device import DeviceFile

logger = logging.getLogger("headrace.wal")

_CLOSE_TIMEOUT_S = 5.0
# What io_submit(2) answers when the kernel is short of something, or a signal came: nothing was submitted.
_PASSING = frozenset({errno.EAGAIN, errno.EINTR, errno.ENOMEM})
_MAX_SUBMITS = 11  # of one operation, within 1.023 s
_SUBMIT_PAUSE_S = 0.001  # doubled each time
_TELL_INTERVAL_S = 60.0
_PREAD = 0
_PWRITE = 1
_FLAG_RESFD = 1
# setup, destroy, getevents, submit
_SYSCALLS = {"x86_64": (206, 207, 208, 209), "aarch64": (0, 1, 4, 2)}


# struct iocb: data, key, rw_flags, opcode, priority, fd, buffer, size, offset, reserved, flags, eventfd
_CONTROL_BLOCK = struct.Struct("<QIIHhiQQqQII")  # the kernel refuses the fd of a closed file, -1
# struct io_event: data, control block, result, second result
_EVENT = struct.Struct("<QQqq")


class _Operation(NamedTuple):
    """An operation that the kernel has, or that waits for a slot."""

    opcode: int
    position: int
    data: memoryview
    anchor: object  # keeps the address of `data` valid
    address: int
    done: WriteDone


class AioUnavailableError(Exception):
    """Kernel AIO is not available (another system, a sandbox, or its global limit is reached)."""


class _Context:
    """An AIO context: the four system calls."""

    def __init__(self, depth: int) -> None:
        numbers = _SYSCALLS.get(platform.machine())
        if not sys.platform.startswith("linux") or numbers is None or sys.byteorder != "little":
            msg = f"no kernel AIO on {sys.platform} {platform.machine()}"
            raise AioUnavailableError(msg)
        setup, self._destroy, self._getevents, self._submit = map(ctypes.c_long, numbers)
        # PyDLL, unlike CDLL, keeps the interpreter lock during the call.
        syscall = ctypes.PyDLL(None, use_errno=True).syscall
        syscall.restype = ctypes.c_long
        self._syscall: Callable[..., int] = syscall
        self._id = ctypes.c_ulong(0)
        self._one = ctypes.c_long(1)
        if self._syscall(setup, ctypes.c_ulong(depth), ctypes.byref(self._id)) != 0:
            msg = f"io_setup failed: {os.strerror(ctypes.get_errno())}"
            raise AioUnavailableError(msg)
        events = (ctypes.c_char * (_EVENT.size * depth))()
        self._events = memoryview(events)
        no_wait = (ctypes.c_long * 2)(0, 0)
        self._reap_arguments = (
            self._getevents,
            self._id,
            ctypes.c_long(0),
            ctypes.c_long(depth),
            events,
            ctypes.byref(no_wait),
        )

    def submit(self, control_blocks: "ctypes.Array[ctypes.c_void_p]") -> int:
        """Submit the one operation that is pointed to; return 0 or an errno."""
        count = self._syscall(self._submit, self._id, self._one, control_blocks)
        return 0 if count == 1 else (ctypes.get_errno() or errno.EAGAIN)

    def reap(self) -> list[tuple[int, int]]:
        """Return (data, result) of what has completed, without waiting."""
        count = self._syscall(*self._reap_arguments)
        events = self._events[: max(count, 0) * _EVENT.size]
        return [(data, result) for data, _, result, _ in _EVENT.iter_unpack(events)]

    def destroy(self) -> None:
        """Destroy the context; waits for inflight operations."""
        self._syscall(self._destroy, self._id)


class AioDevice(FileBackedDevice):
    """A `BlockDevice` on kernel AIO.

    At most `depth` operations are at the kernel; more wait in order. Their number is bounded by the
    device's users: the IO depth of the log, and one read.
    """

    io = "aio"

    def __init__(self, file: DeviceFile, loop: asyncio.AbstractEventLoop, *, depth: int) -> None:
        """Set up the context.

        Raises:
            AioUnavailableError: the kernel refuses.
        """
        super().__init__(file)
        self._loop = loop
        self._context = _Context(depth)
        self._control_blocks = [(ctypes.c_char * _CONTROL_BLOCK.size)() for _ in range(depth)]
        self._pointers = [
            (ctypes.c_void_p * 1)(ctypes.addressof(control_block))
            for control_block in self._control_blocks
        ]
        self._free = list(range(depth))
        self._operations: list[_Operation | None] = [None] * depth
        self._waiting: deque[_Operation] = deque()
        self._refused = 0  # submissions since the start
        self._told_s = -_TELL_INTERVAL_S
        self._idle = asyncio.Event()
        self.hangs = False
        self._idle.set()
        self._eventfd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        loop.add_reader(self._eventfd, self._on_events)

    def write(self, position: int, data: memoryview, done: WriteDone) -> None:
        """See `BlockDevice.write`."""
        self._start(_PWRITE, position, data, done)

    async def read(self, position: int, into: memoryview) -> None:
        """See `BlockDevice.read`."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._start(_PREAD, position, into, partial(settle, future))
        await future

    async def close(self) -> None:
        """See `BlockDevice.close`."""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                    await self._idle.wait()
        finally:
            self.hangs = not self._idle.is_set()
            # While it hangs, this would wait in the kernel, and the kernel still needs the rest.
            if not self.hangs:
                self._release()

    def _release(self) -> None:
        self._loop.remove_reader(self._eventfd)
        self._context.destroy()
        os.close(self._eventfd)
        self._file.close()

    def _start(self, opcode: int, position: int, data: memoryview, done: WriteDone) -> None:
        anchor = ctypes.c_char.from_buffer(data)
        fields = (opcode, position, data, anchor, ctypes.addressof(anchor), done)
        operation = tuple.__new__(_Operation, fields)  # as its constructor, in one call
        self._idle.clear()
        if self._free:
            self._submit(operation)
        else:
            self._waiting.append(operation)

    def _submit(self, operation: _Operation) -> None:
        slot = self._free.pop()
        _CONTROL_BLOCK.pack_into(
            self._control_blocks[slot],
            0,
            slot,
            0,
            0,
            operation.opcode,
            0,
            self._file.fd,
            operation.address,
            len(operation.data),
            operation.position,
            0,
            _FLAG_RESFD,
            self._eventfd,
        )
        self._operations[slot] = operation
        self._hand_over(slot, 1)

    def _hand_over(self, slot: int, submits: int) -> None:
        """Give a control block to the kernel, again after a pause if it is short of something."""
        failure = self._context.submit(self._pointers[slot])
        if not failure:
            return
        if failure in _PASSING and submits < _MAX_SUBMITS:
            self._tell_refused(failure)
            pause_s = _SUBMIT_PAUSE_S * 2 ** (submits - 1)
            self._loop.call_later(pause_s, self._hand_over, slot, submits + 1)
        else:
            # `done` is never called before `write` has returned.
            self._loop.call_soon(self._finish, slot, -failure)

    def _tell_refused(self, failure: int) -> None:
        self._refused += 1
        if self._loop.time() - self._told_s >= _TELL_INTERVAL_S:
            self._told_s = self._loop.time()
            logger.warning(
                "the kernel did not take an operation on the WAL; trying again for a second",
                extra={"reason": os.strerror(failure), "refused": self._refused},
            )

    def _on_events(self) -> None:
        try:
            os.eventfd_read(self._eventfd)
        except BlockingIOError:
            return
        # All completions: later ones make the descriptor, which was read before, ready again.
        results = deque(self._context.reap())
        try:
            while results:
                self._finish(*results.popleft())
        finally:  # the others must be called even if one raises
            for result in results:
                self._loop.call_soon(self._finish, *result)

    def _finish(self, slot: int, result: int) -> None:
        operation = self._operations[slot]
        if operation is None:
            raise InvariantError("completed twice")
        self._operations[slot] = None
        self._free.append(slot)
        if self._waiting:
            self._submit(self._waiting.popleft())
        elif len(self._free) == len(self._operations):
            self._idle.set()
            if self.hangs:
                self.hangs = False
                self._loop.call_soon(self._release)  # once all completions are passed on
        is_whole = result == len(operation.data)
        operation.done(None if is_whole else self._error_of(operation, result))

    def _error_of(self, operation: _Operation, result: int) -> OSError:
        if result < 0:
            return explained(OSError(-result, os.strerror(-result), self.path))
        what = "write" if operation.opcode == _PWRITE else "read"
        size_bytes = len(operation.data)
        return short_io_error(what, self.path, operation.position, size_bytes, result)
