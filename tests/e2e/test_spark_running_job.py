"""Jobs over the bucket while compaction replaces all their objects, or retention deletes their records."""

import json
import os
import random
import threading
import time
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
)
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from headrace.pipeline.source.bucket import open_bucket
from headrace.pipeline.source.snapshots import newest_catalog
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.spark_buckets import published, published_start

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(900)]

# More than what runs in each build: SPARK_JOB_MB=2000 python -m pytest tests/e2e/test_spark_running_job.py
VOLUME_BYTES = int(os.environ.get("SPARK_JOB_MB", "30")) * 1_000_000
VALUE_BYTES = 1_000
PARTITIONS = 3
UPLOADS = 20  # about, of a topic, at least
# Of one, at most: a stream with more of its own would get a Stream Object, which compaction may leave as it is.
UPLOAD_BYTES = 12_000_000
# Stream Set Objects, which each compaction takes, and which go as soon as they are replaced.
BUSY = {
    "s3.wal.upload.interval.ms": "100",
    "s3.object.delete.retention.minutes": "0",
    "headrace.metadata.snapshot.publish.interval.ms": "1000",
    "log.retention.check.interval.ms": "500",
    "log.segment.bytes": "1048576",
}


# A partition, number of records, sum of the checksums of their values.
Total = tuple[int, tuple[int, int]]


# A key, the newest number of its records, how many there were.
Newest = tuple[int, tuple[int, int]]


class Sent:
    """Number of records and sum of the checksums of their values, by partition."""

    def __init__(self) -> None:
        self.counts, self.sums = [0] * PARTITIONS, [0] * PARTITIONS

    def add(self, partition: int, value: bytes) -> None:
        self.counts[partition] += 1
        self.sums[partition] += zlib.crc32(value)

    def totals(self) -> list[Total]:
        return [(it, (self.counts[it], self.sums[it])) for it in range(PARTITIONS)]


class Gate:
    """Holds up the tasks of a job, once they are planned, until the test has acted; then adds their rows up."""

    def __init__(self, directory: Path) -> None:
        self.reached, self.opened = directory / "reached", directory / "opened"

    def hold(self) -> Callable[[Iterator[Any]], Iterator[Total]]:
        reached, opened = str(self.reached), str(self.opened)

        def held(rows: Iterator[Any]) -> Iterator[Total]:
            import pathlib
            import time
            import zlib

            pathlib.Path(reached).touch()
            while not pathlib.Path(opened).exists():
                time.sleep(0.05)
            found: dict[int, tuple[int, int]] = {}
            for row in rows:
                count, total = found.get(row.partition, (0, 0))
                found[row.partition] = count + 1, total + zlib.crc32(row.value)
            yield from found.items()

        return held

    def hold_newest(self) -> Callable[[Iterator[Any]], Iterator[Newest]]:
        """Hold tasks up likewise; then find the newest number and the number of records of each key."""
        reached, opened = str(self.reached), str(self.opened)

        def held(rows: Iterator[Any]) -> Iterator[Newest]:
            import pathlib
            import time

            pathlib.Path(reached).touch()
            while not pathlib.Path(opened).exists():
                time.sleep(0.05)
            found: dict[int, tuple[int, int]] = {}
            for row in rows:
                newest, count = found.get(int(row.key), (-1, 0))
                found[int(row.key)] = max(newest, int.from_bytes(row.value[:8])), count + 1
            yield from found.items()

        return held


