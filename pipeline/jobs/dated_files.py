"""Writes records as Parquet files, one or more for each day in UTC, in a task."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from headrace.pipeline.jobs.manifest import (
    PartitionRange,
    Position,
    date_text,
    ranges_between,
)

COLUMNS: Final = ("partition", "offset", "timestamp", "timestampType", "key", "value", "headers")
TARGET_FILE_BYTES: Final = 256 * 1024 * 1024
MAX_FILE_BYTES: Final = 512 * 1024 * 1024
COMPRESSIONS: Final = ("zstd", "snappy", "lz4", "none")  # the first is the default
MAX_OPEN_FILES: Final = 32  # days that are written at once; beyond, the largest file is finished
# Of rows that wait for their row group, in memory: of one file, and of all that are open.
ROW_GROUP_BYTES: Final = 64 * 1024 * 1024
MAX_WAITING_BYTES: Final = 160 * 1024 * 1024
_DAY_US: Final = 86_400_000_000


class WrittenFile(NamedTuple):
    """A file that was finished."""

    name: str  # that `begin` was given
    date: str
    rows: int
    bytes: int
    ranges: tuple[PartitionRange, ...]


@dataclass
class _Open:
    """A file that is being written."""

    name: str
    sink: BinaryIO
    writer: Any  # pyarrow.parquet.ParquetWriter
    waiting: list[Any] = field(default_factory=list)  # pyarrow.RecordBatch
    waiting_bytes: int = 0
    rows: int = 0

    @property
    def size_bytes(self) -> int:
        """About what the file has once all is written."""
        return int(self.sink.tell()) + self.waiting_bytes

    def flush(self) -> None:
        """Write a row group."""
        if self.waiting:
            self.writer.write_table(
                pa.Table.from_batches(self.waiting), row_group_size=max(1, self.rows)
            )
            self.waiting.clear()
            self.waiting_bytes = 0


class DatedFiles:
    """Takes record batches in the order of a task's ranges."""

    def __init__(
        self,
        ranges: Sequence[PartitionRange],
        *,
        begin: Callable[[str, int], tuple[str, BinaryIO]],
        finish: Callable[[str, BinaryIO], int],
        dates: frozenset[str] | None = None,
        max_file_bytes: int = MAX_FILE_BYTES,
        compression: str = COMPRESSIONS[0],
    ) -> None:
        """Begin.

        Args:
            ranges: what the task reads, in order.
            begin: given a date and the number of a file, its name and where it is written.
            finish: given both, the file's bytes.
            dates: those that are wanted; None: all.
            max_file_bytes: of one file.
            compression: one of `COMPRESSIONS`.
        """
        self._ranges = ranges
        self._begin = begin
        self._finish = finish
        self._dates = dates
        self._max_file_bytes = max_file_bytes
        self._compression = compression
        self._position = Position()  # behind what was added
        self._covered: dict[str, Position] = {}  # by date: what its finished files are about
        self._open: dict[str, _Open] = {}
        self._files = 0
        self.written: list[WrittenFile] = []

    def add(self, batch: Any) -> None:
        """Take some rows of one partition, in the columns `COLUMNS`."""
        if not batch.num_rows:
            return
        days = _days(batch)
        found = np.unique(days)
        if len(found) > MAX_OPEN_FILES:
            half = batch.num_rows // 2
            self.add(batch.slice(0, half))
            self.add(batch.slice(half))
            return
        self._make_room({date_text(int(day)) for day in found})
        self._pass(batch.column(0)[0].as_py(), batch.column(1)[batch.num_rows - 1].as_py())
        for day in found:
            text = date_text(int(day))
            if self._dates is None or text in self._dates:
                is_only = len(found) == 1
                rows = batch if is_only else batch.take(pa.array(np.flatnonzero(days == day)))
                self._add(text, rows)
        for text in [it for it, file in self._open.items() if self._is_full(file)]:
            self._close(text)

    def finish(self) -> list[WrittenFile]:
        """Finish all files; everything in the ranges has been added."""
        self._position = Position(len(self._ranges))
        for day in list(self._open):
            self._close(day)
        return self.written

    def _pass(self, partition: int, last_offset: int) -> None:
        """Note that everything up to an offset has been added, or is about to be."""
        ordinal = self._position.ordinal
        while not (
            self._ranges[ordinal][0] == partition
            and self._ranges[ordinal][1] <= last_offset < self._ranges[ordinal][2]
        ):
            ordinal += 1  # an IndexError would be rows that were not asked for
        self._position = Position(ordinal, last_offset + 1)

    def _make_room(self, wanted: set[str]) -> None:
        """Finish files of other days, the largest first, until those that are wanted may be open."""
        while len(self._open.keys() | wanted) > MAX_OPEN_FILES:
            others = self._open.keys() - wanted
            self._close(max(others, key=lambda it: self._open[it].size_bytes))

    def _add(self, day: str, rows: Any) -> None:
        file = self._open.get(day)
        if file is None:
            name, sink = self._begin(day, self._files)
            self._files += 1
            file = self._open[day] = _Open(
                name, sink, _writer(sink, rows.schema, self._compression)
            )
        file.waiting.append(rows)
        file.waiting_bytes += rows.nbytes
        file.rows += rows.num_rows
        if file.waiting_bytes >= ROW_GROUP_BYTES:
            file.flush()
        if sum(it.waiting_bytes for it in self._open.values()) > MAX_WAITING_BYTES:
            max(self._open.values(), key=lambda it: it.waiting_bytes).flush()

    def _is_full(self, file: _Open) -> bool:
        """Whether a file may not become larger; what waits is smaller once it is compressed, mostly."""
        if file.size_bytes < self._max_file_bytes - ROW_GROUP_BYTES:
            return False
        file.flush()
        return file.size_bytes >= self._max_file_bytes - ROW_GROUP_BYTES

    def _close(self, day: str) -> None:
        """Finish a file: it has all rows of its date since the one before it, up to the position."""
        file = self._open.pop(day)
        file.flush()
        file.writer.close()
        size_bytes = self._finish(file.name, file.sink)
        start = self._covered.get(day, Position())
        ranges = ranges_between(self._ranges, start, self._position)
        self._covered[day] = self._position
        self.written.append(WrittenFile(file.name, day, file.rows, size_bytes, ranges))


def _writer(sink: BinaryIO, schema: Any, compression: str) -> Any:
    return pq.ParquetWriter(
        sink,
        schema,
        compression=compression,
        use_dictionary=["partition", "timestampType", "key"],
        write_statistics=["partition", "offset", "timestamp"],
    )


def _days(batch: Any) -> Any:
    """The day of each row since 1970, in UTC."""
    return np.asarray(batch.column("timestamp").cast(pa.int64())) // _DAY_US
