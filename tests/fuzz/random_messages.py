"""Random valid messages of any request, response or record, made from what the tables say of them."""

from __future__ import annotations

import random
import uuid
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable
from functools import cache
from operator import attrgetter
from typing import Any

from headrace.protocol.generator.__main__ import committed_tables
from headrace.protocol.generator.descriptions import Description, Field
from headrace.protocol.generator.structs import MessageStructs, snake
from headrace.protocol.generator.tables import parse_table

_INTEGER_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_TEXT = ("", "a", "topic-1", "ünï", "x" * 127, "y" * 128, "z" * 300)
_NO_UUID = uuid.UUID(int=0)

Values = dict[
    str, Any
]  # of a struct, by the names of its fields; those of structs are such as well


@cache
def described() -> dict[str, MessageStructs]:
    """All messages, by their names."""
    tables = committed_tables().values()
    return {it.name: MessageStructs(it) for text in tables for it in parse_table(text)}


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
        structs = described()[message_class.__name__]
        return built(structs, message_class, self.values(structs, version))

    def values(self, structs: MessageStructs, version: int) -> Values:
        """Return the values of such a message."""
        return self._struct(structs, structs.outer.fields, version)

    def _struct(self, structs: MessageStructs, fields: Iterable[Field], version: int) -> Values:
        values = {}
        for field in fields:
            if version not in field.versions:
                continue
            tagged = field.is_tagged(version)
            if tagged and self._rng.random() < 0.5:
                continue
            values[field.name] = self._field(structs, field, version, tagged=tagged)
        return values

    def _field(self, structs: MessageStructs, field: Field, version: int, *, tagged: bool) -> Any:
        rng = self._rng
        if version in field.nullable and rng.random() < 0.25:
            return None
        if field.is_array:
            # A tagged field that equals its default is left out of the bytes: do not make one.
            count = rng.choice((1, 2) if tagged else (0, 1, 1, 2, 5))
            return [self._element(structs, field, version) for _ in range(count)]
        return self._element(structs, field, version)

    def _element(self, structs: MessageStructs, field: Field, version: int) -> Any:
        if field.is_struct:
            return self._struct(structs, structs.struct_of(field).fields, version)
        rng = self._rng
        kind = field.element
        if kind in _INTEGER_BITS:
            return self._integer(field.name, _INTEGER_BITS[kind])
        match kind:
            case "uint16":
                return rng.randrange(1 << 16)
            case "uint32":
                return rng.randrange(1 << 32)
            case "bool":
                return rng.random() < 0.5
            case "float64":
                return rng.uniform(-1e9, 1e9)
            case "uuid":
                return rng.choice((None, uuid.UUID(int=rng.getrandbits(128))))
            case "string":
                return rng.choice(_TEXT)
            case "bytes" | "records":
                return rng.randbytes(rng.choice((0, 1, 60, 130, 500)))
        raise AssertionError(kind)

    def _integer(self, name: str, bits: int) -> int:
        rng = self._rng
        if self._plausible:
            return (
                rng.randrange(127)
                if bits == 8 or "error" in name.lower()
                else rng.randrange(32_000)
            )
        limit = 1 << (bits - 1)
        return rng.choice((0, 1, -1, limit - 1, -limit, rng.randrange(-limit, limit)))


def built(structs: MessageStructs, message_class: Any, values: Values) -> Any:
    """Return a message with these values."""
    return _built(structs, message_class, structs.outer.fields, message_class, values)


def _built(
    structs: MessageStructs, outer: Any, fields: Iterable[Field], made: Any, values: Values
) -> Any:
    return made(
        **{
            snake(field.name): _built_field(structs, outer, field, values[field.name])
            for field in fields
            if field.name in values
        }
    )


def _built_field(structs: MessageStructs, outer: Any, field: Field, value: Any) -> Any:
    if not field.is_struct or value is None:
        return value
    struct = structs.struct_of(field)
    made = attrgetter(struct.path.partition(".")[2])(outer)
    if field.is_array:
        return [_built(structs, outer, struct.fields, made, it) for it in value]
    return _built(structs, outer, struct.fields, made, value)


def as_json(structs: MessageStructs, values: Values) -> Values:
    """Return a message as Apache Kafka writes it in JSON."""
    return _json(structs, structs.outer.fields, values)


def _json(structs: MessageStructs, fields: Iterable[Field], values: Values) -> Values:
    made = {}
    for field in fields:
        if field.name in values:
            value = values[field.name]
            name = field.name[0].lower() + field.name[1:]
            made[name] = (
                None
                if value is None and (field.is_array or field.element != "uuid")
                else (
                    [_json_element(structs, field, it) for it in value]
                    if field.is_array
                    else _json_element(structs, field, value)
                )
            )
    return made


def _json_element(structs: MessageStructs, field: Field, value: Any) -> Any:
    if field.is_struct:
        return _json(structs, structs.struct_of(field).fields, value)
    if field.element == "uuid":
        return urlsafe_b64encode((value or _NO_UUID).bytes).decode().rstrip("=")
    if field.element in ("bytes", "records"):
        return b64encode(value).decode()
    return value


def versions(description: Description) -> range:
    """Return the versions of a message."""
    return description.all_versions()
