"""Each option and column of the sink of Spark's Kafka connector; docs/spark.md names these tests."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql.functions import lit

from tests.e2e.client_programs import CONFLUENT, KAFKA_PYTHON
from tests.e2e.records import Record
from tests.e2e.spark_connector import SPARK_ERRORS, reader, stream, values

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(600)]

Topics = Callable[..., str]


def writer(frame: DataFrame, bootstrap: str, **options: object) -> DataFrameWriter:
    made = frame.write.format("kafka").option("kafka.bootstrap.servers", bootstrap)
    return made.options(**{name: str(given) for name, given in options.items()})


def numbers(spark: SparkSession, count: int) -> DataFrame:
    """Rows with a value that is a number."""
    return spark.range(count).selectExpr("cast(id as string) as value")


def test_topic_option(spark: SparkSession, bootstrap: str, create_topic: Topics) -> None:
    """It counts more than the column."""
    topic, other = create_topic("option"), create_topic("column")
    frame = numbers(spark, 20).withColumn("topic", lit(other))
    writer(frame, bootstrap, topic=topic).save()
    assert values(reader(spark, bootstrap, subscribe=topic).load()) == list(range(20))
    assert values(reader(spark, bootstrap, subscribe=other).load()) == []


def test_topic_column(spark: SparkSession, bootstrap: str, create_topic: Topics) -> None:
    topics = [create_topic("column"), create_topic("column")]
    rows = [(topics[n % 2], str(n)) for n in range(10)]
    writer(spark.createDataFrame(rows, "topic string, value string"), bootstrap).save()
    for parity, topic in enumerate(topics):
        read = reader(spark, bootstrap, subscribe=topic).load()
        assert values(read) == list(range(parity, 10, 2))
    with pytest.raises(SPARK_ERRORS, match="topic option required"):
        writer(numbers(spark, 1), bootstrap).save()


def test_key_and_value_columns(spark: SparkSession, bootstrap: str, topic: str) -> None:
    """Strings or bytes, either may be null; without a key column all keys are null."""
    rows = [("k", b"\xff\x00"), (None, b""), ("", None)]
    writer(spark.createDataFrame(rows, "key string, value binary"), bootstrap, topic=topic).save()
    writer(numbers(spark, 1), bootstrap, topic=topic).save()
    stored = KAFKA_PYTHON.consume(bootstrap, topic, 4)
    found = {(it.key, it.value) for it in stored}
    assert found == {(b"k", b"\xff\x00"), (None, b""), (b"", None), (None, b"0")}


def test_headers_column(spark: SparkSession, bootstrap: str, topic: str) -> None:
    """It is written whenever it is there; `includeHeaders` of the sink changes nothing."""
    schema = "value string, headers array<struct<key: string, value: binary>>"
    rows = [("0", [("a", b"1"), ("null", None)]), ("1", None), ("2", [])]
    frame = spark.createDataFrame(rows, schema)
    writer(frame, bootstrap, topic=topic).save()
    writer(frame, bootstrap, topic=topic, includeHeaders="true").save()
    stored = KAFKA_PYTHON.consume(bootstrap, topic, 6)
    found = sorted((it.value, it.headers) for it in stored)
    headers = (("a", b"1"), ("null", None))
    assert found == [(b"0", headers)] * 2 + [(b"1", ())] * 2 + [(b"2", ())] * 2


def test_partition_column(spark: SparkSession, bootstrap: str, create_topic: Topics) -> None:
    """Where it is null, the producer chooses by the key, as every Kafka client does."""
    topic = create_topic("partition", partitions=5)
    rows = [(f"{n}", f"{n}", n % 5) for n in range(20)] + [("same", "-1", None)] * 10
    frame = spark.createDataFrame(rows, "key string, value string, partition int")
    writer(frame, bootstrap, topic=topic).save()
    stored = KAFKA_PYTHON.consume(bootstrap, topic, 30)
    chosen = [it for it in stored if it.key != b"same"]
    assert all(it.partition == int(it.value or b"") % 5 for it in chosen)
    assert len(chosen) == 20
    assert len({it.partition for it in stored if it.key == b"same"}) == 1


def test_partitioner_class(spark: SparkSession, bootstrap: str, create_topic: Topics) -> None:
    topic = create_topic("partitioner", partitions=4)
    round_robin = "org.apache.kafka.clients.producer.RoundRobinPartitioner"
    frame = spark.range(40).selectExpr("'same' as key", "cast(id as string) as value")
    made = writer(frame.coalesce(1), bootstrap, topic=topic)
    made.option("kafka.partitioner.class", round_robin).save()
    stored = KAFKA_PYTHON.consume(bootstrap, topic, 40)
    assert len({it.partition for it in stored}) > 1  # without it, the key chooses one


def test_producer_options(spark: SparkSession, bootstrap: str, topic: str) -> None:
    """They reach the producer: a record that is too large for it is refused there."""
    frame = spark.createDataFrame([("1" * 2_000,)], "value string")
    made = writer(frame, bootstrap, topic=topic).option("kafka.compression.type", "zstd")
    with pytest.raises(SPARK_ERRORS, match="RecordTooLarge"):
        writer(frame, bootstrap, topic=topic).option("kafka.max.request.size", 1_000).save()
    made.option("kafka.acks", "all").option("kafka.linger.ms", 5).save()
    (stored,) = CONFLUENT.consume(bootstrap, topic, 1)
    assert stored.value == b"1" * 2_000


@pytest.mark.parametrize("option", ["kafka.key.serializer", "kafka.value.serializer"])
def test_serializers_that_spark_refuses(
    spark: SparkSession, bootstrap: str, topic: str, option: str
) -> None:
    name = "org.apache.kafka.common.serialization.StringSerializer"
    with pytest.raises(SPARK_ERRORS, match=option.removeprefix("kafka.")):
        writer(numbers(spark, 1), bootstrap, topic=topic).option(option, name).save()


def test_stream_from_topic_to_topic(
    spark: SparkSession, bootstrap: str, create_topic: Topics, tmp_path: Path
) -> None:
    """Each run writes what came since the one before."""
    source, target = create_topic("from", partitions=2), create_topic("to", partitions=2)

    def run() -> None:
        made = stream(spark, bootstrap, subscribe=source, startingOffsets="earliest").load()
        written = made.select("key", "value", "partition").writeStream.format("kafka")
        written = written.option("kafka.bootstrap.servers", bootstrap).option("topic", target)
        written = written.option("checkpointLocation", str(tmp_path / "checkpoint"))
        assert written.trigger(availableNow=True).start().awaitTermination(240)

    for begin in (0, 20):
        sent = [Record(b"%d" % n, partition=n % 2) for n in range(begin, begin + 20)]
        CONFLUENT.produce(bootstrap, source, sent)
        run()
    stored = KAFKA_PYTHON.consume(bootstrap, target, 40)
    assert sorted(int(it.value or b"") for it in stored) == list(range(40))
    assert all(it.partition == int(it.value or b"") % 2 for it in stored)
