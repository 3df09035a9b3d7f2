"""The device port: what the log needs of a disk.

Implementations: `headrace.wal.device.aio_device` and `headrace.wal.device.thread_device` on a
`headrace.wal.device.file_device.DeviceFile`, and the simulated disk of the tests; all pass the same
contract suite. Positions, lengths and addresses are multiples of `PAGE_BYTES`.
"""

import asyncio
import errno
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from headrace.wal.port import Medium

# None when the write is durable, else the reason why that is not known.
WriteDone = Callable[[OSError | None], None]


class BlockDevice(Protocol):
    """An open device. Writes may complete in any order; none is ever repeated."""

    @property
    def path(self) -> str:
        """Path of the file or device."""
        ...

    @property
    def size_bytes(self) -> int:
        """Current size."""
        ...

    @property
    def medium(self) -> "Medium":
        """What makes writes durable when they are done."""
        ...

    @property
    def is_file(self) -> bool:
        """Whether it can grow."""
        ...

    @property
    def io(self) -> str:
        """The kind of IO, for display: "aio", "threads"."""
        ...

    @property
    def lock_name(self) -> str:
        """Name of the lock of a writer until `close`; see `headrace.wal.device.lock_names`. Empty: not known."""
        ...

    @property
    def hangs(self) -> bool:
        """Whether it was closed with an operation inflight that has not come back yet."""
        ...

    def allocate(self, size_bytes: int) -> None:
        """Ensure that the device has this size.

        Raises:
            WalDeviceError: it is smaller and cannot grow.
        """
        ...

    def shrink(self, size_bytes: int) -> None:
        """Truncate a file to this size; not for a device. No operation behind it may be inflight.

        Raises:
            OSError: the file is unchanged.
        """
        ...

    def unwritten(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the [begin, end) ranges between two positions that were never written, as far as known.

        In order, in whole pages. A first write there costs more, so it is worth zeroing.
        """
        ...

    def write(self, position: int, data: memoryview, done: WriteDone) -> None:
        """Start a write; `done` is called once, on the loop and never before this returns.

        `data` must not change until then; the device keeps it alive as long as the kernel may read
        it. A short write is an error.
        """
        ...

    async def read(self, position: int, into: memoryview) -> None:
        """Fill `into`.

        Raises:
            OSError: the device failed, or ends before.
        """
        ...

    async def close(self) -> None:
        """Wait a bounded time for inflight operations, then release the device and its lock.

        While an operation hangs, the kernel needs them; they are released when it comes back.
        """
        ...


def explained(error: OSError) -> OSError:
    """Return the error of an operation so that its message says what to look for."""
    if error.errno != errno.EBADE:
        return error
    reason = (
        "another machine has reserved the device: a broker of a newer epoch has taken it, or "
        "something else uses it"
    )
    return OSError(error.errno, reason, error.filename)


def short_io_error(what: str, path: str, position: int, wanted: int, got: int) -> OSError:
    """Return the error for an operation that the kernel ended early."""
    return OSError(f"{what} of {wanted} bytes at position {position} of {path} ended after {got}")


def settle(future: asyncio.Future[None], error: OSError | None) -> None:
    """Complete `future` as a `WriteDone` would, unless it is done or cancelled."""
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
