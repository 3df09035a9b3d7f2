"""Durations and sizes as a configuration writes them: `10 minutes`, `64 MiB`. Pure."""

import re
from typing import Final

_UNITS_MS: Final = {
    "ms": 1,
    "millisecond": 1,
    "s": 1_000,
    "second": 1_000,
    "min": 60_000,
    "minute": 60_000,
    "h": 3_600_000,
    "hour": 3_600_000,
    "d": 86_400_000,
    "day": 86_400_000,
}
_UNITS_BYTES: Final = {"b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_DURATION: Final = re.compile(r"(\d{1,12}) ?([a-z]+)")
_SIZE: Final = re.compile(r"(\d{1,12}) ?([A-Za-z]+)")


def duration_ms(text: str) -> int:
    """Read a duration in milliseconds.

    Raises:
        ValueError: it is none; the message says what it looks like.
    """
    match = _DURATION.fullmatch(text.strip().lower())
    unit = (
        _UNITS_MS.get(match[2].removesuffix("s") or "s", _UNITS_MS.get(match[2])) if match else None
    )
    if match is None or unit is None:
        raise ValueError("a number and ms, seconds, minutes, hours or days, such as `10 minutes`")
    return int(match[1]) * unit


def size_bytes(text: str) -> int:
    """Read a size in bytes.

    Raises:
        ValueError: it is none; the message says what it looks like.
    """
    match = _SIZE.fullmatch(text.strip())
    unit = _UNITS_BYTES.get(match[2].lower()) if match else None
    if match is None or unit is None:
        raise ValueError("a number and B, KiB, MiB or GiB, such as `64 MiB`")
    return int(match[1]) * unit
