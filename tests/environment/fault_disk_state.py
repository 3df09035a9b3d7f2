"""What a disk with a volatile cache holds, and what is to go wrong on it. No IO here but on the medium's memory."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

SECTOR_BYTES = 512
PAGE_BYTES = 4096


class VolatileCache:
    """Written pages on their way to the medium: a flush makes them durable, a power cut keeps each sector or not.

    A flush covers what was complete when it was asked for (`mark`), and takes effect when it is answered.
    """

    def __init__(self, medium: bytearray | memoryview) -> None:
        self.medium = medium
        self._pages: dict[
            int, list
        ] = {}  # position -> [mark of the oldest unsynced write, content]
        self._clock = 0

    @property
    def dirty_bytes(self) -> int:
        """How much would be at stake in a power cut."""
        return len(self._pages) * PAGE_BYTES

    def read(self, position: int, size: int) -> bytes:
        """Return what a reader sees: the cache before the medium."""
        content = bytearray(self.medium[position : position + size])
        if self._pages:
            for page in range(position - position % PAGE_BYTES, position + size, PAGE_BYTES):
                if (entry := self._pages.get(page)) is not None:
                    low, high = max(page, position), min(page + PAGE_BYTES, position + size)
                    content[low - position : high - position] = entry[1][low - page : high - page]
        return bytes(content)

    def write(self, position: int, data: bytes) -> None:
        """Take a completed write."""
        self._clock += 1
        end = position + len(data)
        for page in range(position - position % PAGE_BYTES, end, PAGE_BYTES):
            low, high = max(page, position), min(page + PAGE_BYTES, end)
            part = data[low - position : high - position]
            if high - low < PAGE_BYTES:
                whole = bytearray(self.read(page, PAGE_BYTES))
                whole[low - page : high - page] = part
                part = bytes(whole)
            entry = self._pages.get(page)
            if entry is None:
                self._pages[page] = [self._clock, part]
            else:
                entry[1] = part

    def mark(self) -> int:
        """Return the present moment, for `flush`."""
        return self._clock

    def flush(self, mark: int) -> None:
        """Make durable what was written at `mark` or before."""
        covered = [page for page, entry in self._pages.items() if entry[0] <= mark]
        for page in covered:
            self._persist(page)

    def write_through(self, position: int, data: bytes) -> None:
        """Take a write that is durable when it completes, and of nothing else."""
        self.write(position, data)
        for page in range(position - position % PAGE_BYTES, position + len(data), PAGE_BYTES):
            self._persist(page)

    def lose(self, rng: random.Random, survive: float) -> None:
        """Cut the power: each unsynced sector is on the medium with probability `survive`."""
        for page, (_, content) in self._pages.items():
            for at in range(0, PAGE_BYTES, SECTOR_BYTES):
                if rng.random() < survive:
                    sector = content[at : at + SECTOR_BYTES]
                    self.medium[page + at : page + at + len(sector)] = sector
        self._pages.clear()

    def _persist(self, page: int) -> None:
        content = self._pages.pop(page)[1]
        self.medium[page : page + len(content)] = content


@dataclass
class Fault:
    """From the `at`-th matching operation after it was armed on, `times` operations go wrong (0: all later ones).

    action: `error` (with `errno`), `short` (`keep_bytes` are done), `delay` (`delay_ms`), `hang` (until `release`),
    `cut` (the power, before this operation takes effect; each sector survives with probability `survive`).
    """

    op: str  # write, sync, read
    action: str
    at: int = 1
    times: int = 1
    errno: int = 0
    keep_bytes: int = 0
    delay_ms: int = 0
    survive: float = 0.5
    seed: int = 0
    from_byte: int = 0  # where the operation must touch the disk; not for sync
    to_byte: int = 1 << 62
    seen: int = 0
    fired: int = 0

    def strikes(self, op: str, position: int, size: int) -> bool:
        """Count an operation, and tell whether it is one that goes wrong."""
        if op != self.op or (op != "sync" and not self._touches(position, size)):
            return False
        self.seen += 1
        if self.seen < self.at or (self.times and self.seen >= self.at + self.times):
            return False
        self.fired += 1
        return True

    def _touches(self, position: int, size: int) -> bool:
        return position < self.to_byte and position + size > self.from_byte


@dataclass
class Operation:
    """A read, write or sync that the kernel waits for."""

    op: str
    position: int
    size: int
    data: bytes = b""
    durable: bool = False  # a write with O_DSYNC
    mark: int = 0  # of a sync
    reply: Callable[[int, bytes], None] = lambda error, payload: None
    held: bool = False


@dataclass
class FaultyDisk:
    """Cache, faults and journal. `submit` takes an operation; the server says when it may complete (`ready`)."""

    cache: VolatileCache
    rng: random.Random
    faults: list[Fault] = field(default_factory=list)
    ready: list[Operation] = field(default_factory=list)
    held: list[Operation] = field(default_factory=list)  # hanging or delayed
    journal: list[tuple[str, int, int, str]] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=lambda: {"write": 0, "sync": 0, "read": 0})
    dead: bool = False
    max_depth: int = 0  # operations that were under way at once
    MAX_JOURNAL = 50_000

    def submit(self, operation: Operation) -> int | None:
        """Take an operation; return the milliseconds after which a delayed one is to be released."""
        self.counters[operation.op] += 1
        operation.mark = self.cache.mark()
        if self.dead:
            self._answer(operation, "dead", EIO)
            return None
        for fault in self.faults:
            if fault.strikes(operation.op, operation.position, operation.size):
                return self._fail(fault, operation)
        self.ready.append(operation)
        self.max_depth = max(self.max_depth, len(self.ready) + len(self.held))
        return None

    def complete_one(self) -> None:
        """Complete one of the operations that may, in random order."""
        index = self.rng.randrange(len(self.ready))
        self.ready[index], self.ready[-1] = self.ready[-1], self.ready[index]
        self._complete(self.ready.pop(), "done")

    def release(self, operation: Operation | None = None) -> None:
        """Complete what hangs or is delayed: all of it, or this operation."""
        for held in list(self.held) if operation is None else [operation]:
            if held in self.held:
                self.held.remove(held)
                self._complete(held, "late")

    def cut(self, survive: float, seed: int) -> None:
        """Cut the power: unsynced sectors, those of writes under way too, survive or not; then everything fails."""
        inflight = self.ready + self.held
        self.ready, self.held = [], []
        for operation in inflight:
            if operation.op == "write":
                self.cache.write(operation.position, operation.data)
        self.cache.lose(random.Random(seed), survive)
        self.dead = True
        for operation in inflight:
            self._answer(operation, "cut", EIO)

    def heal(self) -> None:
        """Let the power come back; no fault is armed."""
        self.dead = False
        self.faults.clear()

    def _fail(self, fault: Fault, operation: Operation) -> int | None:
        match fault.action:
            case "error":
                self._answer(operation, "error", fault.errno)
            case "short":
                operation.data = operation.data[: fault.keep_bytes]
                operation.size = fault.keep_bytes
                self._complete(operation, "short")
            case "delay":
                self.held.append(operation)
                return fault.delay_ms
            case "hang":
                self._note(operation, "hangs")
                self.held.append(operation)
            case "cut":
                self.ready.append(operation)
                self.cut(fault.survive, fault.seed)
            case _:
                self._answer(operation, "unknown fault", EIO)
        return None

    def _complete(self, operation: Operation, how: str) -> None:
        payload = b""
        match operation.op:
            case "read":
                payload = self.cache.read(operation.position, operation.size)
            case "write" if operation.durable:
                self.cache.write_through(operation.position, operation.data)
            case "write":
                self.cache.write(operation.position, operation.data)
            case "sync":
                self.cache.flush(operation.mark)
        self._note(operation, how)
        operation.reply(0, payload)

    def _answer(self, operation: Operation, how: str, error: int) -> None:
        self._note(operation, how)
        operation.reply(error, b"")

    def _note(self, operation: Operation, how: str) -> None:
        if operation.op != "read" and len(self.journal) < self.MAX_JOURNAL:
            self.journal.append((operation.op, operation.position, operation.size, how))


EIO = 5
