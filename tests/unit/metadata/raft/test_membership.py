"""Members come and go one at a time (thesis, chapter 4); a disk belongs to one member (KIP-853)."""

import pytest

from headrace.metadata.raft.changes import AddLearner, Promote, Remove, UpdateMember, changed
from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.effects import Role
from headrace.metadata.raft.errors import ChangeRefusedError, NotLeaderError
from headrace.metadata.raft.messages import AppendRequest, VoteRequest
from headrace.metadata.records.members import NO_DIRECTORY, Member
from tests.unit.metadata.raft.cluster import (
    ELECTION_MS,
    HEARTBEAT_MS,
    RaftCluster,
    answer,
    append,
    ask_vote,
    directory,
    elect,
    finish,
    make_core,
    member,
    messages,
    naming,
    quorum,
    state_of,
    vote,
)


def serving(core, *voters):
    """Elect a core and have its term opened; returns the time."""
    now_ms, _ = elect(core, voters=voters)
    for voter in voters:
        core.step(answer(voter, 1, core.term, match=core.last_index, round_=1), now_ms)
    finish(core)
    assert core.serving
    return now_ms


# --- which changes there are


def test_a_learner_gets_the_log_and_counts_for_nothing():
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.settle()
    cluster.add(4)
    cluster.core(1).change_members(AddLearner(member(4)), cluster.now_ms)
    cluster.pass_time(2 * HEARTBEAT_MS)
    assert cluster[4].applied == cluster[1].applied

    cluster.isolate(2)
    cluster.isolate(3)
    before = cluster.core(1).commit_index
    cluster.propose(1, b"on 1 and 4")
    cluster.pass_time(HEARTBEAT_MS)
    assert cluster.core(4).last_index == before + 1
    assert cluster.core(1).commit_index == before
    cluster.pass_time(10 * ELECTION_MS)
    assert cluster.core(4).role is Role.FOLLOWER


def test_a_cluster_grows_from_one_to_three_and_shrinks_again():
    cluster = RaftCluster(1, initial=quorum(1))
    cluster.tick()
    cluster.settle()
    for node_id in (2, 3):
        cluster.add(node_id)
        for change in (AddLearner(member(node_id)), Promote(node_id)):
            cluster.core(1).change_members(change, cluster.now_ms)
            cluster.pass_time(2 * HEARTBEAT_MS)
    assert [cluster.core(i).configuration for i in (1, 2, 3)] == [quorum(1, 2, 3)] * 3

    cluster.crash(1)
    cluster.pass_time(5 * ELECTION_MS)
    (leader,) = cluster.leaders()
    cluster.core(leader).change_members(Remove(1, directory(1)), cluster.now_ms)
    cluster.pass_time(HEARTBEAT_MS)
    cluster.core(leader).change_members(Remove(5 - leader, directory(5 - leader)), cluster.now_ms)
    cluster.crash(5 - leader)
    cluster.propose(leader, b"alone")
    cluster.settle()
    assert cluster[leader].applied[max(cluster[leader].applied)].payload == b"alone"


def test_five_voters_become_three_and_five_again_under_load():
    cluster = RaftCluster(5)
    cluster.elect(1)
    cluster.settle()
    steps = [Remove(5, directory(5)), Remove(1, directory(1))]  # the leader, too
    steps += [AddLearner(member(1)), Promote(1), AddLearner(member(5)), Promote(5)]
    proposed = []
    for number, change in enumerate(steps):
        (leader,) = cluster.leaders()
        proposed.append(b"before %d" % number)
        cluster.propose(leader, proposed[-1])
        cluster.core(leader).change_members(change, cluster.now_ms)
        proposed.append(b"behind %d" % number)
        cluster.propose(leader, proposed[-1])
        cluster.pass_time(2 * HEARTBEAT_MS)

    (leader,) = cluster.leaders()
    assert cluster.core(leader).configuration == quorum(1, 2, 3, 4, 5)
    for node in cluster.nodes.values():
        payloads = [it.payload for it in node.applied.values()]
        assert [it for it in payloads if it in proposed] == proposed


def test_a_members_address_changes_and_its_vote_does_not():
    moved = Member(2, directory(2), "elsewhere", 1, False)
    after = changed(quorum(1, 2, 3), UpdateMember(moved))

    assert after.member(2) == Member(2, directory(2), "elsewhere", 1, True)


@pytest.mark.parametrize(
    "change",
    [
        AddLearner(member(2)),
        AddLearner(member(4, directory_id=directory(9))),
        Promote(2),
        Promote(7),
        Remove(7, directory(7)),
        Remove(2, directory(2, 1)),
        UpdateMember(member(7)),
        UpdateMember(member(2, directory_id=directory(2, 1))),
    ],
)
def test_what_fits_no_member_is_refused(change):
    with pytest.raises(ChangeRefusedError):
        changed(quorum(1, 2, 3, learners=(4,)), change)


