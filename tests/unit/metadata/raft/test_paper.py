"""The rules of the Raft paper (extended version) and of Ongaro's thesis, by section."""

import pytest

from headrace.metadata.raft.effects import NOBODY, Role
from headrace.metadata.raft.errors import NotLeaderError
from headrace.metadata.raft.messages import (
    AppendRequest,
    AppendResponse,
    TimeoutNow,
    VoteRequest,
    VoteResponse,
)
from headrace.metadata.records.entry import LogEntry
from tests.unit.metadata.raft.cluster import (
    ELECTION_MS,
    HEARTBEAT_MS,
    RaftCluster,
    answer,
    append,
    ask_vote,
    committed,
    elect,
    entries,
    finish,
    make_core,
    messages,
    quorum,
    state_of,
    timeout_now,
    vote,
)


@pytest.mark.parametrize(
    "message",
    [
        append(2, 1, 5),
        ask_vote(2, 1, 5),
        vote(2, 1, 5, granted=False),
        answer(2, 1, 5, success=False),
        vote(2, 1, 5, granted=False, pre=True),
    ],
    ids=["append", "vote request", "vote", "append answer", "refused pre-vote"],
)
def test_5_1_a_later_term_is_taken_over_by_every_role(message):
    """5.1: whoever sees a later term enters it; a leader or candidate becomes a follower."""
    leader, candidate, follower = make_core(1), make_core(1), make_core(1)
    now_ms, _ = elect(leader)
    candidate.tick(candidate.next_tick_ms)
    candidate.step(vote(2, 1, 1, pre=True), 1_000)
    assert candidate.role is Role.CANDIDATE
    if isinstance(message, VoteRequest):
        now_ms += 3 * ELECTION_MS  # a leader that is heard of is not given up for a vote

    for core in (leader, candidate, follower):
        core.step(message, now_ms)
        assert (core.role, core.term) == (Role.FOLLOWER, 5)


def test_5_1_a_request_of_an_older_term_is_refused_with_the_newer_one():
    """5.1: a request with an older term is refused."""
    core = make_core(1, state_of(term=7))

    for request in (
        append(2, 1, 6, new=entries(6)),
        ask_vote(2, 1, 6),
        ask_vote(2, 1, 6, pre=True),
    ):
        core.step(request, 0)
        (refusal,) = messages(finish(core))
        assert refusal.term == 7
        assert isinstance(refusal, AppendResponse | VoteResponse)
        assert not (refusal.granted if isinstance(refusal, VoteResponse) else refusal.success)
    assert core.last_index == 0


def test_5_1_an_answer_of_an_older_term_counts_for_nothing():
    """5.1: answers of an older term are ignored."""
    core = make_core(1)
    elect(core)
    elected_term = core.term
    before = core.commit_index
    core.step(answer(2, 1, elected_term - 1, match=core.last_index), 0)
    core.step(vote(2, 1, elected_term - 1), 0)

    assert core.commit_index == before
    assert not messages(finish(core))


def test_5_2_a_follower_that_hears_nothing_stands_for_election():
    """5.2: after an election timeout a follower enters the next term and votes for itself."""
    core = make_core(1)
    core.tick(core.next_tick_ms)
    assert core.role is Role.PRE_CANDIDATE
    core.step(vote(2, 1, 1, pre=True), core.next_tick_ms)

    done = finish(core)

    assert (core.role, core.term) == (Role.CANDIDATE, 1)
    assert {it.target for it in messages(done, VoteRequest) if not it.pre} == {2, 3}
    (effects,) = [it for it in done if it.persist is not None]
    assert (effects.persist.hard_state.term, effects.persist.hard_state.voted_for) == (1, 1)


def test_5_2_heartbeats_keep_a_follower_a_follower():
    """5.2: a node stays a follower as long as it hears a leader."""
    core = make_core(1)
    for now_ms in range(0, 10 * ELECTION_MS, HEARTBEAT_MS):
        core.step(append(2, 1, 1), now_ms)
        core.tick(now_ms)

    assert (core.role, core.leader_id) == (Role.FOLLOWER, 2)


