"""`failOnDataLoss` of Spark's Kafka connector, both values: records deleted, too old, or gone with their topic."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
)
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from tests.e2e.admin_calls import start_offsets
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.spark_connector import (
    SPARK_ERRORS,
    create,
    expected,
    produce,
    reader,
    stream,
    sums,
    wait_until,
)

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(600)]

LOST = "Some data may have been lost|Partition.* offset was changed|are gone"
SETTINGS = {
    "log.retention.check.interval.ms": "100",
    "s3.wal.upload.interval.ms": "200",  # what is not in the bucket yet does not grow too old
    "headrace.metadata.snapshot.publish.interval.ms": "1000",
}


class World:
    """A broker, and queries from its topics to files."""

    def __init__(self, spark: SparkSession, broker: HeadraceProcess) -> None:
        self.spark = spark
        self.bootstrap = broker.bootstrap
        self.admin = AdminClient({"bootstrap.servers": broker.bootstrap})

    def delete_before(self, topic: str, offset: int) -> None:
        wanted = [TopicPartition(topic, 0, offset)]
        for answer in self.admin.delete_records(wanted).values():
            answer.result(30)

    def keep_for(self, topic: str, retention_ms: int) -> None:
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
        entry = ConfigEntry(
            "retention.ms", str(retention_ms), incremental_operation=AlterConfigOpType.SET
        )
        resource.add_incremental_config(entry)
        self.admin.incremental_alter_configs([resource])[resource].result(30)

    def run(self, directory: Path, **options: object) -> None:
        """Read what is new into files."""
        assert self.start(directory, **options).awaitTermination(240)

    def start(self, directory: Path, **options: object) -> StreamingQuery:
        frame = stream(self.spark, self.bootstrap, startingOffsets="earliest", **options).load()
        writer = frame.select("topic", "partition", "offset", "value").writeStream.format("parquet")
        writer = writer.option("checkpointLocation", str(directory / "checkpoint"))
        return writer.trigger(availableNow=True).start(str(directory / "rows"))

    def read(self, directory: Path) -> dict[int, object]:
        return sums(self.spark.read.parquet(str(directory / "rows")))


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with HeadraceProcess(tmp_path_factory.mktemp("loss"), overrides=SETTINGS) as broker:
        yield World(spark, broker)


def test_deleted_records_under_a_stream(world: World, tmp_path: Path) -> None:
    """What is left is read from the first record that is there."""
    create(world.bootstrap, "deleted")
    produce(world.bootstrap, "deleted", {0: range(100)})
    world.run(tmp_path, subscribe="deleted", failOnDataLoss="true")
    produce(world.bootstrap, "deleted", {0: range(100, 300)})
    world.delete_before("deleted", 250)
    with pytest.raises(StreamingQueryException, match=LOST):
        world.run(tmp_path, subscribe="deleted", failOnDataLoss="true")
    assert world.read(tmp_path) == {0: expected(0, range(100))}
    world.run(tmp_path, subscribe="deleted", failOnDataLoss="false")
    kept = world.spark.read.parquet(str(tmp_path / "rows")).where("offset >= 100")
    assert sums(kept) == {0: expected(0, range(250, 300))}
    assert world.spark.read.parquet(str(tmp_path / "rows")).count() == 150


def test_deleted_records_under_a_batch(world: World) -> None:
    create(world.bootstrap, "shortened")
    produce(world.bootstrap, "shortened", {0: range(300)})
    world.delete_before("shortened", 120)
    given = {"subscribe": "shortened", "startingOffsets": '{"shortened": {"0": 50}}'}
    with pytest.raises(SPARK_ERRORS, match=LOST):
        reader(world.spark, world.bootstrap, failOnDataLoss="true", **given).load().collect()
    left = reader(world.spark, world.bootstrap, failOnDataLoss="false", **given).load()
    assert sums(left) == {0: expected(0, range(120, 300))}


def test_records_that_grew_too_old(world: World, tmp_path: Path) -> None:
    create(world.bootstrap, "aged")
    produce(world.bootstrap, "aged", {0: range(100)})
    world.run(tmp_path, subscribe="aged", maxOffsetsPerTrigger=100)
    produce(world.bootstrap, "aged", {0: range(100, 200)})
    world.keep_for("aged", 1_000)
    wait_until("all are deleted", lambda: start_offsets(world.bootstrap, "aged", 1) == {0: 200})
    world.keep_for("aged", -1)
    produce(world.bootstrap, "aged", {0: range(200, 260)})
    with pytest.raises(StreamingQueryException, match=LOST):
        world.run(tmp_path, subscribe="aged", failOnDataLoss="true")
    world.run(tmp_path, subscribe="aged", failOnDataLoss="false")
    rows = world.spark.read.parquet(str(tmp_path / "rows"))
    assert sums(rows.where("offset < 200")) == {0: expected(0, range(100))}
    assert sums(rows.where("offset >= 200")) == {0: expected(0, range(200, 260))}


def test_a_topic_that_was_deleted(world: World, tmp_path: Path) -> None:
    """One of those that a pattern matches. A topic that is named must be there, whatever the option is."""
    for topic in ("gone-a", "gone-b"):
        create(world.bootstrap, topic)
        produce(world.bootstrap, topic, {0: range(50)})
    world.run(tmp_path, subscribePattern="gone-.*")
    world.admin.delete_topics(["gone-a"])["gone-a"].result(30)
    produce(world.bootstrap, "gone-b", {0: range(50, 80)})
    with pytest.raises(StreamingQueryException, match=LOST):
        world.run(tmp_path, subscribePattern="gone-.*", failOnDataLoss="true")
    world.run(tmp_path, subscribePattern="gone-.*", failOnDataLoss="false")
    rows = world.spark.read.parquet(str(tmp_path / "rows"))
    assert sums(rows.where("topic = 'gone-b'")) == {0: expected(0, range(80))}
    with pytest.raises(SPARK_ERRORS, match="UnknownTopicOrPartition"):
        reader(
            world.spark, world.bootstrap, subscribe="gone-a", failOnDataLoss="false"
        ).load().collect()
