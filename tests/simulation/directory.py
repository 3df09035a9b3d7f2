"""A directory in memory that can lose power: what was not synced may then be gone, in whole or in part, in any order.

`SimulatedDirectory` is a `headrace.metadata.log.directory.Directory` on it, for one process, so production code runs
unchanged, without a thread: its calls are made at once, and each operation takes virtual time. What an operation
changes has happened only when its time is over, so a process that ends meanwhile, or a power cut, finds a call half
done.

Certain after a power cut is what the last sync of a file, or of the directory, has covered. Of what came later any
part may be there: names that were created, moved and removed in any combination, writes whole, torn at sectors, as
zeros, or not at all. This is weaker than what file systems that keep a journal promise. After a sync of a file that
failed its pages count as clean: part of them is on the disk, and no later sync writes the others, unless they are
written again. Names are not forgotten so: a later sync of the directory covers them.
"""

import asyncio
import errno
import os
import random
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from tests.simulation.torn_writes import EMPTIED, Write, content_after, put, torn

PAGE_BYTES = 4096
SHORT_SHARE = 0.01  # of the time of a sync, for each other operation

T = TypeVar("T")


class Hang(BaseException):
    """Raised by `before`: the disk does not answer any more, and whoever waits for it does so for ever."""


class ProcessEnded(BaseException):
    """The process that called has ended: nothing that it still does has an effect, and it is told nothing."""


class Operation(NamedTuple):
    """What a process asks the disk for."""

    kind: str  # the method of `Directory` or `File`
    name: str  # of the file; empty: the directory

    @property
    def changes(self) -> bool:
        """Whether something is different afterwards."""
        return self.kind in {"make", "create", "lock", "replace", "unlink", "write", "sync"}


# Changes of names


class Named(NamedTuple):
    """A file got a name; the one that had it is gone."""

    name: str
    number: int


class Moved(NamedTuple):
    """A file got another name."""

    old: str
    name: str
    number: int


class Removed(NamedTuple):
    """A name is gone."""

    name: str


NameChange = Named | Moved | Removed


def apply_name(names: dict[str, int], change: NameChange) -> None:
    """Change names as told."""
    match change:
        case Named(name, number):
            names[name] = number
        case Moved(old, name, number):
            if names.get(old) == number:
                del names[old]
            names[name] = number
        case Removed(name):
            names.pop(name, None)


# Changes of contents


class Written(NamedTuple):
    """Bytes of a file, or `EMPTIED`."""

    number: int
    write: Write


class Synced(NamedTuple):
    """A file, or with number 0 the directory, was synced; with a seed: this failed for a file."""

    number: int
    failed_seed: int | None = None


Change = NameChange | Written | Synced


