"""A connection: answers in the order of requests, one in service, Produce pipelined within bounds."""

import asyncio
import struct
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest

from headrace.broker.network.client import Client
from headrace.broker.network.reply import Reply
from headrace.broker.network.session import SMALL_READ_BYTES, Session
from headrace.config.node import NetworkConfig
from headrace.protocol.errors import ProtocolError
from headrace.protocol.server_connection import FRAMES_AT_ONCE, READ_BYTES, ClaimedMemory, Frame
from headrace.turns import Turns

PRODUCE, OTHER = 0, 3


def request(key: int, correlation_id: int, body: bytes = b"") -> bytes:
    header = struct.pack(">hhih", key, 3, correlation_id, -1)
    return struct.pack(">i", len(header) + len(body)) + header + body


class FakeTransport:
    """Records what a session does to its socket."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.reading = True
        self.aborted = False
        self.flushed_and_closed = False
        self.unsent_bytes = 0
        self.failure: Exception | None = None

    def get_write_buffer_size(self) -> int:
        return self.unsent_bytes

    def get_extra_info(self, name: str) -> tuple[str, int]:
        return {"peername": ("10.0.0.7", 5), "sockname": ("10.0.0.1", 9092)}[name]

    def writelines(self, buffers: list[bytes]) -> None:
        if self.failure is not None:
            raise self.failure
        self.written.append(b"".join(buffers))

    def is_closing(self) -> bool:
        return self.aborted or self.flushed_and_closed

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def abort(self) -> None:
        self.aborted = True

    def close(self) -> None:
        self.flushed_and_closed = True


class Clock:
    """Stands still unless it is told."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class FakeSessions:
    def __init__(self, *, room: bool = True) -> None:
        self.room = room
        self.config = NetworkConfig()
        self.clock = self.clock_s = Clock()
        self.turns = Turns(self.clock, share_s=1.0)
        self.reads = Turns(self.clock, share_s=1.0)
        self.claims = ClaimedMemory()
        self.tasks: list[Coroutine[Any, Any, None]] = []
        self.closed = 0

    def session_opened(self, session: Session) -> bool:
        return self.room

    def session_closed(self, session: Session) -> None:
        self.closed += 1

    def run_request(
        self, session: Session, coroutine: Coroutine[Any, Any, None], api_key: int
    ) -> None:
        self.tasks.append(coroutine)


class ManualDispatcher:
    """Keeps every request in service until the test answers it."""

    def __init__(self) -> None:
        self.started: dict[int, Reply] = {}
        self.failure: Exception | None = None

    def is_pipelined(self, frame: Frame) -> bool:
        return frame.header.api_key == PRODUCE

    def dispatch(self, frame: Frame, client: Client, reply: Reply) -> None:
        if self.failure is not None:
            raise self.failure
        self.started[frame.header.correlation_id] = reply

    def answer(self, correlation_id: int) -> None:
        self.started[correlation_id].send([str(correlation_id).encode()])


class Connection:
    """A session with its fakes."""

    def __init__(self, sessions: FakeSessions | None = None, **bounds: int) -> None:
        self.dispatcher = ManualDispatcher()
        self.sessions = sessions or FakeSessions()
        self.transport = FakeTransport()
        self.sessions.config = NetworkConfig(**{"receive_buffer_bytes": 4096, **bounds})
        self.session = Session(Client("PLAINTEXT"), self.dispatcher, self.sessions)
        self.session.connection_made(self.transport)  # type: ignore[arg-type]

    def receive(self, data: bytes) -> None:
        while data and not self.session.closed:
            buffer = self.session.get_buffer(-1)
            count = min(len(buffer), len(data))
            buffer[:count] = data[:count]
            data = data[count:]
            self.session.buffer_updated(count)


def in_loop(test: Callable[[], Coroutine[Any, Any, None] | None]) -> Callable[[], None]:
    async def run() -> None:
        rest = test()
        if rest is not None:
            await rest

    def wrapper() -> None:
        asyncio.run(run())

    wrapper.__name__ = test.__name__
    wrapper.__doc__ = test.__doc__
    return wrapper


