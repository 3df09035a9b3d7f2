"""Fetch sessions (KIP-227): epochs, what is answered, turns, and the bounded cache."""

import random
import sys
from dataclasses import replace
from types import SimpleNamespace
from uuid import UUID

import pytest

from headrace.broker.fetch.session import (
    EPOCH_MAX,
    STEP_PARTITIONS,
    FetchContext,
    FullContext,
    IncrementalContext,
    SessionlessContext,
    SessionPartition,
    next_epoch,
)
from headrace.broker.fetch.session_cache import (
    ABANDONED_MS,
    EVICTION_MS,
    MAX_SESSION_PARTITIONS,
    FetchSessions,
)
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.fetch.request import FetchPartition
from headrace.steps import completed
from tests.unit.broker.fetch.session_scene import FakeLog, Read, asks, finished, request, session_of

BY_NAME = 12
BY_ID = 13
ID = UUID(int=7)


class Client:
    """Fetches through a session, as far as the broker sees it."""

    def __init__(self, sessions: FetchSessions, version: int = BY_NAME) -> None:
        self.sessions = sessions
        self.version = version
        self.session_id = 0
        self.epoch = 0

    def begin(
        self,
        wanted: dict[str | UUID, list[FetchPartition]] | None = None,
        forgotten: dict[str | UUID, list[int]] | None = None,
        now_ms: int = 0,
    ) -> FetchContext:
        asked = request(self.session_id, self.epoch, wanted, forgotten)
        return completed(self.sessions.begin(self.version, asked, now_ms))

    def fetch(
        self,
        wanted: dict[str | UUID, list[FetchPartition]] | None = None,
        forgotten: dict[str | UUID, list[int]] | None = None,
        now_ms: int = 0,
        **reads: Read,
    ) -> list[str]:
        """One fetch; `reads` by name of partition ("t0"), else nothing new. Gives what is answered."""
        context = self.begin(wanted, forgotten, now_ms)
        answer = finished(context, read_of(context, **reads), now_ms)
        assert answer.error is ErrorCode.NONE
        self.session_id = answer.session_id
        self.epoch = next_epoch(self.epoch) if answer.session_id else 0
        return [read.name for read in answer.reads]


def name_of(target: SessionPartition) -> str:
    return f"{target.topic or 'id'}{target.index}"


def partitions(context: FetchContext) -> list[str]:
    """Names of a context's partitions, in the order in which they are read."""
    return [name_of(target) for target in context.session.all()]


def looked_at(context: FetchContext) -> list[str]:
    """Names of those that are read."""
    return [name_of(target) for target in context.session.look()]


def read_of(context: FetchContext, **reads: Read) -> list[Read]:
    """What was read of those that may have news."""
    found = []
    for target in context.session.look():
        name = name_of(target)
        found.append(replace(reads.get(name, Read(name)), target=target))
    return found


def refused(
    client: Client, code: ErrorCode, wanted: dict[str | UUID, list[FetchPartition]] | None = None
) -> None:
    with pytest.raises(KafkaError) as caught:
        client.begin(wanted)
    assert caught.value.code is code


@pytest.fixture
def sessions() -> FetchSessions:
    return FetchSessions(10, random.Random(1))


@pytest.fixture
def client(sessions: FetchSessions) -> Client:
    """A client that fetches t0, t1 and u0 in a session."""
    client = Client(sessions)
    assert client.fetch({"t": [asks(0), asks(1)], "u": [asks(0)]}) == ["t0", "t1", "u0"]
    assert client.session_id != 0
    return client


# What is answered


def test_a_last_stable_offset_that_moves_is_news(client: Client) -> None:
    assert client.fetch(t0=Read("t0", stable=3)) == ["t0"]
    assert client.fetch({"t": [asks(0)]}, t0=Read("t0", stable=3)) == []
    assert client.fetch({"t": [asks(0)]}, t0=Read("t0", stable=5)) == ["t0"]


