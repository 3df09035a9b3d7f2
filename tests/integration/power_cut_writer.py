"""A process that appends to a `DeltaWal` without end and tells what was confirmed; made to be killed.

`python -m tests.integration.power_cut_writer` forks one writer for each request that arrives at the Unix socket on
descriptor 3, with the end of a pipe; so a round costs no start of an interpreter. `WriterServer` is the other end.

What a writer tells, each as a letter and three numbers, in the order in which it happened:

    R offset, end, CRC of the body   a record was recovered
    G                                everything was recovered, the reset begins
    Q                                everything is released, the ring is given another capacity when asked again
    B offset                         that or the reset is done, the new generation begins there
    A offset, end, number            a record was appended
    C offset                         everything below is confirmed
    T offset                         a trim is about to be asked for
    D offset                         that trim is durable
    F                                the log has failed
    X                                something was confirmed after that
    Z                                the log is shut down
    E kind                           the writer ends by an error: 0 of IO, 1 corruption, 2 anything else
"""

import array
import asyncio
import json
import logging
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import traceback
import zlib
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import uvloop

from headrace.config.node import WalConfig
from headrace.wal.device.aio_device import AioDevice
from headrace.wal.device.block_device import BlockDevice
from headrace.wal.device.file_device import DeviceFile
from headrace.wal.device.open_device import open_device
from headrace.wal.device.thread_device import ThreadDevice
from headrace.wal.errors import WalCorruptError, WalError, WalFailedError
from headrace.wal.port import Appended
from headrace.wal.ring.log import DeltaWal
from tests.environment.paths import ROOT

KIB = 1024
MIB = 1024 * KIB
CAPACITY = 12 * MIB
NOTE = struct.Struct(">cqqq")
SOCKET_FD = 3
_PREFIX = struct.Struct(">iq")
_POOL_BYTES = 1 << 20
_SIZES = (*[4 * KIB] * 6, *[40 * KIB] * 3, 200 * KIB)  # upper bounds; a block has 64 KiB
_MAX_UNCONFIRMED_BYTES = 768 * KIB


@dataclass(frozen=True)
class Task:
    """What one writer is to do."""

    path: str
    io: str  # aio | threads
    loop: str  # asyncio | uvloop
    seed: int
    round: int
    durable: bool = True  # False: without O_DSYNC, to see that the test notices
    io_timeout_ms: int = 5_000

    def config(self) -> WalConfig:
        """Settings of a small ring, which wraps often and whose window grows."""
        return WalConfig(
            path=self.path,
            io=self.io,
            capacity_bytes=CAPACITY,
            block_bytes=64 * KIB,
            io_depth=8,
            window_bytes_initial=128 * KIB,
            max_window_bytes=2 * MIB,
            max_record_bytes=512 * KIB,
            io_timeout_ms=self.io_timeout_ms,
        )


class Values:
    """The bodies that follow from a seed: those of a round's records, by their number."""

    def __init__(self, seed: int) -> None:
        self._pool = random.Random(seed).randbytes(_POOL_BYTES)

    def body(self, turn: int, number: int) -> bytes:
        """Return the body of one record."""
        mixed = (number * 2_654_435_761 + turn * 40_503) & 0xFFFFFFFF
        choice = mixed % len(_SIZES)
        size = (mixed >> 4) % _SIZES[choice]
        start = (mixed >> 3) % (_POOL_BYTES - size)
        return _PREFIX.pack(turn, number) + self._pool[start : start + size]

    @staticmethod
    def name(body: bytes) -> tuple[int, int]:
        """Return (round, number) of what claims to be a body."""
        return _PREFIX.unpack_from(body) if len(body) >= _PREFIX.size else (-1, -1)


def open_without_dsync(config: WalConfig, writable: bool) -> BlockDevice:
    """Open like `open_device`, direct, but leave it to the device when a write becomes durable. Wrong on purpose."""
    flags = os.O_RDWR if writable else os.O_RDONLY
    fd = os.open(config.path, flags | os.O_DIRECT)
    is_file = Path(config.path).is_file()
    file = DeviceFile(config.path, fd, is_file=is_file, is_direct=True, writable=writable)
    loop = asyncio.get_running_loop()
    if config.io == "aio":
        return AioDevice(file, loop, depth=config.io_depth + 4)
    return ThreadDevice(file, loop, threads=config.io_threads)


