"""What the log of a broker tells of moves that were taken back."""

import logging

import pytest

from headrace.broker.partition.taken_back import MAX_TOLD, TakenBackMoves
from headrace.metadata.records.brokers import FenceBrokerRecord, FenceReason
from headrace.metadata.records.topics import (
    PartitionChangeRecord,
    PartitionMoveEndedRecord,
    PartitionMoveRecord,
    RemoveTopicRecord,
)
from tests.unit.broker.cluster_scene import (
    NODE_ID,
    FakeClient,
    broker_records,
    topic_id,
    topic_records,
)

TARGET, ANOTHER = 2, 3


class Broker:
    """Leads the partitions of topic 1, called t."""

    def __init__(self, caplog: pytest.LogCaptureFixture, partitions: int = 1) -> None:
        caplog.set_level(logging.INFO, "headrace.partition")
        self._caplog = caplog
        self._partitions = partitions
        nodes = [it for node_id in (NODE_ID, TARGET, ANOTHER) for it in broker_records(node_id)]
        self.client = FakeClient(*nodes, *topic_records("t", 1, partitions))
        self.client.subscribe(TakenBackMoves(NODE_ID).image_changed)

    def begin(self, target: int = TARGET) -> None:
        epoch = self.client.image.index + 1
        indexes = range(self._partitions)
        self.client.apply(*(PartitionMoveRecord(topic_id(1), it, epoch, target) for it in indexes))

    def take_back(self) -> None:
        moves = self.client.image.moves.values()
        self.client.apply(
            *(PartitionMoveEndedRecord(it.topic_id, it.partition, it.epoch) for it in moves)
        )

    def change(self, leader: int, epoch: int) -> None:
        self.client.apply(PartitionChangeRecord(topic_id(1), 0, leader, epoch))

    @property
    def told(self) -> list[tuple[str, int, int, str]]:
        return [
            (it.topic, it.partition, it.target, it.reason)  # type: ignore[attr-defined]
            for it in self._caplog.records
            if hasattr(it, "target")
        ]


def test_a_move_that_is_taken_back_is_told_with_its_reason(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broker = Broker(caplog)
    broker.begin()
    broker.take_back()
    asked = "by a request, or by the leading controller, whose log says why"
    assert broker.told == [("t", 0, TARGET, asked)]
    broker.begin()
    broker.client.apply(FenceBrokerRecord(TARGET, TARGET, FenceReason.SHUT_DOWN))
    assert len(broker.told) == 1
    broker.take_back()
    assert broker.told[1:] == [("t", 0, TARGET, f"broker {TARGET} has ended")]


def test_a_move_that_is_replaced_is_told(caplog: pytest.LogCaptureFixture) -> None:
    broker = Broker(caplog)
    broker.begin()
    broker.begin(ANOTHER)
    assert broker.told == [("t", 0, TARGET, f"replaced by a move to broker {ANOTHER}")]


def test_a_partition_that_has_moved_or_is_gone_is_not_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broker = Broker(caplog)
    broker.begin()
    broker.change(TARGET, 1)
    broker.begin(ANOTHER)
    broker.take_back()  # the leader is another broker
    broker.change(NODE_ID, 2)
    broker.begin()
    broker.client.apply(RemoveTopicRecord(topic_id(1)))
    assert broker.told == []


def test_of_very_many_at_once_some_are_named(caplog: pytest.LogCaptureFixture) -> None:
    broker = Broker(caplog, partitions=MAX_TOLD + 7)
    broker.begin()
    broker.take_back()
    assert len(broker.told) == MAX_TOLD
    assert caplog.records[-1].partitions == 7  # type: ignore[attr-defined]
