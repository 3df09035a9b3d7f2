"""ListPartitionReassignments: the moves that are under way."""

from typing import Any

import pytest

from headrace.broker.api.list_partition_reassignments import ListPartitionReassignmentsHandler
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.config.node import NetworkConfig
from headrace.metadata.records.topics import PartitionMoveRecord
from headrace.protocol.messages import ListPartitionReassignmentsRequest
from tests.unit.broker.cluster_scene import NODE_ID, FakeClient, ask, topic_id, topic_records

ASKED = ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics


def listed(*topics: tuple[str, list[int]], everything: bool = False) -> dict[str, Any]:
    """Of "one", which moves from broker 1 to 2 and 3 but for its partition 1, and "two", which does not move."""
    client = FakeClient(*topic_records("one", 1, 3), *topic_records("two", 2))
    client.apply(
        PartitionMoveRecord(topic_id(1), 0, 2, 2), PartitionMoveRecord(topic_id(1), 2, 2, 3)
    )
    asked = None if everything else [ASKED(name=it[0], partition_indexes=it[1]) for it in topics]
    request = ListPartitionReassignmentsRequest(timeout_ms=1_000, topics=asked)
    told = ask(
        ListPartitionReassignmentsHandler(
            ClusterView(lambda: client.image, NODE_ID, NetworkConfig())
        ),
        0,
        request,
    )
    assert told.error_code == 0
    return {
        topic.name: {
            it.partition_index: (it.replicas, it.adding_replicas, it.removing_replicas)
            for it in topic.partitions
        }
        for topic in told.topics
    }


def test_the_target_is_added_and_the_leader_removed() -> None:
    assert listed(everything=True) == {
        "one": {0: ([2, 1], [2], [1]), 2: ([3, 1], [3], [1])},
    }


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ([("one", [0, 1])], {"one": [0]}),
        ([("one", [2]), ("two", [0])], {"one": [2]}),
        ([("one", [1]), ("two", [0]), ("three", [0])], {}),
        ([], {}),
    ],
    ids=str,
)
def test_only_what_is_asked_for(asked: list[tuple[str, list[int]]], found: dict[str, Any]) -> None:
    assert {name: list(it) for name, it in listed(*asked).items()} == found
