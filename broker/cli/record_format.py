r"""How `headrace consume` writes a record: JSON, the bare value, or a format with `%` fields.

JSON has the keys topic, partition, offset, timestamp, timestamp_ms, key, value and headers. Bytes
that are UTF-8 are text; other bytes, of a header's key too, are an object {"base64": "..."}. Fields
of a format: %t topic, %p partition, %o offset, %k key, %v value, %T timestamp in milliseconds, %h headers, %% a percent
sign; the escapes \n, \t, \r and \\ work as in C.
"""

import base64
import json
from collections.abc import Callable
from typing import Any

import click

from headrace.readable import format_time

_ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r", "\\": b"\\"}

Formatter = Callable[[Any], bytes]


def record_formatter(output: str) -> Formatter:
    """Choose the writer for an --output value.

    Raises:
        click.BadParameter: it is neither a known word nor a format.
    """
    if output in ("json", "jsonl"):
        return _as_json
    if output == "raw":
        return _as_raw
    if output == "table":
        return compile_format("%t-%p @%o  %T  %k  %v\n")
    if "%" in output:
        return compile_format(output if output.endswith(("\n", "\\n")) else output + "\n")
    raise click.BadParameter(f"{output!r} is not json, raw, table, or a format such as '%k %v'.")


def _as_json(record: Any) -> bytes:
    line = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": format_time(record.timestamp) if record.timestamp >= 0 else None,
        "timestamp_ms": record.timestamp,
        "key": as_text(record.key),
        "value": as_text(record.value),
        "headers": [[as_text(name.encode()), as_text(value)] for name, value in record.headers],
    }
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def as_text(data: bytes | None) -> object:
    """Return bytes as JSON shows them: text, or base64 where they are none."""
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _as_raw(record: Any) -> bytes:
    return (record.value or b"") + b"\n"


def _headers(record: Any) -> bytes:
    return b",".join(name.encode() + b"=" + (value or b"") for name, value in record.headers)


_FIELDS: dict[str, Formatter] = {
    "t": lambda record: str(record.topic).encode(),
    "p": lambda record: str(record.partition).encode(),
    "o": lambda record: str(record.offset).encode(),
    "k": lambda record: bytes(record.key or b""),
    "v": lambda record: bytes(record.value or b""),
    "T": lambda record: str(record.timestamp).encode(),
    "h": _headers,
    "%": lambda _: b"%",
}


def compile_format(text: str) -> Formatter:
    """Make a writer from a format.

    Raises:
        click.BadParameter: a field is not known.
    """
    parts: list[bytes | Formatter] = []
    characters = iter(text)
    for character in characters:
        if character == "%":
            field = next(characters, "")
            if field not in _FIELDS:
                known = " ".join(f"%{name}" for name in _FIELDS)
                raise click.BadParameter(f"%{field} is not a field; known are {known}.")
            parts.append(_FIELDS[field])
        elif character == "\\":
            escape = next(characters, "\\")
            parts.append(_ESCAPES.get(escape, b"\\" + escape.encode()))
        else:
            parts.append(character.encode())
    return lambda record: b"".join(p if isinstance(p, bytes) else p(record) for p in parts)
