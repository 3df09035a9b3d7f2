"""The field types that the records of coordinators are made of. Pure.

`string` int16 length and UTF-8 (null -1), `bytes` int32 length, arrays int32 count. In flexible
versions (KIP-482) lengths and counts are an unsigned varint of the number plus one (null 0), and
each structure ends with tagged fields, which are skipped.

Source: the Kafka protocol guide, "Protocol Primitive Types".
"""

import struct
from collections.abc import Iterator
from typing import Final

MAX_STRING_BYTES: Final = 32_767  # the largest int16 length
# Largest value that is written: a batch with it stays below the default max.message.bytes.
MAX_RECORD_BYTES: Final = 1_000_000

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")
_MAX_VARINT_BYTES: Final = 5


class CorruptRecordError(Exception):
    """A record of a coordinator cannot be read, or cannot be written in its format."""


def fits_string(text: str) -> bool:
    """Whether `text` can be written as a `string`."""
    return len(text) <= MAX_STRING_BYTES and (
        text.isascii() or len(text.encode()) <= MAX_STRING_BYTES
    )


def write_string(out: bytearray, text: str) -> None:
    """Append a `string`; CorruptRecordError when it is too long."""
    data = text.encode()
    if len(data) > MAX_STRING_BYTES:
        raise CorruptRecordError(f"string of {len(data)} bytes, more than {MAX_STRING_BYTES}")
    out += _INT16.pack(len(data))
    out += data


def write_compact_string(out: bytearray, text: str) -> None:
    """Append a string of a flexible version."""
    data = text.encode()
    length = len(data) + 1
    while length >= 0x80:
        out.append(length & 0x7F | 0x80)
        length >>= 7
    out.append(length)
    out += data


def write_nullable_string(out: bytearray, text: str | None) -> None:
    """Append a `string` that may be null."""
    if text is None:
        out += _INT16.pack(-1)
    else:
        write_string(out, text)


def write_bytes(out: bytearray, data: bytes) -> None:
    """Append `bytes`."""
    out += _INT32.pack(len(data))
    out += data


class FieldReader:
    """Reads fields one after the other; everything it cannot read is a CorruptRecordError."""

    __slots__ = ("_data", "_position", "flexible")

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = memoryview(data)
        self._position = 0
        self.flexible = False  # set once the version is known

    def int16(self) -> int:
        """Read a big-endian int16."""
        return int(_INT16.unpack(self._take(2))[0])

    def int32(self) -> int:
        """Read a big-endian int32."""
        return int(_INT32.unpack(self._take(4))[0])

    def int64(self) -> int:
        """Read a big-endian int64."""
        return int(_INT64.unpack(self._take(8))[0])

    def string(self) -> str:
        """Read a string that must not be null."""
        text = self.nullable_string()
        if text is None:
            raise CorruptRecordError("a string that must not be null is null")
        return text

    def nullable_string(self) -> str | None:
        """Read a string or null."""
        length = self._uvarint() - 1 if self.flexible else self.int16()
        if length < 0:
            return None
        try:
            return str(self._take(length), "utf-8")
        except UnicodeDecodeError as error:
            raise CorruptRecordError("string is not UTF-8") from error

    def read_bytes(self) -> bytes:
        """Read bytes that must not be null."""
        length = self._uvarint() - 1 if self.flexible else self.int32()
        if length < 0:
            raise CorruptRecordError("bytes that must not be null are null")
        return bytes(self._take(length))

    def array_length(self) -> int:
        """Read the count of an array, never more than the rest of the data could hold."""
        count = self._uvarint() - 1 if self.flexible else self.int32()
        if not 0 <= count <= len(self._data) - self._position:
            raise CorruptRecordError(
                f"array of {count} elements does not fit into the rest of the record"
            )
        return count

    def tagged_fields(self) -> Iterator[tuple[int, memoryview]]:
        """Give the tagged fields that end a structure; it has some in flexible versions only."""
        if not self.flexible:
            return
        for _ in range(self._uvarint()):
            tag = self._uvarint()
            yield tag, self._take(self._uvarint())

    def skip_tagged_fields(self) -> None:
        """Skip the tagged fields that end a structure."""
        for _ in self.tagged_fields():
            pass

    def expect_end(self) -> None:
        """Check that everything was read."""
        left = len(self._data) - self._position
        if left:
            raise CorruptRecordError(f"{left} bytes left after the last field")

    def _take(self, count: int) -> memoryview:
        end = self._position + count
        if end > len(self._data):
            raise CorruptRecordError(f"record ends {end - len(self._data)} bytes too early")
        view = self._data[self._position : end]
        self._position = end
        return view

    def _uvarint(self) -> int:
        value = 0
        for index in range(_MAX_VARINT_BYTES):
            byte = self._take(1)[0]
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                return value
        raise CorruptRecordError("varint longer than 5 bytes")
