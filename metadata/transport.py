"""Transports of requests to the leader, and of messages between controllers."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from headrace.links.ends import Address
from headrace.metadata.raft.messages import RaftMessage
from headrace.metadata.rpc.frames import LeaderAddress


class Transport(Protocol):
    """Sends one encoded request and returns its encoded answer."""

    async def request(self, frame: bytes, *, within_ms: int | None = None) -> bytes:
        """Send a frame and wait for the answer; a controller that does not answer in `within_ms` is not reached.

        Raises:
            NotSentError: no controller could be reached.
            OSError: the connection broke, or the controller stopped answering, or did not answer in time. Whether it
                received the request is unknown.
        """
        ...

    def redirect(self, leader: LeaderAddress | None) -> None:
        """Record that the controller asked last is not the leader; `leader` is, if that is known."""
        ...


class PeerNetwork(Protocol):
    """The network to the other controllers, as a controller uses it."""

    def send(self, message: RaftMessage) -> None:
        """Send a message to its target, or lose it. Never waits, never raises."""
        ...

    async def request(self, node_id: int, frame: bytes) -> bytes:
        """Send a request to one controller, leader or not.

        Raises:
            OSError: no answer; as with `Transport`.
        """
        ...

    def set_addresses(self, addresses: Mapping[int, Address]) -> None:
        """Set the other members and their addresses; connections to any others are closed."""
        ...


class LocalTransport:
    """The controller is in this process. It still gets encoded frames only."""

    def __init__(self, handle: Callable[[bytes], Awaitable[bytes]]) -> None:
        self._handle = handle

    async def request(self, frame: bytes, *, within_ms: int | None = None) -> bytes:
        """Pass the frame on and wait for the answer, as long as it takes: no other controller can be asked."""
        del within_ms
        return await self._handle(frame)

    def redirect(self, leader: LeaderAddress | None) -> None:
        """Do nothing: there is no other controller."""
