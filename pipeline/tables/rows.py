"""Records to rows of a table, bad records, and columns that the table lacks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import pyarrow as pa
from pyiceberg.schema import Schema

from headrace.pipeline.tables.column_types import additions
from headrace.pipeline.tables.configuration import (
    OFFSET,
    PARTITION,
    RESERVED,
    TIMESTAMP,
    TOPIC,
    UPSERT,
    TableConfig,
)
from headrace.pipeline.tables.decoding import Decoder
from headrace.pipeline.tables.errors import BadRecordError
from headrace.pipeline.tables.events import event_of
from headrace.pipeline.tables.shapes import ListShape, MapShape, Shape, merged_fields
from headrace.pipeline.tables.values import StructFit, Surplus

_MAX_REASON: Final = 500  # characters


class BadRecord(msgspec.Struct, frozen=True):
    """A record that does not fit, and why."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    reason: str

    def size_bytes(self) -> int:
        """What it takes in memory, about."""
        return len(self.key or b"") + len(self.value or b"") + _MAX_REASON


@dataclass(slots=True)
class Rows:
    """What became of some records."""

    rows: list[dict[str, object]] = field(default_factory=list)
    # Of an upsert, in order: keys with their rows, or without one where the record is a tombstone.
    changes: list[tuple[object, dict[str, object] | None]] = field(default_factory=list)
    bad: list[BadRecord] = field(default_factory=list)
    lacking: dict[str, Shape] = field(default_factory=dict)  # what the table has to add first


class RowMaker:
    """Makes rows for one state of a table's columns."""

    def __init__(self, table: TableConfig, schema: Schema, decoder: Decoder) -> None:
        self._table = table
        self._struct = schema.as_struct()
        self._decoder = decoder
        self._surplus = Surplus()
        names = {it.name for it in schema.fields}
        self._origin = [it for it in (TOPIC, PARTITION, OFFSET, TIMESTAMP) if it in names]
        own = {*self._origin, table.key}
        document_fields = [it for it in schema.fields if it.name not in own]
        self._documents = StructFit(type(self._struct)(*document_fields), self._surplus)
        self._never_added = own | RESERVED

    def make(self, records: pa.RecordBatch) -> Rows:
        """Make rows of records, with the columns of Spark's Kafka source."""
        found = Rows()
        for record in _records(records):
            try:
                if record["value"] is None:
                    found.changes.append((self._deleted_key(record), None))
                elif (row := self._row(record, found)) is not None:
                    found.rows.append(row)
                    if self._table.mode == UPSERT:
                        found.changes.append((row[self._table.key], row))
            except BadRecordError as error:
                found.bad.append(_bad(record, str(error)))
        return found

    def _row(self, record: Mapping[str, Any], found: Rows) -> dict[str, object] | None:
        """The row; None for one that has to wait for columns.

        Raises:
            BadRecordError: it does not fit.
        """
        document = self._decoder.decode(record["value"])
        if self._table.deduplicate_by:
            event_of(document, self._table)
        self._surplus.is_seen = False
        try:
            row = self._documents.fit(document)
        except BadRecordError:
            if self._note_lacking(document, found):
                return None
            raise
        if self._surplus.is_seen and self._note_lacking(document, found):
            return None
        return self._with_origin(row, record)

    def _note_lacking(self, document: Mapping[str, Any], found: Rows) -> bool:
        """Whether the table has to change for a document; what it lacks is noted.

        Raises:
            BadRecordError: it has a field without a column, and that is to be refused.
        """
        if self._table.new_fields == "ignore":
            return False
        shape = {
            it: kind
            for it, kind in self._decoder.shape(document).items()
            if it not in self._never_added
        }
        more = additions(self._struct, shape)
        if more and self._table.new_fields == "reject":
            raise BadRecordError(f"there is no column for {', '.join(sorted(more))}")
        found.lacking = merged_fields(found.lacking, more)
        return bool(more)

    def _deleted_key(self, record: Mapping[str, Any]) -> object:
        if self._table.mode != UPSERT:
            raise BadRecordError("it has no value")
        return self._key(record["key"])

    def _with_origin(self, row: dict[str, object], record: Mapping[str, Any]) -> dict[str, object]:
        for name in self._origin:
            row[name] = record[name.removeprefix("kafka_")]
        if self._table.key:
            row[self._table.key] = self._key(record["key"])
        return row

    def _key(self, key: bytes | None) -> object:
        if key is None:
            if self._table.mode == UPSERT:
                raise BadRecordError("it has no key")
            return None
        if self._table.key_type == "binary":
            return key
        try:
            text = key.decode()
            return int(text) if self._table.key_type == "long" else text
        except ValueError as error:
            raise BadRecordError(f"its key is no {self._table.key_type}") from error


def _records(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    names = [it for it in batch.schema.names if it != "headers"]
    for values in zip(*(batch.column(it).to_pylist() for it in names), strict=True):
        yield dict(zip(names, values, strict=True))


def _bad(record: Mapping[str, Any], reason: str) -> BadRecord:
    return BadRecord(
        record["topic"],
        record["partition"],
        record["offset"],
        int(record["timestamp"].timestamp() * 1000),
        record["key"],
        record["value"],
        reason[:_MAX_REASON],
    )


def encode_shape(fields: Mapping[str, Shape]) -> str:
    """Shapes as JSON, from a task to the driver."""
    return msgspec.json.encode({name: _plain(it) for name, it in fields.items()}).decode()


def decode_shape(text: str) -> dict[str, Shape]:
    """Read what `encode_shape` wrote."""
    return {name: _shape(it) for name, it in msgspec.json.decode(text).items()}


def _plain(shape: Shape) -> object:
    match shape:
        case ListShape():
            return ["list", _plain(shape.element)]
        case MapShape():
            return ["map", shape.key, _plain(shape.value)]
        case dict():
            return {name: _plain(it) for name, it in shape.items()}
        case _:
            return shape


def _shape(plain: Any) -> Shape:
    match plain:
        case ["list", element]:
            return ListShape(_shape(element))
        case ["map", key, value]:
            return MapShape(key, _shape(value))
        case dict():
            return {name: _shape(it) for name, it in plain.items()}
        case str():
            return plain
        case _:
            return None