@pytest.mark.parametrize(
    ("voters", "granted_by", "won"),
    [
        ((1, 2, 3), (), False),
        ((1, 2, 3), (2,), True),
        ((1, 2, 3, 4, 5), (2,), False),
        ((1, 2, 3, 4, 5), (2, 2, 2), False),
        ((1, 2, 3, 4, 5), (2, 5), True),
        ((1, 2, 3, 4), (2,), False),
    ],
)
def test_5_2_a_candidate_wins_with_a_majority_of_votes(voters, granted_by, won):
    """5.2: a candidate wins with the votes of a majority of all, each node's once."""
    core = make_core(1, initial=quorum(*voters))
    core.tick(core.next_tick_ms)
    for voter in voters[1:]:
        core.step(vote(voter, 1, 1, pre=True), 0)
    assert core.role is Role.CANDIDATE
    finish(core)
    for voter in granted_by:
        core.step(vote(voter, 1, 1), 0)
    for voter in set(voters) - {1, *granted_by}:
        core.step(vote(voter, 1, 1, granted=False), 0)

    assert (core.role is Role.LEADER) == won


def test_5_2_a_node_votes_once_a_term_first_come_first_served():
    """5.2: a node votes for one candidate of a term at most; the same one is told so again."""
    core = make_core(1)
    granted = []
    for candidate in (2, 3, 2):
        core.step(ask_vote(candidate, 1, 4), 0)
        granted += [it.granted for it in messages(finish(core))]

    assert granted == [True, False, True]


def test_5_2_who_has_a_leader_votes_for_nobody_else_in_its_term():
    """5.2: a term has one leader; a free vote of that term elects no second one."""
    core = make_core(1)
    core.step(append(2, 1, 1), 0)
    finish(core)
    core.step(ask_vote(3, 1, 1), 10 * ELECTION_MS)

    assert [it.granted for it in messages(finish(core))] == [False]


def test_5_2_a_candidate_gives_way_to_the_leader_of_its_term():
    """5.2: a candidate that hears a leader of its own term, or a later one, becomes a follower."""
    core = make_core(1)
    core.tick(core.next_tick_ms)
    core.step(vote(2, 1, 1, pre=True), 0)
    assert core.role is Role.CANDIDATE

    core.step(append(3, 1, 1), 0)

    assert (core.role, core.leader_id) == (Role.FOLLOWER, 3)


def test_5_2_election_timeouts_are_spread():
    """5.2: timeouts are drawn anew from a range, so that votes are seldom split."""
    core = make_core(1)
    waits = []
    for _ in range(50):
        started_ms = core.next_tick_ms
        core.tick(started_ms)
        waits.append(core.next_tick_ms - started_ms)

    assert min(waits) >= ELECTION_MS
    assert max(waits) <= 2 * ELECTION_MS
    assert len(set(waits)) > 25


def test_5_3_an_entry_is_committed_and_applied_once_a_majority_has_it():
    """5.3: an entry is committed once its leader has replicated it to a majority."""
    core = make_core(1, initial=quorum(1, 2, 3, 4, 5))
    now_ms, _ = elect(core, voters=(2, 3))
    position = core.propose([b"x"], now_ms)
    finish(core)

    core.step(answer(2, 1, 1, match=position.index), now_ms)
    assert core.commit_index == 0
    core.step(answer(4, 1, 1, match=position.index), now_ms)

    assert core.commit_index == position.index
    assert committed(finish(core))[-1] == LogEntry(position.index, 1, b"x")


def test_5_3_a_leader_counts_itself_only_once_its_own_write_is_durable():
    """Thesis 10.2.1: a leader may write and replicate side by side, and counts itself when it has written."""
    core = make_core(1)
    now_ms, _ = elect(core)
    position = core.propose([b"x"], now_ms)
    assert core.take_effects().persist.entries[-1].payload == b"x"

    core.step(answer(2, 1, 1, match=position.index), now_ms)
    assert core.commit_index == position.index - 1
    core.persisted(now_ms)
    assert core.commit_index == position.index


def test_5_3_followers_learn_at_once_what_is_committed():
    """5.3: the leader tells in later messages how far is committed, and followers apply it."""
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.propose(1, b"x")
    cluster.settle()  # no time passes

    assert [cluster[i].applied[3].payload for i in (1, 2, 3)] == [b"x"] * 3


