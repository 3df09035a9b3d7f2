"""Creation of topics, also on first use: what may be created, and that it happens once."""

import asyncio

import pytest

from headrace.broker.cluster.topic_creation import (
    OPENING_TIMEOUT_MS,
    TopicCreation,
)
from headrace.broker.coordinator.group.coordinator import OFFSETS_TOPIC_CONFIGS, offsets_topic
from headrace.broker.partition.internal_topics import INTERNAL_TOPICS, OFFSETS_TOPIC
from headrace.config.node import GroupConfig, LogConfig
from headrace.metadata.follower.client import NewTopic
from headrace.protocol.errors import ErrorCode
from tests.unit.broker.cluster_scene import FakeClient, FakeRegistry, run


class Broker:
    def __init__(self, *, auto_create: bool = True) -> None:
        self.client = FakeClient()
        self.registry = FakeRegistry(self.client)
        self.creation = TopicCreation(
            self.client,  # type: ignore[arg-type]
            self.registry,  # type: ignore[arg-type]
            log=LogConfig(auto_create_topics=auto_create, partitions_default=3),
            internal=[offsets_topic(GroupConfig(offsets_topic_partitions=7))],
        )

    @property
    def created(self) -> list[NewTopic]:
        return [topic for _, topics, _ in self.client.calls for topic in topics]


def test_the_wait_for_open_partitions_is_bounded_whatever_the_client_says() -> None:
    broker = Broker()
    topics = [NewTopic("t", 1, {})]
    run(broker.creation.create(topics, validate_only=False, timeout_ms=2_000_000_000))
    assert broker.registry.waited_for == [({"t"}, OPENING_TIMEOUT_MS)]


def test_the_same_topic_is_created_once_however_many_ask_for_it_at_once() -> None:
    async def ask_together() -> None:
        await asyncio.gather(*(broker.creation.create_automatically(["t"]) for _ in range(5)))

    broker = Broker()
    run(ask_together())
    assert broker.created == [NewTopic("t", 3, {})]


def test_the_offsets_topic_is_created_as_groups_need_it_even_without_automatic_creation() -> None:
    broker = Broker(auto_create=False)
    run(broker.creation.create_automatically([OFFSETS_TOPIC, "t"]))
    assert broker.created == [NewTopic(OFFSETS_TOPIC, 7, OFFSETS_TOPIC_CONFIGS)]
    assert OFFSETS_TOPIC_CONFIGS["cleanup.policy"] == "compact"


@pytest.mark.parametrize("name", sorted(INTERNAL_TOPICS - {OFFSETS_TOPIC}))
def test_other_internal_topics_are_not_created_on_first_use(name: str) -> None:
    broker = Broker()
    run(broker.creation.create_automatically([name]))
    assert broker.created == []


def test_what_is_there_is_not_asked_for() -> None:
    broker = Broker()
    run(broker.creation.create_automatically(["t"]))
    run(broker.creation.create_automatically(["t"]))
    assert len(broker.created) == 1


def test_a_missing_topic_has_a_reason() -> None:
    creation = Broker().creation
    assert creation.why_missing("t") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert creation.why_missing("no good") == ErrorCode.INVALID_TOPIC_EXCEPTION
