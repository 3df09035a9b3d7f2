"""Snapshots in place of entries that are forgotten (Raft 7)."""

import pytest

from headrace.metadata.raft.effects import DurableState, HardState, Role
from headrace.metadata.raft.messages import AppendRequest, SnapshotOffer
from headrace.metadata.records.entry import SnapshotId
from tests.unit.metadata.raft.cluster import (
    ELECTION_MS,
    HEARTBEAT_MS,
    RaftCluster,
    answer,
    append,
    elect,
    entries,
    finish,
    make_core,
    messages,
    naming,
    offer,
    quorum,
    state_of,
    timeout_now,
)


def test_a_node_that_was_away_for_long_catches_up_by_snapshot():
    cluster = RaftCluster(3, max_append_bytes=1, compaction_slack_bytes=1)
    cluster.elect(1)
    cluster.settle()
    cluster.crash(3)
    for number in range(20):
        cluster.propose(1, b"%d" % number)
        cluster.settle()
    cluster.snapshot(1)
    cluster.propose(1, b"behind it")
    cluster.settle()
    assert cluster.core(1).first_index > 3
    cluster.restart(3)
    cluster.pass_time(3 * HEARTBEAT_MS)

    assert cluster[3].disk.snapshot == cluster[1].disk.snapshot
    assert [it.payload for it in cluster[3].applied.values()] == [b"behind it"]
    assert cluster.core(3).configuration == quorum(1, 2, 3)


def test_a_follower_that_is_a_little_behind_needs_no_snapshot():
    """Entries before the snapshot are kept, as many as fit into one request."""
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.settle()
    cluster.isolate(3)
    cluster.propose(1, b"a")
    cluster.settle()
    cluster.snapshot(1)
    cluster.heal()
    cluster.pass_time(3 * HEARTBEAT_MS)

    assert cluster[3].disk.snapshot.index == 0
    assert cluster[3].applied == cluster[1].applied


@pytest.mark.parametrize(("slack_bytes", "first_index"), [(1, 5), (3, 4), (8, 3), (9, 2), (99, 1)])
def test_what_is_kept_before_a_snapshot_is_bounded(slack_bytes, first_index):
    core = make_core(1, state_of(1, 1, 1, 1, 1, 1), compaction_slack_bytes=slack_bytes)
    core.step(append(2, 1, 1, previous=(6, 1), commit=5), 0)
    finish(core)
    core.compacted(SnapshotId(4, 1))

    assert (core.first_index, core.last_index) == (first_index, 6)
    core.compacted(SnapshotId(3, 1))  # an older one changes nothing
    assert core.first_index == first_index


def test_members_that_are_long_gone_are_forgotten_with_their_entries():
    named = [naming(index, 1, quorum(1, 2, index + 2)) for index in range(1, 7)]
    core = make_core(1, DurableState(HardState(1, -1), entries=tuple(named)))
    core.step(append(2, 1, 1, previous=(6, 1), commit=6), 0)
    finish(core)
    core.compacted(SnapshotId(5, 1))

    assert core.configuration == quorum(1, 2, 8)
    assert [it.index for it in core._log._named] == [5, 6]


def test_a_follower_says_so_while_it_fetches_and_takes_nothing_else_in():
    core = make_core(1, state_of(1))
    core.step(offer(2, 1, 4, SnapshotId(9, 4), round_=3), 0)
    done = finish(core)
    assert [it.fetch_snapshot for it in done if it.fetch_snapshot] == [(2, SnapshotId(9, 4))]
    core.step(append(2, 1, 4, previous=(1, 1), new=entries(4, first=2), round_=4), 1)
    core.step(offer(2, 1, 4, SnapshotId(12, 4), round_=5), 2)

    later = finish(core)
    assert [(it.success, it.fetching_snapshot, it.round) for it in messages(done + later)] == [
        (False, True, 3),
        (False, True, 4),
        (False, True, 5),
    ]
    assert not any(it.fetch_snapshot for it in later)  # it is asked for once
    assert core.last_index == 1


def test_an_installed_snapshot_is_reported_without_being_asked():
    core = make_core(1, state_of(1))
    core.step(offer(2, 1, 4, SnapshotId(9, 4)), 0)
    finish(core)
    core.snapshot_installed(SnapshotId(9, 4), quorum(1, 2), 5)

    (response,) = messages(finish(core))
    assert (response.target, response.success, response.match_index) == (2, True, 9)
    assert (core.commit_index, core.first_index, core.durable_index) == (9, 10, 9)
    assert core.configuration == quorum(1, 2)


