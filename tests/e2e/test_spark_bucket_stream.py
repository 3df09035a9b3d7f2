"""`readStream.format("headrace")`: micro-batches from the bucket of a running broker, and what Spark 4.0 asks for."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource
from pyspark.sql.functions import expr, window
from pyspark.sql.streaming import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter
from pyspark.sql.types import StructType

from headrace.pipeline.source.data_source import HeadraceDataSource
from headrace.pipeline.source.stream_reader import BucketStreamReader
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.e2e.spark_buckets import EARLY, published

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(300)]

PARTITIONS = 2
AVAILABLE_NOW_WRAPPER = "spark.sql.streaming.triggerAvailableNowWrapper.enabled"


class World:
    """A broker, its bucket, and what was produced."""

    def __init__(self, spark: SparkSession, broker: HeadraceProcess, directory: Path) -> None:
        self.spark = spark
        self.broker = broker
        self.bucket = f"file://{directory / 'data/bucket'}"
        self._produced: dict[str, list[tuple[int, int, bytes]]] = {}

    def produce(self, topic: str, count: int) -> None:
        """Produce, and wait until the newest snapshot in the bucket has all of the topic."""
        if topic not in self._produced:
            admin = AdminClient({"bootstrap.servers": self.broker.bootstrap})
            admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(30)
            self._produced[topic] = []
        rows = self._produced[topic]
        sent = []
        for n in range(len(rows), len(rows) + count):
            sent.append(Record(f"{n}".encode(), partition=n % PARTITIONS))
            rows.append((n % PARTITIONS, n // PARTITIONS, sent[-1].value or b""))
        CONFLUENT.produce(self.broker.bootstrap, topic, sent, compression="zstd")
        self.broker.process.wait_until(
            lambda: (
                sum(end for it, end in published(self.bucket).items() if it[0] == topic)
                == len(rows)
            ),
            "all is in the bucket",
            timeout_s=60,
        )

    def expected(self, topic: str) -> list[tuple[int, int, bytes]]:
        return sorted(self._produced[topic])

    def start(
        self,
        topic: str,
        directory: Path,
        *,
        once: bool = False,
        kind: str = "headrace",
        **options: object,
    ) -> StreamingQuery:
        """Start a query from a topic to files."""
        frame = self.reader(topic, kind, **options).load().select("partition", "offset", "value")
        writer = self.write(frame, directory, "parquet")
        return (writer.trigger(availableNow=True) if once else writer).start()

    def reader(self, topic: str, kind: str, **options: object) -> DataStreamReader:
        """Read a topic from its first record on."""
        reader = self.spark.readStream.format(kind)
        given = {
            "subscribe": topic,
            "startingOffsets": "earliest",
            "bucket": self.bucket,
            **options,
        }
        if kind == "kafka":
            given["kafka.bootstrap.servers"] = self.broker.bootstrap
        for name, value in given.items():
            reader = reader.option(name, str(value))
        return reader

    def write(self, frame: DataFrame, directory: Path, kind: str = "text") -> DataStreamWriter:
        """Write to files, with the checkpoint beside them."""
        writer = frame.writeStream.format(kind).option("path", str(directory / "rows"))
        return writer.option("checkpointLocation", str(directory / "checkpoint"))

    def run(self, topic: str, directory: Path, **options: Any) -> StreamingQuery:
        """Run a query with `availableNow` until it ends."""
        query = self.start(topic, directory, once=True, **options)
        assert query.awaitTermination(120)
        return query

    def rows(self, directory: Path) -> list[tuple[int, int, bytes]]:
        if not list(directory.glob("rows/_spark_metadata/*")):
            return []
        reader = self.spark.read.schema("partition int, offset bigint, value binary")
        found = reader.parquet(str(directory / "rows")).collect()
        return sorted((it.partition, it.offset, bytes(it.value)) for it in found)

    def wait_for_rows(self, directory: Path, count: int) -> None:
        self.broker.process.wait_until(
            lambda: len(self.rows(directory)) >= count, f"{count} rows", timeout_s=60
        )


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("bucket-stream")
    with HeadraceProcess(directory, overrides=EARLY) as broker:
        yield World(spark, broker, directory)


def test_a_stream_goes_on_after_a_restart(world: World, tmp_path: Path) -> None:
    world.produce("orders", 500)
    query = world.start("orders", tmp_path)
    world.wait_for_rows(tmp_path, 500)
    world.produce("orders", 300)
    world.wait_for_rows(tmp_path, 800)
    query.stop()
    shown = json.loads(query.recentProgress[-1]["sources"][0]["endOffset"])
    assert shown["orders"] == {"0": 400, "1": 400}
    assert shown["#metadata"].keys() == {"ageMs", "cluster", "index", "term", "timeMs", "topicIds"}

    world.produce("orders", 100)
    query = world.start("orders", tmp_path)
    world.wait_for_rows(tmp_path, 900)
    query.stop()
    assert world.rows(tmp_path) == world.expected("orders")


def test_a_run_of_what_is_available_reads_one_micro_batch(world: World, tmp_path: Path) -> None:
    """Spark 4.0 asks once: a limit ends the run with records left, and the next run goes on."""
    world.produce("limited", 100)
    counts = []
    for _ in range(4):
        query = world.run("limited", tmp_path, maxOffsetsPerTrigger=40)
        assert len(query.recentProgress) <= 1
        counts.append(len(world.rows(tmp_path)))
    assert counts == [40, 80, 100, 100]
    assert world.rows(tmp_path) == world.expected("limited")
    assert world.run("limited", tmp_path / "all").recentProgress[0]["numInputRows"] == 100


def test_the_checkpoint_of_a_kafka_query_is_gone_on_with(world: World, tmp_path: Path) -> None:
    world.produce("swapped", 60)
    world.run("swapped", tmp_path, kind="kafka")
    world.produce("swapped", 60)
    world.run("swapped", tmp_path)
    world.produce("swapped", 60)
    world.run("swapped", tmp_path)
    assert world.rows(tmp_path) == world.expected("swapped")


def test_the_latest_offset_is_kept_before_the_first_record(world: World, tmp_path: Path) -> None:
    world.produce("late", 10)
    world.run("late", tmp_path, startingOffsets="latest")
    assert world.rows(tmp_path) == []
    world.produce("late", 10)
    world.run("late", tmp_path, startingOffsets="latest")
    assert world.rows(tmp_path) == [it for it in world.expected("late") if it[1] >= 5]


def test_metadata_of_a_node(world: World, tmp_path: Path) -> None:
    world.produce("asked", 30)
    listener = f"127.0.0.1:{world.broker.admin_port}"
    query = world.run("asked", tmp_path, metadata="broker", adminListener=listener)
    assert world.rows(tmp_path) == world.expected("asked")
    read = json.loads(query.recentProgress[-1]["sources"][0]["endOffset"])["#metadata"]
    assert abs(read["timeMs"] / 1000 - time.time()) < 120

    reader = world.spark.read.format("headrace").option("bucket", world.bucket)
    reader = reader.option("subscribe", "asked").option("metadata", "broker")
    assert reader.option("adminListener", listener).load().count() == 30


def test_deleted_records_are_told(world: World, tmp_path: Path) -> None:
    world.produce("shortened", 20)
    world.run("shortened", tmp_path)
    world.produce("shortened", 20)
    delete_records(world.broker.bootstrap, "shortened", {0: 15, 1: 10})
    world.produce("shortened", 2)
    query = world.start("shortened", tmp_path, once=True)
    with pytest.raises(
        StreamingQueryException, match="shortened-0 begins at offset 15; 10 to 14 are"
    ):
        query.awaitTermination(120)
    world.run("shortened", tmp_path, failOnDataLoss="false")
    lost = range(10, 15)
    kept = [it for it in world.expected("shortened") if it[0] == 1 or it[1] not in lost]
    assert world.rows(tmp_path) == kept


@pytest.fixture
def wrapped(spark: SparkSession) -> Iterator[None]:
    """Spark 4.0 ends a run of a Python source with micro-batches without records, as it does one of its own source."""
    spark.conf.set(AVAILABLE_NOW_WRAPPER, "true")
    yield
    spark.conf.unset(AVAILABLE_NOW_WRAPPER)


def windows(frame: DataFrame) -> DataFrame:
    return frame.groupBy(window("time", "4 seconds").alias("span")).count()


def distinct(frame: DataFrame) -> DataFrame:
    return frame.dropDuplicatesWithinWatermark(["tens"])


def without_partner(frame: DataFrame) -> DataFrame:
    """Rows of a stream that have none of another one beside them: known once the watermark has passed."""
    even = frame.where("number % 4 = 0").selectExpr("number as other", "time as othertime")
    near = expr("number = other and othertime between time and time + interval 1 second")
    return frame.join(even, near, "leftOuter").where("other is null")


@pytest.mark.usefixtures("wrapped")
def test_a_run_of_what_is_available_closes_windows(world: World, tmp_path: Path) -> None:
    """It writes the rows that it writes with Spark's Kafka source."""
    world.produce("windowed", 40)

    def rows(job: Callable[[DataFrame], DataFrame], kind: str) -> list[str]:
        place = tmp_path / job.__name__ / kind
        read = world.reader("windowed", kind).load()
        numbers = read.selectExpr("cast(cast(value as string) as int) as number")
        times = "timestamp_seconds(1700000000 + number) as time"
        timed = numbers.selectExpr("number", "number div 10 as tens", times)
        written = job(timed.withWatermark("time", "2 seconds")).selectExpr("to_json(struct(*))")
        query = world.write(written, place).trigger(availableNow=True).start()
        assert query.awaitTermination(120)
        return sorted(it.value for it in world.spark.read.text(str(place / "rows")).collect())

    jobs = (windows, distinct, without_partner)
    by_kafka = {job.__name__: rows(job, "kafka") for job in jobs}
    assert all(by_kafka.values())
    assert {job.__name__: rows(job, "headrace") for job in jobs} == by_kafka


