"""Bounded readers of Kafka's primitive types, and the few writers that the hand-written codecs share. Pure.

No length is trusted: a read beyond the end of the buffer raises `ProtocolError` before anything is
allocated, and all arrays of one message together may have `MAX_ARRAY_ELEMENTS` elements, because an
element of two bytes on the wire becomes a Python object of a hundred bytes. One struct or header may
have `MAX_TAGGED_FIELDS` tagged fields. A string has at most `MAX_STRING_BYTES`, as in Kafka, and is
read as Java does: bytes that are no UTF-8 become marks (U+FFFD), the string stays readable. So a name
in this process is always text that can be written again.

| type | bytes | layout |
|---|---|---|
| uvarint | 1 to 5 | 7 bits per byte, least significant first, high bit: more follows |
| tagged fields | 1.. | uvarint count, then per field uvarint tag, uvarint size, `size` bytes |

Source: KIP-482, and the protocol guide of Apache Kafka ("Protocol Primitive Types").
"""

import codecs
from collections.abc import Callable
from struct import Struct
from typing import Any, Final
from uuid import UUID

from headrace.protocol.errors import ProtocolError
from headrace.protocol.records.java_text import mark_as_java

# A client of 100,000 topics of one partition each names all of them in one request. At a few hundred bytes per decoded
# element this limits one malicious request to 100 MB, and at some microseconds each to some seconds, in steps. Apache
# Kafka 4.4 refuses a single array of more than a million.
MAX_ARRAY_ELEMENTS: Final = 210_000
# Kafka's messages have at most four in one struct, and clients send none that the version does not know. Apache Kafka
# 4.4 refuses more than 10,000.
MAX_TAGGED_FIELDS: Final = 16

# What Kafka accepts, whatever length the compact form could have.
MAX_STRING_BYTES: Final = 32_767

# A mark takes three bytes: what a longer string with bytes that are no UTF-8 becomes might not be written.
MAX_MARKED_BYTES: Final = MAX_STRING_BYTES // 3

STEP_ELEMENTS: Final = 256  # of a message that is read or written in steps: less than a millisecond

UUID_BYTES: Final = 16
UUID_ZERO_BYTES: Final = bytes(UUID_BYTES)

NO_TAGS: Final = b"\0"  # counts of tagged fields
ONE_TAG: Final = b"\x01"

_INT16: Final = Struct(">h")
_UVARINT_LAST_SHIFT: Final = 28  # the fifth byte has bits 28 to 31
STRING_AS_JAVA: Final = (
    "headrace-string-as-java"  # as `AS_JAVA`, of strings that can be written again
)


def _mark_string_as_java(error: UnicodeError) -> tuple[str, int]:
    if isinstance(error, UnicodeDecodeError) and len(error.object) > MAX_MARKED_BYTES:
        raise error
    return mark_as_java(error)


codecs.register_error(STRING_AS_JAVA, _mark_string_as_java)


def read_uvarint(data: memoryview, position: int) -> tuple[int, int]:
    """Return the value at `position` and the position after it.

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
    """Return the position after the tagged fields that start at `position`.

    Raises:
        ProtocolError: they are malformed, too many, or exceed the buffer.
    """
    count, position = read_uvarint(data, position)
    check_tagged_fields(count)
    for _ in range(count):
        _, position = read_uvarint(data, position)
        size, position = read_uvarint(data, position)
        position += size
        if position > len(data):
            raise ProtocolError("tagged field exceeds the buffer")
    return position


def check_tagged_fields(count: int) -> None:
    """Refuse more tagged fields than any struct has."""
    if count > MAX_TAGGED_FIELDS:
        raise ProtocolError(f"struct has {count} tagged fields, more than {MAX_TAGGED_FIELDS}")


def read_uuid(data: memoryview, position: int) -> UUID | None:
    """Return the UUID at `position`; None for zeros, the encoding of a missing one.

    Raises:
        ProtocolError: the buffer ends inside of it.
    """
    raw = bytes(data[position : position + UUID_BYTES])
    if len(raw) != UUID_BYTES:
        raise ProtocolError("buffer ends inside a UUID")
    return UUID(bytes=raw) if raw != UUID_ZERO_BYTES else None


def read_compact_string(data: memoryview, position: int) -> tuple[str | None, int]:
    """Return the string at `position` (None for null) and the position after it.

    Raises:
        ProtocolError: it exceeds the buffer, or is too long.
        UnicodeDecodeError: it is not UTF-8, and longer than `MAX_MARKED_BYTES`.
    """
    length, start = read_uvarint(data, position)
    if length == 0:
        return None, start
    check_string(length - 1)
    end = start + length - 1
    if end > len(data):
        raise ProtocolError("string exceeds the buffer")
    return str(data[start:end], "utf-8", STRING_AS_JAVA), end


def read_compact_non_null(data: memoryview, position: int) -> tuple[str, int]:
    """Read a string as `read_compact_string` does, where null is a `ProtocolError` too."""
    value, position = read_compact_string(data, position)
    if value is None:
        raise ProtocolError("string is null")
    return value, position


def check_string(size_bytes: int) -> None:
    """Refuse a string that is longer than any of Kafka's."""
    if size_bytes > MAX_STRING_BYTES:
        raise ProtocolError(f"string has {size_bytes} bytes, more than {MAX_STRING_BYTES}")


