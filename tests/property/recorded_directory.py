"""A directory whose every change is noted, and all that a power cut may leave of it.

The code under test runs on real files; `os` is watched. What is certain after a cut is what the last
sync of a file, or of the directory, has covered. Of what came later any part may be there: names
created, moved and deleted in any combination, writes whole, half, or as zeros. This is weaker than
what file systems that keep a journal promise.
"""

import itertools
import os
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from unittest import mock

MAX_NAMES_PENDING = 6  # beyond, not every combination is made
NOTHING, WHOLE, HALF, HOLE, SECOND_HALF, NOT_THE_END, THREE_QUARTERS = range(7)
KINDS_OF_SEVERAL = (NOTHING, WHOLE, HALF, NOT_THE_END)
MAX_WRITES_PENDING = 3  # of one file; beyond, only those up to one of them, which is torn, are left


class RecordedDirectory:
    """One flat directory."""

    def __init__(self, path):
        self.path = Path(path)
        self._descriptors = {}  # of our files: -> number of the file, or "directory"
        self._names = {}  # as a running process sees them: name -> number of the file
        self._numbers = count(1)
        self._durable_names = {}
        self._pending_names = []  # ("set", name, number) or ("move", old, new, number) or ("drop", name)
        self._durable = {}  # number of the file -> bytes
        self._pending = {}  # number of the file -> [(position, bytes) or size]
        self.changes = 0
        self.on_change = lambda: None

    @classmethod
    def of(cls, files, path):
        """A directory of which all is durable."""
        made = cls(path)
        for name, content in files.items():
            number = next(made._numbers)
            made._names[name] = made._durable_names[name] = number
            made._durable[number], made._pending[number] = content, []
        made.lay_out(path)
        return made

    def killed(self):
        """Note all as it is now: the process ends here, and the kernel keeps what was done."""
        other = RecordedDirectory(self.path)
        other._names, other._durable_names = dict(self._names), dict(self._durable_names)
        other._pending_names, other._durable = list(self._pending_names), dict(self._durable)
        other._pending = {number: list(writes) for number, writes in self._pending.items()}
        other._numbers = count(max(self._names.values(), default=0) + 1_000)
        return other

    def lay_out(self, path):
        """Make the files of what was noted, in another directory."""
        self.path = Path(path)
        self.path.mkdir()
        for name, number in self._names.items():
            (self.path / name).write_bytes(self._content(number, self._pending[number]))

    @contextmanager
    def watching(self):
        """Watch `os`, of which each function here is called through the module."""
        real = {name: getattr(os, name) for name in ("open", "pwrite", "write", "close")}
        real |= {name: getattr(os, name) for name in ("replace", "unlink")}
        with mock.patch.multiple(
            os,
            open=lambda *args, **options: self._open(real["open"], *args, **options),
            pwrite=lambda *args: self._pwrite(real["pwrite"], *args),
            write=lambda *args: self._write(real["write"], *args),
            close=lambda descriptor: self._close(real["close"], descriptor),
            replace=lambda old, new: self._replace(real["replace"], old, new),
            unlink=lambda path: self._unlink(real["unlink"], path),
        ):
            yield self

    def sync(self, descriptor):
        """What the code under test calls for fsync."""
        self._change()
        number = self._descriptors[descriptor]
        if number == "directory":
            self._durable_names, self._pending_names = dict(self._names), []
        else:
            self._durable[number] = self._content(number, self._pending[number])
            self._pending[number] = []

    def states(self):
        """Yield every directory that a power cut may leave now, as {name: bytes}, each once."""
        seen = set()
        for names in self._names_left():
            files = [self._contents_left(name, number) for name, number in names.items()]
            for contents in itertools.product(*files):
                state = dict(zip(names, contents, strict=True))
                key = tuple(sorted(state.items()))
                if key not in seen:
                    seen.add(key)
                    yield state

    def _names_left(self):
        pending = self._pending_names
        if len(pending) <= MAX_NAMES_PENDING:
            picks = itertools.product((False, True), repeat=len(pending))
        else:
            ordinals = range(len(pending))
            picks = [[it < end for it in ordinals] for end in range(len(pending) + 1)]
            picks += [[it != lost for it in ordinals] for lost in ordinals]
            picks += [[it == alone for it in ordinals] for alone in ordinals]
        for pick in picks:
            names = dict(self._durable_names)
            for change, happened in zip(pending, pick, strict=True):
                if happened:
                    _apply(names, change)
            yield names

    def _contents_left(self, name, number):
        if name.endswith(".tmp"):
            return [b"half"]  # nobody may look into it
        pending = self._pending[number]
        if not pending:
            return [self._durable[number]]
        found = []
        for pick in _picks(len(pending)):
            writes = []
            for kind, write in zip(pick, pending, strict=True):
                writes += _left_of(write, kind, len(self._durable[number]))
            found.append(self._content(number, writes))
        return sorted(set(found))

    def _content(self, number, writes):
        content = bytearray(self._durable[number])
        for position, data in writes:
            if position is None:
                del content[data:]
            else:
                content += bytes(max(0, position + len(data) - len(content)))
                content[position : position + len(data)] = data
        return bytes(content)

    def _change(self):
        self.on_change()
        self.changes += 1

    def _ours(self, path):
        path = Path(path)
        return path.name if path.parent == self.path else None

    def _open(self, real, path, flags, *args, **options):
        name = self._ours(path)
        if Path(path) == self.path:
            descriptor = real(path, flags, *args, **options)
            self._descriptors[descriptor] = "directory"
            return descriptor
        if name is None or name == "lock":
            return real(path, flags, *args, **options)
        if flags & os.O_CREAT and name not in self._names:
            self._change()
            number = next(self._numbers)
            self._names[name] = number
            self._durable[number], self._pending[number] = b"", []
            self._pending_names.append(("set", name, number))
        elif flags & os.O_TRUNC:
            self._change()
            self._pending[self._names[name]].append((None, 0))
        descriptor = real(path, flags, *args, **options)
        self._descriptors[descriptor] = self._names[name]
        return descriptor

    def _pwrite(self, real, descriptor, data, position):
        if descriptor in self._descriptors:
            self._change()
            self._pending[self._descriptors[descriptor]].append((position, bytes(data)))
        return real(descriptor, data, position)

    def _write(self, real, descriptor, data):
        if descriptor in self._descriptors:
            self._change()
            position = os.lseek(descriptor, 0, os.SEEK_CUR)
            self._pending[self._descriptors[descriptor]].append((position, bytes(data)))
        return real(descriptor, data)

    def _close(self, real, descriptor):
        self._descriptors.pop(descriptor, None)
        real(descriptor)

    def _replace(self, real, old, new):
        self._change()
        change = ("move", self._ours(old), self._ours(new), self._names[self._ours(old)])
        _apply(self._names, change)
        self._pending_names.append(change)
        real(old, new)

    def _unlink(self, real, path):
        if not Path(path).exists():
            raise FileNotFoundError(path)
        self._change()
        change = ("drop", self._ours(path))
        _apply(self._names, change)
        self._pending_names.append(change)
        real(path)


