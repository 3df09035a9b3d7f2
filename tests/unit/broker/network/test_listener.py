"""Listeners on real sockets: how many connections, how long idle ones live, what a failing request costs."""

import asyncio
import inspect
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from headrace.broker.network.client import Client
from headrace.broker.network.listener import Listener
from headrace.broker.network.reply import Reply
from headrace.broker.network.session import Session
from headrace.config.node import Endpoint, NetworkConfig
from headrace.network import SocketNetwork
from headrace.protocol.errors import ProtocolError
from headrace.protocol.server_connection import Frame
from tests.environment.certificates import make_certificate

ECHO, NEVER, FAIL, REFUSE = 3, 10, 11, 12
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def request(key: int, correlation_id: int = 1) -> bytes:
    header = struct.pack(">hhih", key, 0, correlation_id, -1)
    return struct.pack(">i", len(header)) + header


class Dispatcher:
    """Answers with the listener's name, never, with a bug, or not at all."""

    def __init__(self) -> None:
        self.cancelled = 0
        self.clients: list[Client] = []

    def is_pipelined(self, frame: Frame) -> bool:
        return False

    def dispatch(
        self, frame: Frame, client: Client, reply: Reply
    ) -> Coroutine[Any, Any, None] | None:
        key = frame.header.api_key
        self.clients.append(client)
        if key == ECHO:
            reply.send([client.listener.encode()])
        elif key == REFUSE:
            raise ProtocolError("not served")
        else:
            return self._fail() if key == FAIL else self._never()
        return None

    async def _fail(self) -> None:
        raise RuntimeError("a bug")

    async def _never(self) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


class Node:
    def __init__(
        self, listener: Listener, endpoints: list[Endpoint], dispatcher: Dispatcher
    ) -> None:
        self.listener = listener
        self.endpoints = endpoints
        self.dispatcher = dispatcher
        self.connections: list[asyncio.StreamWriter] = []

    async def connect(self, endpoint: int = 0, tls: ssl.SSLContext | None = None) -> Streams:
        found = self.endpoints[endpoint]
        streams = await asyncio.open_connection(found.host, found.port, ssl=tls)
        self.connections.append(streams[1])
        return streams

    async def echo(self, streams: Streams) -> bytes:
        """What comes back; empty when the connection is closed."""
        reader, writer = streams
        writer.write(request(ECHO))
        try:
            return await reader.read(100)
        except ConnectionError:
            return b""


@asynccontextmanager
async def listening(dispatcher: Dispatcher | None = None, **settings: Any) -> AsyncIterator[Node]:
    names = settings.pop("names", ("PLAINTEXT",))
    tls = settings.pop("tls", {})
    config = NetworkConfig(
        listeners=tuple(Endpoint(name, "127.0.0.1", 0) for name in names), **settings
    )
    listener = Listener(config, SocketNetwork(), lambda: 0.0)
    node = Node(listener, await listener.bind(), dispatcher or Dispatcher())
    await listener.serve(node.dispatcher, tls)
    job = asyncio.create_task(listener.run())
    try:
        yield node
    finally:
        for writer in node.connections:
            writer.close()
        job.cancel()
        await asyncio.gather(job, return_exceptions=True)
        await listener.shutdown()


async def is_closed(streams: Streams) -> bool:
    """Wait for the other side to close."""
    try:
        async with asyncio.timeout(5):
            return await streams[0].read(1) == b""
    except ConnectionError:
        return True


def test_every_listener_is_served_and_its_requests_bear_its_name() -> None:
    async def run() -> None:
        async with listening(names=("INSIDE", "OUTSIDE")) as node:
            assert [it.name for it in node.endpoints] == ["INSIDE", "OUTSIDE"]
            assert all(it.port > 0 for it in node.endpoints)
            assert await node.echo(await node.connect(0)) == b"INSIDE"
            assert await node.echo(await node.connect(1)) == b"OUTSIDE"
            assert node.listener.connection_count == 2

    asyncio.run(run())


def test_a_listener_may_use_tls_and_its_clients_are_known_for_it(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)

    async def run() -> None:
        tls = {"OUTSIDE": certificate.server()}
        async with listening(names=("INSIDE", "OUTSIDE"), tls=tls) as node:
            assert await node.echo(await node.connect(0)) == b"INSIDE"
            assert await node.echo(await node.connect(1, certificate.client())) == b"OUTSIDE"
            inside, outside = node.dispatcher.clients
            assert (inside.protocol, inside.client_host) == ("PLAINTEXT", "127.0.0.1")
            assert (outside.protocol, outside.client_host) == ("SSL", "127.0.0.1")
            assert outside.local_port == node.endpoints[1].port
            assert inside.client_port != outside.client_port

    asyncio.run(run())


def test_an_address_that_is_taken_is_an_error() -> None:
    async def run() -> None:
        async with listening() as node:
            second = Listener(
                NetworkConfig(listeners=tuple(node.endpoints)), SocketNetwork(), lambda: 0.0
            )
            with pytest.raises(OSError):
                await second.bind()

    asyncio.run(run())


def test_connections_of_one_address_are_bounded() -> None:
    async def run() -> None:
        async with listening(
            max_connections_per_ip=2, max_connections_per_ip_overrides=(("127.0.0.2", 0),)
        ) as node:
            first, second = await node.connect(), await node.connect()
            assert await node.echo(first) == await node.echo(second) == b"PLAINTEXT"
            assert await is_closed(await node.connect())
            assert await node.echo(first) == b"PLAINTEXT"
            first[1].close()
            while node.listener.connection_count > 1:
                await asyncio.sleep(0)
            assert await node.echo(await node.connect()) == b"PLAINTEXT"
            assert node.listener.connections_refused == 1

    asyncio.run(run())


