"""Bugs of other implementations, each as the shortest script that showed it."""

import pytest

from headrace.metadata.raft.changes import AddLearner, Promote, Remove
from headrace.metadata.raft.effects import NOBODY, DurableState, HardState, Role
from headrace.metadata.raft.errors import ChangeRefusedError, NotLeaderError
from headrace.metadata.raft.messages import (
    AppendRequest,
    AppendResponse,
    SnapshotOffer,
    VoteResponse,
)
from headrace.metadata.records.entry import SnapshotId
from tests.unit.metadata.raft.cluster import (
    ELECTION_MS,
    HEARTBEAT_MS,
    RaftCluster,
    answer,
    append,
    ask_vote,
    committed,
    directory,
    elect,
    entries,
    finish,
    make_core,
    member,
    messages,
    naming,
    offer,
    quorum,
    state_of,
)


def test_logcabin_44_entries_of_earlier_terms_are_not_committed_by_counting():
    core = make_core(1, state_of(1, 2, term=3))
    now_ms, _ = elect(core)
    core.step(answer(2, 1, 4, match=2), now_ms)

    assert core.commit_index == 0
    assert not core.serving


def test_logcabin_160_a_commit_index_beyond_the_sent_entries_commits_only_those():
    core = make_core(1, state_of(1, 1, 1, 1))  # 3 and 4 may be another leader's
    core.step(append(2, 1, 2, previous=(1, 1), new=entries(1, first=2), commit=9), 0)

    assert core.commit_index == 2
    assert [it.index for it in committed(finish(core))] == [1, 2]


def test_copycat_265_an_empty_request_commits_no_further_than_the_entry_it_names():
    core = make_core(1, state_of(1, 1, 1))
    core.step(append(2, 1, 2, previous=(1, 1), commit=3), 0)

    assert core.commit_index == 1
    (response,) = messages(finish(core))
    assert (response.success, response.match_index) == (True, 1)


@pytest.mark.parametrize("late", [entries(2, first=2), ()], ids=["entries", "heartbeat"])
def test_akka_raft_66_ccf_5676_a_request_that_was_overtaken_removes_nothing(late):
    core = make_core(1, state_of(1))
    core.step(append(2, 1, 2, previous=(1, 1), new=entries(2, 2, 2, first=2)), 0)
    finish(core)
    core.step(append(2, 1, 2, previous=(1, 1), new=late), 0)

    done = finish(core)
    assert core.last_index == 4
    assert all(it.persist is None for it in done)


def test_ccf_5674_a_leader_that_becomes_a_follower_loses_nothing_that_is_committed():
    """The old leader's own suffix goes only where the new leader's log says something else."""
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.propose(1, b"committed")
    cluster.settle()
    cluster.isolate(1)
    cluster.propose(1, b"never committed")
    cluster.work()
    cluster.elect(2)
    cluster.heal()
    cluster.pass_time(4 * HEARTBEAT_MS)

    assert cluster.core(1).role is Role.FOLLOWER
    payloads = [it.payload for it in cluster[1].disk.entries]
    assert b"committed" in payloads
    assert b"never committed" not in payloads
    assert cluster[1].disk.entries == cluster[2].disk.entries


def test_hashicorp_661_term_and_vote_are_one_write():
    core = make_core(1, state_of(term=3, voted_for=2))
    core.step(ask_vote(3, 1, 4), 0)

    effects = core.take_effects()
    assert effects.persist.hard_state == HardState(4, 3)
    assert isinstance(effects.messages[0], VoteResponse)  # said after that write


def test_hashicorp_661_a_crash_before_the_write_is_a_crash_before_the_vote():
    cluster = RaftCluster(3)
    cluster[1].slow = True
    cluster.core(1).step(ask_vote(2, 1, 4), 0)
    cluster.work()
    assert not cluster.network
    cluster.crash(1)
    cluster.restart(1)
    cluster[1].slow = False
    cluster.core(1).step(ask_vote(3, 1, 4), 0)
    cluster.work()

    assert [(it.target, it.granted) for it in cluster.network] == [(3, True)]


