"""DeleteRecords: where logs begin, for every client, and what consumers make of it."""

import asyncio
import time
from collections.abc import Callable

import pytest
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from aiokafka.structs import TopicPartition as AioTopicPartition
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from kafka import KafkaAdminClient, KafkaConsumer, errors
from kafka import TopicPartition as PythonTopicPartition

from tests.e2e.admin_calls import end_offsets, start_offsets
from tests.e2e.client_programs import CONFLUENT, LIBRARIES, LibraryClient
from tests.e2e.records import Record
from tests.e2e.wire import WireConnection, batch

RECORDS = [Record(str(number).encode()) for number in range(10)]
HIGH_WATERMARK = -1
OFFSET_OUT_OF_RANGE = 1


def by_kafka_python(bootstrap: str, topic: str, offset: int) -> int:
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    partition = PythonTopicPartition(topic, 0)
    try:
        return admin.delete_records({partition: offset})[partition]["low_watermark"]
    finally:
        admin.close()


def by_librdkafka(bootstrap: str, topic: str, offset: int) -> int:
    partition = TopicPartition(topic, 0, offset)
    admin = AdminClient({"bootstrap.servers": bootstrap})
    return admin.delete_records([partition])[partition].result(30).low_watermark


def by_aiokafka(bootstrap: str, topic: str, offset: int) -> int:
    async def delete() -> int:
        admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
        await admin.start()
        partition = AioTopicPartition(topic, 0)
        try:
            return (await admin.delete_records({partition: RecordsToDelete(offset)}))[partition]
        finally:
            await admin.close()

    return asyncio.run(delete())


Delete = Callable[[str, str, int], int]


@pytest.mark.parametrize("delete", [by_kafka_python, by_librdkafka, by_aiokafka])
def test_the_log_begins_where_any_client_says(bootstrap: str, topic: str, delete: Delete) -> None:
    with WireConnection(bootstrap) as wire:
        wire.produce(topic, batch([record.value for record in RECORDS]))
    assert delete(bootstrap, topic, 4) == 4  # inside the batch
    assert start_offsets(bootstrap, topic, 1) == {0: 4}
    assert delete(bootstrap, topic, 2) == 4
    assert delete(bootstrap, topic, HIGH_WATERMARK) == 10
    assert start_offsets(bootstrap, topic, 1) == end_offsets(bootstrap, topic, 1) == {0: 10}


def test_by_time_nothing_is_found_below_the_start(
    admin: AdminClient, bootstrap: str, topic: str
) -> None:
    begin_ms = int(time.time() * 1000) - 10_000
    timed = [Record(b"x", timestamp_ms=begin_ms + number) for number in range(10)]
    CONFLUENT.produce(bootstrap, topic, timed)
    by_kafka_python(bootstrap, topic, 4)
    partition = TopicPartition(topic, 0)

    def first_since(time_ms: int) -> int:
        spec = OffsetSpec.for_timestamp(time_ms)
        return admin.list_offsets({partition: spec})[partition].result(30).offset

    assert [first_since(begin_ms + number) for number in (0, 3, 4, 7)] == [4, 4, 4, 7]
    by_kafka_python(bootstrap, topic, HIGH_WATERMARK)
    assert first_since(0) == -1


@pytest.mark.parametrize("client", LIBRARIES, ids=lambda client: client.name)
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_consumers_skip_the_beginning_of_a_batch(
    bootstrap: str, topic: str, client: LibraryClient, compression: str
) -> None:
    CONFLUENT.produce(bootstrap, topic, RECORDS, compression=compression)
    assert by_kafka_python(bootstrap, topic, 7) == 7
    stored = client.consume(bootstrap, topic, 3)
    assert [(item.offset, item.value) for item in stored] == [(7, b"7"), (8, b"8"), (9, b"9")]


