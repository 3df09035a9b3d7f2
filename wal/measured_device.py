"""IO by kernel AIO or by threads, whichever is faster on this machine now: see `headrace.wal.io_choice`."""

import logging
from collections.abc import Callable
from functools import partial

from headrace.wal.device import BlockDevice, WriteDone
from headrace.wal.io_choice import IoChoice
from headrace.wal.port import Medium

logger = logging.getLogger("headrace.wal")


class MeasuredDevice:
    """A `BlockDevice` on two devices of the same open file, each with a descriptor of its own."""

    def __init__(
        self, first: BlockDevice, second: BlockDevice, monotonic_ns: Callable[[], int]
    ) -> None:
        """Begin with the first."""
        self._devices = (first, second)
        self._monotonic_ns = monotonic_ns
        self._choice = IoChoice()

    @property
    def io(self) -> str:
        """The kind of IO that is used now."""
        return self._devices[self._choice.kind].io

    @property
    def path(self) -> str:
        """Path of the file or device."""
        return self._devices[0].path

    @property
    def size_bytes(self) -> int:
        """Current size."""
        return self._devices[0].size_bytes

    @property
    def medium(self) -> Medium:
        """See `headrace.wal.device.BlockDevice`."""
        return self._devices[0].medium

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return self._devices[0].is_file

    @property
    def lock_name(self) -> str:
        """See `BlockDevice`."""
        return self._devices[0].lock_name

    @property
    def hangs(self) -> bool:
        """See `BlockDevice`."""
        return any(it.hangs for it in self._devices)

    def allocate(self, size_bytes: int) -> None:
        """See `BlockDevice.allocate`."""
        self._devices[0].allocate(size_bytes)

    def shrink(self, size_bytes: int) -> None:
        """See `BlockDevice.shrink`."""
        self._devices[0].shrink(size_bytes)

    def unwritten(self, start: int, end: int) -> list[tuple[int, int]]:
        """See `BlockDevice.unwritten`."""
        return self._devices[0].unwritten(start, end)

    def write(self, position: int, data: memoryview, done: WriteDone) -> None:
        """See `BlockDevice.write`."""
        kind, is_measured = self._choice.take(len(data))
        if is_measured:
            done = partial(self._measured, kind, self._monotonic_ns(), done)
        self._devices[kind].write(position, data, done)

    async def read(self, position: int, into: memoryview) -> None:
        """See `BlockDevice.read`."""
        await self._devices[0].read(position, into)

    async def close(self) -> None:
        """See `BlockDevice.close`."""
        # One after the other: a close that is cancelled still releases, which needs that it has begun.
        first, second = self._devices
        try:
            await first.close()
        finally:
            await second.close()

    def _measured(self, kind: int, begun_ns: int, done: WriteDone, error: OSError | None) -> None:
        try:
            if error is None:
                self._note(kind, self._monotonic_ns() - begun_ns)
        finally:
            done(error)

    def _note(self, kind: int, latency_ns: int) -> None:
        before = self._choice.kind
        self._choice.note(kind, latency_ns)
        if self._choice.kind != before:
            logger.info(
                "the other kind of IO is faster now; the WAL is written by it",
                extra={"path": self.path, "io": self.io},
            )
