"""What is bounded, and what is dropped."""

from itertools import product

import pytest

from headrace.metadata.raft.changes import AddLearner
from headrace.metadata.raft.effects import Role
from headrace.metadata.raft.errors import NotLeaderError, QuorumBusyError
from headrace.metadata.raft.messages import AppendRequest, AppendResponse
from headrace.metadata.raft.node_state import MAX_OUTBOX_MESSAGES
from headrace.metadata.records.entry import LogEntry, SnapshotId
from tests.unit.metadata.raft.cluster import (
    ELECTION_MS,
    HEARTBEAT_MS,
    answer,
    append,
    ask_vote,
    directory,
    elect,
    entries,
    finish,
    make_core,
    member,
    messages,
    offer,
    quorum,
    state_of,
    timeout_now,
    vote,
)

HUGE = 2**63 - 1


def test_uncommitted_bytes_are_bounded_but_for_one_large_proposal():
    core = make_core(1, max_uncommitted_bytes=10)
    now_ms, _ = elect(core)
    with pytest.raises(QuorumBusyError):
        core.propose([b"0123456789"], now_ms)  # the opening of the term is not committed yet
    core.step(answer(2, 1, 1, match=core.last_index), now_ms)

    position = core.propose([b"larger than that"], now_ms)
    with pytest.raises(QuorumBusyError):
        core.propose([b"x"], now_ms)
    finish(core)
    core.step(answer(2, 1, 1, match=position.index), now_ms)
    core.propose([b"01234"], now_ms)
    core.propose([b"56789"], now_ms)
    with pytest.raises(QuorumBusyError):
        core.propose([b"x"], now_ms)


def test_requests_are_bounded_in_bytes_but_for_one_large_entry():
    core = make_core(1, max_append_bytes=10)
    now_ms, _ = elect(core)
    core.step(answer(2, 1, 1, match=core.last_index), now_ms)
    finish(core)
    core.propose([b"1234", b"5678", b"90", b"x" * 50, b"1", b"2"], now_ms)

    sent = messages(finish(core), AppendRequest, target=2)
    assert [len(it.entries) for it in sent] == [3, 1, 2]


def test_requests_under_way_are_bounded_in_number():
    core = make_core(1, max_append_bytes=1, max_appends_inflight=3)
    now_ms, _ = elect(core)
    core.step(answer(2, 1, 1, match=core.last_index), now_ms)
    finish(core)
    first = core.propose([b"x"] * 10, now_ms).index - 9
    assert len(messages(finish(core), AppendRequest, target=2)) == 3
    core.tick(now_ms + HEARTBEAT_MS)
    (heartbeat,) = messages(finish(core), AppendRequest, target=2)
    assert heartbeat.entries == ()

    core.step(answer(2, 1, 1, match=first + 1), now_ms)
    sent = messages(finish(core), AppendRequest, target=2)
    assert [it.entries[0].index for it in sent if it.entries] == [first + 3, first + 4]


def test_a_member_that_is_silent_gets_no_entries_again_and_again():
    """What cannot be sent would pile up in the queue for it."""
    core = make_core(1)
    now_ms, done = elect(core)
    assert len(messages(done, AppendRequest, target=3)) == 1
    for beat in range(1, 5):
        core.step(answer(2, 1, 1, match=core.last_index, round_=beat), now_ms)
        core.propose([b"more"], now_ms)
        now_ms += HEARTBEAT_MS
        core.tick(now_ms)
        sent = messages(finish(core), AppendRequest, target=3)
        assert [it.entries for it in sent] == [()]


def test_lost_requests_are_noticed_by_the_next_heartbeat():
    core = make_core(1)
    now_ms, _ = elect(core)
    follower = make_core(2)
    core.step(answer(2, 1, 1, match=core.last_index), now_ms)
    follower.step(append(1, 2, 1, new=core._log.slice(1, 1_000)), now_ms)
    core.propose([b"lost"], now_ms)
    finish(core)
    now_ms += HEARTBEAT_MS
    core.tick(now_ms)
    for _ in range(3):
        for request in messages(finish(core), AppendRequest, target=2):
            follower.step(request, now_ms)
        for response in messages(finish(follower), AppendResponse):
            core.step(response, now_ms)

    assert follower.last_index == core.last_index