@in_loop
def test_one_request_is_in_service_at_a_time() -> None:
    connection = Connection()
    connection.receive(request(OTHER, 1) + request(OTHER, 2))
    assert list(connection.dispatcher.started) == [1]
    assert not connection.transport.reading, "what waits is left in the client's window"
    connection.dispatcher.answer(1)
    assert list(connection.dispatcher.started) == [1, 2]
    assert connection.transport.reading
    connection.dispatcher.answer(2)
    assert connection.transport.written == [b"1", b"2"]


@in_loop
async def test_produces_start_while_others_are_being_written_and_are_answered_in_order() -> None:
    connection = Connection()
    connection.receive(b"".join(request(PRODUCE, number) for number in (1, 2, 3)))
    assert list(connection.dispatcher.started) == [1, 2, 3]
    connection.dispatcher.answer(2)
    connection.dispatcher.answer(3)
    await asyncio.sleep(0)
    assert connection.transport.written == []
    connection.dispatcher.answer(1)
    await asyncio.sleep(0)
    assert connection.transport.written == [b"123"]


@in_loop
async def test_what_one_write_to_the_wal_acknowledges_is_answered_in_one_write() -> None:
    connection = Connection()
    connection.receive(b"".join(request(PRODUCE, number) for number in (1, 2, 3, 4)))
    for number in (1, 2, 3):
        connection.dispatcher.answer(number)
    await asyncio.sleep(0)
    assert connection.transport.written == [b"123"]
    connection.dispatcher.answer(4)
    assert connection.transport.written == [b"123", b"4"], (
        "nothing else may come, so it waits for nothing"
    )


@in_loop
async def test_answers_that_a_lost_connection_leaves_are_not_written() -> None:
    connection = Connection()
    connection.receive(request(PRODUCE, 1) + request(PRODUCE, 2))
    connection.dispatcher.answer(1)
    connection.session.connection_lost(None)
    await asyncio.sleep(0)
    assert connection.transport.written == []


@in_loop
def test_another_request_waits_for_the_produces_before_it_and_holds_up_those_behind_it() -> None:
    connection = Connection()
    connection.receive(request(PRODUCE, 1) + request(OTHER, 2) + request(PRODUCE, 3))
    assert list(connection.dispatcher.started) == [1]
    connection.dispatcher.answer(1)
    assert list(connection.dispatcher.started) == [1, 2]
    connection.dispatcher.answer(2)
    assert list(connection.dispatcher.started) == [1, 2, 3]


@in_loop
async def test_requests_are_timed_from_their_last_byte_to_the_write_of_their_answer() -> None:
    """Also while they wait for a bound, or for the answer of an earlier one."""
    connection = Connection(max_produce_inflight_requests=2)
    clock = connection.sessions.clock
    took_s: dict[int, float] = {}
    first = request(PRODUCE, 1)
    connection.receive(first[:-1])
    clock.now_s = 0.125
    connection.receive(first[-1:])
    clock.now_s = 0.25
    connection.receive(b"".join(request(PRODUCE, number) for number in (2, 3)))
    for number, reply in connection.dispatcher.started.items():
        reply.observe = partial(took_s.__setitem__, number)
    clock.now_s = 0.5
    connection.dispatcher.answer(2)
    assert took_s == {}
    clock.now_s = 0.625
    connection.dispatcher.answer(1)
    await asyncio.sleep(0)
    assert took_s == {1: 0.5, 2: 0.375}
    connection.dispatcher.started[3].observe = partial(took_s.__setitem__, 3)
    clock.now_s = 0.875
    connection.dispatcher.answer(3)
    assert took_s[3] == 0.625


@in_loop
async def test_pipelined_requests_are_bounded_in_number() -> None:
    connection = Connection(max_produce_inflight_requests=2)
    connection.receive(b"".join(request(PRODUCE, number) for number in (1, 2, 3)))
    assert list(connection.dispatcher.started) == [1, 2]
    assert not connection.transport.reading
    connection.dispatcher.answer(1)
    await asyncio.sleep(0)
    assert list(connection.dispatcher.started) == [1, 2, 3]
    assert connection.transport.reading


@in_loop
async def test_pipelined_requests_are_bounded_in_bytes() -> None:
    connection = Connection(max_produce_inflight_bytes=1000)
    connection.receive(b"".join(request(PRODUCE, n, bytes(600)) for n in (1, 2, 3)))
    assert list(connection.dispatcher.started) == [1, 2]
    connection.dispatcher.answer(1)
    await asyncio.sleep(0)
    assert list(connection.dispatcher.started) == [1, 2, 3]


