"""The end of a connection that dialled: the hello, frames, and when the other end is gone."""

import asyncio
import socket
from typing import Final

from headrace.metadata.errors import MetadataFormatError
from headrace.metadata.net.framing import (
    FrameReader,
    Hello,
    Kind,
    Party,
    decode_hello,
    encode_hello,
)
from headrace.metadata.transport import Address

DIAL_MS: Final = 1_000  # for the name, the connection and the hello together

# A connection whose other end does not acknowledge, or whose window stays closed, ends after so long.
UNACKNOWLEDGED_MS: Final = 2_000
_OPTIONS: Final = (
    (socket.IPPROTO_TCP, "TCP_NODELAY", 1),
    (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
    # An idle connection is probed each second, and ends as one in use does.
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPCNT", 2),
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", UNACKNOWLEDGED_MS),
)


def tune(transport: asyncio.Transport) -> None:
    """Send at once, and notice a dead or cut off other end. Options that a system lacks are left out."""
    connected = transport.get_extra_info("socket")
    for level, name, value in _OPTIONS:
        option = getattr(socket, name, None)
        if option is not None:
            connected.setsockopt(level, option, value)


class DialledConnection(asyncio.Protocol):
    """One connection to a controller, from `dial` to its end. It is not dialled again."""

    def __init__(self, kind: Kind, party: Party) -> None:
        self._hello = Hello(kind, party)
        self._reader = FrameReader()
        self._greeted: asyncio.Future[Party] = asyncio.get_running_loop().create_future()
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.Transport | None = None
        self._lost: OSError | None = None

    @property
    def lost(self) -> bool:
        """Whether the connection has ended."""
        return self._lost is not None

    async def dial(self, address: Address, *, node_id: int | None = None) -> None:
        """Connect and exchange hellos.

        Args:
            address: of the controller.
            node_id: who must be there; None: anyone.

        Raises:
            OSError: nobody answers in `DIAL_MS`, it is another cluster's controller or another node, or
                there can be no such address.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(DIAL_MS / 1000):
                await loop.create_connection(lambda: self, *address)
                party = await self._greeted
        except TimeoutError:
            self.end(TimeoutError(f"{address.host}:{address.port} does not answer"))
            raise TimeoutError(f"{address.host}:{address.port} does not answer") from None
        except (ValueError, OverflowError) as error:
            # What operators have added to the quorum may be no host name, and must end nobody.
            msg = f"{address.host!r}:{address.port} is no address: {error}"
            self.end(ConnectionRefusedError(msg))
            raise ConnectionRefusedError(msg) from error
        except BaseException:
            self.end(ConnectionAbortedError("given up"))
            raise
        if node_id not in (None, party.node_id):
            msg = f"node {party.node_id} is at {address.host}:{address.port}, not node {node_id}"
            self.end(ConnectionRefusedError(msg))
            raise ConnectionRefusedError(msg)

    def write(self, frame: bytes) -> None:
        """Send a frame; it is lost if the connection has ended."""
        if self._transport is not None and not self.lost:
            self._transport.write(frame)

    async def drained(self) -> None:
        """Wait until what was written is mostly sent.

        Raises:
            OSError: the connection has ended.
        """
        await self._writable.wait()
        if self._lost is not None:
            raise self._lost

    def end(self, reason: OSError) -> None:
        """Drop the connection at once."""
        if self.lost:
            return
        self._lost = reason
        self._writable.set()
        if self._transport is not None:
            self._transport.abort()
        if not self._greeted.done():
            self._greeted.set_exception(reason)
            self._greeted.exception()  # whoever dialled may have gone
        self.ended(reason)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say who we are."""
        self._transport = transport  # type: ignore[assignment]  # uvloop's is no subclass
        assert self._transport is not None
        if self.lost:
            self._transport.abort()
            return
        tune(self._transport)
        self._transport.write(encode_hello(self._hello))

    def data_received(self, data: bytes) -> None:
        """Take what was read."""
        self.heard()
        self._reader.feed(data)
        try:
            while not self.lost and (body := self._reader.next_body()) is not None:
                if self._greeted.done():
                    self.frame_received(body)
                else:
                    self._greet(decode_hello(body))
        except MetadataFormatError as error:
            self.end(ConnectionAbortedError(str(error)))

    def connection_lost(self, exc: Exception | None) -> None:
        """The other end, the kernel or we ourselves ended it."""
        self.end(exc if isinstance(exc, OSError) else ConnectionResetError("the connection ended"))

    def pause_writing(self) -> None:
        """The other end is slow."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """It has caught up."""
        self._writable.set()

    def heard(self) -> None:
        """Something came: the other end is alive."""

    def frame_received(self, body: bytes) -> None:
        """A frame behind the hello came.

        Raises:
            MetadataFormatError: end the connection.
        """
        del body
        raise MetadataFormatError("a frame came that nobody asked for")

    def ended(self, reason: OSError) -> None:
        """Nothing will come any more. Called once."""

    def _greet(self, answer: Hello) -> None:
        ours = self._hello
        if answer.kind == Kind.REFUSED:
            msg = f"node {answer.party.node_id} refuses us"
            if ours.party.cluster_id != answer.party.cluster_id:
                msg = (
                    f"the controller {answer.party.node_id} is of cluster "
                    f"{answer.party.cluster_id}, this node of {ours.party.cluster_id}"
                )
            self.end(ConnectionRefusedError(msg))
            return
        if answer.kind != ours.kind:
            raise MetadataFormatError("a hello came for another kind of connection")
        self._reader.expect_frames()
        self._greeted.set_result(answer.party)
