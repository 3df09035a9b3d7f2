"""CreateTopics: defaults, validation, and what is answered."""

from typing import Any

import pytest

from headrace.broker.api import create_topics
from headrace.broker.api.create_topics import CreateTopicsHandler
from headrace.broker.cluster.topic_creation import TopicCreation
from headrace.broker.coordinator.group.coordinator import offsets_topic
from headrace.config.definition import ConfigSource
from headrace.config.describe import describe_topic
from headrace.config.node import LogConfig, NodeConfig
from headrace.metadata.follower.client import NewTopic
from headrace.metadata.records.topics import ConfigRecord
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import CreateTopicsRequest
from tests.unit.broker.cluster_scene import NO_ID, FakeClient, FakeRegistry, ask, broker_records

VERSIONS = range(2, 8)
_Topic = CreateTopicsRequest.CreatableTopic


def new_topic(name: str = "t", partitions: int = 2, factor: int = 1, **options: Any) -> Any:
    assignments = [
        _Topic.CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
        for index, brokers in options.get("assignments", ())
    ]
    configs = [
        _Topic.CreatableTopicConfig(name=key, value=value)
        for key, value in options.get("configs", {}).items()
    ]
    return _Topic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=assignments,
        configs=configs,
    )


class Broker:
    def __init__(self, *, refuses: bool = True) -> None:
        self.client = FakeClient(*broker_records(1), *broker_records(2))
        self.registry = FakeRegistry(self.client)
        config = NodeConfig(
            log=LogConfig(partitions_default=3, refuse_factors_above_brokers=refuses),
            static={"log.retention.ms": "1000"},
        )
        creation = TopicCreation(
            self.client,  # type: ignore[arg-type]
            self.registry,  # type: ignore[arg-type]
            log=config.log,
            internal=[offsets_topic(config.groups)],
        )
        self.handler = CreateTopicsHandler(creation, config)

    def create(self, version: int, *topics: Any, validate_only: bool = False) -> list[Any]:
        request = CreateTopicsRequest(
            topics=list(topics), timeout_ms=5_000, validate_only=validate_only
        )
        return list(ask(self.handler, version, request).topics)

    @property
    def asked_for(self) -> list[NewTopic]:
        ((_, topics, _),) = self.client.calls
        return list(topics)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_topic_is_created_and_its_partitions_open_before_it_is_answered(version: int) -> None:
    """2.16: the topic is usable soon after; here, at once."""
    broker = Broker()
    (told,) = broker.create(version, new_topic())
    assert (told.name, told.error_code, told.error_message) == ("t", 0, None)
    assert broker.registry.waited_for == [({"t"}, 5_000)]
    topic = broker.client.image.topic("t")
    assert topic is not None
    if version >= 5:
        assert (told.num_partitions, told.replication_factor) == (2, 1)
    if version >= 7:
        assert told.topic_id == topic.topic_id


def test_minus_one_stands_for_the_brokers_default() -> None:
    broker = Broker()
    (told,) = broker.create(7, new_topic(partitions=-1, factor=-1))
    assert broker.asked_for == [NewTopic("t", 3, {}, None, -1)]
    assert told.num_partitions == 3


@pytest.mark.parametrize(
    ("refuses", "asked", "handed_on"),
    [(True, 3, 3), (False, 3, 2), (False, 1, 1), (False, -1, -1), (False, 0, 0), (True, -1, -1)],
)
def test_more_replicas_than_brokers_are_left_to_the_controller_or_become_as_many(
    refuses: bool, asked: int, handed_on: int
) -> None:
    broker = Broker(refuses=refuses)
    (told,) = broker.create(7, new_topic(factor=asked), validate_only=True)
    assert [it.replication_factor for it in broker.asked_for] == [handed_on]
    assert told.replication_factor == (1 if asked == -1 else handed_on)


