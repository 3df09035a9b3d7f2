"""All partitions of a broker are moved to the others by an operator."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from kafka import TopicPartition

from headrace.broker.cli.client import drain as module
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.root import cli


class Admin:
    """Three brokers; what is asked to move has moved at the second look, unless it is stuck."""

    def __init__(self, leaders):
        self.leaders = dict(leaders)
        self.fenced = set()
        self.moving = {}
        self.asked = []
        self.stuck = False

    def describe_cluster(self):
        return {"brokers": [{"broker_id": it, "is_fenced": it in self.fenced} for it in (1, 2, 3)]}

    def describe_topics(self):
        partitions = [
            {"partition_index": it, "leader_id": leader} for it, leader in self.leaders.items()
        ]
        return [{"name": "t", "partitions": partitions}]

    def list_partition_reassignments(self):
        found = {TopicPartition("t", it): {} for it in self.moving}
        if not self.stuck:
            self.leaders.update(self.moving)
            self.moving = {}
        return found

    def reassign(self, targets):
        self.asked.append(dict(targets))
        self.moving.update({number: target for (_, number), target in targets.items()})
        return []


@pytest.fixture
def drained(monkeypatch):
    def run(admin, *arguments):
        @contextmanager
        def lend(bootstrap, *, about=""):
            yield admin

        now = iter(range(10_000))
        monkeypatch.setattr(module, "admin_client", lend)
        monkeypatch.setattr(module, "reassign", lambda admin, targets: admin.reassign(targets))
        clock = SimpleNamespace(monotonic=lambda: next(now), sleep=lambda _: None)
        monkeypatch.setattr(module, "time", clock)
        command = ["cluster", "drain", *arguments]
        return CliRunner().invoke(cli, command, catch_exceptions=False)

    return run


def test_partitions_go_to_those_that_lead_fewest(drained):
    admin = Admin({0: 1, 1: 1, 2: 1, 3: 2, 4: 2})
    result = drained(admin, "1", "-o", "json")
    assert json.loads(result.stdout) == {"node": 1, "moved": 3, "result": "drained"}
    assert sorted(admin.leaders.values()) == [2, 2, 2, 3, 3]


def test_only_some_are_asked_for_at_a_time(drained):
    admin = Admin(dict.fromkeys(range(150), 1))
    drained(admin, "1")
    assert [len(it) for it in admin.asked] == [64, 64, 22]
    assert set(admin.leaders.values()) == {2, 3}


def test_a_broker_that_leads_nothing_is_drained(drained):
    admin = Admin({0: 2})
    assert "0 have moved" in drained(admin, "1").output
    assert admin.asked == []


def test_nothing_goes_to_brokers_that_are_fenced(drained):
    admin = Admin({0: 1, 1: 1})
    admin.fenced = {3}
    drained(admin, "1")
    assert set(admin.leaders.values()) == {2}


def test_without_another_broker_it_fails(drained):
    admin = Admin({0: 1})
    admin.fenced = {2, 3}
    with pytest.raises(CommandFailedError, match="no other broker is active"):
        drained(admin, "1")


def test_partitions_that_do_not_move_are_told(drained):
    admin = Admin({0: 1})
    admin.stuck = True
    with pytest.raises(CommandFailedError, match="1 partitions have not moved for 30 s"):
        drained(admin, "1")
