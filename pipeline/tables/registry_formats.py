"""Decoders of values whose schemas a registry has."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from headrace.pipeline.tables.avro_format import AvroSchema
from headrace.pipeline.tables.configuration import TableConfig
from headrace.pipeline.tables.errors import BadRecordError
from headrace.pipeline.tables.json_schema_format import JsonSchema
from headrace.pipeline.tables.protobuf_format import ProtobufSchema
from headrace.pipeline.tables.registry import (
    MAX_SCHEMAS,
    RegisteredSchema,
    SchemaRegistry,
    unframed,
)
from headrace.pipeline.tables.shapes import Shape


class FormatSchema(Protocol):
    """One schema of a registry, ready to decode."""

    def decode(self, payload: bytes) -> Mapping[str, Any]:
        """Return the document; raise `BadRecordError` if it is none."""
        ...

    def shape(self, document: Mapping[str, Any]) -> Mapping[str, Shape]:
        """The shape of documents: the schema's, and the given one where the schema has none."""
        ...


FORMATS: Final[Mapping[str, tuple[str, Callable[[RegisteredSchema, str], FormatSchema]]]] = {
    "avro": ("AVRO", AvroSchema),
    "json_schema": ("JSON", JsonSchema),
    "protobuf": ("PROTOBUF", ProtobufSchema),
}


class RegistryDecoder:
    """Decodes values by the schemas that they name."""

    def __init__(self, registry: SchemaRegistry, table: TableConfig) -> None:
        self._registry = registry
        self._table = table
        self._schemas: dict[int, FormatSchema] = {}
        self._last: FormatSchema | None = None

    def decode(self, value: bytes) -> Mapping[str, Any]:
        """See `Decoder.decode`."""
        framed = unframed(value)
        schema = self._schemas.get(framed.schema_id)
        if schema is None:
            registered = self._registry.schema(framed.schema_id)
            schema = format_schema(registered, self._table, f"schema {framed.schema_id}")
            if len(self._schemas) >= MAX_SCHEMAS:
                self._schemas.clear()
            self._schemas[framed.schema_id] = schema
        self._last = schema
        return schema.decode(framed.payload)

    def shape(self, document: Mapping[str, Any]) -> Mapping[str, Shape]:
        """See `Decoder.shape`."""
        assert self._last is not None
        return self._last.shape(document)


def format_schema(registered: RegisteredSchema, table: TableConfig, name: str) -> FormatSchema:
    """Make a schema of a table's format.

    Raises:
        BadRecordError: it is of another format, or is none; `name` is what the message calls it.
    """
    kind, make = FORMATS[table.format]
    if registered.kind != kind:
        raise BadRecordError(f"{name} is of the format {registered.kind}, not {kind}")
    return make(registered, table.message)


def registry_decoder(table: TableConfig) -> RegistryDecoder:
    """Make the decoder of a table's format."""
    return RegistryDecoder(SchemaRegistry(table.registry), table)
