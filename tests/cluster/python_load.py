"""kafka-python under steady load: an idempotent producer, and a group member that commits what it has checked.

Record `number` of a partition has that number as its value, and must be at that offset.
"""

import logging
import threading
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from kafka import KafkaConsumer, KafkaProducer
from kafka import TopicPartition as Partition
from kafka.cluster import ClusterMetadata
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from tests.cluster.client_errors import SeenErrors
from tests.cluster.cluster import Cluster
from tests.cluster.wire_calls import create_topic
from tests.e2e.admin_calls import end_offsets

TOPIC = "python"
GROUP = "python"
logging.getLogger("kafka").setLevel(
    logging.CRITICAL
)  # it tells each lost connection with a traceback

_RECORDS_PER_S = 20
_MAX_OUTSTANDING = 20  # records of a partition that are sent and not acknowledged
_LIVES_THROUGH_S = 900  # the longest time for which a broker may be away
_END_WITHIN_S = 60
_CLIENT = {
    "reconnect_backoff_max_ms": 1_000,
    "metadata_max_age_ms": 2_000,
    "request_timeout_ms": 5_000,
    "metrics_enabled": False,
}


class PythonLoad:
    """One producer and one consumer of a topic with a partition on each broker, from `start` to `stop`."""

    def __init__(self, cluster: Cluster, seen: SeenErrors) -> None:
        self.partitions = len(cluster.brokers)
        self.acknowledged = [-1] * self.partitions  # the last number of each partition
        self._sent = [0] * self.partitions
        self._consumed = [0] * self.partitions  # the position of the consumer
        self._cluster = cluster
        self._seen = seen
        self._views: list[ClusterMetadata] = []  # of the producer and the consumer
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._guarded, args=(run,), name=f"python {run.__name__}")
            for run in (self._produce, self._consume)
        ]

    def start(self) -> None:
        """Create the topic and start both clients."""
        leaders = [broker.node_id for broker in self._cluster.brokers]
        with self._cluster.connect(self._cluster.brokers[0]) as connection:
            error, _ = create_topic(connection, TOPIC, brokers=leaders)
        assert error == 0, error
        for thread in self._threads:
            thread.daemon = True
            thread.start()

    def stop(self) -> None:
        """End both clients, after the producer's last record is acknowledged."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(2 * _END_WITHIN_S)
            assert not thread.is_alive(), f"{thread.name} hangs"

    def end(self) -> None:
        """Wait for nothing any more; a producer that is left would wait when the interpreter ends."""
        self._stopping.set()

    def wait_for_progress(self) -> None:
        """Wait until records that are sent from now on were acknowledged and consumed, in each partition."""
        sent = list(self._sent)

        def flows() -> bool:
            self._seen.check()
            return all(
                self.acknowledged[number] >= due and self._consumed[number] > due
                for number, due in enumerate(sent)
            )

        self._cluster.wait_until(flows, f"kafka-python's records flow beyond {sent}")

    def wait_until_all_brokers_are_known(self) -> None:
        """Wait until both clients have heard of every broker.

        They know the brokers of their last answer, and never go back to the bootstrap servers (KIP-899 is not there).
        With a fault that leaves one broker, and a next one that takes it before they ask again, they wait for it.
        """
        ids = {broker.node_id for broker in self._cluster.brokers}

        def known() -> bool:
            self._seen.check()
            return all({it.node_id for it in view.brokers()} == ids for view in self._views)

        self._cluster.wait_until(known, "kafka-python's clients know every broker")

    def check_everything(self) -> int:
        """After `stop`: each partition holds the numbers from 0 to the last acknowledged one; return the records."""
        settings = {"bootstrap.servers": self._cluster.bootstrap, "group.id": "check"}
        consumer = Consumer({**settings, "enable.auto.commit": False, "log_level": 0})
        ends = end_offsets(self._cluster.bootstrap, TOPIC, self.partitions)
        for number, last in enumerate(self.acknowledged):
            partition, end = TopicPartition(TOPIC, number, 0), ends[number]
            assert end == last + 1, f"{TOPIC} {number} ends at {end}, {last} was acknowledged"
            consumer.assign([partition])
            for offset in range(end):
                message = consumer.poll(30)
                assert message is not None, f"nothing came for 30 s at {number}:{offset} of {end}"
                assert message.error() is None, message.error()
                assert (message.offset(), message.value()) == (offset, b"%d" % offset)
        consumer.close()
        return sum(self.acknowledged) + self.partitions

    def _guarded(self, run: Callable[[], None]) -> None:
        """Whatever ends a client is a fault, and is told by the test that looks next."""
        try:
            run()
        except Exception as error:
            self._seen.fault(f"kafka-python: {error!r}")

    def _produce(self) -> None:
        producer = KafkaProducer(
            bootstrap_servers=self._cluster.bootstrap.split(","),
            enable_idempotence=True,
            delivery_timeout_ms=1000 * _LIVES_THROUGH_S,
            max_block_ms=1000 * _LIVES_THROUGH_S,
            **_CLIENT,
        )
        self._views.append(producer._metadata)
        while not self._stopping.wait(1 / _RECORDS_PER_S):
            for partition, number in enumerate(self._sent):
                if number - self.acknowledged[partition] <= _MAX_OUTSTANDING:
                    self._sent[partition] += 1
                    sending = producer.send(TOPIC, b"%d" % number, partition=partition)
                    sending.add_callback(self._delivered, partition, number)
                    sending.add_errback(self._failed, partition, number)
        producer.flush(timeout=_END_WITHIN_S)
        producer.close(timeout=_END_WITHIN_S)

    def _delivered(self, partition: int, number: int, metadata: Any) -> None:
        offset = metadata.offset
        if offset != number or number != self.acknowledged[partition] + 1:
            last = self.acknowledged[partition]
            self._seen.fault(f"{TOPIC} {partition}:{number} is at {offset}, after {last}")
        self.acknowledged[partition] = number

    def _failed(self, partition: int, number: int, error: BaseException) -> None:
        self._seen.fault(f"{TOPIC} {partition}:{number} was not delivered: {error!r}")

    def _consume(self) -> None:
        consumer = KafkaConsumer(
            TOPIC,
            bootstrap_servers=self._cluster.bootstrap.split(","),
            group_id=GROUP,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=10_000,
            **{**_CLIENT, "request_timeout_ms": 12_000},
        )
        self._views.append(consumer._client.cluster)
        while not self._stopping.is_set():
            try:
                found = consumer.poll(timeout_ms=100)
                for partition, records in found.items():
                    for record in records:
                        self._check(partition.partition, record.offset, record.value)
                if found:
                    consumer.commit(self._offsets(list(found)), timeout_ms=5_000)
            except KafkaError as error:
                self._seen.note_kafka_python("kafka-python", error)
        consumer.close()

    def _check(self, partition: int, offset: int, value: bytes) -> None:
        assert value == b"%d" % offset, f"{TOPIC} {partition}:{offset} is {value!r}"
        # A rebalance may go back to the last commit, never forth.
        assert offset <= self._consumed[partition], f"{TOPIC} {partition}: gap at {offset}"
        self._consumed[partition] = offset + 1

    def _offsets(self, partitions: list[Partition]) -> dict[Partition, OffsetAndMetadata]:
        return {it: OffsetAndMetadata(self._consumed[it.partition], "", -1) for it in partitions}
