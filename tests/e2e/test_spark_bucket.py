"""`format("headrace")`: Spark reads topics straight from the bucket, with every broker down."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from headrace.pipeline.source.data_source import HeadraceDataSource
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.e2e.spark_buckets import EARLY, published
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer, minio_program

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(300)]

START_MS = 1_700_000_000_000
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@dataclass
class World:
    """A bucket with topics, and what Spark's Kafka source has read of them."""

    bucket: str
    codecs: list[tuple[Any, ...]]  # rows of the topic "codecs", all columns
    ends: dict[int, int]  # of the topic "codecs"


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """All columns, comparable, by partition and offset."""
    found = []
    for row in frame.collect():
        headers = None
        if "headers" in row and row.headers is not None:
            headers = [
                (it.key, None if it.value is None else bytes(it.value)) for it in row.headers
            ]
        key, value = (None if it is None else bytes(it) for it in (row.key, row.value))
        place = (row.topic, row.partition, row.offset)
        found.append((*place, key, value, row.timestamp, row.timestampType, headers))
    return sorted(found, key=lambda it: it[:3])


def records(number: int) -> list[Record]:
    """Nulls, empties, headers of all kinds, in three partitions."""
    kinds = [
        Record(b"value", b"key", (("a", b"1"), ("a", None))),
        Record(None, b"key"),
        Record(b"", b""),
        Record(b"x" * 2_000, None, (("", b""), ("h", b"\xff\xfe"))),
    ]
    return [
        Record(
            kinds[n % 4].value,
            kinds[n % 4].key,
            kinds[n % 4].headers,
            partition=n % 3,
            timestamp_ms=START_MS + 1_000 * n,
        )
        for n in range(number)
    ]


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> World:
    directory = tmp_path_factory.mktemp("bucket-source")
    settings = {"s3.stream.object.split.size": "65536", "s3.object.block.size": "16384", **EARLY}
    with HeadraceProcess(directory, overrides=settings) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        appended = {"message.timestamp.type": "LogAppendTime"}
        for it in admin.create_topics(
            [
                NewTopic("codecs", 3, 1),
                NewTopic("appended", 1, 1, config=appended),
            ]
        ).values():
            it.result(30)
        for codec in CODECS:
            CONFLUENT.produce(broker.bootstrap, "codecs", records(120), compression=codec)
        CONFLUENT.produce(broker.bootstrap, "appended", [Record(b"a"), Record(b"b")])
        kafka = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap)
        by_broker = kafka.option("subscribe", "codecs").option("includeHeaders", "true").load()
        expected = rows(by_broker)
        bucket = f"file://{directory / 'data/bucket'}"
        offsets = {("codecs", 0): 200, ("codecs", 1): 200, ("codecs", 2): 200, ("appended", 0): 2}
        broker.process.wait_until(
            lambda: published(bucket).items() >= offsets.items(),
            "all is in the bucket",
            timeout_s=60,
        )
    spark.dataSource.register(HeadraceDataSource)
    ends: dict[int, int] = {}
    for row in expected:
        ends[row[1]] = row[2] + 1
    return World(bucket, expected, ends)


def read(spark: SparkSession, world: World, **options: object) -> DataFrame:
    reader = spark.read.format("headrace").option("bucket", world.bucket)
    for name, value in options.items():
        reader = reader.option(name, str(value))
    return reader.load()


def test_the_rows_are_those_of_the_kafka_source(spark: SparkSession, world: World) -> None:
    frame = read(spark, world, subscribe="codecs", includeHeaders="true")
    assert len(world.codecs) == 600
    assert rows(frame) == world.codecs


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
    first = next(
        it[2] for it in world.codecs if it[1] == 1 and it[5].timestamp() * 1000 >= START_MS + 60_000
    )
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
            overrides={"s3.data.buckets": f"0@{uri}", **EARLY},
            environment={it.upper(): value for it, value in keys.items()},
        ) as broker:
            sent = [replace(it, partition=0) for it in records(300)]
            CONFLUENT.produce(broker.bootstrap, "stored", sent, compression="zstd")
            broker.process.wait_until(
                lambda: sum(published(bucket).values()) == 300, "all is in the bucket", timeout_s=60
            )
        spark.dataSource.register(HeadraceDataSource)
        reader = spark.read.format("headrace").option("subscribe", "stored")
        values = [it.value for it in reader.option("bucket", bucket).load().collect()]
        assert sorted(map(str, values)) == sorted(str(wanted(it)) for it in sent)
        refused = bucket.replace(SECRET_KEY, "wrong-secret")
        with pytest.raises(AnalysisException, match="cannot read metadata of the bucket headrace"):
            reader.option("bucket", refused).load().collect()


def wanted(record: Record) -> bytearray | None:
    """The value, as Spark gives it back."""
    return None if record.value is None else bytearray(record.value)
