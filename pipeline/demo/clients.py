"""The clients of the demonstration: librdkafka writes, kafka-python and kcat read."""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import confluent_kafka
import kafka
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headrace.pipeline.demo.digests import TopicDigest
from headrace.pipeline.demo.progress import DemoError

_TIMEOUT_S = 60
_ERRORS_ONLY = 3  # syslog level: below it librdkafka also logs what it retries
# %p partition, %o offset, %K and %S lengths, %k and %s the bytes themselves.
_KCAT_FORMAT = "%p %o %K %S\n%k%s\n"


def create_topic(bootstrap: str, topic: str, partitions: int) -> None:
    """Create a topic."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": _ERRORS_ONLY})
    created = admin.create_topics([NewTopic(topic, partitions, 1)])
    created[topic].result(_TIMEOUT_S)


def write(
    bootstrap: str,
    topic: str,
    records: Iterable[tuple[bytes | None, bytes]],
    before: TopicDigest | None = None,
) -> TopicDigest:
    """Write records of key and value, compressed, and return the digest of the acknowledged ones, and of those before.

    Raises:
        DemoError: a record was refused.
    """
    written = TopicDigest() if before is None else before
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

    def acknowledged(
        error: confluent_kafka.KafkaError | None, message: confluent_kafka.Message
    ) -> None:
        partition, offset, value = message.partition(), message.offset(), message.value()
        if error is not None or partition is None or offset is None:
            refused.append(str(error))
        else:
            written.add(partition, offset, _bytes(message.key()), _bytes(value) or b"")

    for key, value in records:
        while True:
            try:
                producer.produce(topic, value=value, key=key, on_delivery=acknowledged)
                break
            except BufferError:  # librdkafka's queue is full: wait for it to drain
                producer.poll(0.1)
        producer.poll(0)
    left = producer.flush(_TIMEOUT_S)
    if refused or left:
        first = f", the first with {refused[0]}" if refused else ""
        msg = f"{len(refused)} records were refused{first}; {left} were not answered"
        raise DemoError(msg)
    return written


def read_with_kafka_python(bootstrap: str, topic: str, count: int) -> TopicDigest:
    """Read the topic's first `count` records with kafka-python.

    Raises:
        DemoError: no record arrived for a minute.
    """
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=bootstrap,
        enable_auto_commit=False,
        consumer_timeout_ms=_TIMEOUT_S * 1000,
    )
    known = consumer.partitions_for_topic(topic) or set()
    partitions = [kafka.TopicPartition(topic, number) for number in sorted(known)]
    consumer.assign(partitions)
    consumer.seek_to_beginning(*partitions)
    digest = TopicDigest()
    while digest.count < count:
        batches = consumer.poll(timeout_ms=_TIMEOUT_S * 1000, max_records=5000)
        if not batches:
            msg = f"kafka-python read only {digest.count} of {count} records, and no more for a minute"
            raise DemoError(msg)
        for batch in batches.values():
            for record in batch:
                digest.add(record.partition, record.offset, record.key, record.value)
    consumer.close()
    return digest


def read_with_kcat(bootstrap: str, topic: str, scratch: Path) -> TopicDigest:
    """Read the topic up to its end with kcat, through a file in `scratch`.

    Raises:
        DemoError: kcat is not installed, or failed.
    """
    program = shutil.which("kcat")
    if program is None:
        msg = "kcat is not installed; on Debian:  sudo apt-get install -y kcat"
        raise DemoError(msg)
    path = scratch / "kcat.out"
    command = [program, "-C", "-e", "-q", "-b", bootstrap, "-t", topic, "-f", _KCAT_FORMAT]
    with path.open("wb") as output:
        ran = subprocess.run(
            command, stdout=output, stderr=subprocess.PIPE, timeout=300, check=False
        )
    if ran.returncode != 0:
        msg = f"kcat failed with exit code {ran.returncode}: {ran.stderr.decode(errors='replace').strip()}"
        raise DemoError(msg)
    with path.open("rb") as output:
        digest = parse_kcat(output)
    path.unlink()
    return digest


def parse_kcat(output: BinaryIO) -> TopicDigest:
    """Parse kcat's output in the format above. A missing key has length -1."""
    digest = TopicDigest()
    while header := output.readline():
        partition, offset, key_bytes, value_bytes = map(int, header.split())
        key = output.read(key_bytes) if key_bytes >= 0 else None
        value = output.read(max(value_bytes, 0))
        if output.read(1) != b"\n":
            msg = f"kcat's output has the wrong length at partition {partition}, offset {offset}"
            raise DemoError(msg)
        digest.add(partition, offset, key, value)
    return digest


def _bytes(data: bytes | str | None) -> bytes | None:
    return data.encode() if isinstance(data, str) else data