@in_loop
async def test_the_next_produce_starts_when_one_that_takes_time_has_taken_effect() -> None:
    connection = Connection()
    dispatch = connection.dispatcher.dispatch

    async def validated() -> None: ...

    def validate(frame: Frame, client: Client, reply: Reply) -> Any:
        dispatch(frame, client, reply)
        return validated() if frame.header.correlation_id == 1 else None

    connection.dispatcher.dispatch = validate  # type: ignore[method-assign]
    connection.receive(request(PRODUCE, 1) + request(PRODUCE, 2) + request(OTHER, 3))
    assert list(connection.dispatcher.started) == [1]
    with pytest.raises(StopIteration):
        connection.sessions.tasks[0].send(None)
    assert list(connection.dispatcher.started) == [1, 2], "it need not be answered"
    connection.dispatcher.answer(1)
    connection.dispatcher.answer(2)
    await asyncio.sleep(0)
    assert list(connection.dispatcher.started) == [1, 2, 3]


@in_loop
def test_a_produce_that_had_to_wait_is_not_overtaken() -> None:
    connection = Connection()
    dispatch = connection.dispatcher.dispatch

    async def parked() -> None: ...

    def park(frame: Frame, client: Client, reply: Reply) -> Any:
        dispatch(frame, client, reply)
        return parked() if frame.header.correlation_id == 1 else None

    connection.dispatcher.dispatch = park  # type: ignore[method-assign]
    connection.receive(request(PRODUCE, 1) + request(PRODUCE, 2))
    assert list(connection.dispatcher.started) == [1]
    connection.dispatcher.answer(1)
    assert list(connection.dispatcher.started) == [1, 2]
    for task in connection.sessions.tasks:
        with pytest.raises(StopIteration):
            task.send(None)


@in_loop
def test_a_request_without_an_answer_lets_the_next_one_through() -> None:
    connection = Connection()
    connection.receive(request(PRODUCE, 1) + request(OTHER, 2))
    connection.dispatcher.started[1].nothing()
    connection.dispatcher.answer(2)
    assert connection.transport.written == [b"2"]


@in_loop
def test_no_request_is_started_while_the_client_does_not_read() -> None:
    connection = Connection()
    connection.session.pause_writing()
    assert not connection.transport.reading
    connection.receive(request(OTHER, 1))
    assert connection.dispatcher.started == {}
    connection.session.resume_writing()
    assert list(connection.dispatcher.started) == [1]
    assert connection.transport.reading


@pytest.mark.unexpected_errors
@pytest.mark.parametrize("failure", [ProtocolError("bad body"), RuntimeError("a bug")])
def test_what_a_request_breaks_is_its_own_connection(failure: Exception) -> None:
    def run() -> None:
        connection = Connection()
        connection.dispatcher.failure = failure
        connection.receive(request(OTHER, 1) + request(OTHER, 2))
        assert connection.transport.is_closing()
        assert connection.session.closed

    in_loop(run)()


@in_loop
def test_garbage_closes_the_connection() -> None:
    connection = Connection()
    connection.receive(b"GET / HTTP/1.1\r\n\r\n")
    assert connection.transport.flushed_and_closed
    assert connection.dispatcher.started == {}


@in_loop
def test_what_stands_before_garbage_is_answered_first() -> None:
    connection = Connection()
    connection.receive(request(OTHER, 1) + request(OTHER, 2) + struct.pack(">i", -1))
    assert not connection.transport.reading
    connection.dispatcher.answer(1)
    assert not connection.session.closed
    connection.dispatcher.answer(2)
    assert connection.transport.written == [b"1", b"2"]
    assert connection.transport.flushed_and_closed, "an abort would lose the answers"


@in_loop
def test_what_is_in_service_when_garbage_comes_is_answered_first() -> None:
    connection = Connection()
    connection.receive(request(OTHER, 1))
    connection.receive(struct.pack(">i", -1))
    assert not connection.transport.reading
    assert not connection.session.closed
    connection.dispatcher.answer(1)
    assert connection.transport.written == [b"1"]
    assert connection.transport.flushed_and_closed


