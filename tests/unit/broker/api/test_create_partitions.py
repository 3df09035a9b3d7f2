"""CreatePartitions: each topic for itself, open before it is answered."""

from typing import Any

import pytest

from headrace.broker.api.create_partitions import OPENING_TIMEOUT_MS, CreatePartitionsHandler
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import CreatePartitionsRequest
from tests.unit.broker.cluster_scene import FakeClient, FakeRegistry, ask

_Topic = CreatePartitionsRequest.CreatePartitionsTopic


class Broker:
    def __init__(self) -> None:
        self.client = FakeClient()
        self.registry = FakeRegistry(self.client)
        self.handler = CreatePartitionsHandler(
            self.client,  # type: ignore[arg-type]
            self.registry,  # type: ignore[arg-type]
        )

    def create(
        self, version: int, *topics: Any, validate_only: bool = False, timeout_ms: int = 5_000
    ) -> list[tuple[str, int, str | None]]:
        request = CreatePartitionsRequest(
            topics=list(topics), timeout_ms=timeout_ms, validate_only=validate_only
        )
        told = ask(self.handler, version, request).results
        return [(it.name, it.error_code, it.error_message) for it in told]


def topic(name: str, count: int, assignments: Any = None) -> Any:
    return _Topic(name=name, count=count, assignments=assignments)


@pytest.mark.parametrize("version", range(4))
def test_partitions_are_added_and_open_before_the_answer(version: int) -> None:
    broker = Broker()
    broker.client.answers["full"] = (ErrorCode.INVALID_PARTITIONS, "it has as many")
    assert broker.create(version, topic("t", 4), topic("full", 1)) == [
        ("t", 0, None),
        ("full", ErrorCode.INVALID_PARTITIONS, "it has as many"),
    ]
    assert broker.client.calls == [
        ("create_partitions", "t", 4, None, False),
        ("create_partitions", "full", 1, None, False),
    ]
    assert broker.registry.waited_for == [({"t"}, 5_000)]


def test_assignments_are_handed_on() -> None:
    broker = Broker()
    assignments = [_Topic.CreatePartitionsAssignment(broker_ids=[1])]
    broker.create(3, topic("t", 2, assignments))
    assert broker.client.calls == [("create_partitions", "t", 2, [(1,)], False)]


def test_validation_alone_waits_for_nothing() -> None:
    broker = Broker()
    assert broker.create(3, topic("t", 2), validate_only=True) == [("t", 0, None)]
    assert broker.client.calls == [("create_partitions", "t", 2, None, True)]
    assert broker.registry.waited_for == []


def test_a_topic_that_comes_twice_is_refused_and_the_others_are_not() -> None:
    broker = Broker()
    told = broker.create(3, topic("t", 2), topic("u", 2), topic("t", 3))
    assert [(name, code) for name, code, _ in told] == [
        ("t", ErrorCode.INVALID_REQUEST),
        ("u", 0),
    ]
    assert [call[1] for call in broker.client.calls] == ["u"]


def test_the_wait_is_bounded_whatever_the_client_says() -> None:
    broker = Broker()
    broker.create(3, topic("t", 2), timeout_ms=2_000_000_000)
    assert broker.registry.waited_for == [({"t"}, OPENING_TIMEOUT_MS)]
