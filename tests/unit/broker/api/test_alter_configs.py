"""AlterConfigs: the whole set of configs of a resource is replaced, by one change of the metadata."""

import asyncio
from typing import Any, NoReturn

import pytest

from headrace.broker.api.alter_configs import AlterConfigsHandler
from headrace.broker.api.altered_configs import MAX_CONFIGS
from headrace.broker.api.incremental_alter_configs import IncrementalAlterConfigsHandler
from headrace.config.dynamic_keys import DYNAMIC_KEYS
from headrace.config.topic_keys import TOPIC_CONFIGS
from headrace.metadata.records.topics import ConfigRecord
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import AlterConfigsRequest, IncrementalAlterConfigsRequest
from tests.unit.broker.cluster_scene import FakeClient, ask, context_of, topic_records

_Resource = AlterConfigsRequest.AlterConfigsResource
TOPIC, BROKER, LOGGER = 2, 4, 8


def resource(name: str, *changes: tuple[str, str | None], resource_type: int = TOPIC) -> Any:
    configs = [_Resource.AlterableConfig(*it) for it in changes]
    return _Resource(resource_type, name, configs)


def alter(
    client: FakeClient, *resources: Any, version: int = 2, validate_only: bool = False
) -> list[tuple[str, int]]:
    handler = AlterConfigsHandler(client)  # type: ignore[arg-type]
    request = AlterConfigsRequest(resources=list(resources), validate_only=validate_only)
    told = ask(handler, version, request).responses
    return [(it.resource_name, it.error_code) for it in told]


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("validate_only", [False, True])
def test_what_is_not_named_goes_back_to_its_default(version: int, validate_only: bool) -> None:
    client = FakeClient(*topic_records("t", 1), ConfigRecord(TOPIC, "t", "of.a.later.release", "1"))
    client.answers["bad"] = (ErrorCode.INVALID_CONFIG, "no such config")
    told = alter(
        client,
        resource("t", ("retention.ms", "5")),
        resource("bad"),
        version=version,
        validate_only=validate_only,
    )
    assert told == [("t", 0), ("bad", ErrorCode.INVALID_CONFIG)]
    (_, kind, name, operations, validated), _ = client.calls
    assert (kind, name, validated) == (TOPIC, "t", validate_only)
    assert operations[0] == ("retention.ms", 0, "5")
    assert {it.key for it in operations[1:]} == {*TOPIC_CONFIGS, "of.a.later.release"} - {
        "retention.ms"
    }
    assert {(it.op, it.value) for it in operations[1:]} == {(1, None)}


def test_of_brokers_it_replaces_all_that_may_be_set() -> None:
    client = FakeClient()
    assert alter(client, resource("", resource_type=BROKER)) == [("", 0)]
    ((_, _, _, operations, _),) = client.calls
    assert {it.key for it in operations} == {*DYNAMIC_KEYS}


def test_what_makes_no_sense_is_refused() -> None:
    client = FakeClient()
    told = alter(
        client,
        resource("twice"),
        resource("twice"),
        resource("null", ("retention.ms", None)),
        resource("1", ("headrace", "INFO"), resource_type=LOGGER),
        resource("g", resource_type=32),
    )
    assert {code for _, code in told} == {ErrorCode.INVALID_REQUEST}
    assert client.calls == []


class _Unread(list[Any]):
    """Too many to go through in one turn of the loop."""

    def __iter__(self) -> NoReturn:
        raise AssertionError("they are counted only")


def test_of_too_many_configs_none_is_looked_at() -> None:
    client = FakeClient()
    handlers = (
        (AlterConfigsHandler(client), AlterConfigsRequest),  # type: ignore[arg-type]
        (IncrementalAlterConfigsHandler(client), IncrementalAlterConfigsRequest),  # type: ignore[arg-type]
    )
    for handler, request in handlers:
        made = request.AlterConfigsResource(TOPIC, "t", _Unread([None] * (MAX_CONFIGS + 1)))
        context = context_of(handler.api_key, 1)
        answer = asyncio.run(handler.handle(context, request(resources=[made])))
        assert [it.error_code for it in answer.responses] == [ErrorCode.INVALID_REQUEST]
    assert client.calls == []
