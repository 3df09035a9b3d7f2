"""The client of the demonstration, librdkafka: creates topics, and writes to them."""

from collections.abc import Iterable

import confluent_kafka
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headrace.pipeline.demo.progress import DemoError

_TIMEOUT_S = 60
_ERRORS_ONLY = 3  # syslog level: below it librdkafka also logs what it retries


def create_topic(bootstrap: str, topic: str, partitions: int) -> None:
    """Create a topic."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": _ERRORS_ONLY})
    created = admin.create_topics([NewTopic(topic, partitions, 1)])
    created[topic].result(_TIMEOUT_S)


def write(bootstrap: str, topic: str, records: Iterable[tuple[bytes | None, bytes]]) -> None:
    """Write records of key and value, compressed, until all are acknowledged.

    Raises:
        DemoError: a record was refused.
    """
    refused: list[str] = []
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": bootstrap,
            "enable.idempotence": True,
            "compression.type": "zstd",
            "linger.ms": 20,
            "log_level": _ERRORS_ONLY,
        }
    )

    def answered(error: confluent_kafka.KafkaError | None, _: confluent_kafka.Message) -> None:
        if error is not None:
            refused.append(str(error))

    for key, value in records:
        while True:
            try:
                producer.produce(topic, value=value, key=key, on_delivery=answered)
                break
            except BufferError:  # librdkafka's queue is full: wait for it to drain
                producer.poll(0.1)
        producer.poll(0)
    left = producer.flush(_TIMEOUT_S)
    if refused or left:
        first = f", the first with {refused[0]}" if refused else ""
        msg = f"{len(refused)} records were refused{first}; {left} were not answered"
        raise DemoError(msg)
