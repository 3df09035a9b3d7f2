"""Where a micro-batch begins and ends, by the checkpoint that Spark has written before it began.

Source: OffsetSeq and StreamMetadata of Apache Spark 4.0: a version, a line of settings, a line for each source.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import SparkSession

from headrace.pipeline.tables.table_state import (
    Counts,
    offsets_of_source,
    topic_ids_of_source,
)

_LINES_BEFORE_SOURCES: Final = 2
_WITH_CHECKSUMS: Final = "org.apache.hadoop.fs.ChecksumFileSystem"
# Below a checkpoint: `.NAME.UUID.tmp`, and `..NAME.UUID.tmp.crc` in local file systems.
_WRITTEN_BY_RENAMING: Final = tuple(
    f"{it}.*.tmp*" for it in ("", "offsets/", "commits/", "sources/*/", "state/*/*/")
)


@dataclass(frozen=True, slots=True)
class BatchRange:
    """Offsets of a micro-batch; `starts` is None for the first of a checkpoint."""

    starts: Counts | None
    ends: Counts
    topic_ids: Mapping[str, str] = field(default_factory=dict)  # as far as the source has them


class QueryCheckpoint:
    """The checkpoint of a query, in any file system that Spark knows."""

    def __init__(self, session: SparkSession, location: str) -> None:
        self._session = session
        self.location = location.rstrip("/")

    def query_id(self) -> str:
        """The query's id, which it keeps over restarts."""
        return str(json.loads(self._read("metadata"))["id"])

    def batch_range(self, batch_id: int) -> BatchRange:
        """Where a micro-batch begins and ends."""
        starts = offsets_of_source(self._source(batch_id - 1)) if batch_id > 0 else None
        text = self._source(batch_id)
        return BatchRange(starts, offsets_of_source(text), topic_ids_of_source(text))

    def remove_unfinished(self) -> int:
        """Remove files that Spark was writing when its JVM was killed; return how many.

        Spark renames a file once it is whole, and never looks at those that it has not renamed.
        """
        jvm: Any = self._session._jvm  # noqa: SLF001 - as below
        files, root = self._file_system(self.location)
        if jvm.java.lang.Class.forName(_WITH_CHECKSUMS).isInstance(files):
            files = files.getRawFileSystem()  # which does not hide the files of checksums
        found = [
            status.getPath()
            for place in _WRITTEN_BY_RENAMING
            for status in files.globStatus(jvm.org.apache.hadoop.fs.Path(root, place)) or ()
        ]
        for path in found:
            files.delete(path, False)  # noqa: FBT003 - not recursive; Java has no names for arguments
        return len(found)

    def _file_system(self, name: str) -> tuple[Any, Any]:
        """Hadoop's file system of a path, and the path."""
        jvm: Any = self._session._jvm  # noqa: SLF001 - PySpark has no other way to Hadoop's file systems
        path = jvm.org.apache.hadoop.fs.Path(name)
        return path.getFileSystem(self._session._jsc.hadoopConfiguration()), path  # noqa: SLF001 - likewise

    def remove(self) -> None:
        """Remove all of it, if it is there."""
        files, path = self._file_system(self.location)
        files.delete(path, True)  # noqa: FBT003 - recursive; Java has no names for arguments

    def _source(self, batch_id: int) -> str:
        return self._read(f"offsets/{batch_id}").splitlines()[_LINES_BEFORE_SOURCES]

    def _read(self, name: str) -> str:
        jvm: Any = self._session._jvm  # noqa: SLF001 - as above
        files, path = self._file_system(f"{self.location}/{name}")
        stream = files.open(path)
        try:
            return str(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()
