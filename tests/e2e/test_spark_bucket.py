"""`format("headrace")`: Spark reads topics straight from the bucket, with every broker down."""

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.e2e.spark_buckets import (
    START_MS,
    consumed,
    fill,
    fill_cleaned,
    published,
    records,
    rows,
)
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer, minio_program

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(300)]


@dataclass
class World:
    """A bucket with topics, and what other readers have got of them from the broker."""

    bucket: str
    seed: int
    by_kafka: dict[
        str, list[tuple[Any, ...]]
    ]  # rows of Spark's Kafka source, all columns, by topic
    by_consumer: dict[str, list[tuple[Any, ...]]]  # the same of a consumer

    @property
    def codecs(self) -> list[tuple[Any, ...]]:
        """Rows of the topic "codecs"."""
        return self.by_kafka["codecs"]

    @property
    def ends(self) -> dict[int, int]:
        """Ends of its partitions."""
        return {row[1]: row[2] + 1 for row in self.codecs}


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> World:
    directory = tmp_path_factory.mktemp("bucket-source")
    settings = {"s3.stream.object.split.size": "65536", "s3.object.block.size": "16384"}
    seed = random.randrange(1 << 32)
    bucket = f"file://{directory / 'data/bucket'}"
    by_kafka: dict[str, list[tuple[Any, ...]]] = {}
    by_consumer: dict[str, list[tuple[Any, ...]]] = {}
    with HeadraceProcess(directory, overrides=settings) as broker:
        fill(broker, random.Random(seed))
        cleaned_of = fill_cleaned(broker)
        kafka = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap)
        kafka = kafka.option("subscribePattern", ".*").option("includeHeaders", "true")
        for row in rows(kafka.load()):
            by_kafka.setdefault(row[0], []).append(row)
        for topic in ("codecs", "appended", "random", "random-appended", "cleaned"):
            by_consumer[topic] = consumed(broker.bootstrap, topic, len(by_kafka[topic]))
    assert 11 <= len(by_kafka["cleaned"]) < cleaned_of / 2
    # An orderly stop uploads all, and publishes the metadata that say so.
    ends = {(row[0], row[1]): row[2] + 1 for found in by_kafka.values() for row in found}
    assert published(bucket).items() >= ends.items()
    return World(bucket, seed, by_kafka, by_consumer)


def read(spark: SparkSession, world: World, **options: object) -> DataFrame:
    reader = spark.read.format("headrace").option("bucket", world.bucket)
    for name, value in options.items():
        reader = reader.option(name, str(value))
    return reader.load()


@pytest.mark.parametrize(
    "topic", ["codecs", "appended", "random", "random-appended", "raw", "cleaned"]
)
def test_the_rows_are_those_of_other_readers(spark: SparkSession, world: World, topic: str) -> None:
    found = rows(read(spark, world, subscribe=topic, includeHeaders="true"))
    assert found == world.by_kafka[topic], f"random.Random({world.seed})"
    if topic != "raw":  # the consumer cannot show such headers
        assert found == world.by_consumer[topic], f"random.Random({world.seed})"
    assert len(found) >= {"codecs": 600, "appended": 2, "raw": 1}.get(topic, 4)


def test_tasks_may_divide_a_cleaned_topic_anywhere(spark: SparkSession, world: World) -> None:
    cleaned = world.by_kafka["cleaned"]
    frame = read(spark, world, subscribe="cleaned", includeHeaders="true", minPartitions=50)
    assert rows(frame) == cleaned
    for start, end in ((0, cleaned[0][2]), (cleaned[0][2] - 1, cleaned[3][2] + 1)):
        asked = {
            "startingOffsets": {"cleaned": {"0": start}},
            "endingOffsets": {"cleaned": {"0": end}},
        }
        options = {name: json.dumps(value) for name, value in asked.items()}
        found = rows(read(spark, world, subscribe="cleaned", includeHeaders="true", **options))
        assert found == [it for it in cleaned if start <= it[2] < end]


