"""Fetch of many partitions: what a wait costs, what holds the loop, and that nothing stays behind."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from headrace.broker.fetch.reader import SLICE_PARTITIONS, ReadResult
from headrace.broker.fetch.session import FetchSession, SessionPartition
from headrace.broker.partition.wakeups import READERS_PER_LOOK
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from tests.simulation import virtual_time
from tests.unit.broker.api.test_fetch import PLENTY, Broker, asked, only, request
from tests.unit.broker.reply_fake import FakeReply

MANY = 3_000


class ManyPartitions(Broker):
    """Serves partitions of "t", and counts how often one of them is looked up."""

    def __init__(self, partitions: int = MANY) -> None:
        super().__init__(max_fetch_bytes=50 * PLENTY)
        wake = self.registry.wakeups.wake
        self.served = [self.registry.serve("t", 1, index, wake=wake) for index in range(partitions)]
        self.looked_up = 0
        self.session = (0, 0)
        find = self.registry.find

        def counted(topic: str, index: int) -> Any:
            self.looked_up += 1
            return find(topic, index)

        self.registry.find = counted  # type: ignore[method-assign]

    def listening(self) -> int:
        return sum(len(it.partition.reads.readers) for it in self.served)

    async def begin(self) -> None:
        """A session of all partitions, which are empty."""
        all_of_them = [asked(index=index) for index in range(len(self.served))]
        wanted = request([("t", all_of_them)], session=(0, 0), max_bytes=50 * PLENTY)
        reply, rest = self.start(11, wanted)
        if rest is not None:
            await rest
        answer = reply.response(ApiKey.FETCH, 11)
        assert answer.error_code == 0
        self.session = (answer.session_id, 1)
        self.looked_up = 0

    def fetch(self, **options: Any) -> tuple[FakeReply, asyncio.Task[None] | None]:
        """The next fetch of the session; with its task, if it waits."""
        options.setdefault("topics", [])
        reply, rest = self.start(11, request(session=self.session, **options))
        self.session = (self.session[0], self.session[1] + 1)
        return reply, None if rest is None else asyncio.get_running_loop().create_task(rest)


def told(reply: FakeReply) -> list[int]:
    """The partitions of an answer."""
    response = reply.response(ApiKey.FETCH, 11)
    assert response.error_code == 0
    return [it.partition_index for topic in response.responses for it in topic.partitions]


async def turns(number: int = 10) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


def test_a_delivery_looks_only_at_what_has_moved() -> None:
    async def run() -> None:
        broker = ManyPartitions()
        await broker.begin()
        for index in (7, 2_000, 7):
            reply, waiting = broker.fetch(wait_ms=60_000)
            await turns()
            assert reply.outcome is None
            assert broker.looked_up <= 2
            broker.served[index].fill(1)
            assert waiting is not None
            await waiting
            assert told(reply) == [index]
            assert broker.looked_up <= 6
            broker.looked_up = 0
            end = broker.served[index].partition.reads.high_watermark
            reply, _ = broker.fetch(topics=[("t", [asked(end, index=index)])])
            assert told(reply) == []
            assert broker.looked_up == 1
            broker.looked_up = 0

    virtual_time.run(run())


def test_a_wait_for_many_bytes_counts_only_what_has_moved() -> None:
    async def run() -> None:
        broker = ManyPartitions()
        await broker.begin()
        reply, waiting = broker.fetch(wait_ms=60_000, min_bytes=20_000)
        await turns()
        broker.looked_up = 0
        appended = published = size = 0
        while reply.outcome is None:
            size = broker.served[appended * 7 % MANY].fill(1)
            appended += 1
            published += size
            await turns(50)
        assert published - size < 20_000 <= published
        assert broker.looked_up <= 3 * appended
        assert waiting is not None
        await waiting
        assert len(told(reply)) == appended

    virtual_time.run(run())


def test_those_that_wait_for_the_same_record_are_answered_in_many_turns() -> None:
    """A thousand of them in one turn hold everybody up for 0.1 s."""

    async def run() -> None:
        broker = ManyPartitions(1)
        wanted = request([("t", [asked()])], session=(0, -1), wait_ms=60_000)
        replies, waiting = [], []
        for _ in range(20):
            reply, rest = broker.start(11, wanted)
            assert rest is not None
            replies.append(reply)
            waiting.append(asyncio.create_task(rest))
        await turns(200)
        broker.served[0].fill(1)
        longest = answered = 0
        while answered < len(replies):
            await turns(1)
            now = sum(reply.outcome is not None for reply in replies)
            longest = max(longest, now - answered)
            answered = now
        assert longest == 1
        await asyncio.gather(*waiting)

    virtual_time.run(run())


def waiting_sessions(broker: ManyPartitions, number: int) -> list[FakeReply]:
    """So many sessions of all partitions, each with a Fetch that waits for many bytes."""
    all_of_them = [asked(index=index) for index in range(len(broker.served))]
    replies = []
    for _ in range(number):
        reply, rest = broker.start(11, request([("t", all_of_them)], session=(0, 0)))
        assert rest is None
        broker.session = (reply.response(ApiKey.FETCH, 11).session_id, 1)
        reply, waiting = broker.fetch(wait_ms=60_000, min_bytes=PLENTY)
        assert waiting is not None
        replies.append(reply)
    return replies


def test_sessions_hear_of_what_one_confirmation_has_moved_in_many_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twenty that wait on 10,000 partitions take the loop for 0.1 s otherwise, whenever all of them move."""

    async def run() -> None:
        broker = ManyPartitions(SLICE_PARTITIONS)
        sessions = 4
        broker.handler._sessions._max_slots = sessions
        waiting_sessions(broker, sessions)
        await turns(20 * sessions)
        assert broker.listening() == sessions * SLICE_PARTITIONS
        told = 0
        hear = FetchSession.partition_moved

        def heard(session: FetchSession, partition: SessionPartition) -> None:
            nonlocal told
            told += 1
            hear(session, partition)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FetchSession, "partition_moved", heard)
            for served in broker.served:
                served.fill(1)
            longest = told
            while told < sessions * SLICE_PARTITIONS:
                before = told
                await asyncio.sleep(0)
                longest = max(longest, told - before)
        assert longest <= READERS_PER_LOOK
        await cancel_all()

    monkeypatch.setattr("headrace.turns.Work.share_s", 0.0)
    virtual_time.run(run())