def test_the_last_voter_stays():
    with pytest.raises(ChangeRefusedError):
        changed(quorum(1, learners=(2,)), Remove(1, directory(1)))


def test_nobody_is_removed_or_promoted_while_a_voter_has_never_been_heard():
    """It may have no log, would elect nobody then, and those that remain would need it."""
    unheard = Member(3, NO_DIRECTORY, "controller-3", 9093, True)
    configuration = quorum(1, 2, learners=(4,)).with_member(unheard)

    for change in (Remove(2, directory(2)), Promote(4)):
        with pytest.raises(ChangeRefusedError):
            changed(configuration, change)
    assert changed(configuration, Remove(3, NO_DIRECTORY)).voters == (1, 2)
    assert changed(configuration, AddLearner(member(5))).voters == (1, 2, 3)


# --- when


def test_one_change_is_committed_before_the_next_begins():
    core = make_core(1)
    now_ms = serving(core, 2)
    position = core.change_members(AddLearner(member(4)), now_ms)
    finish(core)
    with pytest.raises(ChangeRefusedError):
        core.change_members(AddLearner(member(5)), now_ms)

    core.step(answer(2, 1, 1, match=position.index), now_ms)
    core.change_members(AddLearner(member(5)), now_ms)
    assert core.configuration == quorum(1, 2, 3, learners=(4, 5))


def test_only_a_leader_changes_members():
    with pytest.raises(NotLeaderError):
        make_core(1).change_members(AddLearner(member(4)), 0)


def test_a_learner_is_promoted_only_once_it_has_the_log():
    """Thesis 4.2.1: a voter without the log would be a voter on whom nothing can be committed."""
    core = make_core(1)
    now_ms = serving(core, 2)
    position = core.change_members(AddLearner(member(4)), now_ms)
    finish(core)
    core.step(answer(2, 1, 1, match=position.index), now_ms)
    with pytest.raises(ChangeRefusedError):
        core.change_members(Promote(4), now_ms)
    core.step(answer(4, 1, 1, match=1), now_ms)
    with pytest.raises(ChangeRefusedError):
        core.change_members(Promote(4), now_ms)

    core.step(answer(4, 1, 1, match=position.index), now_ms)
    core.change_members(Promote(4), now_ms)
    assert core.configuration.voters == (1, 2, 3, 4)


def test_a_learner_that_keeps_up_under_load_is_promoted_and_one_that_fell_silent_is_not():
    core = make_core(1)
    now_ms = serving(core, 2)
    position = core.change_members(AddLearner(member(4)), now_ms)
    finish(core)
    for node_id in (2, 4):
        core.step(answer(node_id, 1, 1, match=position.index), now_ms)
    core.propose([b"it cannot have this yet"], now_ms)
    later_ms = now_ms + ELECTION_MS + 1
    core.tick(later_ms)
    (request, *_) = messages(finish(core, later_ms), AppendRequest, target=2)
    core.step(answer(2, 1, 1, match=position.index + 1, round_=request.round), later_ms)

    with pytest.raises(ChangeRefusedError):
        core.change_members(Promote(4), later_ms)
    core.step(answer(4, 1, 1, match=position.index + 1), later_ms)
    core.propose([b"nor this"], later_ms)
    core.change_members(Promote(4), later_ms)


def test_a_change_counts_from_its_entry_on_and_is_undone_with_it():
    """Thesis 4.1: a node goes by the newest members in its log, committed or not."""
    core = make_core(1)
    with_four = naming(2, 1, quorum(1, 2, 3, 4))
    core.step(append(2, 1, 1, new=(*state_of(1).entries, with_four)), 0)
    assert core.configuration.voters == (1, 2, 3, 4)

    core.step(append(3, 1, 2, previous=(1, 1), new=state_of(1, 2).entries[1:]), 0)
    assert core.configuration.voters == (1, 2, 3)


def test_a_restart_finds_the_members_in_the_log_before_those_of_the_snapshot_or_the_configuration():
    assert make_core(1).configuration == quorum(1, 2, 3)
    assert make_core(1, state_of(1, members=quorum(1, 9))).configuration == quorum(1, 9)


# --- a node that is no member