@pytest.mark.parametrize("is_committed", [False, True])
def test_what_may_not_be_read_yet_is_not_looked_at_again_before_it_moves(
    client: Client, *, is_committed: bool
) -> None:
    log = FakeLog()
    read = Read("t0", stable=3, is_committed=is_committed, log=log)
    client.fetch({"t": [asks(0, offset=3)]}, t0=read)
    assert ("t0" in looked_at(client.begin())) is not is_committed
    client.epoch = next_epoch(client.epoch)
    log.move()
    assert "t0" in looked_at(client.begin())


def test_without_a_session(sessions: FetchSessions) -> None:
    context = completed(sessions.begin(BY_NAME, request(0, -1, {"t": [asks(0, 5, 99)]}), 0))
    assert isinstance(context, SessionlessContext)
    (one,) = context.session.look()
    assert (one.topic, one.index, one.fetch_offset, one.max_bytes) == ("t", 0, 5, 99)
    answer = finished(context, read_of(context), 0)
    assert (answer.session_id, len(answer.reads)) == (0, 1)
    assert len(sessions) == 0


def test_a_full_fetch_is_answered_in_full_and_begins_a_session(sessions: FetchSessions) -> None:
    context = completed(sessions.begin(BY_NAME, request(0, 0, {"t": [asks(0)]}), 0))
    assert isinstance(context, FullContext)
    answer = finished(context, read_of(context), 0)
    assert answer.session_id > 0
    assert len(answer.reads) == 1
    assert len(sessions) == 1


def test_an_incremental_fetch_is_of_all_partitions(client: Client) -> None:
    context = client.begin()
    assert isinstance(context, IncrementalContext)
    assert partitions(context) == ["t0", "t1", "u0"]


def test_only_news_is_answered(client: Client) -> None:
    assert client.fetch() == []
    assert client.fetch(t0=Read("t0", size_bytes=100)) == ["t0"]
    assert client.fetch(t1=Read("t1", high_watermark=11)) == ["t1"]
    assert client.fetch(t1=Read("t1", high_watermark=11)) == []
    assert client.fetch(t1=Read("t1", high_watermark=11, log_start_offset=3)) == ["t1"]
    assert client.fetch(u0=Read("u0", error=6)) == ["t1", "u0"]


def test_an_error_is_answered_every_time_and_so_is_its_end(client: Client) -> None:
    failed = Read("t0", error=6, high_watermark=-1, log_start_offset=-1)
    assert client.fetch(t0=failed) == ["t0"]
    assert client.fetch(t0=failed) == ["t0"]
    assert client.fetch() == ["t0"]
    assert client.fetch() == []


def test_an_error_in_the_full_fetch_is_remembered(sessions: FetchSessions) -> None:
    client = Client(sessions)
    client.fetch({"t": [asks(0)]}, t0=Read("t0", error=3, high_watermark=10))
    assert client.fetch() == ["t0"]


def test_partitions_are_added_changed_and_forgotten(client: Client) -> None:
    context = client.begin({"t": [asks(1, 55, 7)], "v": [asks(4)]}, {"t": [0], "w": [0]})
    assert partitions(context) == ["t1", "u0", "v4"]
    changed = context.session.all()[0]
    assert (changed.fetch_offset, changed.max_bytes) == (55, 7)
    answer = finished(context, read_of(context), 0)
    assert [read.name for read in answer.reads] == ["v4"]  # new to the client


def test_partitions_that_returned_data_go_to_the_end(client: Client) -> None:
    """So that with small limits all get their turn."""
    client.fetch(t0=Read("t0", size_bytes=100))
    assert partitions(client.begin()) == ["t1", "u0", "t0"]
    client.epoch += 1
    client.fetch(t1=Read("t1", size_bytes=1), u0=Read("u0", high_watermark=99))
    assert partitions(client.begin()) == ["u0", "t0", "t1"]


def test_a_partition_named_twice_is_one(sessions: FetchSessions) -> None:
    client = Client(sessions)
    client.fetch({"t": [asks(0, 1), asks(0, 2)]})
    (one,) = client.begin().session.look()
    assert one.fetch_offset == 2