def test_answers_that_were_overtaken_change_nothing():
    core = make_core(1)
    now_ms, _ = elect(core)
    position = core.propose([b"x", b"y"], now_ms)
    core.step(answer(2, 1, 1, match=1), now_ms)
    finish(core)
    core.step(answer(2, 1, 1, match=position.index), now_ms)
    finish(core)
    core.step(answer(2, 1, 1, match=1), now_ms)
    core.step(answer(2, 1, 1, match=2, success=False, conflict=(-1, 1)), now_ms)

    assert core.progress()[2].match_index == position.index
    assert not messages(finish(core), target=2)


def test_an_acknowledgement_of_what_is_not_there_counts_for_nothing():
    core = make_core(1)
    now_ms, _ = elect(core)
    core.step(answer(2, 1, 1, match=core.last_index + 1), now_ms)

    assert core.commit_index == 0
    assert core.progress()[2].match_index == 0


def test_answers_that_gather_behind_a_write_are_bounded():
    core = make_core(1, state_of(1))
    core.step(append(2, 1, 1, previous=(1, 1), new=entries(1, first=2)), 0)
    core.take_effects()
    for _ in range(MAX_OUTBOX_MESSAGES + 10):
        core.step(append(2, 1, 1, previous=(1, 1)), 0)
    core.persisted(0)

    assert len(core.take_effects().messages) == MAX_OUTBOX_MESSAGES


def valid_messages(core):
    term = core.term
    last = (core.last_index, 1)
    return [
        append(2, 1, term, previous=last, new=entries(max(term, 1), first=core.last_index + 1)),
        answer(2, 1, term, match=core.last_index, round_=1),
        answer(2, 1, term, match=core.last_index, success=False, conflict=(1, 1), round_=1),
        ask_vote(2, 1, term, last=last),
        vote(2, 1, term),
        vote(2, 1, term, pre=True),
        offer(2, 1, term, SnapshotId(core.last_index + 1, 1)),
        timeout_now(2, 1, term),
    ]


def cores():
    follower = make_core(1, state_of(1, 1, 1))
    follower.step(append(3, 1, 1, previous=(3, 1), commit=2), 0)
    candidate = make_core(1, state_of(1, 1, 1))
    candidate.tick(candidate.next_tick_ms)
    leader = make_core(1, state_of(1, 1, 1))
    elect(leader)
    empty = make_core(1)
    return [follower, candidate, leader, empty]


@pytest.mark.parametrize("role", range(4))
def test_no_message_whatever_its_numbers_breaks_a_core(role):
    """Each number of each message is moved to an edge; afterwards the core still lives by its rules."""
    core = cores()[role]
    untouched = (core.role, core.term)
    fields = {
        *("term", "source", "target", "last_index", "last_term", "previous_index"),
        *("previous_term", "commit_index", "round", "match_index", "conflict_term"),
        *("conflict_index", "snapshot_index", "snapshot_term"),
    }
    now_ms = 100
    for position, value in product(range(8), (-1, 0, 1, 2, 4, 5, 2**62, 2**62 + 1, HUGE)):
        message = valid_messages(core)[position]
        for name in sorted(fields & set(message.__struct_fields__)):
            values = {it: getattr(message, it) for it in message.__struct_fields__}
            if name == "term" and value >= 2**62:
                continue  # a term that is one too high is a matter of trust
            if (core.role, core.term) != untouched:
                core = cores()[role]
            before = (core.term, core.commit_index)
            core.step(type(message)(**(values | {name: value})), now_ms)
            finish(core, now_ms)
            assert (core.term, core.commit_index) >= before
            if core.role is Role.FOLLOWER and position == 6:
                core.snapshot_failed(now_ms)
    assert core.term < 100