@pytest.mark.unexpected_errors
@in_loop
def test_an_answer_that_cannot_be_written_costs_its_connection_only() -> None:
    """Whoever answers is acknowledging batches, and goes on to those of other clients."""
    connection = Connection()
    connection.receive(request(PRODUCE, 1))
    connection.transport.failure = RuntimeError("the handle is closed")
    connection.dispatcher.answer(1)
    assert connection.transport.aborted


@in_loop
def test_a_client_that_does_not_read_stands_still_whatever_it_has_sent() -> None:
    connection = Connection()
    connection.receive(request(OTHER, 1))
    assert not connection.session.has_stood_still_since(float("inf")), "it waits for its answer"
    connection.transport.unsent_bytes = 1_000
    connection.session.pause_writing()
    connection.dispatcher.answer(1)
    connection.receive(request(OTHER, 2))
    later = asyncio.get_running_loop().time() + 600
    assert connection.session.has_stood_still_since(later)


@in_loop
def test_a_client_that_reads_slowly_does_not_stand_still() -> None:
    connection = Connection()
    session, transport = connection.session, connection.transport
    transport.unsent_bytes = 1_000
    session.pause_writing()
    assert session.has_stood_still_since(float("inf"))
    for unsent_bytes in (900, 800):
        session.activity.last_s = -600.0
        transport.unsent_bytes = unsent_bytes
        assert not session.has_stood_still_since(0.0)
    session.activity.last_s = -600.0
    assert session.has_stood_still_since(0.0)


@in_loop
def test_a_rejected_client_that_reads_nothing_stands_still() -> None:
    connection = Connection()
    connection.dispatcher.failure = ProtocolError("bad body")
    connection.receive(request(OTHER, 1))
    assert connection.transport.flushed_and_closed
    assert connection.session.has_stood_still_since(float("inf"))


@in_loop
def test_a_long_wait_for_an_answer_is_no_idleness_afterwards() -> None:
    connection = Connection()
    connection.receive(request(OTHER, 1))
    connection.session.activity.last_s = -600.0
    connection.dispatcher.answer(1)
    assert not connection.session.has_stood_still_since(0.0)


@in_loop
def test_what_only_waits_is_told_that_its_client_has_left() -> None:
    connection = Connection()
    connection.receive(request(OTHER, 1))
    reply = connection.dispatcher.started[1]
    lost: list[bool] = []
    reply.on_lost = lambda: lost.append(reply.is_lost)
    connection.session.connection_lost(None)
    assert lost == [True]


@in_loop
async def test_a_connection_that_is_to_finish_answers_what_is_in_service_and_starts_nothing_more() -> (
    None
):
    connection = Connection()
    connection.receive(request(PRODUCE, 1) + request(PRODUCE, 2) + request(OTHER, 3))
    connection.session.finish()
    assert not connection.transport.reading
    connection.dispatcher.answer(1)
    await asyncio.sleep(0)
    assert not connection.session.closed
    connection.dispatcher.answer(2)
    assert connection.transport.written == [b"1", b"2"]
    assert connection.transport.flushed_and_closed
    assert list(connection.dispatcher.started) == [1, 2]


@in_loop
def test_an_idle_connection_finishes_at_once() -> None:
    connection = Connection()
    connection.session.finish()
    assert connection.transport.flushed_and_closed


@in_loop
def test_an_answer_for_a_client_that_has_left_goes_nowhere() -> None:
    connection = Connection()
    connection.receive(request(PRODUCE, 1))
    connection.session.connection_lost(None)
    connection.dispatcher.answer(1)
    assert connection.transport.written == []
    assert connection.sessions.closed == 1


@in_loop
def test_the_client_of_a_request_is_who_is_connected() -> None:
    connection = Connection()
    clients: list[Client] = []
    dispatch = connection.dispatcher.dispatch

    def note(frame: Frame, client: Client, reply: Reply) -> None:
        clients.append(client)
        dispatch(frame, client, reply)

    connection.dispatcher.dispatch = note  # type: ignore[method-assign]
    connection.receive(request(OTHER, 1))
    assert clients == [
        Client(
            "PLAINTEXT",
            client_host="10.0.0.7",
            client_port=5,
            local_host="10.0.0.1",
            local_port=9092,
        )
    ]


