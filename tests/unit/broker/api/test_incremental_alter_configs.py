"""IncrementalAlterConfigs: what reaches the controller, and what does not."""

from typing import Any

import pytest

from headrace.broker.api.incremental_alter_configs import IncrementalAlterConfigsHandler
from headrace.metadata.follower.client import ConfigOperation
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import IncrementalAlterConfigsRequest
from tests.unit.broker.cluster_scene import FakeClient, ask

_Resource = IncrementalAlterConfigsRequest.AlterConfigsResource
TOPIC, BROKER = 2, 4


def resource(name: str, *changes: tuple[str, int, str | None], resource_type: int = TOPIC) -> Any:
    return _Resource(
        resource_type=resource_type,
        resource_name=name,
        configs=[
            _Resource.AlterableConfig(name=key, config_operation=operation, value=value)
            for key, operation, value in changes
        ],
    )


def alter(
    client: FakeClient, version: int, *resources: Any, validate_only: bool = False
) -> list[tuple[str, int, str | None]]:
    handler = IncrementalAlterConfigsHandler(client)  # type: ignore[arg-type]
    request = IncrementalAlterConfigsRequest(resources=list(resources), validate_only=validate_only)
    told = ask(handler, version, request).responses
    return [(it.resource_name, it.error_code, it.error_message) for it in told]


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("validate_only", [False, True])
def test_operations_are_handed_to_the_controller_resource_by_resource(
    version: int, validate_only: bool
) -> None:
    client = FakeClient()
    client.answers["bad"] = (ErrorCode.INVALID_CONFIG, "no such config")
    told = alter(
        client,
        version,
        resource("t", ("a", 0, "1"), ("b", 1, None)),
        resource("bad", ("c", 2, "x")),
        validate_only=validate_only,
    )
    assert told == [("t", 0, None), ("bad", ErrorCode.INVALID_CONFIG, "no such config")]
    first = [ConfigOperation("a", 0, "1"), ConfigOperation("b", 1, None)]
    assert client.calls == [
        ("alter_configs", TOPIC, "t", first, validate_only),
        ("alter_configs", TOPIC, "bad", [ConfigOperation("c", 2, "x")], validate_only),
    ]


def test_a_resource_that_comes_twice_is_refused() -> None:
    """2.16: a duplicate resource is INVALID_REQUEST."""
    client = FakeClient()
    told = alter(client, 1, resource("t"), resource("u"), resource("t", ("a", 0, "1")))
    assert [(name, code) for name, code, _ in told] == [
        ("t", ErrorCode.INVALID_REQUEST),
        ("u", 0),
        ("t", ErrorCode.INVALID_REQUEST),
    ]
    assert [call[2] for call in client.calls] == ["u"]


def test_what_brokers_do_not_have_is_taken_back() -> None:
    """Kafka's reassignment tool does so with its throttles; a value that is set with it is refused."""
    client = FakeClient()
    throttle = ("leader.replication.throttled.rate", 1, None)
    ((_, code, message),) = alter(client, 1, resource("1", throttle, resource_type=BROKER))
    assert (code, message) == (0, None)
    both = (throttle, ("a", 0, "1"))
    ((_, code, _),) = alter(client, 1, resource("1", *both, resource_type=BROKER))
    assert code == ErrorCode.INVALID_REQUEST
    assert client.calls == []


def test_one_broker_is_drained_by_its_setting() -> None:
    client = FakeClient()
    drain = ("headrace.drain", 0, "true")
    undo = ("headrace.drain", 1, None)
    for change in (drain, undo):
        ((_, code, _),) = alter(client, 1, resource("2", change, resource_type=BROKER))
        assert code == 0
    for name, changes in (("", (drain,)), ("2", (drain, ("a", 0, "1")))):
        ((_, code, _),) = alter(client, 1, resource(name, *changes, resource_type=BROKER))
        assert code == ErrorCode.INVALID_REQUEST
    assert client.calls == [
        ("alter_configs", BROKER, "2", [ConfigOperation(*drain)], False),
        ("alter_configs", BROKER, "2", [ConfigOperation(*undo)], False),
    ]


def test_brokers_are_configured_by_their_file_alone() -> None:
    client = FakeClient()
    ((_, code, message),) = alter(client, 1, resource("1", ("a", 0, "1"), resource_type=BROKER))
    assert code == ErrorCode.INVALID_REQUEST
    assert message is not None
    assert "server.properties" in message
    assert client.calls == []
