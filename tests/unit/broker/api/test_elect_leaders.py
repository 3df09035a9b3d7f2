"""ElectLeaders: the only replica is the preferred one (KIP-460)."""

from typing import Any

import pytest

from headrace.broker.api.elect_leaders import PREFERRED, UNCLEAN, ElectLeadersHandler
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.config.node import NetworkConfig
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import ElectLeadersRequest
from tests.unit.broker.cluster_scene import (
    NODE_ID,
    FakeClient,
    ask,
    broker_records,
    topic_records,
)

ASKED = ElectLeadersRequest.TopicPartitions
NOT_NEEDED = ErrorCode.ELECTION_NOT_NEEDED


def elect(version: int, topics: list[tuple[str, list[int]]] | None, kind: int = PREFERRED) -> Any:
    """Of "led", whose leader is active, and "gone", whose leader is not."""
    client = FakeClient(
        *broker_records(1, ("PLAINTEXT", "one", 9092)),
        *broker_records(2, ("PLAINTEXT", "two", 9092), active=False),
        *topic_records("led", 1, 2),
        *topic_records("gone", 2, leader=2),
    )
    asked = None if topics is None else [ASKED(topic=it[0], partitions=it[1]) for it in topics]
    request = ElectLeadersRequest(election_type=kind, topic_partitions=asked, timeout_ms=1_000)
    return ask(
        ElectLeadersHandler(ClusterView(lambda: client.image, NODE_ID, NetworkConfig())),
        version,
        request,
    )


def codes(told: Any) -> dict[tuple[str, int], ErrorCode]:
    return {
        (topic.topic, it.partition_id): ErrorCode(it.error_code)
        for topic in told.replica_election_results
        for it in topic.partition_result
    }


@pytest.mark.parametrize("version", [0, 1, 2])
def test_an_active_leader_is_the_preferred_one(version: int) -> None:
    told = elect(version, [("led", [0, 1]), ("none", [0]), ("led", [7])])
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert codes(told) == {
        ("led", 0): NOT_NEEDED,
        ("led", 1): NOT_NEEDED,
        ("none", 0): unknown,
        ("led", 7): unknown,
    }
    if version:
        assert told.error_code == 0


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (PREFERRED, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
        (UNCLEAN, ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE),
    ],
)
def test_a_leader_that_is_gone_is_not_elected(kind: int, code: ErrorCode) -> None:
    assert codes(elect(2, [("gone", [0])], kind)) == {("gone", 0): code}


def test_of_all_partitions_those_that_need_none_are_left_out() -> None:
    told = elect(2, None)
    assert codes(told) == {("gone", 0): ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE}
    assert {it.topic for it in told.replica_election_results} == {"gone", "led"}


def test_another_type_is_refused() -> None:
    told = elect(2, None, 2)
    assert told.error_code == ErrorCode.INVALID_REQUEST
    assert not told.replica_election_results
    assert codes(elect(2, [("led", [0, 7])], 2)) == {
        ("led", 0): ErrorCode.INVALID_REQUEST,
        ("led", 7): ErrorCode.INVALID_REQUEST,
    }
