"""DeleteTopics: by name, by id, and what may not be deleted."""

from typing import Any

import pytest

from headrace.broker.api.delete_topics import DeleteTopicsHandler
from headrace.broker.partition.internal_topics import OFFSETS_TOPIC
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import DeleteTopicsRequest
from tests.unit.broker.cluster_scene import FakeClient, ask, topic_id, topic_records


def client() -> FakeClient:
    return FakeClient(
        *topic_records("a", 1), *topic_records("b", 2), *topic_records(OFFSETS_TOPIC, 3)
    )


def delete(to: FakeClient, version: int, *topics: Any) -> list[Any]:
    handler = DeleteTopicsHandler(to)  # type: ignore[arg-type]
    request = (
        DeleteTopicsRequest(topic_names=list(topics), timeout_ms=1_000)
        if version < 6
        else DeleteTopicsRequest(topics=list(topics), timeout_ms=1_000)
    )
    return list(ask(handler, version, request).responses)


def state(name: str | None = None, number: int | None = None) -> Any:
    found = None if number is None else topic_id(number)
    return DeleteTopicsRequest.DeleteTopicState(name=name, topic_id=found)


@pytest.mark.parametrize("version", range(1, 6))
def test_topics_are_deleted_by_name(version: int) -> None:
    to = client()
    to.answers["b"] = (ErrorCode.REQUEST_TIMED_OUT, "no controller")
    told = delete(to, version, "b", "no", "a")
    assert {it.name: it.error_code for it in told} == {
        "a": 0,
        "b": ErrorCode.REQUEST_TIMED_OUT,
        "no": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert to.calls == [("delete_topics", ["b", "no", "a"])]
    if version >= 5:
        messages = {it.name: it.error_message for it in told}
        assert messages["b"] == "no controller"


def test_topics_are_deleted_by_id_and_answered_with_their_names() -> None:
    to = client()
    told = delete(to, 6, state("b"), state(number=1), state(number=9), state("no"))
    assert sorted((it.name or "", it.topic_id, it.error_code) for it in told) == [
        ("", topic_id(9), ErrorCode.UNKNOWN_TOPIC_ID),
        ("a", topic_id(1), 0),
        ("b", topic_id(2), 0),
        ("no", None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert to.calls == [("delete_topics", ["b", topic_id(1), topic_id(9), "no"])]


@pytest.mark.parametrize("asked", [state("a", 1), state(None, None)])
def test_a_topic_is_named_in_exactly_one_way(asked: Any) -> None:
    to = client()
    (told,) = delete(to, 6, asked)
    assert told.error_code == ErrorCode.INVALID_REQUEST
    assert to.calls == []


def test_a_topic_that_is_named_twice_stays() -> None:
    to = client()
    twice, once = delete(to, 6, state("a"), state("b"), state("a"))
    assert (twice.name, twice.error_code) == ("a", ErrorCode.INVALID_REQUEST)
    assert (once.name, once.error_code) == ("b", 0)
    assert to.calls == [("delete_topics", ["b"])]


def test_internal_topics_stay() -> None:
    to = client()
    by_name, by_id = delete(to, 6, state(OFFSETS_TOPIC), state(number=3))
    assert by_name.error_code == by_id.error_code == ErrorCode.INVALID_REQUEST
    assert to.calls == []
