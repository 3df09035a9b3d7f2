"""What a task of a micro-batch does: records in, data files out, with what has to be told to the driver.

A task yields rows of `kind` and `body`:

    | kind    | body                                                                     |
    |---------|--------------------------------------------------------------------------|
    | file    | entry of a data file that it has written                                 |
    | bad     | a bad record                                                             |
    | lacking | columns that the table has to add first; then it has written nothing more |
    | keys    | Arrow data: keys whose rows are replaced or deleted, of an upsert        |
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import pyarrow as pa

from headrace.pipeline.tables.configuration import UPSERT, TableConfig
from headrace.pipeline.tables.data_files import DataFileWriter, TableFiles, encode_data_file
from headrace.pipeline.tables.decoding import decoder_of
from headrace.pipeline.tables.rows import BadRecord, RowMaker, encode_shape
from headrace.pipeline.tables.shapes import Shape, merged_fields

FILE: Final = "file"
BAD: Final = "bad"
LACKING: Final = "lacking"
KEYS: Final = "keys"
RESULT_SCHEMA: Final = "kind string, body binary"
MAX_BAD_BYTES: Final = 32 << 20  # of one task; the driver holds those of all
_ARROW_RESULT: Final = pa.schema([("kind", pa.string()), ("body", pa.binary())])
Told = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class WriteTask:
    """A task, as each worker gets it."""

    table: TableConfig
    files: TableFiles
    max_bad: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run it on the records of one partition of the micro-batch."""
        for kind, body in self._run(batches):
            yield pa.RecordBatch.from_pydict({"kind": [kind], "body": [body]}, _ARROW_RESULT)

    def _run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Told]:
        maker = RowMaker(self.table, self.files.metadata.schema(), decoder_of(self.table))
        writer = DataFileWriter(self.files, self.table.target_file_bytes)
        is_upsert = self.table.mode == UPSERT
        newest: dict[Any, dict[str, object] | None] = {}  # of each key; records come by offset
        bad = _BadRecords(self.max_bad)
        lacking: dict[str, Shape] = {}
        for batch in batches:
            made = maker.make(batch)
            bad.add(made.bad)
            lacking = merged_fields(lacking, made.lacking)
            if lacking:
                continue  # all of it is done once more, with those columns
            if is_upsert:
                newest.update(made.changes)
            else:
                yield from _told(writer.add(made.rows))
        if lacking:
            yield LACKING, encode_shape(lacking).encode()
            return
        if is_upsert:
            yield from _told(writer.add(it for it in newest.values() if it is not None))
            yield KEYS, _arrow_bytes(list(newest), self.files.arrow_schema().field(self.table.key))
        yield from _told(writer.finish())
        yield from ((BAD, msgspec.msgpack.encode(it)) for it in bad.records)


@dataclass(slots=True)
class _BadRecords:
    """Bad records up to a number and a size; with one more, the driver stops the table."""

    max_count: int
    records: list[BadRecord] = field(default_factory=list)
    size_bytes: int = 0

    def add(self, found: Iterable[BadRecord]) -> None:
        for it in found:
            if len(self.records) > self.max_count or self.size_bytes > MAX_BAD_BYTES:
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
