"""The quorum as operators see it and change it."""

import json
from contextlib import contextmanager
from uuid import UUID

import pytest
from click.testing import CliRunner
from kafka.protocol.admin import DescribeQuorumResponse

from headrace.broker.cli.client import cluster as cluster_module
from headrace.broker.cli.client import quorum as module
from headrace.broker.cli.client.added_messages import (
    AddRaftVoterRequest,
    RemoveRaftVoterRequest,
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)
from headrace.broker.cli.client.cluster import node_rows
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.root import cli
from headrace.protocol.errors import ErrorCode

DISK = UUID(int=0xD15C)
DISK_AS_KAFKA_WRITES_IT = "AAAAAAAAAAAAAAAAAADRXA"


def replica(node_id, end, fetched=-1, caught_up=-1, directory=None):
    return {
        "replica_id": node_id,
        "replica_directory_id": None if directory is None else str(directory),
        "log_end_offset": end,
        "last_fetch_timestamp": fetched,
        "last_caught_up_timestamp": caught_up,
    }


PARTITION = {
    "partition_index": 0,
    "error": None,
    "leader_id": 2,
    "leader_epoch": 7,
    "high_watermark": 100,
    "current_voters": [
        replica(3, -1),
        replica(2, 101, -1, 10_000, DISK),
        replica(1, 99, 9_950, 9_800),
    ],
    "observers": [replica(11, 101, 9_990, 10_005)],
}
NODES = [
    {"node_id": number, "listeners": [{"name": "CONTROLLER", "host": f"c{number}", "port": 9193}]}
    for number in (1, 2, 3)
]


class Admin:
    """An admin client that answers from memory, and takes what it has no method for."""

    def __init__(self, code=0):
        self.code = code
        self.sent = []
        self._manager = self

    def describe_cluster(self):
        return {
            "cluster_id": "the-cluster",
            "controller_id": 1,
            "brokers": [
                {"broker_id": 12, "host": "b12", "port": 9092, "rack": "a", "is_fenced": True},
                {"broker_id": 2, "host": "b2", "port": 9092, "rack": None, "is_fenced": False},
            ],
        }

    def describe_topics(self):
        replicas = [
            {"replica_nodes": [node_id], "leader_id": leader_id}
            for node_id, leader_id in ((2, 2), (12, -1), (12, -1))
        ]
        return [{"is_internal": False, "partitions": replicas}]

    def describe_metadata_quorum(self):
        topic = {"topic_name": "__cluster_metadata", "partitions": [PARTITION]}
        return {"topics": [topic], "nodes": NODES}

    async def send(self, request):
        self.sent.append(request)
        return UnregisterBrokerResponse(error_code=self.code, error_message="says the broker")

    def run(self, call):
        with pytest.raises(StopIteration) as ended:
            call().send(None)
        return ended.value.value


@pytest.fixture
def admin(monkeypatch):
    made = Admin()

    @contextmanager
    def lend(bootstrap, *, about=""):
        yield made

    monkeypatch.setattr(module, "admin_client", lend)
    monkeypatch.setattr(cluster_module, "admin_client", lend)
    return made


def run(*arguments):
    return CliRunner().invoke(cli, ["cluster", *arguments], catch_exceptions=False)


def test_the_quorum_is_shown_with_lag_and_last_contact(admin):
    told = json.loads(run("quorum", "-o", "json").stdout)
    assert (told["leader"], told["term"], told["high_watermark"]) == (2, 7, 100)
    columns = ("node", "role", "address", "lag", "last_contact_ms", "behind_ms")
    assert [tuple(row[column] for column in columns) for row in told["members"]] == [
        (1, "voter", "c1:9193", 2, 50, 200),
        (2, "leader", "c2:9193", 0, None, 0),
        (3, "voter", "c3:9193", None, None, None),
        (11, "observer", "", 0, 10, 0),
    ]
    assert told["members"][1]["directory_id"] == str(DISK)


def test_the_table_names_the_leader_first(admin):
    lines = run("quorum").stdout.splitlines()
    assert lines[0].split() == ["leader", "2"]
    assert lines[4].split()[:3] == ["NODE", "ROLE", "ADDRESS"]
    assert lines[6].split()[:3] == ["2", "leader", "c2:9193"]


def test_a_quorum_without_a_leader_is_shown_without_lags():
    rows = module.quorum_members(PARTITION | {"leader_id": -1}, {})
    assert {row["lag"] for row in rows} == {None}
    assert {row["role"] for row in rows} == {"voter", "observer"}


