"""Points in time as users write them."""

import re
import time
from datetime import datetime

import click

TIME_HELP = "Milliseconds, ISO 8601 (2026-01-31T12:00Z), or an age such as 90s, 15m, 2h, 7d."

_AGE = re.compile(r"^(\d{1,9})(s|m|h|d)$")
_UNIT_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def parse_time(text: str, *, now_ms: int | None = None) -> int:
    """Read a point in time, in milliseconds since the epoch.

    A time without a zone is local time. `now_ms` is what ages are counted from; now by default.

    Raises:
        click.BadParameter: it is none of the forms.
    """
    if text.isascii() and text.isdigit() and len(text) <= 18:
        return int(text)
    age = _AGE.match(text)
    if age:
        now = time.time_ns() // 1_000_000 if now_ms is None else now_ms
        return max(0, now - int(age[1]) * _UNIT_MS[age[2]])
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a time. {TIME_HELP}") from None
    return int(moment.timestamp() * 1000)