@pytest.mark.parametrize(
    ("previous", "accepted"),
    [
        ((0, 0), True),
        ((2, 1), True),
        ((3, 2), True),
        ((3, 1), False),
        ((2, 2), False),
        ((4, 2), False),
    ],
)
def test_5_3_a_follower_takes_entries_only_behind_one_that_agrees(previous, accepted):
    """5.3: without an entry of that term at the previous index the request is refused."""
    core = make_core(1, state_of(1, 1, 2))
    core.step(append(2, 1, 2, previous=previous), 0)

    (response,) = messages(finish(core))
    assert response.success == accepted


def test_5_3_a_conflicting_entry_goes_with_all_behind_it():
    """5.3: an entry of another term at the same index goes, and all behind it."""
    core = make_core(1, state_of(1, 1, 2, 2, 2))
    core.step(append(2, 1, 3, previous=(2, 1), new=entries(3, first=3)), 0)

    (effects, *_) = finish(core)
    assert effects.persist.truncate_from == 3
    assert [it.term for it in effects.persist.entries] == [3]
    assert core.last_index == 3


@pytest.mark.parametrize(
    ("follower", "previous", "hint"),
    [
        ((1, 1), (5, 3), (-1, 3)),
        ((1, 2, 2, 2), (4, 3), (2, 2)),
        ((1, 1, 1), (2, 2), (1, 1)),
    ],
)
def test_5_3_a_refusal_says_where_the_conflicting_term_begins(follower, previous, hint):
    """5.3, last paragraphs: the term of the conflicting entry and its first index save round trips."""
    core = make_core(1, state_of(*follower))
    core.step(append(2, 1, 9, previous=previous), 0)

    (refusal,) = messages(finish(core))
    assert (refusal.conflict_term, refusal.conflict_index) == hint
    assert refusal.match_index == previous[0]


# Figure 7 of the paper: what followers may have when a leader of term 8 begins.
FIGURE_7_LEADER = (1, 1, 1, 4, 4, 5, 5, 6, 6, 6)
FIGURE_7 = {
    "a": (1, 1, 1, 4, 4, 5, 5, 6, 6),
    "b": (1, 1, 1, 4),
    "c": (1, 1, 1, 4, 4, 5, 5, 6, 6, 6, 6),
    "d": (1, 1, 1, 4, 4, 5, 5, 6, 6, 6, 7, 7),
    "e": (1, 1, 1, 4, 4, 4, 4),
    "f": (1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3),
}


@pytest.mark.parametrize("name", FIGURE_7)
def test_5_3_figure_7_every_follower_ends_with_the_leaders_log(name):
    """5.3: the leader finds the last entry on which they agree, and sends all behind it."""
    cluster = RaftCluster(3)
    for node_id, terms in ((1, FIGURE_7_LEADER), (2, FIGURE_7[name]), (3, FIGURE_7_LEADER)):
        disk = cluster[node_id].disk
        disk.hard_state = state_of(term=7).hard_state
        disk.entries = list(entries(*terms))
        cluster.restart(node_id)
    cluster.elect(1)

    assert cluster[2].disk.entries == cluster[1].disk.entries
    assert cluster[2].applied == cluster[1].applied


@pytest.mark.parametrize("name", FIGURE_7)
def test_5_3_hints_find_the_parting_in_a_few_round_trips(name):
    """5.3: one refusal for each conflicting term, not for each entry."""
    core = make_core(1, state_of(*FIGURE_7_LEADER, term=7))
    now_ms, done = elect(core)
    follower = make_core(2, state_of(*FIGURE_7[name], term=7))
    refusals = 0
    for _ in range(10):
        for request in messages(done, AppendRequest, target=2):
            follower.step(request, now_ms)
        responses = messages(finish(follower), AppendResponse)
        refusals += sum(not it.success for it in responses)
        for response in responses:
            core.step(response, now_ms)
        done = finish(core)

    assert follower.last_index == core.last_index
    assert refusals <= 3


def test_5_4_1_a_vote_goes_only_to_a_log_that_is_as_new():
    """5.4.1: a voter refuses a candidate whose log is older: by its last term, then by its length."""
    outcomes = {}
    for last in ((1, 1), (3, 1), (2, 2), (3, 2), (1, 3), (9, 1), (0, 0)):
        core = make_core(1, state_of(1, 1, 2))
        core.step(ask_vote(2, 1, 5, last=last), 0)
        (response,) = messages(finish(core))
        outcomes[last] = response.granted

    assert {last for last, granted in outcomes.items() if granted} == {(3, 2), (1, 3)}


