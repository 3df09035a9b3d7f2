"""Keeps a table tidy between micro-batches: expires snapshots, merges small files, removes orphan files.

Nothing that a snapshot names is removed before that snapshot is gone from the catalog. A run that dies leaves files
that no snapshot names, and the next one removes them.
"""

import pickle
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.manifest import DataFile
from pyiceberg.table import FileScanTask, Table
from pyiceberg.table.snapshots import Snapshot, ancestors_of
from pyspark.sql import SparkSession

from headrace.pipeline.tables.commits import committing_once
from headrace.pipeline.tables.compaction import CompactionLimits, chosen_groups
from headrace.pipeline.tables.configuration import MaintenanceConfig, TableConfig
from headrace.pipeline.tables.data_files import TableFiles, decode_data_file, encode_data_file
from headrace.pipeline.tables.table_files import metadata_files, named_files, stored_files

_RESULT: Final = pa.schema([("body", pa.binary())])
_RESULT_SCHEMA: Final = "body binary"


@dataclass(frozen=True, slots=True)
class Maintained:
    """What a round has done."""

    expired_snapshots: int = 0
    merged_files: int = 0
    removed_files: int = 0


class TableMaintenance:
    """Maintains one table, once in an interval."""

    def __init__(
        self, config: MaintenanceConfig, table: TableConfig, now_ms: Callable[[], int]
    ) -> None:
        self._config = config
        self._table = table
        self._now_ms = now_ms
        self._done_ms: int | None = None

    def run_if_due(self, session: SparkSession, table: Table) -> Maintained | None:
        """Maintain the table, if it is time; the first round is due when the job starts."""
        now_ms = self._now_ms()
        if self._done_ms is not None and now_ms - self._done_ms < self._config.interval_ms:
            return None
        self._done_ms = now_ms
        config = self._config
        limits = CompactionLimits(
            config.compact_below_bytes,
            config.compact_from_files,
            self._table.target_file_bytes,
            config.max_compacted_bytes,
        )
        merged = merge_small_files(session, table, limits)
        expired = expire_snapshots(
            table, now_ms - config.expire_snapshots_after_ms, config.min_snapshots
        )
        removed = remove_orphans(table, now_ms - config.remove_orphans_after_ms)
        return Maintained(expired, merged, removed)


def expire_snapshots(table: Table, before_ms: int, min_snapshots: int) -> int:
    """Expire snapshots that are older than a time, and remove files that only they name; return how many."""
    metadata = table.metadata
    current = table.current_snapshot()
    newest = [it.snapshot_id for it in ancestors_of(current, metadata)][:min_snapshots]
    kept_ids = {*newest, *(it.snapshot_id for it in metadata.refs.values())}
    expired = [
        it
        for it in metadata.snapshots
        if it.timestamp_ms < before_ms and it.snapshot_id not in kept_ids
    ]
    if not expired:
        return 0
    ids = {it.snapshot_id for it in expired}
    old = named_files(table, expired)
    table.maintenance.expire_snapshots().by_ids(sorted(ids)).commit()
    table.refresh()
    kept: list[Snapshot] = list(table.metadata.snapshots)
    for path in sorted(old - named_files(table, kept)):
        _remove(table, path)
    return len(expired)


def remove_orphans(table: Table, before_ms: int) -> int:
    """Remove files that no snapshot names, and that are older than a time; return how many.

    A writer's files are named only once it has committed them, so the time is longer ago than any commit takes.
    """
    stored = [it for it in stored_files(table) if it.modified_ms <= before_ms]
    if not stored:
        return 0
    table.refresh()  # what was committed meanwhile is named now
    named = named_files(table, table.metadata.snapshots) | metadata_files(table)
    orphans = [it.path for it in stored if it.path not in named]
    for path in orphans:
        _remove(table, path)
    return len(orphans)


def _remove(table: Table, path: str) -> None:
    try:
        table.io.delete(path)
    except FileNotFoundError:  # another run of ours was faster
        return


@dataclass(frozen=True, slots=True)
class _MergeTask:
    """Reads groups of data files, and writes one file of each."""

    files: TableFiles

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for body in batch.column(0).to_pylist():
                rows = self.files.read(pickle.loads(body))  # noqa: S301 - of the driver of this job
                for it in self.files.write(rows):
                    yield pa.RecordBatch.from_pydict({"body": [encode_data_file(it)]}, _RESULT)


def merge_small_files(session: SparkSession, table: Table, limits: CompactionLimits) -> int:
    """Merge small data files, by one commit that changes no row; return how many.

    Another writer's commit in between makes it void: the next round tries again.
    """
    scans: dict[str, FileScanTask] = {it.file.file_path: it for it in table.scan().plan_files()}
    partitions: dict[object, list[DataFile]] = defaultdict(list)
    for it in scans.values():
        if it.file.spec_id == table.spec().spec_id and not it.delete_files:
            partitions[it.file.partition].append(it.file)
    groups = chosen_groups(list(partitions.values()), limits)
    if not groups:
        return 0
    bodies = [
        (bytearray(pickle.dumps([scans[file.file_path] for file in group])),) for group in groups
    ]
    work = session.createDataFrame(bodies, _RESULT_SCHEMA).repartition(len(groups))
    told = work.mapInArrow(_MergeTask(TableFiles.of(table)), _RESULT_SCHEMA).collect()
    try:
        with committing_once(table).transaction() as transaction:
            summary = {"headrace.maintenance": "small files merged"}
            with transaction.update_snapshot(snapshot_properties=summary).overwrite() as update:
                for row in told:
                    update.append_data_file(decode_data_file(bytes(row.body)))
                for group in groups:
                    for file in group:
                        update.delete_data_file(file)
    except CommitFailedException:
        return 0
    finally:
        table.refresh()
    return sum(map(len, groups))
