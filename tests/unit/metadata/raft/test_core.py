from headrace.metadata.raft.effects import Role
from headrace.metadata.records.codec import decode_members
from tests.unit.metadata.raft.cluster import RaftCluster, quorum


def test_three_nodes_elect_commit_and_apply_the_same():
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.propose(1, b"a", b"b")
    cluster.settle()

    applied = [[it.payload for it in cluster[i].applied.values()] for i in (1, 2, 3)]
    assert applied[0] == applied[1] == applied[2]
    assert decode_members(applied[0][0]) == quorum(1, 2, 3).members
    assert applied[0][1] == b"open 1 after 0"
    assert applied[0][2:] == [b"a", b"b"]


def test_a_sole_voter_leads_from_its_first_tick():
    cluster = RaftCluster(1, initial=quorum(1))
    cluster.tick()
    cluster.settle()

    assert cluster.core(1).serving
    assert cluster.core(1).role is Role.LEADER
    cluster.core(1).request_read(7, cluster.now_ms)
    cluster.settle()
    assert cluster[1].reads == {7: 2}