def test_what_was_acknowledged_is_answered_before_all_sessions_have_heard_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A client that has its acknowledgement tells another one, whose Fetch does not wait."""

    async def run() -> None:
        broker = ManyPartitions(SLICE_PARTITIONS)
        sessions = 2
        broker.handler._sessions._max_slots = sessions + 1
        waiting_sessions(broker, sessions)
        await broker.begin()
        await turns(20 * sessions)
        for served in broker.served:
            served.fill(1)
        reply, rest = broker.fetch(wait_ms=0)
        if rest is not None:
            await rest
        assert told(reply) == list(range(SLICE_PARTITIONS))
        await cancel_all()

    monkeypatch.setattr("headrace.turns.Work.share_s", 0.0)
    virtual_time.run(run())


async def cancel_all() -> None:
    """End every Fetch that waits."""
    waiting = asyncio.all_tasks() - {asyncio.current_task()}
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


def test_what_moves_in_one_turn_is_counted_once() -> None:
    async def run() -> None:
        broker = ManyPartitions(10)
        await broker.begin()
        reply, waiting = broker.fetch(wait_ms=60_000, min_bytes=PLENTY)
        await turns()
        broker.looked_up = 0
        for _ in range(50):
            broker.served[3].fill(1)
        assert broker.looked_up == 0, "a producer does not wait for it"
        await turns()
        assert broker.looked_up == 1
        assert reply.outcome is None
        assert waiting is not None
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    virtual_time.run(run())


@pytest.mark.parametrize("partitions", [4 * SLICE_PARTITIONS])
@pytest.mark.parametrize("is_filled", [False, True])
@pytest.mark.parametrize("epoch", [0, -1])
def test_a_full_fetch_lets_others_have_their_turn(
    partitions: int, is_filled: bool, epoch: int
) -> None:
    async def run() -> None:
        broker = ManyPartitions(partitions)
        for served in broker.served if is_filled else ():
            served.fill(1)
        all_of_them = [asked(index=index) for index in range(partitions)]
        reply, rest = broker.start(
            11, request([("t", all_of_them)], session=(0, epoch), max_bytes=50 * PLENTY)
        )
        assert rest is not None
        assert broker.looked_up == 0
        serving = asyncio.get_running_loop().create_task(rest)
        while not serving.done():
            before = broker.looked_up
            await asyncio.sleep(0)
            assert broker.looked_up - before <= SLICE_PARTITIONS
        assert told(reply) == list(range(partitions))
        assert len(reply.response(ApiKey.FETCH, 11).responses) == 1, "one topic"
        assert broker.looked_up == partitions

    virtual_time.run(run())


def test_what_a_large_answer_was_made_of_is_freed_some_at_a_time() -> None:
    async def run() -> None:
        broker = ManyPartitions()
        reader = broker.handler._reader
        read, results = reader.read, []

        async def noted(*targets: Any, **options: Any) -> ReadResult:
            results.append(await read(*targets, **options))
            return results[-1]

        reader.read = noted  # type: ignore[method-assign]
        all_of_them = [asked(index=index) for index in range(MANY)]
        reply, rest = broker.start(11, request([("t", all_of_them)], session=(0, 0)))
        assert rest is not None
        serving = asyncio.get_running_loop().create_task(rest)
        left = MANY
        while not serving.done():
            await asyncio.sleep(0)
            if results:
                assert 0 <= left - len(results[0].reads) <= SLICE_PARTITIONS
                left = len(results[0].reads)
        assert left == 0
        assert told(reply) == list(range(MANY))

    virtual_time.run(run())


def test_what_is_published_between_the_slices_is_not_missed() -> None:
    async def run() -> None:
        broker = ManyPartitions()
        all_of_them = [asked(index=index) for index in range(MANY)]
        _, rest = broker.start(11, request([("t", all_of_them)], session=(0, 0)))
        assert rest is not None
        serving = asyncio.get_running_loop().create_task(rest)
        while broker.looked_up < 2 * SLICE_PARTITIONS:
            await asyncio.sleep(0)
        broker.served[0].fill(1)  # has been read, and was empty
        await serving
        (kept,) = broker.handler._sessions._sessions.values()
        broker.session = (kept.session_id, 1)
        reply, _ = broker.fetch(wait_ms=60_000)
        assert told(reply) == [0]

    virtual_time.run(run())


def test_what_is_published_between_the_slices_wakes_who_goes_on_waiting() -> None:
    async def run() -> None:
        broker = ManyPartitions()
        await broker.begin()
        all_of_them = [asked(index=index) for index in range(MANY)]
        reply, waiting = broker.fetch(topics=[("t", all_of_them)], wait_ms=60_000)
        assert waiting is not None
        while broker.looked_up < 2 * SLICE_PARTITIONS:
            await asyncio.sleep(0)
        broker.served[1].fill(1)  # has been read, and was empty
        await waiting
        assert asyncio.get_running_loop().time() < 1
        assert told(reply) == [1]

    virtual_time.run(run())


async def forget_all(broker: ManyPartitions) -> None:
    broker.fetch(forgotten=[("t", range(len(broker.served)))])


async def end_the_session(broker: ManyPartitions) -> None:
    broker.session = (broker.session[0], -1)
    broker.fetch()


async def begin_another(broker: ManyPartitions) -> None:
    broker.session = (broker.session[0], 0)
    broker.fetch(topics=[("elsewhere", [asked()])])


@pytest.mark.parametrize("end", [forget_all, end_the_session, begin_another])
def test_a_session_listens_as_long_as_it_lives(end: Callable[[ManyPartitions], Any]) -> None:
    async def run() -> None:
        broker = ManyPartitions(10)
        await broker.begin()
        assert broker.listening() == 10
        for _ in range(3):
            broker.fetch()
            assert broker.listening() == 10
        await end(broker)
        assert broker.listening() == 0

    virtual_time.run(run())


@pytest.mark.parametrize("epoch", [0, -1])
@pytest.mark.parametrize("how", ["lost", "cancelled", "in time"])
def test_a_fetch_that_no_session_keeps_leaves_no_listener(epoch: int, how: str) -> None:
    async def run() -> None:
        broker = ManyPartitions(10)
        broker.handler._sessions._max_slots = 0
        wanted = [("t", [asked(index=index) for index in range(10)])]
        reply, rest = broker.start(11, request(wanted, wait_ms=500, session=(0, epoch)))
        assert rest is not None
        waiting = asyncio.get_running_loop().create_task(rest)
        await turns()
        assert broker.listening() == 10
        if how == "lost":
            reply.lose()
        elif how == "cancelled":
            waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert broker.listening() == 0

    virtual_time.run(run())


def test_the_session_goes_on_listening_when_its_client_is_lost() -> None:
    async def run() -> None:
        broker = ManyPartitions(10)
        await broker.begin()
        reply, waiting = broker.fetch(wait_ms=60_000)
        await turns()
        reply.lose()
        assert waiting is not None
        await waiting
        assert reply.outcome is None
        assert broker.listening() == 10
        broker.served[4].fill(1)
        assert broker.listening() == 9, "one that nobody reads costs its producers nothing"
        assert told(broker.fetch(wait_ms=60_000)[0]) == [4]

    virtual_time.run(run())


def test_a_newer_request_ends_the_wait_of_the_one_before() -> None:
    async def run() -> None:
        broker = ManyPartitions(10)
        await broker.begin()
        first, waiting = broker.fetch(wait_ms=60_000)
        await turns()
        second, _ = broker.fetch(wait_ms=60_000)
        assert waiting is not None
        await waiting
        assert first.response(ApiKey.FETCH, 11).error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
        await turns()
        broker.served[4].fill(1)
        await turns()
        assert told(second) == [4]

    virtual_time.run(run())


def test_a_session_that_is_closed_ends_its_wait() -> None:
    async def run() -> None:
        broker = ManyPartitions(10)
        await broker.begin()
        reply, waiting = broker.fetch(wait_ms=60_000)
        await turns()
        await end_the_session(broker)
        assert waiting is not None
        await waiting
        assert told(reply) == []
        assert broker.listening() == 0

    virtual_time.run(run())


def test_without_a_valid_lease_every_partition_says_so() -> None:
    """Also those that have not moved: their clients would wait here for what another broker takes."""

    async def run() -> None:
        broker = ManyPartitions(10)
        await broker.begin()
        broker.registry.client.has_lease = False
        reply, waiting = broker.fetch(wait_ms=60_000)
        assert waiting is not None
        await waiting
        response = reply.response(ApiKey.FETCH, 11)
        (topic,) = response.responses
        assert [it.error_code for it in topic.partitions] == [ErrorCode.NOT_LEADER_OR_FOLLOWER] * 10
        broker.registry.client.has_lease = True
        assert told(broker.fetch()[0]) == list(range(10)), "the error is over"
        assert told(broker.fetch()[0]) == []

    virtual_time.run(run())


@pytest.mark.parametrize("is_waiting", [False, True])
def test_a_partition_that_leaves_and_one_that_comes_are_told(is_waiting: bool) -> None:
    async def run() -> None:
        broker = ManyPartitions(10)
        await broker.begin()
        gone = broker.registry.served.pop(("t", 4))
        reply, waiting = broker.fetch(wait_ms=60_000) if is_waiting else (None, None)
        await turns()
        gone.partition.retire()
        if waiting is None or reply is None:
            reply, _ = broker.fetch(wait_ms=60_000)
        else:
            await waiting
        assert told(reply) == [4]
        broker.served[4] = broker.registry.serve("t", 1, 4, wake=broker.registry.wakeups.wake)
        assert told(broker.fetch()[0]) == [4]
        assert told(broker.fetch()[0]) == []
        assert (len(gone.partition.reads.readers), broker.listening()) == (0, 10)

    virtual_time.run(run())


def test_a_log_start_that_moves_is_told() -> None:
    async def run() -> None:
        broker = ManyPartitions(10)
        for _ in range(3):
            broker.served[4].fill(1)
        await broker.begin()
        told(broker.fetch(topics=[("t", [asked(3, index=4)])])[0])
        assert broker.listening() == 10
        deleting = asyncio.create_task(broker.served[4].partition.writes.delete_before(2))
        await turns()
        broker.served[4].meta.confirm()  # the checkpoint that precedes the deletion
        await deleting
        reply, _ = broker.fetch()
        response = reply.response(ApiKey.FETCH, 11)
        assert only(response).partition_index == 4
        assert only(response).log_start_offset == 2
        assert broker.listening() == 10

    virtual_time.run(run())


@pytest.mark.parametrize("version", [11, 12])
def test_an_answer_in_slices_tells_its_client_to_wait(version: int) -> None:
    async def main() -> None:
        broker = ManyPartitions(2 * SLICE_PARTITIONS)
        broker.throttle_ms = 250
        all_of_them = [asked(index=index) for index in range(len(broker.served))]
        reply, rest = broker.start(version, request([("t", all_of_them)], max_bytes=50 * PLENTY))
        assert rest is not None
        await rest
        assert reply.response(ApiKey.FETCH, version).throttle_time_ms == 250

    asyncio.run(main())
