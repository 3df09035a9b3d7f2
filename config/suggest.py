"""The nearest known name to one that is not known. Pure."""

import difflib
from collections.abc import Iterable

MAX_NAME_LENGTH = 200  # longer ones are not compared: the comparison is quadratic


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Find the known name that `name` was most likely meant to be; None when none is close."""
    if len(name) > MAX_NAME_LENGTH:
        return None
    matches = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.75)
    return matches[0] if matches else None
