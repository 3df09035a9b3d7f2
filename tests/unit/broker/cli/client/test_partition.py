"""Partitions are moved by an operator, and moves are listed and taken back."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from kafka import TopicPartition
from kafka.protocol.admin import AlterPartitionReassignmentsResponse

from headrace.broker.cli.client import partition as module
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.root import cli

TOPIC = AlterPartitionReassignmentsResponse.ReassignableTopicResponse
PARTITION = TOPIC.ReassignablePartitionResponse


class Admin:
    """Partition 1 of topic t, which broker 1 leads; it moves when it has been looked at three times."""

    def __init__(self):
        self.code = self.top_code = 0
        self.sent = []
        self.leader, self.target = 1, None
        self.looks = 3
        self.goes = True
        self._manager = self

    async def send(self, request):
        self.sent.append(request)
        (asked,) = request.topics[0].partitions
        self.target = asked.replicas[0] if asked.replicas else None
        refused = PARTITION(
            partition_index=1, error_code=self.code, error_message="says the broker"
        )
        return AlterPartitionReassignmentsResponse(
            error_code=self.top_code,
            error_message="says the broker",
            responses=[TOPIC(name="t", partitions=[refused])],
        )

    def run(self, call):
        with pytest.raises(StopIteration) as ended:
            call().send(None)
        return ended.value.value

    def list_partition_reassignments(self, asked=None):
        assert asked in (None, {"t": [1]})
        self.looks -= 1
        if self.looks <= 0:
            self.leader = self.target if self.goes else self.leader
            return {}
        told = {"replicas": [2, 1], "adding_replicas": [2], "removing_replicas": [1]}
        return {TopicPartition("t", 1): told}

    def describe_topics(self, names):
        assert names == ["t"]
        partitions = [{"partition_index": it, "leader_id": self.leader * it} for it in (0, 1)]
        return [{"name": "t", "error_code": 0, "partitions": partitions}]


@pytest.fixture
def admin(monkeypatch):
    made = Admin()

    @contextmanager
    def lend(bootstrap, *, about=""):
        yield made

    now = iter(range(1000))
    monkeypatch.setattr(module, "admin_client", lend)
    clock = SimpleNamespace(monotonic=lambda: next(now) / 4, sleep=lambda _: None)
    monkeypatch.setattr(module, "time", clock)
    return made


def run(*arguments):
    return CliRunner().invoke(cli, ["partition", *arguments], catch_exceptions=False)


def asked(admin):
    (request,) = admin.sent
    (topic,) = request.topics
    (partition,) = topic.partitions
    return topic.name, partition.partition_index, partition.replicas


def test_a_partition_is_moved_and_waited_for(admin):
    result = run("move", "t", "1", "--to", "2", "-o", "json")
    assert result.exit_code == 0
    assert asked(admin) == ("t", 1, [2])
    told = json.loads(result.stdout)
    assert (told["partition"], told["to"], told["result"]) == (1, 2, "moved")
    assert told["ms"] > 0
    assert admin.leader == 2


def test_nobody_waits_who_does_not_want_to(admin):
    assert "the move is begun" in run("move", "t", "1", "--to", "2", "--no-wait").output
    assert admin.leader == 1


def test_a_move_is_taken_back(admin):
    assert "taken back" in run("move", "t", "1", "--cancel").output
    assert asked(admin) == ("t", 1, None)


def test_a_partition_that_stays_is_told(admin):
    admin.goes = False
    with pytest.raises(CommandFailedError, match="broker 1 still leads it"):
        run("move", "t", "1", "--to", "2")


def test_one_that_takes_too_long_is_told(admin):
    admin.looks = 10_000
    with pytest.raises(CommandFailedError, match="has not moved after 150 s"):
        run("move", "t", "1", "--to", "2")


@pytest.mark.parametrize("which", ["code", "top_code"])
def test_what_the_cluster_refuses_is_told(admin, which):
    setattr(admin, which, 39)  # INVALID_REPLICA_ASSIGNMENT
    with pytest.raises(CommandFailedError, match="says the broker"):
        run("move", "t", "1", "--to", "2")


@pytest.mark.parametrize("options", [(), ("--to", "2", "--cancel")])
def test_one_of_both_is_given(admin, options):
    assert run("move", "t", "1", *options).exit_code == 2
    assert admin.sent == []


def test_moves_are_listed(admin):
    (row,) = json.loads(run("moves", "-o", "json").stdout)
    assert row == {"topic": "t", "partition": 1, "from": 1, "to": 2}
