"""A disk in memory that can lose power: writes stay in flight until they are completed, and a crash may leave of
each of them nothing, all, or any set of its sectors.

`SimulatedDevice` is a `wal.device.BlockDevice` on it, so production code runs unchanged. `Trace` is what happened;
`crash_points` cuts it at every event and `outcomes` enumerates what a crash at a cut may leave.
"""

import asyncio
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from wal.device import WriteDone
from wal.errors import WalDeviceError, WalLockedError

SECTOR_BYTES = 512


@dataclass(frozen=True, slots=True)
class Submitted:
    """A write reached the disk."""

    number: int
    position: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Completed:
    """A write is durable."""

    number: int


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that the test wants to know the place of: an append, a confirmation, a trim."""

    what: str
    value: object


Event = Submitted | Completed | Noted


@dataclass(slots=True)
class Pending:
    """A write in flight."""

    number: int
    position: int
    data: bytes
    done: WriteDone


class SimulatedDisk:
    """What survives a crash, and what is in flight.

    `fault(number, position)` may return an error for a write, or `HANG`. With `automatic` each write is completed
    by the loop, in an order that `rng` chooses; otherwise by `complete`.
    """

    HANG = OSError("hangs")

    def __init__(
        self, size_bytes: int, *, rng: random.Random | None = None, automatic: bool = True
    ) -> None:
        self.image = bytearray(size_bytes)
        self.rng = rng or random.Random(0)
        self.automatic = automatic
        self.trace: list[Event] = []
        self.pending: list[Pending] = []
        self.writes = 0
        self.has_writer = False
        self.pages_written: set[int] = set()
        self.fault: Callable[[int, int], OSError | None] = lambda number, position: None

    def note(self, what: str, value: object) -> None:
        self.trace.append(Noted(what, value))

    def submit(self, position: int, data: memoryview, done: WriteDone) -> None:
        number = self.writes
        self.writes += 1
        self.pages_written.update(range(position // 4096, (position + len(data)) // 4096))
        loop = asyncio.get_running_loop()
        error = self.fault(number, position)
        if error is self.HANG:
            return
        if error is not None:
            loop.call_soon(done, error)
            return
        content = bytes(data)
        self.trace.append(Submitted(number, position, content))
        self.pending.append(Pending(number, position, content, done))
        if self.automatic:
            self._complete_soon(self.rng.randrange(1, 4))

    def complete(self, index: int = 0) -> None:
        """Make a write durable and tell its submitter."""
        write = self.pending.pop(index)
        self.image[write.position : write.position + len(write.data)] = write.data
        self.trace.append(Completed(write.number))
        write.done(None)

    def _complete_soon(self, turns: int) -> None:
        if turns:
            asyncio.get_running_loop().call_soon(self._complete_soon, turns - 1)
        elif self.pending:
            self.complete(self.rng.randrange(len(self.pending)))

    def open(self, path: str, *, writable: bool) -> "SimulatedDevice":
        if writable:
            if self.has_writer:
                msg = f"{path} has a writer"
                raise WalLockedError(msg)
            self.has_writer = True
        return SimulatedDevice(self, path, writable=writable)


class SimulatedDevice:
    """One opening of a `SimulatedDisk`."""

    io = "simulated"
    is_direct = True
    is_file = False

    def __init__(self, disk: SimulatedDisk, path: str, *, writable: bool) -> None:
        self.disk = disk
        self.path = path
        self.writable = writable

    @property
    def size_bytes(self) -> int:
        return len(self.disk.image)

    def allocate(self, size_bytes: int) -> None:
        if size_bytes > len(self.disk.image):
            msg = f"{self.path} has {len(self.disk.image)} bytes, {size_bytes} are configured"
            raise WalDeviceError(msg)

    def unwritten(self, start: int, end: int) -> list[tuple[int, int]]:
        """As a file system that tells where a file has holes; a device has none."""
        found: list[tuple[int, int]] = []
        for at in range(start, end // 4096 * 4096, 4096) if self.is_file else ():
            if at // 4096 in self.disk.pages_written:
                continue
            if found and found[-1][1] == at:
                found[-1] = (found[-1][0], at + 4096)
            else:
                found.append((at, at + 4096))
        return found

    def write(self, position: int, data: memoryview, done: WriteDone) -> None:
        assert self.writable
        assert position % 4096 == 0
        assert len(data) % 4096 == 0
        assert position + len(data) <= len(self.disk.image)
        self.disk.submit(position, data, done)

    async def read(self, position: int, into: memoryview) -> None:
        await asyncio.sleep(0)
        data = self.disk.image[position : position + len(into)]
        if len(data) != len(into):
            msg = f"read of {len(into)} bytes at {position} ends after {len(data)}"
            raise OSError(msg)
        into[:] = data

    async def close(self) -> None:
        if self.writable:
            self.disk.has_writer = False


@dataclass(slots=True)
class CrashPoint:
    """The moment between two events. `image` is what is durable, and only until the next point is asked for."""

    index: int
    image: bytearray
    inflight: list[Submitted]
    all_notes: list[Noted]
    noted: int

    @property
    def notes(self) -> list[Noted]:
        """What had been noted by then."""
        return self.all_notes[: self.noted]


def crash_points(start: bytes, trace: list[Event]) -> Iterator[CrashPoint]:
    """Yield the state before the first event and after each, of a disk that held `start`."""
    image = bytearray(start)
    inflight: dict[int, Submitted] = {}
    notes: list[Noted] = []
    yield CrashPoint(0, image, [], notes, 0)
    for index, event in enumerate(trace, start=1):
        match event:
            case Submitted():
                inflight[event.number] = event
            case Completed():
                write = inflight.pop(event.number)
                image[write.position : write.position + len(write.data)] = write.data
            case Noted():
                notes.append(event)
        yield CrashPoint(index, image, list(inflight.values()), notes, len(notes))


def outcomes(point: CrashPoint, rng: random.Random, *, torn: int = 2) -> Iterator[bytearray]:
    """Yield what the disk may hold after a crash at `point`.

    Every combination of kept and lost for up to four writes in flight, random ones beyond; then `torn` times a
    prefix and a random set of sectors of each.
    """
    writes = point.inflight
    fates: Iterator[tuple[bool, ...]]
    if len(writes) <= 4:
        fates = product((False, True), repeat=len(writes))
    else:
        fates = (tuple(rng.random() < 0.5 for _ in writes) for _ in range(16))
    for kept in fates:
        image = bytearray(point.image)
        for write, keep in zip(writes, kept, strict=True):
            if keep:
                image[write.position : write.position + len(write.data)] = write.data
        yield image
    if not writes:
        return
    for _ in range(torn):
        yield _torn(point, rng, lambda count: _prefix(rng, count))
        yield _torn(point, rng, lambda count: [s for s in range(count) if rng.random() < 0.5])


def _prefix(rng: random.Random, count: int) -> list[int]:
    return list(range(rng.randrange(count + 1)))


def _torn(point: CrashPoint, rng: random.Random, choose: Callable[[int], list[int]]) -> bytearray:
    image = bytearray(point.image)
    for write in rng.sample(point.inflight, len(point.inflight)):
        for sector in choose(len(write.data) // SECTOR_BYTES):
            start = sector * SECTOR_BYTES
            at = write.position + start
            image[at : at + SECTOR_BYTES] = write.data[start : start + SECTOR_BYTES]
    return image