def test_nobody_leads_by_a_vote_of_its_own_that_is_not_durable():
    """2 has heard, and not yet written, that it is the only voter left; it elects itself, and crashes.

    Its disk knows nothing of that term: 1, whose log is the longest, wins it with 2's vote.
    """
    core = make_core(2, state_of(1, members=quorum(1, 2)))
    alone = naming(3, 1, quorum(2))
    core.step(append(1, 2, 1, previous=(2, 1), new=(alone,)), 0)
    finish(core)
    core.tick(core.next_tick_ms)
    assert (core.role, core.term) == (Role.CANDIDATE, 2)
    assert core.take_effects().persist.hard_state == HardState(2, 2)
    assert core.role is Role.CANDIDATE

    core.persisted(core.next_tick_ms)
    assert core.role is Role.LEADER


def test_redpanda_14_stepping_down_forgets_no_vote():
    """A candidate that gives way in its own term has voted for itself, and keeps that."""
    core = make_core(1)
    now_ms, _ = elect(core)
    core.tick(now_ms + 10 * ELECTION_MS)  # no majority: follower of the same term
    assert (core.role, core.term) == (Role.FOLLOWER, 1)

    core.step(ask_vote(2, 1, 1, last=(9, 1)), now_ms + 10 * ELECTION_MS)
    assert [it.granted for it in messages(finish(core))] == [False]


def test_redpanda_14_nor_does_a_restart():
    core = make_core(1, state_of(term=4, voted_for=2))
    core.step(ask_vote(3, 1, 4, last=(9, 4)), 0)

    assert [it.granted for it in messages(finish(core))] == [False]


def test_braft_119_qdrant_1329_the_cut_is_part_of_the_write_and_comes_before_the_entries():
    core = make_core(1, state_of(1, 1, 1, 1))
    core.step(append(2, 1, 2, previous=(1, 1), new=entries(2, first=2)), 0)
    core.step(append(2, 1, 2, previous=(2, 2), new=entries(2, first=3)), 0)

    persist = core.take_effects().persist
    assert persist.hard_state.term == 2
    assert persist.truncate_from == 2
    assert persist.entries == entries(2, 2, first=2)


def test_braft_119_cuts_that_gather_during_a_write_become_the_deepest_one():
    core = make_core(1, state_of(1, 1, 1, 1))
    core.step(append(2, 1, 2, previous=(4, 1), new=entries(2, first=5)), 0)
    assert core.take_effects().persist.truncate_from is None
    core.step(append(3, 1, 3, previous=(3, 1), new=entries(3, 3, first=4)), 0)
    core.step(append(2, 1, 4, previous=(1, 1), new=entries(4, first=2)), 0)
    core.persisted(0)

    persist = core.take_effects().persist
    assert persist.truncate_from == 2
    assert persist.entries == entries(4, first=2)


def test_scylladb_9551_nothing_stays_behind_a_snapshot_of_the_leader():
    """Entries that stayed behind it brought back members that were long gone."""
    old = quorum(1, 2, 3)
    stale = naming(9, 2, quorum(1, 3))
    log = (*entries(1, 1, 1, 1, 2, 2, 2, 2), stale)
    core = make_core(1, DurableState(HardState(2, NOBODY), entries=log), initial=old)
    assert core.configuration.voters == (1, 3)
    core.step(offer(2, 1, 5, SnapshotId(7, 5)), 0)
    finish(core)
    core.snapshot_installed(SnapshotId(7, 5), quorum(1, 2, 4), 0)

    assert core.configuration.voters == (1, 2, 4)
    assert (core.first_index, core.last_index, core.durable_index) == (8, 7, 7)
    core.step(append(2, 1, 5, previous=(7, 5), new=entries(5, first=8), commit=8), 0)
    assert core.take_effects().persist.entries == entries(5, first=8)