class Writer:
    """One generation of the process: start, recover, reset, append until the end."""

    def __init__(self, task: Task, pipe: int) -> None:
        self._task = task
        self._pipe = pipe
        self._values = Values(task.seed)
        self._rng = random.Random(f"{task.seed}/{task.round}")
        self._notes = bytearray()
        self._confirmed = asyncio.Event()  # or room, or the end
        self._failed = False
        self._stopping = False
        self._resizes_asked = asyncio.Semaphore(0)
        self._live: deque[Appended] = deque()
        self.wal = DeltaWal(
            task.config(),
            node_id=1,
            node_epoch=task.round + 1,
            cluster_id="power-cut",
            rng=self._rng,
            wall_clock_ms=lambda: 0,
            on_confirmed=self._on_confirmed,
            on_failed=self._on_failed,
            on_room=self._on_room,
            opener=open_device if task.durable else open_without_dsync,
        )

    async def run(self) -> None:
        """Work until SIGTERM or a failure; at SIGUSR1 release everything, and resize the ring at the next."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._stop)
        loop.add_signal_handler(signal.SIGUSR1, self._ask_for_resize)
        await self.wal.start()
        async for record in self.wal.recover():
            self._note(b"R", record.offset, record.end_offset, zlib.crc32(record.body))
        self._note(b"G")
        self._tell()
        await self.wal.reset()
        self._note(b"B", self.wal.superblock.head_offset)
        self._tell()
        number = 0
        while not self._stopping:
            if not self._resizes_asked.locked():
                await self._resize()
            body = self._values.body(self._task.round, number)
            if self._must_wait(len(body)):
                self._confirmed.clear()
                await self._confirmed.wait()
                continue
            appended = self.wal.append(body[:7], body[7:])
            self._live.append(appended)
            self._note(b"A", appended.offset, appended.end_offset, number)
            number += 1
            if self._rng.random() < 0.2:
                self._tell()
                await asyncio.sleep(0)
            if self._rng.random() < 0.02:
                self._trim()
        await self.wal.shutdown()
        self._note(b"Z")
        self._tell()

    def _must_wait(self, size: int) -> bool:
        wal = self.wal
        if self._failed:
            return True
        if not wal.room_for(size):
            self._trim()
            return True
        return wal.next_offset - wal.confirmed_offset > _MAX_UNCONFIRMED_BYTES

    def _trim(self, keep_bytes: int | None = None) -> None:
        """Release some of what is confirmed; it is told before, as from then on it may be gone."""
        if keep_bytes is None:
            keep_bytes = self._rng.randrange(self.wal.capacity_bytes * 3 // 4)
        confirmed = self.wal.confirmed_offset
        target = -1
        while self._live and self._live[0].end_offset <= confirmed - keep_bytes:
            target = self._live.popleft().offset
        if target >= 0:
            self._note(b"T", target)
            self._tell()
            self.wal.trim(target)

    async def _resize(self) -> None:
        await self._resizes_asked.acquire()
        wal = self.wal
        capacity = CAPACITY * 3 // 4 if wal.device_bytes == CAPACITY else CAPACITY
        await wal.prepare_resize(capacity)
        wal.begin_resize()
        while wal.confirmed_offset < wal.next_offset and not self._failed:
            self._confirmed.clear()
            await self._confirmed.wait()
        self._trim(keep_bytes=0)
        self._note(b"Q")
        self._tell()
        await self._resizes_asked.acquire()
        await wal.resize(capacity)
        self._note(b"B", wal.superblock.head_offset)
        self._tell()

    def _ask_for_resize(self) -> None:
        self._resizes_asked.release()
        self._confirmed.set()

    def _stop(self) -> None:
        self._stopping = True
        self._confirmed.set()

    def _on_confirmed(self, offset: int) -> None:
        self._note(b"X" if self._failed else b"C", offset)
        self._tell()
        self._confirmed.set()

    def _on_room(self) -> None:
        self._note(b"D", self.wal.superblock.trim_offset)
        self._tell()
        self._confirmed.set()

    def _on_failed(self, error: WalError) -> None:
        assert not self._failed, "on_failed was called twice"
        self._failed = True
        self._note(b"F")
        self._tell()

    def _note(self, what: bytes, first: int = 0, second: int = 0, third: int = 0) -> None:
        self._notes += NOTE.pack(what, first, second, third)

    def _tell(self) -> None:
        notes, self._notes = self._notes, bytearray()
        while notes:
            del notes[: os.write(self._pipe, notes)]

    def end(self, kind: int) -> None:
        """Tell that the writer ends by an error."""
        self._note(b"E", kind)
        self._tell()


def write(task: Task, pipe: int) -> None:
    """Be a writer."""

    async def main() -> None:
        writer = Writer(task, pipe)
        try:
            await writer.run()
        except WalCorruptError:
            traceback.print_exc()
            writer.end(1)
        except BaseException as error:
            of_io = isinstance(error, OSError | WalFailedError)
            if not of_io and not isinstance(error.__cause__, OSError):
                traceback.print_exc()
            writer.end(0 if of_io or isinstance(error.__cause__, OSError) else 2)

    (uvloop.run if task.loop == "uvloop" else asyncio.run)(main())


class WriterServer:
    """Forks writers; the tests' end. A context manager."""

    def __enter__(self) -> Self:
        """Start the server's process."""
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", 'exec "$0" -m "$1" 3<&0', sys.executable, __spec__.name],
                stdin=theirs,
                cwd=ROOT,
                start_new_session=True,
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the server, and with it its writers."""
        self._socket.close()
        self._process.wait(30)

    def start(self, task: Task) -> tuple[int, int]:
        """Start a writer; return its process id and the pipe that it tells into."""
        reading, writing = os.pipe()
        socket.send_fds(self._socket, [json.dumps(task.__dict__).encode()], [writing])
        os.close(writing)
        return int(self._socket.recv(100)), reading

    def reap(self, process_id: int) -> int:
        """Wait for a writer that was killed or ends by itself; return its wait status."""
        self._socket.send(str(process_id).encode())
        return int(self._socket.recv(100))


def serve() -> None:
    """Fork writers until the other end is closed."""
    logging.disable()  # that logs fail is the point
    connection = socket.socket(fileno=SOCKET_FD)
    alive: set[int] = set()
    fd_bytes = array.array("i").itemsize
    while True:
        message, ancillary, _, _ = connection.recvmsg(4096, socket.CMSG_LEN(fd_bytes))
        if not message:
            break
        if not ancillary:
            _, status = os.waitpid(int(message), 0)
            alive.discard(int(message))
            connection.send(str(status).encode())
            continue
        (pipe,) = array.array("i", ancillary[0][2])
        process_id = os.fork()
        if not process_id:
            status = 1
            try:
                connection.close()
                write(Task(**json.loads(message)), pipe)
                status = 0
            finally:
                os._exit(status)
        os.close(pipe)
        alive.add(process_id)
        connection.send(str(process_id).encode())
    for process_id in alive:
        os.kill(process_id, signal.SIGKILL)


if __name__ == "__main__":
    serve()
