"""From a configuration to a running node: what is refused before anything starts."""

import socket

import pytest

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.node.serving import configuration_failure, serve
from headrace.config.load import load
from headrace.config.problems import ConfigError, Problem


def refused(*overrides):
    loaded = load(overrides=overrides, environment={})
    with pytest.raises(CommandFailedError) as caught:
        serve(loaded, lambda _: None)
    return caught.value


@pytest.mark.parametrize(
    ("key", "form"), [("listeners", "PLAINTEXT://{}"), ("headrace.admin.listener", "{}")]
)
def test_a_taken_address_is_told_with_its_key(key, form):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        other = {"listeners": "PLAINTEXT://127.0.0.1:0", "headrace.admin.listener": "none"}
        settings = other | {key: form.format(address)}
        failure = refused(*(f"{name}={value}" for name, value in settings.items()))
    assert str(failure).startswith(f"{address} is taken ({key})")


def test_problems_of_a_configuration_are_counted_and_listed():
    failure = configuration_failure(ConfigError([Problem("first"), Problem("second")]))
    assert str(failure).startswith("the configuration has 2 problems:\nfirst\nsecond\n")
    assert failure.exit_code == 2
