"""aiokafka as a client script."""

import asyncio
from collections.abc import Callable, Iterator

from aiokafka import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRebalanceListener,
    ConsumerRecord,
    TopicPartition,
)
from aiokafka.errors import KafkaError

from tests.e2e.clients.command_line import Arguments, emit, main
from tests.e2e.records import Ack, Record, Stored


def produce(arguments: Arguments, records: list[Record]) -> Iterator[Ack]:
    """Send all records, then tell how each fared."""
    return iter(asyncio.run(_produce(arguments, records)))


def consume(arguments: Arguments) -> Iterator[Stored]:
    """Read `--count` records without a group."""
    return iter(asyncio.run(_consume(arguments)))


def join(arguments: Arguments, asked_to_stop: Callable[[], bool]) -> None:
    """Be a member of a group that commits what it has read."""
    asyncio.run(_join(arguments, asked_to_stop))


async def _produce(arguments: Arguments, records: list[Record]) -> list[Ack]:
    producer = AIOKafkaProducer(
        bootstrap_servers=arguments.bootstrap,
        acks=arguments.acks,
        compression_type=None if arguments.compression == "none" else arguments.compression,
        enable_idempotence=arguments.idempotent,
        linger_ms=20,
        max_request_size=arguments.max_request_bytes,
    )
    await producer.start()
    futures = [
        await producer.send(
            arguments.topic,
            value=record.value,
            key=record.key,
            headers=list(record.headers),
            partition=record.partition,
            timestamp_ms=record.timestamp_ms,
        )
        for record in records
    ]
    acks = []
    for record, future in zip(records, futures, strict=True):
        try:
            metadata = await future
        except KafkaError as error:
            acks.append(Ack(record.partition, -1, error.errno))
        else:
            # Without acknowledgement there is no metadata.
            acks.append(Ack(record.partition, metadata.offset if metadata else -1))
    await producer.stop()
    return acks


async def _consume(arguments: Arguments) -> list[Stored]:
    consumer = AIOKafkaConsumer(
        bootstrap_servers=arguments.bootstrap,
        auto_offset_reset=arguments.auto_offset_reset,
        enable_auto_commit=False,
        max_partition_fetch_bytes=arguments.max_partition_fetch_bytes,
    )
    await consumer.start()
    partitions = await consumer._client.fetch_all_metadata()
    known = partitions.partitions_for_topic(arguments.topic) or {0}
    chosen = known if arguments.partition is None else {arguments.partition}
    assigned = [TopicPartition(arguments.topic, item) for item in sorted(chosen)]
    consumer.assign(assigned)
    if arguments.start < 0:
        await consumer.seek_to_beginning(*assigned)
    else:
        for partition in assigned:
            consumer.seek(partition, arguments.start)
    stored: list[Stored] = []
    while len(stored) < arguments.count:
        batches = await consumer.getmany(timeout_ms=1000, max_records=arguments.count - len(stored))
        stored += [_stored(message) for batch in batches.values() for message in batch]
    await consumer.stop()
    return stored


async def _join(arguments: Arguments, asked_to_stop: Callable[[], bool]) -> None:
    class Announcing(ConsumerRebalanceListener):
        async def on_partitions_assigned(self, assigned: list[TopicPartition]) -> None:
            emit("assigned", partitions=sorted(item.partition for item in assigned))

        async def on_partitions_revoked(self, revoked: list[TopicPartition]) -> None:
            emit("revoked", partitions=sorted(item.partition for item in revoked))

    consumer = AIOKafkaConsumer(
        bootstrap_servers=arguments.bootstrap,
        group_id=arguments.group,
        auto_offset_reset=arguments.auto_offset_reset,
        enable_auto_commit=False,
        session_timeout_ms=6000,
        heartbeat_interval_ms=500,
    )
    consumer.subscribe([arguments.topic], listener=Announcing())
    await consumer.start()
    while not asked_to_stop():
        for partition, batch in (await consumer.getmany(timeout_ms=200)).items():
            offset = batch[-1].offset + 1
            await consumer.commit({partition: offset})
            values = [message.value.decode() for message in batch]
            emit("committed", offsets={partition.partition: offset}, values=values)
    await consumer.stop()


def _stored(message: ConsumerRecord) -> Stored:
    return Stored(
        message.partition,
        message.offset,
        message.value,
        message.key,
        tuple(message.headers),
        message.timestamp,
        message.timestamp_type,
    )


if __name__ == "__main__":
    main(produce, consume, join)
