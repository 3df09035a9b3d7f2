"""Rules of ranged reads that every store keeps alike. Pure."""

from headrace.storage.errors import CorruptObjectError, InvalidRequestError


def require_valid_range(start: int, end: int) -> None:
    """Check the arguments of `get_range`.

    Raises:
        InvalidRequestError: the range is empty or negative.
    """
    if not 0 <= start < end:
        raise InvalidRequestError(f"empty range [{start}, {end})")


def exactly(content: memoryview, key: str, start: int, end: int) -> memoryview:
    """Return what was read of a range, if it is all of it.

    Raises:
        CorruptObjectError: the object ends before `end`.
    """
    if len(content) != end - start:
        raise CorruptObjectError(
            f"{key}: [{start}, {end}) gave {len(content)} bytes: the object is too short"
        )
    return content


def folder_of(prefix: str) -> str:
    """Return what keys below `prefix` begin with; prefixes match whole segments between slashes."""
    return prefix.rstrip("/") + "/" if prefix else ""
