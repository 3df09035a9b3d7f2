"""What the generated codecs write fields with. Pure.

A message is written into one `bytearray`; a large one is cut off in pieces, see `Output`. `c_` stands for the compact
encodings of flexible versions.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from struct import Struct, pack
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

from headrace.protocol.errors import ProtocolError
from headrace.protocol.primitives import STEP_ELEMENTS, UUID_ZERO_BYTES, encode_uvarint

# What librdkafka accepts by default (`receive.message.max.bytes`).
MAX_ANSWER_BYTES: Final = 100_000_000
PIECE_BYTES: Final = 128 * 1024  # a piece is cut off at the first element that ends beyond it
MAX_RUNS_KEPT: Final = 256  # of each kind of struct with arrays
MAX_KEPT_COUNT: Final = 16  # of the elements of each array in a run that is kept
_MAX_BYTE_COUNT: Final = 126  # a compact count above takes more than a byte
_NULL: Final = b"\xff\xff\xff\xff"

T_co = TypeVar("T_co", covariant=True)


class AnswerTooLargeError(ProtocolError):
    """An answer would exceed its bound."""


class EncodedElement(bytes):
    """An element of an array of structs that has been encoded before, for the version of the message."""

    __slots__ = ()


class MadeWhenEncoded(Collection[T_co], Generic[T_co]):
    """An array of structs that are made one by one, when they are encoded."""

    __slots__ = ("_make", "_sources")

    def __init__(self, make: Callable[..., T_co], *sources: Sequence[Any]) -> None:
        """Call `make` with the first item of each source, the second, ...; the sources must not change."""
        self._make = make
        self._sources = sources

    def __len__(self) -> int:
        return len(self._sources[0])

    def __iter__(self) -> Iterator[T_co]:
        return map(self._make, *self._sources)

    def __contains__(self, item: object) -> bool:
        return any(item == made for made in self)


class Output:
    """What has been written of one message."""

    __slots__ = ("_elements_of_step", "_max_bytes", "_pieces", "_size_bytes", "buffer")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._size_bytes = 0  # of the pieces
        self._elements_of_step = 0
        self.buffer = bytearray()

    def end(self) -> list[bytes]:
        """Return the pieces of the whole message.

        Raises:
            AnswerTooLargeError: it exceeds its bound.
        """
        self._check()
        self._cut()
        return self._pieces

    def _check(self) -> None:
        if self._size_bytes + len(self.buffer) > self._max_bytes:
            raise AnswerTooLargeError(f"the answer exceeds {self._max_bytes} bytes")

    def _cut(self) -> None:
        self._pieces.append(bytes(self.buffer))
        self._size_bytes += len(self.buffer)
        self.buffer.clear()

    def add(self, encoded: EncodedElement) -> None:
        """Add what has been encoded before; a large one becomes a piece as it is."""
        if len(encoded) < PIECE_BYTES:
            self.buffer += encoded
            return
        self._cut()
        self._pieces.append(encoded)
        self._size_bytes += len(encoded)

    def elements_ended(self, count: int) -> bool:
        """Count elements; True at the end of a step.

        Raises:
            AnswerTooLargeError: there is no room for them.
        """
        self._check()
        if len(self.buffer) >= PIECE_BYTES:
            self._cut()
        self._elements_of_step += count
        if self._elements_of_step < STEP_ELEMENTS:
            return False
        self._elements_of_step %= STEP_ELEMENTS
        return True


class Runs(dict[tuple[int, ...], Callable[..., bytes]]):
    """What packs a run of fields at once, by the lengths of the arrays of numbers among them.

    A part of a run is the format of its fixed fields; `Bi` is a compact array of int32, `ii` one behind an int32.
    """

    def __init__(self, *parts: str, is_array: Sequence[bool]) -> None:
        super().__init__()
        self._parts = tuple(zip(parts, is_array, strict=True))

    def __missing__(self, counts: tuple[int, ...]) -> Callable[..., bytes]:
        if max(counts) > _MAX_BYTE_COUNT:
            return self._pack_long
        left = iter(counts)
        packed = (
            f"{part[0]}{next(left)}{part[1]}" if is_array else part
            for part, is_array in self._parts
        )
        made = Struct(">" + "".join(packed)).pack
        if max(counts) <= MAX_KEPT_COUNT and len(self) < MAX_RUNS_KEPT:
            self[counts] = made
        return made

    def _pack_long(self, *values: Any) -> bytes:
        out = bytearray()
        at = 0
        for part, is_array in self._parts:
            if not is_array:
                layout = Struct(">" + part)
                fields = len(layout.unpack(bytes(layout.size)))
                out += layout.pack(*values[at : at + fields])
                at += fields
                continue
            written = values[at]
            count = written - 1 if part[0] == "B" else written
            out += encode_uvarint(written) if part[0] == "B" else pack(">i", written)
            out += pack(f">{count}{part[1]}", *values[at + 1 : at + 1 + count])
            at += 1 + count
        return bytes(out)


def uuid_bytes(value: UUID | None) -> bytes:
    """Encode a UUID; None is zeros."""
    return UUID_ZERO_BYTES if value is None else value.bytes


def write_uvarint(out: bytearray, value: int) -> None:
    """Write an unsigned varint."""
    if value < 0x80:
        out.append(value)
    else:
        out += encode_uvarint(value)


def write_string(out: bytearray, value: str) -> None:
    """Write a string behind an int16."""
    encoded = value.encode()
    out += pack(">h", len(encoded))
    out += encoded


def write_null_string(out: bytearray, value: str | None) -> None:
    """Write a string behind an int16, or null."""
    if value is None:
        out += b"\xff\xff"
    else:
        write_string(out, value)


def write_c_string(out: bytearray, value: str) -> None:
    """Write a compact string."""
    encoded = value.encode()
    write_uvarint(out, len(encoded) + 1)
    out += encoded


def write_c_null_string(out: bytearray, value: str | None) -> None:
    """Write a compact string, or null."""
    if value is None:
        out.append(0)
    else:
        write_c_string(out, value)


def write_blob(out: bytearray, value: bytes) -> None:
    """Write bytes behind an int32."""
    out += pack(">i", len(value))
    out += value


def write_null_blob(out: bytearray, value: bytes | None) -> None:
    """Write bytes behind an int32, or null."""
    if value is None:
        out += _NULL
    else:
        write_blob(out, value)


def write_c_blob(out: bytearray, value: bytes) -> None:
    """Write compact bytes."""
    write_uvarint(out, len(value) + 1)
    out += value


def write_c_null_blob(out: bytearray, value: bytes | None) -> None:
    """Write compact bytes, or null."""
    if value is None:
        out.append(0)
    else:
        write_c_blob(out, value)


def write_count(out: bytearray, count: int) -> None:
    """Write how many elements an array has; -1 for null."""
    out += pack(">i", count)


def write_c_count(out: bytearray, count: int) -> None:
    """Write how many elements a compact array has; -1 for null."""
    write_uvarint(out, count + 1)


def write_tagged(out: bytearray, fields: Sequence[tuple[int, bytearray]]) -> None:
    """Write the tagged fields that are there, in the order of their tags."""
    write_uvarint(out, len(fields))
    for tag, field in fields:
        write_uvarint(out, tag)
        write_uvarint(out, len(field))
        out += field
