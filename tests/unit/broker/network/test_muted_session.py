"""A client that was told to wait (KIP-219): it is answered at once, and not read until it has waited."""

import asyncio
import gc
import struct
import weakref

import pytest

from headrace.broker.network.reply import MAX_THROTTLE_MS
from tests.simulation import virtual_time
from tests.unit.broker.network.test_session import OTHER, PRODUCE, Connection, request


class Muted(Connection):
    """A session whose answers may tell the client to wait; the loop's time passes when the test sleeps."""

    def answer_with(self, number: int, throttle_ms: int) -> None:
        self.dispatcher.started[number].throttle(throttle_ms)
        self.dispatcher.answer(number)

    @property
    def started(self) -> list[int]:
        return list(self.dispatcher.started)


def test_the_answer_goes_out_at_once_and_nothing_is_read_until_the_time_is_up() -> None:
    async def test() -> None:
        connection = Muted()
        connection.receive(request(OTHER, 1))
        connection.answer_with(1, 500)
        assert connection.transport.written == [b"1"]
        assert not connection.transport.reading
        await asyncio.sleep(0.499)
        assert not connection.transport.reading
        await asyncio.sleep(0.002)
        assert connection.transport.reading
        connection.receive(request(OTHER, 2))
        connection.dispatcher.answer(2)
        assert connection.transport.written == [b"1", b"2"]
        assert connection.transport.reading

    virtual_time.run(test())


def test_what_had_come_with_the_request_waits_as_well() -> None:
    async def test() -> None:
        connection = Muted()
        connection.receive(request(OTHER, 1) + request(OTHER, 2) + request(PRODUCE, 3))
        connection.answer_with(1, 500)
        connection.session.resume_writing()  # and nothing else makes it start more
        await asyncio.sleep(0.4)
        assert connection.started == [1]
        await asyncio.sleep(0.2)
        assert connection.started == [1, 2]
        connection.dispatcher.answer(2)
        assert connection.started == [1, 2, 3]
        assert connection.transport.reading

    virtual_time.run(test())


def test_the_wait_of_a_client_is_no_latency_of_the_broker() -> None:
    async def test() -> None:
        connection = Muted()
        took_s: list[float] = []
        connection.receive(request(OTHER, 1) + request(OTHER, 2))
        connection.answer_with(1, 500)
        connection.sessions.clock.now_s = 0.5
        await asyncio.sleep(0.501)
        connection.sessions.clock.now_s = 0.75
        connection.dispatcher.started[2].observe = took_s.append
        connection.dispatcher.answer(2)
        assert took_s == [0.25]

    virtual_time.run(test())


def test_produces_that_were_started_before_are_answered_meanwhile() -> None:
    async def test() -> None:
        connection = Muted()
        connection.receive(b"".join(request(PRODUCE, number) for number in (1, 2, 3)))
        connection.answer_with(1, 500)
        await asyncio.sleep(0.001)
        connection.dispatcher.answer(2)
        connection.answer_with(3, 100)
        await asyncio.sleep(0.001)
        assert connection.transport.written == [b"1", b"23"]
        await asyncio.sleep(0.4)
        assert not connection.transport.reading, "the longer of both times counts"
        await asyncio.sleep(0.1)
        assert connection.transport.reading

    virtual_time.run(test())


def test_a_later_and_longer_time_counts() -> None:
    async def test() -> None:
        connection = Muted()
        connection.receive(request(PRODUCE, 1) + request(PRODUCE, 2))
        connection.answer_with(1, 100)
        await asyncio.sleep(0.05)
        connection.answer_with(2, 300)
        await asyncio.sleep(0.2)
        assert not connection.transport.reading
        await asyncio.sleep(0.11)
        assert connection.transport.reading

    virtual_time.run(test())


def test_a_produce_that_wants_no_answer_is_throttled_as_well() -> None:
    async def test() -> None:
        connection = Muted()
        connection.receive(request(PRODUCE, 1))
        reply = connection.dispatcher.started[1]
        reply.throttle(200)
        reply.nothing()
        assert connection.transport.written == []
        assert not connection.transport.reading
        await asyncio.sleep(0.201)
        assert connection.transport.reading

    virtual_time.run(test())


def test_of_several_quotas_the_longest_time_counts_within_a_bound() -> None:
    async def test() -> None:
        connection = Muted()
        connection.receive(request(OTHER, 1))
        reply = connection.dispatcher.started[1]
        for throttle_ms in (200, 300, 100):
            reply.throttle(throttle_ms)
        assert reply.throttle_ms == 300
        reply.throttle(10 * MAX_THROTTLE_MS)
        assert reply.throttle_ms == MAX_THROTTLE_MS
        connection.dispatcher.answer(1)
        await asyncio.sleep(MAX_THROTTLE_MS / 1000 - 0.001)
        assert not connection.transport.reading
        await asyncio.sleep(0.002)
        assert connection.transport.reading

    virtual_time.run(test())


def test_a_muted_client_is_not_idle() -> None:
    """The broker does not read it; it is not the client that says nothing."""

    async def test() -> None:
        connection = Muted()
        connection.receive(request(OTHER, 1))
        connection.answer_with(1, 500)
        await asyncio.sleep(0.4)
        assert not connection.session.has_stood_still_since(float("inf"))
        await asyncio.sleep(0.2)
        assert not connection.session.has_stood_still_since(0.45), "it may speak again since then"
        assert connection.session.has_stood_still_since(float("inf"))

    virtual_time.run(test())


def test_a_muted_client_that_leaves_is_forgotten_at_once() -> None:
    """It holds a buffer for what it sends."""

    async def test() -> None:
        connection = Muted()
        connection.receive(request(OTHER, 1))
        connection.answer_with(1, MAX_THROTTLE_MS)
        session = weakref.ref(connection.session)
        connection.session.connection_lost(None)
        del connection
        gc.collect()
        assert session() is None

    virtual_time.run(test())


def test_a_node_that_stops_does_not_wait_for_a_muted_client() -> None:
    async def test() -> None:
        connection = Muted()
        connection.receive(request(OTHER, 1) + request(OTHER, 2))
        connection.answer_with(1, 500)
        connection.session.finish()
        assert connection.transport.flushed_and_closed
        await asyncio.sleep(0.6)
        assert connection.started == [1]

    virtual_time.run(test())


@pytest.mark.parametrize("throttle_ms", [0, 500])
def test_garbage_behind_an_answer_closes_the_connection(throttle_ms: int) -> None:
    async def test() -> None:
        connection = Muted()
        connection.receive(request(OTHER, 1) + struct.pack(">i", -1))
        connection.answer_with(1, throttle_ms)
        await asyncio.sleep(0.6)
        assert connection.transport.written == [b"1"]
        assert connection.transport.flushed_and_closed

    virtual_time.run(test())
