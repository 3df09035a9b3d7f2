"""Values of records to documents."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from headrace.pipeline.tables.configuration import JSON, TableConfig
from headrace.pipeline.tables.errors import BadRecordError
from headrace.pipeline.tables.shapes import Shape, shape_of


class Decoder(Protocol):
    """Decodes the values of one topic's format."""

    def decode(self, value: bytes) -> Mapping[str, Any]:
        """Return the document.

        Raises:
            BadRecordError: it is none; the message says why.
        """
        ...

    def shape(self, document: Mapping[str, Any]) -> Mapping[str, Shape]:
        """The shape of the document that was decoded last: of its schema where there is one, else inferred."""
        ...


class JsonDecoder:
    """JSON objects without a schema."""

    def __init__(self) -> None:
        self._decode = msgspec.json.Decoder().decode

    def decode(self, value: bytes) -> Mapping[str, Any]:
        """See `Decoder.decode`."""
        try:
            document = self._decode(value)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadRecordError(f"it is no JSON: {error}") from error
        if not isinstance(document, dict):
            raise BadRecordError("it is JSON, but no object")
        return document

    def shape(self, document: Mapping[str, Any]) -> Mapping[str, Shape]:
        """See `Decoder.shape`."""
        found = shape_of(document)
        return found if isinstance(found, dict) else {}


def decoder_of(table: TableConfig) -> Decoder:
    """Make the decoder for a table's topics."""
    if table.format == JSON:
        return JsonDecoder()
    from headrace.pipeline.tables.registry_formats import registry_decoder  # noqa: PLC0415 - an extra of its own

    return registry_decoder(table)
