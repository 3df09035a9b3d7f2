"""`tail=broker`: the bucket's part by the bucket, the rest from the brokers, each row once whatever happens to them."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.e2e.spark_buckets import add, consumed, fill, published, published_start, rows

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(600)]

TOPICS = ("codecs", "appended", "random", "random-appended", "raw")
# Nothing is uploaded but by an orderly stop.
LATE = {
    "s3.wal.upload.interval.ms": "600000",
    "headrace.metadata.snapshot.publish.interval.ms": "1000",
}


class World:
    """A broker, and its bucket, which has what was there at the last stop."""

    def __init__(self, spark: SparkSession, broker: HeadraceProcess) -> None:
        self.spark = spark
        self.broker = broker
        self.bucket = f"file://{broker.directory / 'data/bucket'}"

    def options(self, **options: object) -> dict[str, str]:
        given = {
            "bucket": self.bucket,
            "kafka.bootstrap.servers": self.broker.bootstrap,
            "tail": "broker",
            **options,
        }
        return {name: str(value) for name, value in given.items()}

    def read(self, **options: object) -> DataFrame:
        return self.spark.read.format("headrace").options(**self.options(**options)).load()

    def create(self, topic: str) -> None:
        """Create a topic, and wait until the newest snapshot has it."""
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap})
        admin.create_topics([NewTopic(topic, 2, 1)])[topic].result(30)
        self.broker.process.wait_until(
            lambda: (topic, 1) in published(self.bucket), "the topic is published", timeout_s=60
        )

    def produce(self, topic: str, start: int, end: int) -> None:
        """Produce numbers, which are offsets times two, plus the partition."""
        sent = [Record(f"{n}".encode(), partition=n % 2) for n in range(start, end)]
        CONFLUENT.produce(self.broker.bootstrap, topic, sent, compression="lz4")

    def start(self, directory: Path, *, once: bool = False, **options: object) -> StreamingQuery:
        """Start a query to files, with its checkpoint beside them."""
        given = {"startingOffsets": "earliest", **self.options(**options)}
        writer = (
            self.spark.readStream.format("headrace")
            .options(**given)
            .load()
            .selectExpr("partition", "offset", "cast(value as string) as value")
            .writeStream.format("parquet")
            .option("checkpointLocation", str(directory / "checkpoint"))
        )
        if once:
            writer = writer.trigger(availableNow=True)
        return writer.start(str(directory / "rows"))

    def run(self, directory: Path, **options: object) -> StreamingQuery:
        query = self.start(directory, once=True, **options)
        assert query.awaitTermination(120)
        return query

    def numbers(self, directory: Path) -> list[int]:
        """What a query has written."""
        if not list(directory.glob("rows/_spark_metadata/*")):
            return []
        reader = self.spark.read.schema("partition int, offset bigint, value string")
        found = reader.parquet(str(directory / "rows")).collect()
        assert all(int(it.value) == 2 * it.offset + it.partition for it in found)
        return sorted(int(it.value) for it in found)

    def wait_for(self, directory: Path, count: int) -> None:
        self.broker.process.wait_until(
            lambda: len(self.numbers(directory)) >= count, f"{count} rows", timeout_s=120
        )


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with HeadraceProcess(tmp_path_factory.mktemp("tail"), overrides=LATE) as broker:
        yield World(spark, broker)


def test_the_rows_are_those_of_other_readers(world: World) -> None:
    """Topics with records of all kinds, of which the bucket has a part."""
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    fill(world.broker, rng)
    world.broker.restart()
    add(world.broker, rng)
    admin = AdminClient({"bootstrap.servers": world.broker.bootstrap})
    deleted = admin.delete_records([TopicPartition("random", 0, 7)])
    start = next(iter(deleted.values())).result(30).low_watermark
    world.broker.process.wait_until(
        lambda: published_start(world.bucket, "random", 0) == start, "it is published", timeout_s=60
    )
    wanted = {"subscribe": ",".join(TOPICS), "includeHeaders": "true"}
    kafka = world.spark.read.format("kafka").options(**wanted)
    expected = rows(kafka.option("kafka.bootstrap.servers", world.broker.bootstrap).load())
    stored = published(world.bucket)
    assert {it[0] for it in expected if it[2] < stored[it[:2]]} == set(TOPICS)
    assert {it[0] for it in expected if it[2] >= stored[it[:2]]} == set(TOPICS)

    assert rows(world.read(**wanted)) == expected, f"random.Random({seed})"
    behind = rows(world.read(**wanted, tail="none"))
    assert behind == [it for it in expected if it[2] < stored[it[:2]]]
    for topic in ("codecs", "random", "random-appended"):
        of_topic = [it for it in expected if it[0] == topic]
        assert consumed(world.broker.bootstrap, topic, len(of_topic)) == of_topic


def test_a_stream_is_not_behind_and_survives_the_broker_s_end(world: World, tmp_path: Path) -> None:
    world.create("orders")
    world.produce("orders", 0, 200)
    query = world.start(tmp_path, subscribe="orders")
    world.wait_for(tmp_path, 200)
    world.broker.process.wait_until(  # it comes a moment after the rows
        lambda: query.lastProgress is not None, "progress of the query", timeout_s=60
    )
    told = json.loads(query.lastProgress["sources"][0]["endOffset"])
    assert told["orders"] == {"0": 100, "1": 100}
    assert told["#metadata"]["bucketOffsets"]["orders"] == {"0": 0, "1": 0}

    world.broker.kill()
    world.broker.start()  # what the log has is uploaded now
    world.produce("orders", 200, 300)
    world.wait_for(tmp_path, 300)
    assert query.isActive
    query.stop()
    world.produce("orders", 300, 340)
    world.run(tmp_path, subscribe="orders")
    assert world.numbers(tmp_path) == list(range(340))


def test_a_query_goes_on_without_the_tail(world: World, tmp_path: Path) -> None:
    """It waits until the bucket has what was read."""
    world.create("later")
    world.produce("later", 0, 60)
    world.run(tmp_path, subscribe="later")
    assert world.numbers(tmp_path) == list(range(60))
    world.run(tmp_path, subscribe="later", tail="none")
    world.produce("later", 60, 100)
    world.broker.restart()
    world.run(tmp_path, subscribe="later", tail="none")
    world.produce("later", 100, 130)
    world.run(tmp_path, subscribe="later")
    assert world.numbers(tmp_path) == list(range(130))
