"""The listener of a node for other nodes: one port for links of all kinds that its users serve.

It has no authentication, so it belongs in a private network. The bounds are against accidents.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from headrace.config.node import Endpoint
from headrace.invariants import require
from headrace.links.accepted import AcceptedConnection
from headrace.links.ends import Party
from headrace.links.framing import Hello
from headrace.links.kinds import MAX_REQUEST_BYTES, REFUSED
from headrace.links.request_bytes import RequestBytes
from headrace.links.services import MessageService, RequestService, Service
from headrace.network import ListeningAddress, Network

logger = logging.getLogger("headrace.links")

KEEPALIVE_MS: Final = 500  # interval of keepalives to clients that wait for an answer
ASLEEP_MS: Final = 250  # a look at the connections that is this late ends none
MAX_CONNECTIONS: Final = 512
REPORT_INTERVAL_S: Final = 10.0  # between two log lines about connections that were closed


class ListenerStatistics(msgspec.Struct, frozen=True):
    """Totals since the start, and what is open now."""

    connections: int
    requests: int
    requests_inflight: int
    messages: int
    rejected: int  # connections that were refused, or closed for invalid data
    unknown_kinds: int  # of these: of a kind that this node does not serve


class LinkListener:
    """Accepts connections and owns them."""

    def __init__(
        self,
        endpoint: Endpoint,
        services: Sequence[Service],
        identity: Callable[[], Party],
        *,
        network: Network,
    ) -> None:
        """Create the listener without binding yet.

        Args:
            endpoint: the address to listen on.
            services: one for each kind of link.
            identity: returns this node's current identity.
            network: where to listen.
        """
        self._endpoint = endpoint
        self._services = {service.kind.number: service for service in services}
        require(len(self._services) == len(services), "a kind of link has one service")
        require(REFUSED not in self._services, "a kind of link has a number of its own")
        self._identity = identity
        self._network = network
        self._listening: Sequence[ListeningAddress] = ()
        self._accepting = False
        self._connections: dict[AcceptedConnection, None] = {}
        self._requests: dict[asyncio.Task[None], None] = {}
        self._request_bytes = RequestBytes(MAX_REQUEST_BYTES)
        self._waiting: dict[AcceptedConnection, None] = {}  # in the order in which they came
        self._requests_total = 0
        self._messages_total = 0
        self._rejected_total = 0
        self._unknown_kinds_total = 0
        self._reported_at_s = float("-inf")
        self._unreported = 0

    @property
    def statistics(self) -> ListenerStatistics:
        """Counters since the start, and what is open now."""
        return ListenerStatistics(
            connections=len(self._connections),
            requests=self._requests_total,
            requests_inflight=len(self._requests),
            messages=self._messages_total,
            rejected=self._rejected_total,
            unknown_kinds=self._unknown_kinds_total,
        )

    async def bind(self) -> Endpoint:
        """Bind without accepting yet; return the endpoint with its actual port.

        Early clients wait in the backlog, and no other process can take the address.

        Raises:
            OSError: the address is in use, or not an address of this machine.
        """
        name, host, port = self._endpoint.name, self._endpoint.host, self._endpoint.port
        self._listening = await self._network.listen(host, port)
        return Endpoint(name, host, self._listening[0].port)

    async def run(self) -> None:
        """Accept connections and supervise them, until cancelled."""
        self._accepting = True
        for listening in self._listening:
            await listening.serve(partial(AcceptedConnection, self))
        loop = asyncio.get_running_loop()
        while True:
            look_at_s = loop.time() + KEEPALIVE_MS / 1000
            await asyncio.sleep(KEEPALIVE_MS / 1000)
            if loop.time() > look_at_s + ASLEEP_MS / 1000:
                continue  # this process was stopped, and what has come meanwhile is not read yet
            for connection in list(self._connections):
                connection.look(loop.time())

    async def shutdown(self) -> None:
        """Listen no more, close every connection, and wait for requests that are being served."""
        self._accepting = False
        for listening in self._listening:
            listening.close()
        for connection in list(self._connections):
            connection.close()
        requests = list(self._requests)
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)

    def opened(self, connection: AcceptedConnection) -> bool:
        """Register a connection; False when there are too many."""
        if not self._accepting or len(self._connections) >= MAX_CONNECTIONS:
            return False
        self._connections[connection] = None
        return True

    def closed(self, connection: AcceptedConnection) -> None:
        """Unregister a connection."""
        self._connections.pop(connection, None)
        self._waiting.pop(connection, None)
        self._request_bytes.drop(connection)
        self._wake()
        if connection.service is not None:
            connection.service.closed(connection)

    def greet(self, connection: AcceptedConnection, hello: Hello) -> tuple[Hello, Service | None]:
        """Return this node's hello, and what serves the link; None: the hello is of kind REFUSED."""
        ours = self._identity()
        service = self._services.get(hello.kind)
        reason = self._refusal(hello, ours, service)
        if service is None or reason:
            self.report(connection, reason)
            return Hello(REFUSED, ours), None
        service.opened(connection, hello)
        return Hello(hello.kind, ours), service

    def is_other_cluster(self, party: Party) -> bool:
        """Whether the party belongs to another cluster, as far as both clusters are known."""
        ours = self._identity().cluster_id
        return "" not in (ours, party.cluster_id) and ours != party.cluster_id

    def admit(self, connection: AcceptedConnection, came_bytes: int) -> bool:
        """Count what has come of a request; False: the connection waits until others are done."""
        admitted = self._request_bytes.may_go_on(connection, came_bytes)
        if not admitted:
            self._waiting[connection] = None
        return admitted

    def begin(self, connection: AcceptedConnection) -> int:
        """The request that was admitted is complete; return its bytes, for `release`."""
        size_bytes = self._request_bytes.begin(connection)
        self._wake()  # another one is the first that is being read
        return size_bytes

    def release(self, size_bytes: int) -> None:
        """Release the bytes of a request that was answered."""
        if size_bytes:
            self._request_bytes.end(size_bytes)
            self._wake()

    def start(self, request: Coroutine[Any, Any, None]) -> None:
        """Serve a request in a task."""
        self._requests_total += 1
        task = asyncio.get_running_loop().create_task(request)
        self._requests[task] = None
        task.add_done_callback(self._requests.pop)

    async def answer(self, service: RequestService, payload: bytes) -> bytes | None:
        """Serve a request; None when the service failed."""
        try:
            return await service.handle(payload)
        except Exception as error:  # noqa: BLE001 - handed to the one place that decides
            context = {
                "message": "unexpected error while serving a request of another node",
                "exception": error,
                "protocol": self,
            }
            asyncio.get_running_loop().call_exception_handler(context)
            return None

    def receive(self, service: MessageService, hello: Hello, body: bytes) -> None:
        """Receive a message.

        Raises:
            LinkFormatError: it cannot be read, or the sender may not send it.
        """
        service.received(hello, body)
        self._messages_total += 1

    def report(self, connection: AcceptedConnection, reason: str) -> None:
        """Log why a connection was closed; further ones within `REPORT_INTERVAL_S` are only counted."""
        self._rejected_total += 1
        now_s = asyncio.get_running_loop().time()
        if now_s < self._reported_at_s + REPORT_INTERVAL_S:
            self._unreported += 1
            return
        logger.warning(
            "closed a connection to this node",
            extra={
                "client": connection.client,
                "reason": reason,
                "not_reported_before": self._unreported,
            },
        )
        self._reported_at_s, self._unreported = now_s, 0

    def _wake(self) -> None:
        """Let waiting connections try again, soon: one of them may have called this."""
        waiting, self._waiting = self._waiting, {}
        for connection in waiting:
            asyncio.get_running_loop().call_soon(connection.advance)

    def _refusal(self, hello: Hello, ours: Party, service: Service | None) -> str:
        theirs = hello.party
        if self.is_other_cluster(theirs):
            return (
                f"node {theirs.node_id} belongs to cluster {theirs.cluster_id}, this node to "
                f"{ours.cluster_id}"
            )
        if service is None:
            self._unknown_kinds_total += 1
            return f"this node serves no links of kind {hello.kind}"
        limit = service.kind.max_links
        if limit is not None:
            open_links = sum(it.service is service for it in self._connections)
            if open_links >= limit:
                return f"the limit of {limit} {service.kind.name} links is reached"
        return service.refusal(hello)
