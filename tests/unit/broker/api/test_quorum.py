"""DescribeQuorum, AddRaftVoter, RemoveRaftVoter, UnregisterBroker: passed on to the controller (KIP-595, KIP-853)."""

from typing import Any
from uuid import UUID

import pytest

from headrace.broker.api.add_raft_voter import AddRaftVoterHandler
from headrace.broker.api.describe_quorum import DescribeQuorumHandler
from headrace.broker.api.remove_raft_voter import RemoveRaftVoterHandler
from headrace.broker.api.unregister_broker import UnregisterBrokerHandler
from headrace.broker.api.unregister_controller import UnregisterControllerHandler
from headrace.metadata.errors import ControllerUnavailableError, NodeFencedError, RefusedError
from headrace.metadata.follower.quorum_admin import QuorumAdmin
from headrace.metadata.records.members import NO_DIRECTORY
from headrace.metadata.rpc.requests import AddVoter, DescribeQuorum, RemoveVoter, UnregisterBroker
from headrace.metadata.rpc.responses import Done, QuorumDescribed, QuorumMember
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import (
    AddRaftVoterRequest,
    DescribeQuorumRequest,
    RemoveRaftVoterRequest,
    UnregisterBrokerRequest,
    UnregisterControllerRequest,
)
from tests.unit.broker.cluster_scene import ask

DISK = UUID(int=0xD15C)
QUORUM = QuorumDescribed(
    leader_id=2,
    term=7,
    commit_index=99,
    voters=(
        QuorumMember(1, NO_DIRECTORY, "one", 9193, -1, -1, -1),
        QuorumMember(2, DISK, "two", 9193, 101, -1, 5_000),
    ),
    observers=(QuorumMember(4, NO_DIRECTORY, "", 0, 99, 4_900, 4_800),),
)
FAILURES = [
    (RefusedError(ErrorCode.VOTER_NOT_FOUND, "no such voter"), ErrorCode.VOTER_NOT_FOUND),
    (ControllerUnavailableError("silent"), ErrorCode.REQUEST_TIMED_OUT),
    (NodeFencedError("replaced"), ErrorCode.REQUEST_TIMED_OUT),
]


class Client:
    """Answers what the test says, and notes what was asked."""

    def __init__(self, failure: Exception | None = None, *, fails: type = object) -> None:
        self.asked: list[Any] = []
        self.failure = failure
        self.fails = fails  # requests of this type

    async def change(self, request: Any, answered: type) -> Any:
        self.asked.append(request)
        if self.failure is not None and isinstance(request, self.fails):
            raise self.failure
        answer = QUORUM if isinstance(request, DescribeQuorum) else Done()
        assert isinstance(answer, answered)
        return answer

    @property
    def admin(self) -> QuorumAdmin:
        client: Any = self
        return QuorumAdmin(client)


def describe(
    client: Client, version: int, topic: str = "__cluster_metadata", index: int = 0
) -> Any:
    asked = DescribeQuorumRequest.TopicData
    partition = asked.PartitionData(partition_index=index)
    request = DescribeQuorumRequest(topics=[asked(topic_name=topic, partitions=[partition])])
    return ask(DescribeQuorumHandler(client.admin), version, request)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_the_quorum_is_described_as_its_leader_sees_it(version: int) -> None:
    told = describe(Client(), version)
    assert (told.error_code, told.topics[0].topic_name) == (0, "__cluster_metadata")
    (partition,) = told.topics[0].partitions
    assert (partition.partition_index, partition.error_code) == (0, 0)
    assert (partition.leader_id, partition.leader_epoch, partition.high_watermark) == (2, 7, 100)
    ends = [(it.replica_id, it.log_end_offset) for it in partition.current_voters]
    assert ends == [(1, -1), (2, 102)]
    assert [(it.replica_id, it.log_end_offset) for it in partition.observers] == [(4, 100)]
    replicas = [*partition.current_voters, *partition.observers]
    if version >= 1:
        times = [(it.last_fetch_timestamp, it.last_caught_up_timestamp) for it in replicas]
        assert times == [(-1, -1), (-1, 5_000), (4_900, 4_800)]
    if version >= 2:
        assert [it.replica_directory_id for it in replicas] == [None, DISK, None]
        nodes = [(it.node_id, it.listeners[0].host, it.listeners[0].port) for it in told.nodes]
        assert nodes == [(1, "one", 9193), (2, "two", 9193)]


@pytest.mark.parametrize(("topic", "index"), [("orders", 0), ("__cluster_metadata", 1)])
def test_there_is_one_quorum(topic: str, index: int) -> None:
    told = describe(Client(), 2, topic, index)
    (partition,) = told.topics[0].partitions
    assert partition.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert list(partition.current_voters) == []


