"""Compacted topics beside Apache Kafka's: of the same input, consumers see the same records of both."""

import json
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from headrace.testing import Broker
from tests.environment.kafka import ApacheKafka

pytestmark = [pytest.mark.java, pytest.mark.usefixtures("java_tools")]

PATIENCE_S = 40.0
BEGIN_MS = int(time.time() * 1000) - 10_000_000
STEP_MS = 10  # between batches: each is a segment
OURS = {"headrace.admin.listener": "127.0.0.1:0", "s3.wal.upload.interval.ms": "100"}
KAFKAS = {
    "log.cleaner.backoff.ms": "100",
    "log.cleaner.threads": "1",
    "log.cleaner.dedupe.buffer.size": "1100000",
}
COMPACTED = {"cleanup.policy": "compact", "segment.ms": "1", "min.cleanable.dirty.ratio": "0.001"}
KEPT_MS = "3600000"
TOPICS = {
    "values": {"delete.retention.ms": KEPT_MS},
    "tombstones": {"delete.retention.ms": "1"},
    "young": {"min.compaction.lag.ms": "86400000"},
    "keyless": {"cleanup.policy": "delete", "retention.ms": "-1", "delete.retention.ms": KEPT_MS},
}
Record = tuple[int, bytes | None, bytes | None, int, object]


class Side:
    """One of the two brokers."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.admin = AdminClient({"bootstrap.servers": bootstrap})
        self.batches = 0
        self._producers: dict[str, Producer] = {}  # by codec

    def create(self) -> None:
        topics = [NewTopic(name, 1, 1, config=COMPACTED | it) for name, it in TOPICS.items()]
        for made in self.admin.create_topics(topics).values():
            made.result(PATIENCE_S)

    def write(
        self, topic: str, codec: str, records: list[tuple[bytes | None, bytes | None]]
    ) -> None:
        """Write one batch."""
        producer = self._producer(codec)
        self.batches += 1
        time_ms = BEGIN_MS + self.batches * STEP_MS
        for number, (key, value) in enumerate(records):
            headers = [("h", b"%d" % number)] if number % 3 == 0 else None
            producer.produce(topic, key=key, value=value, timestamp=time_ms, headers=headers)
        assert producer.flush(PATIENCE_S) == 0

    def _producer(self, codec: str) -> Producer:
        if codec not in self._producers:
            configs = {
                "bootstrap.servers": self.bootstrap,
                "log_level": 0,
                "linger.ms": 1_000,  # a write is one batch
                "enable.idempotence": True,
                "compression.type": codec,
            }
            self._producers[codec] = Producer(configs)
        return self._producers[codec]

    def make_compacted(self, topic: str) -> None:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        resource.add_incremental_config(
            ConfigEntry("cleanup.policy", "compact", incremental_operation=AlterConfigOpType.SET)
        )
        self.admin.incremental_alter_configs([resource])[resource].result(PATIENCE_S)

    def read(self, topic: str) -> list[Record]:
        """Read all records."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": "reader",
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 10,
                "auto.offset.reset": "error",
            }
        )
        consumer.assign([TopicPartition(topic, 0, 0)])
        found: list[Record] = []
        deadline_s = time.monotonic() + PATIENCE_S
        while True:
            assert time.monotonic() < deadline_s
            record = consumer.poll(1.0)
            if record is None:
                continue
            if record.error():
                assert record.error().name() == "_PARTITION_EOF", record.error()
                break
            read = (record.key(), record.value(), record.timestamp()[1], record.headers())
            found.append((record.offset(), *read))
        consumer.close()
        return found


def first_input(side: Side) -> None:
    """Values and tombstones of few keys, in batches of all codecs."""
    for topic in ("values", "tombstones", "young"):
        for turn, codec in enumerate(("none", "gzip", "snappy", "lz4", "zstd", "none", "gzip")):
            records: list[tuple[bytes | None, bytes | None]] = []
            for number in range(turn, turn + 40):
                key = b"key %d" % (number * number % 23)
                records.append(
                    (key, None if number % 5 == 0 else b"%d of %d " % (number, turn) * 9)
                )
            side.write(topic, codec, records)
        side.write(topic, "none", [(b"end", b"1")])
    side.write("keyless", "none", [(None, b"1"), (b"a", b"1"), (b"b", b"1")])
    side.write("keyless", "zstd", [(b"a", b"2"), (None, b"2")])
    side.write("keyless", "zstd", [(None, b"3")])
    side.make_compacted("keyless")
    side.write("keyless", "none", [(b"end", b"1")])


def second_input(side: Side) -> None:
    """Nothing but values, so that all tombstones are due."""
    for topic in TOPICS:
        side.write(topic, "lz4", [(b"key 2", b"new"), (b"more", b"1"), (b"key 3", b"new")])
        side.write(topic, "none", [(b"end", b"2")])


def cleaned(broker: Broker) -> None:
    """Have everything uploaded and cleaned, and forget what is in memory as it was written."""
    time.sleep(0.3)
    url = f"{broker._nodes[1].address.admin_url}/compact"

    def ask(method: str) -> dict[str, int]:
        request = urllib.request.Request(
            url,
            None if method == "GET" else b"",
            {"Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return dict(json.load(answer))

    number = ask("POST")["round"]
    deadline_s = time.monotonic() + PATIENCE_S
    while ask("GET")["rounds_finished"] < number:
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
    broker.stop(1)
    broker.start(1)


def test_consumers_see_the_same_records(tmp_path: Path) -> None:
    with (
        ApacheKafka(tmp_path / "kafka", overrides=KAFKAS, heap_mib=512) as kafka,
        Broker(settings=OURS) as broker,
    ):
        kafkas, ours = Side(kafka.bootstrap), Side(broker.bootstrap)
        inputs: list[Callable[[Side], None]] = [first_input, second_input]
        for side in (kafkas, ours):
            side.create()
        for write in inputs:
            for side in (kafkas, ours):
                write(side)
            cleaned(broker)
            for topic in TOPICS:
                expected = ours.read(topic)
                assert len(expected) >= 3
                deadline_s = time.monotonic() + PATIENCE_S
                while (found := kafkas.read(topic)) != expected:  # it has not cleaned it yet
                    assert time.monotonic() < deadline_s, (topic, found, expected)
                    time.sleep(0.2)
        tombstones = {topic: [it for it in ours.read(topic) if it[2] is None] for topic in TOPICS}
        assert tombstones["values"]
        assert not tombstones["tombstones"]
        assert len(ours.read("young")) == 7 * 40 + 1 + 4
        assert not [it for it in ours.read("keyless") if it[1] is None]
