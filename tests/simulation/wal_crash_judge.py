"""Judges every state that a crash may leave of one recorded run of the WAL.

At each point of the trace: every combination of kept and lost, then some torn writes, then some of
these states with damage that no crash makes: a flipped bit, or a sector that went to the wrong place.
After a crash alone recovery must return what was acknowledged and nothing else. After damage it may
refuse instead, but never lose in silence; and if the loss is accepted then, it must name what is lost
and return the rest.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from headrace.wal.errors import WalError
from headrace.wal.framing import read_block_header
from headrace.wal.layout import (
    PAGE_BYTES,
    RING_POSITION,
    SUPERBLOCK_SLOTS,
    Superblock,
    decode_superblock,
    newest_superblock,
)
from headrace.wal.ring.content import Kind
from tests.simulation.crash_states import CrashPoint, Kept, crash_points
from tests.simulation.disk import SECTOR_BYTES, Noted, SimulatedDisk, Submitted
from tests.simulation.wal_run import Expectation, examine_image, recover_image
from tests.simulation.wal_workloads import Workload


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong, and the words that make it again."""

    replay: str  # workload:seed[:point:outcome]
    what: str


@dataclass(slots=True)
class Verdicts:
    """What was seen in one run, or in all."""

    images: int = (
        0  # judged; one state at two points counts twice, since more may be expected later
    )
    states: set[int] = field(default_factory=set)  # numbers of distinct states after a crash
    blank: int = 0  # of the images: a disk before its first superblock
    damaged: int = 0
    refused: int = 0  # of the damaged
    violations: list[Violation] = field(default_factory=list)

    def add(self, other: "Verdicts") -> None:
        self.images += other.images
        self.states |= other.states
        self.blank += other.blank
        self.damaged += other.damaged
        self.refused += other.refused
        self.violations += other.violations


class Judge:
    """One run's crash states."""

    def __init__(self, workload: Workload, seed: int) -> None:
        self.name = f"{workload.name}:{seed}"
        self.verdicts = Verdicts()
        self._expected = Expectation()
        self._recovered: dict[int, list[int]] = {}  # offsets, by number of the state
        self._told: dict[tuple[str, int, int], int] = {}  # what was confirmed when it was written
        self._settled: set[int] = set()  # states that were judged with what is expected now
        try:
            self.disk: SimulatedDisk | None = workload.record(seed)
        except AssertionError as error:
            self.disk = None
            self._violated(self.name, error)

    def points(self) -> Iterator[CrashPoint]:
        """Yield the points at which a crash leaves something that was not judged before."""
        if self.disk is None:
            return
        for point in crash_points(len(self.disk.image), self.disk.trace, self.name):
            if isinstance(point.event, Submitted):
                name = _names(memoryview(point.event.data))
                if name is not None:
                    self._told[name] = self._expected.confirmed
            if isinstance(point.event, Noted):
                if not self._expected.note(point.event):
                    continue
                self._settled.clear()
                if point.event.what == "size":
                    self._recovered.clear()
            yield point

    def run(self, *, torn: int, damaged: float) -> Verdicts:
        """Judge all of it.

        Args:
            torn: outcomes with a torn write, for each write that is submitted.
            damaged: of the states, how many are damaged as well, on average.
        """
        for point in self.points():
            chosen = point.rng("damaged")
            outcomes = list(point.subsets())
            if isinstance(point.event, Submitted):
                outcomes += point.torn(torn)
            for outcome in outcomes:
                self.judge(point, outcome)
                if chosen.random() < damaged:
                    self.judge_damaged(point, outcome)
        return self.verdicts

    def judge(self, point: CrashPoint, outcome: str) -> None:
        """Judge one outcome of a crash, unless nothing about it is new."""
        kept = point.kept(outcome)
        number = point.number_of(kept)
        if number in self._settled:
            return
        self._settled.add(number)
        self.verdicts.states.add(number)
        self.verdicts.images += 1
        try:
            if number in self._recovered and not self._expected.damaged:
                self._expected.judge_offsets(self._recovered[number])
                return
            point.make(kept)
            try:
                offsets = self._recover(point.image)
                if not self._expected.damaged:
                    self._recovered[number] = offsets
            finally:
                point.unmake(kept)
        except (AssertionError, WalError) as error:
            self._violated(f"{self.name}:{point.index}:{outcome}", error)

    def _recover(self, image: bytearray) -> list[int]:
        if not self._expected.formatted and _is_blank(image):
            self.verdicts.blank += 1
            return []
        damaged = self._expected.damaged
        superblock, records, summary = recover_image(image, accept_loss=damaged)
        self._expected.without(summary.lost).judge(superblock, records)
        # What is uploaded was confirmed: no log is taken for an old copy.
        assert summary.known_offset >= self._expected.confirmed, "the log ends too early"
        return [record.offset for record in records]

    def judge_damaged(self, point: CrashPoint, outcome: str) -> None:
        """Judge the same with damage: what was acknowledged is there, or the log is refused."""
        kept = point.kept(outcome)
        point.make(kept)
        try:
            self._judge_damage(point.image, point.rng("x" + outcome))
        except AssertionError as error:
            self._violated(f"{self.name}:{point.index}:x{outcome}", error)
        finally:
            point.unmake(kept)

    def _judge_damage(self, image: bytearray, rng: random.Random) -> None:
        if _is_blank(image) or self._expected.damaged:
            return
        try:
            superblock, records, _ = recover_image(image)
        except WalError:
            return  # a violation in itself, and reported as such
        positions = [superblock.ring.position(record.offset) for record in records]
        del records
        told = self._told_offset(image, superblock)
        damage = _damage(image, positions, rng)
        healthy = [(at, bytes(image[at : at + len(content)])) for at, content in damage]
        for at, content in damage:
            image[at : at + len(content)] = content
        if len(damage) > 1:  # one place may have been the only witness of the other
            told = min(told, self._told_offset(image, superblock))
        # What the disk does not tell to be acknowledged cannot be told from a torn tail.
        expected = self._expected.copy()
        expected.required = {at for at in expected.required if expected.ends[at] <= told}
        self.verdicts.damaged += 1
        try:
            _judge_damaged_image(image, expected)
        except WalError:
            self.verdicts.refused += 1
            _judge_loss(image, expected)
        finally:
            for at, content in healthy:
                image[at : at + len(content)] = content

    def _told_offset(self, image: bytearray, superblock: Superblock) -> int:
        """Return how far the disk must know what was confirmed, since something on it was written after that.

        By what was confirmed when it was written, not by what it says of that.
        """
        view = memoryview(image)
        pages = range(0, superblock.capacity_bytes, PAGE_BYTES)
        found = (_names(view[page : page + PAGE_BYTES]) for page in pages)
        told = (self._told[name] for name in found if name and name[1] == superblock.generation_id)
        return max(told, default=0)

    def _violated(self, replay: str, error: Exception) -> None:
        self.verdicts.violations.append(Violation(replay, f"{type(error).__name__}: {error}"))