def test_a_partition_that_is_named_often_is_answered_once() -> None:
    asked = DescribeQuorumRequest.TopicData
    topics = [
        asked(topic_name=name, partitions=[asked.PartitionData(partition_index=0)] * 100)
        for name in ("__cluster_metadata", "t", "__cluster_metadata")
    ]
    told = ask(DescribeQuorumHandler(Client().admin), 2, DescribeQuorumRequest(topics=topics))
    assert [(it.topic_name, len(it.partitions)) for it in told.topics] == [
        ("__cluster_metadata", 1),
        ("t", 1),
    ]


@pytest.mark.parametrize(("failure", "code"), FAILURES)
def test_a_quorum_that_cannot_be_asked_is_not_described(
    failure: Exception, code: ErrorCode
) -> None:
    told = describe(Client(failure), 2)
    assert (told.error_code, list(told.topics)) == (code, [])
    assert told.error_message


def add(client: Client, version: int, **fields: Any) -> Any:
    listener = AddRaftVoterRequest.Listener
    listeners = [
        listener(name="CONTROLLER", host="four", port=9193),
        listener(name="OTHER", host="elsewhere", port=1),
    ]
    values = {"cluster_id": None, "timeout_ms": 1_000, "voter_id": 4, "voter_directory_id": DISK}
    request = AddRaftVoterRequest(**(values | {"listeners": listeners} | fields))
    return ask(AddRaftVoterHandler(client.admin), version, request)


@pytest.mark.parametrize("version", [0, 1])
def test_a_voter_is_added_at_its_first_listener(version: int) -> None:
    client = Client()
    told = add(client, version)
    assert (told.error_code, told.error_message) == (0, None)
    add(client, version, cluster_id="c", voter_directory_id=None)
    assert client.asked == [
        AddVoter("", 4, DISK, "four", 9193),
        AddVoter("c", 4, NO_DIRECTORY, "four", 9193),
    ]


@pytest.mark.parametrize("fields", [{"voter_id": -1}, {"listeners": []}])
def test_what_is_no_voter_is_refused_here(fields: dict[str, Any]) -> None:
    client = Client()
    assert add(client, 1, **fields).error_code == ErrorCode.INVALID_REQUEST
    assert client.asked == []


def remove(client: Client, **fields: Any) -> Any:
    values = {"cluster_id": "c", "voter_id": 4, "voter_directory_id": DISK}
    request = RemoveRaftVoterRequest(**(values | fields))
    return ask(RemoveRaftVoterHandler(client.admin), 0, request)


def test_a_voter_is_removed_by_its_id_and_directory() -> None:
    client = Client()
    assert remove(client).error_code == 0
    assert remove(client, voter_id=-1).error_code == ErrorCode.INVALID_REQUEST
    assert client.asked == [RemoveVoter("c", 4, DISK)]


@pytest.mark.parametrize(
    ("voter", "code"), [((2, DISK), ErrorCode.REQUEST_TIMED_OUT), ((3, DISK), ErrorCode.NONE)]
)
def test_a_leader_that_goes_without_an_answer_is_looked_for(
    voter: tuple[int, UUID], code: ErrorCode
) -> None:
    """It steps down as its own removal is committed."""
    client = Client(ControllerUnavailableError("it leads no more"), fails=RemoveVoter)
    told = remove(client, voter_id=voter[0], voter_directory_id=voter[1])
    assert told.error_code == code
    assert client.asked == [RemoveVoter("c", *voter), DescribeQuorum()]


def unregister(client: Client, node_id: int) -> Any:
    request = UnregisterBrokerRequest(broker_id=node_id)
    return ask(UnregisterBrokerHandler(client.admin), 0, request)


def test_a_broker_is_forgotten() -> None:
    client = Client()
    assert unregister(client, 3).error_code == 0
    assert unregister(client, -1).error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
    assert client.asked == [UnregisterBroker(3)]


@pytest.mark.parametrize(("failure", "code"), FAILURES)
def test_a_change_that_fails_says_why(failure: Exception, code: ErrorCode) -> None:
    client = Client(failure)
    for told in (add(client, 1), remove(client), unregister(client, 3)):
        assert told.error_code == code
        assert told.error_message


@pytest.mark.parametrize(
    ("node_id", "error"),
    [
        (2, ErrorCode.INVALID_REQUEST),
        (4, ErrorCode.CONTROLLER_ID_NOT_REGISTERED),
        (-1, ErrorCode.CONTROLLER_ID_NOT_REGISTERED),
    ],
)
def test_a_controller_leaves_as_a_voter(node_id: int, error: ErrorCode) -> None:
    request = UnregisterControllerRequest(controller_id=node_id)
    told = ask(UnregisterControllerHandler(Client().admin), 0, request)
    assert told.error_code == error
    assert told.error_message


@pytest.mark.parametrize(("failure", "error"), FAILURES)
def test_a_quorum_that_does_not_answer_unregisters_nobody(
    failure: Exception, error: ErrorCode
) -> None:
    client = Client(failure)
    told = ask(UnregisterControllerHandler(client.admin), 0, UnregisterControllerRequest())
    assert told.error_code == error