@in_loop
def test_what_is_kept_of_a_connection_tells_when_it_has_ended() -> None:
    """A fetch session keeps it, and not the session with its buffers."""
    connection = Connection()
    connection.receive(request(OTHER, 1))
    kept = connection.dispatcher.started[1].connection
    assert not kept.closed
    connection.session.close()
    assert not kept.closed, "requests in service are still to be told"
    connection.session.connection_lost(None)
    assert kept.closed


@in_loop
def test_one_connection_too_many_is_closed() -> None:
    connection = Connection()
    connection.sessions.room = False
    transport = FakeTransport()
    session = Session(Client("PLAINTEXT"), connection.dispatcher, connection.sessions)
    session.connection_made(transport)  # type: ignore[arg-type]
    assert transport.aborted


REQUESTS_PER_SHARE = 32


def busy_connection(sessions: FakeSessions, **bounds: int) -> Connection:
    """A connection whose requests are answered at once, each by a part of a turn's share."""
    connection = Connection(sessions, **bounds)
    dispatch = connection.dispatcher.dispatch

    def answer(frame: Frame, client: Client, reply: Reply) -> None:
        dispatch(frame, client, reply)
        sessions.clock.now_s += 1.0 / REQUESTS_PER_SHARE
        connection.dispatcher.answer(frame.header.correlation_id)

    connection.dispatcher.dispatch = answer  # type: ignore[method-assign]
    return connection


def requests(count: int) -> bytes:
    return b"".join(request(OTHER, number) for number in range(count))


@pytest.mark.parametrize("ends_badly", [False, True])
def test_requests_of_one_read_are_decoded_as_they_are_started(ends_badly: bool) -> None:
    """A buffer may hold 18,000 of them, which take 30 ms to decode."""

    async def test() -> None:
        connection = busy_connection(FakeSessions(), receive_buffer_bytes=65_536)
        count = 3 * FRAMES_AT_ONCE
        connection.receive(requests(count) + struct.pack(">i", -1) * ends_badly)
        started = connection.dispatcher.started
        while len(started) < count:
            before = len(started)
            assert not connection.transport.reading, "what waits is left in the client's window"
            await asyncio.sleep(0)
            assert before < len(started) <= before + REQUESTS_PER_SHARE
        assert list(started) == list(range(count))
        await asyncio.sleep(0)
        assert connection.transport.reading != ends_badly
        assert connection.transport.flushed_and_closed == ends_badly
        assert b"".join(connection.transport.written) == b"".join(b"%d" % n for n in range(count))

    asyncio.run(test())


def test_requests_that_are_answered_at_once_share_the_loop_with_others() -> None:
    """10,000 of them in one turn hold everybody up for 0.4 s."""

    async def test() -> None:
        connection = busy_connection(FakeSessions())
        count = 2 * REQUESTS_PER_SHARE + 1
        connection.receive(requests(count))
        started = connection.dispatcher.started
        assert len(started) == REQUESTS_PER_SHARE
        assert not connection.transport.reading, "what waits is left in the client's window"
        await asyncio.sleep(0)
        assert len(started) == 2 * REQUESTS_PER_SHARE
        connection.session.resume_writing()  # and nothing else makes it start more
        assert len(started) == 2 * REQUESTS_PER_SHARE
        await asyncio.sleep(0)
        assert list(started) == list(range(count))
        assert connection.transport.reading
        assert b"".join(connection.transport.written) == b"".join(b"%d" % n for n in range(count))

    asyncio.run(test())


def test_all_connections_together_have_one_share_of_a_turn_and_start_requests_in_turn() -> None:
    async def test() -> None:
        sessions = FakeSessions()
        connections = [busy_connection(sessions) for _ in range(2 * REQUESTS_PER_SHARE)]
        for connection in connections:
            connection.receive(requests(3))

        def started() -> list[int]:
            return [len(connection.dispatcher.started) for connection in connections]

        assert sum(started()) == REQUESTS_PER_SHARE
        before = started()
        while sum(before) < 3 * len(connections):
            await asyncio.sleep(0)
            now = started()
            assert 0 < sum(now) - sum(before) <= REQUESTS_PER_SHARE
            served = [it for it in now if it < 3]
            assert not served or max(served) - min(served) <= 1, "each starts one in turn"
            before = now
        for connection in connections:
            assert b"".join(connection.transport.written) == b"012"
            assert connection.transport.reading

    asyncio.run(test())


