"""Random valid messages of any request or response, built from the schemas of their classes."""

from __future__ import annotations

import random
import uuid
from typing import Any

_INTEGER_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_TEXT = ("", "a", "topic-1", "ünï", "x" * 127, "y" * 128, "z" * 300)


class MessageMaker:
    """Makes messages from a seeded source.

    `plausible` keeps numbers to what a codec with stricter types accepts (times that fit a date, error
    codes that exist); without it every value of the wire type may come up.
    """

    def __init__(self, rng: random.Random, *, plausible: bool = False) -> None:
        self._rng = rng
        self._plausible = plausible

    def make(self, message_class: Any, version: int) -> Any:
        """Return an instance whose untagged fields of this version are set, and some tagged ones."""
        return self._struct(message_class._struct, message_class, version)

    def _struct(self, schema: Any, struct_class: Any, version: int) -> Any:
        values = {}
        for field in schema.fields.values():
            if not field.for_version_q(version):
                continue
            tagged = field.tagged_field_q(version)
            if tagged and self._rng.random() < 0.5:
                continue
            values[field.name] = self._field(field, version, tagged=tagged)
        return struct_class(version=version, **values)

    def _field(self, field: Any, version: int, *, tagged: bool) -> Any:
        rng = self._rng
        if field.nullable_for_version_q(version) and rng.random() < 0.25:
            return None
        if field.is_array():
            # A tagged field that equals its default is left out of the bytes: do not make one.
            count = rng.choice((1, 2) if tagged else (0, 1, 1, 2, 5))
            inner = field.array_of
            if field.is_struct_array():
                return [self._struct(inner, inner.data_class, version) for _ in range(count)]
            return [self._simple(inner.name, inner.type_str) for _ in range(count)]
        if field.is_struct():
            return self._struct(field, field.data_class, version)
        return self._simple(field.name, field.type_str)

    def _simple(self, name: str, type_str: str) -> Any:
        rng = self._rng
        if type_str in _INTEGER_BITS:
            return self._integer(name, _INTEGER_BITS[type_str])
        match type_str:
            case "uint16":
                return rng.randrange(1 << 16)
            case "bool":
                return rng.random() < 0.5
            case "float64":
                return rng.uniform(-1e9, 1e9)
            case "uuid":
                return rng.choice((None, uuid.UUID(int=rng.getrandbits(128))))
            case "string":
                return rng.choice(_TEXT)
            case "bitfield":
                return rng.choice((None, {3, 8}, set()))
            case "bytes" | "records":
                return rng.randbytes(rng.choice((0, 1, 60, 130, 500)))
        raise AssertionError(type_str)

    def _integer(self, name: str, bits: int) -> int:
        rng = self._rng
        if self._plausible:
            return rng.randrange(127) if bits == 8 or "error" in name else rng.randrange(32_000)
        limit = 1 << (bits - 1)
        return rng.choice((0, 1, -1, limit - 1, -limit, rng.randrange(-limit, limit)))
