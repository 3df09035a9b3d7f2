"""What the generated codecs read fields with. Pure.

Each method checks a length against the bytes that are there before anything is allocated. `c_` stands for the compact
encodings of flexible versions: lengths are a varint of the number plus one, and null is zero.
"""

from collections.abc import Iterator
from struct import unpack_from
from typing import Any, Final
from uuid import UUID

from headrace.protocol.errors import ProtocolError
from headrace.protocol.primitives import (
    STRING_AS_JAVA,
    UUID_ZERO_BYTES,
    Reader,
    check_string,
    check_tagged_fields,
)

FLAT_ELEMENTS: Final = 64  # an array of no more is read and written without a stop
ELEMENT_BYTES: Final = 4 << 10  # of strings and bytes that take as long as an element


def uuid_of(raw: bytes) -> UUID | None:
    """Return a UUID; None for zeros, the encoding of a missing one."""
    return UUID(bytes=raw) if raw != UUID_ZERO_BYTES else None


def batches(count: int) -> Iterator[int]:
    """Divide a number of small elements in batches; give how many are in each."""
    while count > FLAT_ELEMENTS:
        yield FLAT_ELEMENTS
        count -= FLAT_ELEMENTS
    yield count


# Nearly all strings are short: a short one, which is whole, is read in one call.


def read_string(r: Reader) -> str:
    """Read a string behind an int16."""
    data = r.data
    start = r.position + 2
    if start <= len(data) and data[start - 2] == 0:
        end = start + data[start - 1]
        if end <= len(data):
            r.position = end
            return str(data[start:end], "utf-8", STRING_AS_JAVA)
    return _text(r, _int16(r))


def read_null_string(r: Reader) -> str | None:
    """Read a string behind an int16, or null."""
    position = r.position
    if position < len(r.data) and r.data[position] < 0x80:
        return read_string(r)
    _int16(r)
    return None


def read_c_string(r: Reader) -> str:
    """Read a compact string."""
    data = r.data
    position = r.position
    if position < len(data):
        end = position + data[position]
        if position < end <= len(data) and end < position + 0x80:
            r.position = end
            return str(data[position + 1 : end], "utf-8", STRING_AS_JAVA)
    return _text(r, r.uvarint() - 1)


def read_c_null_string(r: Reader) -> str | None:
    """Read a compact string, or null."""
    data = r.data
    position = r.position
    if position < len(data):
        end = position + data[position]
        if position < end <= len(data) and end < position + 0x80:
            r.position = end
            return str(data[position + 1 : end], "utf-8", STRING_AS_JAVA)
        if end == position:
            r.position = position + 1
            return None
    length = r.uvarint() - 1
    return None if length < 0 else _text(r, length)


def read_blob(r: Reader) -> bytes:
    """Read bytes behind an int32."""
    return _blob(r, _int32(r))


def read_null_blob(r: Reader) -> bytes | None:
    """Read bytes behind an int32, or null."""
    length = _int32(r)
    return None if length < 0 else _blob(r, length)


def read_c_blob(r: Reader) -> bytes:
    """Read compact bytes."""
    return _blob(r, r.uvarint() - 1)


def read_c_null_blob(r: Reader) -> bytes | None:
    """Read compact bytes, or null."""
    length = r.uvarint() - 1
    return None if length < 0 else _blob(r, length)


def read_count(r: Reader, min_element_bytes: int) -> int:
    """Read how many elements an array has; an element takes at least so many bytes."""
    count = _int32(r)
    r.begin_array(count, min_element_bytes)
    return count


def read_null_count(r: Reader, min_element_bytes: int) -> int:
    """Read how many elements an array has; negative for null."""
    count = _int32(r)
    if count >= 0:
        r.begin_array(count, min_element_bytes)
    return count


def read_c_count(r: Reader, min_element_bytes: int) -> int:
    """Read how many elements a compact array has."""
    data = r.data
    position = r.position + 1
    if position <= len(data) and 0 < (byte := data[position - 1]) < 0x80:
        count = byte - 1
        if count * min_element_bytes <= len(data) - position and count <= r.elements_left:
            r.position = position
            r.elements_left -= count
            return count
    count = r.uvarint() - 1
    r.begin_array(count, min_element_bytes)
    return count


