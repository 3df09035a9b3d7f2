"""Schemas of a registry with Confluent's REST interface, and the header that names one in a record's value.

A value begins with a byte 0 and the schema's id as four bytes, big-endian. Of Protobuf, the path to its message
follows: a count and indexes as zigzag varints, where a single 0 stands for the first message.

Source: Confluent's documentation of the Schema Registry: "Wire format", and `GET /schemas/ids/{id}`.
"""

import json
import time
import urllib.error
import urllib.request
from base64 import b64encode
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlsplit, urlunsplit

from headrace.pipeline.tables.errors import BadRecordError, TableError

MAX_SCHEMAS: Final = 1_000  # that a task keeps; with one more, it forgets them
MAX_REFERENCES: Final = 100  # of one schema, those of its references among them
MAX_SCHEMA_BYTES: Final = 4 << 20
TIMEOUT_S: Final = 10.0
ATTEMPTS: Final = 3
_WAIT_S: Final = 0.5
_HEADER_BYTES: Final = 5
_NOT_FOUND: Final = 404


@dataclass(frozen=True, slots=True)
class Framed:
    """A value with the header of a registry."""

    schema_id: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema, and the schemas that it refers to, by the names that it has for them."""

    kind: str  # AVRO, JSON or PROTOBUF
    text: str
    references: tuple[tuple[str, str], ...]


def unframed(value: bytes) -> Framed:
    """Split a value.

    Raises:
        BadRecordError: it has no such header.
    """
    if len(value) < _HEADER_BYTES or value[0] != 0:
        raise BadRecordError("it does not begin with the id of a schema in the registry")
    return Framed(int.from_bytes(value[1:_HEADER_BYTES], "big"), value[_HEADER_BYTES:])


class SchemaRegistry:
    """Reads schemas, each once."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        self.url = urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
        user = f"{parts.username or ''}:{parts.password or ''}"
        self._authorization = f"Basic {b64encode(user.encode()).decode()}" if parts.username else ""
        self._schemas: dict[int, RegisteredSchema] = {}

    def schema(self, schema_id: int) -> RegisteredSchema:
        """Return a schema by its id.

        Raises:
            BadRecordError: the registry has none.
            TableError: the registry does not answer.
        """
        found = self._schemas.get(schema_id)
        if found is None:
            told = self._get(f"/schemas/ids/{schema_id}")
            if told is None:
                raise BadRecordError(f"the registry has no schema {schema_id}")
            found = self._with_references(told)
            if len(self._schemas) >= MAX_SCHEMAS:
                self._schemas.clear()
            self._schemas[schema_id] = found
        return found

    def latest(self, subject: str) -> RegisteredSchema | None:
        """Return the newest schema of a subject, None if there is no such subject.

        Raises:
            BadRecordError: it refers to what the registry does not have.
            TableError: the registry does not answer.
        """
        told = self._get(f"/subjects/{quote(subject, safe='')}/versions/latest")
        return None if told is None else self._with_references(told)

    def _with_references(self, told: dict[str, Any]) -> RegisteredSchema:
        references: dict[str, str] = {}
        self._add_references(told, references)
        return RegisteredSchema(
            told.get("schemaType", "AVRO"), told["schema"], tuple(references.items())
        )

    def _add_references(self, told: dict[str, Any], found: dict[str, str]) -> None:
        """Add what a schema refers to, that which others need first."""
        for it in told.get("references") or ():
            if it["name"] in found:
                continue
            if len(found) >= MAX_REFERENCES:
                raise BadRecordError(f"its schema has more than {MAX_REFERENCES} references")
            subject = quote(it["subject"], safe="")
            other = self._get(f"/subjects/{subject}/versions/{it['version']}")
            if other is None:
                raise BadRecordError(f"the registry has no subject {it['subject']}")
            self._add_references(other, found)
            found[it["name"]] = other["schema"]

    def _get(self, path: str) -> dict[str, Any] | None:
        request = urllib.request.Request(f"{self.url}{path}")
        request.add_header("Accept", "application/vnd.schemaregistry.v1+json, application/json")
        if self._authorization:
            request.add_header("Authorization", self._authorization)
        reason = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(_WAIT_S)
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                    found: dict[str, Any] = json.loads(answer.read(MAX_SCHEMA_BYTES))
                    return found
            except urllib.error.HTTPError as error:
                if error.code == _NOT_FOUND:
                    return None
                reason = f"{error.code} {error.reason}"
            except (OSError, ValueError) as error:
                reason = str(error)
        raise TableError(f"the registry {self.url} does not answer {path}: {reason}")
