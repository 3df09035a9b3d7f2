"""Power cuts under load, on a disk with a volatile cache: what was acknowledged is there, byte for byte.

A writer process appends to the real `DeltaWal` on a fault disk, as a raw device or as a file, and tells each
confirmation through a pipe. The disk's power is cut at a random moment, or at a chosen write, flush or read: of what it
has not been told to make durable, each sector survives or not. The writer is killed, the power comes back, the log
is read by `WalReader`, judged, and the next writer goes on from there.

    pytest -s tests/integration/test_wal_power_cut.py --power-cut-rounds 200
"""

import asyncio
import os
import random
import select
import signal
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headrace.wal.errors import WalCorruptError, WalDeviceError
from headrace.wal.layout import RING_POSITION, Superblock
from headrace.wal.port import RecoveredRecord
from headrace.wal.ring.reader import WalReader
from tests.environment.fault_disk import FaultDisk, fault_disk_support
from tests.integration.power_cut_writer import CAPACITY, NOTE, Task, Values, WriterServer

WITHIN_S = 15.0
MIB = 1 << 20
WINDOW_BYTES_INITIAL = Task("", "", "", 0, 0).config().window_bytes_initial


class Ledger:
    """What writers have told, and what the log must and may hold accordingly."""

    def __init__(self, values: Values, seen: Counter[str]) -> None:
        self._values = values
        self.seen = seen
        self.round = 0
        self.known: dict[int, tuple[int, int, int]] = {}  # offset -> end, round, number
        self.acknowledged = 0  # everything that ends here or before
        self.trim_asked = self.trim_durable = -1
        self.generation_start = 0
        self.resetting = False
        self.was_reset = False
        self.next_number = 0
        self.to_recover: list[tuple[int, int, int]] | None = None  # what the next writer must find
        self.recovered: list[tuple[int, int, int]] = []
        self.told = ""

    def begin(self, turn: int) -> None:
        """A new writer starts."""
        self.round = turn
        self.recovered = []
        self.next_number = 0
        self.told = ""

    def note(self, what: str, first: int, second: int, third: int) -> None:
        """Take what a writer tells."""
        self.told = what
        match what:
            case "R":
                self.recovered.append((first, second, third))
            case "G":
                self.resetting = True
                if self.to_recover is not None:
                    assert self.recovered == self.to_recover, "two recoveries differ"
            case "Q":
                self.resetting = True
                self.seen["resizes begun"] += 1
            case "B":
                assert first >= self.generation_start
                self.known = {}
                self.generation_start = self.acknowledged = first
                self.trim_asked = self.trim_durable = first - 1
                self.resetting, self.was_reset = False, True
            case "A":
                assert third == self.next_number
                self.known[first] = (second, self.round, third)
                self.next_number += 1
            case "C":
                assert first > self.acknowledged, "confirmations do not go back"
                self.acknowledged = first
                self.seen["confirmations"] += 1
            case "T":
                self.trim_asked = first
            case "D" if not self.resetting:  # else that of the new generation
                assert first <= self.trim_asked
                self.trim_durable = first
                self.seen["trims"] += 1
            case "X":
                pytest.fail("confirmed after the log had failed")
            case "E":
                assert first == 0, "the writer met an error that is none of IO, see its output"

    def lost(self, records: list[RecoveredRecord]) -> int:
        """Return how many acknowledged records are not there."""
        if self.resetting:
            return 0  # the writer had everything in hand, as a broker has it in the bucket by then
        required = {
            offset
            for offset, (end, _, _) in self.known.items()
            if end <= self.acknowledged and offset > self.trim_asked
        }
        self.seen["acknowledged"] += len(required)
        self.seen["found"] += len(records)
        there = {
            record.offset
            for record in records
            if self.known.get(record.offset, (0, 0, 0))[1:] == self._values.name(record.body)
        }
        return len(required - there)

    def judge(self, records: list[RecoveredRecord], superblock: Superblock) -> None:
        """Fail if anything is there that must not be, or if a durable trim is forgotten."""
        found = [record.offset for record in records]
        assert found == sorted(set(found)), "not in offset order"
        for record in records:
            body = bytes(record.body)
            turn, number = self._values.name(body)
            if record.offset not in self.known:  # appended, and the end came before that was told
                assert not self.resetting, "phantom"
                assert turn == self.round, "from an earlier generation"
                assert number >= self.next_number, "phantom"
                self.known[record.offset] = (record.end_offset, turn, number)
            assert self.known[record.offset] == (record.end_offset, turn, number), "phantom"
            assert body == self._values.body(turn, number), "a record has changed"
            assert record.offset > superblock.trim_offset, "released, and back again"
        if not self.resetting:
            assert superblock.trim_offset >= self.trim_durable, "a durable trim is forgotten"
        ring_bytes = superblock.ring.size_bytes
        self.seen["wraps"] += self.acknowledged // ring_bytes - self.generation_start // ring_bytes
        self.seen["MiB"] += (self.acknowledged - self.generation_start) // MIB
        self.seen["grown windows"] += superblock.window_bytes > WINDOW_BYTES_INITIAL
        self.to_recover = [(r.offset, r.end_offset, zlib.crc32(r.body)) for r in records]


