"""A catalog in a directory, a table of a configuration, and tasks on records, without Spark."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyiceberg.table import Table

from headrace.pipeline.tables.catalogs import open_catalog, open_table
from headrace.pipeline.tables.commits import Commit, commit_batch
from headrace.pipeline.tables.configuration import PipelineConfig
from headrace.pipeline.tables.data_files import TableFiles, decode_data_file
from headrace.pipeline.tables.evolution import evolution
from headrace.pipeline.tables.reading_configuration import read_configuration
from headrace.pipeline.tables.rows import decode_shape
from headrace.pipeline.tables.table_state import Counts, Origin, table_state
from headrace.pipeline.tables.write_task import FILE, LACKING, WriteTask
from headrace.pipeline.tables.writing import Written, collected, written_by_runs

TEXT = """
checkpoint = "file://{directory}/checkpoint"
[source]
bootstrap_servers = "127.0.0.1:9"
{catalog}
[[tables]]
name = "shop.orders"
topics = ["orders"]
"""
CATALOG = """
[catalog]
uri = "sqlite:///{directory}/catalog.db"
warehouse = "file://{directory}/warehouse"
"""
RECORDS = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
    ]
)
AT = datetime(2026, 11, 27, 12, tzinfo=UTC)


def config_text(directory: Path, more: str = "", catalog: str = CATALOG) -> str:
    """A configuration of one table; `more` are lines of that table."""
    section = catalog.replace("{directory}", str(directory))
    return TEXT.format(directory=directory, catalog=section) + more


def config_of(directory: Path, more: str = "", catalog: str = CATALOG) -> PipelineConfig:
    """The same, read."""
    (directory / "warehouse").mkdir(exist_ok=True)
    text = config_text(directory, more, catalog)
    return read_configuration(text, source="test.toml", stem="test")


def records(
    values: Sequence[Any], *, keys: Sequence[bytes | None] = (), start: int = 0
) -> pa.RecordBatch:
    """Records of one partition; what is not bytes or None is written as JSON."""
    rows = [
        {
            "key": keys[number] if keys else None,
            "value": it if it is None or isinstance(it, bytes) else json.dumps(it).encode(),
            "topic": "orders",
            "partition": 0,
            "offset": start + number,
            "timestamp": AT,
        }
        for number, it in enumerate(values)
    ]
    return pa.RecordBatch.from_pylist(rows, schema=RECORDS)


class Run(NamedTuple):
    """What the last run told, and the fields that are left out."""

    told: list[tuple[str, bytes]]
    ignored: dict[str, str]


class TableScene:
    """A table, and what tasks and commits do to it."""

    def __init__(self, directory: Path, more: str = "", catalog: str = CATALOG) -> None:
        self.config = config_of(directory, more, catalog)
        (self.configured,) = self.config.tables
        self.catalog = open_catalog(self.config.catalog)
        self.table = open_table(self.catalog, self.configured)

    def told(self, *batches: pa.RecordBatch, max_bad: int = 100) -> list[tuple[str, bytes]]:
        """What a task tells."""
        task = WriteTask(self.configured, TableFiles.of(self.table), max_bad)
        return [(row["kind"], row["body"]) for it in task(batches) for row in it.to_pylist()]

    def run(self, *batches: pa.RecordBatch, max_bad: int = 10_000) -> Run:
        """What the runs of a micro-batch come to, as the driver makes them with one task."""
        told: list[tuple[str, bytes]] = []

        def run(task: WriteTask) -> Written:
            told[:] = [(row["kind"], row["body"]) for it in task(batches) for row in it.to_pylist()]
            return collected(told)

        self.table, written = written_by_runs(
            self.table, self.configured, self.catalog, max_bad, run
        )
        return Run(told, written.ignored)

    def evolve(self, told: Sequence[tuple[str, bytes]]) -> dict[str, str]:
        """Give the table what a task found that it lacks; return columns that it cannot have, and why."""
        ((kind, body),) = [it for it in told if it[0] == LACKING]
        assert kind == LACKING
        found = evolution(self.table, self.configured, decode_shape(body.decode()))
        if found.transaction is not None:
            self.table = found.transaction.commit_transaction()
        return found.refused

    def commit(
        self,
        told: Sequence[tuple[str, bytes]],
        end: int,
        table: Table | None = None,
        *,
        topic_ids: Mapping[str, str] | None = None,
        checkpoint: int = 0,
        ignored: Mapping[str, str] | None = None,
        known: Counts | None = None,
    ) -> bool:
        """Commit what a task has written."""
        return commit_batch(
            table or self.table,
            Commit(
                origin=Origin(query_id="query", batch_id=0, topic_ids=topic_ids or {}),
                known=self.known(table) if known is None else known,
                ends={"orders": {0: end}},
                added=[decode_data_file(body) for kind, body in told if kind == FILE],
                bad={},
                now_ms=1,
                checkpoint=checkpoint,
                ignored_fields=ignored or {},
            ),
        )

    def known(self, table: Table | None = None) -> Counts:
        """The offsets that a table has."""
        return table_state((table or self.table).properties, ["orders"]).offsets

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the table, as anyone reads them."""
        table = self.catalog.load_table("shop.orders")
        return sorted(table.scan().to_arrow().to_pylist(), key=lambda it: it["kafka_offset"])