def test_what_comes_when_the_share_is_used_up_is_not_even_decoded() -> None:
    async def test() -> None:
        sessions = FakeSessions()
        busy_connection(sessions).receive(requests(REQUESTS_PER_SHARE))
        late = busy_connection(sessions)
        late.receive(struct.pack(">i", -1))
        assert not late.transport.flushed_and_closed
        assert not late.transport.reading
        await asyncio.sleep(0)
        assert late.transport.flushed_and_closed

    asyncio.run(test())


def test_answers_of_many_connections_are_written_in_many_turns() -> None:
    """One write to the WAL acknowledges records of thousands of connections."""

    async def test() -> None:
        sessions = FakeSessions()
        connections = [Connection(sessions) for _ in range(3)]
        for connection in connections:
            connection.receive(request(PRODUCE, 1) + request(PRODUCE, 2))
            writelines = connection.transport.writelines

            def write(buffers: list[bytes], to: Callable[[list[bytes]], None] = writelines) -> None:
                sessions.clock.now_s += 1.0
                to(buffers)

            connection.transport.writelines = write  # type: ignore[method-assign]
        for number in (1, 2):
            for connection in connections:
                connection.dispatcher.answer(number)
            for _ in range(4):
                before = sum(len(connection.transport.written) for connection in connections)
                await asyncio.sleep(0)
                after = sum(len(connection.transport.written) for connection in connections)
                assert after - before <= 2, "one of the share, and one that waited for it"
        for connection in connections:
            assert b"".join(connection.transport.written) == b"12"
            assert connection.transport.reading

    asyncio.run(test())


def test_large_requests_of_many_connections_are_read_in_many_turns() -> None:
    """A client fills its socket as fast as it is read: one of 100 MB could keep the loop reading."""

    async def test() -> None:
        sessions = FakeSessions()
        connections = [Connection(sessions) for _ in range(3)]
        large = memoryview(request(PRODUCE, 1, bytes(4 * READ_BYTES)))
        sent = dict.fromkeys(connections, 0)
        while min(sent.values()) < len(large):
            before = sum(sent.values())
            for connection in connections:
                for _ in range(32):  # as uvloop does with a socket that has more
                    if not connection.transport.reading or sent[connection] == len(large):
                        break
                    room = connection.session.get_buffer(-1)
                    assert len(room) <= READ_BYTES
                    read = large[sent[connection] :][: len(room)]
                    room[: len(read)] = read
                    sent[connection] += len(read)
                    sessions.clock.now_s += len(read) / (2 * READ_BYTES)
                    connection.session.buffer_updated(len(read))
            # The share is two reads. One may begin before its end, and each connection reads a little after it.
            assert sum(sent.values()) - before <= 3 * (READ_BYTES + SMALL_READ_BYTES)
            await asyncio.sleep(0)
        assert all(connection.dispatcher.started for connection in connections)

    asyncio.run(test())


def test_a_connection_that_is_lost_while_it_waits_to_read_is_left_alone() -> None:
    async def test() -> None:
        connection = Connection()
        connection.sessions.reads.is_used_up()  # begins a share
        connection.sessions.clock.now_s += 1.0
        connection.receive(request(PRODUCE, 1, bytes(READ_BYTES))[: 2 * SMALL_READ_BYTES])
        assert not connection.transport.reading
        connection.session.connection_lost(None)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not connection.transport.reading

    asyncio.run(test())