def test_by_topic_id(sessions: FetchSessions) -> None:
    """KIP-516: names are not known to the session."""
    client = Client(sessions, BY_ID)
    client.fetch({ID: [asks(0), asks(1)]})
    context = client.begin({ID: [asks(1, 9)]}, {ID: [0]})
    (one,) = context.session.look()
    assert (one.topic, one.topic_id, one.index, one.fetch_offset) == ("", ID, 1, 9)


# What is read


def test_a_partition_with_nothing_to_tell_is_read_again_when_it_moves(client: Client) -> None:
    log = FakeLog()
    client.fetch({"t": [asks(0, 10)]}, t0=Read("t0", 10, log=log))
    context = client.begin()
    assert looked_at(context) == ["t1", "u0"]
    log.move()
    assert looked_at(context) == ["t0", "t1", "u0"]
    assert not log.readers
    client.epoch += 1
    assert client.fetch(t0=Read("t0", 11, log=log)) == ["t0"]
    assert looked_at(client.begin()) == ["t0", "t1", "u0"], "it has records that were not answered"


def test_a_partition_that_the_client_names_is_read(client: Client) -> None:
    log = FakeLog()
    client.fetch({"t": [asks(0, 10)]}, t0=Read("t0", 10, log=log))
    assert looked_at(client.begin({"t": [asks(0, 4)]})) == ["t0", "t1", "u0"]
    client.epoch += 1
    client.fetch({"t": [asks(0, 10)]}, t0=Read("t0", 10, log=log))
    assert len(log.readers) == 1


def test_an_error_is_looked_at_each_time(client: Client) -> None:
    client.fetch({"t": [asks(0, 10)]}, t0=Read("t0", 10, error=6, log=FakeLog()))
    assert looked_at(client.begin()) == ["t0", "t1", "u0"]


def test_what_moves_while_it_is_read_is_read_again(client: Client) -> None:
    log = FakeLog()
    context = client.begin({"t": [asks(0, 10)]})
    reads = read_of(context, t0=Read("t0", 10, log=log))
    reads[0].target.listen(log)
    log.move()  # to 11, after it was read
    finished(context, reads, 0)
    client.epoch += 1
    assert looked_at(client.begin()) == ["t0", "t1", "u0"]


def test_a_request_that_was_overtaken_leaves_what_is_to_be_read(client: Client) -> None:
    log = FakeLog()
    first = client.begin({"t": [asks(0, 10)]})
    reads = read_of(first, t0=Read("t0", 10, log=log))
    client.epoch += 1
    second = client.begin()
    finished(first, reads, 0)
    assert looked_at(second) == ["t0", "t1", "u0"]
    assert not log.readers


def test_a_request_that_is_overtaken_while_it_is_answered_takes_nothing_more_in(
    client: Client,
) -> None:
    log = FakeLog()
    first = client.begin({"t": [asks(0, 10)]})
    reads = read_of(first, t0=Read("t0", 10, log=log))
    assert first.begin_answer(0).error is ErrorCode.NONE
    client.epoch += 1
    second = client.begin()  # between two slices
    assert list(first.news(reads)) == reads
    assert looked_at(second) == ["t0", "t1", "u0"]
    assert not log.readers


def test_what_is_forgotten_while_it_is_read_does_not_come_back(client: Client) -> None:
    log = FakeLog()
    context = client.begin()
    reads = read_of(context, t0=Read("t0", 10, size_bytes=5, log=log))
    completed(context.session.update(request(0, 0, forgotten={"t": [0]})))
    finished(context, reads, 0)
    assert partitions(context) == ["t1", "u0"]
    assert not log.readers


def test_what_is_forgotten_has_not_moved_any_more(client: Client) -> None:
    """A fetch that waits would count it."""
    session = client.begin().session
    session.partition_moved(session.all()[0])
    completed(session.update(request(0, 0, forgotten={"t": [0]})))
    assert session.moved == set()


