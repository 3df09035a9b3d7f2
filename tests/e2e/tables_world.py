"""What tests of pipelines have in common: a configuration, its runs, and what the table has then."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer
from pyiceberg.table import Table
from pyspark.sql import SparkSession

from headrace.pipeline.tables.catalogs import open_catalog
from headrace.pipeline.tables.configuration import PipelineConfig
from headrace.pipeline.tables.queries import run_pipeline
from headrace.pipeline.tables.reading_configuration import read_configuration
from headrace.pipeline.tables.table_files import metadata_files, named_files, stored_files
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record

Tables = Mapping[str, Any] | Sequence[Mapping[str, Any]]


class TablesWorld:
    """A directory with a catalog, a warehouse and a configuration, and a broker."""

    def __init__(self, bootstrap: str, directory: Path) -> None:
        self.bootstrap = bootstrap
        self.directory = directory
        self.warehouse = directory / "warehouse"
        self.warehouse.mkdir(parents=True, exist_ok=True)

    def text(self, tables: Tables, **sections: Mapping[str, Any]) -> str:
        """A configuration of tables; sections change what is written here."""
        many = [tables] if isinstance(tables, Mapping) else tables
        base: dict[str, dict[str, Any]] = {
            "source": {"bootstrap_servers": self.bootstrap},
            "trigger": {"once": True},
            "catalog": {
                "uri": f"sqlite:///{self.directory / 'catalog.db'}",
                "warehouse": f"file://{self.warehouse}",
            },
        }
        lines = [f"checkpoint = {json.dumps(f'file://{self.directory}/checkpoint')}"]
        for name in dict.fromkeys((*base, *sections)):
            lines += [f"[{name}]", *toml_lines({**base.get(name, {}), **sections.get(name, {})})]
        for table in many:
            lines += ["[[tables]]", *toml_lines(table)]
        return "\n".join(lines) + "\n"

    def config(self, tables: Tables, **sections: Mapping[str, Any]) -> PipelineConfig:
        """The same, read."""
        return read_configuration(self.text(tables, **sections), source="test", stem="test")

    def run(self, spark: SparkSession, config: PipelineConfig) -> Mapping[str, str]:
        """Run a pipeline to its end; return why tables stopped."""
        return run_pipeline(spark, config, lambda: time.time_ns() // 1_000_000)

    def table(self, config: PipelineConfig, name: str) -> Table:
        """A table, as another program opens it."""
        return open_catalog(config.catalog).load_table(name)

    def rows(self, config: PipelineConfig, name: str) -> list[dict[str, Any]]:
        """The rows of a table."""
        return self.table(config, name).scan().to_arrow().to_pylist()

    def added_files(self, config: PipelineConfig, name: str) -> list[int]:
        """How many data files each commit of a micro-batch has added, as far as snapshots tell."""
        summaries = [it.summary for it in self.table(config, name).snapshots()]
        told = [it for it in summaries if it is not None and it["headrace.batch-id"]]
        return [int(it["added-data-files"] or 0) for it in told]

    def orphans(self, config: PipelineConfig, name: str) -> list[str]:
        """Files below a table that no snapshot names."""
        table = self.table(config, name)
        named = named_files(table, table.metadata.snapshots) | metadata_files(table)
        return sorted(it.path for it in stored_files(table) if it.path not in named)

    def letters(self, topic: str) -> list[tuple[Any, Any, dict[str, Any]]]:
        """Keys, values and headers of dead letters."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": "letters",
                "auto.offset.reset": "earliest",
                "enable.partition.eof": True,
            }
        )
        consumer.subscribe([topic])
        found = []
        try:
            while True:
                message = consumer.poll(30)
                assert message is not None
                if message.error():
                    return found
                found.append((message.key(), message.value(), dict(message.headers() or ())))
        finally:
            consumer.close()

    def produce(self, topic: str, documents: Sequence[object], **places: Any) -> None:
        """Produce JSON documents; bytes and None as they are."""
        sent = [
            Record(it if isinstance(it, bytes) or it is None else json.dumps(it).encode(), **places)
            for it in documents
        ]
        CONFLUENT.produce(self.bootstrap, topic, sent, compression="zstd")

    def produce_records(
        self, topic: str, partition: int, sent: Sequence[tuple[bytes | None, bytes | None]]
    ) -> None:
        """Produce keys and values to one partition."""
        records = [Record(value, key=key, partition=partition) for key, value in sent]
        CONFLUENT.produce(self.bootstrap, topic, records, compression="zstd")


def place(letter: tuple[Any, Any, dict[str, Any]]) -> str:
    """What a dead letter's key says: topic, partition and offset of its record, and behind them the topic's id."""
    key, _, headers = letter
    where, id_ = key.decode(), headers["headrace.topic-id"].decode()
    assert where.endswith(f"-{id_}")
    return str(where.removesuffix(f"-{id_}"))


def toml_lines(section: Mapping[str, Any]) -> list[str]:
    """Keys and values of a section."""
    return [f"{name} = {toml_value(value)}" for name, value in section.items()]


def toml_value(value: Any) -> str:
    """A value in TOML: that of JSON, but for tables."""
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{json.dumps(k)} = {toml_value(v)}" for k, v in value.items()) + " }"
        )
    return json.dumps(value)
