"""DescribeTopicPartitions: sorted, page by page, at most 2,000 partitions each."""

from typing import Any

import pytest

from headrace.broker.api.describe_topic_partitions import (
    MAX_PARTITIONS,
    DescribeTopicPartitionsHandler,
)
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.config.node import NetworkConfig
from headrace.metadata.records.topics import PartitionRecord, TopicRecord
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import DescribeTopicPartitionsRequest
from tests.unit.broker.cluster_scene import (
    FakeClient,
    ask,
    broker_records,
    topic_id,
    topic_records,
)

Page = list[tuple[str, list[int]]]


class Cluster:
    def __init__(self, **topics: int) -> None:
        self.client = FakeClient(*broker_records(1))
        for number, (name, partitions) in enumerate(topics.items(), 1):
            self.client.apply(*topic_records(name, number, partitions))
        view = ClusterView(lambda: self.client.image, 1, NetworkConfig())
        self.handler = DescribeTopicPartitionsHandler(view)

    def ask(self, *names: str, limit: int = 2_000, cursor: tuple[str, int] | None = None) -> Any:
        request = DescribeTopicPartitionsRequest
        return ask(
            self.handler,
            0,
            request(
                topics=[request.TopicRequest(name=name) for name in names],
                response_partition_limit=limit,
                cursor=cursor and request.Cursor(topic_name=cursor[0], partition_index=cursor[1]),
            ),
        )

    def page(self, *names: str, **options: Any) -> tuple[Page, tuple[str, int] | None]:
        told = self.ask(*names, **options)
        found = [(it.name, [p.partition_index for p in it.partitions]) for it in told.topics]
        cursor = told.next_cursor
        return found, cursor and (cursor.topic_name, cursor.partition_index)

    def pages(self, *names: str, limit: int) -> Page:
        """What a client puts together from all pages."""
        together: dict[str, list[int]] = {}
        cursor = None
        for _ in range(100):
            found, cursor = self.page(*names, limit=limit, cursor=cursor)
            assert sum(len(partitions) for _, partitions in found) <= limit
            for name, partitions in found:
                together.setdefault(name, []).extend(partitions)
            if cursor is None:
                return list(together.items())
        pytest.fail("the cursor does not come to an end")


def test_topics_are_sorted_by_name_and_no_name_asks_for_all() -> None:
    cluster = Cluster(b=1, c=2, a=1)
    assert cluster.page() == ([("a", [0]), ("b", [0]), ("c", [0, 1])], None)
    assert cluster.page("c", "a") == ([("a", [0]), ("c", [0, 1])], None)


@pytest.mark.parametrize("limit", range(1, 9))
def test_pages_of_any_size_come_to_the_whole(limit: int) -> None:
    cluster = Cluster(b=3, a=2, c=1, d=2)
    whole = [("a", [0, 1]), ("b", [0, 1, 2]), ("c", [0]), ("d", [0, 1])]
    assert cluster.pages(limit=limit) == whole
    assert cluster.pages("d", "b", limit=limit) == [whole[1], whole[3]]


def test_the_cursor_names_the_first_partition_that_is_missing() -> None:
    cluster = Cluster(a=2, b=3)
    assert cluster.page(limit=2) == ([("a", [0, 1])], ("b", 0))
    assert cluster.page(limit=4) == ([("a", [0, 1]), ("b", [0, 1])], ("b", 2))
    assert cluster.page(cursor=("b", 2)) == ([("b", [2])], None)


def test_a_page_never_holds_more_than_the_limit_of_the_broker() -> None:
    cluster = Cluster(a=MAX_PARTITIONS + 1)
    for limit, shown in ((0, 1), (-1, 1), (2_000_000_000, MAX_PARTITIONS)):
        (_, partitions), *rest = cluster.page(limit=limit)[0]
        assert rest == []
        assert len(partitions) == shown


def test_a_cursor_into_a_topic_that_is_gone_goes_on_with_the_next() -> None:
    assert Cluster(a=1, c=2).page(cursor=("b", 1)) == ([("c", [0, 1])], None)


@pytest.mark.parametrize("partition", [-1, -7])
def test_a_cursor_below_the_first_partition_is_refused(partition: int) -> None:
    """DescribeTopicPartitionsRequestHandler: an error in the place of each topic that is named."""
    assert Cluster(a=3).page(cursor=("a", partition)) == ([], None)
    told = Cluster(a=3).ask("a", "no", cursor=("a", partition)).topics
    assert {it.error_code for it in told} == {ErrorCode.INVALID_REQUEST}
    assert [it.name for it in told] == ["a", "no"]


def test_a_cursor_beyond_the_last_partition_goes_on_with_the_next_topic() -> None:
    found, cursor = Cluster(a=1, b=1).page(cursor=("a", 9))
    assert found[-1] == ("b", [0])
    assert cursor is None


def test_missing_topics_are_errors_of_their_own() -> None:
    told = Cluster(a=1).ask("a", "no", "no good").topics
    assert {it.name: it.error_code for it in told} == {
        "a": 0,
        "no": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "no good": ErrorCode.INVALID_TOPIC_EXCEPTION,
    }


def test_a_partition_without_a_live_leader_has_leader_none_and_no_error() -> None:
    cluster = Cluster()
    cluster.client.apply(*topic_records("t", 9, leader=4, leader_epoch=3))
    (partition,) = cluster.ask("t").topics[0].partitions
    assert (partition.error_code, partition.leader_id, partition.leader_epoch) == (
        ErrorCode.NONE,
        -1,
        3,
    )
    assert list(partition.offline_replicas) == [4]


def test_a_leader_without_the_clients_listener_is_none() -> None:
    cluster = Cluster(a=1)
    cluster.client.apply(*broker_records(2, ("INSIDE", "two", 9093)))
    cluster.client.apply(*topic_records("b", 2, leader=2))
    told = cluster.ask("a", "b")
    leaders = [(it.partitions[0].error_code, it.partitions[0].leader_id) for it in told.topics]
    assert leaders == [(0, 1), (0, -1)]


def test_without_an_authorizer_every_operation_is_authorized() -> None:
    told = Cluster(a=1).ask("a", "missing", "no good").topics
    assert [it.topic_authorized_operations for it in told] == [3576] * 3


def test_the_replication_factor_is_shown() -> None:
    cluster = Cluster()
    cluster.client.apply(*broker_records(2), TopicRecord(topic_id(1), "t", 2))
    cluster.client.apply(PartitionRecord(topic_id(1), 0, 1, 0, 10, 11))
    ((partition,),) = (it.partitions for it in cluster.ask("t").topics)
    assert partition.replica_nodes == [1, 2]
