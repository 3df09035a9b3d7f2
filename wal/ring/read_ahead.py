"""Reads a ring in order, some reads ahead of the scan."""

import asyncio
from collections import deque

from headrace.invariants import require
from headrace.task_failures import report_unexpected
from headrace.wal.device.block_device import BlockDevice
from headrace.wal.device.buffers import BufferPool
from headrace.wal.errors import WalError
from headrace.wal.layout import Ring

STEP_BYTES = 1024 * 1024
# Inflight reads, and so the memory that the scan has not looked at yet.
READS_AHEAD = 4
# Room before what is read, for the beginning of a block that the read before ends in.
_CARRY_BYTES = 256 * 1024


class RingReadAhead:
    """The bytes of a ring from an offset on, lap after lap.

    A read ahead that fails is reported only when its bytes are requested.
    """

    def __init__(
        self,
        device: BlockDevice,
        ring: Ring,
        pool: BufferPool,
        *,
        offset: int,
        timeout_s: float,
    ) -> None:
        self._device = device
        self._ring = ring
        self._pool = pool
        self._offset = offset  # that is read next
        self._timeout_s = timeout_s
        self._reads: deque[tuple[memoryview, asyncio.Task[None]]] = deque()
        self._rest = memoryview(b"")  # of a read that was taken in part

    async def extend(self, begun: memoryview, min_size: int) -> memoryview:
        """Return `begun`, which must end where the last answer did, and at least what is missing to `min_size`.

        Raises:
            OSError: the device cannot be read, or not in time.
        """
        if self._rest:
            require(not begun, "a rest is behind what was requested in full")
            begun, self._rest = self._rest, begun
            if len(begun) >= min_size:
                return begun
        buffer = await self._next()
        carried = len(begun)
        read_bytes = len(buffer) - _CARRY_BYTES
        if carried <= _CARRY_BYTES and carried + read_bytes >= min_size:
            buffer[_CARRY_BYTES - carried : _CARRY_BYTES] = begun
            return buffer[_CARRY_BYTES - carried :]
        return await self._assemble(begun, buffer[_CARRY_BYTES:], min_size)

    async def close(self) -> None:
        """Wait for nothing more; the device keeps the memory of inflight reads."""
        tasks = [task for _, task in self._reads]
        self._reads.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _assemble(self, begun: memoryview, read: memoryview, size: int) -> memoryview:
        """Return `size` bytes in one piece: for a block that is larger than a read."""
        whole = self._pool.take(size)[:size]
        whole[: len(begun)] = begun
        at = len(begun)
        while True:
            taken = min(len(read), size - at)
            whole[at : at + taken] = read[:taken]
            at += taken
            self._rest = read[taken:]
            if at == size:
                return whole
            read = (await self._next())[_CARRY_BYTES:]

    async def _next(self) -> memoryview:
        """Return the next buffer: room for the bytes carried over, then the bytes read."""
        while len(self._reads) < READS_AHEAD:
            self._start()
        # The loop's turn starts the reads, also when this one is done: the device must not be idle.
        await asyncio.sleep(0)
        buffer, task = self._reads[0]
        await task
        self._reads.popleft()
        return buffer

    def _start(self) -> None:
        size = min(STEP_BYTES, self._ring.distance_to_end(self._offset))
        buffer = self._pool.take(_CARRY_BYTES + size)[: _CARRY_BYTES + size]
        position = self._ring.position(self._offset)
        task = asyncio.get_running_loop().create_task(self._read(position, buffer[_CARRY_BYTES:]))
        # Who replays the log stops at the first that fails; those behind it were begun for nothing.
        task.add_done_callback(lambda done: report_unexpected(done, OSError, WalError))
        self._reads.append((buffer, task))
        self._offset += size

    async def _read(self, position: int, into: memoryview) -> None:
        async with asyncio.timeout(self._timeout_s):
            await self._device.read(position, into)
