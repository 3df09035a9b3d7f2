"""A directory that was put back from an older copy does not count as the member that it was."""

from copy import deepcopy

import pytest

from headrace.metadata.raft.disks import Disks, is_older, next_start
from headrace.metadata.raft.effects import Role
from headrace.metadata.raft.messages import Disk, VoteRequest, VoteResponse
from headrace.metadata.raft.plausibility import MAX_DISKS, is_plausible
from headrace.metadata.records.members import NO_DIRECTORY
from tests.unit.metadata.raft.cluster import (
    RaftCluster,
    append,
    ask_vote,
    directory,
    make_core,
    quorum,
)

MINUTE_MS = 60_000


@pytest.fixture
def cluster():
    """Node 1 leads, and everybody has heard of everybody."""
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.pass_time(1_000)
    return cluster


def commit(cluster, leader_id, payload):
    position = cluster.propose(leader_id, payload)
    cluster.settle()
    cluster.pass_time(300)
    assert cluster.core(leader_id).commit_index >= position.index


def put_back(cluster, node_id, copy):
    cluster[node_id].disk = copy
    cluster.restart(node_id)


def outdated(cluster, node_id):
    found = cluster.core(node_id).outdated
    return None if found is None else str(found)


def test_a_copy_that_one_remembers_gives_it_no_majority(cluster):
    """103 is put back from before its last start; the one that acknowledged with it is away."""
    copy = deepcopy(cluster[3].disk)
    cluster.crash(3)
    cluster.restart(3)
    cluster.pass_time(1_000)
    cluster.crash(2)
    commit(cluster, 1, b"acknowledged by 1 and 3")
    cluster.crash(1)
    cluster.crash(3)

    cluster.restart(2)
    put_back(cluster, 3, copy)
    cluster.pass_time(MINUTE_MS)
    assert cluster.leaders() == []
    assert "two of them are at start" in outdated(cluster, 3)

    cluster.crash(3)
    cluster.restart(1)
    cluster.pass_time(5_000)
    assert cluster.leaders() == [1]
    payloads = [it.payload for it in cluster[2].applied.values()]
    assert b"acknowledged by 1 and 3" in payloads


def test_a_copy_of_a_running_member_is_known_by_what_it_held(cluster):
    """Nobody started in between, so the starts say nothing."""
    copy = deepcopy(cluster[3].disk)
    commit(cluster, 1, b"later")
    cluster.crash(1)
    cluster.crash(3)
    cluster.crash(2)

    cluster.restart(2)
    put_back(cluster, 3, copy)
    cluster.pass_time(MINUTE_MS)
    assert cluster.leaders() == []
    assert "it held all entries up to" in outdated(cluster, 3)


def test_a_leader_does_not_count_a_copy(cluster):
    copy = deepcopy(cluster[3].disk)
    commit(cluster, 1, b"later")
    cluster.crash(2)
    cluster.crash(3)
    put_back(cluster, 3, copy)
    index = cluster.propose(1, b"only on 1").index
    cluster.pass_time(1_000)
    assert cluster.core(1).commit_index < index
    assert outdated(cluster, 3)


def test_a_machine_that_was_put_back_as_it_ran_is_noticed(cluster):
    """Its process goes on with what it had in memory."""
    memory = deepcopy(cluster[3])
    commit(cluster, 1, b"later")
    cluster.nodes[3] = memory
    cluster.pass_time(1_000)
    assert outdated(cluster, 3)


def test_a_copy_asks_for_votes_in_vain_and_is_told(cluster):
    copy = deepcopy(cluster[3].disk)
    commit(cluster, 1, b"later")
    for node_id in (1, 2, 3):
        cluster.crash(node_id)
    cluster.restart(2)
    put_back(cluster, 3, copy)
    cluster.now_ms = cluster.core(3).next_tick_ms
    cluster.tick(3)
    cluster.work()
    (request,) = (it for it in cluster.network if isinstance(it, VoteRequest) and it.target == 2)
    cluster.core(2).step(request, cluster.now_ms)
    cluster.network.clear()
    cluster.work()
    (refusal,) = (it for it in cluster.network if isinstance(it, VoteResponse))
    assert not refusal.granted
    assert list(cluster.core(2).outdated_nodes) == [3]
    cluster.core(3).step(refusal, cluster.now_ms)
    assert cluster.core(3).outdated
    cluster.core(3).tick(cluster.now_ms + MINUTE_MS)
    assert cluster.core(3).role is Role.FOLLOWER
    assert cluster.core(3).take_effects().messages == ()


