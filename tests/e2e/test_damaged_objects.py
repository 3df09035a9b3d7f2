"""An object that somebody deleted or damaged: clients and the log are told soon, and nothing else suffers."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.admin_calls import end_offsets
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.wire import WireConnection

RECORDS = 50
KAFKA_STORAGE_ERROR, CORRUPT_MESSAGE = 56, 2
# The looks at the metadata take 0.6 s, a Fetch waits 1 s.
TOLD_WITHIN_S = 3.0


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[HeadraceProcess]:
    """A broker that has put the records of "hurt" and "sound" into the bucket, each into an object of its own."""
    broker = HeadraceProcess(tmp_path, overrides={"s3.wal.upload.interval.ms": "300"})
    with broker:
        for topic, letter in (("hurt", b"h"), ("sound", b"s")):
            admin = AdminClient({"bootstrap.servers": broker.bootstrap})
            admin.create_topics([NewTopic(topic, 1)])[topic].result(30)
            end_offsets(broker.bootstrap, topic, 1)
            producer = Producer({"bootstrap.servers": broker.bootstrap})
            for _ in range(RECORDS):
                producer.produce(topic, letter * 1000)
            assert producer.flush(30) == 0
            broker.process.wait_until(
                lambda: broker.metrics()["headrace_log_cache_unuploaded_bytes"] == 0,
                "what was produced is in the bucket",
                timeout_s=30,
            )
        broker.stop()
        yield broker


def hurt_object(broker: HeadraceProcess) -> Path:
    """The object with the records of "hurt"."""
    bucket = broker.directory / "data" / "bucket"
    (found,) = (
        path for path in bucket.rglob("*") if path.is_file() and b"h" * 1000 in path.read_bytes()
    )
    return found


def told_within(broker: HeadraceProcess, topic: str) -> tuple[int, float]:
    """The first error code that Fetches of a topic are answered with, and after how long."""
    begun_s = time.monotonic()
    with WireConnection(broker.bootstrap) as connection:
        while True:
            answer = connection.fetch(topic, 0, max_wait_ms=500)
            assert not answer.records
            took_s = time.monotonic() - begun_s
            if answer.error_code or took_s > 20:
                return answer.error_code, took_s


def consumer_of(broker: HeadraceProcess, topic: str) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "reader",
            "auto.offset.reset": "error",
            "enable.auto.commit": False,
            "check.crcs": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    return consumer


def consumed(consumer: Consumer, *, timeout_s: float = 30) -> int:
    """How many records come."""
    count, until_s = 0, time.monotonic() + timeout_s
    while count < RECORDS and time.monotonic() < until_s:
        for message in consumer.consume(RECORDS, 0.5):
            assert message.error() is None, message.error()
            count += 1
    return count


def complaints(broker: HeadraceProcess) -> list[dict[str, object]]:
    """The lines of the log about it, once there is one."""
    found: list[dict[str, object]] = []

    def look() -> bool:
        events = broker.log_events()
        text = "records in the bucket are missing or damaged"
        found[:] = [it for it in events if it["msg"] == text]
        return bool(found)

    broker.process.wait_until(look, "line about it", timeout_s=10)
    return found


def test_an_object_that_is_gone(stopped: HeadraceProcess) -> None:
    lost = hurt_object(stopped)
    content = lost.read_bytes()
    lost.unlink()
    with stopped:
        code, took_s = told_within(stopped, "hurt")
        assert code == KAFKA_STORAGE_ERROR
        assert took_s < TOLD_WITHIN_S
        assert told_within(stopped, "hurt")[0] == KAFKA_STORAGE_ERROR
        (line,) = complaints(stopped)
        assert (line["level"], line["topic"], line["partition"]) == ("ERROR", "hurt", 0)
        assert "ObjectNotFoundError" in str(line["reason"])
        assert stopped.metrics()["headrace_cold_reads_failed_total"] >= 2
        consumer = consumer_of(stopped, "hurt")
        assert consumed(consumer, timeout_s=3) == 0
        assert consumed(consumer_of(stopped, "sound")) == RECORDS
        lost.write_bytes(content)  # from a backup, say
        assert consumed(consumer) == RECORDS
        consumer.close()


def test_an_object_that_is_damaged(stopped: HeadraceProcess) -> None:
    hurt = hurt_object(stopped)
    content = bytearray(hurt.read_bytes())
    content[content.index(b"h" * 1000) + 500] ^= 1
    hurt.write_bytes(content)
    with stopped:
        code, took_s = told_within(stopped, "hurt")
        assert code == CORRUPT_MESSAGE
        assert took_s < TOLD_WITHIN_S
        (line,) = complaints(stopped)
        assert (line["level"], line["topic"], line["offset"]) == ("ERROR", "hurt", 0)
        assert "block at 0" in str(line["reason"])
        metrics = stopped.metrics()
        assert metrics["headrace_block_cache_corrupt_blocks_total"] >= 2
        consumer = consumer_of(stopped, "hurt")
        messages = consumer.consume(1, 20)
        assert [it.error().code() for it in messages] == [KafkaError.INVALID_MSG]
        consumer.close()
        assert consumed(consumer_of(stopped, "sound")) == RECORDS
