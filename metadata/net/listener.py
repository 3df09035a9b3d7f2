"""The controller's listener: one port for brokers' requests and for messages of the other controllers.

It has no authentication, so it belongs in a private network. The bounds are against accidents.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID

import msgspec

from headrace.config.node import Endpoint
from headrace.metadata.net.accepted import AcceptedConnection
from headrace.metadata.net.framing import MAX_REQUEST_BODY_BYTES, Hello, Kind, Party
from headrace.metadata.net.request_bytes import RequestBytes
from headrace.metadata.raft.messages import RaftMessage
from headrace.network import ListeningAddress, Network

logger = logging.getLogger("headrace.metadata")

KEEPALIVE_MS: Final = 500  # interval of keepalives to clients that wait for an answer
ASLEEP_MS: Final = 250  # a look at the connections that is this late ends none
MAX_CONNECTIONS: Final = 512
MAX_PEERS: Final = 32
MAX_REQUEST_BYTES: Final = 8 * MAX_REQUEST_BODY_BYTES  # of all connections, being read or served
REPORT_INTERVAL_S: Final = 10.0  # between two log lines about connections that were closed


class ListenerStatistics(msgspec.Struct, frozen=True):
    """Totals since the start, and what is open now."""

    connections: int
    peers: int
    requests: int
    requests_inflight: int
    messages: int
    rejected: int  # connections that were refused, or closed for invalid data


class ControllerListener:
    """Accepts connections and owns them."""

    def __init__(
        self,
        endpoint: Endpoint,
        handle: Callable[[bytes], Awaitable[bytes]],
        receive: Callable[[RaftMessage], None],
        identity: Callable[[], Party],
        *,
        network: Network,
        on_peer: Callable[[int], None] = lambda _: None,
        is_member: Callable[[int, UUID], bool] = lambda _node_id, _directory_id: False,
    ) -> None:
        """Create the listener without binding yet.

        Args:
            endpoint: the address to listen on.
            handle: answers a frame of `headrace.metadata.rpc`; it raises only for a bug, which ends the connection.
            receive: takes a message of a peer; it neither waits nor raises.
            identity: returns this node's current identity.
            network: where to listen.
            on_peer: called with the node id of a peer that has connected.
            is_member: whether a node id with a directory id is a member of the quorum, as far as this node knows.
        """
        self._endpoint = endpoint
        self._handle = handle
        self._receive = receive
        self._identity = identity
        self._network = network
        self._on_peer = on_peer
        self._is_member = is_member
        self._listening: Sequence[ListeningAddress] = ()
        self._accepting = False
        self._connections: dict[AcceptedConnection, None] = {}
        self._peers: dict[int, AcceptedConnection] = {}
        self._requests: dict[asyncio.Task[None], None] = {}
        self._request_bytes = RequestBytes(MAX_REQUEST_BYTES)
        self._waiting: dict[AcceptedConnection, None] = {}  # in the order in which they came
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
        if connection.hello is not None:
            node_id = connection.hello.party.node_id
            if self._peers.get(node_id) is connection:
                del self._peers[node_id]

    def greet(self, connection: AcceptedConnection, hello: Hello) -> Hello:
        """Return this controller's hello, or REFUSED. Of one peer's connections the newest is kept.

        A second controller with a node id is refused while the first one's connection lasts, unless
        only the second one is the member of the quorum. One that contradicts the configuration
        is taken if there is no other: it may be a member by an entry that this node lacks.
        """
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

    async def answer(self, payload: bytes) -> bytes | None:
        """Serve a request; None when the service failed."""
        try:
            return await self._handle(payload)
        except Exception as error:  # noqa: BLE001 - handed to the one place that decides
            context = {
                "message": "unexpected error while serving a controller request",
                "exception": error,
                "protocol": self,
            }
            asyncio.get_running_loop().call_exception_handler(context)
            return None

    def receive(self, message: RaftMessage) -> None:
        """Receive a message of a peer."""
        self._messages_total += 1
        self._receive(message)

    def report(self, connection: AcceptedConnection, reason: str) -> None:
        """Log why a connection was closed; further ones within `REPORT_INTERVAL_S` are only counted."""
        self._rejected_total += 1
        now_s = asyncio.get_running_loop().time()
        if now_s < self._reported_at_s + REPORT_INTERVAL_S:
            self._unreported += 1
            return
        logger.warning(
            "closed a connection to this controller",
            extra={
                "client": connection.client,
                "reason": reason,
                "not_reported_before": self._unreported,
            },
        )
        self._reported_at_s, self._unreported = now_s, 0

    def _other_refusal(self, theirs: Party) -> str:
        """Why a controller is refused beside one with its node id that is connected; empty: it is not."""
        older = self._peers.get(theirs.node_id)
        if older is None or older.hello is None:
            return ""
        known_id = older.hello.party.directory_id
        is_member, is_known = self._is_member, known_id == theirs.directory_id
        if is_known or (
            is_member(theirs.node_id, theirs.directory_id)
            and not is_member(theirs.node_id, known_id)
        ):
            return ""
        return (
            f"node {theirs.node_id} with directory {theirs.directory_id} is a second controller with this "
            f"node id: the one with directory {known_id} is connected from {older.client}"
        )

    def _wake(self) -> None:
        """Let waiting connections try again, soon: one of them may have called this."""
        waiting, self._waiting = self._waiting, {}
        for connection in waiting:
            asyncio.get_running_loop().call_soon(connection.advance)

    def _refusal(self, hello: Hello, ours: Party) -> str:
        theirs = hello.party
        if self.is_other_cluster(theirs):
            return (
                f"node {theirs.node_id} belongs to cluster {theirs.cluster_id}, this controller to "
                f"{ours.cluster_id}"
            )
        if hello.kind == Kind.REFUSED:
            return "the hello of the client has an invalid kind"
        if hello.kind == Kind.PEER:
            if theirs.node_id == ours.node_id:
                return f"another controller uses the same node id {ours.node_id}"
            if theirs.node_id not in self._peers and len(self._peers) >= MAX_PEERS:
                return f"the limit of {MAX_PEERS} peers is reached"
            return self._other_refusal(theirs)
        return ""
