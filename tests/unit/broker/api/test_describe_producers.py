"""DescribeProducers: who writes to a partition with an id."""

from typing import Any

import pytest

from headrace.broker.api import describe_producers
from headrace.broker.api.describe_producers import DescribeProducersHandler
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import DescribeProducersRequest
from headrace.protocol.partition_checkpoint import BatchMetadata, OngoingTransaction
from tests.unit.broker.cluster_scene import FakeClient, FakeRegistry, ask, topic_records

_Topic = DescribeProducersRequest.TopicRequest


def describe(registry: FakeRegistry, *topics: tuple[str, list[int]]) -> list[Any]:
    request = DescribeProducersRequest(topics=[_Topic(*it) for it in topics])
    handler = DescribeProducersHandler(registry)  # type: ignore[arg-type]
    return [it for topic in ask(handler, 0, request).topics for it in topic.partitions]


def test_producers_have_their_last_batch_and_where_their_transaction_begins() -> None:
    registry = FakeRegistry()
    state = registry.serve("t").partition.state
    state.producers.update(7, 1, BatchMetadata(0, 4, 10, 14, 1_111), 5_000)
    state.producers.update(8, 0, None, 5_000)
    state.producers.mark(9, 2, 33, 5_000)
    state.restore_transactions([OngoingTransaction(8, 40)], [])
    (told,) = describe(registry, ("t", [0]))
    assert (told.partition_index, told.error_code) == (0, 0)
    assert [
        (
            it.producer_id,
            it.producer_epoch,
            it.last_sequence,
            it.last_timestamp,
            it.coordinator_epoch,
            it.current_txn_start_offset,
        )
        for it in told.active_producers
    ] == [(7, 1, 4, 1_111, -1, -1), (8, 0, -1, -1, -1, 40), (9, 2, -1, -1, 33, -1)]


def test_only_a_leader_with_a_valid_lease_knows() -> None:
    client = FakeClient(*topic_records("elsewhere", 2))
    registry = FakeRegistry(client)
    registry.serve("t")
    told = describe(registry, ("t", [0, 5]), ("elsewhere", [0]), ("no", [0]), ("a b", [0]))
    assert [it.error_code for it in told] == [
        0,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
    ]
    client.has_lease = False
    (told_later,) = describe(registry, ("t", [0]))
    assert told_later.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_partition_that_is_named_ever_again_fills_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registry = FakeRegistry()
    state = registry.serve("t").partition.state
    for producer_id in range(10):
        state.producers.update(producer_id, 0, None, 5_000)
    monkeypatch.setattr(describe_producers, "MAX_PRODUCERS", 25)
    told = describe(registry, ("t", [0] * 4))
    assert [len(it.active_producers) for it in told] == [10, 10, 0, 0]
    assert [it.error_code for it in told] == [0, 0, *[ErrorCode.INVALID_REQUEST] * 2]
