"""Writes data files of a table, in any process: Parquet where the table has its data, and nothing of the catalog.

A file belongs to the table once a snapshot names it. Names are new each time, so what a task left that died is never
taken for another's; `maintenance` removes it.
"""

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io import FileIO

# Not a public name of pyiceberg, whose version is bounded for that: the public `add_files` reads every file once more
# on the driver, and cannot compute the partition of a bucket.
from pyiceberg.io.pyarrow import ArrowScan, _dataframe_to_data_files
from pyiceberg.manifest import DataFile
from pyiceberg.table import FileScanTask, Table, TableProperties
from pyiceberg.table.metadata import TableMetadata

from headrace.pipeline.tables.errors import NOT_OF_A_RECORD, TableError, told

_WITHOUT_BOUNDS: Final = {TableProperties.DEFAULT_WRITE_METRICS_MODE: "counts"}
Place = tuple[str, int, int]  # of a record: topic, partition, offset


@dataclass(frozen=True, slots=True)
class TableFiles:
    """What a task has to know of a table; small, and the same for all tasks of a job."""

    metadata: TableMetadata
    io: FileIO

    @classmethod
    def of(cls, table: Table) -> "TableFiles":
        """Take it from a table."""
        return cls.of_metadata(table.metadata, table.io)

    @classmethod
    def of_metadata(cls, metadata: TableMetadata, io: FileIO) -> "TableFiles":
        """Take it from metadata, without their history."""
        history: dict[str, object] = {
            "snapshots": [],
            "snapshot_log": [],
            "metadata_log": [],
            "refs": {},
            "current_snapshot_id": None,
            "statistics": [],
        }
        return cls(metadata.model_copy(update=history), io)

    def write(self, rows: pa.Table) -> list[DataFile]:
        """Write rows into files, at least one for each partition that they are in.

        Bounds of columns are left out of files where pyiceberg cannot make them, as of texts whose 16th character is
        the last one before the surrogates.

        Raises:
            TableError: the files have more rows or fewer.
        """
        if not len(rows):
            return []
        found = self._written(rows)
        count = sum(it.record_count for it in found)
        if count != len(rows):
            raise TableError(
                f"{len(rows)} rows became data files with {count}; nothing is committed"
            )
        return found

    def _written(self, rows: pa.Table) -> list[DataFile]:
        try:
            return list(_dataframe_to_data_files(self.metadata, rows, self.io))
        except NOT_OF_A_RECORD:
            raise
        except Exception:  # noqa: BLE001 - if it is not the bounds, it comes again
            properties = {**self.metadata.properties, **_WITHOUT_BOUNDS}
            metadata = self.metadata.model_copy(update={"properties": properties})
            return list(_dataframe_to_data_files(metadata, rows, self.io))

    def read(self, tasks: Sequence[FileScanTask]) -> pa.Table:
        """Read files with the columns that the table has now, without the rows that are deleted in them."""
        schema = self.metadata.schema()
        return ArrowScan(self.metadata, self.io, schema, AlwaysTrue()).to_table(tasks)

    def arrow_schema(self) -> pa.Schema:
        """The columns."""
        return self.metadata.schema().as_arrow()


@dataclass(frozen=True, slots=True)
class Unwritable:
    """A row that no file can have: the position of its record, why, and its key in an upsert."""

    place: Place
    reason: str
    key: object = None


class DataFileWriter:
    """Collects rows of one task, and writes them in files of about the size that is wanted.

    When a file cannot be written, its halves are, and so on: what is left are rows that cannot be written at all. A
    file system that refuses or is full is no matter of rows.
    """

    def __init__(
        self, files: TableFiles, target_bytes: int, max_unwritable: int, key: str = ""
    ) -> None:
        self._files = files
        self._target_bytes = target_bytes
        self._max_unwritable = max_unwritable
        self._key = key  # the column of it, in an upsert
        self._batches: list[pa.RecordBatch] = []
        self._places: list[pa.RecordBatch] = []
        self._size_bytes = 0
        self.unwritable: list[Unwritable] = []

    def add(self, rows: pa.RecordBatch, places: pa.RecordBatch) -> Iterator[DataFile]:
        """Take rows, and topic, partition and offset of each; yield files that have become full."""
        if not len(rows):
            return
        self._batches.append(rows)
        self._places.append(places)
        self._size_bytes += rows.nbytes
        if self._size_bytes >= self._target_bytes:
            yield from self.finish()

    def finish(self) -> Iterator[DataFile]:
        """Write what is left."""
        batches, self._batches, self._size_bytes = self._batches, [], 0
        places, self._places = self._places, []
        if batches:
            yield from self._written(pa.Table.from_batches(batches), pa.Table.from_batches(places))

    def _written(self, rows: pa.Table, places: pa.Table) -> list[DataFile]:
        if len(self.unwritable) > self._max_unwritable:
            return []  # the driver stops the table: it is not a matter of some rows
        try:
            return self._files.write(rows)
        except NOT_OF_A_RECORD:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, its row must not stop the others
            if len(rows) > 1:
                half = len(rows) // 2
                first = self._written(rows.slice(0, half), places.slice(0, half))
                return first + self._written(rows.slice(half), places.slice(half))
            place = tuple(places.slice(0, 1).to_pylist()[0].values())
            key = rows.column(self._key)[0].as_py() if self._key else None
            why = f"no data file can have it: {told(error)}"
            self.unwritable.append(Unwritable(place, why, key))
            return []


def encode_data_file(file: DataFile) -> bytes:
    """A data file's entry, from a task to its driver."""
    return pickle.dumps(file)


def decode_data_file(content: bytes) -> DataFile:
    """Read what `encode_data_file` wrote, in a task of this very job."""
    found = pickle.loads(content)  # noqa: S301 - Spark hands results of tasks over in the same way
    assert isinstance(found, DataFile)
    return found
