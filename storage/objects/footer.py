"""Footer: the last 48 bytes of an object, which locate its index block.

All integers are big-endian.

| offset | bytes | type | field | meaning |
|---|---|---|---|---|
| 0  | 8  | i64 | index position | where the index block begins; the data blocks end there |
| 8  | 4  | i32 | index length   | bytes of the index block, a multiple of 36 |
| 12 | 4  | u32 | index CRC32C   | of the index block |
| 16 | 2  | u16 | version        | 1 |
| 18 | 18 |     | reserved       | zero; covered by the checksum, not interpreted |
| 36 | 4  | u32 | footer CRC32C  | of bytes 0 to 35 |
| 40 | 8  | u64 | magic          | 0x6865616472616365 ("headrace") |

Source: S3Stream's footer (position, length, magic), extended by the checksums and the version.
"""

import struct
from typing import NamedTuple

from headrace.checksums import crc32c
from headrace.storage.errors import CorruptObjectError

MAGIC = int.from_bytes(b"headrace", "big")
VERSION = 1
_BODY = struct.Struct(">qiIH18x")
_TRAILER = struct.Struct(">IQ")
FOOTER_BYTES = _BODY.size + _TRAILER.size
MAX_INDEX_LENGTH = 2**31 - 1

assert FOOTER_BYTES == 48


class Footer(NamedTuple):
    """Where the index block lies, and its checksum."""

    index_position: int
    index_length: int
    index_crc: int


def encode_footer(footer: Footer) -> bytes:
    """Encode the 48 bytes.

    Raises:
        ValueError: the index is too long.
    """
    if not 0 <= footer.index_length <= MAX_INDEX_LENGTH:
        raise ValueError(f"index block of {footer.index_length} bytes does not fit")
    body = _BODY.pack(footer.index_position, footer.index_length, footer.index_crc, VERSION)
    return body + _TRAILER.pack(crc32c(body), MAGIC)


def decode_footer(view: memoryview, object_size_bytes: int) -> Footer:
    """Decode a footer, the last bytes of an object of that size.

    Raises:
        CorruptObjectError: magic, version, checksum or position do not fit together.
    """
    if len(view) != FOOTER_BYTES:
        raise CorruptObjectError(f"footer of {len(view)} bytes instead of {FOOTER_BYTES}")
    footer_crc, magic = _TRAILER.unpack_from(view, _BODY.size)
    if magic != MAGIC:
        raise CorruptObjectError(f"not a footer: magic {magic:#018x}")
    if crc32c(view[: _BODY.size]) != footer_crc:
        raise CorruptObjectError("footer checksum does not match")
    position, length, index_crc, version = _BODY.unpack_from(view)
    if version != VERSION:
        raise CorruptObjectError(f"object format version {version} is unknown; known: {VERSION}")
    if position < 0 or length < 0 or position + length + FOOTER_BYTES != object_size_bytes:
        raise CorruptObjectError(
            f"index at {position} of {length} bytes does not fit into an object of "
            f"{object_size_bytes} bytes"
        )
    return Footer(position, length, index_crc)
