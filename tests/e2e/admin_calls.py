"""Admin calls of librdkafka that are asked again while a broker or a leader is not there yet.

Each attempt is a new client's: an old one goes by what it knew of the broker's earlier lives.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec

_PATIENCE_S = 30
_PAUSE_S = 0.05

Answer = TypeVar("Answer")


def end_offsets(bootstrap: str, topic: str, partitions: int) -> dict[int, int]:
    """Return the end offset of each partition, once the broker leads them all."""
    return _offsets(bootstrap, topic, partitions, OffsetSpec.latest())


def start_offsets(bootstrap: str, topic: str, partitions: int) -> dict[int, int]:
    """Return the first offset of each partition, once the broker leads them all."""
    return _offsets(bootstrap, topic, partitions, OffsetSpec.earliest())


def _offsets(bootstrap: str, topic: str, partitions: int, spec: OffsetSpec) -> dict[int, int]:
    def ask(admin: AdminClient) -> dict[int, int]:
        asked = {TopicPartition(topic, number): spec for number in range(partitions)}
        answers = admin.list_offsets(asked).items()
        found = {partition.partition: answer.result(10).offset for partition, answer in answers}
        # librdkafka's OFFSET_INVALID: a leader was not asked.
        if min(found.values(), default=0) < 0:
            raise KafkaException(KafkaError(KafkaError.LEADER_NOT_AVAILABLE))
        return found

    return _persistently(bootstrap, ask)


def committed_offsets(bootstrap: str, group: str) -> dict[int, int]:
    """Return the committed offset of each partition of a group's one topic."""

    def ask(admin: AdminClient) -> dict[int, int]:
        request = [ConsumerGroupTopicPartitions(group)]
        answer = admin.list_consumer_group_offsets(request)[group].result(10)
        return {item.partition: item.offset for item in answer.topic_partitions}

    return _persistently(bootstrap, ask)


def _persistently(bootstrap: str, ask: Callable[[AdminClient], Answer]) -> Answer:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return ask(AdminClient({"bootstrap.servers": bootstrap, "log_level": 0}))
        except (KafkaException, TimeoutError):
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)
