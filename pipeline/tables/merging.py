"""Upserts: data files that have rows with changed keys are written again without them.

What is there is rewritten, so nothing but data files is needed to read the table. It costs the more, the more files the
keys of a micro-batch lie in.
"""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.expressions import (
    AlwaysTrue,
    And,
    BooleanExpression,
    GreaterThanOrEqual,
    In,
    LessThanOrEqual,
)
from pyiceberg.manifest import DataFile
from pyiceberg.table import FileScanTask, Table
from pyspark.sql import SparkSession

from headrace.pipeline.tables.data_files import TableFiles, decode_data_file, encode_data_file

MAX_KEYS_IN_FILTER: Final = 200  # pyiceberg prunes files by so many values, and by a range beyond
_RESULT: Final = pa.schema([("number", pa.int64()), ("body", pa.binary())])
_RESULT_SCHEMA: Final = "number long, body binary"


@dataclass(frozen=True, slots=True)
class ChangedKeys:
    """Keys of a micro-batch, as its tasks told them: Arrow data with one column."""

    column: str
    told: Sequence[bytes]

    def values(self) -> pa.Array:
        """All of them."""
        tables = [pa.ipc.open_stream(it).read_all() for it in self.told]
        return pa.concat_tables(tables).column(0).combine_chunks()

    def filter(self) -> BooleanExpression:
        """What files may have one of them, by the bounds that the table keeps of each file."""
        values = self.values()
        if not len(values):
            return AlwaysTrue()
        if len(values) <= MAX_KEYS_IN_FILTER:
            return In(self.column, values.to_pylist())  # type: ignore[call-arg, arg-type]
        ends = pc.min_max(values).as_py()
        least = GreaterThanOrEqual(self.column, ends["min"])  # type: ignore[call-arg, arg-type]
        return And(least, LessThanOrEqual(self.column, ends["max"]))  # type: ignore[call-arg, arg-type]


@dataclass(frozen=True, slots=True)
class RewriteTask:
    """Reads data files, and writes those again that have rows with changed keys."""

    files: TableFiles
    keys: ChangedKeys

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run it on `number` and `body`, a pickled `FileScanTask`; yield numbers of replaced files, and new files."""
        values = self.keys.values()
        for batch in batches:
            for number, body in zip(*(it.to_pylist() for it in batch.columns), strict=True):
                rows = self.files.read([pickle.loads(body)])  # noqa: S301 - of the driver of this job
                column = rows.column(self.keys.column)
                is_changed = pc.is_in(column, value_set=values.cast(column.type))
                kept = rows.filter(pc.invert(is_changed))
                if len(kept) == len(rows):
                    continue
                new = [encode_data_file(it) for it in self.files.write(kept)]
                told = [number] * (len(new) + 1)
                yield pa.RecordBatch.from_pydict({"number": told, "body": [None, *new]}, _RESULT)


def rewrite_without(
    session: SparkSession, table: Table, keys: ChangedKeys
) -> tuple[list[DataFile], list[DataFile]]:
    """Write the files of a table again that have rows with these keys; return the new files and those they replace."""
    scans = list(table.scan(row_filter=keys.filter()).plan_files())
    if not scans:
        return [], []
    rows = [(number, bytearray(pickle.dumps(it))) for number, it in enumerate(scans)]
    tasks = session.createDataFrame(rows, _RESULT_SCHEMA).repartition(len(scans))
    return _collected(
        tasks.mapInArrow(RewriteTask(TableFiles.of(table), keys), _RESULT_SCHEMA).collect(), scans
    )


def _collected(
    told: Iterable[tuple[int, bytes | None]], scans: Sequence[FileScanTask]
) -> tuple[list[DataFile], list[DataFile]]:
    new: list[DataFile] = []
    replaced: list[DataFile] = []
    for number, body in told:
        if body is None:
            replaced.append(scans[number].file)
        else:
            new.append(decode_data_file(bytes(body)))
    return new, replaced
