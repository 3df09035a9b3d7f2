"""librdkafka under steady load: an idempotent producer, and a group member that commits what it has checked.

Record `number` of a partition has bytes that follow from the seed, and must be at offset `number`
(`tests.e2e.ledger`): what is lost, doubled, misplaced or altered shows. A partition whose broker is away is
not given more than a few records, so that the others' go on.
"""

import threading
import time
from collections.abc import Callable
from operator import lt

from confluent_kafka import (
    OFFSET_INVALID,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from tests.cluster.client_errors import SeenErrors
from tests.cluster.clock import now_ns
from tests.cluster.cluster import Cluster
from tests.cluster.node import Node
from tests.cluster.wire_calls import create_topic
from tests.e2e.admin_calls import committed_offsets, end_offsets
from tests.e2e.ledger import Values

PARTITIONS_PER_BROKER = 2
_MAX_OUTSTANDING = 50  # records of a partition that are sent and not acknowledged
_BYTES_PER_S = 1 << 20
_POLL_S = 0.05
_LIVES_THROUGH_S = 900  # the longest time for which a broker may be away
_FLUSH_WITHIN_S = 60
# A batch whose answer was lost is told by the success of the one behind it; its offset is seen when it is read.
_UNTOLD = (None, OFFSET_INVALID)
_RETRIES = {
    "reconnect.backoff.max.ms": 200,
    "retry.backoff.max.ms": 200,
    "socket.timeout.ms": 10_000,
    "topic.metadata.refresh.interval.ms": 2_000,
    "log_level": 0,
}


class RecordLoad:
    """One producer and one consumer of a topic with partitions on all brokers, from `start` to `stop`."""

    def __init__(
        self, cluster: Cluster, seen: SeenErrors, seed: int, *, topic: str = "records"
    ) -> None:
        self.topic = topic
        self.partitions = PARTITIONS_PER_BROKER * len(cluster.brokers)
        self.acknowledged = [-1] * self.partitions  # the last number of each partition
        self.acknowledged_at_ns = [0] * self.partitions
        self.longest_gap_ns = [0] * self.partitions
        self.consumed = [0] * self.partitions  # the position of the consumer
        self.committed = [0] * self.partitions  # what a commit that was answered says
        self._outstanding = [0] * self.partitions
        self._cluster = cluster
        self._seen = seen
        self._values = Values(seed)
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Create the topic and start both clients."""
        leaders = [broker.node_id for broker in self._cluster.brokers] * PARTITIONS_PER_BROKER
        with self._cluster.connect(self._cluster.brokers[0]) as connection:
            error, _ = create_topic(connection, self.topic, brokers=leaders)
        assert error == 0, error
        for run in (self._produce, self._consume):
            thread = threading.Thread(target=self._guarded, args=(run,), name=run.__name__)
            thread.daemon = True
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """End both clients, after the producer's last record is acknowledged."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(2 * _FLUSH_WITHIN_S)
            assert not thread.is_alive(), f"{thread.name} hangs"

    def led_by(self, broker: Node) -> list[int]:
        """Return the partitions that a broker leads, by what the others know."""
        leaders = self._cluster.leaders(self.topic, unasked=broker)
        return [number for number, leader in enumerate(leaders) if leader == broker.node_id]

    def wait_for_progress(self, partitions: list[int] | None = None) -> None:
        """Wait until each partition has a record acknowledged, consumed and committed that is sent from now on."""
        assert not self._stopping.is_set(), "the load has ended: test_outcome.py is the last module"
        watched = list(range(self.partitions)) if partitions is None else partitions
        sent = {number: self.acknowledged[number] + self._outstanding[number] for number in watched}

        def flow() -> bool:
            self._seen.check()
            return all(self.committed[number] > last + 1 for number, last in sent.items())

        try:
            self._cluster.wait_until(
                flow, f"records flow beyond {sent} (acknowledged, outstanding)"
            )
        except AssertionError as error:
            error.add_note(
                f"{self.topic} now: acknowledged {self.acknowledged}, outstanding {self._outstanding}, "
                f"consumed {self.consumed}, committed {self.committed}; seen {dict(self._seen.counts)}"
            )
            raise

    def wait_until_acknowledged(self, partitions: list[int]) -> None:
        """Wait until each has taken some more records."""
        before = list(self.acknowledged)
        self._cluster.wait_until(
            lambda: all(self.acknowledged[it] > before[it] + 1 for it in partitions),
            f"records of the partitions {partitions} are acknowledged",
        )

    def check_ends(self) -> None:
        """Logs and commits reach what was acknowledged before this was asked."""
        acknowledged, committed = list(self.acknowledged), list(self.committed)
        ends = end_offsets(self._cluster.bootstrap, self.topic, self.partitions)
        stored = committed_offsets(self._cluster.bootstrap, self.topic)
        for partition in range(self.partitions):
            end, last = ends[partition], acknowledged[partition]
            assert end > last, f"{partition} ends at {end}, {last} was acknowledged"
            found, known = stored.get(partition, -1), committed[partition]
            assert found >= known, f"{partition}: {found} is committed, {known} was acknowledged"

    def check_everything(self) -> int:
        """After `stop`: read all that was acknowledged, and nothing more, and return the records."""
        ends = end_offsets(self._cluster.bootstrap, self.topic, self.partitions)
        assert [ends[it] for it in range(self.partitions)] == [it + 1 for it in self.acknowledged]
        return self.read_from_the_beginning()

    def read_from_the_beginning(self) -> int:
        """Read all partitions up to what is acknowledged now, and return the records."""
        settings = {"bootstrap.servers": self._cluster.bootstrap, "group.id": "check"}
        consumer = Consumer({**settings, **_RETRIES, "enable.auto.commit": False})
        partitions = [TopicPartition(self.topic, number, 0) for number in range(self.partitions)]
        ends = [last + 1 for last in self.acknowledged]
        consumer.assign(partitions)
        due = [0] * self.partitions
        while any(map(lt, due, ends)):
            left = sum(max(0, end - at) for end, at in zip(ends, due, strict=True))
            # Waiting for more than there is takes the whole time-out.
            messages = consumer.consume(num_messages=min(500, left), timeout=30)
            assert messages, f"nothing came for 30 s at {due} of {ends}"
            for message in messages:
                assert message.error() is None, message.error()
                partition = message.partition()
                assert message.offset() == due[partition], f"{partition}: not dense"
                self._values.check(partition, message.offset(), message.value())
                due[partition] += 1
        consumer.close()
        return sum(due)

    def _guarded(self, run: Callable[[], None]) -> None:
        """Whatever ends a client is a fault, and is told by the test that looks next."""
        try:
            run()
        except Exception as error:
            self._seen.fault(f"{run.__name__} ended: {error!r}")

    def _produce(self) -> None:
        producer = Producer(
            {
                "bootstrap.servers": self._cluster.bootstrap,
                "enable.idempotence": True,
                "linger.ms": 5,
                "delivery.timeout.ms": 1000 * _LIVES_THROUGH_S,
                "request.timeout.ms": 5_000,
                "error_cb": lambda error: self._seen.note_librdkafka("producer", error),
                **_RETRIES,
            }
        )
        numbers = [0] * self.partitions
        partition = -1
        begun, sent_bytes = time.monotonic(), 0
        while not self._stopping.is_set():
            free = [
                number
                for number in range(self.partitions)
                if self._outstanding[number] < _MAX_OUTSTANDING
            ]
            if not free:
                producer.poll(_POLL_S)
                begun, sent_bytes = time.monotonic(), 0  # do not catch up after an outage
                continue
            # In turn, whatever each has been given: one that was away must not take all until it has caught up.
            partition = min(free, key=lambda it: (it <= partition, it))
            number = numbers[partition]
            value = self._values.value(partition, number)
            numbers[partition] += 1
            self._outstanding[partition] += 1
            producer.produce(
                self.topic,
                value,
                partition=partition,
                on_delivery=lambda error, message, number=number: self._delivered(
                    error, message, number
                ),
            )
            sent_bytes += len(value)
            ahead_s = sent_bytes / _BYTES_PER_S - (time.monotonic() - begun)
            if ahead_s < -1:
                begun, sent_bytes = time.monotonic(), 0
            producer.poll(max(0.0, ahead_s))
        left = producer.flush(_FLUSH_WITHIN_S)
        if left:
            self._seen.fault(f"{left} records have no answer")

    def _delivered(self, error: KafkaError | None, message: Message, number: int) -> None:
        partition = message.partition()
        self._outstanding[partition] -= 1
        if error is not None:
            self._seen.fault(f"{partition}:{number} was not delivered: {error}")
        elif message.offset() not in (number, *_UNTOLD):
            self._seen.fault(f"{partition}:{number} is at {message.offset()}")
        elif number != self.acknowledged[partition] + 1:
            self._seen.fault(f"{partition}:{number} after {self.acknowledged[partition]}")
        else:
            now = now_ns()
            gap_ns = now - (self.acknowledged_at_ns[partition] or now)
            self.longest_gap_ns[partition] = max(gap_ns, self.longest_gap_ns[partition])
            self.acknowledged_at_ns[partition] = now
            self.acknowledged[partition] = number

    def _consume(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self._cluster.bootstrap,
                "group.id": self.topic,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "session.timeout.ms": 45_000,
                "fetch.message.max.bytes": 1 << 20,
                "queued.max.messages.kbytes": 4_096,
                "error_cb": lambda error: self._seen.note_librdkafka("consumer", error),
                **_RETRIES,
            }
        )
        consumer.subscribe([self.topic])
        while not self._stopping.is_set():
            positions: dict[int, int] = {}
            for message in consumer.consume(num_messages=200, timeout=0.1):
                if message.error():
                    self._seen.note_librdkafka("consumer", message.error(), in_group=True)
                    continue
                partition, offset = message.partition(), message.offset()
                self._values.check(partition, offset, message.value())
                # A rebalance may go back to the last commit, never forth.
                assert offset <= self.consumed[partition], f"{partition}: gap at {offset}"
                self.consumed[partition] = positions[partition] = offset + 1
            if positions:
                self._commit(consumer, positions)
        consumer.close()

    def _commit(self, consumer: Consumer, positions: dict[int, int]) -> None:
        offsets = [
            TopicPartition(self.topic, number, offset) for number, offset in positions.items()
        ]
        try:
            answered = consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as failure:
            self._seen.note_librdkafka("commit", failure.args[0], in_group=True)
            return
        for item in answered:
            if item.error is None:
                self.committed[item.partition] = item.offset
            else:
                self._seen.note_librdkafka("commit", item.error, in_group=True)
