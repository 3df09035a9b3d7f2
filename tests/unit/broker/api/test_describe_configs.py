"""DescribeConfigs: values, where they come from, synonyms, and which resources there are."""

import logging
from collections.abc import Sequence
from typing import Any

import pytest

from headrace.broker.api import describe_configs
from headrace.broker.api.describe_configs import DescribeConfigsHandler
from headrace.config.definition import ConfigSource, ConfigType
from headrace.config.dynamic_keys import DRAIN_KEY, DYNAMIC_KEYS
from headrace.config.node import NodeConfig
from headrace.config.server_keys import SERVER_KEYS
from headrace.config.topic_keys import TOPIC_CONFIGS
from headrace.metadata.records.topics import ConfigRecord
from headrace.protocol.errors import MAX_MESSAGE_CHARACTERS, ErrorCode
from headrace.protocol.messages import DescribeConfigsRequest
from tests.unit.broker.cluster_scene import FakeClient, ask, topic_records

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
VERSIONS = range(1, 5)


def client() -> FakeClient:
    return FakeClient(
        *topic_records("t", 1),
        ConfigRecord(TOPIC, "t", "retention.ms", "5"),
        ConfigRecord(BROKER, "", "log.retention.ms", "7"),
        ConfigRecord(BROKER, "1", "log.retention.ms", "6"),
    )


def describe(
    version: int,
    resource_type: int,
    name: str,
    keys: Sequence[str] | None = None,
    **options: bool,
) -> Any:
    config = NodeConfig(
        node_id=1,
        static={"log.retention.hours": "2", "advertised.listeners": "PLAINTEXT://a:1"},
    )
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=resource_type, resource_name=name, configuration_keys=keys
    )
    request = DescribeConfigsRequest(resources=[resource], **options)
    handler = DescribeConfigsHandler(client(), config)  # type: ignore[arg-type]
    (told,) = ask(handler, version, request).results
    assert (told.resource_type, told.resource_name) == (resource_type, name)
    return told