@pytest.mark.parametrize("initial", [Configuration(), quorum(2, 3), quorum(2, 3, learners=(1,))])
def test_who_is_no_voter_never_stands(initial):
    core = make_core(1, initial=initial)
    for now_ms in range(0, 20 * ELECTION_MS, ELECTION_MS // 2):
        core.tick(now_ms)
        assert not messages(finish(core))
    assert (core.role, core.term) == (Role.FOLLOWER, 0)


def test_who_was_removed_without_hearing_of_it_disturbs_nobody():
    """Thesis 4.2.3."""
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.settle()
    cluster.isolate(3)
    cluster.core(1).change_members(Remove(3, directory(3)), cluster.now_ms)
    cluster.pass_time(HEARTBEAT_MS)
    cluster.heal()
    cluster.pass_time(20 * ELECTION_MS)

    assert cluster.leaders() == [1]
    assert cluster.core(1).term == 1


def test_a_voter_whose_removal_only_it_has_stands_and_finishes_it():
    """Thesis 4.2.2, figure 4.6: nobody else can win, as its log is the longest."""
    cluster = RaftCluster(2)
    cluster.elect(1)
    cluster.settle()
    cluster.isolate(1)
    cluster.core(1).change_members(Remove(1, directory(1)), cluster.now_ms)
    cluster.settle()
    cluster.crash(1)
    cluster.heal()
    cluster.restart(1)
    cluster.pass_time(20 * ELECTION_MS)

    assert cluster.leaders() == [2]
    assert cluster.core(2).configuration.voters == (2,)
    assert cluster.core(1).role is Role.FOLLOWER


def test_removing_a_dead_voter_completes_what_waited_for_it():
    """The rest may be a majority, or alone, without any further answer: commits and reads go on."""
    core = make_core(1, initial=quorum(1, 2))
    now_ms = serving(core, 2)
    finish(core)
    core.propose([b"waits for 2"], now_ms)
    core.request_read(5, now_ms)
    finish(core)
    core.change_members(Remove(2, directory(2)), now_ms)

    done = finish(core, now_ms)
    assert core.commit_index == core.last_index
    assert [it.token for effects in done for it in effects.reads] == [5]


# --- disks


def test_a_founder_names_the_disks_of_those_who_elected_it_and_then_of_the_others():
    core = make_core(1, initial=quorum(1, 2, 3, named=False))
    now_ms, _ = elect(core)
    assert [it.directory_id for it in core.configuration.members] == [
        directory(1),
        directory(2),
        NO_DIRECTORY,
    ]

    core.step(answer(3, 1, 1, success=False), now_ms)
    assert core.configuration == quorum(1, 2, 3)
    assert core.last_index == 3


def test_the_members_are_named_once():
    cluster = RaftCluster(initial=quorum(1, 2, 3, named=False))
    cluster.elect(1)
    cluster.pass_time(3 * HEARTBEAT_MS)
    last_index = cluster.core(1).last_index
    assert cluster.core(1).configuration == quorum(1, 2, 3)
    cluster.elect(2)
    cluster.pass_time(3 * HEARTBEAT_MS)

    assert cluster.core(2).last_index == last_index + 1


def test_a_log_from_before_there_were_quorums_is_led_on_by_its_only_voter():
    """Its hard state is none, and it names nobody."""
    core = make_core(1, state_of(1, 1, 2, term=0), initial=quorum(1, named=False))
    core.tick(0)
    finish(core)

    assert (core.role, core.term, core.serving) == (Role.LEADER, 3, True)
    assert core.configuration == quorum(1)


def test_another_disk_of_a_member_neither_votes_nor_acknowledges():
    core = make_core(1)
    other = directory(2, 1)
    core.tick(core.next_tick_ms)
    core.step(vote(2, 1, 1, pre=True, directory_id=other), 0)
    assert core.role is Role.PRE_CANDIDATE
    core.step(vote(2, 1, 1, pre=True), 0)
    core.step(vote(2, 1, 1, directory_id=other), 0)
    assert core.role is Role.CANDIDATE
    core.step(vote(2, 1, 1), 0)
    finish(core)
    core.step(answer(2, 1, 1, match=core.last_index, directory_id=other), 0)

    assert core.commit_index == 0
    core.step(answer(2, 1, 1, match=core.last_index), 0)
    assert core.commit_index == core.last_index


def test_another_disk_of_a_member_is_not_voted_for():
    core = make_core(1)
    core.step(ask_vote(2, 1, 1, directory_id=directory(2, 1)), 0)

    assert not messages(finish(core))
    assert core.term == 0


def test_who_is_not_in_our_log_yet_may_lead_us_and_be_voted_for():
    """Thesis 4.2.2: a node may lack the entry that names the candidate."""
    core = make_core(1)
    core.step(ask_vote(9, 1, 1), 0)
    assert messages(finish(core))[0].granted
    core.step(append(9, 1, 1, new=state_of(1).entries), 0)

    assert (core.leader_id, core.last_index) == (9, 1)


def test_our_own_disk_must_be_the_one_that_is_named():
    """The wiped disk of a voter is no voter."""
    core = make_core(1, state_of(1, members=quorum(1)), directory_id=directory(1, 1))
    core.tick(10 * ELECTION_MS)

    assert core.role is Role.FOLLOWER
    assert not messages(finish(core), VoteRequest)
