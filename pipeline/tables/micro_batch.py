"""What the driver does with a micro-batch: tasks write data files, then one commit adds them.

Where it may die, and what the next run finds:

- before or while tasks write: files that no snapshot names; `maintenance` removes them
- after dead letters: them in their topic, so that they are not written again
- while it commits: the old table or the new one, and maybe files that no snapshot names
- after the commit, before Spark's own: that the table has the micro-batch, so there is nothing to do
- and its checkpoint is lost: records from the beginning, those below the table's offsets are left out
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import msgspec
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table
from pyspark.sql import DataFrame, SparkSession

from headrace.pipeline.tables.catalogs import existing_table, open_table
from headrace.pipeline.tables.column_types import schema_of_shape
from headrace.pipeline.tables.commits import Commit, commit_batch, counted
from headrace.pipeline.tables.configuration import UPSERT, PipelineConfig, TableConfig
from headrace.pipeline.tables.data_files import TableFiles, decode_data_file
from headrace.pipeline.tables.dead_letters import DeadLetters
from headrace.pipeline.tables.errors import TableError
from headrace.pipeline.tables.maintenance import TableMaintenance
from headrace.pipeline.tables.merging import ChangedKeys, rewrite_without
from headrace.pipeline.tables.rows import BadRecord, decode_shape
from headrace.pipeline.tables.shapes import Shape, merged_fields
from headrace.pipeline.tables.source_offsets import BatchRange, QueryCheckpoint
from headrace.pipeline.tables.table_state import TableState, table_state
from headrace.pipeline.tables.write_task import BAD, FILE, KEYS, LACKING, RESULT_SCHEMA, WriteTask

LOGGER: Final = logging.getLogger("headrace.tables")
RECORD_FIELDS: Final = ("key", "value", "topic", "partition", "offset", "timestamp")
MAX_EVOLUTIONS: Final = 3  # of one micro-batch: its records do not change, so a second should do


@dataclass(slots=True)
class Written:
    """What the tasks of a micro-batch told."""

    files: list[DataFile] = field(default_factory=list)
    replaced: list[DataFile] = field(default_factory=list)  # of an upsert
    bad: list[BadRecord] = field(default_factory=list)
    lacking: dict[str, Shape] = field(default_factory=dict)
    keys: list[bytes] = field(default_factory=list)


class MicroBatches:
    """Takes the micro-batches of one table, as `foreachBatch` gives them."""

    def __init__(
        self,
        config: PipelineConfig,
        table: TableConfig,
        catalog: Catalog,
        dead_letters: DeadLetters,
        now_ms: Callable[[], int],
    ) -> None:
        self._config = config
        self._table = table
        self._catalog = catalog
        self._dead_letters = dead_letters
        self._now_ms = now_ms
        self._maintenance = TableMaintenance(config.maintenance, table, now_ms)

    def maintain(self, session: SparkSession) -> None:
        """Maintain the table if it is time; what fails is tried again in the next round."""
        table = existing_table(self._catalog, self._table.name)
        if table is None:
            return
        try:
            done = self._maintenance.run_if_due(session, table)
        except (CommitFailedException, OSError, TableError) as error:
            LOGGER.warning("table %s: maintenance failed: %s", self._table.name, error)
            return
        if done is not None:
            LOGGER.info("table %s: %s", self._table.name, done)

    def __call__(self, records: DataFrame, batch_id: int) -> None:
        """Take one.

        Raises:
            TableError: the table cannot go on.
        """
        session = records.sparkSession
        checkpoint = QueryCheckpoint(session, self._config.checkpoint_of(self._table))
        found = checkpoint.batch_range(batch_id)
        table = open_table(self._catalog, self._table)
        state = table_state(table.properties, self._table.topics)
        if not state.includes(found.ends):
            wanted = without_committed(records.select(*RECORD_FIELDS), state, found)
            table, written = self._taken(wanted, table, state)
            commit = Commit(
                query_id=checkpoint.query_id(),
                batch_id=batch_id,
                ends=found.ends,
                added=written.files,
                replaced=written.replaced,
                is_upsert=self._table.mode == UPSERT,
                bad=counted((it.topic, it.partition) for it in written.bad),
                now_ms=self._now_ms(),
            )
            commit_batch(table, commit)
        elif self._table.deduplicate_by:
            # Spark's state has to take part in each micro-batch.
            records.write.format("noop").mode("overwrite").save()
        self.maintain(session)

    def _taken(self, records: DataFrame, table: Table, state: TableState) -> tuple[Table, Written]:
        """Do all that comes before the commit; return the table as it is then, and what is to be committed."""
        table, written = self._write(records, table)
        if len(written.bad) > self._config.dead_letters.max_per_batch:
            raise TableError(_many_bad(self._table.name, written.bad))
        times = state.committed_at_ms
        self._dead_letters.write(written.bad, min(times.values()) if times else None)
        if written.keys:
            keys = ChangedKeys(self._table.key, written.keys)
            kept, written.replaced = rewrite_without(records.sparkSession, table, keys)
            written.files = [*written.files, *kept]
        return table, written

    def _write(self, records: DataFrame, table: Table) -> tuple[Table, Written]:
        """Let tasks write; once more with more columns where the table lacks some."""
        written = Written()
        for _ in range(MAX_EVOLUTIONS):
            task = WriteTask(
                self._table, TableFiles.of(table), self._config.dead_letters.max_per_batch
            )
            written = run_tasks(self._distributed(records), task)
            if not written.lacking:
                return table, written
            table = self._evolve(table, written.lacking)
        raise TableError(
            f"table {self._table.name} still lacks {', '.join(sorted(written.lacking))} after it was changed"
        )

    def _distributed(self, records: DataFrame) -> DataFrame:
        """All records of a key in one task, by offset, where newer ones replace older ones."""
        if self._table.mode != UPSERT:
            return records
        return records.repartition("key").sortWithinPartitions("topic", "partition", "offset")

    def _evolve(self, table: Table, lacking: dict[str, Shape]) -> Table:
        """Add columns, and widen some."""
        count = len({*(it.name for it in table.schema().fields), *lacking})
        if count > self._table.max_columns:
            raise TableError(
                f"table {self._table.name} would come to have {count} columns, and max_columns is "
                f"{self._table.max_columns}. Are names of fields data? Then give columns, and new_fields = `ignore`"
            )
        try:
            with table.update_schema() as update:
                update.union_by_name(schema_of_shape(lacking))
        except CommitFailedException:
            pass  # another writer was faster: what it left is looked at next
        except ValueError as error:
            raise TableError(f"table {self._table.name} cannot take new fields: {error}") from error
        return self._catalog.load_table(self._table.name)


def run_tasks(records: DataFrame, task: WriteTask) -> Written:
    """Run the tasks of a micro-batch, and collect what they tell."""
    found = Written()
    for kind, body in records.mapInArrow(task, RESULT_SCHEMA).collect():
        if kind == FILE:
            found.files.append(decode_data_file(body))
        elif kind == BAD:
            found.bad.append(msgspec.msgpack.decode(body, type=BadRecord))
        elif kind == KEYS:
            found.keys.append(bytes(body))
        elif kind == LACKING:
            found.lacking = merged_fields(found.lacking, decode_shape(bytes(body).decode()))
    found.bad.sort(key=lambda it: (it.topic, it.partition, it.offset))
    return found


def without_committed(records: DataFrame, state: TableState, found: BatchRange) -> DataFrame:
    """Leave out the records that the table has: only after a checkpoint was lost are there any."""
    starts = found.starts or {}
    below = [
        f"(topic = '{topic}' AND partition = {partition} AND offset < {end})"
        for topic, partitions in state.offsets.items()
        for partition, end in partitions.items()
        if starts.get(topic, {}).get(partition, 0) < end
    ]
    return records.where(f"NOT ({' OR '.join(below)})") if below else records


def _many_bad(name: str, bad: list[BadRecord]) -> str:
    it = bad[0]
    return (
        f"table {name}: more than {len(bad) - 1} bad records in one micro-batch. The first is "
        f"{it.topic}-{it.partition}, offset {it.offset}: {it.reason}. Is it the right schema? If so, raise "
        f"max_per_batch of [dead_letters]"
    )
