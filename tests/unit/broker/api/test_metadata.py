"""Metadata: by name, by id, all; creation on first use; addresses and leaders."""

from typing import Any
from uuid import UUID

import pytest

from headrace.broker.api.metadata import MetadataHandler
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.cluster.topic_creation import TopicCreation
from headrace.broker.coordinator.group.coordinator import offsets_topic
from headrace.broker.partition.internal_topics import OFFSETS_TOPIC
from headrace.config.node import GroupConfig, LogConfig, NetworkConfig
from headrace.protocol.acl import NO_OPERATIONS
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import MetadataRequest
from tests.unit.broker.cluster_scene import (
    CLUSTER_ID,
    NO_ID,
    FakeClient,
    FakeRegistry,
    ask,
    broker_records,
    topic_id,
    topic_records,
)

LATEST = 13


class Cluster:
    """Two live brokers, one fenced, and three topics; `on-fenced` is led by the fenced one."""

    def __init__(self, *, auto_create: bool = True) -> None:
        self.client = FakeClient(
            *broker_records(1, ("PLAINTEXT", "one", 9092), rack="a"),
            *broker_records(2, ("PLAINTEXT", "two", 9093)),
            *broker_records(3, ("PLAINTEXT", "three", 9094), active=False),
            *topic_records("b", 2, 2, leader=2, leader_epoch=4),
            *topic_records("a", 1, leader_epoch=3),
            *topic_records("on-fenced", 3, leader=3),
            *topic_records(OFFSETS_TOPIC, 4),
        )
        creation = TopicCreation(
            self.client,  # type: ignore[arg-type]
            FakeRegistry(self.client),  # type: ignore[arg-type]
            log=LogConfig(auto_create_topics=auto_create, partitions_default=3),
            internal=[offsets_topic(GroupConfig())],
        )
        view = ClusterView(lambda: self.client.image, 1, NetworkConfig())
        self.handler = MetadataHandler(view, creation)

    def ask(
        self, version: int, topics: Any, *, create: bool = True, listener: str = "PLAINTEXT"
    ) -> Any:
        request = MetadataRequest(topics=topics, allow_auto_topic_creation=create)
        return ask(self.handler, version, request, listener=listener)

    def names(self, version: int, topics: Any) -> list[tuple[str, int]]:
        return [(it.name, it.error_code) for it in self.ask(version, topics).topics]


def named(*names: str) -> list[Any]:
    return [MetadataRequest.MetadataRequestTopic(name=name) for name in names]


def identified(*ids: UUID) -> list[Any]:
    return [MetadataRequest.MetadataRequestTopic(name=None, topic_id=it) for it in ids]


EVERY_TOPIC = [(OFFSETS_TOPIC, 0), ("a", 0), ("b", 0), ("on-fenced", 0)]


@pytest.mark.parametrize("version", range(1, LATEST + 1))
def test_null_asks_for_all_topics_and_an_empty_list_for_none(version: int) -> None:
    cluster = Cluster()
    assert sorted(cluster.names(version, None)) == EVERY_TOPIC
    assert cluster.names(version, []) == []
    assert cluster.client.calls == []


def test_in_version_0_an_empty_list_asks_for_all() -> None:
    assert sorted(Cluster().names(0, [])) == EVERY_TOPIC


def test_internal_topics_are_marked() -> None:
    """2.11, trap: `__consumer_offsets` is present in the answer for all topics."""
    topics = Cluster().ask(LATEST, None).topics
    assert [topic.name for topic in topics if topic.is_internal] == [OFFSETS_TOPIC]


@pytest.mark.parametrize("version", range(LATEST + 1))
def test_partitions_are_shown_with_leader_and_epoch(version: int) -> None:
    (topic,) = Cluster().ask(version, named("b")).topics
    assert [(p.partition_index, p.error_code, p.leader_id) for p in topic.partitions] == [
        (0, 0, 2),
        (1, 0, 2),
    ]
    assert [list(p.replica_nodes) for p in topic.partitions] == [[2], [2]]
    if version >= 7:
        assert [p.leader_epoch for p in topic.partitions] == [4, 4]
    if version >= 10:
        assert topic.topic_id == topic_id(2)


@pytest.mark.parametrize("version", range(LATEST + 1))
def test_a_partition_whose_leader_is_not_alive_has_none(version: int) -> None:
    """2.11: error 5, leader -1."""
    (topic,) = Cluster().ask(version, named("on-fenced")).topics
    (partition,) = topic.partitions
    assert (partition.error_code, partition.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)
    assert (list(partition.replica_nodes), list(partition.isr_nodes)) == ([3], [3])
    if version >= 5:
        assert list(partition.offline_replicas) == [3]