def test_5_4_2_an_older_entry_is_committed_only_with_one_of_the_own_term():
    """5.4.2, figure 8: entries of earlier terms are not committed by counting copies."""
    core = make_core(1, state_of(1, 2, term=3), initial=quorum(1, 2, 3, 4, 5))
    now_ms, _ = elect(core, voters=(2, 3))
    for follower in (2, 3, 4):
        core.step(answer(follower, 1, 4, match=2), now_ms)
    assert core.commit_index == 0

    for follower in (2, 3):
        core.step(answer(follower, 1, 4, match=3), now_ms)
    assert core.commit_index == 3
    assert [it.index for it in committed(finish(core))] == [1, 2, 3]


def test_5_4_2_figure_8_with_real_nodes():
    """Figure 8: (c) an entry of term 2 on a majority is overwritten by (d); with an own entry (e) it is not."""
    cluster = RaftCluster(5)
    logs = {1: (1, 2), 2: (1, 2), 3: (1,), 4: (1,), 5: (1, 3)}
    for node_id, terms in logs.items():
        cluster[node_id].disk.hard_state = state_of(term=3).hard_state
        cluster[node_id].disk.entries = list(entries(*terms))
        cluster.restart(node_id)
    cluster.isolate(5)
    cluster.isolate(4)
    cluster.elect(1)  # sends its entry of term 2, and one of term 4 behind it, to 2 and 3
    assert cluster.core(1).commit_index >= 3

    cluster.heal()
    cluster.crash(1)
    cluster.pass_time(5 * ELECTION_MS)

    (leader,) = cluster.leaders()
    assert leader in (2, 3)
    assert all(cluster[i].applied[2].term == 2 for i in (2, 3, 4, 5))


def test_5_5_messages_that_arrive_again_change_nothing():
    """5.5: requests are idempotent; a follower that has the entries already ignores them."""
    core = make_core(1)
    request = append(2, 1, 1, new=entries(1, 1), commit=2)
    core.step(request, 0)
    finish(core)
    core.step(request, 0)

    done = finish(core)
    assert all(it.persist is None for it in done)
    assert not committed(done)
    assert [it.match_index for it in messages(done)] == [2]


def test_8_a_leader_opens_its_term_with_an_entry_and_serves_when_it_is_committed():
    """8: a leader commits a no-op of its term before it knows what is committed."""
    named = state_of(1, 1, term=1, members=quorum(1, 2, 3))
    core = make_core(1, named)
    now_ms, done = elect(core)
    first = next(it for effects in done if effects.persist for it in effects.persist.entries)

    assert first == LogEntry(4, 2, b"open 2 after 3")
    assert core.opening_index == 4
    assert not core.serving
    core.step(answer(2, 1, 2, match=4), now_ms)
    assert core.serving


def test_thesis_3_10_a_transfer_waits_for_the_log_and_then_calls_an_election():
    """Thesis 3.10: the leader stops taking requests, brings the target up to date, sends TimeoutNow."""
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.isolate(2)
    cluster.propose(1, b"only 3 has it")
    cluster.settle()
    cluster.heal()
    cluster.core(1).transfer_leadership(cluster.now_ms)
    with pytest.raises(NotLeaderError):
        cluster.propose(1, b"later")
    cluster.settle()  # no time passes: 3 does not wait for its timeout, and is not refused

    assert cluster.leaders() == [3]
    assert cluster.core(3).term == 2


def test_thesis_3_10_a_transfer_that_takes_too_long_is_given_up():
    """Thesis 3.10: if it has not happened after an election timeout, the leader goes on."""
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.core(1).transfer_leadership(cluster.now_ms)
    cluster.work()
    cluster.network = type(cluster.network)(
        it for it in cluster.network if not isinstance(it, TimeoutNow)
    )
    cluster.pass_time(ELECTION_MS + HEARTBEAT_MS)

    cluster.propose(1, b"goes on")
    cluster.settle()
    assert cluster.leaders() == [1]
    assert cluster[3].applied[max(cluster[3].applied)].payload == b"goes on"


def test_thesis_3_10_only_the_leader_calls_an_election():
    """Thesis 3.10: TimeoutNow of anybody but the leader of this term is nothing."""
    core = make_core(1)
    core.step(append(2, 1, 3), 0)
    core.step(timeout_now(3, 1, 3), 0)
    core.step(timeout_now(2, 1, 2), 0)

    assert (core.role, core.term) == (Role.FOLLOWER, 3)