def test_a_connection_that_waits_for_both_shares_reads_only_when_it_may_start_requests() -> None:
    """Else a buffer is full of requests that nobody has taken."""

    async def test() -> None:
        sessions = FakeSessions()
        connection = Connection(sessions)
        transport, session = connection.transport, connection.session
        sessions.reads.is_used_up()  # begins its share: it is the first to have its next one
        data = request(PRODUCE, 2, bytes(READ_BYTES)) + request(PRODUCE, 3, bytes(READ_BYTES))
        connection.receive(request(PRODUCE, 1) + data[:4096])
        data = data[4096:]
        rooms: list[int] = []

        def read() -> None:
            nonlocal data
            transport.reading = True
            while transport.reading and data:
                room = session.get_buffer(-1)
                rooms.append(len(room))
                if not room:
                    return
                count = min(len(room), len(data))
                room[:count] = data[:count]
                data = data[count:]
                session.buffer_updated(count)

        transport.resume_reading = read  # type: ignore[method-assign]
        sessions.clock.now_s += 1.0
        read()
        connection.dispatcher.answer(1)
        assert not transport.reading
        for _ in range(50):
            await asyncio.sleep(0)
        assert min(rooms) > 0
        assert list(connection.dispatcher.started) == [1, 2, 3]

    asyncio.run(test())


@in_loop
async def test_what_is_acknowledged_is_answered_before_a_bad_request_ends_the_connection() -> None:
    connection = Connection()
    connection.receive(request(PRODUCE, 1) + request(PRODUCE, 2))
    connection.dispatcher.answer(1)
    connection.dispatcher.failure = ProtocolError("what is this?")
    connection.receive(request(PRODUCE, 3))
    assert connection.transport.written == [b"1"]
    assert connection.transport.flushed_and_closed


@in_loop
async def test_a_connection_has_one_place_among_those_that_wait_for_a_turn() -> None:
    connection = Connection()
    turns = connection.sessions.turns
    waits = []
    call_later = turns.call_later

    def wait(work: Callable[[], None]) -> None:
        waits.append(work)
        call_later(work)

    turns.call_later = wait  # type: ignore[method-assign]
    connection.receive(request(PRODUCE, 1) + request(PRODUCE, 2))
    await asyncio.sleep(0)
    connection.dispatcher.answer(1)  # to be written soon
    call_later(lambda: None)  # another connection waits
    connection.receive(request(PRODUCE, 3))
    for _ in range(3):
        await asyncio.sleep(0)
    assert len(waits) == 1
    assert list(connection.dispatcher.started) == [1, 2, 3]
    assert connection.transport.written == [b"1"]


@in_loop
async def test_a_connection_that_rests_reads_nothing_when_it_is_answered() -> None:
    connection = Connection()
    data = request(PRODUCE, 2, bytes(READ_BYTES))
    connection.receive(request(PRODUCE, 1) + data[:5_000])
    await asyncio.sleep(0)
    connection.sessions.reads.is_over()  # begins a share
    connection.sessions.clock.now_s += 1.0
    connection.receive(data[5_000 : 2 * SMALL_READ_BYTES])
    assert not connection.transport.reading
    connection.dispatcher.answer(1)
    assert connection.transport.written == [b"1"]
    assert not connection.transport.reading
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert connection.transport.reading


def test_what_goes_wrong_while_room_is_made_is_told() -> None:
    """uvloop closes the connection, and tells nobody why."""

    async def test() -> None:
        connection = Connection()
        told: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        connection.session._connection = None  # type: ignore[assignment]
        with pytest.raises(AttributeError):
            connection.session.get_buffer(-1)
        assert [(it["message"], it["protocol"]) for it in told] == [
            ("making room for what comes", connection.session)
        ]

    asyncio.run(test())


def test_what_a_lost_connection_claimed_is_given_back() -> None:
    async def test() -> None:
        sessions = FakeSessions()
        before_bytes = sessions.claims.left_bytes
        connection = Connection(sessions)
        connection.receive(request(PRODUCE, 1, bytes(READ_BYTES))[:-1])
        assert sessions.claims.left_bytes < before_bytes
        connection.session.connection_lost(None)
        assert sessions.claims.left_bytes == before_bytes

    asyncio.run(test())


def test_a_connection_that_waits_for_its_turn_and_is_lost_starts_nothing() -> None:
    async def test() -> None:
        sessions = FakeSessions()
        busy_connection(sessions).receive(requests(REQUESTS_PER_SHARE))
        lost, finishing = busy_connection(sessions), busy_connection(sessions)
        for connection in (lost, finishing):
            connection.receive(requests(1))
        lost.session.connection_lost(None)
        finishing.session.finish()
        await asyncio.sleep(0)
        assert not lost.dispatcher.started
        assert not finishing.dispatcher.started
        assert finishing.transport.flushed_and_closed

    asyncio.run(test())