@pytest.mark.parametrize("how", ["forgotten", "closed", "evicted", "a full fetch", "no room"])
def test_nothing_listens_for_a_partition_that_has_left(how: str) -> None:
    sessions = FetchSessions(1, random.Random(1), max_partitions=4)
    client, log = Client(sessions), FakeLog()
    client.fetch({"t": [asks(0, 10), asks(1)]}, t0=Read("t0", 10, log=log))
    assert len(log.readers) == 1
    match how:
        case "forgotten":
            context = client.begin(None, {"t": [0]})
            assert looked_at(context) == ["t1"]
        case "closed":
            client.begin(None, {"t": [0, 1]})
        case "evicted":
            Client(sessions).fetch({"u": [asks(0)]}, now_ms=EVICTION_MS + 1)
        case "a full fetch":
            client.epoch = 0
            client.begin({"u": [asks(0)]})
        case "no room":
            refused(
                client, ErrorCode.FETCH_SESSION_ID_NOT_FOUND, {"u": [asks(0), asks(1), asks(2)]}
            )
    assert not log.readers


def test_a_session_that_was_closed_while_it_waited_listens_to_nothing(client: Client) -> None:
    log = FakeLog()
    waiting = client.begin({"t": [asks(0, 10)]})
    reads = read_of(waiting, t0=Read("t0", 10, log=log))
    client.epoch = 0
    client.begin()
    assert isinstance(waiting, IncrementalContext)
    assert waiting.is_over
    finished(waiting, reads, 0)
    assert not log.readers


@pytest.mark.parametrize("epoch", [0, -1])
def test_a_fetch_without_a_session_listens_until_it_ends(epoch: int) -> None:
    client, log = Client(FetchSessions(0, random.Random(1))), FakeLog()
    client.epoch = epoch
    context = client.begin({"t": [asks(0, 10)]})
    (target,) = context.session.look()
    target.listen(log)
    assert len(log.readers) == 1
    assert finished(context, [Read("t0", 10, log=log, target=target)], 0).session_id == 0
    context.end()
    assert not log.readers


def test_a_wait_ends_with_its_session_or_with_the_next_request(client: Client) -> None:
    class Waiter:
        interrupted = 0

        def moved(self) -> None:
            raise AssertionError("nothing has moved")

        def interrupt(self) -> None:
            self.interrupted += 1

    waiter = Waiter()
    client.begin().session.waiter = waiter
    client.epoch += 1
    context = client.begin()
    assert waiter.interrupted == 1
    context.session.waiter = waiter
    client.epoch = 0
    client.begin()
    assert waiter.interrupted == 2


# Epochs


