"""The job backfill: into a table and into a topic, killed in between."""

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

from headrace.pipeline.jobs import backfill
from headrace.pipeline.jobs.told import Told
from headrace.pipeline.source.bucket import open_bucket
from headrace.pipeline.source.errors import OptionError
from headrace.pipeline.source.snapshots import newest_catalog
from tests.e2e.admin_calls import end_offsets
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record, Stored
from tests.e2e.spark_buckets import EARLY, published
from tests.e2e.spark_programs import JOBS, quick_options, run_until, some_delay_s
from tests.environment.spark import connector_jars

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(400)]

RECORDS = 3_000
PARTITIONS = 2
START_MS = 1_790_000_000_000


@dataclass
class World:
    """A broker with a topic `orders` that is in its bucket, and an empty topic of as many partitions."""

    broker: HeadraceProcess
    bucket: str

    def new_topic(self) -> str:
        name = f"copy-{uuid.uuid4().hex[:8]}"
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap})
        for it in admin.create_topics([NewTopic(name, PARTITIONS, 1)]).values():
            it.result(30)
        return name

    def count(self, topic: str) -> int:
        return sum(end_offsets(self.broker.bootstrap, topic, PARTITIONS).values())


def sent() -> list[Record]:
    return [
        Record(
            str(number).encode() if number % 10 else None,
            str(number).encode(),
            (("h", None),) if number % 2 else (),
            partition=number % PARTITIONS,
            timestamp_ms=START_MS + number,
        )
        for number in range(RECORDS)
    ]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("backfill")
    with HeadraceProcess(directory, overrides=EARLY) as broker:
        made = World(broker, f"file://{directory / 'data/bucket'}")
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        for it in admin.create_topics([NewTopic("orders", PARTITIONS, 1)]).values():
            it.result(30)
        CONFLUENT.produce(broker.bootstrap, "orders", sent(), compression="zstd")
        broker.process.wait_until(
            lambda: (
                sum(count for it, count in published(made.bucket).items() if it[0] == "orders")
                == RECORDS
            ),
            "all in the bucket",
            timeout_s=120,
        )
        yield made


def arguments(world: World, directory: Path, *more: str) -> list[str]:
    place = ["--checkpoint", f"file://{directory / 'checkpoint'}", "--offsets-per-step", "1000"]
    return [world.bucket, "--topics", "orders", *place, "--json", *more]


def run_here(words: list[str]) -> int:
    return backfill.run(backfill.parser().parse_args(words), Told(events=False))


def contents(found: list[Stored]) -> list[tuple[object, ...]]:
    return sorted((it.partition, it.key or b"", it.value or b"", it.headers) for it in found)


def test_into_a_table_and_on_after_more_records(
    spark: SparkSession, world: World, tmp_path: Path
) -> None:
    table = f"copied_{uuid.uuid4().hex[:8]}"
    words = arguments(world, tmp_path, "--to-table", table)
    for _ in range(2):
        assert run_here(words) == 0
        found = spark.table(table).select("partition", "offset", "key", "value").collect()
        places = sorted((it.partition, it.offset) for it in found)
        assert places == [(p, o) for p in range(PARTITIONS) for o in range(RECORDS // PARTITIONS)]
    spark.sql(f"drop table {table}")


def test_into_a_topic(spark: SparkSession, world: World, tmp_path: Path) -> None:
    topic = world.new_topic()
    words = arguments(world, tmp_path, "--to-kafka", world.broker.bootstrap, "--to-topic", topic)
    assert run_here([*words, "--keep-partitions"]) == 0
    copied = CONFLUENT.consume(world.broker.bootstrap, topic, RECORDS)
    assert world.count(topic) == RECORDS
    original = CONFLUENT.consume(world.broker.bootstrap, "orders", RECORDS)
    assert contents(copied) == contents(original)
    for partition in range(PARTITIONS):
        keys = [it.key for it in copied if it.partition == partition]
        assert keys == sorted(keys, key=lambda it: int(it or b"0"))


def test_exactly_once_into_a_topic_though_it_is_killed(
    spark: SparkSession, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = random.randrange(1 << 32)
    topic = world.new_topic()
    more = ["--to-kafka", world.broker.bootstrap, "--to-topic", topic, "--keep-partitions"]
    words = [*arguments(world, tmp_path, *more, "--exactly-once")]
    jars = ",".join(str(it) for it in sorted(connector_jars().glob("*.jar")))
    spark_options = ["--jars", jars, "--conf", "spark.task.maxFailures=1", *quick_options()]
    command = ["spark-submit", "--master", "local[1]", *spark_options, JOBS / "backfill.py", *words]
    was_running = run_until(
        command,
        uuid.uuid4().hex,
        lambda: world.count(topic) > 0,
        delay_s=some_delay_s(random.Random(seed)) / 4,
    )
    before = world.count(topic)
    assert run_here(words) == 0
    count = world.count(topic)
    assert count == RECORDS, f"random.Random({seed}), {before} before, killed: {was_running}"
    copied = CONFLUENT.consume(world.broker.bootstrap, topic, RECORDS)
    marks = sorted(
        value or b"" for it in copied for name, value in it.headers if name == "headrace.source"
    )
    topic_id = newest_catalog(open_bucket(world.bucket)).topic_id("orders")
    expected = [
        f"orders/{p}/{o}/{topic_id}"
        for p in range(PARTITIONS)
        for o in range(RECORDS // PARTITIONS)
    ]
    assert marks == sorted(it.encode() for it in expected)

    # A topic that is created again under the name has records at the same places, which are not these.
    sink = backfill.KafkaSink(
        spark, backfill.parser().parse_args(words), started_ms=1, partitions=PARTITIONS
    )
    monkeypatch.setattr(sink, "_planned", lambda _: (0, {"orders": "of another topic"}))
    reader = spark.read.format("headrace").option("bucket", world.bucket)
    sink.write(reader.option("subscribe", "orders").option("includeHeaders", "true").load(), 0)
    assert world.count(topic) == 2 * RECORDS


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "either --to-table, or --to-kafka"),
        (["--to-kafka", "x:1"], "either --to-table, or --to-kafka"),
        (["--to-table", "t", "--exactly-once"], "a table has each record once"),
    ],
)
def test_targets_that_mean_nothing(
    world: World, tmp_path: Path, more: list[str], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        run_here(arguments(world, tmp_path, *more))
