"""Records to rows of a table, bad records, and columns that the table lacks.

A record is a row, a bad record, or the reason to add columns. Any exception that comes while it is looked at, or while
its row is made Arrow data, makes it a bad record: no record stops its table.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import pyarrow as pa
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.types import StructType

from headrace.pipeline.tables.column_types import additions
from headrace.pipeline.tables.configuration import (
    OFFSET,
    PARTITION,
    TIMESTAMP,
    TOPIC,
    UPSERT,
    TableConfig,
)
from headrace.pipeline.tables.data_files import Place
from headrace.pipeline.tables.decoding import Decoder
from headrace.pipeline.tables.errors import NOT_OF_A_RECORD, BadRecordError, told
from headrace.pipeline.tables.events import event_of
from headrace.pipeline.tables.field_names import (
    field_names,
    too_many,
)
from headrace.pipeline.tables.partitioning import floating_partitions, too_long_for_a_path
from headrace.pipeline.tables.shapes import ListShape, MapShape, Shape, merged_fields
from headrace.pipeline.tables.table_state import MAX_IGNORED_FIELDS
from headrace.pipeline.tables.values import StructFit, Surplus, shown

_MAX_REASON: Final = 500  # characters
_PLACE: Final = ("topic", "partition", "offset")
# Microseconds since 1970 of the years 1 to 9999, which readers in Python can show.
_TIMES_US: Final = range(-62_135_596_800_000_000, 253_402_300_800_000_000)
_MAX_LONG: Final = 2**63 - 1


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


@dataclass(frozen=True, slots=True)
class Refusals:
    """What an earlier run on the same records has found that the table cannot have."""

    fields: Mapping[str, str] = field(default_factory=dict)  # new columns, and why
    places: Mapping[Place, str] = field(default_factory=dict)  # records whose rows no file can have
    keys: Mapping[object, str] = field(
        default_factory=dict
    )  # of an upsert, that get no row any more
    may_add: bool = True  # else a record that needs new columns is a bad one


@dataclass(slots=True)
class Rows:
    """What became of some records."""

    rows: pa.RecordBatch
    places: pa.RecordBatch  # topic, partition and offset of each row
    # Of an upsert, in order: keys with the number of their row, or without one where the record is a tombstone.
    changes: list[tuple[object, int | None]]
    bad: list[BadRecord]


@dataclass(slots=True)
class _Made:
    """Rows before they are Arrow data, by the number of their record."""

    rows: list[dict[str, object]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    keys: list[tuple[object, int | None]] = field(default_factory=list)  # with numbers of records


class RowMaker:
    """Makes rows for one state of a table's columns."""

    def __init__(
        self,
        table: TableConfig,
        metadata: TableMetadata,
        decoder: Decoder,
        refusals: Refusals | None = None,
    ) -> None:
        self._table = table
        self._decoder = decoder
        self._refusals = refusals or Refusals()
        self._surplus = Surplus()
        schema = metadata.schema()
        self._arrow_schema = schema.as_arrow()
        self._columns = {it.name for it in schema.fields}
        self._field_count = len(schema.column_names)
        self._origin = [it for it in (TOPIC, PARTITION, OFFSET, TIMESTAMP) if it in self._columns]
        own = frozenset({*self._origin, *([table.key] if table.key else [])})
        document_fields = [it for it in schema.fields if it.name not in own]
        self._struct = StructType(*document_fields)
        self._documents = StructFit(self._struct, self._surplus)
        self._names = field_names(table, metadata, own)
        self._too_long = too_long_for_a_path(metadata)
        self._floating = floating_partitions(metadata)
        self.lacking: dict[str, Shape] = {}  # what the table has to add first
        self.ignored: dict[str, str] = {}  # paths of fields without a column, and why

    def make(self, records: pa.RecordBatch) -> Rows:
        """Make rows of records, with the columns of Spark's Kafka source; none once columns are lacking."""
        made, bad = _Made(), list[BadRecord]()
        taken = _taken(records)
        for number, record in enumerate(taken):
            try:
                self._take(record, number, made)
            except BadRecordError as error:
                bad.append(_bad(record, str(error)))
            except NOT_OF_A_RECORD:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, its record must not stop the others
                bad.append(_bad(record, told(error)))
        if self.lacking:
            made = _Made()
        kept: list[int] = []
        pieces = list(self._packed(made.rows, made.numbers, taken, kept, bad))
        rows = {number: row for row, number in enumerate(kept)}
        changes = [
            (key, None if number is None else rows[number])
            for key, number in made.keys
            if number is None or number in rows
        ]
        empty = pa.RecordBatch.from_pylist([], schema=self._arrow_schema)
        places = records.select(_PLACE).take(pa.array(kept, pa.int64()))
        return Rows(_joined(pieces) if pieces else empty, places, changes, bad)

    def _take(self, record: Mapping[str, Any], number: int, made: _Made) -> None:
        if self._refusals.places and (why := self._refusals.places.get(_place(record))):
            raise BadRecordError(why)
        if record["value"] is None:
            made.keys.append((self._deleted_key(record), None))
        elif (row := self._row(record)) is not None:
            made.rows.append(row)
            made.numbers.append(number)
            if self._table.mode == UPSERT:
                made.keys.append((row[self._table.key], number))

    def _packed(
        self,
        rows: list[dict[str, object]],
        numbers: Sequence[int],
        records: Sequence[Mapping[str, Any]],
        kept: list[int],
        bad: list[BadRecord],
    ) -> Iterator[pa.RecordBatch]:
        """Rows as Arrow data. Where that fails, halves are tried, down to the rows that are the reason."""
        if not rows:
            return
        try:
            batch = pa.RecordBatch.from_pylist(rows, schema=self._arrow_schema)
        except NOT_OF_A_RECORD:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            if len(rows) == 1:
                bad.append(_bad(records[numbers[0]], told(error)))
                return
            half = len(rows) // 2
            yield from self._packed(rows[:half], numbers[:half], records, kept, bad)
            yield from self._packed(rows[half:], numbers[half:], records, kept, bad)
        else:
            kept.extend(numbers)
            yield batch

    def _row(self, record: Mapping[str, Any]) -> dict[str, object] | None:
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
            if self._note_lacking(document):
                return None
            raise
        if self._surplus.is_seen and self._note_lacking(document):
            return None
        row = self._with_origin(row, record)
        for name, is_too_long in self._too_long:
            if is_too_long(row[name]):
                raise BadRecordError(f"{name}: the table is partitioned by it, and it is too long")
        for name in self._floating:
            row[name] = _of_one_partition(name, row[name])
        return row

    def _note_lacking(self, document: Mapping[str, Any]) -> bool:
        """Whether the table has to change for a document; what it lacks is noted.

        Raises:
            BadRecordError: it has a field without a column, and that is to be refused, or the table cannot have it.
        """
        if self._table.new_fields == "ignore":
            return False
        shape, ignored = self._names.admitted(self._decoder.shape(document))
        more = additions(self._struct, shape)
        if more and self._table.new_fields == "reject":
            raise BadRecordError(f"there is no column for {', '.join(sorted(more))}")
        for name in more:
            if name in self._refusals.fields:
                raise BadRecordError(f"{name}: {self._refusals.fields[name]}")
        if more and not self._refusals.may_add:
            raise BadRecordError(f"the table could not be given {', '.join(sorted(more))}")
        if more:
            self.lacking = self._with_room(merged_fields(self.lacking, more))
        for path, why in ignored.items():
            if len(self.ignored) < MAX_IGNORED_FIELDS and path not in self.ignored:
                self.ignored[path] = why
                if path in document:
                    self._documents.pass_over(path)
        return bool(more)

    def _with_room(self, lacking: dict[str, Shape]) -> dict[str, Shape]:
        """The same, if the table may come to have so many columns."""
        why = too_many(self._columns, self._field_count, lacking, self._table.max_columns)
        if why:
            raise BadRecordError(
                f"with its new fields {why}. Are names of fields data? Then give columns, and new_fields = `ignore`"
            )
        return lacking

    def _deleted_key(self, record: Mapping[str, Any]) -> object:
        if self._table.mode != UPSERT:
            raise BadRecordError("it has no value")
        return self._key(record["key"])

    def _with_origin(self, row: dict[str, object], record: Mapping[str, Any]) -> dict[str, object]:
        for name in self._origin:
            row[name] = record[name.removeprefix("kafka_")]
        if TIMESTAMP in self._origin and record["timestamp"] not in _TIMES_US:
            raise BadRecordError("its timestamp is not in the years 1 to 9999")
        if self._table.key:
            key = row[self._table.key] = self._key(record["key"])
            if key in self._refusals.keys:
                raise BadRecordError(f"as a record of its key: {self._refusals.keys[key]}")
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
            found = int(text) if self._table.key_type == "long" else text
        except ValueError as error:
            raise BadRecordError(f"its key is no {self._table.key_type}") from error
        if self._table.mode == UPSERT and str(found) != text:
            # Another key has this number, and its records may be in another partition and task.
            raise BadRecordError(f"its key {shown(text)} is not as {found} is written")
        if isinstance(found, int) and not -_MAX_LONG - 1 <= found <= _MAX_LONG:
            raise BadRecordError("its key does not fit into 64 bits")
        return found


def _joined(pieces: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """One batch of some; pyarrow itself has that from its version 19 on."""
    if len(pieces) == 1:
        return pieces[0]
    columns = [pa.concat_arrays(it) for it in zip(*(one.columns for one in pieces), strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=pieces[0].schema)


def _taken(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Records; timestamps are microseconds since 1970, for they may be in years that Python does not know."""
    names = [it for it in batch.schema.names if it != "headers"]
    columns = [
        (batch.column(it).cast(pa.int64()) if it == "timestamp" else batch.column(it)).to_pylist()
        for it in names
    ]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _of_one_partition(name: str, value: Any) -> object:
    """A number that is in one partition only: 0.0 for -0.0, which would be in both."""
    if value is None:
        return None
    if math.isnan(value):
        raise BadRecordError(f"{name}: the table is partitioned by it, and it is no number")
    return value + 0.0


def _place(record: Mapping[str, Any]) -> Place:
    return record["topic"], record["partition"], record["offset"]


def _bad(record: Mapping[str, Any], reason: str) -> BadRecord:
    return BadRecord(
        *_place(record),
        record["timestamp"] // 1000,
        record["key"],
        record["value"],
        reason[:_MAX_REASON].encode(errors="backslashreplace").decode(),
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