@pytest.mark.parametrize("repeated", [True, False], ids=["retransmit", "heartbeat"])
def test_yugabyte_32875_no_path_acknowledges_what_is_not_durable(repeated):
    core = make_core(1, state_of(1))
    request = append(2, 1, 1, previous=(1, 1), new=entries(1, 1, first=2))
    core.step(request, 0)
    assert core.take_effects().persist.entries
    # While the write is under way the same entries come again, or a heartbeat that names them.
    core.step(request if repeated else append(2, 1, 1, previous=(3, 1)), 0)
    assert core.durable_index == 1

    core.persisted(0)  # only now may the next effects be taken, and their messages sent
    assert core.durable_index == 3
    assert [it.match_index for it in core.take_effects().messages] == [3]


def test_openraft_1964_etcd_aba_a_late_write_is_not_credited_to_what_replaced_it():
    """Entries 2 and 3 are being written, are replaced by others, and come back: A, B, A."""
    core = make_core(1, state_of(1))
    core.step(append(2, 1, 1, previous=(1, 1), new=entries(1, 1, first=2)), 0)
    assert core.take_effects().persist.entries == entries(1, 1, first=2)
    core.step(append(3, 1, 2, previous=(1, 1), new=entries(2, 2, first=2)), 0)
    core.step(append(2, 1, 3, previous=(1, 1), new=entries(3, 3, first=2)), 0)

    core.persisted(0)
    assert core.durable_index == 1

    persist = core.take_effects().persist
    assert (persist.truncate_from, persist.entries) == (2, entries(3, 3, first=2))
    core.persisted(0)
    assert core.durable_index == 3


def test_openraft_1964_what_replaces_durable_entries_is_not_durable_yet():
    core = make_core(1, state_of(1, 1, 1))
    core.step(append(3, 1, 2, previous=(1, 1), new=entries(2, 2, first=2)), 0)
    assert core.durable_index == 1
    finish(core)
    assert core.durable_index == 3


def test_openraft_1964_an_acknowledgement_of_an_older_term_is_not_sent_after_the_fact():
    """What was to be acknowledged to the old leader has been replaced before it was durable."""
    core = make_core(1, state_of(1))
    core.step(append(2, 1, 1, previous=(1, 1), new=entries(1, 1, first=2)), 0)
    core.step(append(3, 1, 2, previous=(1, 1), new=entries(2, first=2)), 0)

    sent = messages(finish(core), AppendResponse)
    assert [(it.target, it.term, it.match_index) for it in sent] == [(3, 2, 2)]


def test_redpanda_11360_what_is_committed_is_never_replaced_whoever_says_so():
    core = make_core(1, state_of(1, 1, 1))
    core.step(append(2, 1, 1, previous=(3, 1), commit=3), 0)
    finish(core)
    core.step(append(3, 1, 9, previous=(1, 1), new=entries(9, first=2), commit=2), 0)

    done = finish(core)
    assert not messages(done, AppendResponse)
    assert all(it.persist is None or not it.persist.entries for it in done)
    assert core.last_index == 3


def test_etcd_21178_a_member_with_an_empty_disk_is_not_fed_from_where_it_was():
    """The leader's idea of it is of its former disk, and it may not be told to commit what it has not."""
    core = make_core(1)
    core.step(append(2, 1, 3, previous=(7, 3), commit=7), 0)

    (response,) = messages(finish(core))
    assert (response.success, response.conflict_index) == (False, 1)
    assert core.commit_index == 0


def test_kafka_17426_a_wiped_disk_acknowledges_nothing_as_its_former_self():
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.isolate(2)
    cluster.propose(1, b"on 1 and 3")
    cluster.settle()
    before = cluster.core(1).commit_index
    cluster.crash(3)
    cluster.wipe(3)
    cluster.propose(1, b"on 1 alone")
    cluster.pass_time(3 * HEARTBEAT_MS)

    assert cluster.core(1).commit_index == before


