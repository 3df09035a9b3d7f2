"""Loads and writes the two superblock slots of a device."""

import asyncio
from dataclasses import dataclass, replace
from functools import partial

from headrace.config.node import WalConfig
from headrace.wal.device.block_device import BlockDevice, WriteDone, settle
from headrace.wal.device.buffers import BufferPool
from headrace.wal.device.submissions import Submissions
from headrace.wal.errors import (
    WalCorruptError,
    WalDeviceError,
    WalForeignError,
    WalFormattingError,
    WalIdentityError,
    WalVersionError,
)
from headrace.wal.layout import PAGE_BYTES, RING_POSITION, Superblock, align_down, newest_superblock
from headrace.wal.ring.content import (
    END_BYTES,
    Content,
    Kind,
    examine,
    examine_between,
    samples,
    used_end,
)

_READS_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class WalIdentity:
    """The owner of a log."""

    cluster_id: str
    node_id: int
    node_epoch: int


def check_identity(superblock: Superblock, owner: WalIdentity, path: str) -> None:
    """Refuse the log of another owner.

    Raises:
        WalIdentityError: other cluster, other node, or a newer registration of this node.
    """
    found = (superblock.cluster_id, superblock.node_id)
    if found != (owner.cluster_id, owner.node_id):
        msg = (
            f"WAL {path} belongs to node {superblock.node_id} of cluster {superblock.cluster_id!r}, "
            f"not to node {owner.node_id} of cluster {owner.cluster_id!r}. If it is no longer needed, "
            f"`headrace wal format --force {path}` erases it"
        )
        raise WalIdentityError(msg)
    if superblock.node_epoch > owner.node_epoch:
        msg = (
            f"WAL {path} was used by node epoch {superblock.node_epoch}, newer than {owner.node_epoch} of this "
            f"process: another process runs with this node id, or ran after this one"
        )
        raise WalIdentityError(msg)


async def load_superblock(
    device: BlockDevice, pool: BufferPool, config: WalConfig
) -> Superblock | None:
    """Read the newest superblock; None for a blank device, which was never appended to (`headrace.wal.ring.content`).

    Args:
        device: to read from.
        pool: memory for the reads.
        config: has the capacity to be used of a device, whose rest need not be blank, and the time-out of a read.

    Raises:
        WalCorruptError: the device holds a log, but no valid superblock.
        WalForeignError: it holds something else.
        WalFormattingError: formatting it was begun and not finished.
        WalVersionError: a format of another version.
        WalDeviceError: a device smaller than the log on it.
        OSError: the device cannot be read.
    """
    try:
        found = await _examine(device, pool, config)
    except WalVersionError as error:
        raise error.on(device.path) from error
    if found.kind is Kind.BLANK:
        return None
    superblock = require_log(found, device.path)
    require_whole(superblock, device.size_bytes, device.path)
    return superblock


def require_whole(superblock: Superblock, size_bytes: int, path: str) -> None:
    """Refuse a device that is smaller than the log on it.

    Raises:
        WalDeviceError: it is.
    """
    if size_bytes < superblock.capacity_bytes:
        msg = (
            f"{path} has {size_bytes} bytes, but the WAL on it uses {superblock.capacity_bytes}: "
            f"it was truncated or is another device"
        )
        raise WalDeviceError(msg)


def require_log(found: Content, path: str) -> Superblock:
    """Return the superblock of a device that holds a log.

    Raises:
        WalForeignError: it holds something else.
        WalFormattingError: formatting it was begun and not finished.
        WalCorruptError: it has no valid superblock.
    """
    if found.kind is Kind.FOREIGN:
        raise WalForeignError(path, found.what, position=found.position)
    if found.kind is Kind.FORMATTING:
        raise WalFormattingError(path)
    if found.superblock is None:
        raise WalCorruptError(path, "it has no valid superblock", offset=-1, position=0)
    return found.superblock


async def _examine(device: BlockDevice, pool: BufferPool, config: WalConfig) -> Content:
    size, timeout_s = device.size_bytes, config.io_timeout_ms / 1000
    end = align_down(size)

    async def read(start: int, stop: int) -> memoryview:
        memory = pool.take(stop - start)[: stop - start]
        if memory:
            await device.read(start, memory)
        return memory

    async with asyncio.timeout(timeout_s):
        slots = await read(0, min(end, RING_POSITION))
        if newest_superblock(slots) is not None:
            return examine(slots, slots[:0], size)
        head = await read(0, min(end, END_BYTES))
        found = examine(head, await read(max(0, end - END_BYTES), end), size)
    if found.kind is not Kind.BLANK:
        return found
    wanted = samples(used_end(end, None if device.is_file else config.capacity_bytes))
    for at in range(0, len(wanted), _READS_AT_ONCE):
        ranges = wanted[at : at + _READS_AT_ONCE]
        async with asyncio.timeout(timeout_s):
            memories = await asyncio.gather(*(read(*wanted_range) for wanted_range in ranges))
        for (position, _), memory in zip(ranges, memories, strict=True):
            if (between := examine_between(memory, position)) is not None:
                return between
    return found


class SuperblockStore:
    """Writes superblocks, one at a time."""

    def __init__(
        self,
        submissions: Submissions,
        pool: BufferPool,
        *,
        timeout_s: float,
    ) -> None:
        self._write = submissions.write
        self._statistics = submissions.statistics
        self._page = pool.take(PAGE_BYTES)[:PAGE_BYTES]
        self._timeout_s = timeout_s

    def start_write(self, superblock: Superblock, done: WriteDone) -> None:
        """Start writing `superblock` to its slot; no other write may be inflight."""
        self._statistics.superblock_writes_total += 1
        self._page[:] = superblock.encode()
        self._write(superblock.slot_position, self._page, done)

    async def write_both(self, superblock: Superblock) -> Superblock:
        """Write to both slots, with consecutive sequence numbers from that of `superblock`.

        So neither slot can bring an older state back, even if the other is damaged later.

        Returns:
            The last one written.

        Raises:
            OSError: the device failed or took too long; it may hold the old state or the new one.
        """
        last = replace(superblock, sequence=superblock.sequence + 1)
        for copy in (superblock, last):
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.start_write(copy, partial(settle, future))
            async with asyncio.timeout(self._timeout_s):
                await future
        return last
