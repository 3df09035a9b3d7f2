"""A disk in memory that can lose power: writes stay in flight until they are completed, and a crash may leave of
each of them nothing, all, or any set of its sectors.

`SimulatedDevice` is a `headrace.wal.device.block_device.BlockDevice` on it: production code runs unchanged. What
happened is in the disk's trace, from which `tests.simulation.crash_states` makes every state that a crash may
leave. No two writes in flight ever overlap, which the disk insists on: so the order in which a crash
lets them reach the medium makes no difference.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from headrace.wal.device.block_device import WriteDone
from headrace.wal.errors import WalDeviceError, WalLockedError
from headrace.wal.port import Medium

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


@dataclass(frozen=True, slots=True)
class PowerCut:
    """Nothing is in flight any more, and this is what the disk holds."""

    image: bytes


Event = Submitted | Completed | Noted | PowerCut
# Which of the writes in flight, oldest first, is completed next.
Policy = Callable[[random.Random, int], int]


def any_order(rng: random.Random, count: int) -> int:
    return rng.randrange(count)


def oldest_first(rng: random.Random, count: int) -> int:
    return 0


def newest_first(rng: random.Random, count: int) -> int:
    return count - 1


def oldest_last(rng: random.Random, count: int) -> int:
    return rng.randrange(1, count) if count > 1 else 0


@dataclass(slots=True)
class Pending:
    """A write in flight."""

    number: int
    position: int
    data: bytes
    done: WriteDone


class SimulatedDisk:
    """What survives a crash, and what is in flight.

    `fault(number, position)` may return an error for a write, or `HANG`; what the disk holds of such a write is
    unknown until the power is cut. With `automatic` each write is completed by the loop, in an order that `policy`
    chooses: after some turns, or after up to `latency_s` of a loop with virtual time; otherwise by `complete`.
    """

    HANG = OSError("hangs")

    def __init__(
        self,
        size_bytes: int,
        *,
        rng: random.Random | None = None,
        automatic: bool = True,
        policy: Policy = any_order,
        latency_s: float = 0.0,
        is_file: bool = False,
        lock_name: str = "",
    ) -> None:
        self.image = bytearray(size_bytes)
        self.lock_name = lock_name
        self.rng = rng or random.Random(0)
        self.automatic = automatic
        self.policy = policy
        self.latency_s = latency_s
        self.is_file = is_file
        self.size_bytes = size_bytes  # of a file, which may be cut off and grow again
        self.trace: list[Event] = []
        self.pending: list[Pending] = []
        self.failed: list[Pending] = []  # since the last power cut
        self.writes = 0
        self.generation = 0  # of what runs on it
        self.has_writer = False
        self.pages_written: set[int] = set()
        self.fault: Callable[[int, int], OSError | None] = lambda number, position: None

    def note(self, what: str, value: object) -> None:
        self.trace.append(Noted(what, value))

    def submit(self, position: int, data: memoryview, done: WriteDone) -> None:
        number = self.writes
        self.writes += 1
        self.pages_written.update(range(position // 4096, (position + len(data)) // 4096))
        end = position + len(data)
        for other in self.pending:
            assert end <= other.position or other.position + len(other.data) <= position, (
                "writes in flight overlap"
            )
        write = Pending(number, position, bytes(data), done)
        self.trace.append(Submitted(number, position, write.data))
        error = self.fault(number, position)
        if error is None:
            self.pending.append(write)
            if self.automatic:
                self._complete_soon()
            return
        self.failed.append(write)
        if error is not self.HANG:
            asyncio.get_running_loop().call_soon(done, error)

    def complete(self, index: int = 0) -> None:
        """Make a write durable and tell its submitter."""
        write = self.pending.pop(index)
        self.image[write.position : write.position + len(write.data)] = write.data
        self.trace.append(Completed(write.number))
        write.done(None)

    def cut_power(self) -> None:
        """Keep of each write in flight nothing, all, or some sectors; nobody is told, and nobody has it open."""
        for write in self.pending + self.failed:
            count = len(write.data) // SECTOR_BYTES
            share = self.rng.choice((0.0, 0.5, 1.0))
            for sector in range(count):
                if self.rng.random() < share:
                    at = sector * SECTOR_BYTES
                    self.image[write.position + at : write.position + at + SECTOR_BYTES] = (
                        write.data[at : at + SECTOR_BYTES]
                    )
        self.pending.clear()
        self.failed.clear()
        self.generation += 1
        self.has_writer = False
        self.trace.append(PowerCut(bytes(self.image)))

    def end_process(self) -> None:
        """Let everything in flight become durable; nobody is told, and nobody has it open."""
        for write in self.rng.sample(self.pending, len(self.pending)):
            self.image[write.position : write.position + len(write.data)] = write.data
            self.trace.append(Completed(write.number))
        self.pending.clear()
        self.cut_power()

    def _complete_soon(self) -> None:
        complete = partial(self._complete_next, self.generation)
        if self.latency_s:
            delay_s = self.latency_s * self.rng.choice((0.1, 0.3, 0.3, 1.0))
            asyncio.get_running_loop().call_later(delay_s, complete)
        else:
            _after_turns(self.rng.randrange(1, 4), complete)

    def _complete_next(self, generation: int) -> None:
        if self.pending and generation == self.generation:
            self.complete(self.policy(self.rng, len(self.pending)))

    def open(self, path: str, *, writable: bool) -> "SimulatedDevice":
        if writable:
            if self.has_writer:
                msg = f"{path} has a writer"
                raise WalLockedError(msg)
            self.has_writer = True
        return SimulatedDevice(self, path, writable=writable)


def _after_turns(turns: int, callback: Callable[[], None]) -> None:
    if turns:
        asyncio.get_running_loop().call_soon(_after_turns, turns - 1, callback)
    else:
        callback()


class SimulatedDevice:
    """One opening of a `SimulatedDisk`."""

    io = "simulated"
    medium = Medium.DIRECT
    hangs = False

    def __init__(self, disk: SimulatedDisk, path: str, *, writable: bool) -> None:
        self.disk = disk
        self.path = path
        self.writable = writable
        self._generation = disk.generation

    @property
    def is_file(self) -> bool:
        return self.disk.is_file

    @property
    def lock_name(self) -> str:
        return self.disk.lock_name

    @property
    def size_bytes(self) -> int:
        return min(self.disk.size_bytes, len(self.disk.image))

    def allocate(self, size_bytes: int) -> None:
        if size_bytes > len(self.disk.image):
            msg = f"{self.path} has {len(self.disk.image)} bytes, {size_bytes} are configured"
            raise WalDeviceError(msg)
        if size_bytes > self.disk.size_bytes:
            self._resize(size_bytes)

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
        assert position + len(data) <= self.size_bytes
        if self._generation == self.disk.generation:  # a process that has ended writes nothing
            self.disk.submit(position, data, done)

    def shrink(self, size_bytes: int) -> None:
        """What is cut off stays as garbage, in case that the file grows again."""
        assert self.disk.is_file
        assert size_bytes <= self.disk.size_bytes
        self._resize(size_bytes)

    def _resize(self, size_bytes: int) -> None:
        if self._generation == self.disk.generation:
            self.disk.size_bytes = size_bytes
            self.disk.note("size", size_bytes)

    async def read(self, position: int, into: memoryview) -> None:
        await asyncio.sleep(0)
        with memoryview(self.disk.image)[position : position + len(into)] as data:
            if len(data) != len(into):
                msg = f"read of {len(into)} bytes at {position} ends after {len(data)}"
                raise OSError(msg)
            into[:] = data

    async def close(self) -> None:
        if self.writable and self._generation == self.disk.generation:
            self.disk.has_writer = False