def test_kafka_17426_a_wiped_disk_votes_for_nobody_as_its_former_self():
    """1 and 3 have committed; 3 is wiped; 2, which lacks it, must not win with 3's vote."""
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.settle()
    cluster.isolate(2)
    cluster.propose(1, b"committed by 1 and 3")
    cluster.settle()
    cluster.heal()
    cluster.crash(1)
    cluster.crash(3)
    cluster.wipe(3)
    cluster.pass_time(20 * ELECTION_MS)

    assert cluster.leaders() == []


def test_etcd_20269_nor_while_no_entry_names_anybodys_disk():
    """The members are as configured; who has no log votes for no log, but for one that names its disk."""
    unnamed = quorum(1, 2, 3, named=False)
    wiped = make_core(3, initial=unnamed, directory_id=directory(3, 1))
    granted = []
    for means in (quorum(3, named=False).members[0].directory_id, directory(3), directory(3, 1)):
        wiped.step(ask_vote(2, 3, 5, last=(4, 1), means=means), 0)
        granted += [it.granted for it in messages(finish(wiped))]

    assert granted == [False, False, True]


def test_kafka_17426_a_request_that_means_another_disk_gets_no_vote():
    core = make_core(3, state_of(1), directory_id=directory(3, 1))
    core.step(ask_vote(2, 3, 5, last=(4, 1), means=directory(3)), 0)

    assert [it.granted for it in messages(finish(core))] == [False]


def test_kafka_17426_the_wiped_node_comes_back_as_a_new_member():
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.settle()
    cluster.crash(3)
    cluster.wipe(3)
    for change in (
        Remove(3, directory(3)),
        AddLearner(member(3, directory_id=directory(3, 1))),
        Promote(3),
    ):
        cluster.core(1).change_members(change, cluster.now_ms)
        cluster.pass_time(2 * HEARTBEAT_MS)
    cluster.crash(2)
    cluster.propose(1, b"needs 3")
    cluster.settle()

    assert cluster[3].applied[max(cluster[3].applied)].payload == b"needs 3"


@pytest.mark.parametrize("max_bytes", [1, 3, 7, 1_000])
def test_etcd_raft_8ecce32_no_committed_entry_is_skipped_under_a_size_limit(max_bytes):
    core = make_core(1, state_of(*[1] * 50), max_committed_bytes=max_bytes)
    core.step(append(2, 1, 1, previous=(50, 1), commit=50), 0)

    done = finish(core)
    assert [it.index for it in committed(done)] == list(range(1, 51))
    for effects in done:
        size = sum(len(it.payload) for it in effects.committed)
        assert size <= max_bytes or len(effects.committed) == 1


def test_etcd_20418_a_leader_that_was_paused_answers_no_read_from_the_past():
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.isolate(1)  # it does not run; the messages for it wait
    cluster.elect(2)
    cluster.propose(2, b"newer")
    cluster.settle()
    cluster.heal()

    core = cluster.core(1)
    assert core.role is Role.LEADER  # it has not noticed yet
    with pytest.raises(NotLeaderError):
        core.request_read(1, cluster.now_ms + 60_000)


def test_etcd_20418_nor_after_a_pause_too_short_to_be_noticed():
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.isolate(1)
    cluster.elect(2)
    cluster.heal()
    cluster.core(1).request_read(1, 0)  # by its own clock no time has passed
    cluster.settle()

    assert cluster[1].reads == {}
    assert cluster[1].reads_lost == [1]
    cluster.pass_time(2 * HEARTBEAT_MS)
    assert cluster.core(1).leader_id == 2


def test_etcd_20418_answers_that_waited_during_a_pause_prove_no_quorum():
    core = make_core(1)
    now_ms, _ = elect(core)
    resumed_ms = now_ms + 60_000
    late = [answer(it, 1, 1, match=core.last_index, round_=1) for it in (2, 3)]
    core.step(late[0], resumed_ms)

    assert core.role is Role.FOLLOWER


