"""A moving view of the records of a batch, which holds one piece of the decompressed data at a time. Pure.

A walk over records does a bounded piece of work at a time, see `Slice`.
"""

from collections.abc import Callable, Generator, Iterator
from enum import Enum, auto
from typing import Final, TypeVar

from headrace.protocol.records.batch import CODEC_MASK, HEADER_BYTES, BatchHeader
from headrace.protocol.records.compression import (
    Framing,
    decompressed_pieces,
    is_one_long_call,
)
from headrace.protocol.records.errors import CorruptBatchError

SLICE_PIECES: Final = 16  # of decompressed data: 1 MiB
COPIED_BYTES: Final = 64 << 10  # up to which records are copied at once: bytes are read faster
_VARINT_BITS: Final = 32

Buffer = bytes | memoryview
_T = TypeVar("_T")


class Slice(Enum):
    """Where the next piece of work belongs."""

    LOOP = auto()
    THREAD = auto()  # it is one long call, which lets other threads run: see `in_thread`


def in_thread(call: Callable[[], _T]) -> Generator[Slice, None, _T]:
    """Make one long call in a thread, and nothing else: what follows it belongs to the loop again, errors too."""
    yield Slice.THREAD
    try:
        return call()
    finally:
        yield Slice.LOOP


class Window:
    """The piece of the (decompressed) records that is looked at."""

    # Most batches are small, and one piece: what is the same at the beginning of each is not set for each.
    data: Buffer = b""
    position = 0
    pieces_taken = 0
    _is_one_long_call = False
    _before = 0  # bytes that are not in `data` any more
    _pieces: Iterator[bytes] = iter(())
    _framing: Framing | None = None

    def __init__(self, header: BatchHeader, batch: memoryview, max_bytes: int) -> None:
        records = batch[HEADER_BYTES:]
        if header.attributes & CODEC_MASK:
            self._framing = Framing()
            self._pieces = decompressed_pieces(header.codec, records, max_bytes, self._framing)
            self._is_one_long_call = is_one_long_call(header.codec, records)
        else:
            self.data = bytes(records) if len(records) <= COPIED_BYTES else records

    def begin(self) -> Generator[Slice, None, None]:
        """Decompress what is decompressed in one long call only: to be done before anything is looked at."""
        if self._is_one_long_call:
            yield from in_thread(self.more)

    @property
    def consumed(self) -> int:
        """Bytes of the records that are passed."""
        return self._before + self.position

    @property
    def is_plain(self) -> bool:
        """Whether every client can decompress the records; known at the end only."""
        return self._framing is None or self._framing.is_plain

    def more(self) -> bool:
        """Take the next piece; False at the end."""
        piece = next(self._pieces, None)
        if piece is None:
            return False
        rest = self.data[self.position :]
        self._before += self.position
        self.data = b"".join((rest, piece)) if rest else piece
        self.position = 0
        self.pieces_taken += 1
        return True

    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        while self.position == len(self.data):
            if not self.more():
                return True
        return False

    def byte(self) -> int:
        """The next byte."""
        while self.position >= len(self.data):
            if not self.more():
                raise CorruptBatchError("records end inside a record")
        self.position += 1
        return self.data[self.position - 1]

    def varint(self, bits: int = _VARINT_BITS) -> int:
        """The next varint of at most so many bits, signed."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift >= bits:
                raise CorruptBatchError("varint is too long")
        if value >> bits:
            raise CorruptBatchError(f"varint exceeds {bits} bits")
        return (value >> 1) ^ -(value & 1)

    def skip(self, size_bytes: int) -> Generator[Slice, None, None]:
        """Pass over bytes, however many."""
        if size_bytes < 0:
            raise CorruptBatchError("record length does not match its fields")
        while size_bytes > len(self.data) - self.position:
            size_bytes -= len(self.data) - self.position
            self.position = len(self.data)
            if not self.more():
                raise CorruptBatchError("records end inside a record")
            if self.pieces_taken % SLICE_PIECES == 0:
                yield Slice.LOOP
        self.position += size_bytes
