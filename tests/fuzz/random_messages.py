"""Random valid messages of any request or response, built from the schemas of their classes."""

from __future__ import annotations

import random
import uuid
from typing import Any

_INTEGER_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_TEXT = ("", "a", "topic-1", "ünï", "x" * 127, "y" * 128, "z" * 300)


def random_message(rng: random.Random, message_class: Any, version: int) -> Any:
    """Return an instance whose fields of this version are all set at random."""
    return _struct(rng, message_class._struct, message_class, version)


def _struct(rng: random.Random, schema: Any, struct_class: Any, version: int) -> Any:
    values = {}
    for field in schema.fields.values():
        if not field.for_version_q(version):
            continue
        tagged = field.tagged_field_q(version)
        if tagged and rng.random() < 0.5:
            continue
        values[field.name] = _field(rng, field, version, tagged=tagged)
    return struct_class(version=version, **values)


def _field(rng: random.Random, field: Any, version: int, *, tagged: bool) -> Any:
    nullable = field.nullable_for_version_q(version)
    if nullable and rng.random() < 0.25:
        return None
    if field.is_array():
        # An explicit empty array in a tag equals the default and is left out when encoded.
        count = rng.choice((1, 2) if tagged else (0, 1, 1, 2, 5))
        inner = field.array_of
        if field.is_struct_array():
            return [_struct(rng, inner, inner.data_class, version) for _ in range(count)]
        return [_simple(rng, inner.type_str) for _ in range(count)]
    if field.is_struct():
        return _struct(rng, field, field.data_class, version)
    return _simple(rng, field.type_str)


def _simple(rng: random.Random, type_str: str) -> Any:
    bits = _INTEGER_BITS.get(type_str)
    if bits is not None:
        limit = 1 << (bits - 1)
        return rng.choice((0, 1, -1, limit - 1, -limit, rng.randrange(-limit, limit)))
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
