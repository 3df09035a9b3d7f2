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
MAX_GROUP_BYTES: Final = 32 << 20  # of files that one task reads, unless it is one file
_GROUPS_SCHEMA: Final = "number long, body binary"
_RESULT: Final = pa.schema([("number", pa.int64()), ("place", pa.int64()), ("body", pa.binary())])
_RESULT_SCHEMA: Final = "number long, place long, body binary"


@dataclass(frozen=True, slots=True)
class ChangedKeys:
    """Keys of a micro-batch, as its tasks returned them: Arrow data with one column."""

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
    """Reads groups of data files, and writes what is left of those that have rows with changed keys."""

    files: TableFiles
    keys: ChangedKeys

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run it on `number` and `body`, pickled `FileScanTask`s; yield positions of replaced files, and new files."""
        values = self.keys.values()
        for batch in batches:
            for number, body in zip(*(it.to_pylist() for it in batch.columns), strict=True):
                left: list[pa.Table] = []
                for place, scan in enumerate(pickle.loads(body)):  # noqa: S301 - of the driver of this job
                    kept = self._kept(scan, values)
                    if kept is not None:
                        left.append(kept)
                        yield _told(number, place, None)
                if left:
                    for it in self.files.write(pa.concat_tables(left)):
                        yield _told(number, 0, encode_data_file(it))

    def _kept(self, scan: FileScanTask, values: pa.Array) -> pa.Table | None:
        """Rows of a file that stay; None if it is not to be replaced, since all of them do."""
        rows = self.files.read([scan])
        column = rows.column(self.keys.column)
        kept = rows.filter(pc.invert(pc.is_in(column, value_set=values.cast(column.type))))
        return None if len(kept) == len(rows) else kept


def _told(number: int, place: int, body: bytes | None) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {"number": [number], "place": [place], "body": [body]}, _RESULT
    )


def rewrite_without(
    session: SparkSession, table: Table, keys: ChangedKeys
) -> tuple[list[DataFile], list[DataFile]]:
    """Write the files of a table again that have rows with these keys; return the new files and those they replace.

    Small files of one partition of the table become one.
    """
    groups = rewrite_groups(list(table.scan(row_filter=keys.filter()).plan_files()))
    if not groups:
        return [], []
    rows = [(number, bytearray(pickle.dumps(it))) for number, it in enumerate(groups)]
    tasks = session.createDataFrame(rows, _GROUPS_SCHEMA).repartition(len(groups))
    told = tasks.mapInArrow(RewriteTask(TableFiles.of(table), keys), _RESULT_SCHEMA).collect()
    new: list[DataFile] = []
    replaced: list[DataFile] = []
    for number, place, body in told:
        if body is None:
            replaced.append(groups[number][place].file)
        else:
            new.append(decode_data_file(bytes(body)))
    return new, replaced


def rewrite_groups(scans: Sequence[FileScanTask]) -> list[list[FileScanTask]]:
    """Files that one task reads, each of one partition of the table: many small ones, or a large one."""
    groups: list[list[FileScanTask]] = []
    open_groups: dict[tuple[int, object], tuple[list[FileScanTask], int]] = {}
    for it in scans:
        key = it.file.spec_id, it.file.partition
        group, size_bytes = open_groups.get(key, ([], 0))
        if not group or size_bytes + it.file.file_size_in_bytes > MAX_GROUP_BYTES:
            group, size_bytes = [], 0
            groups.append(group)
        group.append(it)
        open_groups[key] = group, size_bytes + it.file.file_size_in_bytes
    return groups
