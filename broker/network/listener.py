"""The Kafka listeners of a node: accepts connections, owns their request tasks, closes idle ones."""

import asyncio
import logging
import ssl
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from headrace.broker.network.client import Client, SecurityProtocol
from headrace.broker.network.connection_bounds import ConnectionBounds, connections_possible
from headrace.broker.network.request_context import RestOfRequest
from headrace.broker.network.session import Dispatcher, Session
from headrace.config.node import Endpoint, NetworkConfig
from headrace.network import ListeningAddress, Network
from headrace.protocol.server_connection import ClaimedMemory
from headrace.turns import Work, turns_of

logger = logging.getLogger("headrace.network")

DRAIN_MS = 1_000
IDLE_CHECKS_PER_PERIOD = 10
NO_TLS: Final[Mapping[str, ssl.SSLContext]] = MappingProxyType({})


class Listener:
    """Every session of the node. Connections beyond the `ConnectionBounds` are closed at once."""

    def __init__(
        self, config: NetworkConfig, network: Network, clock_s: Callable[[], float]
    ) -> None:
        self.config = config
        self._network = network
        self.clock_s = clock_s
        self.turns = turns_of(Work.CONNECTIONS)
        self.reads = turns_of(Work.READS)
        self.claims = ClaimedMemory()
        self._accepting = False
        self._listening: list[tuple[str, ListeningAddress]] = []  # listeners' names
        self._bounds = ConnectionBounds(0, 0, {})  # those of the configuration, from `bind` on
        self._sessions: dict[Session, None] = {}
        self._last_closed = asyncio.Event()
        self._requests: dict[asyncio.Task[None], RestOfRequest] = {}
        self.connections_accepted = 0
        self.connections_refused = 0

    @property
    def connection_count(self) -> int:
        """Connections open now."""
        return len(self._sessions)

    async def bind(self) -> list[Endpoint]:
        """Bind every address without accepting yet; return the listeners with their actual ports.

        An early client waits in the backlog, and no other process can bind the address.

        Raises:
            OSError: an address is in use, or not an address of this machine.
        """
        self._bounds = await _connection_bounds(self.config, self._network)
        bound = []
        for endpoint in self.config.listeners:
            listening = await self._network.listen(endpoint.host, endpoint.port)
            self._listening += ((endpoint.name, each) for each in listening)
            bound.append(Endpoint(endpoint.name, endpoint.host, listening[0].port))
        return bound

    def change_bounds(self, max_connections: int, max_per_ip: int) -> None:
        """Change how many connections may be open; those that are stay. A bound for one address stays, too."""
        possible = connections_possible(max_connections, self._network.max_descriptors)
        self._bounds.change(possible, max_per_ip)

    async def serve(
        self, dispatcher: Dispatcher, tls: Mapping[str, ssl.SSLContext] = NO_TLS
    ) -> None:
        """Accept connections and hand their requests to `dispatcher`.

        Args:
            dispatcher: of all sessions.
            tls: certificates and rules of the listeners that use TLS, by their names.
        """
        self._accepting = True
        for name, listening in self._listening:
            context = tls.get(name)
            protocol = SecurityProtocol.PLAINTEXT if context is None else SecurityProtocol.SSL
            session = partial(Session, Client(name, protocol), dispatcher, self)
            await listening.serve(session, context)

    async def run(self) -> None:
        """Close connections that have been idle for too long, until cancelled."""
        loop = asyncio.get_running_loop()
        idle_max_s = self.config.connection_idle_max_ms / 1000
        while True:
            await asyncio.sleep(idle_max_s / IDLE_CHECKS_PER_PERIOD)
            oldest = loop.time() - idle_max_s
            for session in [s for s in self._sessions if s.has_stood_still_since(oldest)]:
                session.close()

    async def stop_accepting(self) -> None:
        """Listen no more; open connections continue. Connections that were just accepted are closed."""
        self._accepting = False
        for _, listening in self._listening:
            listening.close()

    async def drain(self) -> None:
        """Take no more requests, and wait at most `DRAIN_MS` until those in service are answered.

        Records that are appended when the node is asked to stop become durable, and their producer should get the
        acknowledgement: without idempotence it would write them twice.
        """
        await self.stop_accepting()
        for session in list(self._sessions):
            session.finish()
        self._last_closed.clear()
        try:
            async with asyncio.timeout(DRAIN_MS / 1000):
                if self._sessions:
                    await self._last_closed.wait()
        except TimeoutError:
            logger.info(
                "closing connections whose requests did not end in time",
                extra={"connections": len(self._sessions)},
            )

    async def shutdown(self) -> None:
        """Close every connection and wait for the requests in service to end."""
        await self.stop_accepting()
        for session in list(self._sessions):
            session.close()
        requests = dict(self._requests)
        for task in requests:
            task.cancel()
        await asyncio.gather(*requests, return_exceptions=True)
        for request in requests.values():
            request.close()  # also one whose task was cancelled before it began

    def session_opened(self, session: Session) -> bool:
        """Count a new connection; False when there are too many, or none are accepted any more."""
        if not self._accepting or not self._bounds.opened(session.client.client_host):
            self.connections_refused += 1
            return False
        self._sessions[session] = None
        self.connections_accepted += 1
        return True

    def session_closed(self, session: Session) -> None:
        """Count a closed connection."""
        if session in self._sessions:
            del self._sessions[session]
            self._bounds.closed(session.client.client_host)
        if not self._sessions:
            self._last_closed.set()

    def run_request(self, session: Session, request: RestOfRequest, api_key: int) -> None:
        """Run the asynchronous rest of a request; its failure closes its connection only."""
        task = asyncio.get_running_loop().create_task(self._guard(session, request, api_key))
        self._requests[task] = request
        task.add_done_callback(self._requests.pop)

    async def _guard(self, session: Session, request: RestOfRequest, api_key: int) -> None:
        try:
            await request
        except Exception as error:  # noqa: BLE001 - handed to the one place that decides
            session.fail("request", error, api_key)


async def _connection_bounds(config: NetworkConfig, network: Network) -> ConnectionBounds:
    """The bounds of the configuration, as far as this process may have descriptors.

    Raises:
        OSError: a host of the overrides is not known.
    """
    max_total = connections_possible(config.max_connections, network.max_descriptors)
    if max_total < config.max_connections:
        logger.warning(
            "fewer connections than max.connections are possible: the limit of open files is too low (ulimit -n)",
            extra={"connections": max_total, "max.connections": config.max_connections},
        )
    overrides = {}
    for host, count in config.max_connections_per_ip_overrides:
        overrides.update(dict.fromkeys(await network.resolve(host), count))
    return ConnectionBounds(max_total, config.max_connections_per_ip, overrides)
