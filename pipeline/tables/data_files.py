"""Writes data files of a table, in any process: Parquet where the table has its data, and nothing of the catalog.

A file belongs to the table once a snapshot names it. Names are new each time, so what a task left that died is never
taken for another's; `maintenance` removes it.
"""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io import FileIO

# Not a public name of pyiceberg, whose version is bounded for that: the public `add_files` reads every file once more
# on the driver, and cannot tell the partition of a bucket.
from pyiceberg.io.pyarrow import ArrowScan, _dataframe_to_data_files
from pyiceberg.manifest import DataFile
from pyiceberg.table import FileScanTask, Table
from pyiceberg.table.metadata import TableMetadata

_MIN_ROWS: Final = 1_000  # of a piece that is kept as Arrow data


@dataclass(frozen=True, slots=True)
class TableFiles:
    """What a task has to know of a table; small, and the same for all tasks of a job."""

    metadata: TableMetadata
    io: FileIO

    @classmethod
    def of(cls, table: Table) -> "TableFiles":
        """Take it from a table, without its history."""
        history: dict[str, object] = {
            "snapshots": [],
            "snapshot_log": [],
            "metadata_log": [],
            "refs": {},
            "current_snapshot_id": None,
            "statistics": [],
        }
        return cls(table.metadata.model_copy(update=history), table.io)

    def write(self, rows: pa.Table) -> list[DataFile]:
        """Write rows into files, at least one for each partition that they are in."""
        return list(_dataframe_to_data_files(self.metadata, rows, self.io)) if len(rows) else []

    def read(self, tasks: Sequence[FileScanTask]) -> pa.Table:
        """Read files with the columns that the table has now, without the rows that are deleted in them."""
        schema = self.metadata.schema()
        return ArrowScan(self.metadata, self.io, schema, AlwaysTrue()).to_table(tasks)

    def arrow_schema(self) -> pa.Schema:
        """The columns."""
        return self.metadata.schema().as_arrow()


class DataFileWriter:
    """Collects rows of one task, and writes them in files of about the size that is wanted."""

    def __init__(self, files: TableFiles, target_bytes: int) -> None:
        self._files = files
        self._schema = files.arrow_schema()
        self._target_bytes = target_bytes
        self._rows: list[dict[str, object]] = []
        self._batches: list[pa.RecordBatch] = []
        self._size_bytes = 0

    def add(self, rows: Iterable[dict[str, object]]) -> Iterator[DataFile]:
        """Take rows; yield files that have become full."""
        self._rows.extend(rows)
        if len(self._rows) >= _MIN_ROWS:
            self._pack()
        if self._size_bytes >= self._target_bytes:
            yield from self.finish()

    def finish(self) -> Iterator[DataFile]:
        """Write what is left."""
        self._pack()
        batches, self._batches, self._size_bytes = self._batches, [], 0
        if batches:
            yield from self._files.write(pa.Table.from_batches(batches, self._schema))

    def _pack(self) -> None:
        if self._rows:
            batch = pa.RecordBatch.from_pylist(self._rows, schema=self._schema)
            self._batches.append(batch)
            self._size_bytes += batch.nbytes
            self._rows = []


def encode_data_file(file: DataFile) -> bytes:
    """A data file's entry, from a task to its driver."""
    return pickle.dumps(file)


def decode_data_file(content: bytes) -> DataFile:
    """Read what `encode_data_file` wrote, in a task of this very job."""
    found = pickle.loads(content)  # noqa: S301 - Spark hands results of tasks over in the same way
    assert isinstance(found, DataFile)
    return found
