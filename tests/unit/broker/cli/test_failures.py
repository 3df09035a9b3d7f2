"""Failures, told with the next step."""

import socket

import pytest
from kafka import errors

from headrace.broker.cli.failures import (
    CommandFailedError,
    explained,
    raise_all,
    refusal,
    require_reachable,
)


def explanation_of(error, **about):
    with pytest.raises(CommandFailedError) as caught, explained("h:1", **about):
        raise error
    return str(caught.value).split("\n")


def test_an_unknown_topic_says_how_to_find_and_create_one():
    assert explanation_of(errors.UnknownTopicOrPartitionError(), about="topic x") == [
        "topic x: there is no such topic or partition",
        "See `headrace topic list`, or create it with `headrace topic create`.",
    ]


@pytest.mark.parametrize(
    "kind", [errors.KafkaConnectionError, errors.NodeNotReadyError, errors.MetadataEmptyBrokerList]
)
def test_a_lost_connection_says_how_to_get_a_broker(kind):
    assert explanation_of(kind("socket closed")) == [
        "no broker answers at h:1",
        "Start one with `headrace dev`, or name another with -b HOST:PORT.",
    ]


def test_a_timeout_is_not_taken_for_a_refusal():
    assert explanation_of(errors.KafkaTimeoutError("after 5 s"))[0] == (
        "the cluster at h:1 did not answer in time (after 5 s)"
    )


def test_what_the_broker_says_itself_is_passed_on():
    assert explanation_of(errors.InvalidConfigurationError("bad value."))[0] == (
        "a setting is not valid (bad value)"
    )
    assert explanation_of(errors.PolicyViolationError("too many"), about="topic x") == [
        "topic x: too many"
    ]


def test_whole_messages_that_the_client_repeats_are_left_out():
    assert explanation_of(errors.PolicyViolationError("DeleteTopicsResponse(...)")) == [
        "PolicyViolationError"
    ]
    assert explanation_of(errors.PolicyViolationError("y" * 1000)) == ["PolicyViolationError"]


def test_a_bug_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError), explained("h:1"):
        raise ZeroDivisionError


def test_every_explanation_is_for_an_error_of_the_client():
    from headrace.broker.cli.failures import _EXPLANATIONS, _UNREACHABLE

    for name in [*_EXPLANATIONS, *_UNREACHABLE]:
        assert issubclass(getattr(errors, name), errors.KafkaError), name


def test_a_refusal_without_explanation_has_its_name():
    assert str(refusal("SomethingNewError", None, about="group g")) == "group g: SomethingNewError"


def test_several_failures_become_one():
    raise_all([])
    with pytest.raises(CommandFailedError) as caught:
        raise_all([refusal("GroupIdNotFoundError", None, about="g"), CommandFailedError("b")])
    assert str(caught.value) == (
        "g: there is no such group\n       See `headrace group list`.\n       b"
    )


def test_one_of_several_servers_is_enough():
    with socket.create_server(("127.0.0.1", 0)) as server:
        require_reachable(f"127.0.0.1:1, 127.0.0.1:{server.getsockname()[1]}")


@pytest.mark.parametrize("address", [":9092", "host:http", "host:99999"])
def test_a_malformed_address_is_wrong_usage(address):
    with pytest.raises(CommandFailedError, match="HOST:PORT") as caught:
        require_reachable(address)
    assert caught.value.exit_code == 2
