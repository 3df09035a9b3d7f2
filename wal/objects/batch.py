"""Collects the records of one object. Pure."""

from collections.abc import Callable

from headrace.wal.framing import RECORD_HEADER_BYTES, write_record
from headrace.wal.port import Appended, Buffer


class Arena:
    """Allocates memory for records, from buffers that consecutive batches share.

    So a cache that keeps a few records alive does not keep a whole batch of memory for them.
    """

    __slots__ = ("_at", "_buffer", "_buffer_bytes", "_take_buffer")

    def __init__(self, take_buffer: Callable[[int], memoryview], *, buffer_bytes: int) -> None:
        self._take_buffer = take_buffer
        self._buffer_bytes = buffer_bytes
        self._buffer = memoryview(b"")
        self._at = 0

    def take(self, size_bytes: int) -> tuple[memoryview, int]:
        """Return a buffer with room for so many bytes, and where in it they begin."""
        if size_bytes > len(self._buffer) - self._at:
            if size_bytes > self._buffer_bytes:
                return self._take_buffer(
                    size_bytes
                ), 0  # a buffer of its own; the other one stays in use
            self._buffer = self._take_buffer(self._buffer_bytes)
            self._at = 0
        at = self._at
        self._at += size_bytes
        return self._buffer, at


class Batch:
    """The records of one object, in buffers of an arena."""

    __slots__ = (
        "_buffer",
        "_end",
        "_parts",
        "_start",
        "base_offset",
        "last_record_offset",
        "length",
        "records",
    )

    def __init__(self, base_offset: int) -> None:
        self.base_offset = base_offset
        self.length = 0
        self.records = 0
        self.last_record_offset = -1
        self._parts: list[memoryview] = []
        self._buffer = memoryview(b"")
        self._start = self._end = 0  # of what is not in `_parts` yet

    @property
    def end_offset(self) -> int:
        """Logical offset behind the last record."""
        return self.base_offset + self.length

    def append(self, header: Buffer, payload: Buffer, seed: int, arena: Arena) -> Appended:
        """Add a record."""
        size = RECORD_HEADER_BYTES + len(header) + len(payload)
        buffer, at = arena.take(size)
        if buffer is not self._buffer or at != self._end:
            self._cut()
            self._buffer, self._start = buffer, at
        offset = self.base_offset + self.length
        copy = write_record(buffer, at, header, payload, offset, seed)
        self._end = at + size
        self.length += size
        self.records += 1
        self.last_record_offset = offset
        return Appended(offset, offset + size, copy, len(buffer))

    def parts(self) -> list[memoryview]:
        """Return the memory of all records, in order."""
        self._cut()
        self._buffer, self._start, self._end = memoryview(b""), 0, 0
        return self._parts

    def _cut(self) -> None:
        if self._end > self._start:
            self._parts.append(self._buffer[self._start : self._end])
