"""Gives a running log another capacity: the end of one generation and the beginning of the next.

The ring cannot be changed while it holds anything: its size is the modulus of every position. So appends
are parked, the ring's owner releases its records, and then the empty ring is switched as a reset
switches it, by two superblocks. After a crash at any point, the device holds the old generation (empty, and its
trim durable) or the new one:

    step                                        a crash after it finds
    ------------------------------------------  ---------------------------------------------------
    a file grows, space reserved, durably       the old generation, in a file with an unused end
    every append and trim becomes durable       the old generation, empty
    the superblock of the new generation, first slot  the old generation or the new one
    the same, second slot                       the new generation
    appends continue, and a file shrinks        the new generation, in a file with or without an unused end

After the first superblock the resize cannot be undone: a cancellation waits for the end.
"""

import asyncio
import logging
from collections.abc import Callable

from headrace.task_failures import report_unexpected
from headrace.wal.device.block_device import BlockDevice
from headrace.wal.device.device_size import DeviceSize
from headrace.wal.errors import WalDeviceError, WalError, WalFailedError, WalStateError
from headrace.wal.layout import Ring, Superblock
from headrace.wal.ring.generations import Generations
from headrace.wal.ring.ring_writer import RingWriter
from headrace.wal.ring.superblock_store import SuperblockStore

_logger = logging.getLogger("headrace.wal")


def allocate(device: BlockDevice, capacity_bytes: int, found: Superblock | None) -> int:
    """Ensure at the start that a device has the configured size; return the capacity of the next generation.

    A log that was found must be recovered: where its file cannot grow, it keeps its capacity.

    Raises:
        WalDeviceError: a device is too small, or there is no room for a new file.
    """
    try:
        device.allocate(capacity_bytes)
    except WalDeviceError as error:
        if found is None or not device.is_file:
            raise
        _logger.error(  # noqa: TRY400 - an event
            "%s; the WAL keeps its capacity of %d bytes", error, found.capacity_bytes
        )
        return found.capacity_bytes
    return capacity_bytes


class Resizer:
    """Resizes one log, one resize at a time."""

    def __init__(
        self,
        device: BlockDevice,
        *,
        store: SuperblockStore,
        generations: Generations,
        size: DeviceSize,
        writer: Callable[[], RingWriter | None],
        begin_generation: Callable[[Superblock], None],
    ) -> None:
        """Nothing happens yet.

        Args:
            device: below the log.
            store: writes superblocks.
            generations: makes the next generation.
            size: of the device.
            writer: of the generation that is being written.
            begin_generation: lets the log continue with a durable superblock.
        """
        self._device = device
        self._store = store
        self._generations = generations
        self._size = size
        self._writer = writer
        self._begin_generation = begin_generation
        self._task: asyncio.Task[None] | None = None
        self._is_switching = False

    def check(self, capacity_bytes: int) -> None:
        """Refuse a capacity that is known to be impossible.

        Raises:
            WalDeviceError: too small for a ring, or larger than the device.
        """
        Ring.of_capacity(capacity_bytes)
        device = self._device
        if not device.is_file and device.size_bytes < capacity_bytes:
            msg = f"{device.path} has {device.size_bytes} bytes, less than the requested capacity of {capacity_bytes}"
            raise WalDeviceError(msg)

    async def prepare(self, capacity_bytes: int) -> None:
        """Check, and let a file grow, while appends continue.

        Raises:
            WalDeviceError: as `check`, or the file system has no room.
        """
        self.check(capacity_bytes)
        await self._size.at_least(capacity_bytes)

    def begin(self) -> None:
        """Park appends."""
        self._running_writer().park()

    async def run(self, capacity_bytes: int) -> None:
        """Switch to a generation of `capacity_bytes`; see `headrace.wal.port.ResizableLog.resize`."""
        writer = self._running_writer()
        if self._task is not None:
            raise WalStateError("the WAL is already being resized")
        if not writer.is_parked:
            raise WalStateError("the WAL takes appends: begin_resize first")
        self.check(capacity_bytes)
        self._task = task = asyncio.create_task(self._switch(writer, capacity_bytes))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await self.end()
            me = asyncio.current_task()
            if me is None or me.cancelling():
                raise
            raise WalFailedError("the WAL was shut down during the resize") from None
        finally:
            if task.done():
                self._task = None

    def cancel(self) -> None:
        """Unpark appends, and truncate a file that has grown for nothing."""
        writer = self._running_writer()
        if self._task is None:
            self._size.shrink(writer.superblock.capacity_bytes)
        writer.unpark()

    async def finish(self) -> None:
        """Return when the file has the size of the log."""
        await self._size.shrunk()

    async def end(self) -> None:
        """Cancel a resize while that is possible, and return when it is over."""
        task = self._task
        if task is None:
            return
        if not self._is_switching:
            task.cancel()
        await asyncio.wait([task])
        report_unexpected(task, OSError, WalError)
        self._task = None

    def _running_writer(self) -> RingWriter:
        writer = self._writer()
        assert writer is not None
        return writer

    async def _switch(self, writer: RingWriter, capacity_bytes: int) -> None:
        await self._size.at_least(capacity_bytes)
        if writer.is_parked:
            await writer.settled()
        if not writer.is_parked:
            raise WalStateError("the resize of the WAL was cancelled")
        if writer.commit.used_bytes:
            msg = f"{writer.commit.used_bytes} bytes of the WAL are in use: it must be empty to be resized"
            raise WalStateError(msg)
        self._is_switching = True
        try:
            writer.retire()
            old = writer.superblock
            try:
                fresh = await self._store.write_both(self._generations.after(old, capacity_bytes))
            except OSError as error:
                raise writer.fail(error) from error
            if writer.failure is not None:  # a write took too long, and is not trusted any more
                raise writer.failure
            _logger.info(
                "the WAL %s was resized to %d bytes; it had %d",
                self._device.path,
                capacity_bytes,
                old.capacity_bytes,
            )
            self._begin_generation(fresh)
            self._size.shrink(capacity_bytes)
        finally:
            self._is_switching = False