def read_c_null_count(r: Reader, min_element_bytes: int) -> int:
    """Read how many elements a compact array has; negative for null."""
    count = r.uvarint() - 1
    if count >= 0:
        r.begin_array(count, min_element_bytes)
    return count


def read_numbers(r: Reader, code: str, element_bytes: int) -> list[Any]:
    """Read an array of numbers."""
    return _numbers(r, _int32(r), code, element_bytes)


def read_null_numbers(r: Reader, code: str, element_bytes: int) -> list[Any] | None:
    """Read an array of numbers, or null."""
    count = _int32(r)
    return None if count < 0 else _numbers(r, count, code, element_bytes)


def read_c_numbers(r: Reader, code: str, element_bytes: int) -> list[Any]:
    """Read a compact array of numbers."""
    return _numbers(r, r.uvarint() - 1, code, element_bytes)


def read_c_null_numbers(r: Reader, code: str, element_bytes: int) -> list[Any] | None:
    """Read a compact array of numbers, or null."""
    count = r.uvarint() - 1
    return None if count < 0 else _numbers(r, count, code, element_bytes)


def read_uuid(r: Reader) -> UUID | None:
    """Read a UUID."""
    return uuid_of(bytes(r.take(len(UUID_ZERO_BYTES))))


def read_is_null(r: Reader) -> bool:
    """Read the byte before a struct that may be null; whether it is."""
    return r.take(1)[0] >= 0x80


def skip_tags(r: Reader) -> None:
    """Skip tagged fields, none of which is known."""
    position = r.position
    data = r.data
    if position < len(data) and data[position] == 0:
        r.position = position + 1
        return
    for _ in range(read_tag_count(r)):
        r.uvarint()
        r.position = read_tag_end(r)


def read_tag_count(r: Reader) -> int:
    """Read how many tagged fields there are."""
    count = r.uvarint()
    check_tagged_fields(count)
    return count


def read_tag_end(r: Reader) -> int:
    """Read the size of a tagged field; return where the field ends."""
    size = r.uvarint()
    end = r.position + size
    if end > len(r.data):
        raise ProtocolError("tagged field exceeds the buffer")
    return end


def check_tag_end(r: Reader, end: int) -> None:
    """Check that a known tagged field was as long as its size said."""
    if r.position != end:
        raise ProtocolError("tagged field is not as long as its size says")


def _numbers(r: Reader, count: int, code: str, element_bytes: int) -> list[Any]:
    r.begin_array(count, element_bytes)
    start = r.position
    r.position = start + count * element_bytes
    return list(unpack_from(f">{count}{code}", r.data, start))


def _int16(r: Reader) -> int:
    position = r.position
    end = r.position = position + 2
    data = r.data
    if end > len(data):
        raise ProtocolError("buffer ends inside a field")
    high = data[position]
    return (high << 8 | data[position + 1]) - (high >> 7 << 16)


def _int32(r: Reader) -> int:
    return int.from_bytes(r.take(4), "big", signed=True)


def _text(r: Reader, length: int) -> str:
    if length < 0:
        raise ProtocolError("null in a field that is not nullable")
    if length >= ELEMENT_BYTES:
        check_string(length)
        r.elements_of_step += length // ELEMENT_BYTES
    return str(_taken(r, length), "utf-8", STRING_AS_JAVA)


def _blob(r: Reader, length: int) -> bytes:
    if length < 0:
        raise ProtocolError("null in a field that is not nullable")
    r.elements_of_step += length // ELEMENT_BYTES
    return bytes(_taken(r, length))


def _taken(r: Reader, size: int) -> memoryview:
    """As `Reader.take`, of a size that is not negative: nearly all of a message goes through here."""
    start = r.position
    end = r.position = start + size
    data = r.data
    if end > len(data):
        raise ProtocolError("field exceeds the buffer")
    return data[start:end]