def test_thesis_4_2_3_a_node_that_hears_its_leader_does_not_listen_to_candidates():
    """Thesis 4.2.3: within an election timeout of hearing a leader no vote and no term is taken."""
    for pre in (False, True):
        core = make_core(1)
        core.step(append(2, 1, 1), 1_000)
        finish(core)

        core.step(ask_vote(3, 1, 9, pre=pre), 1_000 + ELECTION_MS - 1)
        assert not messages(finish(core))
        assert core.term == 1
        core.step(ask_vote(3, 1, 9, pre=pre), 1_000 + ELECTION_MS)
        assert messages(finish(core))[0].granted


def test_thesis_4_2_3_but_to_one_that_the_leader_itself_has_called():
    """Thesis 4.2.3: an election that the leader asked for is not held up."""
    core = make_core(1)
    core.step(append(2, 1, 1), 1_000)
    finish(core)
    core.step(ask_vote(3, 1, 2, transfer=True), 1_001)

    assert messages(finish(core))[0].granted


def test_thesis_6_2_a_leader_without_a_majority_steps_down():
    """Thesis 6.2: a leader that has no round of answers from a majority for an election timeout steps down."""
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.isolate(1)
    cluster.pass_time(3 * ELECTION_MS)

    assert 1 not in cluster.leaders()
    assert cluster.core(1).leader_id == NOBODY
    with pytest.raises(NotLeaderError):
        cluster.propose(1, b"x")


def test_thesis_9_6_a_pre_vote_changes_nothing_at_the_voter():
    """Thesis 9.6: asking around enters no term and uses up no vote."""
    core = make_core(1, state_of(term=3))
    core.step(ask_vote(2, 1, 4, pre=True), 0)
    done = finish(core)

    assert (core.term, [it.persist for it in done]) == (3, [None])
    assert [(it.granted, it.term) for it in messages(done)] == [(True, 4)]


def test_thesis_9_6_a_node_that_was_cut_off_disturbs_nobody():
    """Thesis 9.6: terms do not grow in a partition without a majority."""
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.isolate(3)
    cluster.pass_time(20 * ELECTION_MS)
    assert cluster.core(3).term == 1

    cluster.heal()
    cluster.pass_time(4 * ELECTION_MS)
    assert cluster.leaders() == [1]
    assert cluster.core(1).term == 1


def test_thesis_9_6_a_pre_vote_for_a_term_that_has_been_voted_in_is_refused():
    """A pre-vote promises that the real vote would be given: not in a term whose vote is gone."""
    core = make_core(1, state_of(term=4, voted_for=3))
    core.step(ask_vote(2, 1, 4, pre=True), 0)

    assert [(it.granted, it.term) for it in messages(finish(core))] == [(False, 4)]


def test_thesis_9_6_a_pre_vote_counts_only_for_the_term_that_was_asked_for():
    """Grants come late too: one for an earlier question is none for this one."""
    core = make_core(1)
    core.tick(core.next_tick_ms)
    core.step(ask_vote(3, 1, 1, last=(0, 0)), 0)  # enters term 1 and votes for 3
    core.tick(core.next_tick_ms)
    assert core.role is Role.PRE_CANDIDATE
    core.step(vote(2, 1, 1, pre=True), core.next_tick_ms)
    assert core.role is Role.PRE_CANDIDATE
    core.step(vote(2, 1, 2, pre=True), core.next_tick_ms)

    assert (core.role, core.term) == (Role.CANDIDATE, 2)


def test_a_one_way_partition_does_not_stop_the_majority():
    """One node hears nobody but is heard: its questions move nobody who hears the leader."""
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.cut = {(1, 3), (2, 3)}
    cluster.pass_time(10 * ELECTION_MS)

    assert cluster.leaders() == [1]
    assert cluster.core(1).term == 1


def test_a_node_with_a_later_term_is_let_in_again():
    """A node that entered a later term answers its old leader with it; the next election joins them."""
    cluster = RaftCluster(3)
    cluster.elect(1)
    cluster.core(3).step(ask_vote(2, 3, 8, transfer=True), cluster.now_ms)
    cluster.settle()
    cluster.pass_time(6 * ELECTION_MS)

    (leader,) = cluster.leaders()
    assert cluster.core(leader).term > 8 - 1
    assert cluster.core(3).leader_id == leader