def _apply(names, change):
    if change[0] == "set":
        names[change[1]] = change[2]
    elif change[0] == "move":
        names.pop(change[1], None)
        names[change[2]] = change[3]
    else:
        names.pop(change[1], None)


def _picks(number):
    """Combinations of what may be left of so many writes."""
    if number == 1:
        return [(kind,) for kind in range(7)]
    if number <= MAX_WRITES_PENDING:
        return itertools.product(KINDS_OF_SEVERAL, repeat=number)
    return [
        (*(WHOLE for _ in range(torn)), kind, *(NOTHING for _ in range(number - torn - 1)))
        for torn in range(number)
        for kind in KINDS_OF_SEVERAL
    ]


def _left_of(write, kind, size):
    """What is left of one write; behind the end that the file had, a hole reads as zeros."""
    position, data = write
    if kind == NOTHING:
        return []
    if kind == WHOLE or position is None:
        return [write]
    hole_at = max(position, size)
    hole = (hole_at, bytes(max(0, position + len(data) - hole_at)))
    half = len(data) // 2
    return {
        HALF: [(position, data[:half])],
        HOLE: [hole],
        SECOND_HALF: [hole, (position + half, data[half:])],
        NOT_THE_END: [(position, data[:-1])],
        THREE_QUARTERS: [hole, (position, data[: half + half // 2])],
    }[kind]