class World:
    """A broker that is busy with its bucket."""

    def __init__(self, spark: SparkSession, broker: HeadraceProcess) -> None:
        self.spark = spark
        self.broker = broker
        self.bucket = f"file://{broker.directory / 'data/bucket'}"
        self.admin = AdminClient({"bootstrap.servers": broker.bootstrap})

    def produce(self, topic: str, size_bytes: int, keys: int = 0) -> Sent:
        """Produce to a new topic, with so many keys or none, and wait until the bucket has it."""
        self.admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(30)
        sent, noise = Sent(), random.randbytes(2 * VALUE_BYTES)
        producer = Producer({"bootstrap.servers": self.broker.bootstrap, "linger.ms": "50"})
        count = size_bytes // VALUE_BYTES
        uploads = max(UPLOADS, size_bytes // UPLOAD_BYTES)
        for number in range(count):
            if number % (count // uploads) == 0:
                assert producer.flush(60) == 0
                time.sleep(0.15)  # for an upload
            start, partition = number % VALUE_BYTES, number % PARTITIONS
            value = number.to_bytes(8) + noise[start : start + VALUE_BYTES - 8]
            sent.add(partition, value)
            while True:
                try:
                    key = b"%d" % (number % keys) if keys else None
                    producer.produce(topic, value, key, partition=partition)
                    break
                except BufferError:
                    producer.poll(0.1)
            producer.poll(0)
        assert producer.flush(120) == 0
        wanted = {(topic, it): count for it, count in enumerate(sent.counts)}
        self.until(lambda: published(self.bucket).items() >= wanted.items(), "it is in the bucket")
        return sent

    def read(self, topic: str, gate: Gate, **options: object) -> Any:
        """Partitions, numbers of records and sums of checksums, of tasks that are held up."""
        parts = self.load(topic, columns="partition,value", **options).mapPartitions(gate.hold())
        return parts.reduceByKey(lambda a, b: (a[0] + b[0], a[1] + b[1]))

    def alter(self, topic: str, name: str, value: str) -> None:
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
        self.admin.incremental_alter_configs([resource])[resource].result(30)

    def load(self, topic: str, **options: object) -> Any:
        """Rows of a topic, of many tasks."""
        reader = self.spark.read.format("headrace").option("subscribe", topic)
        reader = reader.option("bucket", self.bucket)
        # Small ones: Spark reads the first ahead, before it is held up.
        reader = reader.option("maxPartitionBytes", str(max(512 << 10, VOLUME_BYTES // 200)))
        for name, value in options.items():
            reader = reader.option(name, str(value))
        return reader.load().rdd

    def objects(self, topic: str) -> set[str]:
        """Keys of the objects that have records of a topic, by the newest metadata."""
        catalog = newest_catalog(open_bucket(self.bucket))
        found = set()
        for name in catalog.subscribed([topic]):
            stored = catalog.stored(name)
            assert stored is not None
            bounds = stored.start_offset, stored.end_offset
            found |= {it.key for it in catalog.ranges(stored.data_stream_id, *bounds)}
        return found

    def are_gone(self, keys: set[str], *, share: float = 1.0) -> bool:
        directory = Path(self.bucket.removeprefix("file://"))
        return sum(not (directory / it).exists() for it in keys) >= share * len(keys)

    @contextmanager
    def compacting(self) -> Iterator[None]:
        """Compact each second, and produce to another topic, so that there is something to compact."""
        ended = threading.Event()
        producer = Producer({"bootstrap.servers": self.broker.bootstrap})

        def work() -> None:
            headers = {"Content-Type": "application/json"}
            url = self.broker.admin_url("/compact")
            while not ended.wait(1):
                producer.produce("beside", b"value")
                producer.flush(30)
                request = urllib.request.Request(url, b"{}", headers, method="POST")
                with urllib.request.urlopen(request, timeout=30) as answer:
                    json.load(answer)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def until(self, condition: Callable[[], bool], what: str) -> None:
        self.broker.process.wait_until(condition, what, timeout_s=120)


@pytest.fixture(scope="module")
def world(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with HeadraceProcess(tmp_path_factory.mktemp("busy"), overrides=BUSY) as broker:
        yield World(spark, broker)


class Job(threading.Thread):
    """Collects the totals of a job."""

    def __init__(self, totals: Any) -> None:
        super().__init__()
        self._totals = totals
        self._rows: list[Total] = []
        self._error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self._rows = sorted(self._totals.collect())
        except Exception as error:
            self._error = error

    def result(self) -> list[Total]:
        self.join()
        if self._error is not None:
            raise self._error
        return self._rows


def test_compaction_under_a_job_changes_no_row(world: World, tmp_path: Path) -> None:
    """Each second; hardly an object that was planned is there any more when it is read."""
    sent = world.produce("compacted", VOLUME_BYTES)
    gate = Gate(tmp_path)
    before = world.objects("compacted")
    job = Job(world.read("compacted", gate))
    world.until(gate.reached.exists, "tasks are planned")
    with world.compacting():
        # Two or three are as large as what others have been merged to, and stay.
        world.until(lambda: world.are_gone(before, share=0.9), "objects are replaced")
        gate.opened.touch()
        assert job.result() == sent.totals()


def test_cleaning_under_a_job_leaves_the_newest_record_of_each_key(
    world: World, tmp_path: Path
) -> None:
    keys, topic = 30, "cleaned"
    sent = world.produce(topic, 12_000_000, keys)
    gate = Gate(tmp_path)
    before = world.objects(topic)
    rows = world.load(topic, columns="key,value").mapPartitions(gate.hold_newest())
    job = Job(rows.reduceByKey(lambda a, b: (max(a[0], b[0]), a[1] + b[1])))
    world.until(gate.reached.exists, "tasks are planned")
    world.alter(topic, "cleanup.policy", "compact")
    with world.compacting():
        world.until(lambda: world.are_gone(before, share=0.9), "objects are replaced")
        gate.opened.touch()
        found = dict(job.result())
    total = sum(sent.counts)
    assert {key: newest for key, (newest, _) in found.items()} == {
        number % keys: number for number in range(total - keys, total)
    }
    assert sum(count for _, count in found.values()) < total * 0.8


@pytest.mark.parametrize("fails", ["true", "false"])
def test_retention_under_a_job_is_data_loss(world: World, tmp_path: Path, fails: str) -> None:
    topic = f"retained-{fails}"
    world.produce(topic, 9_000_000)
    gate = Gate(tmp_path)
    before = world.objects(topic)
    job = Job(world.read(topic, gate, failOnDataLoss=fails))
    world.until(gate.reached.exists, "tasks are planned")
    world.alter(topic, "retention.bytes", "1000000")
    starts = [lambda it=it: published_start(world.bucket, topic, it) for it in range(PARTITIONS)]
    world.until(lambda: all(it() > 500 for it in starts), "retention has deleted records")
    world.until(lambda: any(world.are_gone({it}) for it in before), "and objects")
    gate.opened.touch()
    if fails == "true":
        with pytest.raises(PythonException, match="were deleted while the job ran"):
            job.result()
        return
    found = job.result()
    assert [it[0] for it in found] == list(range(PARTITIONS))
    assert all(0 < count <= 2_500 for _, (count, _) in found)
