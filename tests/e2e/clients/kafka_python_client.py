"""kafka-python as a client script."""

from collections.abc import Callable, Iterator

from kafka import ConsumerRebalanceListener, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from tests.e2e.clients.command_line import Arguments, emit, main
from tests.e2e.records import Ack, Record, Stored


def produce(arguments: Arguments, records: list[Record]) -> Iterator[Ack]:
    """Send all records, then tell how each fared."""
    producer = KafkaProducer(
        bootstrap_servers=arguments.bootstrap,
        acks=arguments.acks,
        compression_type=None if arguments.compression == "none" else arguments.compression,
        enable_idempotence=arguments.idempotent,
        linger_ms=20,
        max_request_size=arguments.max_request_bytes,
    )
    futures = [
        producer.send(
            arguments.topic,
            value=record.value,
            key=record.key,
            headers=list(record.headers),
            partition=record.partition,
            timestamp_ms=record.timestamp_ms,
        )
        for record in records
    ]
    producer.flush()
    for record, future in zip(records, futures, strict=True):
        try:
            metadata = future.get(timeout=60)
        except KafkaError as error:
            yield Ack(record.partition, -1, error.errno)
        else:
            yield Ack(metadata.partition, metadata.offset)
    producer.close()


def consume(arguments: Arguments) -> Iterator[Stored]:
    """Read `--count` records without a group."""
    consumer = KafkaConsumer(
        bootstrap_servers=arguments.bootstrap,
        auto_offset_reset=arguments.auto_offset_reset,
        enable_auto_commit=False,
        max_partition_fetch_bytes=arguments.max_partition_fetch_bytes,
    )
    partitions = consumer.partitions_for_topic(arguments.topic) or {0}
    chosen = partitions if arguments.partition is None else {arguments.partition}
    assigned = [TopicPartition(arguments.topic, partition) for partition in sorted(chosen)]
    consumer.assign(assigned)
    for partition in assigned:
        if arguments.start >= 0:
            consumer.seek(partition, arguments.start)
        else:
            consumer.seek_to_beginning(partition)
    left = arguments.count
    while left > 0:
        for batch in consumer.poll(timeout_ms=1000, max_records=left).values():
            for message in batch:
                left -= 1
                yield _stored(message)
    consumer.close()


def join(arguments: Arguments, asked_to_stop: Callable[[], bool]) -> None:
    """Be a member of a group that commits what it has read."""

    class Announcing(ConsumerRebalanceListener):
        def on_partitions_assigned(self, assigned: list[TopicPartition]) -> None:
            emit("assigned", partitions=sorted(item.partition for item in assigned))

        def on_partitions_revoked(self, revoked: list[TopicPartition]) -> None:
            emit("revoked", partitions=sorted(item.partition for item in revoked))

    consumer = KafkaConsumer(
        bootstrap_servers=arguments.bootstrap,
        group_id=arguments.group,
        auto_offset_reset=arguments.auto_offset_reset,
        enable_auto_commit=False,
        session_timeout_ms=6000,
        heartbeat_interval_ms=500,
    )
    # kafka-python 3.0 joins before it knows the partitions, joins again, and hangs if `poll` ends in between.
    consumer.partitions_for_topic(arguments.topic)
    consumer.subscribe([arguments.topic], listener=Announcing())
    while not asked_to_stop():
        for partition, batch in consumer.poll(timeout_ms=1_000).items():
            offset = batch[-1].offset + 1
            consumer.commit({partition: OffsetAndMetadata(offset, "read", -1)})
            values = [message.value.decode() for message in batch]
            emit("committed", offsets={partition.partition: offset}, values=values)
    consumer.close()


def _stored(message: object) -> Stored:
    return Stored(
        message.partition,
        message.offset,
        message.value,
        message.key,
        tuple((name, value) for name, value in message.headers),
        message.timestamp,
        message.timestamp_type,
    )


if __name__ == "__main__":
    main(produce, consume, join)
