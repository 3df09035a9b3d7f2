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
from typing import Final
from uuid import UUID

from pyiceberg.catalog import Catalog
from pyiceberg.table import Table
from pyspark.sql import DataFrame, SparkSession

from headrace.pipeline.tables.catalogs import existing_table, open_table, refuse_unwritable
from headrace.pipeline.tables.commits import Commit, commit_batch, counted
from headrace.pipeline.tables.configuration import UPSERT, PipelineConfig, TableConfig
from headrace.pipeline.tables.dead_letters import DeadLetters, Letter
from headrace.pipeline.tables.errors import TableError, told
from headrace.pipeline.tables.identities import TopicIdentities
from headrace.pipeline.tables.maintenance import TableMaintenance
from headrace.pipeline.tables.merging import ChangedKeys, rewrite_without
from headrace.pipeline.tables.notes import note_running, note_stopped
from headrace.pipeline.tables.source_offsets import BatchRange, QueryCheckpoint
from headrace.pipeline.tables.table_state import (
    MAX_IGNORED_FIELDS,
    Origin,
    TableState,
    offsets_missing,
    table_state,
)
from headrace.pipeline.tables.write_task import RESULT_SCHEMA, WriteTask
from headrace.pipeline.tables.writing import Written, collected, written_by_runs

LOGGER: Final = logging.getLogger("headrace.tables")
RECORD_FIELDS: Final = ("key", "value", "topic", "partition", "offset", "timestamp")
RECORDS_OF_A_TASK: Final = 100_000  # of an upsert, before there is a second one


