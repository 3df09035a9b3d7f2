"""A node that serves starts no thread any more: where memory is short, one that is started may never begin."""

import time
import urllib.request
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.broker_process import HeadraceProcess

TOPIC = "orders"
RECORD = b"x" * 100_000
CAPACITY = b'{"capacity_bytes": 100663296}'


def threads(broker: HeadraceProcess) -> set[str]:
    return {it.name for it in Path(f"/proc/{broker.process.process_id}/task").iterdir()}


def use_everything(broker: HeadraceProcess, directory: Path) -> None:
    """Whatever a node does in threads: metadata log, uploads, reads, validation, sizes of files, metrics, sweep."""
    producer = Producer({"bootstrap.servers": broker.bootstrap, "compression.type": "snappy"})
    for _ in range(50):
        producer.produce(TOPIC, RECORD)
        producer.flush()
    broker.process.wait_until(
        lambda: any((directory / "bucket").rglob("*/*/*")), "an object", timeout_s=30
    )
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([TOPIC])
    assert len(consumer.consume(50, timeout=60)) == 50
    consumer.commit(asynchronous=False)
    hour_ago_ms = int(time.time() - 3600) * 1000
    (found,) = consumer.offsets_for_times([TopicPartition(TOPIC, 0, hour_ago_ms)], timeout=30)
    assert found.offset == 0
    consumer.close()
    for path, body in (("/compact", b""), ("/wal/resize", CAPACITY)):
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(broker.admin_url(path), body, headers, method="POST")
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status in (200, 202)
    broker.metrics()


def test_no_thread_is_started_after_the_node(tmp_path: Path) -> None:
    overrides = {
        "s3.wal.path": f"0@file://{tmp_path}/broker/data/wal?capacity={64 << 20}",
        "s3.wal.upload.interval.ms": "100",
        "s3.wal.upload.threshold": str(16 << 20),
    }
    with HeadraceProcess(tmp_path / "broker", overrides=overrides) as broker:
        before = threads(broker)
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        admin.create_topics([NewTopic(TOPIC, 1)])[TOPIC].result(30)
        use_everything(broker, tmp_path / "broker" / "data")
        assert threads(broker) == before
