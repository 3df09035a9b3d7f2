"""Where a controller is reached: one port for brokers' requests and for messages of the other controllers.

Nothing here is authenticated, so it belongs in a private network. The bounds are against accidents.
"""

import asyncio
import logging
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

from headrace.config.node import Endpoint
from headrace.metadata.net.accepted import AcceptedConnection
from headrace.metadata.net.framing import MAX_BODY_BYTES, Hello, Kind, Party
from headrace.metadata.raft.messages import RaftMessage

logger = logging.getLogger("headrace.metadata")

BEAT_MS: Final = 500  # whoever is owed an answer hears so often that we live
MAX_CONNECTIONS: Final = 512
MAX_PEERS: Final = 32
MAX_REQUEST_BYTES: Final = 4 * MAX_BODY_BYTES  # of all connections, being read or under way
REPORT_INTERVAL_S: Final = 10.0  # between two lines of the log about connections that were ended


@dataclass(frozen=True, slots=True)
class ListenerStatistics:
    """What has come so far, and what is open."""

    connections: int
    peers: int
    requests: int
    requests_inflight: int
    messages: int
    rejected: int  # connections that were refused, or ended for what they sent


class ControllerListener:
    """Accepts connections and owns them."""

    def __init__(
        self,
        endpoint: Endpoint,
        handle: Callable[[bytes], Awaitable[bytes]],
        receive: Callable[[RaftMessage], None],
        identity: Callable[[], Party],
        *,
        on_peer: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Bind nothing yet.

        Args:
            endpoint: where to listen.
            handle: answers a frame of `headrace.metadata.rpc`; it raises only for a bug, which ends the connection.
            receive: takes a message of a peer; it neither waits nor raises.
            identity: who we are, as of now.
            on_peer: called with the node id of a peer that has connected.
        """
        self._endpoint = endpoint
        self._handle = handle
        self._receive = receive
        self._identity = identity
        self._on_peer = on_peer
        self._servers: list[asyncio.Server] = []
        self._accepting = False
        self._connections: set[AcceptedConnection] = set()
        self._peers: dict[int, AcceptedConnection] = {}
        self._requests: set[asyncio.Task[None]] = set()
        self._request_bytes = 0
        self._waiting: deque[AcceptedConnection] = deque()
        self._requests_total = 0
        self._messages_total = 0
        self._rejected_total = 0
        self._reported_at_s = float("-inf")
        self._unreported = 0

    @property
    def statistics(self) -> ListenerStatistics:
        """Counters since the start, and what is open now."""
        return ListenerStatistics(
            connections=len(self._connections),
            peers=len(self._peers),
            requests=self._requests_total,
            requests_inflight=len(self._requests),
            messages=self._messages_total,
            rejected=self._rejected_total,
        )

    async def bind(self) -> Endpoint:
        """Listen without accepting yet; return the endpoint with the port that it got.

        Who dials early waits in the backlog, and nobody else can have the address.

        Raises:
            OSError: the address is taken or not ours.
        """
        loop = asyncio.get_running_loop()
        name, host, port = self._endpoint.name, self._endpoint.host, self._endpoint.port
        found = await loop.getaddrinfo(
            host or "0.0.0.0",  # noqa: S104  # what an empty host means
            port,
            type=socket.SOCK_STREAM,
            flags=socket.AI_PASSIVE,
        )
        for family, _, _, _, address in found:
            listening = socket.create_server(
                (str(address[0]), port), family=family, backlog=MAX_CONNECTIONS
            )
            server = await loop.create_server(
                lambda: AcceptedConnection(self), sock=listening, start_serving=False
            )
            self._servers.append(server)
        return Endpoint(name, host, int(self._servers[0].sockets[0].getsockname()[1]))

    async def run(self) -> None:
        """Accept connections and watch over them, until cancelled."""
        self._accepting = True
        for server in self._servers:
            await server.start_serving()
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(BEAT_MS / 1000)
            for connection in list(self._connections):
                connection.look(loop.time())

    async def shutdown(self) -> None:
        """Close the socket and every connection, and wait for the requests under way to end."""
        self._accepting = False
        for server in self._servers:
            server.close()
        for connection in list(self._connections):
            connection.close()
        requests = list(self._requests)
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)

    def opened(self, connection: AcceptedConnection) -> bool:
        """Count a connection in; False when there are too many."""
        if not self._accepting or len(self._connections) >= MAX_CONNECTIONS:
            return False
        self._connections.add(connection)
        return True

    def closed(self, connection: AcceptedConnection) -> None:
        """Count a connection out."""
        self._connections.discard(connection)
        if connection.hello is not None:
            node_id = connection.hello.party.node_id
            if self._peers.get(node_id) is connection:
                del self._peers[node_id]

    def greet(self, connection: AcceptedConnection, hello: Hello) -> Hello:
        """Say who we are, or REFUSED. Of one peer's connections the newest stays."""
        ours = self._identity()
        reason = self._refusal(hello, ours)
        if reason:
            self.report(connection, reason)
            return Hello(Kind.REFUSED, ours)
        if hello.kind == Kind.PEER:
            node_id = hello.party.node_id
            older = self._peers.pop(node_id, None)
            if older is not None:
                older.close()
            self._peers[node_id] = connection
            self._on_peer(node_id)
        return Hello(hello.kind, ours)

    def is_strange(self, party: Party) -> bool:
        """Whether it is of another cluster than ours, as far as both are known."""
        ours = self._identity().cluster_id
        return "" not in (ours, party.cluster_id) and ours != party.cluster_id

    def admit(self, connection: AcceptedConnection, size_bytes: int) -> bool:
        """Count the bytes of a request in, or have the connection wait for its turn."""
        if self._request_bytes + size_bytes > MAX_REQUEST_BYTES:
            if connection not in self._waiting:
                self._waiting.append(connection)
            return False
        self._request_bytes += size_bytes
        return True

    def release(self, size_bytes: int) -> None:
        """Count the bytes of a request out, and let those that wait try again."""
        self._request_bytes -= size_bytes
        waiting, self._waiting = self._waiting, deque()
        for connection in waiting:
            connection.advance()

    def start(self, request: Coroutine[Any, Any, None]) -> None:
        """Run a request to its end."""
        self._requests_total += 1
        task = asyncio.get_running_loop().create_task(request)
        self._requests.add(task)
        task.add_done_callback(self._requests.discard)

    async def answer(self, payload: bytes) -> bytes | None:
        """Serve a request; None when the service has failed."""
        try:
            return await self._handle(payload)
        except Exception:
            logger.exception("controller request failed")
            return None

    def receive(self, message: RaftMessage) -> None:
        """Take a message of a peer."""
        self._messages_total += 1
        self._receive(message)

    def report(self, connection: AcceptedConnection, reason: str) -> None:
        """Log why a connection is ended; what comes within `REPORT_INTERVAL_S` is only counted."""
        self._rejected_total += 1
        now_s = asyncio.get_running_loop().time()
        if now_s < self._reported_at_s + REPORT_INTERVAL_S:
            self._unreported += 1
            return
        logger.warning(
            "connection to the controller ended",
            extra={
                "client": connection.client,
                "reason": reason,
                "not_reported_before": self._unreported,
            },
        )
        self._reported_at_s, self._unreported = now_s, 0

    def _refusal(self, hello: Hello, ours: Party) -> str:
        theirs = hello.party
        if self.is_strange(theirs):
            return (
                f"node {theirs.node_id} is of cluster {theirs.cluster_id}, this controller of "
                f"{ours.cluster_id}"
            )
        if hello.kind == Kind.REFUSED:
            return "its hello has no kind"
        if hello.kind == Kind.PEER:
            if theirs.node_id == ours.node_id:
                return f"another controller has our node id {ours.node_id}"
            if theirs.node_id not in self._peers and len(self._peers) >= MAX_PEERS:
                return f"there are {MAX_PEERS} peers"
        return ""
