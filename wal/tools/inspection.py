"""Inspects a log while it is used or not: read-only, without lock, claim or event loop."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from headrace.wal.device.block_device import short_io_error
from headrace.wal.device.buffers import BufferPool
from headrace.wal.device.file_device import DeviceFile, open_file
from headrace.wal.device.file_systems import is_in_memory
from headrace.wal.device.holders import Writer, find_writer
from headrace.wal.errors import WalVersionError
from headrace.wal.layout import (
    FORMATTING_SLOT,
    PAGE_BYTES,
    RING_POSITION,
    Ring,
    Superblock,
    align_down,
    decode_superblock,
    newest_superblock,
)
from headrace.wal.port import RecoveredRecord
from headrace.wal.ring.content import (
    END_BYTES,
    Content,
    Kind,
    examine,
    examine_between,
    samples,
    steps_between,
    used_end,
)
from headrace.wal.ring.recovery import Scan
from headrace.wal.tools.ring_walk import RingWalk, Seen

_STEP_BYTES = 1024 * 1024


class OfflineDevice:
    """A device that is only read, by blocking calls."""

    def __init__(self, file: DeviceFile) -> None:
        self.file = file
        self._pool = BufferPool(idle_bytes_per_class=2 * _STEP_BYTES)

    @classmethod
    def open(cls, path: str) -> Self:
        """Open it, also while another process has it open.

        Raises:
            WalDeviceError: it is missing, neither file nor block device, or not accessible.
        """
        return cls(open_file(path, writable=False))

    def __enter__(self) -> Self:
        """Return the device, open."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.file.close()

    def read(self, position: int, size_bytes: int) -> memoryview:
        """Return whole pages.

        Raises:
            OSError: the device failed, or ends before.
        """
        memory = self._pool.take(size_bytes)[:size_bytes]
        got = os.preadv(self.file.fd, [memory], position) if size_bytes else 0
        if got != size_bytes:
            raise short_io_error("read", self.file.path, position, size_bytes, got)
        return memory

    def content(
        self,
        capacity_bytes: int | None = None,
        *,
        on_read: Callable[[int], None] | None = None,
    ) -> Content:
        """Judge what it holds; see `headrace.wal.ring.content`.

        Args:
            capacity_bytes: of a device that will be used; the rest need not be blank.
            on_read: if set, everything is read before the device is called blank, not only samples;
                called with how many more bytes were read.

        Raises:
            WalVersionError: a log of another format version.
            OSError: it cannot be read.
        """
        size = self.file.size_bytes
        end = align_down(size)
        slots = self.read(0, min(end, RING_POSITION))
        try:
            if newest_superblock(slots) is not None:
                return examine(slots, slots[:0], size)
        except WalVersionError as error:
            raise error.on(self.file.path) from error
        head = self.read(0, min(end, END_BYTES))
        start = max(0, end - END_BYTES)
        found = examine(head, self.read(start, end - start), size)
        if found.kind is not Kind.BLANK:
            return found
        stop = used_end(size, None if self.file.is_file else capacity_bytes)
        for start, last in samples(stop) if on_read is None else steps_between(stop):
            memory = self.read(start, last - start)
            if (between := examine_between(memory, start)) is not None:
                return between
            if on_read is not None:
                on_read(last - start)
        return found

    def records(self, scan: Scan) -> Iterator[RecoveredRecord]:
        """Yield what recovery finds.

        Raises:
            WalCorruptError: something acknowledged cannot be read.
            OSError: the device cannot be read.
        """
        while (wanted := scan.wants()) is not None:
            yield from scan.feed(self._read_ring(scan.ring, *wanted))

    def walk(self, walk: RingWalk) -> Iterator[Seen]:
        """Yield what a walk finds.

        Raises:
            OSError: the device cannot be read.
        """
        while (wanted := walk.wants()) is not None:
            yield from walk.feed(self._read_ring(walk.ring, *wanted))
        yield from walk.finish()

    def _read_ring(self, ring: Ring, offset: int, min_size: int) -> memoryview:
        step = min(_STEP_BYTES, ring.distance_to_end(offset))
        return self.read(ring.position(offset), max(min_size, step))


@dataclass(frozen=True, slots=True)
class Slot:
    """One of the two slots of the superblock."""

    position: int
    state: str  # valid, zeros, formatting, another version, invalid
    superblock: Superblock | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything that is known of a device without reading its ring."""

    path: str
    is_file: bool
    size_bytes: int
    sector_bytes: int  # 0 for a file
    is_direct: bool
    is_in_memory: bool  # lost with the machine
    slots: tuple[Slot, ...]
    content: Content | WalVersionError
    writer: Writer | None
    tells_writer: bool  # whether this system shows which process holds a lock


def inspect(path: str) -> Inspection:
    """Inspect a device.

    Raises:
        WalDeviceError: it cannot be opened.
        OSError: it cannot be read.
    """
    with OfflineDevice.open(path) as device:
        writer, tells_writer = None, False
        with suppress(OSError):
            writer, tells_writer = find_writer(device.file.fd), True
        content: Content | WalVersionError
        try:
            content = device.content()
        except WalVersionError as error:
            content = error
        size = align_down(device.file.size_bytes)
        slots = device.read(0, min(size, RING_POSITION))
        return Inspection(
            path=path,
            is_file=device.file.is_file,
            size_bytes=device.file.size_bytes,
            sector_bytes=device.file.sector_bytes,
            is_direct=device.file.is_direct,
            is_in_memory=is_in_memory(path),
            slots=tuple(
                _slot(at, slots[at : at + PAGE_BYTES]) for at in range(0, len(slots), PAGE_BYTES)
            ),
            content=content,
            writer=writer,
            tells_writer=tells_writer,
        )


def _slot(position: int, page: memoryview) -> Slot:
    try:
        superblock = decode_superblock(page)
    except WalVersionError as error:
        return Slot(position, f"format version {error.found}")
    if superblock is not None and superblock.slot_position == position:
        return Slot(position, "valid", superblock)
    if page == FORMATTING_SLOT:
        return Slot(position, "being formatted")
    return Slot(position, "invalid" if page.tobytes().strip(b"\0") else "zeros")
