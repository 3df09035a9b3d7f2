"""From the tail of an object to its index: what to read, and how to check it. Does no IO.

start = tail_start(size)
tail = <read [start, size)>
footer = decode_tail(tail, size)
index = decode_index(<read index_range(footer), or a slice of the tail>, footer)
"""

from headrace.checksums import crc32c
from headrace.storage.errors import CorruptObjectError
from headrace.storage.objects.footer import FOOTER_BYTES, Footer, decode_footer
from headrace.storage.objects.index_block import INDEX_ENTRY_BYTES, ObjectIndex

_MIN_TAIL_BYTES = 16 * 1024  # an object of hundreds of small streams needs one read
_BLOCK_BYTES_TYPICAL = 1024 * 1024


def tail_start(object_size_bytes: int) -> int:
    """Return the position from which one read most likely contains the whole index and footer."""
    blocks = object_size_bytes // _BLOCK_BYTES_TYPICAL + 1
    guess = _MIN_TAIL_BYTES + FOOTER_BYTES + blocks * INDEX_ENTRY_BYTES
    return max(0, object_size_bytes - guess)


def decode_tail(tail: memoryview, object_size_bytes: int) -> Footer:
    """Decode the footer at the end of a tail read.

    Raises:
        CorruptObjectError: there is no valid footer.
    """
    if len(tail) < FOOTER_BYTES:
        raise CorruptObjectError(f"object of {object_size_bytes} bytes is too small for a footer")
    return decode_footer(tail[-FOOTER_BYTES:], object_size_bytes)


def index_in_tail(tail: memoryview, footer: Footer) -> memoryview | None:
    """Return the index block's bytes out of a tail read, or None when the read began too late."""
    end = len(tail) - FOOTER_BYTES
    start = end - footer.index_length
    return tail[start:end] if start >= 0 else None


def decode_index(view: memoryview, footer: Footer) -> ObjectIndex:
    """Check the bytes of an index block against the footer.

    Raises:
        CorruptObjectError: length or checksum do not match.
    """
    if len(view) != footer.index_length or crc32c(view) != footer.index_crc:
        raise CorruptObjectError("index block does not match its checksum in the footer")
    return ObjectIndex(view, footer.index_position)
