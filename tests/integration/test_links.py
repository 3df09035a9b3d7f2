"""Links carry kinds that they do not know: an echo and notes beside each other, each with bounds of its own."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from headrace.config.node import Endpoint
from headrace.invariants import InvariantError
from headrace.links.ends import Address, Party
from headrace.links.errors import LinkFormatError, NotSentError
from headrace.links.framing import Hello, framed
from headrace.links.kinds import LinkKind
from headrace.links.listener import LinkListener
from headrace.links.messages import MessageCounters, MessageTarget, OutgoingMessages
from headrace.links.requests import RequestTarget
from headrace.links.services import MessageService, RequestService
from headrace.network import Network, SocketNetwork
from tests.simulation.cluster.loop import ClusterLoop
from tests.simulation.cluster.network import ClusterNetwork, HostNetwork, Links
from tests.simulation.cluster.process import Process

ECHO = LinkKind(
    200, "echo", 1_000, max_answer_bytes=1_000, max_inflight=2, max_inflight_bytes=2_000
)
LARGE = ECHO._replace(number=201, name="large", max_body_bytes=100_000, max_answer_bytes=100_000)
NOTE = LinkKind(202, "note", 1_000)
SINGLE = ECHO._replace(number=203, name="single", max_links=1)
UNKNOWN = ECHO._replace(number=204, name="unknown")


class Notes(MessageService):
    """Keeps what it has received."""

    def __init__(self) -> None:
        super().__init__(NOTE)
        self.came: list[tuple[int, bytes]] = []

    def received(self, hello: Hello, body: bytes) -> None:
        if body == b"bad":
            raise LinkFormatError("a note cannot be read")
        self.came.append((hello.party.node_id, body))


@dataclass
class Scene:
    """Two nodes: the first one serves, the second one dials."""

    server: Network
    client: Network
    host: str
    port: int = 0
    notes: Notes = field(default_factory=Notes)
    served: list[bytes] = field(default_factory=list)
    counters: MessageCounters = field(default_factory=MessageCounters)

    def __post_init__(self) -> None:
        self.release = asyncio.Event()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[LinkListener]:
        listener = LinkListener(
            Endpoint("LINKS", self.host, self.port),
            [*(RequestService(kind, self._echo) for kind in (ECHO, LARGE, SINGLE)), self.notes],
            lambda: Party("c", 1, UUID(int=1)),
            network=self.server,
        )
        self.port = (await listener.bind()).port
        running = asyncio.create_task(listener.run())
        try:
            yield listener
        finally:
            running.cancel()
            await listener.shutdown()
            with suppress(asyncio.CancelledError):
                await running

    def target(self, kind: LinkKind) -> RequestTarget:
        return RequestTarget(kind, Address(self.host, self.port), self._identity, self.client)

    @asynccontextmanager
    async def noting(self) -> AsyncIterator[MessageTarget[bytes]]:
        outgoing = OutgoingMessages(
            NOTE,
            lambda note: framed(note, NOTE.max_body_bytes),
            self._identity,
            self.client,
            random.Random(1),
            self.counters,
        )
        target = MessageTarget(outgoing, 1, Address(self.host, self.port))
        running = asyncio.create_task(target.run())
        try:
            yield target
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running

    async def _echo(self, payload: bytes) -> bytes:
        self.served.append(payload)
        if payload == b"wait":
            await self.release.wait()
        return payload

    @staticmethod
    def _identity() -> Party:
        return Party("c", 2, UUID(int=2))


Test = Callable[[Scene], Coroutine[None, None, None]]


def over_loopback(test: Test) -> None:
    async def run() -> None:
        async with asyncio.timeout(10):
            await test(Scene(SocketNetwork(), SocketNetwork(), "127.0.0.1"))

    asyncio.run(run())


def in_a_simulation(test: Test) -> None:
    loop = ClusterLoop()
    network = loop.network = ClusterNetwork(loop, random.Random(1), Links())

    async def run() -> None:
        server, client = (HostNetwork(network, Process(f"10.0.0.{node}")) for node in (1, 2))
        async with asyncio.timeout(100):
            await test(Scene(server, client, "10.0.0.1", port=9093))

    try:
        loop.run_until_complete(run())
    finally:
        loop.close()


@pytest.fixture(params=[over_loopback, in_a_simulation], ids=["loopback", "simulation"])
def run(request: pytest.FixtureRequest) -> Callable[[Test], None]:
    found: Callable[[Test], None] = request.param
    return found


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def test_kinds_share_a_listener_and_each_has_its_own_bound(run: Callable[[Test], None]) -> None:
    async def test(scene: Scene) -> None:
        async with scene.serving() as listener:
            echo, large = scene.target(ECHO), scene.target(LARGE)
            assert await echo.request(b"a") == b"a"
            assert await large.request(bytes(50_000)) == bytes(50_000)

            with pytest.raises(OSError, match=r"ended|reset|closed|broken|lost"):
                await echo.request(bytes(1_001))

            assert listener.statistics.rejected == 1
            assert bytes(1_001) not in scene.served
            assert await large.request(b"b") == b"b"
            assert large.dials == 1
            assert await echo.request(b"c") == b"c"
            assert echo.dials == 2
            echo.close()
            large.close()

    run(test)


def test_requests_beyond_the_bound_of_their_kind_wait(run: Callable[[Test], None]) -> None:
    async def test(scene: Scene) -> None:
        async with scene.serving() as listener:
            echo, other = scene.target(ECHO), scene.target(LARGE)
            waiting = [asyncio.create_task(echo.request(b"wait")) for _ in range(3)]
            await until(lambda: len(scene.served) == 2)
            assert await other.request(b"a") == b"a"
            assert listener.statistics.requests_inflight == 2

            scene.release.set()

            assert await asyncio.gather(*waiting) == [b"wait"] * 3
            echo.close()
            other.close()

    run(test)


def test_links_beyond_the_bound_of_their_kind_are_refused(run: Callable[[Test], None]) -> None:
    async def test(scene: Scene) -> None:
        async with scene.serving() as listener:
            first, second, other = (scene.target(it) for it in (SINGLE, SINGLE, ECHO))
            await first.request(b"a")
            with pytest.raises(NotSentError, match="refuses"):
                await second.request(b"b")
            assert await other.request(b"c") == b"c"
            first.close()
            await until(lambda: listener.statistics.connections == 1)

            assert await second.request(b"b") == b"b"

            second.close()
            other.close()

    run(test)


def test_a_kind_that_is_not_served_is_refused_and_counted(run: Callable[[Test], None]) -> None:
    async def test(scene: Scene) -> None:
        async with scene.serving() as listener:
            with pytest.raises(NotSentError, match="node 1 refuses the connection"):
                await scene.target(UNKNOWN).request(b"a")
            statistics = listener.statistics
            assert (statistics.unknown_kinds, statistics.rejected) == (1, 1)
            assert not scene.served

    run(test)


def test_messages_come_in_order_and_the_link_is_dialled_again(run: Callable[[Test], None]) -> None:
    async def test(scene: Scene) -> None:
        async with scene.serving() as listener, scene.noting() as notes:
            for number in range(100):
                notes.send(b"%d" % number, 2)
            notes.send(bytes(1_001), 1_001)  # never sent: too large for its kind
            await until(lambda: len(scene.notes.came) == 100)
            assert scene.notes.came == [(2, b"%d" % number) for number in range(100)]

            notes.send(b"bad", 3)
            await until(lambda: scene.counters.dials == 2)
            notes.send(b"again", 5)

            await until(lambda: scene.notes.came[-1] == (2, b"again"))
            assert listener.statistics.messages == 101
            assert listener.statistics.rejected == 1
            assert scene.counters.dropped == 1

    run(test)


def test_a_kind_has_one_service() -> None:
    with pytest.raises(AssertionError, match="one service"):
        LinkListener(
            Endpoint("LINKS", "127.0.0.1", 0),
            [Notes(), Notes()],
            lambda: Party("c", 1, UUID(int=1)),
            network=SocketNetwork(),
        )


def test_a_kind_of_requests_of_which_none_may_be_served_is_refused() -> None:
    """Its links would never be read, and each request end in silence."""

    async def handle(payload: bytes) -> bytes:
        return payload

    with pytest.raises(InvariantError, match="a request may be served"):
        RequestService(ECHO._replace(max_inflight=0), handle)
