"""JSON documents with a JSON Schema of a registry, which they are checked against."""

import json
from collections.abc import Mapping
from typing import Any, Final

import jsonschema
import msgspec
from jsonschema.protocols import Validator
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT7

from headrace.pipeline.tables.decoding import no_json
from headrace.pipeline.tables.errors import BadRecordError
from headrace.pipeline.tables.registry import RegisteredSchema
from headrace.pipeline.tables.shapes import ListShape, MapShape, Shape, merged_fields, shape_of

_PRIMITIVES: Final = {
    "boolean": "boolean",
    "integer": "long",
    "number": "double",
    "string": "string",
}
_TIMES: Final = {"date-time": "timestamptz", "date": "date"}


class JsonSchema:
    """One schema: an object."""

    def __init__(self, registered: RegisteredSchema, message: str) -> None:
        del message  # of Protobuf
        try:
            schema = json.loads(registered.text)
            others = [
                (name, Resource.from_contents(json.loads(text), default_specification=DRAFT7))
                for name, text in registered.references
            ]
            kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft7Validator)
            kind.check_schema(schema)
        except (ValueError, jsonschema.SchemaError) as error:
            raise BadRecordError(f"its schema is no JSON Schema: {str(error)[:200]}") from error
        self._validator: Validator = kind(schema, registry=Registry().with_resources(others))
        self._decode = msgspec.json.Decoder().decode
        found = _shape(schema)
        self._shape = found if isinstance(found, dict) else {}

    def decode(self, payload: bytes) -> Mapping[str, Any]:
        """Decode a value, and check it."""
        try:
            document = self._decode(payload)
            problem = jsonschema.exceptions.best_match(self._validator.iter_errors(document))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadRecordError(no_json(payload, error)) from error
        except Unresolvable as error:
            raise BadRecordError(f"its schema refers to what is not there: {error}") from error
        if problem is not None:
            raise BadRecordError(
                f"it does not fit its schema: {problem.json_path}: {problem.message}"
            )
        if not isinstance(document, dict):
            raise BadRecordError("it is JSON, but no object")
        return document

    def shape(self, document: Mapping[str, Any]) -> Mapping[str, Shape]:
        """That of the schema, and of fields of the document that the schema does not declare."""
        own = shape_of(document)
        told = own if isinstance(own, dict) else {}
        return {
            **merged_fields({}, told),
            **{k: v for k, v in self._shape.items() if v is not None},
        }


def _shape(schema: Any) -> Shape:
    """The shape of a schema; None where it has none, such as for alternatives."""
    if not isinstance(schema, dict):
        return None
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = [it for it in kind if it != "null"]
        kind = kinds[0] if len(kinds) == 1 else None
    if kind == "object" or "properties" in schema:
        fields = {name: _shape(it) for name, it in (schema.get("properties") or {}).items()}
        if fields:
            return fields
        value = _shape(schema.get("additionalProperties"))
        return None if value is None else MapShape("string", value)
    if kind == "array":
        element = _shape(schema.get("items"))
        return None if element is None else ListShape(element)
    if kind == "string" and schema.get("format") in _TIMES:
        return _TIMES[schema["format"]]
    return _PRIMITIVES.get(kind) if isinstance(kind, str) else None
