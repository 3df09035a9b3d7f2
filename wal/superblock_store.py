"""Loads and writes the two superblock slots of a device."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from wal.buffers import BufferPool
from wal.device import BlockDevice, WriteDone, settle
from wal.errors import WalCorruptError, WalDeviceError, WalIdentityError
from wal.layout import (
    PAGE_BYTES,
    RING_POSITION,
    Superblock,
    newest_superblock,
)

_FOREIGN_ADVICE = (
    "it may belong to something else; if it does not, zero its first 12 KiB (dd if=/dev/zero bs=4096 count=3) "
    "to have it formatted"
)


@dataclass(frozen=True, slots=True)
class WalIdentity:
    """Who a log belongs to."""

    cluster_id: str
    node_id: int
    node_epoch: int


def check_identity(superblock: Superblock, owner: WalIdentity, path: str) -> None:
    """Refuse the log of somebody else.

    Raises:
        WalIdentityError: other cluster, other node, or a newer registration of this node.
    """
    found = (superblock.cluster_id, superblock.node_id)
    if found != (owner.cluster_id, owner.node_id):
        msg = (
            f"WAL {path} belongs to node {superblock.node_id} of cluster {superblock.cluster_id!r}, "
            f"not to node {owner.node_id} of cluster {owner.cluster_id!r}"
        )
        raise WalIdentityError(msg)
    if superblock.node_epoch > owner.node_epoch:
        msg = (
            f"WAL {path} was used by node epoch {superblock.node_epoch}, newer than {owner.node_epoch}: "
            f"this node has been registered again since"
        )
        raise WalIdentityError(msg)


async def load_superblock(device: BlockDevice, pool: BufferPool) -> Superblock | None:
    """Read the newest superblock; None for a blank device, which was never appended to.

    The first page of the ring tells a blank device from one whose superblocks were wiped: the very
    first append writes it, and it is never all zeros again.

    Raises:
        WalCorruptError: the device holds something, but no valid superblock.
        WalDeviceError: a format of another version, or a device smaller than the log on it.
        OSError: the device cannot be read.
    """
    size = min(device.size_bytes, RING_POSITION + PAGE_BYTES) // PAGE_BYTES * PAGE_BYTES
    memory = pool.take(RING_POSITION + PAGE_BYTES)[:size]
    if size:
        await device.read(0, memory)
    superblock = newest_superblock(memory[:RING_POSITION])
    if superblock is None:
        if memory.tobytes().strip(b"\0"):
            what = f"it has no valid superblock; {_FOREIGN_ADVICE}"
            raise WalCorruptError(device.path, what, offset=-1, position=0)
        return None
    if device.size_bytes < superblock.capacity_bytes:
        msg = (
            f"{device.path} has {device.size_bytes} bytes, but the WAL on it uses {superblock.capacity_bytes}: "
            f"it was truncated or is another device"
        )
        raise WalDeviceError(msg)
    return superblock


class SuperblockStore:
    """Writes superblocks, one at a time."""

    def __init__(
        self,
        write: Callable[[int, memoryview, WriteDone], None],
        pool: BufferPool,
        *,
        timeout_s: float,
    ) -> None:
        self._write = write
        self._page = pool.take(PAGE_BYTES)[:PAGE_BYTES]
        self._timeout_s = timeout_s

    def start_write(self, superblock: Superblock, done: WriteDone) -> None:
        """Start writing `superblock` to its slot; no other write may be under way."""
        self._page[:] = superblock.encode()
        self._write(superblock.slot_position, self._page, done)

    async def write_both(self, superblock: Superblock) -> Superblock:
        """Write to both slots, with consecutive sequence numbers from that of `superblock`.

        So neither slot can bring back what was before, not even if the other is damaged later.

        Returns:
            The last one written.

        Raises:
            OSError: the device failed or took too long; either may be on it.
        """
        last = replace(superblock, sequence=superblock.sequence + 1)
        for copy in (superblock, last):
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.start_write(copy, partial(settle, future))
            async with asyncio.timeout(self._timeout_s):
                await future
        return last
