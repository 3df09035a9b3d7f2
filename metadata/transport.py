"""How frames get from a broker to the controller."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from metadata.rpc.frames import LeaderAddress


class Transport(Protocol):
    """Carries one encoded request, and brings its encoded answer."""

    async def request(self, frame: bytes) -> bytes:
        """Send a frame and wait for the answer.

        Raises:
            OSError: the controller cannot be reached, or the connection broke. Whether it has
                received the request is unknown.
        """
        ...

    def redirect(self, leader: LeaderAddress | None) -> None:
        """Note that the controller asked last does not lead; `leader` does, if that is known."""
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