def test_a_snapshot_that_could_not_be_read_is_fetched_when_it_is_offered_again():
    core = make_core(1, state_of(1))
    core.step(offer(2, 1, 4, SnapshotId(9, 4)), 0)
    finish(core)
    core.snapshot_failed(1)
    assert not any(it.fetch_snapshot for it in finish(core))
    core.step(offer(3, 1, 5, SnapshotId(11, 4)), 2)

    assert [it.fetch_snapshot for it in finish(core)] == [(3, SnapshotId(11, 4))]


def test_who_fetches_a_snapshot_does_not_stand_for_election():
    """Its log is about to be replaced, and a leader's log never is."""
    core = make_core(1, state_of(1))
    core.step(offer(2, 1, 4, SnapshotId(9, 4)), 0)
    core.tick(10 * ELECTION_MS)
    core.step(offer(2, 1, 4, SnapshotId(9, 4)), 10 * ELECTION_MS)
    core.step(timeout_now(2, 1, 4), 10 * ELECTION_MS)
    assert (core.role, core.term) == (Role.FOLLOWER, 4)

    core.snapshot_failed(11 * ELECTION_MS)
    core.tick(13 * ELECTION_MS)
    assert core.role is Role.PRE_CANDIDATE


def test_an_offer_of_what_is_committed_here_is_answered_with_that():
    core = make_core(1, state_of(1, 1, 1))
    core.step(append(2, 1, 1, previous=(3, 1), commit=3), 0)
    finish(core)
    core.step(offer(2, 1, 1, SnapshotId(2, 1)), 0)

    (response,) = messages(finish(core))
    assert (response.success, response.match_index) == (True, 3)


def leader_with_snapshot(last=6, snapshot=4):
    """A leader of term 2 whose entries begin behind a snapshot."""
    log = (*entries(*[1] * last), naming(last + 1, 1, quorum(1, 2, 3)))[snapshot:]
    state = DurableState(HardState(1, -1), SnapshotId(snapshot, 1), quorum(1, 2, 3), log)
    core = make_core(1, state)
    now_ms, _ = elect(core)
    return core, now_ms


def test_a_leader_offers_its_snapshot_with_each_heartbeat_until_it_is_there():
    core, now_ms = leader_with_snapshot()
    core.step(answer(2, 1, 2, match=7, success=False, conflict=(-1, 1)), now_ms)
    done = finish(core, now_ms)
    (first,) = messages(done, SnapshotOffer)
    assert (first.snapshot_index, first.snapshot_term) == (4, 1)
    core.step(answer(2, 1, 2, match=4, success=False, fetching=True, round_=1), now_ms)
    assert not messages(finish(core), target=2)

    core.tick(now_ms + HEARTBEAT_MS)
    done = finish(core, now_ms + HEARTBEAT_MS)
    assert len(messages(done, SnapshotOffer, target=2)) == 1
    assert not messages(done, AppendRequest, target=2)
    core.step(answer(2, 1, 2, match=4), now_ms + HEARTBEAT_MS)
    (request,) = messages(finish(core), AppendRequest, target=2)
    assert [it.index for it in request.entries] == [5, 6, 7, 8]


def test_a_follower_whose_next_entry_was_forgotten_meanwhile_is_offered_the_snapshot():
    cluster = RaftCluster(3, max_append_bytes=1, compaction_slack_bytes=1)
    cluster.elect(1)
    cluster.settle()
    cluster.isolate(3)
    cluster.propose(1, b"a")
    cluster.settle()
    cluster.snapshot(1)
    cluster.propose(1, b"b")
    cluster.settle()
    cluster.snapshot(1)
    cluster.heal()
    cluster.pass_time(4 * HEARTBEAT_MS)

    assert cluster[3].disk.snapshot == cluster[1].disk.snapshot
    cluster.propose(1, b"c")
    cluster.settle()
    assert cluster.core(3).commit_index == cluster.core(1).commit_index


def test_a_snapshot_whose_source_is_gone_is_fetched_from_the_next_leader():
    cluster = RaftCluster(3, max_append_bytes=1, compaction_slack_bytes=1)
    cluster.elect(1)
    cluster.settle()
    cluster.crash(3)
    cluster.propose(1, b"a", b"b")
    cluster.settle()
    for node_id in (1, 2):
        cluster.snapshot(node_id)
    cluster.keep_snapshots_back = True
    cluster.restart(3)
    cluster.pass_time(2 * HEARTBEAT_MS)
    assert cluster[3].wanted.source == 1
    cluster.crash(1)
    cluster.keep_snapshots_back = False
    cluster.pass_time(6 * ELECTION_MS)

    assert cluster.leaders() == [2]
    assert cluster.core(3).commit_index == cluster.core(2).commit_index
