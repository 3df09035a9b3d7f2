"""From a frame to its handler: keys and versions, decoding, the answer's frame."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from headrace.broker.api.dispatch import MAX_LARGE_REQUESTS, ApiDispatcher
from headrace.broker.network.client import Client
from headrace.broker.network.request_context import RequestContext, RestOfRequest, ShortAnswer
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import advertised
from headrace.protocol.errors import ErrorCode, ProtocolError
from headrace.protocol.headers import RequestHeader, parse_request_header
from headrace.protocol.messages import (
    DescribeClusterRequest,
    ListGroupsRequest,
    ListGroupsResponse,
)
from headrace.protocol.primitives import STEP_ELEMENTS
from headrace.protocol.server_connection import Frame
from headrace.turns import Turns
from tests.unit.broker.reply_fake import FakeReply

CLIENT = Client("OUTSIDE", client_host="10.0.0.9", local_host="10.0.0.1", local_port=9092)


class OwnCodec:
    """Stands for the handlers of Produce and Fetch, which are given undecoded bodies."""

    def __init__(self) -> None:
        self.started: list[tuple[Any, ...]] = []

    def start(self, *request: Any) -> Coroutine[Any, Any, None] | None:
        *who, body, reply = request
        self.started.append((*who, bytes(body)))
        reply.nothing()
        return None


class Groups:
    """Answers ListGroups; in the meantime a second goes by."""

    api_key = ApiKey.LIST_GROUPS

    def __init__(self, clock: "Clock") -> None:
        self.clock = clock
        self.asked: list[tuple[RequestContext, Any]] = []
        self.failure: Exception | None = None
        self.group_ids: list[str] = []

    async def handle(self, context: RequestContext, request: Any) -> Any:
        self.asked.append((context, request))
        self.clock.now_s += 1
        if self.failure is not None:
            raise self.failure
        group = ListGroupsResponse.ListedGroup
        return ListGroupsResponse(
            throttle_time_ms=0,
            error_code=0,
            groups=[
                group(group_id=it, protocol_type="", group_state="", group_type="")
                for it in self.group_ids
            ],
        )


class Clock:
    now_s = 100.0
    tick_s = 0.0

    def __call__(self) -> float:
        self.now_s += self.tick_s
        return self.now_s


class Broker:
    def __init__(self) -> None:
        clock, self.turn_clock = Clock(), Clock()
        self.produce, self.fetch, self.groups = OwnCodec(), OwnCodec(), Groups(clock)
        self.metrics = RequestMetrics(clock)
        self.later: dict[ApiKey, Any] = {}
        self.may_load = asyncio.Event()
        self.may_load.set()
        self.loads = 0
        keys = [ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.LIST_GROUPS, ApiKey.API_VERSIONS]
        self.dispatcher = ApiDispatcher(
            versions=advertised(keys),
            produce=self.produce,  # type: ignore[arg-type]
            fetch=self.fetch,  # type: ignore[arg-type]
            handlers={ApiKey.LIST_GROUPS: self.groups},
            load_others=self.load_others,
            metrics=self.metrics,
            turns=Turns(self.turn_clock, 0.005),
        )

    async def load_others(self) -> dict[ApiKey, Any]:
        self.loads += 1
        await self.may_load.wait()
        return self.later

    def dispatch(
        self, key: int, version: int, body: bytes = b"", throttle_ms: int = 0
    ) -> FakeReply:
        reply = FakeReply()
        reply.throttle_ms = throttle_ms
        frame = Frame(RequestHeader(key, version, 7, "test"), memoryview(body), len(body))
        rest = self.dispatcher.dispatch(frame, CLIENT, reply)  # type: ignore[arg-type]
        if rest is not None:
            asyncio.run(served(rest))
        return reply


async def served(rest: RestOfRequest) -> None:
    await rest


def body_of(request: Any, version: int) -> bytes:
    header = RequestHeader(request.API_KEY, version, 7, "")
    frame = messages.encode_request(request, header)
    _, offset = parse_request_header(memoryview(frame))
    return frame[offset:]


@pytest.mark.parametrize("version", range(6))
def test_a_request_is_decoded_and_answered_in_the_version_it_came_in(version: int) -> None:
    broker = Broker()
    reply = broker.dispatch(ApiKey.LIST_GROUPS, version, body_of(ListGroupsRequest(), version))
    assert reply.response(ApiKey.LIST_GROUPS, version).error_code == 0


@pytest.mark.parametrize("version", [1, 5])
def test_an_answer_tells_its_client_to_wait_as_long_as_its_reply_says(version: int) -> None:
    body = body_of(ListGroupsRequest(), version)
    reply = Broker().dispatch(ApiKey.LIST_GROUPS, version, body, throttle_ms=250)
    assert reply.response(ApiKey.LIST_GROUPS, version).throttle_time_ms == 250


def test_only_some_large_requests_are_served_at_once() -> None:
    """Each may take hundreds of megabytes. Others wait as they were received, and small ones go by."""
    broker = Broker()
    begun, may_end = 0, asyncio.Semaphore(0)

    class Slow:
        api_key = ApiKey.API_VERSIONS

        async def handle(self, context: RequestContext, request: Any) -> Any:
            nonlocal begun
            begun += 1
            await may_end.acquire()
            return messages.ApiVersionsResponse(api_keys=[])

    def send(body: bytes) -> asyncio.Task[None]:
        frame = Frame(RequestHeader(ApiKey.API_VERSIONS, 2, 7, ""), memoryview(body), len(body))
        serving = broker.dispatcher.dispatch(frame, CLIENT, FakeReply())  # type: ignore[arg-type]
        assert serving is not None
        return asyncio.ensure_future(serving)

    async def settled() -> int:
        for _ in range(20):
            await asyncio.sleep(0)
        return begun

    async def test() -> None:
        broker.later = {ApiKey.API_VERSIONS: Slow()}
        large = [send(bytes(300_000)) for _ in range(MAX_LARGE_REQUESTS + 3)]
        assert await settled() == MAX_LARGE_REQUESTS
        small = send(b"")
        assert await settled() == MAX_LARGE_REQUESTS + 1
        large[-1].cancel()  # its client has gone
        for _ in range(len(large)):
            may_end.release()
        await asyncio.gather(*large[:-1], small)
        assert begun == len(large)

    asyncio.run(test())


def test_the_handler_is_told_who_asks_through_which_listener() -> None:
    broker = Broker()
    broker.dispatch(ApiKey.LIST_GROUPS, 0)
    ((context, _),) = broker.groups.asked
    assert context == RequestContext(
        RequestHeader(16, 0, 7, "test"), CLIENT, Turns(lambda: 0.0, 1.0)
    )
    assert (context.version, context.client_id) == (0, "test")


def test_produce_and_fetch_decode_for_themselves() -> None:
    broker = Broker()
    broker.dispatch(ApiKey.PRODUCE, 9, b"records")
    broker.dispatch(ApiKey.FETCH, 11, b"partitions")
    assert broker.produce.started == [(CLIENT, RequestHeader(0, 9, 7, "test"), b"records")]
    ((context, body),) = broker.fetch.started
    assert (context.header.api_key, context.client, body) == (1, CLIENT, b"partitions")


def test_only_produce_may_be_followed_before_it_is_answered() -> None:
    """2.2."""
    dispatcher = Broker().dispatcher
    pipelined = {
        key
        for key in ApiKey
        if dispatcher.is_pipelined(Frame(RequestHeader(key, 0, 1, ""), memoryview(b""), 0))
    }
    assert pipelined == {ApiKey.PRODUCE}


@pytest.mark.parametrize("version", [6, 99, 32_767])
def test_api_versions_above_ours_is_answered_in_version_0_and_its_body_not_read(
    version: int,
) -> None:
    """KIP-511: UNSUPPORTED_VERSION with our range; the connection stays open."""
    reply = Broker().dispatch(ApiKey.API_VERSIONS, version, b"\xff\xff whatever")
    told = reply.response(ApiKey.API_VERSIONS, 0)
    assert told.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [(it.api_key, it.min_version, it.max_version) for it in told.api_keys] == [(18, 0, 5)]


@pytest.mark.parametrize(
    ("key", "version"),
    [(-1, 0), (4, 0), (999, 0), (ApiKey.METADATA, 9), (16, 6), (16, -1), (1, 3), (1, 19), (0, 14)],
)
def test_other_keys_and_versions_close_the_connection(key: int, version: int) -> None:
    """2.1: without an answer."""
    broker = Broker()
    with pytest.raises(ProtocolError):
        broker.dispatch(key, version)
    assert dict(broker.metrics.requests) == {}


def test_a_malformed_body_closes_the_connection() -> None:
    with pytest.raises(ProtocolError):  # a small one: its session refuses it
        Broker().dispatch(ApiKey.LIST_GROUPS, 5, b"\xff\xff\xff")
    reply = Broker().dispatch(ApiKey.LIST_GROUPS, 5, b"\xff\xff\xff" * messages.FLAT_BYTES)
    assert reply.outcomes == ["refused"]


def test_an_answer_beyond_its_bound_closes_the_connection() -> None:
    broker = Broker()
    broker.groups.group_ids = ["x" * 1_000] * 99_000
    assert broker.dispatch(ApiKey.LIST_GROUPS, 0).outcomes == ["sent"]
    broker.groups.group_ids = ["x" * 1_000] * 100_000
    assert broker.dispatch(ApiKey.LIST_GROUPS, 0).outcomes == ["refused"]


def test_a_large_request_and_its_answer_share_the_turns_of_the_loop() -> None:
    """No turn does more than a step after its share is used up: here after each look at the clock."""
    broker = Broker()
    broker.groups.group_ids = ["g"] * 20_000
    states = ["s"] * 1_000
    body = body_of(ListGroupsRequest(states_filter=states, types_filter=[]), 5)
    turns = 0

    async def serve() -> FakeReply:
        nonlocal turns
        reply = FakeReply()
        frame = Frame(RequestHeader(ApiKey.LIST_GROUPS, 5, 7, "t"), memoryview(body), len(body))
        rest = broker.dispatcher.dispatch(frame, CLIENT, reply)  # type: ignore[arg-type]
        assert rest is not None
        request = asyncio.create_task(served(rest))
        while not request.done():
            turns += 1
            await asyncio.sleep(0)
        await request
        return reply

    broker.turn_clock.tick_s = 1.0
    assert len(asyncio.run(serve()).response(ApiKey.LIST_GROUPS, 5).groups) == 20_000
    assert turns >= (1_000 + 20_000) // STEP_ELEMENTS


@pytest.mark.parametrize("where", ["begin", "end"])
def test_small_requests_of_many_connections_share_the_turns_of_the_loop(where: str) -> None:
    """Whether they come together, or have waited for the same and are answered together."""
    broker = Broker()
    event = asyncio.Event()
    handle = broker.groups.handle

    async def handle_slowly(context: RequestContext, request: Any) -> Any:
        if where == "end":
            await event.wait()
        broker.turn_clock.now_s += 1.0
        return await handle(context, request)

    broker.groups.handle = handle_slowly  # type: ignore[method-assign]

    async def serve() -> None:
        replies = [FakeReply() for _ in range(20)]
        serving = []
        for reply in replies:
            frame = Frame(RequestHeader(ApiKey.LIST_GROUPS, 0, 7, "t"), memoryview(b""), 0)
            rest = broker.dispatcher.dispatch(frame, CLIENT, reply)  # type: ignore[arg-type]
            assert rest is not None
            serving.append(asyncio.create_task(served(rest)))
        if where == "end":
            for _ in range(100):
                await asyncio.sleep(0)
        event.set()
        done = 0
        while done < len(replies):
            await asyncio.sleep(0)
            now = sum(reply.outcome is not None for reply in replies)
            assert now - done <= 1
            done = now
        await asyncio.gather(*serving)

    broker.turn_clock.tick_s = 1.0
    asyncio.run(serve())


def broker_with_a_later_handler() -> Broker:
    broker = Broker()
    broker.later = {ApiKey.LIST_GROUPS: broker.groups}
    broker.dispatcher._handlers.clear()
    return broker


def test_requests_wait_for_a_handler_that_is_loaded_later_and_have_it_loaded_once() -> None:
    broker = broker_with_a_later_handler()
    broker.may_load.clear()

    async def serve() -> list[FakeReply]:
        replies, serving = [FakeReply() for _ in range(3)], []
        for reply in replies:
            frame = Frame(RequestHeader(ApiKey.LIST_GROUPS, 0, 7, "t"), memoryview(b""), 0)
            rest = broker.dispatcher.dispatch(frame, CLIENT, reply)  # type: ignore[arg-type]
            assert rest is not None
            serving.append(asyncio.create_task(served(rest)))
        for _ in range(10):
            await asyncio.sleep(0)
        assert [reply.outcome for reply in replies] == [None] * 3
        serving[0].cancel()  # its client goes away, and it was the one that had the rest loaded
        broker.may_load.set()
        await asyncio.gather(*serving, return_exceptions=True)
        await broker.dispatcher.load()
        return replies

    replies = asyncio.run(serve())
    assert [reply.outcome for reply in replies] == [None, "sent", "sent"]
    assert broker.loads == 2  # the one that was given up, and another


def test_handlers_that_were_loaded_before_a_request_are_not_loaded_again() -> None:
    broker = broker_with_a_later_handler()
    asyncio.run(broker.dispatcher.load())
    assert broker.dispatch(ApiKey.LIST_GROUPS, 0).outcomes == ["sent"]
    assert broker.loads == 1


def test_a_handler_that_fails_answers_nothing() -> None:
    """Its connection is closed by whoever runs it."""
    broker = Broker()
    broker.groups.failure = RuntimeError("a bug")
    with pytest.raises(RuntimeError):
        broker.dispatch(ApiKey.LIST_GROUPS, 0)


def test_requests_are_counted_and_timed_by_api() -> None:
    broker = Broker()
    broker.dispatch(ApiKey.LIST_GROUPS, 0).observe(2.0)
    broker.dispatch(ApiKey.PRODUCE, 9).observe(3.0)
    assert broker.metrics.requests == {16: 1, 0: 1}
    (latencies,) = broker.metrics.latencies.collect()
    sums = {it.labels["api"]: it.value for it in latencies.samples if it.name.endswith("_sum")}
    assert sums == {"list_groups": 2.0, "produce": 3.0}


def test_a_request_that_is_not_served_here_is_known_to_the_protocol_all_the_same() -> None:
    """What is advertised is what is served, not what could be decoded."""
    assert DescribeClusterRequest.API_KEY == ApiKey.DESCRIBE_CLUSTER
    with pytest.raises(ProtocolError):
        Broker().dispatch(ApiKey.DESCRIBE_CLUSTER, 0)


class ShortGroups:
    """Answers at once, or when a future is done."""

    api_key = ApiKey.LIST_GROUPS
    requires = ()

    def __init__(self, waits_for: "asyncio.Future[None] | None" = None) -> None:
        self.waits_for = waits_for

    def handle(self, _context: RequestContext, _request: Any) -> Any:
        if self.waits_for is None:
            return messages.ListGroupsResponse(groups=[])
        return ShortAnswer(self.waits_for, self.make)

    def make(self, done: "asyncio.Future[None]") -> Any:
        done.result()
        return messages.ListGroupsResponse(groups=[])


def ask(broker: Broker, body: bytes = b"\1\1\0") -> tuple[FakeReply, RestOfRequest | None]:
    reply = FakeReply()
    frame = Frame(RequestHeader(ApiKey.LIST_GROUPS, 5, 7, "t"), memoryview(body), len(body))
    return reply, broker.dispatcher.dispatch(frame, CLIENT, reply)  # type: ignore[arg-type]


def test_a_small_request_is_answered_in_the_call_that_dispatches_it() -> None:
    broker = Broker()
    broker.dispatcher._handlers[ApiKey.LIST_GROUPS] = ShortGroups()
    reply, rest = ask(broker)
    assert rest is None
    assert reply.response(ApiKey.LIST_GROUPS, 5).error_code == 0


def test_short_answers_that_wait_for_the_same_share_the_turns_of_the_loop() -> None:
    async def test() -> None:
        broker = Broker()
        waits_for: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        broker.dispatcher._handlers[ApiKey.LIST_GROUPS] = ShortGroups(waits_for)
        asked = [ask(broker) for _ in range(20)]
        assert all(rest is None for _, rest in asked)
        assert all(reply.outcome is None for reply, _ in asked)
        broker.turn_clock.tick_s = 1.0  # each look at the clock
        waits_for.set_result(None)
        done = 0
        while done < len(asked):
            await asyncio.sleep(0)
            now = sum(reply.outcome == "sent" for reply, _ in asked)
            assert now - done <= 1
            done = now

    asyncio.run(test())


def test_a_short_answer_that_fails_ends_its_connection() -> None:
    async def test() -> None:
        broker = Broker()
        waits_for: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        broker.dispatcher._handlers[ApiKey.LIST_GROUPS] = ShortGroups(waits_for)
        reply, _ = ask(broker)
        waits_for.set_exception(ValueError("a bug"))
        await asyncio.sleep(0)
        assert reply.outcome == "failed"

    asyncio.run(test())


def test_short_answers_to_long_requests_share_the_turns_of_the_loop() -> None:
    async def test() -> None:
        broker = Broker()
        waits_for: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        broker.dispatcher._handlers[ApiKey.LIST_GROUPS] = ShortGroups(waits_for)
        body = b"\1\1\0" + bytes(messages.FLAT_BYTES)
        asked = [ask(broker, body) for _ in range(20)]
        tasks = [asyncio.create_task(served(rest)) for _, rest in asked if rest is not None]
        assert len(tasks) == 20
        for _ in range(100):
            await asyncio.sleep(0)
        broker.turn_clock.tick_s = 1.0
        waits_for.set_result(None)
        assert await most_in_a_turn(lambda: sum(it.outcome == "sent" for it, _ in asked), 20) <= 1

    asyncio.run(test())


def test_small_requests_that_may_wait_begin_in_several_turns_of_the_loop() -> None:
    """A thousand connections may ask at once for what takes a part of a millisecond each."""

    async def test() -> None:
        broker = Broker()
        asked = [ask(broker) for _ in range(20)]
        broker.turn_clock.tick_s = 1.0
        tasks = [asyncio.create_task(served(rest)) for _, rest in asked if rest is not None]
        assert len(tasks) == 20
        assert await most_in_a_turn(lambda: len(broker.groups.asked), 20) <= 1

    asyncio.run(test())


async def most_in_a_turn(count: Callable[[], int], all_of_them: int) -> int:
    """Let the loop go round until a count is complete; return by how much it grew in one turn at most."""
    done = most = 0
    while done < all_of_them:
        await asyncio.sleep(0)
        now = count()
        done, most = now, max(most, now - done)
    return most
