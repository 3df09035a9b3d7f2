"""Every state that a crash may leave a disk in, from the trace of a run.

Between two events the disk holds what is durable, and of each write in flight nothing, all, or any
set of its sectors. Writes in flight never overlap (`SimulatedDisk` insists), so a state is told by
the set of sectors alone, in whatever order they were written.

States are made on one image by changing the sectors and changing them back, and are known by a
number: the exclusive or of a 64-bit digest of each sector and its place, beginning with that of the
disk's size. So a state that was seen before is recognised before it is made.

Outcomes of one crash have names, so that each can be made again:

    s0 ... s(2^n - 1)  of n writes in flight, bit i says whether the ith is kept; n up to MAX_SUBSET_WRITES,
                       beyond that a random choice of as many
    t0, t1, ...        at least one is torn: a prefix, a suffix, all but one, only one, or any set of its sectors
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from hashlib import blake2b
from operator import xor

from tests.simulation.disk import SECTOR_BYTES, Completed, Event, Noted, PowerCut, Submitted

MAX_SUBSET_WRITES = 6


def sector_digest(index: int, content: bytes | bytearray | memoryview) -> int:
    """Return what a sector at its place contributes to a state's number."""
    digest = blake2b(content, digest_size=8, salt=index.to_bytes(8, "big"))
    return int.from_bytes(digest.digest(), "big")


@dataclass(slots=True)
class Inflight:
    """A write that a crash may tear."""

    position: int
    data: bytes
    before: bytes  # what is durable at its place
    deltas: list[int]  # by which each sector changes the state's number
    delta: int  # all of them

    @property
    def sectors(self) -> int:
        return len(self.deltas)


Kept = list[tuple[Inflight, list[int] | None]]  # None: the whole write


@dataclass(slots=True)
class CrashPoint:
    """The moment behind `index` events. Valid until the next one is asked for."""

    index: int
    event: Event | None
    image: bytearray
    number: int
    inflight: list[Inflight]
    seed: str

    def subsets(self) -> Iterator[str]:
        """Yield the outcomes in which no write is torn."""
        return (f"s{bits}" for bits in range(1 << min(len(self.inflight), MAX_SUBSET_WRITES)))

    def torn(self, count: int) -> Iterator[str]:
        """Yield `count` outcomes in which one is, if any is in flight."""
        return (f"t{number}" for number in range(count if self.inflight else 0))

    def has(self, outcome: str) -> bool:
        """Whether there is such an outcome."""
        kind, number = outcome[:1], outcome[1:]
        if kind not in {"s", "t"} or not number.isascii() or not number.isdigit():
            return False
        return bool(self.inflight) if kind == "t" else outcome in self.subsets()

    def rng(self, outcome: str) -> random.Random:
        """Return the entropy of one outcome."""
        return random.Random(f"{self.seed}:{self.index}:{outcome}")

    def kept(self, outcome: str) -> Kept:
        """Return what an outcome keeps."""
        writes = self.inflight
        if outcome[0] == "s":
            if len(writes) > MAX_SUBSET_WRITES:
                rng = self.rng(outcome)
                return [(write, None) for write in writes if rng.random() < 0.5]
            bits = int(outcome[1:])
            return [(write, None) for at, write in enumerate(writes) if bits >> at & 1]
        rng = self.rng(outcome)
        chosen: Kept = []
        victim = rng.randrange(len(writes))
        for at, write in enumerate(writes):
            fate = rng.random()
            if at == victim or fate < 0.3:
                chosen.append((write, _some_sectors(rng, write.sectors)))
            elif fate < 0.7:
                chosen.append((write, None))
        return chosen

    def number_of(self, kept: Kept) -> int:
        """Return the number of the state that keeps this."""
        number = self.number
        for write, sectors in kept:
            if sectors is None:
                number ^= write.delta
            else:
                number = reduce(xor, (write.deltas[sector] for sector in sectors), number)
        return number

    def make(self, kept: Kept) -> None:
        """Change the image into the state that keeps this."""
        for write, sectors in kept:
            self._put(write, sectors, write.data)

    def unmake(self, kept: Kept) -> None:
        """Change it back."""
        for write, sectors in kept:
            self._put(write, sectors, write.before)

    def _put(self, write: Inflight, sectors: list[int] | None, content: bytes) -> None:
        position = write.position
        if sectors is None:
            self.image[position : position + len(content)] = content
            return
        for sector in sectors:
            at = sector * SECTOR_BYTES
            self.image[position + at : position + at + SECTOR_BYTES] = content[
                at : at + SECTOR_BYTES
            ]


def _some_sectors(rng: random.Random, count: int) -> list[int]:
    """Choose which sectors of a torn write are kept."""
    every = list(range(count))
    cut = rng.randrange(1, count)
    match rng.randrange(5):
        case 0:
            return every[:cut]
        case 1:
            return every[cut:]
        case 2:
            return every[: cut - 1] + every[cut:]
        case 3:
            return [cut - 1]
        case _:
            return [sector for sector in every if rng.random() < 0.5]


@dataclass(slots=True)
class _Walk:
    """The durable image while a trace is walked."""

    image: bytearray
    number: int
    inflight: dict[int, Inflight] = field(default_factory=dict)

    def submitted(self, event: Submitted) -> None:
        position, data = event.position, event.data
        before = bytes(self.image[position : position + len(data)])
        deltas = [
            sector_digest(index, data[at : at + SECTOR_BYTES])
            ^ sector_digest(index, before[at : at + SECTOR_BYTES])
            for index, at in enumerate(range(0, len(data), SECTOR_BYTES), position // SECTOR_BYTES)
        ]
        self.inflight[event.number] = Inflight(position, data, before, deltas, reduce(xor, deltas))

    def completed(self, event: Completed) -> None:
        write = self.inflight.pop(event.number)
        self.image[write.position : write.position + len(write.data)] = write.data
        self.number ^= write.delta

    def power_cut(self, event: PowerCut) -> None:
        self.inflight.clear()
        for at in range(0, len(self.image), SECTOR_BYTES):
            old, new = self.image[at : at + SECTOR_BYTES], event.image[at : at + SECTOR_BYTES]
            if old != new:
                index = at // SECTOR_BYTES
                self.number ^= sector_digest(index, old) ^ sector_digest(index, new)
        self.image[:] = event.image


def crash_points(size_bytes: int, trace: list[Event], seed: str = "") -> Iterator[CrashPoint]:
    """Yield the moment before the first event and the one behind each, of a disk that was blank.

    `seed` makes the torn outcomes those of this run.
    """
    walk = _Walk(bytearray(size_bytes), sector_digest(0, size_bytes.to_bytes(8, "big")))
    yield CrashPoint(0, None, walk.image, walk.number, [], seed)
    for index, event in enumerate(trace, start=1):
        match event:
            case Submitted():
                walk.submitted(event)
            case Completed():
                walk.completed(event)
            case PowerCut():
                walk.power_cut(event)
            case Noted():
                pass
        yield CrashPoint(index, event, walk.image, walk.number, list(walk.inflight.values()), seed)
