"""Retention by age and size, seen by clients and in the bucket."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
)

from tests.e2e.broker_process import HeadraceProcess
from tests.environment.paths import ROOT

MIB = 1 << 20
PATIENCE_S = 30
SETTINGS = {
    "log.retention.check.interval.ms": "100",
    "s3.wal.upload.interval.ms": "200",
    "s3.wal.upload.threshold": str(4 * MIB),
    "s3.object.delete.retention.minutes": "0",
    "headrace.metadata.snapshot.publish.interval.ms": "1000",
}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[HeadraceProcess]:
    with HeadraceProcess(tmp_path, overrides=SETTINGS) as running:
        yield running


def create(broker: HeadraceProcess, topic: str, **config: str) -> None:
    settings = {name.replace("_", "."): value for name, value in config.items()}
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(topic, 1, 1, config=settings)])[topic].result(10)


def produce(broker: HeadraceProcess, topic: str, values: list[bytes], **message: int) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "message.max.bytes": 2 * MIB})
    for value in values:
        producer.produce(topic, value, partition=0, **message)
        assert producer.flush(20) == 0


def watermarks(broker: HeadraceProcess, topic: str) -> tuple[int, int]:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "look"})
    try:
        return consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)
    finally:
        consumer.close()


def offsets_from(broker: HeadraceProcess, topic: str, offset: int, end: int) -> list[int]:
    """Offsets that a consumer gets which asks for `offset` and resets to the earliest."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "read",
            "auto.offset.reset": "earliest",
            "fetch.message.max.bytes": 8 * MIB,
        }
    )
    consumer.assign([TopicPartition(topic, 0, offset)])
    found: list[int] = []
    deadline = time.monotonic() + PATIENCE_S
    try:
        while not found or found[-1] + 1 < end:
            assert time.monotonic() < deadline, f"only {found} of {end}"
            message = consumer.poll(0.2)
            if message is not None:
                assert message.error() is None, message.error()
                found.append(message.offset())
    finally:
        consumer.close()
    return found


def wait_until(what: str, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, f"not within {PATIENCE_S} s: {what}"
        time.sleep(0.05)


def data_bytes(broker: HeadraceProcess) -> int:
    """What the objects with records take in the bucket."""
    bucket = broker.directory / "data/bucket"
    files = [path for path in bucket.rglob("*") if path.is_file()]
    return sum(
        path.stat().st_size
        for path in files
        if not {".tmp", "metadata"} & set(path.relative_to(bucket).parts)
    )


def test_by_size_the_oldest_go_and_leave_the_bucket(broker: HeadraceProcess) -> None:
    create(broker, "kept", retention_ms="-1")
    create(broker, "sized", retention_bytes=str(4 * MIB), max_message_bytes=str(2 * MIB))
    produce(broker, "kept", [b"kept"] * 10)
    wait_until("they are in an object of their own", lambda: data_bytes(broker) > 0)
    produce(broker, "sized", [number.to_bytes(2) * (MIB // 2) for number in range(16)])
    # Four of a megabyte and their frames are more than enough.
    wait_until("the oldest are deleted", lambda: watermarks(broker, "sized") == (12, 16))
    assert offsets_from(broker, "sized", 0, 16) == [12, 13, 14, 15]
    # One object may hold what is left and what was deleted: up to the threshold of uploads and a record more.
    wait_until("their objects are gone", lambda: data_bytes(broker) < 10 * MIB)
    assert watermarks(broker, "kept") == (0, 10)
    assert offsets_from(broker, "kept", 0, 10) == list(range(10))
    metrics = broker.metrics()
    assert metrics["headrace_retention_deleted_records_total"] == 12
    assert metrics["headrace_retention_deleted_bytes_total"] >= 12 * MIB
    assert metrics["headrace_retention_failures_total"] == 0
    place = ["--metadata", str(broker.directory / "data"), "--json"]
    fsck = [sys.executable, "-m", "headrace.broker", "bucket", "fsck"]
    uri = f"file://{broker.directory / 'data/bucket'}"
    checked = subprocess.run([*fsck, uri, *place], cwd=ROOT, capture_output=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_by_age_a_log_is_emptied_and_goes_on(broker: HeadraceProcess) -> None:
    create(broker, "aged", retention_ms="1000")
    produce(broker, "aged", [b"old"] * 5)
    wait_until("all are deleted", lambda: watermarks(broker, "aged") == (5, 5))
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    resource = ConfigResource(ConfigResource.Type.TOPIC, "aged")
    operation = AlterConfigOpType.SET
    resource.add_incremental_config(
        ConfigEntry("retention.ms", "-1", incremental_operation=operation)
    )
    admin.incremental_alter_configs([resource])[resource].result(10)
    produce(broker, "aged", [b"new"] * 3)
    assert offsets_from(broker, "aged", 0, 8) == [5, 6, 7]
    broker.kill()
    broker.start()
    assert watermarks(broker, "aged") == (5, 8)
    assert offsets_from(broker, "aged", 2, 8) == [5, 6, 7]


def test_time_stamps_of_the_past_count_as_age(broker: HeadraceProcess) -> None:
    now_ms = int(time.time() * 1000)
    create(broker, "replayed", retention_ms="3600000", segment_ms="60000")
    for minutes in (180, 120, 90, 30, 1):
        produce(broker, "replayed", [b"then"], timestamp=now_ms - minutes * 60_000)
    wait_until(
        "what is older than an hour is deleted", lambda: watermarks(broker, "replayed")[0] == 3
    )
    assert offsets_from(broker, "replayed", 0, 5) == [3, 4]