@pytest.mark.parametrize(
    "message",
    [
        append(2, 7, 5),
        append(1, 1, 5),
        append(-1, 1, 5, directory_id=directory(2)),
        append(2, 1, 2**62 + 1),
        append(2, 1, 5, new=entries(5, first=2)),
        append(2, 1, 5, new=entries(6)),
        append(2, 1, 5, new=(LogEntry(1, 5, b""), LogEntry(3, 5, b""))),
        append(2, 1, 5, new=entries(5, 4)),
        append(2, 1, 5, previous=(3, 4), new=entries(3, first=4)),
        append(2, 1, 5, previous=(3, 0)),
        append(2, 1, 5, previous=(0, 3)),
        append(2, 1, 5, previous=(-1, -1)),
        append(2, 1, 5, commit=-1),
        append(2, 1, 5, round_=-1),
        ask_vote(2, 1, 5, last=(1, 6)),
        ask_vote(2, 1, 5, last=(-1, 0)),
        offer(2, 1, 5, SnapshotId(0, 0)),
        offer(2, 1, 5, SnapshotId(3, 6)),
    ],
)
def test_a_message_that_contradicts_itself_is_dropped_whole(message):
    core = make_core(1)
    core.step(message, 0)

    assert (core.term, core.last_index) == (0, 0)
    assert not finish(core)


def test_members_that_cannot_be_read_are_not_taken_in():
    core = make_core(1, state_of(1, 1))
    bad = LogEntry(2, 2, b"\xc0\xff")
    core.step(append(2, 1, 2, previous=(1, 1), new=(bad,)), 0)

    done = finish(core)
    assert not messages(done)
    assert all(it.persist.truncate_from is None for it in done if it.persist)
    assert core.last_index == 2
    assert core.configuration == quorum(1, 2, 3)


def test_a_second_leader_of_a_term_is_not_listened_to():
    core = make_core(1)
    core.step(append(2, 1, 1, new=entries(1)), 0)
    finish(core)
    core.step(append(3, 1, 1, new=(LogEntry(1, 1, b"other"),)), 0)

    assert core.leader_id == 2
    assert not finish(core)


def test_who_does_not_lead_says_who_may():
    core = make_core(1)
    core.step(append(2, 1, 1), 0)
    for call in (
        lambda: core.propose([b"x"], 0),
        lambda: core.request_read(1, 0),
        lambda: core.change_members(AddLearner(member(4)), 0),
    ):
        with pytest.raises(NotLeaderError) as error:
            call()
        assert error.value.leader_id == 2


def test_time_that_goes_back_is_no_time():
    core = make_core(1)
    core.step(append(2, 1, 1), 10_000)
    core.step(append(2, 1, 1), 0)

    assert core.next_tick_ms >= 10_000 + ELECTION_MS


def test_a_late_tick_makes_a_leader_without_answers_step_down_whatever_comes_first():
    for act in (
        lambda core, now_ms: core.tick(now_ms),
        lambda core, now_ms: core.step(answer(2, 1, 1, match=2, round_=1), now_ms),
        lambda core, now_ms: core.transfer_leadership(now_ms),
    ):
        core = make_core(1)
        now_ms, _ = elect(core)
        core.step(answer(2, 1, 1, match=core.last_index, round_=1), now_ms)
        act(core, now_ms + 2 * ELECTION_MS + 1)
        assert core.role is Role.FOLLOWER


def test_progress_is_shown_while_leading():
    core = make_core(1)
    assert core.progress() == {}
    now_ms, _ = elect(core)
    core.step(answer(2, 1, 1, match=core.last_index, round_=1), now_ms + 5)
    core.tick(now_ms + 5)

    views = core.progress()
    assert views[1].match_index == core.durable_index
    assert (views[2].match_index, views[2].last_contact_ms) == (core.last_index, now_ms)
    assert views[2].last_caught_up_ms == now_ms + 5
    assert (views[3].match_index, views[3].last_caught_up_ms) == (0, 0)


def test_the_same_calls_have_the_same_effects():
    def run():
        trace = []
        core = make_core(1, seed=5)
        now_ms = 0
        for _ in range(20):
            now_ms = core.next_tick_ms
            core.tick(now_ms)
            trace += finish(core)
            core.step(vote(2, 1, core.term + 1, pre=True), now_ms)
            core.step(vote(2, 1, core.term), now_ms)
            trace += finish(core)
        return trace

    assert run() == run()
