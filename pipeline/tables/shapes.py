"""Types of fields before there is a table: inferred from documents, or from a schema of a registry. Pure.

A shape is the name of a primitive type, a `ListShape`, a `MapShape`, or a dictionary of fields; None is a field of
which no value has been seen. `int` and `float` of a document say that the value fits into 32 bits; a new column for it
has 64.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

from headrace.pipeline.tables.errors import BadRecordError

Walked = TypeVar("Walked")
MAX_SCHEMA_FIELDS: Final = 10_000
MAX_DEPTH: Final = 32  # of fields in fields; what is deeper is kept as JSON text
_MAX_INT: Final = 2**31 - 1
_MAX_LONG: Final = 2**63 - 1
_MAX_FLOAT: Final = 3.4028235e38
_NUMBERS: Final = ("int", "long", "float", "double")  # each fits into those behind it, or nearly
_WIDER: Final = {"int": "long", "float": "double"}
_TIMESTAMP: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(?P<zone>Z|[+-]\d\d:?\d\d)?"
)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class ListShape:
    """A list of elements of one shape."""

    element: "Shape"


@dataclass(frozen=True, slots=True)
class MapShape:
    """A map with keys of a primitive type."""

    key: str
    value: "Shape"


Shape = str | ListShape | MapShape | dict[str, "Shape"] | None


def shape_of(value: object, *, with_times: bool = False, depth: int = 0) -> Shape:
    """Infer the shape of a JSON value.

    Args:
        value: as a JSON decoder gives it.
        with_times: whether texts that are ISO 8601 dates or timestamps are that, and no strings.
        depth: how deep it lies in its document.
    """
    match value:
        case None:
            return None
        case bool():
            return "boolean"
        case int():
            return _whole(value)
        case float():
            return "float" if not math.isfinite(value) or abs(value) <= _MAX_FLOAT else "double"
        case str():
            return _text(value) if with_times else "string"
        case _ if depth >= MAX_DEPTH:
            return "string"
        case list():
            element: Shape = None
            for it in value:
                element = merged(element, shape_of(it, with_times=with_times, depth=depth + 1))
            return None if element is None else ListShape(element)
        case dict():
            fields = {
                str(name): shape_of(it, with_times=with_times, depth=depth + 1)
                for name, it in value.items()
            }
            return fields or None
        case _:
            return "string"


def merged(one: Shape, other: Shape) -> Shape:
    """The shape that values of both have: the wider number; text where they have nothing in common."""
    if one is None or one == other:
        return other
    if other is None:
        return one
    if isinstance(one, dict) and isinstance(other, dict):
        names = dict.fromkeys((*one, *other))
        return {name: merged(one.get(name), other.get(name)) for name in names}
    if isinstance(one, ListShape) and isinstance(other, ListShape):
        return ListShape(merged(one.element, other.element))
    if isinstance(one, MapShape) and isinstance(other, MapShape) and one.key == other.key:
        return MapShape(one.key, merged(one.value, other.value))
    if one in _NUMBERS and other in _NUMBERS:
        return _wider_number(str(one), str(other))
    return "string"


def merged_fields(one: Mapping[str, Shape], other: Mapping[str, Shape]) -> dict[str, Shape]:
    """`merged` of two documents."""
    found = merged(dict(one), dict(other))
    return found if isinstance(found, dict) else {}


def for_new_columns(shape: Shape) -> Shape:
    """What new columns for a shape have: 64 bits for numbers."""
    match shape:
        case str():
            return _WIDER.get(shape, shape)
        case ListShape():
            return ListShape(for_new_columns(shape.element))
        case MapShape():
            return MapShape(shape.key, for_new_columns(shape.value))
        case dict():
            return {name: for_new_columns(it) for name, it in shape.items()}
        case None:
            return None


class SchemaWalk:
    """A way through a schema, whose types may contain themselves: counts fields, and knows where it is."""

    def __init__(self, *, is_cut: bool) -> None:
        self._is_cut = is_cut
        self._count = 0
        self._inside: list[str] = []

    @contextmanager
    def into(self, name: str, fields: int) -> Iterator[bool]:
        """Go into a type with some fields; return whether its JSON text is kept instead, as it contains itself.

        Raises:
            BadRecordError: the schema has too many fields.
        """
        self._count += fields
        if self._count > MAX_SCHEMA_FIELDS:
            raise BadRecordError(
                f"its schema has more than {MAX_SCHEMA_FIELDS} fields, since types contain each other"
            )
        self._inside.append(name)
        try:
            yield self._is_cut and self._inside.count(name) > 1
        finally:
            self._inside.pop()


def walked(shape: Callable[[SchemaWalk], Walked]) -> Walked:
    """The shape of a schema; where types in themselves make too many fields of it, they are kept as JSON text.

    Raises:
        BadRecordError: there are too many nevertheless.
    """
    try:
        return shape(SchemaWalk(is_cut=False))
    except BadRecordError:
        return shape(SchemaWalk(is_cut=True))


def _wider_number(one: str, other: str) -> str:
    if {one, other} == {"long", "float"}:
        return "double"
    return max(one, other, key=_NUMBERS.index)


def _whole(value: int) -> str:
    if abs(value) <= _MAX_INT:
        return "int"
    return "long" if abs(value) <= _MAX_LONG else "string"


def _text(value: str) -> str:
    match = _TIMESTAMP.fullmatch(value)
    if match is not None:
        return "timestamptz" if match["zone"] else "timestamp"
    return "date" if _DATE.fullmatch(value) else "string"