def test_a_fetch_below_the_start_is_out_of_range(bootstrap: str, topic: str) -> None:
    CONFLUENT.produce(bootstrap, topic, RECORDS)
    with WireConnection(bootstrap) as wire:
        assert wire.fetch(topic, 3).error_code == 0
        by_kafka_python(bootstrap, topic, 4)
        refused = wire.fetch(topic, 3)
        assert refused.error_code == OFFSET_OUT_OF_RANGE
        assert not refused.records
        found = wire.fetch(topic, 4)
        assert (found.error_code, found.log_start_offset, found.high_watermark) == (0, 4, 10)
        assert found.records


def test_a_group_below_the_start_begins_there(bootstrap: str, topic: str, group: str) -> None:
    CONFLUENT.produce(bootstrap, topic, RECORDS)
    settings = {"bootstrap.servers": bootstrap, "group.id": group}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest"})
    consumer.commit(offsets=[TopicPartition(topic, 0, 2)], asynchronous=False)
    by_kafka_python(bootstrap, topic, 6)
    consumer.assign([TopicPartition(topic, 0)])
    messages = consumer.consume(4, timeout=30)
    consumer.close()
    assert [(it.error(), it.offset()) for it in messages] == [
        (None, 6),
        (None, 7),
        (None, 8),
        (None, 9),
    ]


def test_a_consumer_below_the_start_that_must_not_reset_is_told(bootstrap: str, topic: str) -> None:
    CONFLUENT.produce(bootstrap, topic, RECORDS)
    by_kafka_python(bootstrap, topic, 6)
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="none")
    place = PythonTopicPartition(topic, 0)
    consumer.assign([place])
    consumer.seek(place, 5)
    with pytest.raises(errors.OffsetOutOfRangeError):
        read_until(consumer, 9)
    consumer.close()


def test_a_running_consumer_is_not_disturbed(bootstrap: str, topic: str) -> None:
    """It is at the end of the log when everything below is deleted."""
    CONFLUENT.produce(bootstrap, topic, RECORDS)
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="none")
    place = PythonTopicPartition(topic, 0)
    consumer.assign([place])
    consumer.seek(place, 0)
    assert read_until(consumer, 9)[0] == 0
    assert by_kafka_python(bootstrap, topic, HIGH_WATERMARK) == 10
    (ack,) = CONFLUENT.produce(bootstrap, topic, [Record(b"next")])
    assert ack.offset == 10  # offsets go on
    assert read_until(consumer, 10) == [10]
    consumer.close()


def read_until(consumer: KafkaConsumer, last: int) -> list[int]:
    """Offsets of everything up to a record."""
    found: list[int] = []
    while last not in found:
        for messages in consumer.poll(timeout_ms=500).values():
            found += [message.offset for message in messages]
    return found


@pytest.mark.parametrize(
    ("offset", "error"),
    [(11, errors.OffsetOutOfRangeError), (-2, errors.OffsetOutOfRangeError)],
)
def test_an_offset_that_is_not_in_the_log(
    bootstrap: str, topic: str, offset: int, error: type[Exception]
) -> None:
    CONFLUENT.produce(bootstrap, topic, RECORDS)
    with pytest.raises(error):
        by_kafka_python(bootstrap, topic, offset)
    assert start_offsets(bootstrap, topic, 1) == {0: 0}


def test_topics_whose_records_stay(
    bootstrap: str, create_topic: Callable[..., str], topic: str, group: str
) -> None:
    compacted = create_topic("compacted", config={"cleanup.policy": "compact"})
    with pytest.raises(errors.PolicyViolationError):
        by_kafka_python(bootstrap, compacted, HIGH_WATERMARK)
    Consumer({"bootstrap.servers": bootstrap, "group.id": group}).commit(
        offsets=[TopicPartition(topic, 0, 1)], asynchronous=False
    )
    with pytest.raises(errors.InvalidTopicError):
        by_kafka_python(bootstrap, "__consumer_offsets", HIGH_WATERMARK)
