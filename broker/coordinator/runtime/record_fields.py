"""Bounds of the records of coordinators, and the error of one that cannot be read. Pure."""

from typing import Final

MAX_STRING_BYTES: Final = 32_767  # the largest int16 length
# Largest value that is written: a batch with it stays below the default max.message.bytes.
MAX_RECORD_BYTES: Final = 1_000_000


class CorruptRecordError(Exception):
    """A record of a coordinator cannot be read, or cannot be written in its format."""


def fits_string(text: str) -> bool:
    """Whether `text` can be written as a `string`."""
    return len(text) <= MAX_STRING_BYTES and (
        text.isascii() or len(text.encode()) <= MAX_STRING_BYTES
    )