@pytest.mark.usefixtures("wrapped")
def test_a_limit_cannot_be_counted_before_the_place_is_known(world: World, tmp_path: Path) -> None:
    world.produce("bounded", 30)
    world.run("bounded", tmp_path, maxOffsetsPerTrigger=20)
    assert len(world.rows(tmp_path)) == 20
    query = world.start("bounded", tmp_path, once=True, maxOffsetsPerTrigger=20)
    with pytest.raises(StreamingQueryException, match="a limit has nothing to count from"):
        query.awaitTermination(120)
    world.run("bounded", tmp_path)
    assert world.rows(tmp_path) == world.expected("bounded")


def test_a_query_that_died_in_its_first_micro_batch_goes_on(world: World, tmp_path: Path) -> None:
    """Partitions have come meanwhile."""
    world.produce("stillborn", 20)
    checkpoint = str(tmp_path / "checkpoint")
    rows: list[tuple[int, int]] = []

    def die(_: DataFrame, __: int) -> None:
        raise RuntimeError("the job dies here")

    def collect(frame: DataFrame, _: int) -> None:
        rows.extend(
            (it.partition, it.offset) for it in frame.select("partition", "offset").collect()
        )

    def start(write: Callable[[DataFrame, int], None]) -> StreamingQuery:
        writer = world.reader("stillborn", "headrace").load().writeStream.foreachBatch(write)
        return writer.option("checkpointLocation", checkpoint).start()

    with pytest.raises(StreamingQueryException, match="the job dies here"):
        start(die).awaitTermination(120)
    admin = AdminClient({"bootstrap.servers": world.broker.bootstrap})
    admin.create_partitions([NewPartitions("stillborn", 5)])["stillborn"].result(30)
    world.produce("stillborn", 20)
    query = start(collect)
    world.broker.process.wait_until(
        lambda: len(rows) >= 40 or not query.isActive, "all rows", timeout_s=60
    )
    query.stop()
    assert query.exception() is None
    assert sorted(rows) == [it[:2] for it in world.expected("stillborn")]