def test_dynamic_defaults_of_brokers_are_in_the_configs_of_a_new_topic() -> None:
    broker = Broker()
    broker.client.apply(ConfigRecord(4, "1", "log.retention.ms", "9"))
    (told,) = broker.create(7, new_topic())
    configs = {it.name: (it.value, it.config_source) for it in told.configs}
    assert configs["retention.ms"] == ("9", ConfigSource.DYNAMIC_BROKER)


def test_assignments_replace_the_default_number_of_partitions() -> None:
    broker = Broker()
    broker.create(7, new_topic(partitions=-1, factor=-1, assignments=[(0, [1]), (1, [1])]))
    assert broker.asked_for == [NewTopic("t", -1, {}, {0: (1,), 1: (1,)}, -1)]


def test_effective_configs_are_told_with_where_they_come_from() -> None:
    """KIP-525, v5+."""
    (told,) = Broker().create(7, new_topic(configs={"cleanup.policy": "compact"}))
    configs = {it.name: (it.value, it.config_source) for it in told.configs}
    assert configs["cleanup.policy"] == ("compact", ConfigSource.DYNAMIC_TOPIC)
    assert configs["retention.ms"] == ("1000", ConfigSource.STATIC_BROKER)
    assert configs["compression.type"] == ("producer", ConfigSource.DEFAULT)


def test_topics_with_the_same_configs_are_described_once(monkeypatch: pytest.MonkeyPatch) -> None:
    described = []

    def describe(overrides: Any, layers: Any) -> Any:
        described.append(overrides)
        return describe_topic(overrides, layers)

    monkeypatch.setattr(create_topics, "describe_topic", describe)
    overrides = {"retention.ms": "77", "segment.ms": "88"}
    topics = [new_topic(f"plain{number}") for number in range(3)]
    topics += [new_topic(f"other{number}", configs=overrides) for number in range(3)]
    told = Broker().create(7, *topics, validate_only=True)
    assert described == [{}, overrides]
    retention = [
        config.value for topic in told for config in topic.configs if config.name == "retention.ms"
    ]
    assert retention == ["1000"] * 3 + ["77"] * 3


@pytest.mark.parametrize("version", VERSIONS)
def test_each_topic_is_answered_for_itself(version: int) -> None:
    broker = Broker()
    broker.client.answers["bad"] = (ErrorCode.INVALID_CONFIG, "no such config")
    told = broker.create(version, new_topic("bad"), new_topic("good"))
    assert {it.name: (it.error_code, it.error_message) for it in told} == {
        "bad": (ErrorCode.INVALID_CONFIG, "no such config"),
        "good": (0, None),
    }
    assert broker.registry.waited_for == [({"good"}, 5_000)]


def test_a_name_that_comes_twice_is_refused_and_none_of_it_created() -> None:
    """2.16: INVALID_REQUEST for it, once; the others are created."""
    broker = Broker()
    told = broker.create(7, new_topic("twice"), new_topic("once"), new_topic("twice", 9))
    assert [(it.name, it.error_code) for it in told] == [
        ("twice", ErrorCode.INVALID_REQUEST),
        ("once", 0),
    ]
    assert [topic.name for topic in broker.asked_for] == ["once"]


@pytest.mark.parametrize("version", VERSIONS)
def test_validation_alone_creates_nothing_and_waits_for_nothing(version: int) -> None:
    broker = Broker()
    (told,) = broker.create(version, new_topic(partitions=4), validate_only=True)
    assert told.error_code == 0
    assert broker.client.image.topic("t") is None
    assert broker.registry.waited_for == []
    if version >= 5:
        assert told.num_partitions == 4
    if version >= 7:
        assert told.topic_id in (None, NO_ID)


def test_a_partition_that_is_assigned_twice_reaches_the_controller_as_no_valid_assignment() -> None:
    """2.16: duplicates are INVALID_REPLICA_ASSIGNMENT; the last one must not silently win."""
    broker = Broker()
    (told,) = broker.create(7, new_topic(partitions=-1, assignments=[(0, [1]), (0, [2])]))
    assert told.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert broker.client.image.topic("t") is None