def test_the_override_of_an_address_counts_for_it() -> None:
    async def run() -> None:
        overrides = (("localhost", 1),)
        async with listening(max_connections_per_ip_overrides=overrides) as node:
            first = await node.connect()
            assert await node.echo(first) == b"PLAINTEXT"
            assert await is_closed(await node.connect())

    asyncio.run(run())


def test_connections_beyond_the_limit_are_closed_and_those_within_go_on() -> None:
    async def run() -> None:
        async with listening(max_connections=2) as node:
            first, second = await node.connect(), await node.connect()
            assert await node.echo(first) == await node.echo(second) == b"PLAINTEXT"
            assert await is_closed(await node.connect())
            listener = node.listener
            assert (listener.connection_count, listener.connections_refused) == (2, 1)
            assert await node.echo(first) == b"PLAINTEXT"

    asyncio.run(run())


def test_the_limit_is_changed_for_connections_to_come() -> None:
    async def run() -> None:
        async with listening(max_connections=2) as node:
            first, second = await node.connect(), await node.connect()
            assert await node.echo(first) == await node.echo(second) == b"PLAINTEXT"
            node.listener.change_bounds(1, 10)
            assert await is_closed(await node.connect())
            assert await node.echo(second) == b"PLAINTEXT"
            node.listener.change_bounds(10, 3)
            assert await node.echo(await node.connect()) == b"PLAINTEXT"
            assert await is_closed(await node.connect())

    asyncio.run(run())


def test_a_connection_that_ends_makes_room_for_another() -> None:
    async def run() -> None:
        async with listening(max_connections=1) as node:
            first = await node.connect()
            await node.echo(first)
            first[1].write(request(REFUSE))
            assert await is_closed(first)
            assert await node.echo(await node.connect()) == b"PLAINTEXT"
            assert node.listener.connections_accepted == 2

    asyncio.run(run())


def test_an_idle_connection_is_closed_and_one_that_waits_for_its_answer_is_not() -> None:
    """Consumers long-polling are not idle."""

    async def run() -> None:
        async with listening(connection_idle_max_ms=50) as node:
            waiting = await node.connect()
            waiting[1].write(request(NEVER))
            idle = await node.connect()
            assert await node.echo(idle) == b"PLAINTEXT"
            assert await is_closed(idle)
            assert node.listener.connection_count == 1, "the older one is still there"

    asyncio.run(run())


def test_a_rejected_connection_whose_client_reads_nothing_is_closed_in_the_end() -> None:
    """Its answers wait to be written, which must not keep it for ever."""

    async def run() -> None:
        big = BigAnswers()
        async with listening(big, connection_idle_max_ms=50) as node:
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, (node.endpoints[0].host, node.endpoints[0].port))
            await loop.sock_sendall(client, request(ECHO) + request(REFUSE))
            async with asyncio.timeout(5):
                await big.refused.wait()
                other = await node.connect()
                assert await is_closed(other), "idle ones are looked for"
                assert await is_closed(await node.connect())
            assert node.listener.connection_count == 0
            client.close()

    asyncio.run(run())


class BigAnswers(Dispatcher):
    """Answers with more than a socket takes at once, less than stops the requests behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = asyncio.Event()

    def dispatch(self, frame: Frame, client: Client, reply: Reply) -> None:
        if frame.header.api_key == REFUSE:
            self.refused.set()
            raise ProtocolError("not served")
        transport = reply._session._transport
        transport.set_write_buffer_limits(high=1 << 30)
        reply.send([bytes(8 << 20)])


@pytest.mark.unexpected_errors
def test_a_request_that_fails_costs_its_own_connection_only() -> None:
    async def run() -> None:
        async with listening() as node:
            other, failing = await node.connect(), await node.connect()
            failing[1].write(request(FAIL))
            assert await is_closed(failing)
            assert await node.echo(other) == b"PLAINTEXT"

    asyncio.run(run())


def test_shutting_down_closes_connections_and_ends_what_is_in_service() -> None:
    async def run() -> None:
        async with listening() as node:
            waiting = await node.connect()
            waiting[1].write(request(NEVER))
            await node.echo(await node.connect())  # until then the request is in service
            await node.listener.shutdown()
            assert node.dispatcher.cancelled == 1
            assert await is_closed(waiting)
            with pytest.raises(OSError):
                await node.connect()

    asyncio.run(run())


def test_a_request_that_is_ended_before_it_began_is_left_behind_nowhere() -> None:
    async def run() -> None:
        async with listening() as node:
            session = Session(Client("PLAINTEXT"), node.dispatcher, node.listener)
            rest = node.dispatcher._never()
            node.listener.run_request(session, rest, NEVER)  # its task has not had a turn yet
            await node.listener.shutdown()
            assert inspect.getcoroutinestate(rest) == inspect.CORO_CLOSED
            assert node.dispatcher.cancelled == 0

    asyncio.run(run())


def test_a_connection_that_was_accepted_while_shutting_down_is_turned_away() -> None:
    """Its `connection_made` may come after the others have been closed."""

    async def run() -> None:
        async with listening() as node:
            await node.listener.shutdown()
            late = Session(Client("PLAINTEXT"), node.dispatcher, node.listener)
            assert not node.listener.session_opened(late)
            assert node.listener.connection_count == 0

    asyncio.run(run())
