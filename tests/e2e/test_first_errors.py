"""A request that is wrong in two ways gets the error that Kafka gives first."""

from typing import Any

import pytest

from tests.e2e.wire import WireConnection
from tests.e2e.wrong_twice import (
    CASES,
    EMPTY,
    GENERATION,
    GOOD,
    LIVE,
    MEMBER,
    TOPIC,
    TOPIC_ID,
)
from tests.environment.kafka_python import kafka_python_class

Scene = dict[Any, Any]  # what stands in the cases -> what it is here

WAITS_FOR_COORDINATOR = {14, 15, 16}


def build(kind: Any, fields: dict[str, Any]) -> Any:
    """Make a message from plain values."""
    known = {it.name: it for it in kind._struct._fields}
    values = {}
    for name, value in fields.items():
        nested = getattr(kind, str(known[name].type_str), None)
        if isinstance(value, dict):
            value = build(nested, value)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            value = [build(nested, it) for it in value]
        values[name] = value
    return kind(**values)


def filled(value: Any, scene: Scene) -> Any:
    """Put in what only the running broker knows."""
    if isinstance(value, dict):
        return {key: filled(it, scene) for key, it in value.items()}
    if isinstance(value, list):
        return [filled(it, scene) for it in value]
    return value if isinstance(value, bytes) else scene.get(value, value)


def codes(answer: Any) -> list[int]:
    """Every error code of an answer, wherever it is."""
    if isinstance(answer, dict):
        own = [value for key, value in answer.items() if key.endswith("error_code")]
        return own + [it for key, value in answer.items() for it in codes(value)]
    if isinstance(answer, list | tuple):
        return [code for it in answer for code in codes(it)]
    return []


def ask(connection: WireConnection, api: str, version: int, fields: dict[str, Any]) -> Any:
    """Send a request, again while a coordinator is on its way."""
    while True:
        request = build(kafka_python_class(f"{api}Request"), fields)
        answer = connection.ask(request, kafka_python_class(f"{api}Response"), version)
        if WAITS_FOR_COORDINATOR.isdisjoint(codes(answer.to_dict())):
            return answer


@pytest.fixture(scope="module")
def scene(create_topic: Any, bootstrap: str) -> Scene:
    """A topic, a group with a member and one without."""
    topic = create_topic("wrong twice", partitions=2)
    with WireConnection(bootstrap) as connection:
        for partition in range(2):
            assert connection.produce(topic, GOOD, partition=partition).error_code == 0
        named = {"topics": [{"name": topic, "topic_id": None}]}
        topic_id = ask(connection, "Metadata", 12, named).topics[0].topic_id
        live, empty = f"{topic}-live", f"{topic}-empty"
        for group in (live, empty):
            connection.find_coordinator(group)
        name = topic.encode()
        subscribed = b"\0\0\0\0\0\1" + len(name).to_bytes(2, "big") + name + b"\xff" * 4
        join = {
            "group_id": live,
            "session_timeout_ms": 300_000,
            "rebalance_timeout_ms": 10_000,
            "member_id": "",
            "protocol_type": "consumer",
            "protocols": [{"name": "range", "metadata": subscribed}],
        }
        join["member_id"] = ask(connection, "JoinGroup", 5, join).member_id
        joined = ask(connection, "JoinGroup", 5, join)
        member = {"generation_id": joined.generation_id, "member_id": joined.member_id}
        synced = ask(connection, "SyncGroup", 3, {"group_id": live, "assignments": []} | member)
        assert synced.error_code == 0
        partition = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
        commit = {
            "group_id": empty,
            "generation_id_or_member_epoch": -1,
            "member_id": "",
            "topics": [{"name": topic, "partitions": [partition]}],
        }
        assert codes(ask(connection, "OffsetCommit", 8, commit).to_dict()) == [0]
    return {
        TOPIC: topic,
        TOPIC_ID: topic_id,
        LIVE: live,
        MEMBER: joined.member_id,
        GENERATION: joined.generation_id,
        EMPTY: empty,
    }


@pytest.mark.parametrize("api", CASES)
def test_the_first_error_is_kafka_s(api: str, scene: Scene, bootstrap: str) -> None:
    source, cases = CASES[api]
    wrong = []
    with WireConnection(bootstrap) as connection:
        for case in cases:
            answer = ask(connection, api, case.version, filled(case.fields, scene))
            found = sorted(codes(answer.to_dict()))
            if found != case.codes:
                wrong.append((found, case))
    assert not wrong, source
