"""Avro by schemas of a registry.

Source: Apache Avro 1.12, "Specification", for logical types and how they are encoded; fastavro gives their values.
"""

import io
import json
from collections.abc import Mapping
from typing import Any, Final

import fastavro

from headrace.pipeline.tables.column_types import MAX_PRECISION
from headrace.pipeline.tables.errors import BadRecordError
from headrace.pipeline.tables.registry import RegisteredSchema
from headrace.pipeline.tables.shapes import (
    MAX_DEPTH,
    ListShape,
    MapShape,
    SchemaWalk,
    Shape,
    walked,
)

_PRIMITIVES: Final[Mapping[str, Shape]] = {
    "null": None,
    "boolean": "boolean",
    "int": "int",
    "long": "long",
    "float": "float",
    "double": "double",
    "bytes": "binary",
    "string": "string",
    "fixed": "binary",
    "enum": "string",
}
_LOGICAL: Final[Mapping[str, str]] = {
    "date": "date",
    "timestamp-millis": "timestamptz",
    "timestamp-micros": "timestamptz",
    "local-timestamp-millis": "timestamp",
    "local-timestamp-micros": "timestamp",
    "uuid": "string",
    "time-millis": "string",
    "time-micros": "string",
}


class AvroSchema:
    """One schema: a record."""

    def __init__(self, registered: RegisteredSchema, message: str) -> None:
        del message  # of Protobuf
        try:
            named: dict[str, Any] = {}
            for _, text in registered.references:
                fastavro.parse_schema(json.loads(text), named_schemas=named)
            schema = json.loads(registered.text)
            self._schema = fastavro.parse_schema(schema, named_schemas=named)
        except (ValueError, KeyError, TypeError, fastavro.schema.SchemaParseException) as error:
            raise BadRecordError(f"its schema is no Avro: {error}") from error
        self._named = named
        found = walked(lambda walk: _shape(self._schema, named, 0, walk))
        if not isinstance(found, dict):
            raise BadRecordError("its Avro schema is no record")
        self._shape = found
        if _EmptyItems(self._schema, named).are_there:
            # A few bytes of a record would become as many items as their number says.
            raise BadRecordError("its Avro schema has an array whose items take no bytes")

    def decode(self, payload: bytes) -> Mapping[str, Any]:
        """Decode a value."""
        stream = io.BytesIO(payload)
        try:
            found = fastavro.schemaless_reader(stream, self._schema, None)
        except (EOFError, ValueError, IndexError, KeyError, OverflowError, TypeError) as error:
            raise BadRecordError(
                f"it is no Avro of its schema: {str(error) or type(error).__name__}"
            ) from error
        if stream.tell() != len(payload):
            raise BadRecordError("it is longer than its Avro schema says")
        assert isinstance(found, dict)
        return found

    def shape(self, document: Mapping[str, Any]) -> Mapping[str, Shape]:
        """That of the schema."""
        del document
        return self._shape


class _EmptyItems:
    """Finds arrays that may have any number of items in no bytes; each named type is looked at once."""

    def __init__(self, schema: Any, named: Mapping[str, Any]) -> None:
        self._named = named
        self._known: dict[str, bool] = {}  # whether a record takes no bytes
        types = [schema, *named.values()]
        fields = [it["type"] for one in types if _is_record(one) for it in one["fields"]]
        self.are_there = any(map(self._are_in, fields))

    def _are_in(self, schema: Any) -> bool:
        if isinstance(schema, list):
            return any(map(self._are_in, schema))
        if isinstance(schema, str) or _is_record(schema):
            return False  # a record has a name, so it is looked at by itself
        kind = schema["type"]
        if kind == "array":
            return self._takes_no_bytes(schema["items"]) or self._are_in(schema["items"])
        return self._are_in(schema["values"] if kind == "map" else kind)

    def _takes_no_bytes(self, schema: Any) -> bool:
        if isinstance(schema, list):
            return False  # a union begins with the number of its branch
        if isinstance(schema, str):
            return schema == "null" or (
                schema in self._named and self._takes_no_bytes(self._named[schema])
            )
        if _is_record(schema):
            name = schema["name"]
            if name not in self._known:
                self._known[name] = True  # for one that is in itself
                inner = (self._takes_no_bytes(it["type"]) for it in schema["fields"])
                self._known[name] = all(inner)
            return self._known[name]
        kind = schema["type"]
        if kind == "fixed":
            return not schema["size"]
        return kind not in ("array", "map", "enum") and self._takes_no_bytes(kind)


def _is_record(schema: Any) -> bool:
    return isinstance(schema, dict) and schema["type"] in ("record", "error")


def _shape(schema: Any, named: Mapping[str, Any], depth: int, walk: SchemaWalk) -> Shape:
    if depth > MAX_DEPTH:
        return "string"  # a type that contains itself: its JSON text
    if isinstance(schema, list):
        branches = [it for it in schema if it != "null"]
        shapes = [_shape(it, named, depth, walk) for it in branches]
        return shapes[0] if len(shapes) == 1 else ("string" if shapes else None)
    if isinstance(schema, str):
        is_known = schema in _PRIMITIVES
        return _PRIMITIVES[schema] if is_known else _shape(named[schema], named, depth + 1, walk)
    kind = schema["type"]
    if kind in ("record", "error"):
        fields = schema["fields"]
        with walk.into(schema["name"], len(fields)) as is_text:
            inner = (
                {}
                if is_text
                else {it["name"]: _shape(it["type"], named, depth + 1, walk) for it in fields}
            )
            return "string" if is_text else inner
    if kind == "array":
        element = _shape(schema["items"], named, depth + 1, walk)
        return None if element is None else ListShape(element)
    if kind == "map":
        value = _shape(schema["values"], named, depth + 1, walk)
        return None if value is None else MapShape("string", value)
    logical = schema.get("logicalType")
    if logical == "decimal" and schema["precision"] <= MAX_PRECISION:
        return f"decimal({schema['precision']}, {schema.get('scale', 0)})"
    if logical in _LOGICAL:
        return _LOGICAL[logical]
    return _shape(kind, named, depth, walk)