@pytest.mark.parametrize("directory", [str(DISK), DISK_AS_KAFKA_WRITES_IT])
def test_a_controller_is_added(admin, directory):
    assert run("quorum", "add", "4@[::1]:9193", "--directory-id", directory).exit_code == 0
    (request,) = admin.sent
    assert isinstance(request, AddRaftVoterRequest)
    assert (request.cluster_id, request.voter_id) == ("the-cluster", 4)
    assert request.voter_directory_id == DISK
    (listener,) = request.listeners
    assert (listener.host, listener.port) == ("::1", 9193)


@pytest.mark.parametrize("member", ["4", "4@host", "x@host:1", "4@host:0", "4@host:65536"])
def test_what_is_no_controller_is_not_sent(admin, member):
    assert run("quorum", "add", member, "--directory-id", str(DISK)).exit_code == 2
    assert run("quorum", "add", "4@host:1").exit_code == 2
    assert run("quorum", "add", "4@host:1", "--directory-id", "x").exit_code == 2
    assert admin.sent == []


def test_a_controller_is_removed_by_the_directory_that_the_quorum_knows(admin):
    assert run("quorum", "remove", "2", "--yes").exit_code == 0
    assert run("quorum", "remove", "3", "--yes").exit_code == 0
    assert [type(request) for request in admin.sent] == [RemoveRaftVoterRequest] * 2
    assert [(it.voter_id, it.voter_directory_id) for it in admin.sent] == [(2, DISK), (3, None)]


def test_changes_that_cannot_be_undone_are_confirmed(admin):
    assert run("quorum", "remove", "2").exit_code == 2
    assert run("unregister", "12").exit_code == 2
    assert admin.sent == []


def test_a_broker_for_the_group_is_not_lost_on_its_commands(admin):
    assert run("quorum", "-b", "other:9092", "remove", "2", "--yes").exit_code == 2
    assert admin.sent == []


def test_a_broker_is_unregistered(admin):
    assert run("unregister", "12", "--yes").exit_code == 0
    (request,) = admin.sent
    assert isinstance(request, UnregisterBrokerRequest)
    assert request.broker_id == 12


@pytest.mark.parametrize(
    ("arguments", "document"),
    [
        (["unregister", "12", "--yes"], {"node": 12, "result": "unregistered"}),
        (["quorum", "remove", "2", "--yes"], {"node": 2, "result": "removed"}),
        (
            ["quorum", "add", "4@host:1", "--directory-id", str(DISK)],
            {"node": 4, "result": "added"},
        ),
    ],
)
def test_a_change_is_told_to_people_and_to_programs(admin, arguments, document):
    for_people = run(*arguments)
    assert (for_people.stdout, for_people.stderr != "") == ("", True)
    for form in (["--json"], ["-o", "json"]):
        result = run(*arguments, *form)
        assert json.loads(result.stdout) == document
        assert result.stderr == for_people.stderr


def test_a_refusal_is_told(admin):
    admin.code = int(ErrorCode.INVALID_REQUEST)
    with pytest.raises(CommandFailedError, match=r"^says the broker"):
        run("unregister", "12", "--yes")


def test_fenced_brokers_are_listed_with_what_they_have_led(admin):
    rows = json.loads(run("nodes", "-o", "json").stdout)
    assert rows == node_rows(admin.describe_cluster(), admin.describe_topics(), {1, 2, 3})
    columns = ("node", "address", "controller", "fenced", "leads")
    assert [tuple(row[column] for column in columns) for row in rows] == [
        (2, "b2:9092", True, False, 1),
        (12, "b12:9092", False, True, 2),
    ]


def test_the_cluster_is_described_with_its_leading_controller(admin):
    described = json.loads(run("describe", "-o", "json").stdout)
    counts = ("controller", "controllers", "brokers", "brokers_fenced", "topics", "partitions")
    assert [described[count] for count in counts] == [2, 3, 1, 1, 1, 3]


def test_the_fake_has_the_fields_of_the_client():
    """What kafka-python makes of an answer, which the tests above take for granted."""
    told = DescribeQuorumResponse.TopicData.PartitionData
    assert set(PARTITION) - {"error"} <= set(told._struct.fields)
    assert set(replica(1, 1)) == set(told.ReplicaState._struct.fields)
