r"""Java properties files, as Kafka reads them. Pure.

`key=value`, `key: value` or `key value`; `#` and `!` begin comments; a backslash at the end of a
line continues it; `\t \n \r \f \uXXXX` are escapes and a backslash before anything else is
dropped.

Source: the format of `java.util.Properties.load`.
"""

import re
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|\n|\r")  # fewer than str.splitlines knows
_BLANK = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


class Property(NamedTuple):
    """One setting and the line, from 1, on which it starts."""

    key: str
    value: str
    line: int


class PropertiesError(ValueError):
    """A line that is not of the format; the message does not name the line, `line` does."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def parse_properties(text: str) -> list[Property]:
    """Read all settings of a file, in order, duplicates included.

    Raises:
        PropertiesError: a unicode escape is malformed.
    """
    found = []
    for line, logical in _logical_lines(text):
        key, value = _split(logical)
        try:
            found.append(Property(_unescape(key), _unescape(value), line))
        except ValueError as error:
            raise PropertiesError(line, str(error)) from error
    return found


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Join continued lines; drop comments and empty lines."""
    lines: list[tuple[int, str]] = []
    pending, start = "", 0
    for number, raw in enumerate(_LINE_END.split(text), 1):
        stripped = raw.lstrip(_BLANK)
        if not pending:
            if not stripped or stripped[0] in "#!":
                continue
            start = number
        pending += stripped
        if _ends_in_continuation(pending):
            pending = pending[:-1]
            if pending:
                continue
        lines.append((start, pending))
        pending = ""
    if pending:
        lines.append((start, pending))
    return lines


def _ends_in_continuation(text: str) -> bool:
    """Whether the number of backslashes at the end is odd."""
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _split(logical: str) -> tuple[str, str]:
    """Cut at the first separator that is not escaped."""
    position = 0
    while position < len(logical):
        if logical[position] == "\\":
            position += 2
            continue
        if logical[position] in "=:" + _BLANK:
            break
        position += 1
    key, rest = logical[:position], logical[position:].lstrip(_BLANK)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANK)
    return key, rest


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    parts: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        position += 1
        if character != "\\" or position == len(text):
            parts.append(character)
            continue
        escape = text[position]
        position += 1
        if escape == "u":
            digits = text[position : position + 4]
            if len(digits) != 4 or any(d not in "0123456789abcdefABCDEF" for d in digits):
                raise ValueError(f"malformed escape \\u{digits}")
            parts.append(chr(int(digits, 16)))
            position += 4
        else:
            parts.append(_ESCAPES.get(escape, escape))
    return "".join(parts)
