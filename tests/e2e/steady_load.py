"""librdkafka under steady load: an idempotent producer, and a member of a group, whose errors are kept.

Record `number` of a partition must be at offset `number`: what is lost, doubled or misplaced shows.
"""

import threading
import time
from typing import Self

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

TOPIC = "steady"
PARTITIONS = 4
_MAX_OUTSTANDING = 50  # records of a partition that are sent and not acknowledged
_PAUSE_S = 0.01
_WITHIN_S = 60
_CLIENT = {
    "reconnect.backoff.max.ms": 200,
    "retry.backoff.max.ms": 200,
    "topic.metadata.refresh.interval.ms": 1_000,
    "log_level": 0,
}


class SteadyLoad:
    """Both clients, in threads, while the body runs."""

    def __init__(self, bootstrap: str) -> None:
        self.acknowledged = [0] * PARTITIONS  # records
        self.consumed = [0] * PARTITIONS
        self.errors: list[str] = []
        self._sent = [0] * PARTITIONS
        self._stopping = threading.Event()
        self._settings = {**_CLIENT, "bootstrap.servers": bootstrap, "error_cb": self._note_fatal}
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS)])[TOPIC].result(30)
        self._threads = [
            threading.Thread(target=work, name=work.__name__)
            for work in (self._produce, self._consume)
        ]

    def __enter__(self) -> Self:
        """Start."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop; what is under way is acknowledged first."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def wait_for_progress(self) -> None:
        """Wait until records that are sent from now on are acknowledged and consumed in every partition."""
        begin = list(self._sent)
        deadline = time.monotonic() + _WITHIN_S
        while any(self.consumed[it] <= begin[it] for it in range(PARTITIONS)) and not self.errors:
            if time.monotonic() > deadline:
                raise AssertionError(
                    f"sent {self._sent}, acknowledged {self.acknowledged}, consumed {self.consumed}"
                )
            time.sleep(_PAUSE_S)
        self.check()

    def check(self) -> None:
        """Fail if a client was given an error."""
        assert not self.errors, self.errors[:5]

    def check_all(self) -> int:
        """Read everything once more, after the end; return the number of records."""
        self.check()
        assert self.acknowledged == self._sent
        reader = Consumer({**self._settings, "group.id": "reader", "enable.auto.commit": False})
        reader.assign([TopicPartition(TOPIC, it, 0) for it in range(PARTITIONS)])
        found = [0] * PARTITIONS
        deadline = time.monotonic() + _WITHIN_S
        while found != self._sent and time.monotonic() < deadline:
            self._take(reader.consume(1_000, 0.1), found)
            self.check()
        ends = [reader.get_watermark_offsets(TopicPartition(TOPIC, it)) for it in range(PARTITIONS)]
        reader.close()
        assert found == self._sent == [end for _, end in ends]
        return sum(found)

    def _produce(self) -> None:
        producer = Producer({**self._settings, "enable.idempotence": True, "linger.ms": 5})
        while not self._stopping.is_set():
            for partition in range(PARTITIONS):
                if self._sent[partition] - self.acknowledged[partition] < _MAX_OUTSTANDING:
                    value = b"%d:%d" % (partition, self._sent[partition])
                    producer.produce(TOPIC, value, partition=partition, on_delivery=self._delivered)
                    self._sent[partition] += 1
            producer.poll(_PAUSE_S)
        producer.flush(_WITHIN_S)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        partition = message.partition()
        if error is not None:
            self.errors.append(f"produce: {error}")
        elif message.offset() != self.acknowledged[partition]:
            self.errors.append(f"acknowledged at {message.offset()}: {message.value()!r}")
        self.acknowledged[partition] += 1

    def _consume(self) -> None:
        consumer = Consumer(
            {**self._settings, "group.id": "steady", "auto.offset.reset": "earliest"}
        )
        consumer.subscribe([TOPIC])
        while not self._stopping.is_set():
            self._take(consumer.consume(1_000, 0.05), self.consumed)
        consumer.close()

    def _take(self, messages: list[Message], positions: list[int]) -> None:
        for message in messages:
            if message.error():
                self.errors.append(f"consume: {message.error()}")
                continue
            partition, offset = message.partition(), message.offset()
            if (offset, message.value()) != (positions[partition], b"%d:%d" % (partition, offset)):
                self.errors.append(f"{partition}:{offset} after {positions[partition]}")
            positions[partition] = offset + 1

    def _note_fatal(self, error: KafkaError) -> None:
        """Connections that end are retried by the client; an application need not know."""
        if error.fatal():
            self.errors.append(f"fatal: {error}")
