"""Kills of the broker and of the driver in the middle of a job: counts and checksums of the result are exact."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import KAFKA_PYTHON
from tests.e2e.spark_connector import create, expected, produce, reader, stream, sums, wait_until
from tests.environment.java import java_home
from tests.environment.paths import ROOT
from tests.environment.processes import ServerProcess
from tests.environment.spark import connector_jars

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(600)]

PARTITIONS = 3
KILLS = 3
SETTINGS = {"auto.create.topics.enable": "true", "s3.wal.upload.interval.ms": "1000"}
# So little at once that no task has what it needs when the broker is killed.
FETCHED = {"kafka.max.partition.fetch.bytes": 65_536}
JOB = ROOT / "tests/e2e/spark_jobs/copy_topic.py"
# Of spark-submit: consumers and producers that are not kept for long.
CACHES = {
    "spark.kafka.consumer.cache.capacity": "1",
    "spark.kafka.consumer.cache.timeout": "1s",
    "spark.kafka.consumer.cache.evictorThreadRunInterval": "200ms",
    "spark.kafka.consumer.cache.jmx.enable": "true",
    "spark.kafka.consumer.fetchedData.cache.timeout": "1s",
    "spark.kafka.consumer.fetchedData.cache.evictorThreadRunInterval": "200ms",
    "spark.kafka.producer.cache.timeout": "1s",
    "spark.kafka.producer.cache.evictorThreadRunInterval": "200ms",
}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HeadraceProcess]:
    with HeadraceProcess(tmp_path_factory.mktemp("kills"), overrides=SETTINGS) as running:
        yield running


def all_of(count: int) -> dict[int, range]:
    return dict.fromkeys(range(PARTITIONS), range(count))


def completed_tasks(rows: Path) -> int:
    """Tasks that have committed their file."""
    return len(list(rows.glob("_temporary/*/task_*")))


def test_three_kills_of_the_broker_in_a_batch(
    spark: SparkSession, broker: HeadraceProcess, tmp_path: Path
) -> None:
    tasks, count, rows = 12, 20_000, tmp_path / "rows"
    create(broker.bootstrap, "batch", PARTITIONS)
    produce(broker.bootstrap, "batch", all_of(count))
    frame = reader(spark, broker.bootstrap, subscribe="batch", minPartitions=tasks)
    frame = frame.options(**FETCHED).load()
    job = threading.Thread(target=lambda: frame.write.parquet(str(rows)))
    job.start()
    for number in range(KILLS):
        wanted = 1 + 3 * number
        wait_until(f"{wanted} tasks", lambda wanted=wanted: completed_tasks(rows) >= wanted)
        broker.kill()
        assert job.is_alive()
        assert completed_tasks(rows) < tasks - 2
        broker.start()
    job.join(120)
    assert not job.is_alive()
    found = sums(spark.read.parquet(str(rows)))
    assert found == {it: expected(it, range(count)) for it in range(PARTITIONS)}


def test_three_kills_of_the_broker_in_a_stream(
    spark: SparkSession, broker: HeadraceProcess, tmp_path: Path
) -> None:
    """A producer goes on meanwhile. The query never fails; once it is stopped, and goes on from its checkpoint."""
    count, step = 20_000, 1_000

    def fill() -> None:
        for begin in range(0, count, step):
            numbers = range(begin, begin + step)
            produce(broker.bootstrap, "stream", dict.fromkeys(range(PARTITIONS), numbers))

    def start() -> StreamingQuery:
        options = {"subscribe": "stream", "startingOffsets": "earliest"}
        made = stream(spark, broker.bootstrap, maxOffsetsPerTrigger=5_000, **options)
        return to_files(made.options(**FETCHED).load(), tmp_path)

    create(broker.bootstrap, "stream", PARTITIONS)
    filling = threading.Thread(target=fill)
    filling.start()
    query = start()
    for number in range(KILLS):
        wanted = 2 + 3 * number
        wait_until("micro-batches", lambda wanted=wanted: batches(tmp_path) >= wanted)
        broker.kill()
        assert query.isActive
        broker.start()
        if number == 1:
            query.stop()
            query = start()
    filling.join(120)
    assert not filling.is_alive()
    query.processAllAvailable()
    assert query.exception() is None
    query.stop()
    found = sums(spark.read.parquet(str(tmp_path / "rows")))
    assert found == {it: expected(it, range(count)) for it in range(PARTITIONS)}


def to_files(frame: DataFrame, directory: Path) -> StreamingQuery:
    writer = frame.select("partition", "offset", "value").writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(directory / "checkpoint"))
    return writer.start(str(directory / "rows"))


def batches(directory: Path) -> int:
    """Micro-batches whose files are part of the result."""
    return len(list((directory / "rows" / "_spark_metadata").glob("[0-9]*")))


def submitted(broker: HeadraceProcess, directory: Path) -> ServerProcess:
    """Return a process that runs the job by spark-submit, with the settings that `headrace spark session` prints."""
    asked = ["spark", "session", "--jars", str(connector_jars()), "--python", sys.executable]
    printed = subprocess.run(
        [sys.executable, "-m", "headrace.broker", *asked, "-o", "properties"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    settings = directory / "spark.properties"
    settings.write_text(printed.stdout)
    options = [it for pair in CACHES.items() for it in ("--conf", "=".join(pair))]
    submit = Path(pyspark.__file__).with_name("bin") / "spark-submit"
    command = [submit, "--master", "local[1]", "--properties-file", settings, *options]
    return ServerProcess(
        [*command, JOB, broker.bootstrap, "submitted", directory, "written"],
        log=directory / "spark-submit.log",
        environment={
            **os.environ,
            "JAVA_HOME": str(java_home()),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # a JVM that ends soon
        },
        directory=directory,
    )


def test_a_kill_of_the_driver_in_a_stream(
    spark: SparkSession, broker: HeadraceProcess, tmp_path: Path
) -> None:
    """The next run goes on. Spark keeps as many consumers, for as long, as its settings say."""
    count = 12_000
    create(broker.bootstrap, "submitted", PARTITIONS)
    create(broker.bootstrap, "written")
    produce(broker.bootstrap, "submitted", all_of(count))
    job = submitted(broker, tmp_path)
    job.start()
    job.wait_until(lambda: batches(tmp_path) >= 2, "two micro-batches", timeout_s=240)
    job.kill()
    assert batches(tmp_path) < PARTITIONS * count // 6_000
    job.start()
    assert job.wait_for_end(timeout_s=240) == 0, job.with_log("failed")

    found = sums(spark.read.parquet(str(tmp_path / "rows")))
    assert found == {it: expected(it, range(count)) for it in range(PARTITIONS)}
    (told,) = (it for it in job.log.read_text().splitlines() if it.startswith("[{"))
    after, idle = json.loads(told)
    assert after["consumers"] <= 1
    assert after["producers"] == 1
    assert (idle["consumers"], idle["producers"]) == (0, 0)
    assert after["pools"] == 1
    stored = KAFKA_PYTHON.consume(broker.bootstrap, "written", 2)
    assert [it.value for it in stored] == [b"first", b"second"]
