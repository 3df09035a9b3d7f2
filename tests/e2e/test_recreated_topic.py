"""What was cached of a topic is gone with it: a new one of the same name begins empty."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.admin_calls import end_offsets
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.wire import WireConnection, batch

TOPIC = "again"
UNKNOWN_TOPIC_OR_PARTITION, OFFSET_OUT_OF_RANGE = 3, 1
OLD, NEW = b"old " * 5_000, b"new " * 5_000


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[HeadraceProcess]:
    """A broker whose caches keep everything that it reads and writes here."""
    with HeadraceProcess(tmp_path, overrides={"s3.wal.upload.interval.ms": "200"}) as running:
        yield running


def admin_of(broker: HeadraceProcess) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap})


def create(broker: HeadraceProcess) -> None:
    admin = admin_of(broker)
    admin.create_topics([NewTopic(TOPIC, 1)])[TOPIC].result(30)
    end_offsets(broker.bootstrap, TOPIC, 1)  # returns when the partition has its leader


def records_from(connection: WireConnection, offset: int) -> bytes:
    """Everything from an offset to the end."""
    read = bytearray()
    while True:
        answer = connection.fetch(TOPIC, offset)
        assert answer.error_code == 0
        if offset >= answer.high_watermark:
            return bytes(read)
        assert answer.records, f"nothing at {offset}, below {answer.high_watermark}"
        read += answer.records
        offset = next_offset(answer.records)


def next_offset(records: bytes) -> int:
    """Offset behind a set of whole batches."""
    position, offset = 0, 0
    while position < len(records):
        base = int.from_bytes(records[position : position + 8])
        length = int.from_bytes(records[position + 8 : position + 12])
        offset = base + int.from_bytes(records[position + 23 : position + 27]) + 1
        position += 12 + length
    return offset


def test_cached_records_do_not_outlive_their_topic(broker: HeadraceProcess) -> None:
    create(broker)
    with WireConnection(broker.bootstrap) as connection:
        for _ in range(60):
            assert connection.produce(TOPIC, batch([OLD])).error_code == 0
    broker.restart()
    with WireConnection(broker.bootstrap) as connection:
        assert records_from(connection, 0).count(OLD) == 60  # now in the BlockCache
        for _ in range(5):
            connection.produce(TOPIC, batch([OLD]))  # and these in the LogCache
        assert records_from(connection, 58).count(OLD) == 7
        admin = admin_of(broker)
        admin.delete_topics([TOPIC])[TOPIC].result(30)
        for offset in (0, 59, 60, 64):
            answer = connection.fetch(TOPIC, offset)
            assert answer.error_code == UNKNOWN_TOPIC_OR_PARTITION
            assert not answer.records
        create(broker)
        for offset in (0, 59, 60, 64):
            answer = connection.fetch(TOPIC, offset)
            assert answer.error_code == (0 if offset == 0 else OFFSET_OUT_OF_RANGE)
            assert not answer.records
        for _ in range(62):
            connection.produce(TOPIC, batch([NEW]))
        hot = records_from(connection, 0)
    assert (hot.count(NEW), hot.count(OLD)) == (62, 0)
    broker.restart()
    with WireConnection(broker.bootstrap) as connection:
        cold = records_from(connection, 0)
    assert cold == hot
