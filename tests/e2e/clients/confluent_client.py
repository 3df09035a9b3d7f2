"""confluent-kafka (librdkafka) as a client script."""

from collections.abc import Callable, Iterator

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from tests.e2e.clients.command_line import Arguments, emit, main
from tests.e2e.records import Ack, Record, Stored


def produce(arguments: Arguments, records: list[Record]) -> Iterator[Ack]:
    """Send all records, then tell how each fared."""
    producer = Producer(
        {
            "bootstrap.servers": arguments.bootstrap,
            "acks": arguments.acks,
            "compression.type": arguments.compression,
            "enable.idempotence": arguments.idempotent,
            "linger.ms": 20,
            "message.max.bytes": arguments.max_request_bytes,
        }
    )
    acks: list[Ack] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is None:
            acks.append(Ack(message.partition(), message.offset()))
        else:
            acks.append(Ack(message.partition(), -1, error.code()))

    for record in records:
        # librdkafka's 0 asks for the time of sending.
        producer.produce(
            arguments.topic,
            value=record.value,
            key=record.key,
            headers=list(record.headers),
            partition=record.partition,
            timestamp=record.timestamp_ms or 0,
            on_delivery=delivered,
        )
        producer.poll(0)
    producer.flush(60)
    return iter(acks)


def consume(arguments: Arguments) -> Iterator[Stored]:
    """Read `--count` records without committing."""
    consumer = Consumer(
        {
            "bootstrap.servers": arguments.bootstrap,
            "group.id": "not-used",
            "enable.auto.commit": False,
            "auto.offset.reset": arguments.auto_offset_reset,
            "max.partition.fetch.bytes": arguments.max_partition_fetch_bytes,
        }
    )
    known = consumer.list_topics(arguments.topic).topics[arguments.topic].partitions
    chosen = list(known) if arguments.partition is None else [arguments.partition]
    start = arguments.start if arguments.start >= 0 else OFFSET_BEGINNING
    consumer.assign([TopicPartition(arguments.topic, item, start) for item in chosen])
    left = arguments.count
    while left > 0:
        for message in consumer.consume(num_messages=left, timeout=1):
            if message.error():
                raise KafkaException(message.error())
            left -= 1
            yield _stored(message)
    consumer.close()


def join(arguments: Arguments, asked_to_stop: Callable[[], bool]) -> None:
    """Be a member of a group that commits what it has read."""
    consumer = Consumer(
        {
            "bootstrap.servers": arguments.bootstrap,
            "group.id": arguments.group,
            "enable.auto.commit": False,
            "auto.offset.reset": arguments.auto_offset_reset,
            "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 500,
        }
    )

    def announce(event: str) -> Callable[[Consumer, list[TopicPartition]], None]:
        return lambda _, partitions: emit(event, partitions=sorted(p.partition for p in partitions))

    consumer.subscribe(
        [arguments.topic], on_assign=announce("assigned"), on_revoke=announce("revoked")
    )
    while not asked_to_stop():
        for message in consumer.consume(num_messages=100, timeout=0.2):
            if message.error():
                continue
            consumer.commit(message=message, asynchronous=False)
            offsets = {message.partition(): message.offset() + 1}
            emit("committed", offsets=offsets, values=[message.value().decode()])
    consumer.close()


def _stored(message: Message) -> Stored:
    kind, timestamp_ms = message.timestamp()
    return Stored(
        message.partition(),
        message.offset(),
        message.value(),
        message.key(),
        tuple((name, value) for name, value in message.headers() or ()),
        timestamp_ms,
        kind - 1,  # librdkafka counts from "not available"
    )


if __name__ == "__main__":
    main(produce, consume, join)