@dataclass(slots=True)
class FileState:
    """One file: what processes read, what is durable, and what was written since."""

    cache: bytearray = field(default_factory=bytearray)
    durable: bytearray = field(default_factory=bytearray)
    pending: list[Write] = field(default_factory=list)

    def copy(self) -> "FileState":
        return FileState(bytearray(self.cache), bytearray(self.durable), list(self.pending))

    def write(self, write: Write) -> None:
        put(self.cache, write)
        self.pending.append(write)

    def sync(self) -> None:
        """Write the size, and each page that was written to since: all of it, as it is now."""
        del self.durable[0 if EMPTIED in self.pending else len(self.cache) :]
        self.durable += bytes(len(self.cache) - len(self.durable))
        for position, data in self.pending:
            begin = max(0, position) // PAGE_BYTES * PAGE_BYTES
            end = min(len(self.cache), -(-(position + len(data)) // PAGE_BYTES) * PAGE_BYTES)
            self.durable[begin:end] = self.cache[begin:end]
        self.pending.clear()

    def fail_sync(self, rng: random.Random) -> None:
        """Write some of it, and forget that there is more to write."""
        self.durable = self.left(rng)
        self.pending.clear()

    def left(self, rng: random.Random) -> bytearray:
        """Return what a power cut may leave."""
        share = rng.choice((0.0, 0.5, 1.0))
        size = len(self.durable)
        kept = [part for write in self.pending for part in torn(rng, write, size, share)]
        return content_after(self.durable, kept)


class Kernel:
    """What the changes up to some moment have made."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}  # as processes see them: -> number of the file
        self.durable_names: dict[str, int] = {}
        self.pending_names: list[NameChange] = []
        self.files: dict[int, FileState] = {}

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> "Kernel":
        """Make one whose files are all durable."""
        made = cls()
        for number, (name, content) in enumerate(files.items(), start=1):
            made.names[name] = made.durable_names[name] = number
            made.files[number] = FileState(bytearray(content), bytearray(content))
        return made

    def copy(self) -> "Kernel":
        made = Kernel()
        made.names, made.durable_names = dict(self.names), dict(self.durable_names)
        made.pending_names = list(self.pending_names)
        made.files = {number: state.copy() for number, state in self.files.items()}
        return made

    def apply(self, change: Change) -> None:
        match change:
            case Written(number, write):
                self.files[number].write(write)
            case Synced(0, None):
                self.durable_names, self.pending_names = dict(self.names), []
            case Synced(number, None):
                self.files[number].sync()
            case Synced(number, seed):
                self.files[number].fail_sync(random.Random(seed))
            case Named() | Moved() | Removed():
                if isinstance(change, Named):
                    self.files.setdefault(change.number, FileState())
                apply_name(self.names, change)
                self.pending_names.append(change)

    def contents(self) -> dict[str, bytes]:
        """Return what processes see."""
        return {name: bytes(self.files[it].cache) for name, it in self.names.items()}

    def names_left(self, rng: random.Random) -> dict[str, int]:
        """Return the names that a power cut may leave."""
        share = rng.choice((0.0, 0.5, 1.0))
        names = dict(self.durable_names)
        for change in self.pending_names:
            if rng.random() < share:
                apply_name(names, change)
        return names

    def left(self, rng: random.Random) -> dict[str, bytes]:
        """Return the files that a power cut may leave."""
        return {
            name: bytes(self.files[number].left(rng))
            for name, number in self.names_left(rng).items()
        }

    def forget(self, open_numbers: Counter[int]) -> None:
        """Drop the files that nothing leads to any more."""
        known = {*self.names.values(), *self.durable_names.values(), *open_numbers}
        known |= {it.number for it in self.pending_names if not isinstance(it, Removed)}
        for number in self.files.keys() - known:
            del self.files[number]


class _UnderWay(NamedTuple):
    """A change whose operation is not over yet."""

    at_s: float
    process: "SimulatedDirectory"
    change: Change


class SimulatedDirectoryDisk:
    """What survives the processes that use it; `open` is for each of them.

    `before` is called with each operation before it has any effect. It may raise an OSError, with which the operation
    fails, `Hang`, or, after `end_process` or `cut_power`, `ProcessEnded`.
    """

    def __init__(
        self,
        rng: random.Random | None = None,
        *,
        latency_s: float = 0.0,
        capacity_bytes: int | None = None,
    ) -> None:
        """Make an empty disk.

        Args:
            rng: decides what is lost, and how long things take.
            latency_s: of a sync at most, in the time of the loop; 0: everything happens at once.
            capacity_bytes: of the contents of all files together; None: no limit.
        """
        self.rng = rng or random.Random(0)
        self.latency_s = latency_s
        self.capacity_bytes = capacity_bytes
        self.operations = 0
        self.exists = False
        self.before: Callable[[Operation], None] = lambda _: None
        self.locks: dict[str, SimulatedFile] = {}
        self.open_numbers: Counter[int] = Counter()
        self._processes: list[SimulatedDirectory] = []
        self._next_number = 0
        self._under_way: deque[_UnderWay] = deque()
        self.happened = self.seen = Kernel()
        self._use(self.happened)

    @classmethod
    def of(
        cls, files: Mapping[str, bytes], rng: random.Random | None = None
    ) -> "SimulatedDirectoryDisk":
        """Make one that holds these files durably."""
        made = cls(rng)
        made.exists = True
        made._use(Kernel.of(files))
        return made

    def open(self, path: Path) -> "SimulatedDirectory":
        """Give it to a process."""
        process = SimulatedDirectory(self, path)
        self._processes.append(process)
        return process

    def contents(self) -> dict[str, bytes]:
        """Return the files as the processes see them."""
        return self.seen.contents()

    def killed(self) -> "SimulatedDirectoryDisk":
        """Return what this would be if its processes ended now; this one goes on."""
        other = SimulatedDirectoryDisk(random.Random(self.rng.random()), latency_s=self.latency_s)
        other.exists = self.exists
        self.settle()
        other._use(self.happened.copy())
        return other

    def end_process(self, process: "SimulatedDirectory | None" = None) -> None:
        """End a process, or all: its locks go; what it has done stays, in the memory of the kernel if not synced."""
        ended = [process] if process is not None else list(self._processes)
        self.settle()
        for one in ended:
            one.has_ended = True
            self.closed(one)
        if any(it.process.has_ended for it in self._under_way):
            left = [it for it in self._under_way if not it.process.has_ended]
            self._use(self.happened)
            for under_way in left:
                self.seen.apply(under_way.change)
            self._under_way.extend(left)

    def cut_power(self) -> None:
        """End all processes, and lose what was not synced."""
        self.settle()
        self.end_process()
        self._use(Kernel.of(self.happened.left(self.rng)))

    # For the processes

    def closed(self, process: "SimulatedDirectory") -> None:
        """Forget a process: its locks and open files are gone."""
        for name in [name for name, file in self.locks.items() if file.process is process]:
            del self.locks[name]
        for number in process.handles:
            self.open_numbers[number] -= 1
        process.handles.clear()
        self.open_numbers += Counter()
        if process in self._processes:
            self._processes.remove(process)

    def change(self, process: "SimulatedDirectory", change: Change, at_s: float) -> None:
        """Make a change, which has happened at that time."""
        self.seen.apply(change)
        if self.seen is not self.happened:
            self._under_way.append(_UnderWay(at_s, process, change))
        elif isinstance(change, Synced) and not change.number:
            self.seen.forget(self.open_numbers)

    def settle(self) -> None:
        """Let happen what is over by now."""
        if not self._under_way:
            return
        now_s = _now_s()
        self._under_way = deque(sorted(self._under_way, key=lambda it: it.at_s))
        while self._under_way and self._under_way[0].at_s <= now_s:
            self.happened.apply(self._under_way.popleft().change)
        if not self._under_way:
            self.happened.forget(self.open_numbers)
            self.seen.forget(self.open_numbers)

    def new_number(self) -> int:
        """Return the number of a new file."""
        self._next_number += 1
        return self._next_number

    def free_bytes(self) -> int:
        """Return how much can be written."""
        if self.capacity_bytes is None:
            return 1 << 62
        used = {*self.seen.names.values(), *self.open_numbers}
        return max(0, self.capacity_bytes - sum(len(self.seen.files[it].cache) for it in used))

    def _use(self, kernel: Kernel) -> None:
        self._next_number = max(self._next_number, *kernel.files, 0)
        self._under_way.clear()
        self.happened = kernel
        self.seen = kernel.copy() if self.latency_s else kernel


class SimulatedDirectory:
    """The directory as one process uses it."""

    def __init__(self, disk: SimulatedDirectoryDisk, path: Path) -> None:
        self.disk = disk
        self.path = path
        self.has_ended = False
        self.handles: list[int] = []  # numbers of the open files
        self._is_closed = False
        self._is_busy = False
        self._jobs: deque[tuple[Callable[[], object], asyncio.Future[object]]] = deque()
        self._at_s = 0.0  # in a call: the time by which what it has done so far is over

    def make(self) -> None:
        self.begin(Operation("make", ""))
        self.disk.exists = True

    def mode(self) -> int:
        return 0o700

    def is_in_memory(self) -> bool:
        return False

    def names(self) -> list[str]:
        self._begin_inside(Operation("names", ""))
        names = list(self.disk.seen.names)
        self.disk.rng.shuffle(names)  # nobody may rely on an order
        return names

    def has(self, name: str) -> bool:
        self.begin(Operation("has", name))
        return name in self.disk.seen.names

    def open(self, name: str) -> "SimulatedFile":
        self._begin_inside(Operation("open", name))
        return SimulatedFile(self, name, self._number(name))

    def open_to_read(self, name: str) -> "SimulatedFile":
        return self.open(name)

    def create(self, name: str) -> "SimulatedFile":
        self._begin_inside(Operation("create", name))
        number = self.disk.seen.names.get(name)
        if number is None:
            number = self._name(name)
        else:
            self.change(Written(number, EMPTIED))
        return SimulatedFile(self, name, number)

    def lock(self, name: str) -> "SimulatedFile":
        self._begin_inside(Operation("lock", name))
        if name in self.disk.locks:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(self.path / name))
        number = self.disk.seen.names.get(name)
        file = SimulatedFile(self, name, self._name(name) if number is None else number)
        self.disk.locks[name] = file
        return file

    def replace(self, old: str, new: str) -> None:
        self._begin_inside(Operation("replace", new))
        self.change(Moved(old, new, self._number(old)))

    def unlink(self, name: str) -> None:
        self._begin_inside(Operation("unlink", name))
        self._number(name)
        self.change(Removed(name))

    def sync(self) -> None:
        self.sync_number(0, "")

    def run(self, blocking: Callable[[], T]) -> "asyncio.Future[T]":
        if self._is_closed:
            raise RuntimeError("the directory is closed")
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._jobs.append((blocking, future))
        self._begin_next()
        return future  # type: ignore[return-value] # what `blocking` returns

    def close(self) -> None:
        self._is_closed = True
        if not self.handles:
            self.disk.closed(self)

    # For its files

    def begin(self, operation: Operation) -> None:
        """Begin an operation.

        Raises:
            BaseException: it fails, or its process has ended.
        """
        if self.has_ended:
            raise ProcessEnded
        self.disk.operations += 1
        if self.disk.latency_s:
            share = 1.0 if operation.kind == "sync" else SHORT_SHARE
            self._at_s += self.disk.latency_s * share * self.disk.rng.choice((0.1, 0.3, 0.3, 1.0))
        self.disk.before(operation)

    def change(self, change: Change) -> None:
        """Make a change that is part of the operation that was begun."""
        self.disk.change(self, change, self._at_s)

    def sync_number(self, number: int, name: str) -> None:
        """Sync a file, or with number 0 the directory."""
        try:
            self.begin(Operation("sync", name))
        except OSError:
            if number:
                self.change(Synced(number, self.disk.rng.getrandbits(32)))
            raise
        self.change(Synced(number))

    def _begin_inside(self, operation: Operation) -> None:
        self.begin(operation)
        if not self.disk.exists:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path))

    def _number(self, name: str) -> int:
        number = self.disk.seen.names.get(name)
        if number is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path / name))
        return number

    def _name(self, name: str) -> int:
        number = self.disk.new_number()
        self.change(Named(name, number))
        return number

    def _begin_next(self) -> None:
        """Make the calls that wait, one after the other; each is told when its time is over."""
        while self._jobs and not self._is_busy and not self.has_ended:
            blocking, future = self._jobs.popleft()
            if future.cancelled():
                continue
            self.disk.settle()
            now_s = self._at_s = asyncio.get_running_loop().time()
            tell = self._outcome(blocking, future)
            self._is_busy = True
            if tell is None:
                return  # nobody is told
            if self._at_s > now_s:
                asyncio.get_running_loop().call_at(self._at_s, self._end, tell)
            else:
                self._is_busy = False
                tell()

    def _outcome(
        self, blocking: Callable[[], object], future: asyncio.Future[object]
    ) -> Callable[[], None] | None:
        try:
            return partial(_set, future.set_result, future, blocking())
        except (Hang, ProcessEnded):
            return None
        except Exception as error:
            return partial(_set, future.set_exception, future, error)

    def _end(self, tell: Callable[[], None]) -> None:
        if not self.has_ended:
            self._is_busy = False
            tell()
            self._begin_next()


class SimulatedFile:
    """One opening of a file."""

    def __init__(self, process: SimulatedDirectory, name: str, number: int) -> None:
        self.process = process
        self._name = name
        self._number = number
        self._is_open = True
        process.handles.append(number)
        process.disk.open_numbers[number] += 1

    def size(self) -> int:
        self.process.begin(Operation("size", self._name))
        return len(self._cache())

    def read(self, max_size: int, position: int) -> bytes:
        self.process.begin(Operation("read", self._name))
        return bytes(self._cache()[position : position + max_size])

    def write(self, data: bytes | memoryview, position: int) -> int:
        self.process.begin(Operation("write", self._name))
        size = len(self._cache())
        room = max(0, size - position) + self.process.disk.free_bytes()
        if data and not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = bytes(data[:room])
        self.process.change(Written(self._number, (position, written)))
        return len(written)

    def sync(self) -> None:
        self._cache()
        self.process.sync_number(self._number, self._name)

    def lock_name(self) -> str:
        return f"lock on {self.process.path / self._name}"

    def close(self) -> None:
        """Close it, also when the process has ended: code that cleans up runs to its end."""
        if not self._is_open:
            return
        self._is_open = False
        process = self.process
        if self._number in process.handles:
            process.handles.remove(self._number)
            process.disk.open_numbers[self._number] -= 1
            process.disk.open_numbers += Counter()
        if process.disk.locks.get(self._name) is self:
            del process.disk.locks[self._name]

    def _cache(self) -> bytearray:
        if not self._is_open:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        if self.process.has_ended:
            raise ProcessEnded
        return self.process.disk.seen.files[self._number].cache


def _set(setter: Callable[[T], None], future: asyncio.Future[object], outcome: T) -> None:
    if not future.done():
        setter(outcome)


def _now_s() -> float:
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:
        return float("inf")