def test_what_spark_asks_for(world: World, tmp_path: Path) -> None:
    """The order that the reader counts on, of Spark 4.0."""
    world.produce("traced", 10)
    log = tmp_path / "calls"
    world.spark.dataSource.register(traced(str(log)))

    def calls(*, limit: int) -> list[str]:
        log.write_text("")
        world.run("traced", tmp_path, kind="traced", maxOffsetsPerTrigger=limit)
        return log.read_text().splitlines()

    assert calls(limit=6) == ["latestOffset", "initialOffset", "partitions 0 0 -> 3 3"]
    assert calls(limit=6) == [
        "partitions 3 3 -> 3 3",
        "latestOffset",
        "commit 3 3",
        "partitions 3 3 -> 5 5",
    ]
    assert calls(limit=6) == ["partitions 5 5 -> 5 5", "latestOffset"]


def delete_records(bootstrap: str, topic: str, before: dict[int, int]) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wanted = [TopicPartition(topic, partition, offset) for partition, offset in before.items()]
    for it in admin.delete_records(wanted).values():
        it.result(30)


def traced(path: str) -> type[DataSource]:
    """Make a data source that writes what Spark calls; local, so that workers get it by value."""

    def told(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def traced_call(*offsets: Any) -> Any:
            shown = " -> ".join(
                " ".join(str(it["traced"][partition]) for partition in sorted(it["traced"]))
                for it in offsets
            )
            with Path(path).open("a") as file:
                file.write(f"{name} {shown}".strip() + "\n")
            return call(*offsets)

        return traced_call

    class Traced(HeadraceDataSource):
        @classmethod
        def name(cls) -> str:
            return "traced"

        def streamReader(self, schema: StructType) -> BucketStreamReader:  # noqa: N802
            reader = super().streamReader(schema)
            for name in ("initialOffset", "latestOffset", "partitions", "commit"):
                setattr(reader, name, told(name, getattr(reader, name)))
            return reader

    return Traced