def test_an_unknown_session(sessions: FetchSessions) -> None:
    client = Client(sessions)
    client.session_id, client.epoch = 77, 1
    refused(client, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    client.session_id = 0
    refused(client, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)


@pytest.mark.parametrize("epoch", [2, 5, EPOCH_MAX])
def test_a_wrong_epoch(client: Client, epoch: int) -> None:
    client.epoch = epoch
    refused(client, ErrorCode.INVALID_FETCH_SESSION_EPOCH)
    client.epoch = 1
    assert client.fetch() == []  # the session is as it was


def test_a_repeated_request_is_refused(client: Client) -> None:
    client.fetch()
    client.epoch -= 1
    refused(client, ErrorCode.INVALID_FETCH_SESSION_EPOCH)


@pytest.mark.parametrize(("first", "second"), [(BY_NAME, BY_ID), (BY_ID, BY_NAME)])
def test_a_session_does_not_mix_names_and_ids(
    sessions: FetchSessions, first: int, second: int
) -> None:
    client = Client(sessions, first)
    client.fetch({("t" if first == BY_NAME else ID): [asks(0)]})
    client.version = second
    refused(client, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)


def test_the_epoch_wraps_to_1(client: Client, sessions: FetchSessions) -> None:
    sessions._sessions[client.session_id].epoch = EPOCH_MAX
    client.epoch = EPOCH_MAX
    assert client.fetch() == []
    assert client.epoch == 1
    assert client.fetch() == []


def test_a_fetch_that_was_overtaken_is_refused(client: Client) -> None:
    """A client that gave up waiting has sent its next request."""
    waiting = client.begin()
    client.epoch += 1
    client.fetch({"t": [asks(0, 3)]})
    answer = finished(waiting, read_of(waiting, t0=Read("t0", size_bytes=9)), 0)
    assert (answer.error, answer.session_id, list(answer.reads)) == (
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        client.session_id,
        [],
    )


# Life of a session


@pytest.mark.parametrize("epoch", [0, -1])
def test_a_full_fetch_closes_the_session_that_it_names(
    client: Client, sessions: FetchSessions, epoch: int
) -> None:
    old = client.session_id
    context = completed(sessions.begin(BY_NAME, request(old, epoch, {"t": [asks(0)]}), 0))
    assert len(sessions) == 0
    answer = finished(context, read_of(context), 0)
    assert (answer.session_id == 0) is (epoch == -1)
    assert answer.session_id != old


def test_a_session_without_partitions_is_closed(client: Client, sessions: FetchSessions) -> None:
    context = client.begin(None, {"t": [0, 1], "u": [0]})
    assert isinstance(context, SessionlessContext)
    assert finished(context, [], 0).session_id == 0
    assert len(sessions) == sessions.partition_count == 0


def test_slots_are_bounded() -> None:
    sessions = FetchSessions(2, random.Random(1))
    clients = [Client(sessions) for _ in range(3)]
    for client in clients:
        client.fetch({"t": [asks(0)]}, now_ms=0)
    assert [client.session_id > 0 for client in clients] == [True, True, False]
    assert len(sessions) == 2
    assert clients[2].fetch({"t": [asks(0)]}) == ["t0"]  # goes on with full fetches


def test_the_session_that_was_not_used_longest_makes_room() -> None:
    sessions = FetchSessions(2, random.Random(1))
    first, second, third = (Client(sessions) for _ in range(3))
    first.fetch({"t": [asks(0)]}, now_ms=0)
    second.fetch({"t": [asks(0)]}, now_ms=1)
    first.fetch(now_ms=2)
    third.fetch({"t": [asks(0)]}, now_ms=1 + EVICTION_MS)
    assert third.session_id == 0
    third.fetch({"t": [asks(0)]}, now_ms=2 + EVICTION_MS)
    assert third.session_id > 0
    refused(second, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    assert first.fetch(now_ms=2 + EVICTION_MS) == []
    assert sessions.evictions == 1


@pytest.mark.parametrize("partitions", [1, 3 * STEP_PARTITIONS])
def test_the_session_of_a_client_that_is_gone_is_removed_with_its_partitions(
    partitions: int,
) -> None:
    sessions = FetchSessions(9, random.Random(1))
    gone, connected, used = (Client(sessions) for _ in range(3))
    kept = {}
    for client, is_closed in ((gone, True), (connected, False), (used, True)):
        context = client.begin({"t": [asks(index) for index in range(partitions)]}, now_ms=0)
        kept[client] = context.session
        context.session.connection = SimpleNamespace(closed=is_closed)
        client.session_id = finished(context, read_of(context), 0).session_id
        client.epoch = 1
    used.fetch(now_ms=1)
    sessions.remove_abandoned(ABANDONED_MS - 1)
    assert len(sessions) == 3
    sessions.remove_abandoned(ABANDONED_MS)
    completed(sessions.leave_closed())
    assert len(sessions) == 2
    assert sessions.partition_count == 2 * partitions
    assert kept[gone].is_closed
    assert not kept[gone].partitions
    assert not kept[gone].moved | kept[gone].changed
    refused(gone, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    assert connected.fetch(now_ms=ABANDONED_MS) == []


def test_the_sessions_of_many_clients_that_are_gone_are_left_some_at_a_time() -> None:
    sessions = FetchSessions(9, random.Random(1))
    kept = []
    for _ in range(3):
        context = Client(sessions).begin({"t": [asks(0), asks(1)]}, now_ms=0)
        context.session.connection = SimpleNamespace(closed=True)
        finished(context, read_of(context), 0)
        kept.append(context.session)
    sessions.remove_abandoned(ABANDONED_MS)
    assert (len(sessions), sessions.partition_count) == (0, 0)
    left = [[len(it.partitions) for it in kept] for _ in sessions.leave_closed()]
    assert left == [[0, 2, 2], [0, 0, 2], [0, 0, 0]]


def test_a_larger_session_makes_a_smaller_old_one_go() -> None:
    sessions = FetchSessions(2, random.Random(1))
    small, large, new = (Client(sessions) for _ in range(3))
    small.fetch({"t": [asks(0)]}, now_ms=0)
    large.fetch({"t": [asks(index) for index in range(5)]}, now_ms=0)
    for now_ms in (EVICTION_MS, EVICTION_MS + 1):
        small.fetch(now_ms=now_ms)
        large.fetch(now_ms=now_ms)
    new.fetch({"t": [asks(0)]}, now_ms=EVICTION_MS + 1)
    assert new.session_id == 0  # not larger
    new.fetch({"t": [asks(0), asks(1)]}, now_ms=EVICTION_MS)
    assert new.session_id == 0  # none is old enough
    new.fetch({"t": [asks(0), asks(1)]}, now_ms=EVICTION_MS + 1)
    assert new.session_id > 0
    refused(small, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    assert large.fetch(now_ms=EVICTION_MS + 1) == []


def test_a_session_that_was_evicted_while_it_waited_is_still_answered() -> None:
    sessions = FetchSessions(1, random.Random(1))
    first, second = Client(sessions), Client(sessions)
    first.fetch({"t": [asks(0)]}, now_ms=0)
    waiting = first.begin(now_ms=0)
    read = read_of(waiting, t0=Read("t0", size_bytes=5))
    second.fetch({"t": [asks(0)]}, now_ms=EVICTION_MS + 1)
    answer = finished(waiting, read, EVICTION_MS + 1)
    assert [read.name for read in answer.reads] == ["t0"]
    first.epoch += 1
    refused(first, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)


def test_partitions_are_bounded_over_all_sessions() -> None:
    sessions = FetchSessions(10, random.Random(1), max_partitions=5)
    first, second = Client(sessions), Client(sessions)
    first.fetch({"t": [asks(0), asks(1), asks(2)]})
    second.fetch({"t": [asks(0), asks(1), asks(2)]})
    assert (first.session_id > 0, second.session_id) == (True, 0)
    second.fetch({"t": [asks(0), asks(1)]})
    assert sessions.partition_count == 5
    with pytest.raises(KafkaError) as caught:
        first.begin({"u": [asks(0)]})
    assert caught.value.code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert sessions.partition_count == 2
    assert len(sessions) == 1


def test_no_slots_at_all() -> None:
    client = Client(FetchSessions(0, random.Random(1)))
    client.fetch({"t": [asks(0)]})
    assert client.session_id == 0


def test_session_ids_do_not_repeat() -> None:
    class Repeating(random.Random):
        def __init__(self) -> None:
            super().__init__()
            self.numbers = iter([5, 5, 5, 6])

        def randint(self, a: int, b: int) -> int:
            return next(self.numbers)

    sessions = FetchSessions(10, Repeating())
    first, second = Client(sessions), Client(sessions)
    first.fetch({"t": [asks(0)]})
    second.fetch({"t": [asks(0)]})
    assert (first.session_id, second.session_id) == (5, 6)


class TestManyPartitions:
    """No step of what is done with a session changes more than `STEP_PARTITIONS`."""

    MANY = 5 * STEP_PARTITIONS + 1

    def client(self) -> tuple[Client, list[FakeLog]]:
        """A session that listens to very many partitions."""
        client = Client(FetchSessions(2, random.Random(1)))
        client.fetch({"t": [asks(index, 10) for index in range(self.MANY)]})
        logs = [FakeLog() for _ in range(self.MANY)]
        context = client.begin()
        client.epoch += 1
        for target, log in zip(context.session.all(), logs, strict=True):
            target.listen(log)
        return client, logs

    def test_how_many_once_had_news_costs_nothing_later(self) -> None:
        client, logs = self.client()
        context = client.begin()
        client.epoch += 1
        finished(context, [Read(str(it.index), target=it) for it in context.session.all()], 0)
        logs[7].move()
        assert [it.index for it in context.session.look()] == [7]
        assert sys.getsizeof(context.session.changed) == sys.getsizeof({7})

    def test_they_are_taken_in_and_forgotten_some_at_a_time(self) -> None:
        session = session_of({}, by_id=False)
        indexes = list(range(self.MANY))
        adding = request(0, 0, {"t": [asks(index) for index in indexes]})
        forgetting = request(0, 0, None, {"t": indexes})
        for change, after in ((adding, self.MANY), (forgetting, 0)):
            size = len(session.partitions)
            for _ in session.update(change):
                assert 0 < abs(len(session.partitions) - size) <= STEP_PARTITIONS
                size = len(session.partitions)
            assert len(session.partitions) == after
            assert abs(after - size) <= STEP_PARTITIONS

    def test_a_session_that_is_closed_leaves_them_some_at_a_time(self) -> None:
        client, logs = self.client()
        sessions = client.sessions
        completed(sessions.begin(BY_NAME, request(client.session_id, -1), 0))
        assert (len(sessions), sessions.partition_count) == (0, 0)
        listening = sum(len(log.readers) for log in logs)
        assert listening == self.MANY
        for _ in sessions.leave_closed():
            now = sum(len(log.readers) for log in logs)
            assert listening - now <= STEP_PARTITIONS
            listening = now
        assert listening <= STEP_PARTITIONS
        assert not any(log.readers for log in logs)
        assert not sessions.closed

    def test_what_is_closed_while_it_changes_takes_in_nothing_more(self) -> None:
        client, _ = self.client()
        sessions = client.sessions
        more = request(client.session_id, client.epoch, {"u": [asks(n) for n in range(self.MANY)]})
        taking = sessions.begin(BY_NAME, more, 0)
        next(taking)
        completed(sessions.begin(BY_NAME, request(client.session_id, -1), 0))
        with pytest.raises(StopIteration) as ended:
            next(taking)
        assert ended.value.value.is_over
        assert (len(sessions), sessions.partition_count) == (0, 0)

    def test_a_request_that_comes_while_another_is_taken_in_is_the_next_one(self) -> None:
        client, _ = self.client()
        sessions = client.sessions
        asked = {"u": [asks(n) for n in range(self.MANY)]}
        slow = sessions.begin(BY_NAME, request(client.session_id, client.epoch, asked), 0)
        next(slow)
        with pytest.raises(KafkaError) as refused:
            next(sessions.begin(BY_NAME, request(client.session_id, client.epoch), 0))
        assert refused.value.code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
        newer = completed(sessions.begin(BY_NAME, request(client.session_id, client.epoch + 1), 0))
        older = completed(slow)
        assert older.is_over
        assert not newer.is_over
        assert finished(older, [], 0).error == ErrorCode.INVALID_FETCH_SESSION_EPOCH
        assert sessions.partition_count == 2 * self.MANY

    def test_a_session_has_no_more_of_them_than_a_client_has(self) -> None:
        client = Client(FetchSessions(2, random.Random(1)))
        half = MAX_SESSION_PARTITIONS // 2
        client.fetch({"t": [asks(n) for n in range(half)]})
        client.begin({"u": [asks(n) for n in range(half)]})
        client.epoch += 1
        with pytest.raises(KafkaError) as refused:
            client.begin({"v": [asks(0)]})
        assert refused.value.code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        assert client.sessions.partition_count == 0

    def test_those_that_answer_records_go_to_the_end(self) -> None:
        client, _ = self.client()
        context = client.begin({"t": [asks(index) for index in range(self.MANY - 1)]})
        reads = [Read("", 10, target=target) for target in context.session.look()]
        assert len(reads) == self.MANY - 1
        reads[0].size_bytes = reads[3].size_bytes = 9
        finished(context, reads, 0, at_once=100)
        order = [target.index for target in context.session.all()]
        assert order == [1, 2, *range(4, self.MANY), 0, 3]
        assert [target.index for target in context.session.look()] == order[:-3] + order[-2:]