def test_kafka_15489_a_leader_that_only_hears_of_learners_resigns():
    core = make_core(1, initial=quorum(1, 2, 3, learners=(4,)))
    now_ms, _ = elect(core)
    for later_ms in range(0, 4 * ELECTION_MS, HEARTBEAT_MS):
        core.tick(now_ms + later_ms)
        for request in messages(finish(core, now_ms + later_ms), AppendRequest, target=4):
            core.step(answer(4, 1, 1, match=0, round_=request.round), now_ms + later_ms)

    assert core.role is Role.FOLLOWER


def test_kafka_12619_nothing_is_served_before_the_terms_first_entry_is_committed():
    core = make_core(1, state_of(1, 1, 1, term=1))
    now_ms, _ = elect(core)
    core.request_read(1, now_ms)
    for before in (3, 4):  # 4 names the members, 5 opens the term
        core.step(answer(2, 1, 2, match=before, round_=1), now_ms)
        assert not any(it.reads for it in finish(core))

    core.step(answer(2, 1, 2, match=5, round_=1), now_ms)
    (request, *_) = messages(finish(core), AppendRequest)
    core.step(answer(2, 1, 2, match=5, round_=request.round), now_ms)
    assert [it.index for effects in finish(core) for it in effects.reads] == [5]


def test_kafka_16530_a_leader_that_is_no_voter_any_more_does_not_count_itself():
    core = make_core(1)
    now_ms, _ = elect(core)
    core.step(answer(2, 1, 1, match=core.last_index), now_ms)
    position = core.change_members(Remove(1, directory(1)), now_ms)
    finish(core)

    core.step(answer(2, 1, 1, match=position.index), now_ms)
    assert core.commit_index == position.index - 1  # 2 alone is no majority of {2, 3}
    core.step(answer(3, 1, 1, match=position.index), now_ms)
    assert core.commit_index == position.index


def test_kafka_17604_a_leader_removes_itself_and_steps_down_when_that_is_committed():
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.core(1).change_members(Remove(1, directory(1)), cluster.now_ms)
    assert cluster.core(1).role is Role.LEADER
    cluster.settle()

    assert cluster.core(1).role is Role.FOLLOWER
    assert cluster.core(1).commit_index == 3
    (leader,) = cluster.leaders()  # called by the one that left: nobody waited for a timeout
    assert cluster.core(leader).configuration.voters == (2, 3)
    cluster.pass_time(10 * ELECTION_MS)
    assert cluster.leaders() == [leader]


def test_kafka_14704_a_follower_commits_only_what_it_has_compared():
    """It raised its commit index before it removed what the leader does not have."""
    core = make_core(1, state_of(1, 1, 1, 1))
    core.step(append(2, 1, 2, previous=(1, 1), new=entries(2, first=2), commit=4), 0)

    assert committed(finish(core)) == [*entries(1), *entries(2, first=2)]
    assert core.commit_index == 2


def test_etcd_raft_372_no_member_is_changed_before_an_entry_of_the_term_is_committed():
    """Raft-dev, Ongaro 2015: two leaders change the same members in two ways."""
    state = DurableState(HardState(1, NOBODY), SnapshotId(3, 1), quorum(1, 2, 3, 4))
    core = make_core(1, state)  # the members that it has are committed
    now_ms, _ = elect(core, voters=(2, 3))
    with pytest.raises(ChangeRefusedError):
        core.change_members(Remove(4, directory(4)), now_ms)

    for follower in (2, 3):
        core.step(answer(follower, 1, 2, match=4), now_ms)
    core.change_members(Remove(4, directory(4)), now_ms)


