"""Makes a file or device blank and zero-filled, so that the next start begins a log on it.

The order ensures that a crash in the middle leaves one of three states: the old content, a device that
is refused because formatting it was not finished, or a blank one.

1. Both superblock slots become the mark of a device that is being formatted: first the slot of the
   older superblock, so that the log stays valid until both are gone.
2. The ring is zeroed, and the last MiB of the device, where other formats keep copies.
3. The slots are zeroed.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from headrace.wal.device.block_device import short_io_error
from headrace.wal.device.buffers import BufferPool
from headrace.wal.device.file_device import open_file
from headrace.wal.errors import WalCorruptError, WalDeviceError, WalVersionError
from headrace.wal.layout import (
    FORMATTING_SLOT,
    PAGE_BYTES,
    RING_POSITION,
    Ring,
    Superblock,
    align_down,
)
from headrace.wal.ring.content import END_BYTES, Kind
from headrace.wal.ring.recovery import Scan
from headrace.wal.tools.inspection import OfflineDevice

_STEP_BYTES = 1024 * 1024

Advance = Callable[[int], None]  # called with how many more bytes were zeroed


def _ignore(_done: int) -> None:
    """Ignore the progress."""


class WalNotEmptyError(WalDeviceError):
    """Formatting would destroy something; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be zeroed."""

    capacity_bytes: int
    regions: tuple[tuple[int, int], ...]  # positions, in order; the slots are not among them
    first_slot: int  # position of the slot that is marked first

    @property
    def total_bytes(self) -> int:
        """Bytes to be zeroed."""
        return sum(end - start for start, end in self.regions)


class Formatter:
    """An exclusive hold of a file or device, to `plan` and then `run`."""

    def __init__(self, path: str) -> None:
        """Take the writer's lock; a missing file is created, empty.

        Raises:
            WalLockedError: a writer holds it, or it is mounted.
            WalDeviceError: it cannot be opened.
        """
        self._file = open_file(path, writable=True)
        pool = BufferPool(idle_bytes_per_class=0)
        self._zeros = pool.take(_STEP_BYTES)[:_STEP_BYTES]
        self._mark = pool.take(PAGE_BYTES)[:PAGE_BYTES]
        self._mark[:] = FORMATTING_SLOT

    @property
    def path(self) -> str:
        """Of the file or device."""
        return self._file.path

    @property
    def present_bytes(self) -> int:
        """Current size of the file or device."""
        return self._file.size_bytes

    def plan(self, capacity_bytes: int | None, *, force: bool, on_read: Advance = _ignore) -> Plan:
        """Find out what must be done, and whether it may be done. Changes nothing.

        Without `force` everything that would be zeroed is read first, unless the content is recognised
        before that.

        Args:
            capacity_bytes: that the log will have; None for all of a device, or of a file.
            force: also erase what is not a log, or not empty.
            on_read: called with how many more bytes were read.

        Raises:
            WalNotEmptyError: it holds something, and `force` is not set.
            WalDeviceError: the size does not allow it.
            OSError: it cannot be read.
        """
        present = self._file.size_bytes
        capacity = present if capacity_bytes is None else capacity_bytes
        if capacity == 0:
            raise WalDeviceError(f"{self.path} is empty: a capacity is needed")
        Ring.of_capacity(capacity)
        newest = self._require_expendable(capacity, None if force else on_read)
        first_slot = 0 if newest is None else PAGE_BYTES - newest.slot_position
        end = align_down(capacity if self._file.is_file else max(present, capacity))
        tail = max(RING_POSITION, end - END_BYTES)
        ring_end = align_down(capacity)
        regions = [(RING_POSITION, min(ring_end, tail)), (tail, end)]
        return Plan(capacity, tuple(regions), first_slot)

    def run(self, plan: Plan, advance: Advance) -> None:
        """Format, durably.

        Raises:
            WalDeviceError: a device, or the space left for a file, is too small; nothing was changed.
            OSError: the device failed; run it again.
        """
        self._file.allocate(plan.capacity_bytes)
        for slot in (plan.first_slot, PAGE_BYTES - plan.first_slot):
            self._write(slot, self._mark)
        if self._file.is_file:
            os.ftruncate(self._file.fd, plan.capacity_bytes)
            os.fsync(self._file.fd)
        for position, size in _steps(plan.regions):
            self._write(position, self._zeros[:size])
            advance(size)
        for slot in range(0, RING_POSITION, PAGE_BYTES):
            self._write(slot, self._zeros[:PAGE_BYTES])

    def begin(self, superblock: Superblock) -> None:
        """Begin an empty log, with any content in its ring; `run` has formatted the device before.

        Raises:
            OSError: the device failed.
        """
        for copy in (superblock, replace(superblock, sequence=superblock.sequence + 1)):
            self._mark[:] = copy.encode()
            self._write(copy.slot_position, self._mark)
        self._mark[:] = FORMATTING_SLOT

    def close(self) -> None:
        """Release the lock."""
        self._file.close()

    def _require_expendable(self, capacity: int, on_read: Advance | None) -> Superblock | None:
        """Return the superblock, if there is a valid one of this version; without `on_read`, by force."""
        device = OfflineDevice(self._file)
        force = on_read is None
        try:
            content = device.content(capacity, on_read=on_read)
        except WalVersionError as error:
            if force:
                return None
            raise WalNotEmptyError(str(error)) from error
        superblock = content.superblock
        if force or content.kind in {Kind.BLANK, Kind.FORMATTING}:
            return superblock
        if superblock is None:
            what = content.what or content.kind.value
            raise WalNotEmptyError(
                f"{self.path} holds {what} (at byte {content.position}); nothing was changed. "
                f"--force erases it"
            )
        if not _is_released(device, superblock):
            raise WalNotEmptyError(
                f"{self.path} holds records of node {superblock.node_id} of cluster {superblock.cluster_id!r} that "
                f"may not be in the bucket; nothing was changed. Start that node and stop it gracefully, which "
                f"empties the WAL; --force loses them"
            )
        return superblock

    def _write(self, position: int, data: memoryview) -> None:
        # The descriptor is O_DSYNC: a write is durable when it returns.
        written = os.pwritev(self._file.fd, [data], position)
        if written != len(data):
            raise short_io_error("write", self.path, position, len(data), written)


def _is_released(device: OfflineDevice, superblock: Superblock) -> bool:
    """Whether recovery would find no record and no damage."""
    scan = Scan(superblock, path=device.file.path)
    try:
        return next(device.records(scan), None) is None
    except WalCorruptError:
        return False


def _steps(regions: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int]]:
    """Yield positions and sizes of the writes."""
    for start, end in regions:
        for position in range(start, end, _STEP_BYTES):
            yield position, min(_STEP_BYTES, end - position)
