"""Cuts what an object is made of into the parts of an upload, and reads a part as a file. Pure.

S3 charges for each part as for a whole object, so a large object is cut into no more parts than are
sent side by side. Requests can be that large since their bytes are joined only as they are sent:
however large it is, a request takes one step of memory.
"""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Final, Generic, TypeVar

from headrace.storage.ports import Buffer

MIB: Final = 1024 * 1024
MAX_PARTS: Final = 4  # of one object that is all here, all of them inflight at once
MAX_PART_BYTES: Final = 5 * 1024 * MIB  # S3's own limit
STEP_BYTES: Final = MIB  # joined at a time: large enough for few system calls
SEEK_SET: Final = 0  # as files have them
SEEK_END: Final = 2

_P = TypeVar("_P")


class AbandonedError(Exception):
    """The upload is not needed any more."""


def part_bytes_for(size_bytes: int, min_part_bytes: int) -> int:
    """Return the size of all parts but the last of an object of so many bytes."""
    return min(MAX_PART_BYTES, max(min_part_bytes, -(-size_bytes // MAX_PARTS)))


def cut(buffers: Sequence[Buffer], part_bytes: int) -> Iterator[list[Buffer]]:
    """Yield the buffers of each part; one that lies across a border is cut, not copied."""
    return Cutter[Buffer](part_bytes, len, split_buffer).all(buffers)


async def cut_stream(
    chunks: AsyncIterable[Sequence[Buffer]], part_bytes: int
) -> AsyncIterator[list[Buffer]]:
    """As `cut`, of what comes in chunks; holds the part that is not yet full."""
    cutter = Cutter[Buffer](part_bytes, len, split_buffer)
    async for buffers in chunks:
        for part in cutter.full(buffers):
            yield part
    if cutter.part:
        yield cutter.part


def split_buffer(buffer: Buffer, at: int) -> tuple[Buffer, Buffer]:
    """Both parts of a buffer, not copied."""
    view = memoryview(buffer)
    return view[:at], view[at:]


class Cutter(Generic[_P]):
    """Fills one part after the other with pieces, of which it knows the size and how to split them."""

    def __init__(
        self,
        part_bytes: int,
        size_of: Callable[[_P], int],
        split: Callable[[_P, int], tuple[_P, _P]],
    ) -> None:
        self._part_bytes = self._room = part_bytes
        self._size_of = size_of
        self._split = split
        self.part: list[_P] = []  # that is not yet full

    def all(self, pieces: Iterable[_P]) -> Iterator[list[_P]]:
        """Take the only pieces there are; yield every part."""
        yield from self.full(pieces)
        if self.part:
            yield self.part

    def full(self, pieces: Iterable[_P]) -> Iterator[list[_P]]:
        """Take pieces; yield the parts that they fill."""
        for piece in pieces:
            rest, size_bytes = piece, self._size_of(piece)
            while size_bytes >= self._room:
                first, rest = self._split(rest, self._room)
                size_bytes -= self._room
                part = [*self.part, first]
                self.part, self._room = [], self._part_bytes
                yield part
            if size_bytes:
                self.part.append(rest)
                self._room -= size_bytes


class PartBody:
    """A part as the file that an HTTP client sends, again from its beginning if need be.

    Read in another thread than the one that may `abandon` it.
    """

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self._buffers = buffers
        self._size_bytes = sum(map(len, buffers))
        self._next = 0
        self._position = 0
        self._is_abandoned = False

    def __len__(self) -> int:
        return self._size_bytes

    def abandon(self) -> None:
        """Let no more be read, so that the thread that sends it comes to an end."""
        self._is_abandoned = True

    def tell(self) -> int:
        """Bytes read so far."""
        return self._position

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        """Go to the beginning or the end; clients ask for nothing else.

        Raises:
            ValueError: it is to be anywhere else.
        """
        if offset or whence not in (SEEK_SET, SEEK_END):
            raise ValueError(f"cannot seek to {offset} from {whence}")
        at_end = whence == SEEK_END
        self._next = len(self._buffers) if at_end else 0
        self._position = self._size_bytes if at_end else 0
        return self._position

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, about `STEP_BYTES` of them for any `size`; at the end none.

        Raises:
            AbandonedError: see `abandon`.
        """
        del size  # clients ask for 16 KiB and take what they get
        if self._is_abandoned:
            raise AbandonedError
        step: list[Buffer] = []
        step_bytes = 0
        while step_bytes < STEP_BYTES and self._next < len(self._buffers):
            step.append(self._buffers[self._next])
            step_bytes += len(step[-1])
            self._next += 1
        self._position += step_bytes
        return b"".join(step)
