"""A broker under load that gets no more memory for a moment refuses or ends: it loses nothing that it acknowledged."""

import os
import resource
from contextlib import suppress
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.broker_process import HeadraceProcess
from tests.environment.processes import ServerFailedError

TOPIC = "tight"
RECORDS = 300  # in a round
# Of each round: the size of a record, and what the broker may map beyond what it has mapped.
ROUNDS = ((3_000, 0), (100_000, 0), (100_000, 6 << 20))


class Acknowledged:
    """What the producer was told: each record's offset."""

    def __init__(self) -> None:
        self.values: dict[int, bytes] = {}

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            value, offset = message.value(), message.offset()
            assert value is not None
            assert offset is not None
            self.values[offset] = value


def limit_memory(process_id: int, headroom_bytes: int | None) -> None:
    """Let a process map so much more than it has mapped now; None: as much as it likes."""
    _, hard = resource.prlimit(process_id, resource.RLIMIT_AS)
    limit = hard
    if headroom_bytes is not None:
        pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + headroom_bytes
    resource.prlimit(process_id, resource.RLIMIT_AS, (limit, hard))


def produce_while_short(
    broker: HeadraceProcess, acknowledged: Acknowledged, record_bytes: int, headroom_bytes: int
) -> None:
    """Write for about a second while the broker may map no more memory; some of it may fail."""
    settings = {
        "bootstrap.servers": broker.bootstrap,
        "enable.idempotence": True,
        "message.timeout.ms": 2_000,
        "log_level": 0,
    }
    producer = Producer(settings)
    before = len(acknowledged.values)
    while len(acknowledged.values) == before:  # its client may have to look for the broker first
        producer.produce(TOPIC, os.urandom(record_bytes), partition=0, on_delivery=acknowledged)
        producer.flush()
    process_id = broker.process.process_id
    limit_memory(process_id, headroom_bytes)
    for number in range(RECORDS):
        value = b"%08d" % number + os.urandom(record_bytes)
        producer.produce(TOPIC, value, partition=0, on_delivery=acknowledged)
        producer.poll(0.003)
    with suppress(ProcessLookupError):  # it has ended
        limit_memory(process_id, None)
    producer.flush()


def serves_or_has_ended(broker: HeadraceProcess) -> None:
    """Fail for a broker that does neither."""
    try:
        broker.process.wait_for_url(broker.admin_url("/readyz"), timeout_s=40)
    except ServerFailedError as error:
        if broker.process.is_running:
            pytest.fail(f"it stands: {error}")


def read(broker: HeadraceProcess) -> dict[int, bytes]:
    """Every record of the topic, by offset."""
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "g", "log_level": 0})
    place = TopicPartition(TOPIC, 0)
    start, end = consumer.get_watermark_offsets(place, timeout=30)
    consumer.assign([TopicPartition(TOPIC, 0, start)])
    found: dict[int, bytes] = {}
    position = start
    while position < end:
        (message,) = consumer.consume(1, timeout=30) or (None,)
        assert message is not None, f"nothing at {position}, of {end}"
        assert message.error() is None, message.error()
        found[message.offset()] = message.value()
        position = message.offset() + 1
    consumer.close()
    return found


@pytest.mark.unexpected_errors
def test_what_was_acknowledged_is_there_after_a_moment_without_memory(tmp_path: Path) -> None:
    overrides = {
        "s3.wal.path": f"0@file://{tmp_path}/broker/data/wal?capacity={64 << 20}",
        "s3.wal.upload.interval.ms": "300",
        "s3.wal.upload.threshold": str(8 << 20),
    }
    # With one arena only: what the others have mapped ahead would be enough for long.
    broker = HeadraceProcess(
        tmp_path / "broker", overrides=overrides, environment={"MALLOC_ARENA_MAX": "1"}
    )
    acknowledged = Acknowledged()
    for number, (record_bytes, headroom_bytes) in enumerate(ROUNDS):
        broker.start()
        try:
            if number == 0:
                admin = AdminClient({"bootstrap.servers": broker.bootstrap})
                admin.create_topics([NewTopic(TOPIC, 1)])[TOPIC].result(30)
            produce_while_short(broker, acknowledged, record_bytes, headroom_bytes)
            serves_or_has_ended(broker)
        finally:
            broker.kill()
    with HeadraceProcess(tmp_path / "broker", overrides=overrides) as again:
        found = read(again)
    assert len(acknowledged.values) >= len(ROUNDS)
    assert {it: found.get(it) for it in acknowledged.values} == acknowledged.values