def test_one_partition_is_read_by_several_tasks(spark: SparkSession, world: World) -> None:
    frame = read(spark, world, subscribe="codecs", includeHeaders="true", minPartitions=6)
    assert frame.rdd.getNumPartitions() >= 4
    assert rows(frame) == world.codecs


def test_offsets_that_were_asked_for(spark: SparkSession, world: World) -> None:
    starting = {"codecs": {"0": 10, "1": -2, "2": 5}}
    ending = {"codecs": {"0": 20, "1": 7, "2": -1}}
    frame = read(
        spark,
        world,
        subscribe="codecs",
        startingOffsets=json.dumps(starting),
        endingOffsets=json.dumps(ending),
    )
    wanted = {0: (10, 20), 1: (0, 7), 2: (5, world.ends[2])}
    expected = [(p, o) for p, (start, end) in wanted.items() for o in range(start, end)]
    found = sorted((row.partition, row.offset) for row in frame.collect())
    assert found == sorted(expected)


def test_times_that_were_asked_for(spark: SparkSession, world: World) -> None:
    frame = read(
        spark, world, assign=json.dumps({"codecs": [1]}), startingTimestamp=START_MS + 60_000
    )
    first = next(it[2] for it in world.codecs if it[1] == 1 and it[5] >= START_MS + 60_000)
    assert min(row.offset for row in frame.collect()) == first


def test_append_times(spark: SparkSession, world: World) -> None:
    found = read(spark, world, subscribe="appended").orderBy("offset").collect()
    assert [(bytes(row.value), row.timestampType) for row in found] == [(b"a", 1), (b"b", 1)]
    assert time.time() - 600 < found[0].timestamp.timestamp() <= time.time()


def test_columns_that_were_asked_for(spark: SparkSession, world: World) -> None:
    frame = read(spark, world, subscribePattern="app.*", columns="offset,value")
    assert frame.columns == ["offset", "value"]
    assert [(it.offset, bytes(it.value)) for it in frame.orderBy("offset").collect()] == [
        (0, b"a"),
        (1, b"b"),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subscribe": "codecs", "startingOffset": "earliest"}, "is startingOffsets meant?"),
        ({"subscribe": "nothing"}, "no topic 'nothing'"),
        ({}, "exactly one of the options subscribe"),
    ],
)
def test_an_option_that_means_nothing(
    spark: SparkSession, world: World, options: dict[str, str], message: str
) -> None:
    with pytest.raises(AnalysisException, match=message):
        read(spark, world, **options).collect()


@pytest.mark.s3
def test_a_bucket_of_an_s3_service(
    spark: SparkSession, component: Callable[[Callable[[], object]], None], tmp_path: Path
) -> None:
    component(minio_program)
    keys = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET_KEY}
    with MinioServer(tmp_path / "minio") as server:
        client = boto3.client("s3", endpoint_url=server.endpoint, region_name="us-east-1", **keys)
        client.create_bucket(Bucket="headrace")
        uri = f"s3://headrace?region=us-east-1&endpoint={server.endpoint}&pathStyle=true"
        bucket = f"{uri}&accessKey={ACCESS_KEY}&secretKey={SECRET_KEY}"
        with HeadraceProcess(
            tmp_path / "node",
            overrides={"s3.data.buckets": f"0@{uri}"},
            environment={it.upper(): value for it, value in keys.items()},
        ) as broker:
            sent = [replace(it, partition=0) for it in records(300)]
            CONFLUENT.produce(broker.bootstrap, "stored", sent, compression="zstd")
        assert sum(published(bucket).values()) == 300
        reader = spark.read.format("headrace").option("subscribe", "stored")
        values = [it.value for it in reader.option("bucket", bucket).load().collect()]
        assert sorted(map(str, values)) == sorted(str(wanted(it)) for it in sent)
        refused = bucket.replace(SECRET_KEY, "wrong-secret")
        with pytest.raises(AnalysisException, match="cannot read metadata of the bucket headrace"):
            reader.option("bucket", refused).load().collect()


def wanted(record: Record) -> bytearray | None:
    """The value, as Spark gives it back."""
    return None if record.value is None else bytearray(record.value)
