"""Feeds a walk over a ring (`headrace.wal.ring.recovery.Scan`) with the device's bytes, and reports accepted losses."""

import logging
from collections import deque
from collections.abc import AsyncGenerator

from headrace.config.node import WalConfig
from headrace.wal.device.block_device import BlockDevice
from headrace.wal.device.buffers import BufferPool
from headrace.wal.layout import Superblock
from headrace.wal.port import RecoveredRecord
from headrace.wal.ring.read_ahead import RingReadAhead
from headrace.wal.ring.recovery import Scan

_logger = logging.getLogger("headrace.wal")


def begin_scan(superblock: Superblock, config: WalConfig) -> Scan:
    """Return a walk over the log of `superblock`.

    Damage is accepted if the configuration names exactly this generation of the log.
    """
    generation = f"{superblock.generation_id:016x}"
    accepted = config.accept_loss_generation
    if accepted and accepted != generation:
        _logger.warning(
            "headrace.wal.accept.loss names generation %s, but the WAL on %s has generation %s: no loss is accepted. "
            "Remove the setting",
            accepted,
            config.path,
            generation,
        )
    return Scan(superblock, path=config.path, accept_loss=accepted == generation)


async def scan_ring(
    device: BlockDevice, scan: Scan, pool: BufferPool, *, timeout_s: float
) -> AsyncGenerator[RecoveredRecord, None]:
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
    wanted = scan.wants()
    if wanted is None:
        return
    at = wanted[0]
    reads = RingReadAhead(device, scan.ring, pool, offset=at, timeout_s=timeout_s)
    held = memoryview(b"")  # from offset `at` on
    try:
        while wanted is not None:
            offset, min_size = wanted
            held = held[offset - at :]
            at = offset
            if len(held) < min_size:
                held = await reads.extend(held, min_size)
            # Freed one after the other: each keeps the buffer it was read into, behind a gap a whole window.
            records = deque(scan.feed(held))
            while records:
                yield records.popleft()
            wanted = scan.wants()
    finally:
        await reads.close()
    _report_loss(scan, device.path)


def _report_loss(scan: Scan, path: str) -> None:
    """Log what an accepted loss has cost."""
    summary = scan.summary
    for start, end in summary.lost:
        _logger.critical(
            "the WAL %s has lost acknowledged bytes: offsets %d to %d (%d bytes) at device position %d",
            path,
            start,
            end,
            end - start,
            scan.ring.position(start),
        )
    if summary.lost_ranges:
        _logger.critical(
            "the WAL %s has lost %d acknowledged bytes (ranges: %d), which was accepted (headrace.wal.accept.loss); "
            "records intact: %d. Remove the setting",
            path,
            summary.lost_bytes,
            summary.lost_ranges,
            summary.records,
        )
    elif scan.accepts_loss:
        _logger.warning(
            "headrace.wal.accept.loss is set, but the WAL %s has lost nothing. Remove the setting",
            path,
        )
