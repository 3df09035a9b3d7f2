"""Messages to the other controllers, and requests to each of them: one link of each kind to each."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from headrace.links.ends import Address, Party
from headrace.links.errors import NotSentError
from headrace.links.messages import MessageCounters, MessageTarget, OutgoingMessages
from headrace.links.requests import RequestTarget
from headrace.metadata.net.kinds import PEER, RPC
from headrace.metadata.net.peer_messages import encode_message
from headrace.metadata.raft.messages import AppendRequest, RaftMessage
from headrace.network import Network

if TYPE_CHECKING:
    from random import Random


class PeerStatistics(msgspec.Struct, frozen=True):
    """Totals of all peers since the start."""

    peers: int
    connected: int
    messages_sent: int
    messages_dropped: int
    bytes_sent: int
    dials: int  # that succeeded
    disconnects: int


class _Peer(MessageTarget[RaftMessage]):
    """One other controller."""

    def __init__(
        self, outgoing: OutgoingMessages[RaftMessage], node_id: int, address: Address
    ) -> None:
        super().__init__(outgoing, node_id, address)
        self.rpc = RequestTarget(RPC, address, outgoing.identity, outgoing.network, node_id=node_id)
        self.task: asyncio.Task[None] | None = None

    def close(self) -> None:
        """Close the links and send nothing more."""
        self.rpc.close()
        if self.task is not None:
            self.task.cancel()


class PeerLinks:
    """The network to the other controllers, a `headrace.metadata.transport.PeerNetwork`."""

    def __init__(self, identity: Callable[[], Party], network: Network, rng: "Random") -> None:
        """Create the links without dialling yet.

        Args:
            identity: returns this node's current identity.
            network: that reaches the others.
            rng: spreads the attempts to connect.
        """
        self._counters = MessageCounters()
        self._outgoing = OutgoingMessages(
            PEER, encode_message, identity, network, rng, self._counters
        )
        self._peers: dict[int, _Peer] = {}
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
                peer = _Peer(self._outgoing, node_id, address)
                self._peers[node_id] = peer
                self._start(peer)

    def send(self, message: RaftMessage) -> None:
        """Queue a message for its target, or drop it."""
        peer = self._peers.get(message.target)
        if peer is None:
            self._counters.dropped += 1
        else:
            peer.send(message, _size_bytes(message))

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


def _size_bytes(message: RaftMessage) -> int:
    """Bytes of its entries; the leader's log holds them too."""
    if isinstance(message, AppendRequest):
        return sum(len(entry.payload) for entry in message.entries)
    return 0
