"""Where a micro-batch begins and ends, by the checkpoint that Spark has written before it began.

Source: OffsetSeq and StreamMetadata of Apache Spark 4.0: a version, a line of settings, a line for each source.
"""

import json
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from headrace.pipeline.tables.table_state import Counts, offsets_of_source

_LINES_BEFORE_SOURCES = 2


@dataclass(frozen=True, slots=True)
class BatchRange:
    """Offsets of a micro-batch; `starts` is None for the first of a checkpoint."""

    starts: Counts | None
    ends: Counts


class QueryCheckpoint:
    """The checkpoint of a query, in any file system that Spark knows."""

    def __init__(self, session: SparkSession, location: str) -> None:
        self._session = session
        self._location = location.rstrip("/")

    def query_id(self) -> str:
        """The query's id, which it keeps over restarts."""
        return str(json.loads(self._read("metadata"))["id"])

    def batch_range(self, batch_id: int) -> BatchRange:
        """Where a micro-batch begins and ends."""
        starts = self._offsets(batch_id - 1) if batch_id > 0 else None
        return BatchRange(starts, self._offsets(batch_id))

    def _offsets(self, batch_id: int) -> Counts:
        lines = self._read(f"offsets/{batch_id}").splitlines()
        return offsets_of_source(lines[_LINES_BEFORE_SOURCES])

    def _read(self, name: str) -> str:
        jvm: Any = self._session._jvm  # noqa: SLF001 - PySpark has no other way to Hadoop's file systems
        path = jvm.org.apache.hadoop.fs.Path(f"{self._location}/{name}")
        configuration = self._session._jsc.hadoopConfiguration()  # noqa: SLF001 - likewise
        stream = path.getFileSystem(configuration).open(path)
        try:
            return str(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()
