"""IncrementalAlterConfigs: what reaches the controller, and what does not."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from headrace.broker.api.incremental_alter_configs import IncrementalAlterConfigsHandler
from headrace.broker.telemetry.loggers import levels
from headrace.metadata.follower.client import ConfigOperation
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import IncrementalAlterConfigsRequest
from tests.unit.broker.cluster_scene import FakeClient, ask

_Resource = IncrementalAlterConfigsRequest.AlterConfigsResource
TOPIC, BROKER, LOGGER = 2, 4, 8


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


def test_settings_of_brokers_are_handed_to_the_controller_too() -> None:
    client = FakeClient()
    change = ("log.retention.ms", 0, "1")
    for name in ("2", ""):
        ((_, code, _),) = alter(client, 1, resource(name, change, resource_type=BROKER))
        assert code == 0
    assert client.calls == [
        ("alter_configs", BROKER, name, [ConfigOperation(*change)], False) for name in ("2", "")
    ]


def test_no_resource_has_a_thousand_configs() -> None:
    client = FakeClient()
    many = [(f"a{number}", 1, None) for number in range(1_001)]
    ((_, code, _),) = alter(client, 1, resource("t", *many))
    assert code == ErrorCode.INVALID_REQUEST
    assert client.calls == []


@pytest.mark.parametrize("resource_type", [0, 16, 32, 77])
def test_nothing_else_has_configs(resource_type: int) -> None:
    ((_, code, _),) = alter(FakeClient(), 1, resource("x", resource_type=resource_type))
    assert code == ErrorCode.INVALID_REQUEST


@pytest.fixture
def loggers() -> Iterator[logging.Logger]:
    """One that nobody else uses."""
    logger = logging.getLogger("headrace.altered.below")
    yield logger
    logger.setLevel(logging.NOTSET)


def test_levels_of_loggers_are_set_and_deleted(loggers: logging.Logger) -> None:
    name, client = loggers.name, FakeClient()

    def change(operation: int, level: str | None, *, validate_only: bool = False) -> int:
        asked = resource("1", (name, operation, level), resource_type=LOGGER)
        ((_, code, _),) = alter(client, 1, asked, validate_only=validate_only)
        return code

    for level in ("FATAL", "ERROR", "WARN", "INFO", "DEBUG", "OFF"):
        assert change(0, level) == 0
        assert levels()[name] == level
    assert change(0, "TRACE") == 0
    assert levels()[name] == "DEBUG"  # the finest there is
    assert change(0, "ERROR", validate_only=True) == 0
    assert levels()[name] == "DEBUG"
    assert change(1, None) == 0
    assert loggers.level == logging.NOTSET
    assert client.calls == []


@pytest.mark.parametrize(
    ("name", "changes", "error"),
    [
        ("2", [("headrace", 0, "INFO")], ErrorCode.INVALID_REQUEST),
        ("", [("headrace", 0, "INFO")], ErrorCode.INVALID_REQUEST),
        ("1", [("headrace", 0, "LOUD")], ErrorCode.INVALID_CONFIG),
        ("1", [("headrace", 0, "info")], ErrorCode.INVALID_CONFIG),
        ("1", [("headrace", 0, None)], ErrorCode.INVALID_REQUEST),
        ("1", [("headrace", 1, None)], ErrorCode.INVALID_REQUEST),
        ("1", [("headrace", 2, "INFO")], ErrorCode.INVALID_REQUEST),
        ("1", [("headrace", 9, "INFO")], ErrorCode.INVALID_REQUEST),
        ("1", [("headrace.no-such", 0, "INFO")], ErrorCode.INVALID_CONFIG),
        ("1", [("asyncio", 0, "DEBUG")], ErrorCode.INVALID_CONFIG),
        ("1", [("root", 0, "DEBUG")], ErrorCode.INVALID_CONFIG),
        (
            "1",
            [("headrace.altered.below", 0, "INFO"), ("headrace.altered.below", 0, "WARN")],
            ErrorCode.INVALID_REQUEST,
        ),
        (
            "1",
            [("headrace.altered.below", 0, "FATAL"), ("no-such", 0, "WARN")],
            ErrorCode.INVALID_CONFIG,
        ),
    ],
)
def test_levels_that_make_no_sense_are_refused_and_change_nothing(
    loggers: logging.Logger,
    name: str,
    changes: list[tuple[str, int, str | None]],
    error: ErrorCode,
) -> None:
    ((_, code, message),) = alter(FakeClient(), 1, resource(name, *changes, resource_type=LOGGER))
    assert code == error
    assert message
    assert loggers.level == logging.NOTSET