def _is_blank(image: bytearray) -> bool:
    return examine_image(memoryview(image)).kind is Kind.BLANK


def _names(data: memoryview) -> tuple[str, int, int] | None:
    """Return what tells a block or superblock from every other, or None if this is neither."""
    block = read_block_header(data, 0)
    if block is not None:
        return "block", block.generation_id, block.offset
    superblock = decode_superblock(data[:PAGE_BYTES])
    if superblock is not None:
        return "superblock", superblock.generation_id, superblock.sequence
    return None


def _judge_damaged_image(image: bytearray, expected: Expectation) -> None:
    superblock, records, _ = recover_image(image)
    expected.judge(superblock, records)


def _judge_loss(image: bytearray, expected: Expectation) -> None:
    """Judge what is left of a refused log once the loss is accepted."""
    try:
        superblock, records, summary = recover_image(image, accept_loss=True)
    except WalError:
        assert newest_superblock(image[:RING_POSITION]) is None, "refused though accepted"
        return
    expected.without(summary.lost).judge(superblock, records)


def _damage(
    image: bytearray, positions: list[int], rng: random.Random
) -> list[tuple[int, bytes | bytearray]]:
    """Return where and with what: mostly in a superblock, or a record that is to be recovered."""
    where = rng.random()
    if where < 0.15:
        at = rng.randrange(SUPERBLOCK_SLOTS) * PAGE_BYTES + rng.randrange(200)
    elif positions and where < 0.7:
        at = min(rng.choice(positions) + rng.randrange(200), len(image) - 1)
    else:
        at = rng.randrange(len(image))
    if rng.random() < 0.6:
        return [(at, bytes([image[at] ^ 1 << rng.randrange(8)]))]
    start = at // SECTOR_BYTES * SECTOR_BYTES
    other = rng.randrange(len(image) // SECTOR_BYTES) * SECTOR_BYTES
    moved = [(start, image[other : other + SECTOR_BYTES])]
    if rng.random() < 0.5 and other != start:
        moved.append((other, bytes(SECTOR_BYTES)))  # it was new, and never came to its own place
    return moved


def replay(
    workload: Workload, seed: int, index: int, outcome: str
) -> tuple[CrashPoint, Kept, Verdicts]:
    """Judge one outcome again; return the point, and what the outcome keeps.

    Raises:
        LookupError: there is no such point, or it has no such outcome.
    """
    judge = Judge(workload, seed)
    for point in judge.points():
        if point.index == index:
            name = outcome.removeprefix("x")
            if not point.has(name):
                where = f"{workload.name}:{seed}:{index}"
                msg = f"{where} has no outcome {name!r}, but {len(point.inflight)} writes in flight"
                raise LookupError(msg)
            if outcome == name:
                judge.judge(point, name)
            else:
                judge.judge_damaged(point, name)
            return point, point.kept(name), judge.verdicts
    msg = f"{workload.name}:{seed} has no point {index} at which anything is judged"
    raise LookupError(msg)
