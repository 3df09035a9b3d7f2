"""IO by a small pool of threads, as in the articles, which works everywhere.

Threads are daemons: one that hangs in the kernel must not keep the process from ending.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue

from headrace.daemon_threads import DaemonThread
from headrace.wal.device.block_device import WriteDone, explained, settle, short_io_error
from headrace.wal.device.file_backed_device import FileBackedDevice
from headrace.wal.device.file_device import DeviceFile

_CLOSE_TIMEOUT_S = 5.0


class ThreadDevice(FileBackedDevice):
    """A `BlockDevice` on blocking system calls.

    The queue before the threads is bounded by its users: the IO depth of the log, and one read.
    """

    io = "threads"

    def __init__(self, file: DeviceFile, loop: asyncio.AbstractEventLoop, *, threads: int) -> None:
        """Start the threads. The file is the device's once that has succeeded.

        Raises:
            RuntimeError, MemoryError: a thread cannot be started.
        """
        super().__init__(file)
        self._loop = loop
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._inflight = 0
        self.hangs = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._threads = [DaemonThread(self._work, f"wal-io-{number}") for number in range(threads)]
        try:
            for thread in self._threads:
                thread.start()
        except BaseException:
            self._end_threads()
            raise

    def write(self, position: int, data: memoryview, done: WriteDone) -> None:
        """See `BlockDevice.write`."""
        self._start(lambda: self._write(position, data), done)

    async def read(self, position: int, into: memoryview) -> None:
        """See `BlockDevice.read`."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._start(lambda: self._read(position, into), partial(settle, future))
        await future

    async def close(self) -> None:
        """See `BlockDevice.close`."""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                    await self._idle.wait()
        finally:
            self.hangs = not self._idle.is_set()
            if not self.hangs:
                self._release()

    def _release(self) -> None:
        self._end_threads()
        self._file.close()

    def _end_threads(self) -> None:
        for _ in self._threads:
            self._queue.put(None)

    def _start(self, operation: Callable[[], OSError | None], done: WriteDone) -> None:
        self._inflight += 1
        self._idle.clear()

        def run() -> None:
            error = operation()
            # The loop is closed when the process is ending: there is nothing left to call.
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._finish, done, error)

        self._queue.put(run)

    def _finish(self, done: WriteDone, error: OSError | None) -> None:
        self._inflight -= 1
        if self._inflight == 0:
            self._idle.set()
            if self.hangs:
                self.hangs = False
                self._release()
        done(error)

    def _work(self) -> None:
        while (run := self._queue.get()) is not None:
            run()

    def _write(self, position: int, data: memoryview) -> OSError | None:
        try:
            written = os.pwritev(self._file.fd, [data], position)
        except OSError as error:
            return explained(error)
        if written != len(data):
            return short_io_error("write", self.path, position, len(data), written)
        return None

    def _read(self, position: int, into: memoryview) -> OSError | None:
        try:
            count = os.preadv(self._file.fd, [into], position)
        except OSError as error:
            return explained(error)
        if count != len(into):
            return short_io_error("read", self.path, position, len(into), count)
        return None