def test_etcd_raft_397_an_answer_to_an_earlier_round_confirms_no_later_read():
    core = make_core(1)
    now_ms, _ = elect(core)
    core.step(answer(2, 1, 1, match=core.last_index, round_=1), now_ms)
    finish(core)
    core.request_read(7, now_ms)
    (request, _) = messages(finish(core), AppendRequest)

    core.step(answer(3, 1, 1, match=0, round_=request.round - 1), now_ms)
    assert not any(it.reads for it in finish(core))
    core.step(answer(3, 1, 1, match=0, round_=request.round), now_ms)
    assert [it.token for effects in finish(core) for it in effects.reads] == [7]


def test_a_founding_write_that_is_torn_leaves_a_log_that_names_its_electors():
    """Otherwise nobody with an empty log would ever vote for it, nor it for them."""
    cluster = RaftCluster(initial=quorum(1, 2, named=False))
    cluster.elect(1)
    disk = cluster[1].disk
    disk.entries = disk.entries[:1]
    cluster[2].disk.entries = []
    for node_id in (1, 2):
        cluster.crash(node_id)
        cluster.restart(node_id)
    cluster.pass_time(10 * ELECTION_MS)

    assert cluster.leaders() == [1]


def test_etcd_14370_a_sole_voter_commits_only_what_is_durable():
    cluster = RaftCluster(1, initial=quorum(1))
    cluster.tick()
    cluster.settle()
    cluster[1].slow = True
    position = cluster.propose(1, b"x")
    cluster.work()
    assert position.index not in cluster[1].applied
    assert cluster.core(1).commit_index < position.index

    cluster[1].finish_write(cluster.now_ms, cluster.send)
    cluster.work()
    assert cluster[1].applied[position.index].payload == b"x"


def test_etcd_18055_two_snapshots_in_short_succession():
    cluster = RaftCluster(3, max_append_bytes=1, compaction_slack_bytes=1)
    cluster.elect(1)
    cluster.isolate(3)
    for payload in (b"a", b"b"):
        cluster.propose(1, payload)
        cluster.settle()
        cluster.snapshot(1)
    cluster.heal()
    cluster.keep_snapshots_back = True
    cluster.pass_time(2 * HEARTBEAT_MS)
    wanted = cluster[3].wanted
    assert wanted.snapshot == cluster[1].disk.snapshot

    cluster.propose(1, b"c")
    cluster.settle()
    cluster.snapshot(1)  # the one that 3 is asking for is not the newest any more
    cluster.keep_snapshots_back = False
    cluster.pass_time(3 * HEARTBEAT_MS)

    assert cluster[3].disk.snapshot == cluster[1].disk.snapshot
    assert cluster.core(3).commit_index == cluster.core(1).commit_index


def test_a_leader_whose_disk_hangs_makes_way():
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.settle()
    cluster[1].slow = True
    cluster.propose(1, b"x")
    cluster.pass_time(6 * ELECTION_MS)

    assert 1 not in cluster.leaders()
    assert len(cluster.leaders()) == 1


def test_a_disk_that_hangs_at_a_follower_holds_nobody_up():
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.settle()
    cluster[2].slow = True
    cluster.propose(1, b"x")
    cluster.pass_time(6 * ELECTION_MS)
    cluster.propose(1, b"y")
    cluster.pass_time(HEARTBEAT_MS)

    assert cluster.leaders() == [1]
    assert cluster[3].applied[max(cluster[3].applied)].payload == b"y"


def test_a_snapshot_that_is_offered_where_the_log_has_that_point_is_not_fetched():
    core = make_core(1, state_of(1, 1, 2))
    core.step(offer(2, 1, 2, SnapshotId(2, 1), round_=4), 0)

    (effects,) = [it for it in finish(core) if it.messages]
    (response,) = effects.messages
    assert effects.fetch_snapshot is None
    assert (response.success, response.match_index, response.round) == (True, 2, 4)
    assert core.commit_index == 2
    assert core.last_index == 3
    assert isinstance(offer(2, 1, 2, SnapshotId(2, 1)), SnapshotOffer)
