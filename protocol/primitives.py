"""Bounded reading of Kafka's primitive types, and the few writers that hand-made codecs share.

Nothing here trusts a length: a read that would leave the buffer raises `ProtocolError` before
anything is allocated, and all arrays of one message together may hold `ARRAY_ELEMENTS_MAX`
elements, because a two-byte element on the wire becomes a Python object of a hundred bytes.

| type | bytes | layout |
|---|---|---|
| uvarint | 1 to 5 | 7 bits per byte, least significant first, high bit: more follows |
| tagged fields | 1.. | uvarint count, then per field uvarint tag, uvarint size, `size` bytes |

Source: KIP-482, and the protocol guide of Apache Kafka ("Protocol Primitive Types").
"""

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from protocol.errors import ProtocolError

# A Fetch of every partition of a large cluster names some ten thousands; at a few hundred bytes
# per decoded element this keeps one hostile request below 100 MB.
ARRAY_ELEMENTS_MAX: Final = 262_144

_UVARINT_LAST_SHIFT: Final = 28  # the fifth byte carries bits 28 to 31


def read_uvarint(data: memoryview, position: int) -> tuple[int, int]:
    """Return the value at `position` and the position behind it.

    Raises:
        ProtocolError: the value does not fit 32 bits, or the buffer ends inside of it.
    """
    value = shift = 0
    try:
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > _UVARINT_LAST_SHIFT:
                raise ProtocolError("varint is longer than five bytes")
    except IndexError:
        raise ProtocolError("buffer ends inside a varint") from None
    if value > 0xFFFF_FFFF:
        raise ProtocolError("varint exceeds 32 bits")
    return value, position


def skip_tagged_fields(data: memoryview, position: int) -> int:
    """Return the position behind the tagged fields that start at `position`.

    Raises:
        ProtocolError: they are malformed or leave the buffer.
    """
    count, position = read_uvarint(data, position)
    for _ in range(count):
        _, position = read_uvarint(data, position)
        size, position = read_uvarint(data, position)
        position += size
        if position > len(data):
            raise ProtocolError("tagged field leaves the buffer")
    return position


def encode_uvarint(value: int) -> bytes:
    """Encode an unsigned 32-bit integer."""
    if value < 0x80:
        return _ONE_BYTE[value]
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


_ONE_BYTE: Final = tuple(bytes((value,)) for value in range(0x80))


class Reader:
    """A position in a message that is being decoded, and what it may still allocate."""

    __slots__ = ("data", "elements_left", "position")

    def __init__(self, data: memoryview, elements_left: int = ARRAY_ELEMENTS_MAX) -> None:
        self.data = data
        self.position = 0
        self.elements_left = elements_left

    def uvarint(self) -> int:
        """Read an unsigned varint."""
        data, position = self.data, self.position
        if position < len(data) and data[position] < 0x80:
            self.position = position + 1
            return data[position]
        value, self.position = read_uvarint(data, position)
        return value

    def fixed(self, layout: Struct) -> tuple[Any, ...]:
        """Read the fields of a fixed layout."""
        start = self.position
        end = start + layout.size
        if end > len(self.data):
            raise ProtocolError("buffer ends inside a field")
        self.position = end
        return layout.unpack_from(self.data, start)

    def take(self, size: int) -> memoryview:
        """Return the next `size` bytes, not copied."""
        start = self.position
        end = start + size
        if size < 0 or end > len(self.data):
            raise ProtocolError("field leaves the buffer")
        self.position = end
        return self.data[start:end]

    def array(
        self, read: Callable[["Reader"], Any], count: int, element_bytes_min: int
    ) -> list[Any]:
        """Read `count` elements, each of which takes at least `element_bytes_min` bytes."""
        if count * element_bytes_min > len(self.data) - self.position:
            raise ProtocolError("array is longer than what is left of the message")
        self.elements_left -= count
        if self.elements_left < 0:
            raise ProtocolError("message holds too many array elements")
        return [read(self) for _ in range(count)]

    def tagged_fields(self, known: dict[int, Callable[["Reader"], Any]]) -> dict[int, Any]:
        """Read the fields with a known tag, each from exactly its own bytes; skip the others."""
        values: dict[int, Any] = {}
        for _ in range(self.uvarint()):
            tag = self.uvarint()
            field = Reader(self.take(self.uvarint()), self.elements_left)
            read = known.get(tag)
            if read is not None:
                values[tag] = read(field)
                self.elements_left = field.elements_left
                if field.position != len(field.data):
                    raise ProtocolError(f"tagged field {tag} has bytes left over")
        return values
