"""A job of Spark's stock Kafka connector, and the columns that it reads; options: test_spark_connector_*.py."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.e2e.spark_connector import reader
from tests.e2e.spark_jobs.add_up import add_up

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(300)]

START_MS = 1_700_000_000_000


def package(number: int, section: str) -> Record:
    """One document as the job expects it."""
    document = {"package": f"p{number}", "section": section, "size": number}
    return Record(json.dumps(document).encode(), partition=number % 3)


def test_the_job_adds_only_what_is_new(
    spark: SparkSession, bootstrap: str, create_topic: Callable[..., str], tmp_path: Path
) -> None:
    topic = create_topic("packages", partitions=3)

    def totals() -> dict[str, tuple[int, int]]:
        return add_up(spark, bootstrap, topic, tmp_path / "out")

    CONFLUENT.produce(bootstrap, topic, [package(number, "games") for number in range(10)])
    CONFLUENT.produce(bootstrap, topic, [package(100, "net")])
    assert totals() == {"games": (10, 45), "net": (1, 100)}
    CONFLUENT.produce(bootstrap, topic, [package(7, "net"), package(8, "doc")])
    assert totals() == {"games": (10, 45), "net": (2, 107), "doc": (1, 8)}


def test_a_batch_reads_every_column(spark: SparkSession, bootstrap: str, topic: str) -> None:
    headers = (("origin", b"test"), ("null", None))
    record = Record(b"value", b"key", headers, timestamp_ms=START_MS)
    CONFLUENT.produce(bootstrap, topic, [record, Record(None)], compression="snappy")
    frame = reader(spark, bootstrap, subscribe=topic, includeHeaders="true").load()
    rows = frame.orderBy("offset").collect()
    first, second = rows
    assert (bytes(first.key), bytes(first.value)) == (b"key", b"value")
    assert [(header.key, header.value) for header in first.headers] == [
        ("origin", bytearray(b"test")),
        ("null", None),
    ]
    assert (first.topic, first.partition, first.offset, first.timestampType) == (topic, 0, 0, 0)
    assert int(first.timestamp.timestamp() * 1000) == START_MS
    assert (second.key, second.value, second.headers) == (None, None, None)
