"""Types of columns: as a configuration writes them, of a shape, and what a shape adds to a table.

The texts are Iceberg's: `long`, `decimal(9, 2)`, `list<string>`, `map<string, double>`, `struct<id: long, at: date>`.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Final

from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    PrimitiveType,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
)

from headrace.pipeline.tables.shapes import (
    MAX_DEPTH,
    ListShape,
    MapShape,
    Shape,
    for_new_columns,
)

PRIMITIVES: Final[Mapping[str, PrimitiveType]] = {
    "boolean": BooleanType(),
    "int": IntegerType(),
    "long": LongType(),
    "float": FloatType(),
    "double": DoubleType(),
    "string": StringType(),
    "binary": BinaryType(),
    "date": DateType(),
    "timestamp": TimestampType(),
    "timestamptz": TimestamptzType(),
}
_ALLOWED: Final = (
    f"{', '.join(PRIMITIVES)}, decimal(P, S), list<T>, map<string, T>, struct<NAME: T, ...>"
)
_TOKEN: Final = re.compile(r"\s*(decimal\(\s*\d{1,2}\s*,\s*\d{1,2}\s*\)|[^\s<>,:()]+|[<>,:])")
_DECIMAL: Final = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)")
MAX_PRECISION: Final = 38


def column_fields(
    columns: Mapping[str, str], ids: Iterator[int], required: frozenset[str] = frozenset()
) -> list[NestedField]:
    """Make fields from names and texts of types.

    Args:
        columns: a type for each name.
        ids: where the ids of fields come from; a catalog gives others when it creates a table.
        required: those that are never null.

    Raises:
        ValueError: a text is no type; the message says which and what is allowed.
    """
    fields = []
    for name, text in columns.items():
        try:
            kind = parse_type(text, ids)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        fields.append(NestedField(next(ids), name, kind, required=name in required))
    return fields


def parse_type(text: str, ids: Iterator[int]) -> IcebergType:
    """Read the text of a type.

    Args:
        text: such as `list<long>`.
        ids: where the ids of nested fields come from.

    Raises:
        ValueError: it is none; the message says what is allowed.
    """
    tokens = _tokens(text)
    try:
        kind = _parse(tokens, ids, 0)
    except (IndexError, ValueError) as error:
        raise ValueError(f"{text!r} is no type; allowed are {_ALLOWED}") from error
    if tokens:
        raise ValueError(f"{text!r} has more than one type")
    return kind


def _tokens(text: str) -> list[str]:
    found, position = [], 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            return [""]
        found.append(match[1])
        position = match.end()
    return found


def _parse(tokens: list[str], ids: Iterator[int], depth: int) -> IcebergType:
    if depth > MAX_DEPTH:
        raise ValueError("too deep")
    name = tokens.pop(0)
    if name in PRIMITIVES:
        return PRIMITIVES[name]
    if name.startswith("decimal("):
        return _decimal(name)
    if name not in ("list", "map", "struct"):
        raise ValueError(name)
    _expect(tokens, "<")
    if name == "list":
        kind: IcebergType = ListType(
            next(ids), _parse(tokens, ids, depth + 1), element_required=False
        )
    elif name == "map":
        key = _parse(tokens, ids, depth + 1)
        _expect(tokens, ",")
        kind = MapType(
            next(ids), key, next(ids), _parse(tokens, ids, depth + 1), value_required=False
        )
    else:
        kind = StructType(*_fields(tokens, ids, depth))
    _expect(tokens, ">")
    return kind


def _fields(tokens: list[str], ids: Iterator[int], depth: int) -> Iterator[NestedField]:
    while True:
        name = tokens.pop(0)
        _expect(tokens, ":")
        yield NestedField(next(ids), name, _parse(tokens, ids, depth + 1), required=False)
        if tokens[0] != ",":
            return
        tokens.pop(0)


def _expect(tokens: list[str], wanted: str) -> None:
    if tokens.pop(0) != wanted:
        raise ValueError(wanted)


def _decimal(text: str) -> DecimalType:
    match = _DECIMAL.fullmatch(text)
    if match is None or not 0 <= int(match[2]) <= int(match[1]) <= MAX_PRECISION:
        raise ValueError(text)
    return DecimalType(int(match[1]), int(match[2]))


def schema_of_shape(fields: Mapping[str, Shape]) -> Schema:
    """Make a schema of optional columns; fields without a known shape are left out."""
    return Schema(*shape_fields(fields, itertools.count(1)))


def shape_fields(fields: Mapping[str, Shape], ids: Iterator[int]) -> list[NestedField]:
    """Make optional fields of shapes; fields without a known shape are left out."""
    found = []
    for name, shape in fields.items():
        kind = _type_of(shape, ids)
        if kind is not None:
            found.append(NestedField(next(ids), name, kind, required=False))
    return found


def _type_of(shape: Shape, ids: Iterator[int]) -> IcebergType | None:
    match shape:
        case str():
            return PRIMITIVES.get(shape) or _decimal(shape)
        case ListShape():
            element = _type_of(shape.element, ids)
            return element and ListType(next(ids), element, element_required=False)
        case MapShape():
            value = _type_of(shape.value, ids)
            key = PRIMITIVES[shape.key]
            return value and MapType(next(ids), key, next(ids), value, value_required=False)
        case dict():
            fields = shape_fields(shape, ids)
            return StructType(*fields) if fields else None
        case None:
            return None


def additions(known: StructType, fields: Mapping[str, Shape]) -> dict[str, Shape]:
    """What a table has to add for documents of a shape: columns that it lacks, and wider types.

    Only what Iceberg allows is in it: int to long, float to double, more digits of a decimal. A value that fits none
    of them is the matter of its record.
    """
    found: dict[str, Shape] = {}
    types = {it.name: it.field_type for it in known.fields}
    for name, shape in fields.items():
        if shape is None:
            continue
        if name not in types:
            found[name] = for_new_columns(shape)
        elif (more := _wider(types[name], shape)) is not None:
            found[name] = more
    return found


def _wider(kind: IcebergType, shape: Shape) -> Shape:
    match kind, shape:
        case (StructType(), dict()):
            return additions(kind, shape) or None
        case (ListType(), ListShape()):
            more = _wider(kind.element_type, shape.element)
            return None if more is None else ListShape(more)
        case (MapType(), MapShape()):
            more = _wider(kind.value_type, shape.value)
            return None if more is None else MapShape(shape.key, more)
        case (IntegerType(), "long"):
            return "long"
        case (FloatType(), "double"):
            return "double"
        case (DecimalType(), str()) if shape.startswith("decimal"):
            told = _decimal(shape)
            is_wider = told.precision > kind.precision and told.scale == kind.scale
            return shape if is_wider else None
        case _:
            return None