def check_array(count: int, bytes_left: int, min_element_bytes: int, elements_left: int) -> int:
    """Return how many array elements the message may still have after an array of `count` elements.

    Raises:
        ProtocolError: the array is null, or too long for the message or the limit.
    """
    if not 0 <= count * min_element_bytes <= bytes_left:
        raise ProtocolError(f"array of {count} elements, but only {bytes_left} bytes are left")
    if count > elements_left:
        raise ProtocolError(
            f"message has {count - elements_left} array elements more than it may have"
        )
    return elements_left - count


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


def encode_string(value: str | None) -> bytes:
    """Encode a nullable string of a message that is not flexible."""
    if value is None:
        return b"\xff\xff"
    encoded = value.encode()
    return _INT16.pack(len(encoded)) + encoded


def encode_compact_string(value: str | None) -> bytes:
    """Encode a nullable string of a flexible message."""
    if value is None:
        return b"\0"
    encoded = value.encode()
    return encode_uvarint(len(encoded) + 1) + encoded


def encode_tagged_field(tag: int, value: bytes) -> bytes:
    """Encode one tagged field; the number of fields precedes the first one."""
    return encode_uvarint(tag) + encode_uvarint(len(value)) + value


_ONE_BYTE: Final = tuple(bytes((value,)) for value in range(0x80))


class Reader:
    """The position in a message that is being decoded, and the array elements that are left."""

    __slots__ = ("data", "elements_left", "elements_of_step", "position")

    def __init__(self, data: memoryview, elements_left: int = MAX_ARRAY_ELEMENTS) -> None:
        self.data = data
        self.position = 0
        self.elements_left = elements_left
        self.elements_of_step = 0  # counted by who decodes step by step

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
        """Return a view of the next `size` bytes."""
        start = self.position
        end = start + size
        if size < 0 or end > len(self.data):
            raise ProtocolError("field exceeds the buffer")
        self.position = end
        return self.data[start:end]

    def array(
        self, read: Callable[["Reader"], Any], count: int, min_element_bytes: int
    ) -> list[Any]:
        """Read `count` elements, each of which takes at least `min_element_bytes` bytes."""
        self.begin_array(count, min_element_bytes)
        return [read(self) for _ in range(count)]

    def elements_ended(self, count: int) -> bool:
        """Count elements; True at the end of a step."""
        self.elements_of_step += count
        if self.elements_of_step < STEP_ELEMENTS:
            return False
        self.elements_of_step %= STEP_ELEMENTS
        return True

    def begin_array(self, count: int, min_element_bytes: int) -> None:
        """Count the elements of an array whose length has just been read."""
        bytes_left = len(self.data) - self.position
        self.elements_left = check_array(count, bytes_left, min_element_bytes, self.elements_left)

    def tagged_fields(self, known: dict[int, Callable[["Reader"], Any]]) -> dict[int, Any]:
        """Read the fields with a known tag, each from exactly its bytes; skip the others."""
        values: dict[int, Any] = {}
        count = self.uvarint()
        check_tagged_fields(count)
        for _ in range(count):
            tag = self.uvarint()
            field = Reader(self.take(self.uvarint()), self.elements_left)
            read = known.get(tag)
            if read is not None:
                values[tag] = read(field)
                self.elements_left = field.elements_left
                if field.position != len(field.data):
                    raise ProtocolError(f"tagged field {tag} has extra bytes")
        return values
