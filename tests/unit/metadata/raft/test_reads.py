"""Reads that see all that was committed before them (thesis 6.4)."""

import pytest

from headrace.metadata.raft.changes import Remove
from headrace.metadata.raft.errors import NotLeaderError, QuorumBusyError
from headrace.metadata.raft.messages import AppendRequest
from tests.unit.metadata.raft.cluster import (
    HEARTBEAT_MS,
    RaftCluster,
    answer,
    append,
    directory,
    elect,
    finish,
    make_core,
    messages,
    quorum,
)


def serving_core(*voters, **changes):
    """A leader whose term is open; returns it, the time and its newest round."""
    core = make_core(1, initial=quorum(1, *voters), **changes)
    now_ms, _ = elect(core, voters=voters)
    for voter in voters:
        core.step(answer(voter, 1, 1, match=core.last_index, round_=1), now_ms)
    finish(core)
    return core, now_ms


def newest_round(done):
    return max(it.round for it in messages(done, AppendRequest))


def reads(done):
    return [(it.token, it.index) for effects in done for it in effects.reads]


def test_a_read_waits_for_a_round_that_began_after_it():
    core, now_ms = serving_core(2, 3)
    core.request_read(7, now_ms)
    done = finish(core)
    assert not reads(done)
    assert {it.target for it in messages(done, AppendRequest)} == {2, 3}  # at once, not with a tick

    core.step(answer(3, 1, 1, match=core.last_index, round_=newest_round(done)), now_ms)
    assert reads(finish(core)) == [(7, core.commit_index)]


def test_an_answer_that_refuses_entries_still_says_who_leads():
    core, now_ms = serving_core(2, 3)
    core.request_read(7, now_ms)
    round_ = newest_round(finish(core))
    core.step(answer(3, 1, 1, match=9, success=False, conflict=(-1, 1), round_=round_), now_ms)

    assert reads(finish(core)) == [(7, core.commit_index)]


def test_an_answer_to_a_round_that_never_was_confirms_nothing():
    core, now_ms = serving_core(2, 3)
    core.request_read(7, now_ms)
    round_ = newest_round(finish(core))
    core.step(answer(3, 1, 1, match=1, round_=round_ + 1), now_ms)

    assert not reads(finish(core))


def test_reads_share_a_round_and_those_that_come_during_it_the_next():
    core, now_ms = serving_core(2, 3)
    core.request_read(1, now_ms)
    first = newest_round(finish(core))
    core.request_read(2, now_ms)
    core.request_read(3, now_ms)
    assert not messages(finish(core))  # no round for each

    core.step(answer(2, 1, 1, match=core.last_index, round_=first), now_ms)
    done = finish(core)
    assert [token for token, _ in reads(done)] == [1]
    second = newest_round(done)
    core.step(answer(3, 1, 1, match=core.last_index, round_=first), now_ms)
    assert not reads(finish(core))
    core.step(answer(2, 1, 1, match=core.last_index, round_=second), now_ms)
    assert [token for token, _ in reads(finish(core))] == [2, 3]


def test_a_lost_round_is_repeated_by_the_next_heartbeat():
    core, now_ms = serving_core(2, 3)
    core.request_read(1, now_ms)
    finish(core)  # all of it is lost
    core.tick(now_ms + HEARTBEAT_MS)
    done = finish(core)

    core.step(answer(2, 1, 1, match=core.last_index, round_=newest_round(done)), now_ms)
    assert [token for token, _ in reads(finish(core))] == [1]


def test_a_sole_voter_answers_at_once():
    core, now_ms = serving_core()
    core.request_read(1, now_ms)

    assert reads(finish(core)) == [(1, core.commit_index)]


def test_a_read_before_the_term_is_open_waits_for_that():
    cluster = RaftCluster(3)
    core = cluster.core(1)
    cluster.now_ms = core.next_tick_ms
    core.tick(cluster.now_ms)
    while core.leader_id != 1:
        cluster.work()
        cluster.deliver(cluster.network.popleft())
    core.request_read(1, cluster.now_ms)
    assert not core.serving
    cluster.settle()

    assert core.serving
    assert cluster[1].reads == {1: core.commit_index}


def test_reads_of_a_leader_that_leads_no_more_are_lost():
    core, now_ms = serving_core(2, 3)
    core.request_read(1, now_ms)
    finish(core)
    core.request_read(2, now_ms)
    core.step(append(2, 1, 9), now_ms)

    assert [it.reads_lost for it in finish(core) if it.reads_lost] == [(1, 2)]


def test_a_leader_that_is_being_removed_needs_a_majority_of_the_others():
    core, now_ms = serving_core(2, 3)
    core.change_members(Remove(1, directory(1)), now_ms)
    core.request_read(1, now_ms)
    round_ = newest_round(finish(core))
    core.step(answer(2, 1, 1, match=1, round_=round_), now_ms)
    assert not reads(finish(core))
    core.step(answer(3, 1, 1, match=1, round_=round_), now_ms)
    assert [token for token, _ in reads(finish(core))] == [1]


def test_only_a_leader_takes_reads_and_it_takes_so_many():
    with pytest.raises(NotLeaderError):
        make_core(1).request_read(1, 0)
    core, now_ms = serving_core(2, 3, max_reads_pending=2)
    core.request_read(1, now_ms)
    core.request_read(2, now_ms)
    with pytest.raises(QuorumBusyError):
        core.request_read(3, now_ms)