def test_a_restart_is_no_copy(cluster):
    for node_id in (1, 2, 3, 3, 2, 1):
        cluster.crash(node_id)
        cluster.pass_time(2_000)
        cluster.restart(node_id)
        cluster.pass_time(2_000)
        assert not any(node.core.outdated for node in cluster.nodes.values())
        commit(cluster, cluster.leaders()[0], b"goes on %d" % node_id)


def test_what_is_truncated_was_not_held():
    """A minority's entries go away when another leads; that is no copy."""
    cluster = RaftCluster(5)
    cluster.elect(1)
    cluster.pass_time(1_000)
    for other in (3, 4, 5):
        cluster.cut |= {(1, other), (other, 1), (2, other), (other, 2)}
    cluster.propose(1, b"one", b"two", b"three", b"four")
    cluster.settle()
    cluster.now_ms += 100
    cluster.tick(1)
    cluster.settle()
    cluster.now_ms += 100
    cluster.tick(1)
    cluster.settle()
    cluster.elect(3)
    for node_id in (1, 2):
        cluster.crash(node_id)
        cluster.restart(node_id)
    cluster.heal()
    cluster.pass_time(3_000)
    cluster.crash(2)
    cluster.restart(2)
    cluster.pass_time(3_000)
    cluster.elect(1)  # it remembers most of node 2
    cluster.pass_time(1_000)
    assert not any(
        node.core.outdated or node.core.outdated_nodes for node in cluster.nodes.values()
    )


def test_a_disk_that_was_lost_and_replaced_is_another(cluster):
    commit(cluster, 1, b"later")
    cluster.crash(3)
    cluster.pass_time(500)
    cluster.wipe(3)
    cluster.pass_time(2_000)
    assert not any(node.core.outdated for node in cluster.nodes.values())


def test_only_directories_of_members_are_remembered(cluster):
    stranger = Disk(directory(9), 1 << 32, 1, 1)
    message = append(1, 2, cluster.core(1).term)
    message = type(message)(
        **{name: getattr(message, name) for name in message.__struct_fields__ if name != "disks"},
        disks=(stranger,),
    )
    cluster.core(2).step(message, cluster.now_ms)
    known = {it.directory_id for it in cluster.core(2).remembered}
    assert known == {directory(1), directory(3)}


def test_a_message_tells_of_no_more_directories_than_there_may_be():
    disks = tuple(Disk(directory(it), 1, 1, 1) for it in range(MAX_DISKS + 1))
    request = ask_vote(2, 1, 3)
    fields = {name: getattr(request, name) for name in request.__struct_fields__}
    assert is_plausible(VoteRequest(**(fields | {"disks": disks[:-1]})), 1)
    assert not is_plausible(VoteRequest(**(fields | {"disks": disks})), 1)


@pytest.mark.parametrize(
    ("start", "start_index", "older"),
    [
        ((5 << 32) + 7, 0, False),  # the same start
        ((5 << 32) + 8, 99, True),  # a copy was started as often
        ((4 << 32) + 9, 99, True),
        ((6 << 32) + 1, 10, False),
        ((6 << 32) + 1, 9, True),  # it held entry 10
        (0, 0, False),  # a version that counts no starts
    ],
)
def test_what_is_older(start, start_index, older):
    known = Disk(directory(3), (5 << 32) + 7, 4, 10)
    assert is_older(Disk(directory(3), start, start_index, 0), known) is older


def test_starts_are_counted_and_differ():
    assert next_start(0, 7) == (1 << 32) + 7
    assert next_start((1 << 32) + 7, 1) == (2 << 32) + 1


def test_a_version_that_counts_no_starts_tells_nothing():
    core = make_core(1, initial=quorum(1, 2, 3))
    core.tick(core.next_tick_ms)
    assert all(it.disks == () for it in core.take_effects().messages)
    disks = Disks(Disk(NO_DIRECTORY, 0, 0, 0), ())
    assert disks.hear(ask_vote(2, 1, 3), quorum(1, 2, 3), 0)
