"""Spark's stock Kafka connector: stream and batch sources, the sink, and our job between them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from headrace.pipeline import package_sizes
from headrace.pipeline.fields import FieldChoice
from tests.e2e.client_programs import CONFLUENT, KAFKA_PYTHON
from tests.e2e.records import Record

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(300)]

START_MS = 1_700_000_000_000


def read(spark: SparkSession, bootstrap: str, topic: str, **options: object) -> DataFrame:
    """Read a topic in one batch."""
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    for name, value in {"subscribe": topic, **options}.items():
        reader = reader.option(name, str(value))
    return reader.load()


def package(number: int, section: str) -> Record:
    """One document as the job expects it."""
    document = {"package": f"p{number}", "section": section, "installed_size": number}
    return Record(json.dumps(document).encode(), partition=number % 3)


def test_the_job_adds_only_what_is_new(
    spark: SparkSession, bootstrap: str, create_topic: Callable[..., str], tmp_path: Path
) -> None:
    topic = create_topic("packages", partitions=3)
    fields = FieldChoice("section", "installed_size")

    def totals() -> dict[str, tuple[int, float]]:
        rows = package_sizes.run(spark, bootstrap, topic, fields, tmp_path / "out").collect()
        return {row["section"]: (row["documents"], row["installed_size"]) for row in rows}

    CONFLUENT.produce(bootstrap, topic, [package(number, "games") for number in range(10)])
    CONFLUENT.produce(bootstrap, topic, [package(100, "net")])
    assert totals() == {"games": (10, 45.0), "net": (1, 100.0)}
    CONFLUENT.produce(bootstrap, topic, [package(7, "net"), package(8, "doc")])
    assert totals() == {"games": (10, 45.0), "net": (2, 107.0), "doc": (1, 8.0)}


def test_a_batch_reads_every_column(spark: SparkSession, bootstrap: str, topic: str) -> None:
    headers = (("origin", b"test"), ("null", None))
    record = Record(b"value", b"key", headers, timestamp_ms=START_MS)
    CONFLUENT.produce(bootstrap, topic, [record, Record(None)], compression="snappy")
    rows = read(spark, bootstrap, topic, includeHeaders="true").orderBy("offset").collect()
    first, second = rows
    assert (bytes(first.key), bytes(first.value)) == (b"key", b"value")
    assert [(header.key, header.value) for header in first.headers] == [
        ("origin", bytearray(b"test")),
        ("null", None),
    ]
    assert (first.topic, first.partition, first.offset, first.timestampType) == (topic, 0, 0, 0)
    assert int(first.timestamp.timestamp() * 1000) == START_MS
    assert (second.key, second.value, second.headers) == (None, None, None)


def test_a_partition_is_split_among_tasks(spark: SparkSession, bootstrap: str, topic: str) -> None:
    """Several consumers start in the middle of batches."""
    records = [Record(str(number).encode()) for number in range(2000)]
    CONFLUENT.produce(bootstrap, topic, records, compression="zstd")
    frame = read(spark, bootstrap, topic, minPartitions=7)
    assert frame.rdd.getNumPartitions() >= 7
    values = sorted(int(row.value) for row in frame.select("value").collect())
    assert values == list(range(2000))


def test_offsets_by_timestamp_and_number(spark: SparkSession, bootstrap: str, topic: str) -> None:
    records = [Record(str(n).encode(), timestamp_ms=START_MS + 1000 * n) for n in range(100)]
    CONFLUENT.produce(bootstrap, topic, records)
    bounds = {"startingTimestamp": START_MS + 25_000, "endingTimestamp": START_MS + 75_000}
    by_time = read(spark, bootstrap, topic, **bounds)
    assert sorted(int(row.value) for row in by_time.collect()) == list(range(25, 75))
    chosen = {"startingOffsets": {topic: {"0": 90}}, "endingOffsets": {topic: {"0": 95}}}
    numbered = read(spark, bootstrap, topic, **{k: json.dumps(v) for k, v in chosen.items()})
    assert sorted(row.offset for row in numbered.collect()) == list(range(90, 95))


def test_topics_by_pattern(
    spark: SparkSession, bootstrap: str, create_topic: Callable[..., str]
) -> None:
    names = [create_topic("pattern-a"), create_topic("pattern-b")]
    for name in names:
        CONFLUENT.produce(bootstrap, name, [Record(name.encode())])
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    frame = reader.option("subscribePattern", "pattern-.*").load()
    assert sorted(bytes(row.value).decode() for row in frame.collect()) == sorted(names)


def test_the_sink_writes_records(spark: SparkSession, bootstrap: str, topic: str) -> None:
    rows = [(f"k{number}", f"v{number}", 0) for number in range(500)]
    frame = spark.createDataFrame(rows, "key string, value string, partition int")
    writer = frame.write.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    writer.option("topic", topic).save()
    stored = KAFKA_PYTHON.consume(bootstrap, topic, 500)
    assert sorted(item.value for item in stored) == sorted(f"v{n}".encode() for n in range(500))
    assert all(item.key == b"k" + item.value[1:] for item in stored)