@pytest.mark.parametrize("version", VERSIONS)
def test_a_topic_has_every_documented_config(version: int) -> None:
    """2.16, trap: Spark, Streams and Java read all documented names."""
    told = describe(version, TOPIC, "t")
    assert told.error_code == 0
    assert {it.name for it in told.configs} == set(TOPIC_CONFIGS)
    values = {it.name: (it.value, it.config_source) for it in told.configs}
    assert values["retention.ms"] == ("5", ConfigSource.DYNAMIC_TOPIC)
    assert values["compression.type"] == ("producer", ConfigSource.DEFAULT)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_chain_of_synonyms_is_told_from_the_most_specific_on(version: int) -> None:
    """2.16: the whole chain, with the broker's names for it."""
    told = describe(version, TOPIC, "t", ["retention.ms"], include_synonyms=True)
    (entry,) = told.configs
    assert [(it.name, it.value, it.source) for it in entry.synonyms] == [
        ("retention.ms", "5", ConfigSource.DYNAMIC_TOPIC),
        ("log.retention.ms", "6", ConfigSource.DYNAMIC_BROKER),
        ("log.retention.ms", "7", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        ("log.retention.hours", "2", ConfigSource.STATIC_BROKER),
        ("log.retention.hours", "168", ConfigSource.DEFAULT),
    ]


def test_synonyms_and_documentation_are_told_on_request_only() -> None:
    (plain,) = describe(3, TOPIC, "t", ["retention.ms"]).configs
    assert (list(plain.synonyms), plain.documentation) == ([], None)
    (explained,) = describe(3, TOPIC, "t", ["retention.ms"], include_documentation=True).configs
    assert explained.documentation
    assert explained.config_type == ConfigType.LONG


def test_only_the_keys_asked_for_are_described_and_unknown_ones_passed_over() -> None:
    told = describe(4, TOPIC, "t", ["cleanup.policy", "no.such.key", "retention.ms"])
    assert sorted(it.name for it in told.configs) == ["cleanup.policy", "retention.ms"]


@pytest.mark.parametrize("version", VERSIONS)
def test_this_broker_is_described_by_its_id(version: int) -> None:
    """2.16, trap: kafka-python reads `advertised.listeners`."""
    told = describe(version, BROKER, "1")
    assert {it.name for it in told.configs} == {*SERVER_KEYS, DRAIN_KEY}
    (entry,) = [it for it in told.configs if it.name == "advertised.listeners"]
    assert (entry.value, entry.config_source) == ("PLAINTEXT://a:1", ConfigSource.STATIC_BROKER)
    assert entry.read_only


def test_nobodys_name_stands_for_what_is_set_for_all_brokers() -> None:
    told = describe(4, BROKER, "")
    assert [(it.name, it.value) for it in told.configs] == [("log.retention.ms", "7")]


@pytest.mark.parametrize(
    ("resource_type", "name", "error"),
    [
        (TOPIC, "no", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "no good", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (TOPIC, "", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (BROKER, "2", ErrorCode.INVALID_REQUEST),
        (BROKER, "one", ErrorCode.INVALID_REQUEST),
        (LOGGER, "2", ErrorCode.INVALID_REQUEST),
        (LOGGER, "", ErrorCode.INVALID_REQUEST),
        (CLIENT_METRICS, "", ErrorCode.INVALID_REQUEST),
        (GROUP, "", ErrorCode.INVALID_REQUEST),
        (0, "", ErrorCode.INVALID_REQUEST),
    ],
)
def test_other_resources_say_why_they_are_not_described(
    resource_type: int, name: str, error: ErrorCode
) -> None:
    told = describe(4, resource_type, name)
    assert (told.error_code, list(told.configs)) == (error, [])
    assert told.error_message


@pytest.mark.parametrize("resource_type", [GROUP, CLIENT_METRICS])
def test_groups_and_client_metrics_have_no_configs(resource_type: int) -> None:
    told = describe(4, resource_type, "any")
    assert (told.error_code, list(told.configs)) == (0, [])


def test_loggers_have_the_levels_in_force() -> None:
    logging.getLogger("headrace.of-this-test").setLevel(logging.ERROR)
    logging.getLogger("headrace.of-this-test.below")
    found = {it.name: it for it in describe(4, LOGGER, "1").configs}
    for name in ("headrace.of-this-test", "headrace.of-this-test.below"):
        assert (found[name].value, found[name].config_source) == ("ERROR", 6)
        assert not found[name].read_only
    assert all(name.split(".")[0] == "headrace" for name in found)


def test_what_is_changed_while_brokers_run_is_not_read_only() -> None:
    found = {it.name: it for it in describe(4, BROKER, "1").configs}
    assert {name for name, it in found.items() if not it.read_only} == {*DYNAMIC_KEYS, DRAIN_KEY}
    entry = found["log.retention.ms"]
    assert (entry.value, entry.config_source) == ("6", ConfigSource.DYNAMIC_BROKER)


def test_one_bad_resource_does_not_spoil_the_others() -> None:
    resource = DescribeConfigsRequest.DescribeConfigsResource
    request = DescribeConfigsRequest(
        resources=[
            resource(resource_type=TOPIC, resource_name=name, configuration_keys=None)
            for name in ("no", "t")
        ]
    )
    handler = DescribeConfigsHandler(client(), NodeConfig())  # type: ignore[arg-type]
    told = ask(handler, 4, request).results
    assert [it.error_code for it in told] == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0]


def test_a_resource_that_is_named_often_is_described_once_with_the_keys_of_all() -> None:
    resource = DescribeConfigsRequest.DescribeConfigsResource
    keys: list[list[str] | None] = [["retention.ms"], ["cleanup.policy"], ["retention.ms"]]
    request = DescribeConfigsRequest(
        resources=[
            resource(resource_type=TOPIC, resource_name="t", configuration_keys=wanted)
            for wanted in keys * 100
        ]
    )
    handler = DescribeConfigsHandler(client(), NodeConfig())  # type: ignore[arg-type]
    (told,) = ask(handler, 4, request).results
    assert {it.name for it in told.configs} == {"retention.ms", "cleanup.policy"}
    request.resources[7].configuration_keys = None
    (told,) = ask(handler, 4, request).results
    assert len(told.configs) > 10


def test_resources_that_the_answer_has_no_room_for_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(describe_configs, "MAX_ANSWER_BYTES", 10)
    told = describe(4, TOPIC, "t")
    assert (told.error_code, list(told.configs)) == (ErrorCode.INVALID_REQUEST, [])


def test_a_name_of_any_length_is_refused_in_every_version() -> None:
    """In old versions a message of more than 32,767 bytes cannot be encoded."""
    for version in range(1, 5):
        told = describe(version, TOPIC, "x" * 32_000)
        assert told.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
        assert len(told.error_message) == MAX_MESSAGE_CHARACTERS
