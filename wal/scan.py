"""Reads the ring for `wal.recovery.Scan`, in steps of 1 MiB or of one block, if that is larger."""

import asyncio
from collections.abc import AsyncIterator

from wal.buffers import BufferPool
from wal.device import BlockDevice
from wal.port import RecoveredRecord
from wal.recovery import Scan

STEP_BYTES = 1024 * 1024


async def scan_ring(
    device: BlockDevice, scan: Scan, pool: BufferPool, *, timeout_s: float
) -> AsyncIterator[RecoveredRecord]:
    """Yield the records of the ring in offset order; none after a graceful shutdown.

    Reads only: it may run beside an owner that hangs, and any number of times.

    Args:
        device: to read from.
        scan: the walk, not begun yet.
        pool: what the records' memory is taken from.
        timeout_s: of one read.

    Raises:
        WalCorruptError: something acknowledged cannot be read; the records yielded until then are a
            prefix.
        OSError: the device cannot be read.
    """
    ring = scan.ring
    while (wanted := scan.wants()) is not None:
        offset, size_min = wanted
        size = min(max(size_min, min(STEP_BYTES, ring.size_bytes)), ring.distance_to_end(offset))
        memory = pool.take(size)[:size]
        async with asyncio.timeout(timeout_s):
            await device.read(ring.position(offset), memory)
        for record in scan.feed(memory):
            yield record