@pytest.mark.parametrize("version", range(LATEST + 1))
def test_a_leader_without_the_clients_listener_is_told_as_the_version_has_it(version: int) -> None:
    """2.11: LISTENER_NOT_FOUND from version 6 on, LEADER_NOT_AVAILABLE before."""
    told = Cluster().ask(version, named("b", "a"), listener="OUTSIDE")
    assert [broker.node_id for broker in told.brokers] == [1]
    code = ErrorCode.LISTENER_NOT_FOUND if version >= 6 else ErrorCode.LEADER_NOT_AVAILABLE
    unreachable, reachable = told.topics
    assert {(it.error_code, it.leader_id) for it in unreachable.partitions} == {(code, -1)}
    assert {(it.error_code, it.leader_id) for it in reachable.partitions} == {(0, 1)}


def test_every_leader_is_among_the_brokers_and_fenced_ones_are_not() -> None:
    told = Cluster().ask(LATEST, None)
    brokers = {broker.node_id for broker in told.brokers}
    leaders = {it.leader_id for topic in told.topics for it in topic.partitions}
    assert brokers == {1, 2}
    assert leaders - {-1} <= brokers
    assert told.controller_id in brokers


def test_this_broker_is_named_by_the_address_that_the_client_used() -> None:
    told = Cluster().ask(LATEST, [])
    assert [(b.node_id, b.host, b.port, b.rack) for b in told.brokers] == [
        (1, "10.0.0.1", 9092, "a"),
        (2, "two", 9093, None),
    ]
    assert told.cluster_id == CLUSTER_ID


@pytest.mark.parametrize("version", [12, 13])
def test_topics_are_found_by_id(version: int) -> None:
    found, missing = Cluster().ask(version, identified(topic_id(1), topic_id(99))).topics
    assert (found.name, found.error_code) == ("a", 0)
    assert (missing.name, missing.error_code) == (None, ErrorCode.UNKNOWN_TOPIC_ID)
    assert missing.topic_id == topic_id(99)


@pytest.mark.parametrize("version", [10, 11])
def test_ids_are_refused_where_they_are_not_looked_up(version: int) -> None:
    """2.11: v10 and v11 with an id or a null name are INVALID_REQUEST."""
    request = [MetadataRequest.MetadataRequestTopic(name="a", topic_id=topic_id(1))]
    (topic,) = Cluster().ask(version, request).topics
    assert topic.error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("version", range(LATEST + 1))
def test_an_unknown_topic_is_created_on_first_use_and_shown_at_once(version: int) -> None:
    cluster = Cluster()
    (topic,) = cluster.ask(version, named("new")).topics
    assert (topic.error_code, len(topic.partitions)) == (0, 3)
    assert [p.leader_id for p in topic.partitions] == [1, 1, 1]


@pytest.mark.parametrize("version", range(4, LATEST + 1))
def test_nothing_is_created_for_a_client_that_does_not_want_it(version: int) -> None:
    cluster = Cluster()
    (topic,) = cluster.ask(version, named("new"), create=False).topics
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert cluster.client.calls == []


def test_nothing_is_created_when_the_broker_does_not_allow_it() -> None:
    cluster = Cluster(auto_create=False)
    assert cluster.names(LATEST, named("new")) == [("new", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]
    assert cluster.client.calls == []


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "ä", "x" * 250])
def test_an_invalid_name_is_told_and_never_created(name: str) -> None:
    """2.11: 17, not 3 (librdkafka 0057)."""
    cluster = Cluster()
    assert cluster.names(LATEST, named(name)) == [(name, ErrorCode.INVALID_TOPIC_EXCEPTION)]
    assert cluster.client.calls == []


def test_a_creation_that_fails_leaves_the_topic_unknown() -> None:
    cluster = Cluster()
    cluster.client.answers["new"] = (ErrorCode.REQUEST_TIMED_OUT, "no controller")
    assert cluster.names(LATEST, named("a", "new")) == [
        ("a", 0),
        ("new", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


def test_topics_are_never_created_by_id() -> None:
    cluster = Cluster()
    cluster.ask(LATEST, identified(NO_ID, topic_id(9)))
    assert cluster.client.calls == []


@pytest.mark.parametrize("version", [1, LATEST])
def test_a_topic_that_is_named_often_is_answered_once(version: int) -> None:
    """The answer to 6 MB that name a topic of 50 partitions would take 350 MB."""
    cluster = Cluster()
    assert cluster.names(version, named("b", "a", *["b"] * 1_000)) == [("b", 0), ("a", 0)]
    if version == LATEST:
        by_id = identified(topic_id(1), topic_id(2), topic_id(1))
        assert len(cluster.names(version, by_id)) == 2


@pytest.mark.parametrize("version", range(8, LATEST + 1))
def test_without_an_authorizer_every_operation_is_authorized(version: int) -> None:
    """The bits are those that Apache Kafka answers, also for a topic that does not exist."""
    cluster = Cluster(auto_create=False)
    for asked in (True, False):
        request = MetadataRequest(
            topics=named("a", "missing", "no good"),
            include_topic_authorized_operations=asked,
            include_cluster_authorized_operations=asked,
        )
        told = ask(cluster.handler, version, request)
        allowed = 3576 if asked else NO_OPERATIONS
        assert {it.topic_authorized_operations for it in told.topics} == {allowed}
        if version <= 10:
            assert told.cluster_authorized_operations == (8096 if asked else NO_OPERATIONS)
