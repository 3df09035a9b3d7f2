"""How requests get to the controller that leads, and messages from one controller to another."""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, Protocol

from headrace.metadata.raft.messages import RaftMessage
from headrace.metadata.rpc.frames import LeaderAddress


class Address(NamedTuple):
    """Where a controller listens."""

    host: str
    port: int


class NotSentError(ConnectionError):
    """A request was not sent: it has certainly not taken effect."""


class Transport(Protocol):
    """Carries one encoded request, and brings its encoded answer."""

    async def request(self, frame: bytes) -> bytes:
        """Send a frame and wait for the answer.

        Raises:
            NotSentError: no controller could be reached.
            OSError: the connection broke, or the controller has fallen silent. Whether it has
                received the request is unknown.
        """
        ...

    def redirect(self, leader: LeaderAddress | None) -> None:
        """Note that the controller asked last does not lead; `leader` does, if that is known."""
        ...


class PeerNetwork(Protocol):
    """What a controller needs of the network to the others."""

    def send(self, message: RaftMessage) -> None:
        """Send a message to its target, or lose it. Never waits, never raises."""
        ...

    async def request(self, node_id: int, frame: bytes) -> bytes:
        """Ask one controller, whether it leads or not.

        Raises:
            OSError: no answer; as with `Transport`.
        """
        ...

    def set_addresses(self, addresses: Mapping[int, Address]) -> None:
        """Say who the others are, and where; who is not named is not spoken to any more."""
        ...


class LocalTransport:
    """The controller is in this process. It is given nothing but encoded frames all the same."""

    def __init__(self, handle: Callable[[bytes], Awaitable[bytes]]) -> None:
        self._handle = handle

    async def request(self, frame: bytes) -> bytes:
        """Hand the frame over and wait."""
        return await self._handle(frame)

    def redirect(self, leader: LeaderAddress | None) -> None:
        """There is nobody else to ask."""
