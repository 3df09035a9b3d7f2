"""A broker is drained by an operator: the controller moves its partitions, the command waits for that."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from headrace.broker.cli.client import drain as module
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.root import cli


class Admin:
    """A controller that moves two partitions of a drained broker 1 at each look, unless it is stuck."""

    def __init__(self, led):
        self.led = led
        self.changes = []
        self.stuck = False
        self.outcome = "OK"

    def describe_cluster(self):
        return {"brokers": [{"broker_id": 1}, {"broker_id": 2}]}

    def alter_configs(self, resources, *, raise_on_unknown):
        assert not raise_on_unknown
        (resource,) = resources
        self.changes.append((resource.resource_type.name, resource.name, dict(resource.configs)))
        return {"broker": {resource.name: self.outcome}}

    def describe_topics(self):
        leaders = [1] * self.led + [2]
        if not self.stuck:
            self.led = max(0, self.led - 2)
        partitions = [{"partition_index": n, "leader_id": it} for n, it in enumerate(leaders)]
        return [{"name": "t", "partitions": partitions}]


@pytest.fixture
def drained(monkeypatch):
    def run(admin, *arguments):
        @contextmanager
        def lend(bootstrap, *, about=""):
            yield admin

        now = iter(range(10_000))
        monkeypatch.setattr(module, "admin_client", lend)
        clock = SimpleNamespace(monotonic=lambda: next(now), sleep=lambda _: None)
        monkeypatch.setattr(module, "time", clock)
        command = ["cluster", "drain", *arguments]
        return CliRunner().invoke(cli, command, catch_exceptions=False)

    return run


def test_it_returns_when_the_broker_leads_nothing(drained):
    admin = Admin(5)
    result = drained(admin, "1", "-o", "json")
    assert json.loads(result.stdout) == {"node": 1, "moved": 5, "result": "drained"}
    assert admin.changes == [("BROKER", "1", {"headrace.drain": ("SET", "true")})]
    assert admin.led == 0


def test_a_broker_that_leads_nothing_is_drained(drained):
    assert "0 have moved" in drained(Admin(0), "1").output


def test_it_is_taken_back(drained):
    admin = Admin(5)
    result = drained(admin, "1", "--undo", "-o", "json")
    assert json.loads(result.stdout) == {"node": 1, "moved": 0, "result": "taken back"}
    assert admin.changes == [("BROKER", "1", {"headrace.drain": ("DELETE", None)})]
    assert admin.led == 5


def test_a_broker_that_is_not_there_is_told(drained):
    admin = Admin(1)
    with pytest.raises(CommandFailedError, match="broker 7: there is no such broker"):
        drained(admin, "7")
    assert admin.changes == []


def test_without_another_broker_it_fails(drained):
    admin = Admin(1)
    admin.outcome = "INVALID_REQUEST: nobody could take the partitions of broker 1"
    with pytest.raises(
        CommandFailedError, match="broker 1: nobody could take the partitions of broker 1"
    ):
        drained(admin, "1")


def test_partitions_that_do_not_move_are_told(drained):
    admin = Admin(1)
    admin.stuck = True
    with pytest.raises(CommandFailedError, match="1 partitions have not moved for 150 s"):
        drained(admin, "1")
