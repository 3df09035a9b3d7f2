"""Messages to the other controllers: one connection to each, which is redialled whenever it ends.

A message waits in its peer's queue until the connection has room. If the queue is full the oldest
messages are dropped, as are those that waited too long for a connection: Raft sends them again.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from headrace.metadata.errors import MetadataFormatError
from headrace.metadata.net.dialling import DialledConnection
from headrace.metadata.net.framing import Kind, Party, encode_message
from headrace.metadata.net.rpc_link import RpcTarget
from headrace.metadata.raft.messages import AppendRequest, RaftMessage
from headrace.metadata.transport import Address, NotSentError
from headrace.network import Network

if TYPE_CHECKING:
    from random import Random

logger = logging.getLogger("headrace.metadata")

MAX_QUEUE_MESSAGES: Final = 512  # of one peer
MAX_QUEUE_BYTES: Final = 96 << 20  # of entries; the leader's log holds them too
MIN_BACKOFF_MS: Final = 20
MAX_BACKOFF_MS: Final = 1_000
STALE_MS: Final = 1_000  # a message that waited this long for a connection is dropped


class PeerStatistics(msgspec.Struct, frozen=True):
    """Totals of all peers since the start."""

    peers: int
    connected: int
    messages_sent: int
    messages_dropped: int
    bytes_sent: int
    dials: int  # that succeeded
    disconnects: int


class _Counters(msgspec.Struct):
    """The counters of `PeerStatistics`; they outlive removed peers."""

    sent: int = 0
    dropped: int = 0
    bytes_sent: int = 0
    dials: int = 0
    disconnects: int = 0


class _Queued(NamedTuple):
    message: RaftMessage
    size_bytes: int
    at_s: float


class _PeerConnection(DialledConnection):
    """Wakes the peer's task when it ends."""

    def __init__(self, party: Party, wake: asyncio.Event) -> None:
        super().__init__(Kind.PEER, party)
        self._wake = wake

    def ended(self, reason: OSError) -> None:
        """Wake the peer's task."""
        del reason
        self._wake.set()


class _Peer:
    """One other controller."""

    def __init__(
        self,
        node_id: int,
        address: Address,
        identity: Callable[[], Party],
        network: Network,
        rng: "Random",
        counters: _Counters,
    ) -> None:
        self._node_id = node_id
        self.address = address
        self._identity = identity
        self._network = network
        self._rng = rng
        self._counters = counters
        self._queue: deque[_Queued] = deque()
        self._queued_bytes = 0
        self._wake = asyncio.Event()  # something to send, or the connection ended
        self._summoned = asyncio.Event()
        self._reachable: bool | None = None  # one log line for each change
        self.rpc = RpcTarget(address, identity, network, node_id=node_id)
        self.task: asyncio.Task[None] | None = None
        self.connected = False

    def send(self, message: RaftMessage) -> None:
        """Queue a message."""
        size_bytes = 0
        if isinstance(message, AppendRequest):
            size_bytes = sum(len(entry.payload) for entry in message.entries)
        now_s = asyncio.get_running_loop().time()
        self._queue.append(_Queued(message, size_bytes, now_s))
        self._queued_bytes += size_bytes
        while len(self._queue) > 1 and (
            len(self._queue) > MAX_QUEUE_MESSAGES or self._queued_bytes > MAX_QUEUE_BYTES
        ):
            self._take()
            self._counters.dropped += 1
        self._wake.set()

    def dial_now(self) -> None:
        """Dial now: the peer is known to be up."""
        self._summoned.set()

    def close(self) -> None:
        """Close the connection and send nothing more."""
        self.rpc.close()
        if self.task is not None:
            self.task.cancel()

    async def run(self) -> None:
        """Keep a connection and send what is queued, until cancelled."""
        loop = asyncio.get_running_loop()
        backoff_ms = MIN_BACKOFF_MS
        while True:
            self._summoned.clear()
            began_s = loop.time()
            try:
                await self._connect_and_send()
            except OSError as error:
                self._log_reachability(reachable=False, reason=str(error))
            if loop.time() - began_s > MAX_BACKOFF_MS / 1000:
                backoff_ms = MIN_BACKOFF_MS
            try:
                async with asyncio.timeout(self._rng.uniform(0.5, 1) * backoff_ms / 1000):
                    await self._summoned.wait()
            except TimeoutError:
                backoff_ms = min(2 * backoff_ms, MAX_BACKOFF_MS)

    async def _connect_and_send(self) -> None:
        """Dial, and send until the connection ends.

        Raises:
            OSError: the connection failed, or ended.
        """
        connection = _PeerConnection(self._identity(), self._wake)
        try:
            await connection.dial(self._network, self.address, node_id=self._node_id)
            self._counters.dials += 1
            self.connected = True
            self._log_reachability(reachable=True)
            self._drop_stale()
            while True:
                await connection.drained()
                if self._queue:
                    self._write(connection, self._take())
                else:
                    self._wake.clear()
                    if not connection.lost:
                        await self._wake.wait()
        finally:
            connection.end(ConnectionAbortedError("closed"))
            self._counters.disconnects += self.connected
            self.connected = False

    def _write(self, connection: DialledConnection, message: RaftMessage) -> None:
        try:
            frame = encode_message(message)
        except MetadataFormatError:
            self._counters.dropped += 1
            logger.exception(
                "dropped a message to another controller: it is too large for a frame",
                extra={"node": self._node_id},
            )
            return
        connection.write(frame)
        self._counters.sent += 1
        self._counters.bytes_sent += len(frame)

    def _take(self) -> RaftMessage:
        message, size_bytes, _ = self._queue.popleft()
        self._queued_bytes -= size_bytes
        return message

    def _drop_stale(self) -> None:
        oldest_s = asyncio.get_running_loop().time() - STALE_MS / 1000
        while self._queue and self._queue[0].at_s < oldest_s:
            self._take()
            self._counters.dropped += 1

    def _log_reachability(self, *, reachable: bool, reason: str = "") -> None:
        if reachable != self._reachable:
            self._reachable = reachable
            details = {"node": self._node_id, "address": f"{self.address.host}:{self.address.port}"}
            if reachable:
                logger.info("connected to another controller", extra=details)
            else:
                logger.warning(
                    "cannot reach another controller, trying again",
                    extra={**details, "reason": reason},
                )


