"""What a write-ahead log offers to the stream engine, on any medium.

`offset` is logical and always grows. A record's body is `header || payload`; it is copied once, at `append`,
into an aligned block, and the returned view stays valid (and keeps that block from being reused)
as long as it is referenced.
"""

from collections.abc import AsyncGenerator
from enum import Enum
from typing import NamedTuple, Protocol, runtime_checkable

Buffer = bytes | bytearray | memoryview


class Medium(Enum):
    """What makes a log's writes durable, if anything does."""

    DIRECT = "direct IO"
    CACHED = "a device or file, through the page cache"
    MEMORY = "memory: lost with the machine"
    OBJECTS = "objects in a bucket"


class Appended(NamedTuple):
    """The position of an appended record."""

    offset: int  # of the record's first byte
    end_offset: int  # exclusive; the record is durable once `on_confirmed` reports at least this
    payload: memoryview  # the copy; views of one buffer, and only those, have the same `obj`
    block_bytes: int  # memory of that buffer: what a cache that keeps `payload` is charged for


class RecoveredRecord(NamedTuple):
    """One record read back after a crash."""

    offset: int
    end_offset: int
    body: memoryview


class WriteAheadLog(Protocol):
    """A durable ring of records.

    Order of use: `start`, `recover` (to its end), `reset`, then `append` and `trim`, then
    `shutdown`. `on_confirmed(end_offset)` is called on the loop, in order, when everything below
    `end_offset` is durable; `on_failed(error)` once, when the log can never confirm anything again.
    """

    @property
    def capacity_bytes(self) -> int:
        """Size of the ring."""
        ...

    @property
    def used_bytes(self) -> int:
        """Bytes between the durable trim offset and the next append."""
        ...

    @property
    def next_offset(self) -> int:
        """Where the next append goes at the earliest."""
        ...

    @property
    def confirmed_offset(self) -> int:
        """Everything below it is durable."""
        ...

    @property
    def trim_offset(self) -> int:
        """Last offset that is released (inclusive); -1 when none is."""
        ...

    async def start(self) -> None:
        """Open the device and check its owner."""
        ...

    def recover(self) -> AsyncGenerator[RecoveredRecord, None]:
        """Yield the records that survived, in offset order; nothing after a graceful shutdown.

        Raises:
            WalCorruptError: a record that was confirmed cannot be read.
        """
        ...

    async def reset(self) -> None:
        """Empty the ring durably; offsets continue to grow."""
        ...

    def room_for(self, body_bytes: int) -> bool:
        """Whether a record with this body can be appended now."""
        ...

    def append(self, header: Buffer, payload: Buffer) -> Appended:
        """Copy a record into the current block.

        Raises:
            WalOverCapacityError: the ring is full; nothing has changed.
            WalRecordTooLargeError: the record can never fit; nothing has changed.
            WalFailedError: the log has failed or is shut down.
        """
        ...

    def trim(self, offset: int) -> None:
        """Release everything up to and including `offset`; the space is reused once that is durable."""
        ...

    async def shutdown(self) -> None:
        """Make every append durable and release the device.

        The shutdown is marked graceful if the ring is empty by then. Otherwise, or when the log
        had failed, the next start recovers what it holds.
        """
        ...


@runtime_checkable
class DamageableLog(Protocol):
    """A log that may be damaged, and started nevertheless."""

    @property
    def lost_bytes(self) -> int:
        """Acknowledged bytes that `recover` could not read, and whose loss was accepted."""
        ...


@runtime_checkable
class ResizableLog(Protocol):
    """What a log on a device offers in addition: another capacity while it runs.

    Order of use: `prepare_resize`; `begin_resize`; once everything that was appended is confirmed
    and trimmed, `resize`; then `finish_resize`, which may be left out, or, in any case but success,
    `cancel_resize`.
    """

    @property
    def device_bytes(self) -> int:
        """Bytes of the device in use, superblocks included: what `resize` changes."""
        ...

    async def prepare_resize(self, capacity_bytes: int) -> None:
        """Do the part of `resize` that does not stop appends: check, and let a file grow.

        Raises:
            WalDeviceError: too small, larger than the device, or there is no room for the file;
                nothing has changed.
        """
        ...

    def begin_resize(self) -> None:
        """Let `room_for` be False and `append` raise WalOverCapacityError from now on."""
        ...

    async def resize(self, capacity_bytes: int) -> None:
        """Begin a new generation of this capacity; offsets continue to grow. Then appends are taken again.

        Waits until the trim that empties the ring is durable.

        Args:
            capacity_bytes: of the device to be used, superblocks included.

        Raises:
            WalDeviceError: as `prepare_resize`; nothing has changed.
            WalStateError: out of order, as before everything was trimmed, or cancelled by
                `cancel_resize`; nothing has changed.
            WalFailedError: the log has failed or is shut down; the device has either capacity.

        Cancellation: nothing has changed, or everything; it waits for the end of a switch.
        """
        ...

    async def finish_resize(self) -> None:
        """Return when a file has been truncated to its capacity, which begins by itself."""
        ...

    def cancel_resize(self) -> None:
        """Take appends again after `begin_resize`; nothing happens when they are taken already."""
        ...
