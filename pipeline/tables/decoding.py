"""Values of records to documents."""

import json
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping
from typing import Any, Final, Protocol

import msgspec

from headrace.pipeline.tables.configuration import JSON, TableConfig
from headrace.pipeline.tables.errors import BadRecordError
from headrace.pipeline.tables.shapes import Shape, shape_of

_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


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
            raise BadRecordError(no_json(value, error)) from error
        if not isinstance(document, dict):
            raise BadRecordError("it is JSON, but no object")
        return document

    def shape(self, document: Mapping[str, Any]) -> Mapping[str, Shape]:
        """See `Decoder.shape`."""
        found = shape_of(document)
        return found if isinstance(found, dict) else {}


def no_json(value: bytes, error: Exception) -> str:
    """Why a value is no JSON, where the decoder's own words would lead astray."""
    if value.startswith(BOM_UTF8):
        return "it is no JSON: it begins with a byte order mark (BOM)"
    if value.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return (
            "it is no JSON: it begins with the byte order mark (BOM) of UTF-16, and JSON is UTF-8"
        )
    if _SURROGATE.search(value) and _has_lone_surrogate(value):
        return "it has half of a surrogate pair, such as \\ud83d, without the other half: that is no text"
    return f"it is no JSON: {error}"


def _has_lone_surrogate(value: bytes) -> bool:
    try:
        text = json.loads(value)
        json.dumps(text, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False


def decoder_of(table: TableConfig) -> Decoder:
    """Make the decoder for a table's topics."""
    if table.format == JSON:
        return JsonDecoder()
    from headrace.pipeline.tables.registry_formats import registry_decoder  # noqa: PLC0415 - an extra of its own

    return registry_decoder(table)