class MicroBatches:
    """Takes the micro-batches of one table, as `foreachBatch` gives them."""

    def __init__(
        self,
        config: PipelineConfig,
        table: TableConfig,
        catalog: Catalog,
        dead_letters: DeadLetters,
        now_ms: Callable[[], int],
        identities: TopicIdentities,
    ) -> None:
        self._config = config
        self._table = table
        self._catalog = catalog
        self._dead_letters = dead_letters
        self._now_ms = now_ms
        self._identities = identities
        self._checkpoint = 0
        self._proven: tuple[UUID, int, int] | None = None
        self._reported: set[str] = set()
        self._maintenance = TableMaintenance(config.maintenance, table, now_ms)

    def begin(self) -> int:
        """Look at the table and its topics before the query starts; return the number of its checkpoint.

        Raises:
            TableError: the table cannot go on.
        """
        table = existing_table(self._catalog, self._table.name)
        state = TableState() if table is None else table_state(table.properties, self._table.topics)
        self._checkpoint = state.checkpoint
        self._identities.begin(state)
        if table is not None:
            self._prove(table)
            note_running(table)
        return self._checkpoint

    def why_stopped(self, reason: str) -> str:
        """The reason that a stopped query has, and the table keeps for `status`."""
        table = existing_table(self._catalog, self._table.name)
        if table is None:
            return reason
        state = table_state(table.properties, self._table.topics)
        why = self._identities.why(state) or reason
        note_stopped(table, why, self._now_ms())
        return why

    def _prove(self, table: Table) -> None:
        """Write a file with the table's columns in memory, each time that these have changed."""
        metadata = table.metadata
        wanted = metadata.table_uuid, metadata.current_schema_id, metadata.default_spec_id
        if self._proven != wanted:
            refuse_unwritable(self._table.name, metadata)
            self._proven = wanted

    def maintain(self, session: SparkSession) -> None:
        """Maintain the table if it is time; what fails is tried again in the next round."""
        table = existing_table(self._catalog, self._table.name)
        if table is None:
            return
        try:
            done = self._maintenance.run_if_due(session, table)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - no table stops since it could not be tidied
            LOGGER.warning("table %s: maintenance failed: %s", self._table.name, told(error))
            return
        if done is not None:
            LOGGER.info("table %s: %s", self._table.name, done)

    def __call__(self, records: DataFrame, batch_id: int) -> None:
        """Take one.

        Raises:
            TableError: the table cannot go on.
        """
        session = records.sparkSession
        checkpoint = QueryCheckpoint(session, self._checkpoint_place())
        found = checkpoint.batch_range(batch_id)
        table = open_table(self._catalog, self._table)
        self._prove(table)
        state = table_state(table.properties, self._table.topics)
        lost = offsets_missing(state, found.starts or {})
        if lost is not None:
            raise TableError(_lost(self._table.name, checkpoint, *lost))
        if not state.includes(found.ends):
            wanted = without_committed(records.select(*RECORD_FIELDS), state, found)
            table, written = self._taken(wanted, table, state, found)
            commit = Commit(
                origin=Origin(
                    query_id=checkpoint.query_id(),
                    batch_id=batch_id,
                    topic_ids=written.topic_ids,
                ),
                known=state.offsets,
                ends=found.ends,
                added=written.files,
                replaced=written.replaced,
                is_upsert=self._table.mode == UPSERT,
                bad=counted((it.topic, it.partition) for it in written.bad),
                now_ms=self._now_ms(),
                checkpoint=self._checkpoint,
                ignored_fields=written.ignored,
            )
            commit_batch(table, commit)
            self._report(written.ignored)
        else:
            # A topic that was created again may not have come so far yet, where Spark goes on without lost data.
            self._identities.confirm(state, found.topic_ids)
            if self._table.deduplicate_by:
                # Spark's state has to take part in each micro-batch.
                records.write.format("noop").mode("overwrite").save()
        self.maintain(session)

    def _checkpoint_place(self) -> str:
        return self._config.checkpoint_of(self._table, self._checkpoint)

    def _report(self, ignored: dict[str, str]) -> None:
        """Log fields that have no column, each once."""
        for path in sorted(ignored.keys() - self._reported)[:MAX_IGNORED_FIELDS]:
            LOGGER.warning(
                "table %s: field %s is left out: %s", self._table.name, path, ignored[path]
            )
            self._reported.add(path)

    def _taken(
        self, records: DataFrame, table: Table, state: TableState, found: BatchRange
    ) -> tuple[Table, Written]:
        """Do all that comes before the commit; return the table as it is then, and what is to be committed."""
        max_bad = self._config.dead_letters.max_per_batch
        count = state.count_until(found.ends, found.starts)
        distributed = self._distributed(records, table, count)
        table, written = written_by_runs(
            table, self._table, self._catalog, max_bad, lambda task: run_tasks(distributed, task)
        )
        written.topic_ids = self._identities.confirm(state, found.topic_ids)
        times = state.committed_at_ms
        since_ms = min(times.values()) if times else None
        # Where ids cannot be asked for just now, a letter of an earlier run had the table's.
        ids = {**state.topic_ids, **written.topic_ids}
        letters = [
            Letter(it, ids.get(it.topic, ""), it.topic not in state.topic_ids) for it in written.bad
        ]
        self._dead_letters.write(letters, since_ms)
        if written.keys:
            keys = ChangedKeys(self._table.key, written.keys)
            kept, written.replaced = rewrite_without(records.sparkSession, table, keys)
            written.files = [*written.files, *kept]
        return table, written

    def _distributed(self, records: DataFrame, table: Table, count: int) -> DataFrame:
        """All records of a key in one task, by offset, where newer ones replace older ones.

        Each task writes a file into each partition of the table that it has rows for, so there are as few as are
        needed, whatever Spark does with shuffles otherwise.
        """
        if self._table.mode != UPSERT:
            return records
        most = records.sparkSession.sparkContext.defaultParallelism
        tasks = upsert_tasks(count, most, is_partitioned=not table.spec().is_unpartitioned())
        by_key = records.repartition(tasks, "key")
        return by_key.sortWithinPartitions("topic", "partition", "offset")


def upsert_tasks(count: int, most: int, *, is_partitioned: bool) -> int:
    """How many tasks an upsert has, for some records and at most so many tasks at a time."""
    for_one = RECORDS_OF_A_TASK * (4 if is_partitioned else 1)
    return max(1, min(most, -(-count // for_one)))


def run_tasks(records: DataFrame, task: WriteTask) -> Written:
    """Run the tasks of a micro-batch, and collect their results."""
    return collected(records.mapInArrow(task, RESULT_SCHEMA).collect())


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


def _lost(name: str, checkpoint: QueryCheckpoint, topic: str, partition: int, reached: int) -> str:
    return (
        f"table {name} has the records of {topic}-{partition} up to offset {reached} only, and its checkpoint is "
        f"behind them: was the table dropped and created again? Then remove {checkpoint.location}, and all records "
        f"are read again"
    )