class Running:
    """A writer and its pipe."""

    def __init__(self, writers: WriterServer, task: Task, ledger: Ledger) -> None:
        self._ledger = ledger
        self.has_ended = False
        self._writers = writers
        self.process_id, self._pipe = writers.start(task)
        self._rest = b""

    def read(self, timeout_s: float) -> None:
        """Take in what is told, waiting for at most that long."""
        if not select.select([self._pipe], [], [], timeout_s)[0]:
            return
        data = os.read(self._pipe, MIB)
        self.has_ended = not data
        data = self._rest + data
        whole = len(data) - len(data) % NOTE.size
        self._rest = data[whole:]
        for what, *numbers in NOTE.iter_unpack(data[:whole]):
            self._ledger.note(what.decode(), *numbers)

    def read_until(self, condition: Callable[[], object]) -> None:
        """Read until the condition holds or the writer has ended."""
        deadline = time.monotonic() + WITHIN_S
        while not condition() and not self.has_ended:
            assert time.monotonic() < deadline, f"nothing in {WITHIN_S} s after {self._ledger.told}"
            self.read(0.003)

    def read_for(self, seconds: float) -> None:
        """Read for a time."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self.has_ended:
            self.read(left)

    def read_until_working(self) -> None:
        """Read until something was confirmed."""
        seen = self._ledger.seen
        before = seen["confirmations"]
        self.read_until(lambda: seen["confirmations"] > before)
        assert not self.has_ended, "the writer ended by itself"

    def kill(self) -> None:
        """Kill the writer and take in the rest of what it had told."""
        os.kill(self.process_id, signal.SIGKILL)
        while not self.has_ended:
            self.read(WITHIN_S)
        os.close(self._pipe)
        self._writers.reap(self.process_id)


class PowerCuts:
    """One disk, one writer after the other, and a power cut for each."""

    def __init__(
        self, disk: FaultDisk, writers: WriterServer, how: str, seed: int, *, durable: bool = True
    ) -> None:
        kind, self._io, self._loop = how.split("-")
        self.is_file = kind == "file"
        self.disk = disk
        self.rng = random.Random(seed)
        self._path = str(disk.file) if self.is_file else disk.device
        self._writers = writers
        self._seed = seed
        self._durable = durable
        self._turn = 0
        self._running: Running | None = None
        self.seen: Counter[str] = Counter()
        self.format()

    def format(self) -> None:
        """Go on with a blank disk."""
        self.disk.blank()
        self.ledger = Ledger(Values(self._seed), self.seen)

    def round(self, moment: "Moment") -> None:
        """Let a writer work until the power is cut, look at what is left, and judge it."""
        self._turn += 1
        self.ledger.begin(self._turn)
        try:
            moment(self)
            survive = self.rng.choice((0.0, 0.1, 0.5, 0.9, self.rng.random()))
            self.disk.cut(survive=survive, seed=self.rng.getrandbits(32))  # if it was not before
        finally:
            if self._running is not None:
                self._running.kill()
            self.disk.heal()
        self.seen["cuts"] += 1
        self.seen["depth"] = max(self.seen["depth"], self.disk.state()["max_depth"])
        self.seen["lost"] += self.look()

    def start(self) -> Running:
        """Start the writer."""
        path, io, loop = self._path, self._io, self._loop
        task = Task(path, io, loop, self._seed, self._turn, durable=self._durable)
        self._running = Running(self._writers, task, self.ledger)
        return self._running

    def arm(self, op: str, at: int, **where: int) -> None:
        """Let the power fail at an operation to come."""
        survive, seed = self.rng.random(), self.rng.getrandbits(32)
        self.disk.arm(op, "cut", at=at, survive=survive, seed=seed, **where)

    def wait(self, running: Running) -> None:
        """Wait for the armed cut, or until the writer is through."""
        running.read_until(lambda: self.ledger.told in {"F", "E", "Z"} or self.disk.state()["dead"])
        self.seen["cuts at an operation"] += self.disk.state()["dead"]

    def look(self) -> int:
        """Read the log as another node would; return how many acknowledged records are lost."""
        ledger = self.ledger
        try:
            records, superblock = asyncio.run(self._read())
        except (WalDeviceError, WalCorruptError) as error:
            is_blank = isinstance(error, WalDeviceError) and "blank" in str(error)
            if self._durable and (ledger.was_reset or not is_blank):
                raise
            self.seen["refused"] += 1
            return ledger.lost([])
        lost = ledger.lost(records)
        if self._durable:
            ledger.judge(records, superblock)
            assert not lost, f"{lost} acknowledged records are lost"
        return lost

    async def _read(self) -> tuple[list[RecoveredRecord], Superblock]:
        path = str(self.disk.file)
        reader = WalReader(Task(path, "threads", "asyncio", self._seed, self._turn).config())
        await reader.start()
        try:
            return [record async for record in reader.recover()], reader.superblock
        finally:
            await reader.close()


# --- moments of a cut

Moment = Callable[[PowerCuts], None]


def at_any_moment(cuts: PowerCuts) -> None:
    running = cuts.start()
    running.read_until_working()
    running.read_for(cuts.rng.uniform(0, 0.25))


def after_a_wrap(cuts: PowerCuts) -> None:
    """When the ring has gone around, on records of an earlier lap."""
    running = cuts.start()
    running.read_until_working()
    end = cuts.ledger.generation_start + cuts.rng.uniform(1, 1.5) * CAPACITY
    running.read_until(lambda: cuts.ledger.acknowledged > end)


def at_a_write(cuts: PowerCuts) -> None:
    running = cuts.start()
    running.read_until_working()
    cuts.arm("write", cuts.rng.randrange(1, 60))
    cuts.wait(running)


def at_a_flush(cuts: PowerCuts) -> None:
    """Writes to a file opened with O_DSYNC are durable by themselves; a device is flushed."""
    running = cuts.start()
    running.read_until_working()
    cuts.arm("write" if cuts.is_file else "sync", cuts.rng.randrange(1, 60))
    cuts.wait(running)


def at_a_superblock(cuts: PowerCuts) -> None:
    """A trim, a larger window, or the word of what is confirmed."""
    running = cuts.start()
    running.read_until_working()
    cuts.arm("write", cuts.rng.randrange(1, 5), to_byte=RING_POSITION)
    cuts.wait(running)


def while_resizing(cuts: PowerCuts) -> None:
    """At one of the new superblocks, or at the first that the new generation writes.

    The file of the fault disk has one size for ever.
    """
    running = cuts.start()
    running.read_until_working()
    if not cuts.is_file:
        os.kill(running.process_id, signal.SIGUSR1)
        running.read_until(lambda: cuts.ledger.resetting)
    cuts.arm("write", cuts.rng.randrange(1, 4), to_byte=RING_POSITION)
    if not cuts.is_file:
        os.kill(running.process_id, signal.SIGUSR1)
    cuts.wait(running)


def while_starting(cuts: PowerCuts) -> None:
    """In the middle of format or reset, or with the first appends."""
    cuts.arm("write", cuts.rng.randrange(1, 8))
    cuts.wait(cuts.start())


def while_recovering(cuts: PowerCuts) -> None:
    """At one of the first reads, or, where there is less to read, once the writer is at work."""
    cuts.arm("read", cuts.rng.randrange(1, 8))
    running = cuts.start()
    working = lambda: cuts.ledger.told in {"A", "C", "T", "D"}  # noqa: E731
    running.read_until(lambda: working() or cuts.disk.state()["dead"])
    cuts.seen["cuts of a recovery"] += cuts.disk.state()["dead"]


def while_shutting_down(cuts: PowerCuts) -> None:
    running = cuts.start()
    running.read_until_working()
    running.read_for(cuts.rng.uniform(0, 0.1))
    cuts.arm("write", cuts.rng.randrange(1, 12))
    os.kill(running.process_id, signal.SIGTERM)
    cuts.wait(running)


MOMENTS: tuple[Moment, ...] = (
    at_any_moment,
    after_a_wrap,
    at_a_write,
    at_a_flush,
    at_a_superblock,
    while_resizing,
    while_starting,
    while_recovering,
    while_shutting_down,
)
WAYS = [
    f"{kind}-{io}-{loop}"
    for kind in ("loop", "file")
    for io in ("aio", "threads")
    for loop in ("uvloop", "asyncio")
]


@pytest.fixture(scope="module")
def writers(component: Callable[[Callable[[], object]], None]) -> Iterator[WriterServer]:
    component(fault_disk_support)
    with WriterServer() as server:
        yield server


@pytest.fixture
def disk(writers: WriterServer, tmp_path: Path) -> Iterator[FaultDisk]:
    with FaultDisk(tmp_path / "disk", CAPACITY) as faulty:
        yield faulty


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    chosen = request.config.getoption("--power-cut-seed")
    if chosen is None:
        chosen = random.SystemRandom().randrange(2**32)
    print(f"--power-cut-seed {chosen}")
    return chosen


@pytest.mark.timeout(0)
@pytest.mark.parametrize("how", WAYS)
def test_what_was_acknowledged_survives_a_power_cut(
    how: str, disk: FaultDisk, writers: WriterServer, seed: int, request: pytest.FixtureRequest
) -> None:
    cuts = PowerCuts(disk, writers, how, seed)
    for number in range(request.config.getoption("--power-cut-rounds")):
        if number % 10 == 9:
            cuts.format()
        for moment in cuts.rng.sample(MOMENTS, len(MOMENTS)):
            cuts.round(moment)
    print(f"{how}: {dict(cuts.seen)}")
    assert cuts.seen["lost"] == 0
    assert cuts.seen["acknowledged"] > 100
    assert cuts.seen["trims"]
    assert cuts.seen["wraps"]
    assert cuts.seen["grown windows"]
    assert cuts.seen["cuts at an operation"]
    assert cuts.is_file or cuts.seen["resizes begun"]


@pytest.mark.parametrize("how", ["loop-aio-uvloop", "file-threads-asyncio"])
def test_a_power_cut_at_each_write_of_a_format(
    how: str, disk: FaultDisk, writers: WriterServer, seed: int
) -> None:
    cuts = PowerCuts(disk, writers, how, seed)
    for at in range(1, 9):
        cuts.format()

        def while_formatting(cuts: PowerCuts, at: int = at) -> None:
            cuts.arm("write", at)
            cuts.wait(cuts.start())

        cuts.round(while_formatting)
        cuts.round(at_any_moment)  # the next start makes a log of it
    assert cuts.seen["cuts at an operation"] == 8
    assert cuts.seen["acknowledged"]
    assert cuts.seen["lost"] == 0


@pytest.mark.timeout(0)
@pytest.mark.parametrize("how", ["loop-aio-uvloop", "loop-threads-uvloop", "file-aio-uvloop"])
def test_without_dsync_a_power_cut_loses_what_was_acknowledged(
    how: str, disk: FaultDisk, writers: WriterServer, seed: int, request: pytest.FixtureRequest
) -> None:
    """The same cuts find it, if the device is not told to make writes durable: the test above can fail."""
    cuts = PowerCuts(disk, writers, how, seed, durable=False)
    for _ in range(1 + request.config.getoption("--power-cut-rounds")):
        cuts.format()
        cuts.round(at_any_moment)
    print(f"{how} without O_DSYNC: {dict(cuts.seen)}")
    assert cuts.seen["lost"] > 0
