"""An object that somebody deleted or damaged: clients and the log are told soon, and nothing else suffers.

What a partition needs to open is no exception: it opens, takes new records, and refuses the damaged place only.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.admin_calls import committed_offsets, end_offsets
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.wire import WireConnection
from tests.environment.paths import ROOT

RECORDS = 50
KAFKA_STORAGE_ERROR, CORRUPT_MESSAGE = 56, 2
# The looks at the metadata take 0.6 s, a Fetch waits 1 s.
TOLD_WITHIN_S = 3.0


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[HeadraceProcess]:
    """A broker that has put the records of "hurt" and "sound" into the bucket, each into an object of its own."""
    broker = HeadraceProcess(tmp_path, overrides={"s3.wal.upload.interval.ms": "1000"})
    with broker:
        for uploads, (topic, letter) in enumerate((("hurt", b"h"), ("sound", b"s"))):
            admin = AdminClient({"bootstrap.servers": broker.bootstrap})
            admin.create_topics([NewTopic(topic, 1)])[topic].result(30)
            end_offsets(broker.bootstrap, topic, 1)
            producer = Producer({"bootstrap.servers": broker.bootstrap})
            for _ in range(RECORDS):
                producer.produce(topic, letter * 1000)
            assert producer.flush(30) == 0
            broker.process.wait_until(
                lambda wanted=uploads + 1: uploaded(broker) >= wanted,
                "what was produced is in the bucket",
                timeout_s=30,
            )
        broker.stop()
        yield broker


def uploaded(broker: HeadraceProcess) -> int:
    """How many objects are in the bucket, if nothing else is to come."""
    metrics = broker.metrics()
    is_all = metrics["headrace_log_cache_unuploaded_bytes"] == 0
    return int(metrics["headrace_uploaded_objects_total"]) if is_all else 0


def hurt_object(broker: HeadraceProcess) -> Path:
    """The object with the records of "hurt"."""
    bucket = broker.directory / "data" / "bucket"
    (found,) = (
        path for path in bucket.rglob("*") if path.is_file() and b"h" * 1000 in path.read_bytes()
    )
    return found


def flip(path: Path, at: int) -> None:
    """Change one bit."""
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def cut(path: Path, at: int) -> None:
    """Lose what lies behind a byte."""
    path.write_bytes(path.read_bytes()[:at])


def lose(path: Path, at: int) -> None:
    """Lose all of it."""
    del at
    path.unlink()


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


@pytest.mark.parametrize("hurt", [flip, cut, lose])
def test_damaged_checkpoints_cost_no_record_and_are_replaced(
    stopped: HeadraceProcess, hurt: Callable[[Path, int], None]
) -> None:
    """Those of an orderly stop lie in one object, and nothing else does."""
    for path in objects_with(stopped, b"HRPC"):
        hurt(path, path.stat().st_size // 4)
    with stopped:
        for topic in ("hurt", "sound"):
            assert consumed(consumer_of(stopped, topic)) == RECORDS
            assert produced(stopped, topic) == RECORDS
        assert stopped.metrics()["headrace_partitions_opened_past_damage_total"] == (
            1 if hurt is flip else 2
        )
        assert stopped.metrics()["headrace_partitions_damaged"] == 0, "no record is concerned"
        stopped.kill()
        stopped.start()
        assert stopped.metrics()["headrace_partitions_opened_past_damage_total"] == 0
        assert produced(stopped, "hurt") == RECORDS + 1


@pytest.mark.parametrize("hurt", [flip, cut, lose])
def test_damaged_records_that_an_opening_has_to_read_stop_no_other_and_no_new_one(
    stopped: HeadraceProcess, hurt: Callable[[Path, int], None]
) -> None:
    for path in objects_with(stopped, b"HRPC"):
        path.unlink()  # so that everything is read
    hurt(hurt_object(stopped), 500)
    with stopped:
        assert produced(stopped, "hurt") == RECORDS
        assert end_offsets(stopped.bootstrap, "hurt", 1) == {0: RECORDS + 1}
        code = CORRUPT_MESSAGE if hurt is not lose else KAFKA_STORAGE_ERROR
        assert told_within(stopped, "hurt")[0] == code
        assert consumed(consumer_of(stopped, "sound")) == RECORDS
        assert stopped.metrics()["headrace_partitions_damaged"] == 1
        assert "hurt-0 from offset 0" in stopped.get("/readyz")
        (line,) = [
            it for it in stopped.log_events() if it["msg"].startswith(OPENED) and it["offsets_lost"]
        ]
        assert (line["topic"], line["partition"], line["offsets_lost"]) == ("hurt", 0, RECORDS)
        named = fsck(stopped)
        assert [
            (it["topic"], it["start_offset"], it["end_offset"])
            for it in named
            if it["holds"] == "records"
        ] == [("hurt", 0, RECORDS)]
        admin = AdminClient({"bootstrap.servers": stopped.bootstrap})
        place = TopicPartition("hurt", 0, RECORDS)
        assert admin.delete_records([place])[place].result(30).low_watermark == RECORDS
        assert "no known damage" in stopped.get("/readyz")
        with WireConnection(stopped.bootstrap) as connection:
            assert connection.fetch("hurt", RECORDS).records


def test_groups_are_served_past_damage_in_their_log_and_no_later_start_meets_it(
    tmp_path: Path,
) -> None:
    """The offset that was committed before counts again; the damage is given up, so nothing is left of it."""
    settings = {"s3.wal.upload.interval.ms": "300", "offsets.topic.num.partitions": "1"}
    broker = HeadraceProcess(tmp_path, overrides=settings)
    with broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        admin.create_topics([NewTopic("consumed", 1)])["consumed"].result(30)
        for offset, note in ((1, "kept"), (2, "hurt")):
            commit(broker, offset, "-".join([note] * 100))
            broker.process.wait_until(
                lambda wanted=offset: uploaded(broker) >= wanted,
                "what was committed is in the bucket",
                timeout_s=30,
            )
        broker.kill()
        (path,) = objects_with(broker, b"hurt-hurt")
        flip(path, path.read_bytes().index(b"hurt-hurt"))
        broker.start()
        assert committed_offsets(broker.bootstrap, "readers") == {0: 1}
        commit(broker, 3, "")

        def is_given_up() -> bool:
            return broker.metrics()[
                "headrace_coordinator_rewrites_total"
            ] == 1 and "no known damage" in broker.get("/readyz")

        broker.process.wait_until(is_given_up, "the damage given up", timeout_s=60)
        assert broker.metrics()["headrace_coordinator_loads_past_damage_total"] == 1
        (line,) = [it for it in broker.log_events() if "loaded past damage" in str(it["msg"])]
        assert line["level"] == "ERROR"
        broker.restart()
        assert committed_offsets(broker.bootstrap, "readers") == {0: 3}
        assert broker.metrics()["headrace_coordinator_loads_past_damage_total"] == 0


def commit(broker: HeadraceProcess, offset: int, note: str) -> None:
    """Commit an offset of the group, in a record that can be found by its note."""
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": "readers"}
    consumer = Consumer({**settings, "enable.auto.commit": False})
    place = TopicPartition("consumed", 0, offset, metadata=note)
    consumer.commit(offsets=[place], asynchronous=False)
    consumer.close()


OPENED = "partition opened past damage"


def objects_with(broker: HeadraceProcess, text: bytes) -> list[Path]:
    """The objects of the bucket that hold these bytes."""
    bucket = broker.directory / "data" / "bucket"
    found = [it for it in bucket.rglob("*") if it.is_file() and text in it.read_bytes()]
    assert found
    return found


def produced(broker: HeadraceProcess, topic: str) -> int:
    """Produce one record; its offset."""
    offsets: list[int] = []

    def told(error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        offsets.append(message.offset())

    producer = Producer({"bootstrap.servers": broker.bootstrap, "message.timeout.ms": 20_000})
    producer.produce(topic, b"new", on_delivery=told)
    assert producer.flush(30) == 0
    (offset,) = offsets
    return offset


def fsck(broker: HeadraceProcess) -> list[dict[str, object]]:
    """The partitions and offsets that the tool names."""
    data = broker.directory / "data"
    place = ["bucket", "fsck", f"file://{data / 'bucket'}", "--metadata", str(data)]
    done = subprocess.run(
        [sys.executable, "-m", "headrace.broker", *place, "--blocks", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    concerned: list[dict[str, object]] = json.loads(done.stdout)["concerned"]
    return concerned
