"""What tests of Spark's Kafka connector have in common: readers, queries to files, and sums that show each record once.

The records of a topic are numbered within their partition. The sum of a partition is the number of records, their
range of offsets, and the sum of the CRC-32 of their values: nothing is lost, doubled or altered where it is right.
"""

import time
import zlib
from collections.abc import Callable, Iterable
from typing import NamedTuple

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql.streaming import DataStreamReader, StreamingQuery

from tests.e2e.admin_calls import end_offsets

PATIENCE_S = 120.0
SPARK_ERRORS = (PySparkException, Py4JJavaError)  # one that Spark knows, and one that it passes on


class PartitionSum(NamedTuple):
    """What a partition has, or what was read of it."""

    count: int
    distinct: int  # offsets
    first: int  # offset
    last: int  # offset
    crc: int  # the sum of the CRC-32 of all values


def value(partition: int, number: int) -> bytes:
    """Return the value of one record, of 60 to 160 bytes."""
    seed = b"%d:%d;" % (partition, number)
    return seed * (10 + (number * 2_654_435_761 + partition) % 11)


def expected(partition: int, numbers: range) -> PartitionSum:
    """Return the sum of the records with these numbers, which are their offsets."""
    crc = sum(zlib.crc32(value(partition, number)) for number in numbers)
    return PartitionSum(len(numbers), len(numbers), numbers[0], numbers[-1], crc)


def sums(frame: DataFrame) -> dict[int, PartitionSum]:
    """Add up rows that have the columns partition, offset and value."""
    wanted = (
        "count(*)",
        "count(distinct offset)",
        "min(offset)",
        "max(offset)",
        "sum(crc32(value))",
    )
    frame.createOrReplaceTempView("summed")
    query = f"SELECT partition, {', '.join(wanted)} FROM summed GROUP BY partition"
    rows = frame.sparkSession.sql(query).collect()
    return {row[0]: PartitionSum(*row[1:]) for row in rows}


def create(bootstrap: str, topic: str, partitions: int = 1) -> None:
    """Create a topic, and wait until its partitions have leaders."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(30)
    end_offsets(bootstrap, topic, partitions)


def produce(
    bootstrap: str, topic: str, records: dict[int, range], *, timeout_s: float = 60
) -> None:
    """Produce records with these numbers to each partition, idempotently, and wait for all acknowledgements."""
    settings = {"compression.type": "lz4", "linger.ms": 20, "enable.idempotence": True}
    producer = Producer({"bootstrap.servers": bootstrap, **settings})
    failed: list[object] = []

    def delivered(error: object, _: object) -> None:
        if error is not None:
            failed.append(error)

    for partition, numbers in records.items():
        for number in numbers:
            while True:
                try:
                    producer.produce(
                        topic, value(partition, number), partition=partition, on_delivery=delivered
                    )
                    break
                except BufferError:  # the queue is full
                    producer.poll(0.1)
    assert producer.flush(timeout_s) == 0
    assert not failed, failed[0]


def reader(spark: SparkSession, bootstrap: str, **options: object) -> DataFrameReader:
    """Return a reader of the connector; `kafka_NAME` is the option `kafka.NAME`, with its dots."""
    made = spark.read.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    return made.options(**{name: str(given) for name, given in options.items()})


def stream(spark: SparkSession, bootstrap: str, **options: object) -> DataStreamReader:
    """Return a reader of the connector for a stream."""
    made = spark.readStream.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    return made.options(**{name: str(given) for name, given in options.items()})


def values(frame: DataFrame) -> list[int]:
    """Return values that are numbers, in order."""
    return sorted(int(bytes(row.value)) for row in frame.select("value").collect())


def wait_until(what: str, holds: Callable[[], bool], *, timeout_s: float = PATIENCE_S) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline, f"not within {timeout_s} s: {what}"
        time.sleep(0.02)


def rows_of_batches(query: StreamingQuery) -> list[int]:
    """Return the number of rows of each micro-batch that had some."""
    return [it["numInputRows"] for it in query.recentProgress if it["numInputRows"]]


def stop(queries: Iterable[StreamingQuery]) -> None:
    """Stop queries, whatever state they are in."""
    for query in queries:
        query.stop()