class PeerLinks:
    """The network to the other controllers, a `headrace.metadata.transport.PeerNetwork`."""

    def __init__(self, identity: Callable[[], Party], network: Network, rng: "Random") -> None:
        """Create the links without dialling yet.

        Args:
            identity: returns this node's current identity.
            network: that reaches the others.
            rng: spreads the attempts to connect.
        """
        self._identity = identity
        self._network = network
        self._rng = rng
        self._peers: dict[int, _Peer] = {}
        self._counters = _Counters()
        self._tasks: asyncio.TaskGroup | None = None

    @property
    def statistics(self) -> PeerStatistics:
        """Counters since the start, and how many are connected now."""
        counters = self._counters
        return PeerStatistics(
            peers=len(self._peers),
            connected=sum(peer.connected for peer in self._peers.values()),
            messages_sent=counters.sent,
            messages_dropped=counters.dropped,
            bytes_sent=counters.bytes_sent,
            dials=counters.dials,
            disconnects=counters.disconnects,
        )

    def set_addresses(self, addresses: Mapping[int, Address]) -> None:
        """Set the other members and their addresses; connections to any others are closed."""
        for node_id, peer in list(self._peers.items()):
            if addresses.get(node_id) != peer.address:
                self._peers.pop(node_id).close()
        for node_id, address in addresses.items():
            if node_id not in self._peers:
                peer = _Peer(
                    node_id, address, self._identity, self._network, self._rng, self._counters
                )
                self._peers[node_id] = peer
                self._start(peer)

    def send(self, message: RaftMessage) -> None:
        """Queue a message for its target, or drop it."""
        peer = self._peers.get(message.target)
        if peer is None:
            self._counters.dropped += 1
        else:
            peer.send(message)

    def dial_now(self, node_id: int) -> None:
        """A peer has connected to this node, so it is up: dial it without waiting for the next attempt."""
        peer = self._peers.get(node_id)
        if peer is not None:
            peer.dial_now()

    async def request(self, node_id: int, frame: bytes) -> bytes:
        """Send a request to one controller, leader or not.

        Raises:
            NotSentError: its address is not known, or it cannot be reached.
            OSError: the connection broke. Whether the request took effect is unknown.
        """
        peer = self._peers.get(node_id)
        if peer is None:
            raise NotSentError(f"the address of controller {node_id} is not known")
        return await peer.rpc.request(frame)

    async def run(self) -> None:
        """Keep the connections, until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                for peer in self._peers.values():
                    self._start(peer)
                await asyncio.Event().wait()
        finally:
            self._tasks = None
            for peer in self._peers.values():
                peer.close()

    def _start(self, peer: _Peer) -> None:
        if self._tasks is not None:
            peer.task = self._tasks.create_task(peer.run(), name="controller-peer")
