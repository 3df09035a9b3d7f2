"""What a task of a micro-batch does: records in, data files out, and a report to the driver.

A task yields rows of `kind` and `body`:

    | kind    | body                                                                     |
    |---------|--------------------------------------------------------------------------|
    | file    | entry of a data file that it has written                                 |
    | bad     | a bad record                                                             |
    | unkept  | nothing: there are more bad records than a task may keep in memory       |
    | lacking | columns that the table has to add first; then it has written nothing more |
    | keys    | Arrow data: keys whose rows are replaced or deleted, of an upsert        |
    | refused | place of a record whose row no file can have, why, and its key; then there is another run |
    | ignored | paths of fields that have no column and will have none, and why          |
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import pyarrow as pa

from headrace.pipeline.tables.configuration import UPSERT, TableConfig
from headrace.pipeline.tables.data_files import DataFileWriter, TableFiles, encode_data_file
from headrace.pipeline.tables.decoding import decoder_of
from headrace.pipeline.tables.newest_rows import NewestRows
from headrace.pipeline.tables.rows import BadRecord, Refusals, RowMaker, encode_shape

FILE: Final = "file"
BAD: Final = "bad"
UNKEPT: Final = "unkept"
LACKING: Final = "lacking"
KEYS: Final = "keys"
REFUSED: Final = "refused"
IGNORED: Final = "ignored"
RESULT_SCHEMA: Final = "kind string, body binary"
# Of one task, unless more bad records than are usual are allowed; the driver holds those of all tasks.
MAX_BAD_BYTES: Final = 32 << 20
MAX_BYTES_OF_A_BAD_RECORD: Final = 3_500  # on average, of as many as are allowed
_ARROW_RESULT: Final = pa.schema([("kind", pa.string()), ("body", pa.binary())])
Told = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class WriteTask:
    """A task, as each worker gets it."""

    table: TableConfig
    files: TableFiles
    max_bad: int
    refusals: Refusals = field(default_factory=Refusals)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run it on the records of one partition of the micro-batch."""
        for kind, body in self._run(batches):
            yield pa.RecordBatch.from_pydict({"kind": [kind], "body": [body]}, _ARROW_RESULT)

    def _run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Told]:
        decoder = decoder_of(self.table)
        maker = RowMaker(self.table, self.files.metadata, decoder, self.refusals)
        is_upsert = self.table.mode == UPSERT
        key = self.table.key if is_upsert else ""
        writer = DataFileWriter(self.files, self.table.target_file_bytes, self.max_bad, key)
        newest = NewestRows() if is_upsert else None
        bad = _BadRecords(self.max_bad)
        for batch in batches:
            made = maker.make(batch)
            bad.add(made.bad)
            if maker.lacking:
                continue  # all of it is done once more, with those columns
            if newest is not None:
                newest.add(made)
            else:
                yield from _told(writer.add(made.rows, made.places))
        if maker.lacking:
            yield LACKING, encode_shape(maker.lacking).encode()
            return
        if newest is not None:
            for rows, places in newest.pieces():
                yield from _told(writer.add(rows, places))
            if keys := newest.keys():
                yield KEYS, _arrow_bytes(keys, self.files.arrow_schema().field(self.table.key))
        yield from _told(writer.finish())
        for it in writer.unwritable:
            yield REFUSED, msgspec.msgpack.encode((it.place, it.reason, it.key))
        yield from ((BAD, msgspec.msgpack.encode(it)) for it in bad.records)
        if bad.is_cut:
            yield UNKEPT, b""
        if maker.ignored:
            yield IGNORED, msgspec.msgpack.encode(maker.ignored)


@dataclass(slots=True)
class _BadRecords:
    """Bad records up to a number and a size; with one more, the driver stops the table."""

    max_count: int
    records: list[BadRecord] = field(default_factory=list)
    size_bytes: int = 0
    is_cut: bool = False

    def add(self, found: Iterable[BadRecord]) -> None:
        max_bytes = max(MAX_BAD_BYTES, self.max_count * MAX_BYTES_OF_A_BAD_RECORD)
        for it in found:
            if len(self.records) > self.max_count or self.size_bytes > max_bytes:
                self.is_cut = True
                return
            self.records.append(it)
            self.size_bytes += it.size_bytes()


def _told(files: Iterable[Any]) -> Iterator[Told]:
    for it in files:
        yield FILE, encode_data_file(it)


def _arrow_bytes(values: list[Any], kind: pa.Field) -> bytes:
    batch = pa.record_batch([pa.array(values, kind.type)], names=[kind.name])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())
