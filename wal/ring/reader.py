"""Reads the log of a stopped or hung owner: recovery by another node, and tools. Never writes, takes no lock."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from headrace.config.node import WalConfig
from headrace.wal.device.block_device import BlockDevice
from headrace.wal.device.buffers import BufferPool
from headrace.wal.device.open_device import DeviceOpener, open_device
from headrace.wal.errors import WalChangedError, WalCorruptError, WalDeviceError
from headrace.wal.layout import Superblock
from headrace.wal.port import RecoveredRecord
from headrace.wal.ring.recovery import Scan, ScanSummary
from headrace.wal.ring.scan import begin_scan, scan_ring
from headrace.wal.ring.superblock_store import load_superblock

_IDLE_BYTES_PER_CLASS = 32 * 1024 * 1024


class WalReader:
    """A read-only view of a log. The caller must check the log's owner, from `superblock`."""

    def __init__(self, config: WalConfig, *, opener: DeviceOpener = open_device) -> None:
        self._config = config
        self._opener = opener
        self._pool = BufferPool(idle_bytes_per_class=_IDLE_BYTES_PER_CLASS)
        self._device: BlockDevice | None = None
        self._closed: BlockDevice | None = None
        self._superblock: Superblock | None = None
        self._summary: ScanSummary | None = None

    async def start(self) -> None:
        """Open the device and read the superblock.

        Raises:
            WalDeviceError: it cannot be opened, or is blank.
            WalCorruptError: it has no valid superblock.
            OSError: it cannot be read.
        """
        self._device = self._opener(self._config, False)  # noqa: FBT003 - a DeviceOpener
        try:
            await self.reload()
        except BaseException:
            await self.close()
            raise

    async def reload(self) -> None:
        """Read the superblock again: what a writer has left that was there at `start` and is gone.

        Raises:
            WalDeviceError, WalCorruptError, OSError: as `start`.
        """
        self._superblock = await self._load()
        if self._superblock is None:
            msg = f"{self._config.path} is blank: no WAL was ever written to it"
            raise WalDeviceError(msg)

    @property
    def superblock(self) -> Superblock:
        """The superblock: the log's state and its owner; valid after `start`."""
        assert self._superblock is not None
        return self._superblock

    @property
    def summary(self) -> ScanSummary:
        """What the last `recover` found, so far; valid after it has begun."""
        assert self._summary is not None
        return self._summary

    def accept_damage(self) -> None:
        """Have `recover` leave out what cannot be read of this log; valid after `start`."""
        accepted = f"{self.superblock.generation_id:016x}"
        self._config = replace(self._config, accept_loss_generation=accepted)

    async def recover(self) -> AsyncGenerator[RecoveredRecord, None]:
        """Yield the records in the ring, in offset order.

        Raises:
            WalCorruptError: something acknowledged cannot be read; the records yielded so far are valid.
            WalChangedError: the owner writes meanwhile; the records yielded so far are valid.
            OSError: the device cannot be read.
        """
        scan = begin_scan(self.superblock, self._config)
        self._summary = scan.summary
        try:
            async with aclosing(self._walk(scan)) as records:
                async for record in records:
                    yield record
        except WalCorruptError as error:
            await self._require_stopped(error)
            raise

    def _walk(self, scan: Scan) -> AsyncGenerator[RecoveredRecord, None]:
        assert self._device is not None
        timeout_s = self._config.io_timeout_ms / 1000
        return scan_ring(self._device, scan, self._pool, timeout_s=timeout_s)

    async def _require_stopped(self, refusal: WalCorruptError) -> None:
        """Distinguish damage from an active writer: damage is at the same offset in a second scan.

        While a writer is active, a block can be read before it is written, and the block behind it,
        which records that it was acknowledged, after.
        """
        newest = await self._load()
        if newest is not None and newest.sequence == self.superblock.sequence:
            try:
                async with aclosing(self._walk(begin_scan(newest, self._config))) as records:
                    async for _ in records:
                        pass
            except WalCorruptError as again:
                if again.offset == refusal.offset:
                    return
        msg = f"the WAL {self._config.path} is being written to: stop the node that uses it, or read it again"
        raise WalChangedError(msg) from refusal

    async def _load(self) -> Superblock | None:
        assert self._device is not None
        return await load_superblock(self._device, self._pool, self._config)

    @property
    def hangs(self) -> bool:
        """Whether a read had not come back when this was closed, and has not since."""
        return self._closed is not None and self._closed.hangs

    async def close(self) -> None:
        """Release the device."""
        if self._device is not None:
            self._closed, self._device = self._device, None
            await self._closed.close()
