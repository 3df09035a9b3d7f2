"""The dialling end of a link: the hello, frames, and detection of a dead peer."""

import asyncio
import socket
from typing import Final

from headrace.links.ends import Address, Party
from headrace.links.errors import LinkFormatError
from headrace.links.framing import FrameReader, Hello, decode_hello, encode_hello
from headrace.links.kinds import REFUSED, LinkKind
from headrace.network import Network

PROGRESS_BYTES: Final = 256 << 10  # of an incomplete frame; less is no sign of life
DIAL_MS: Final = 1_000  # for the name, the connection and the hello together

# A connection whose peer does not acknowledge data, or keeps its window closed, ends after this time.
UNACKNOWLEDGED_MS: Final = 2_000
_OPTIONS: Final = (
    (socket.IPPROTO_TCP, "TCP_NODELAY", 1),
    (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
    # An idle connection is probed every second, and ends after the same time.
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPCNT", 2),
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", UNACKNOWLEDGED_MS),
)


def tune(transport: asyncio.Transport) -> None:
    """Send without delay, and detect a dead or unreachable peer, as far as the system has such options."""
    connected = transport.get_extra_info("socket")
    if connected is None:
        return  # not a connection of the kernel
    for level, name, value in _OPTIONS:
        option = getattr(socket, name, None)
        if option is not None:
            connected.setsockopt(level, option, value)


class DialledConnection(asyncio.Protocol):
    """One link to another node, from `dial` to its end. It is used once."""

    def __init__(self, kind: LinkKind, party: Party) -> None:
        self._kind = kind
        self._hello = Hello(kind.number, party)
        self._reader = FrameReader()
        self._greeted: asyncio.Future[Party] = asyncio.get_running_loop().create_future()
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.Transport | None = None
        self._lost: OSError | None = None
        self._fresh_bytes = 0  # received since the last sign of progress

    @property
    def lost(self) -> bool:
        """Whether the connection has ended."""
        return self._lost is not None

    async def dial(self, network: Network, address: Address, *, node_id: int | None = None) -> None:
        """Connect and exchange hellos.

        Args:
            network: that reaches the node.
            address: of the node.
            node_id: the expected node; None: any.

        Raises:
            OSError: no answer in `DIAL_MS`, the other end is of another cluster or another node, or the
                address is invalid.
        """
        try:
            async with asyncio.timeout(DIAL_MS / 1000):
                await network.connect(lambda: self, *address)
                party = await self._greeted
        except TimeoutError:
            self.end(TimeoutError(f"{address.host}:{address.port} did not answer in {DIAL_MS} ms"))
            raise TimeoutError(
                f"{address.host}:{address.port} did not answer in {DIAL_MS} ms"
            ) from None
        except (ValueError, OverflowError) as error:
            # Operators may have added an invalid host name to the quorum; that must not stop this node.
            msg = f"{address.host!r}:{address.port} is not a valid address: {error}"
            self.end(ConnectionRefusedError(msg))
            raise ConnectionRefusedError(msg) from error
        except BaseException:
            self.end(ConnectionAbortedError("the attempt to connect was cancelled"))
            raise
        if node_id not in (None, party.node_id):
            msg = f"{address.host}:{address.port} is node {party.node_id}, expected node {node_id}"
            self.end(ConnectionRefusedError(msg))
            raise ConnectionRefusedError(msg)

    def write(self, frame: bytes) -> None:
        """Send a frame; it is lost if the connection has ended."""
        if self._transport is not None and not self.lost:
            self._transport.write(frame)

    async def drained(self) -> None:
        """Wait until the write buffer has drained.

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
            self._greeted.exception()  # the caller of `dial` may have been cancelled
        self.ended(reason)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the hello."""
        self._transport = transport  # type: ignore[assignment]  # uvloop's is no subclass
        assert self._transport is not None
        if self.lost:
            self._transport.abort()
            return
        tune(self._transport)
        self._transport.write(encode_hello(self._hello))

    def data_received(self, data: bytes) -> None:
        """Process received bytes. The peer is alive while it completes frames, or gets on with a large one."""
        self._reader.feed(data)
        self._fresh_bytes += len(data)
        if self._fresh_bytes >= PROGRESS_BYTES:
            self._note_progress()
        try:
            while not self.lost and (body := self._reader.next_body()) is not None:
                self._note_progress()
                if self._greeted.done():
                    self.frame_received(body)
                else:
                    self._greet(decode_hello(body))
        except LinkFormatError as error:
            self.end(ConnectionAbortedError(str(error)))

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection was ended by the peer, the kernel or this process."""
        self.end(
            exc if isinstance(exc, OSError) else ConnectionResetError("the connection was closed")
        )

    def pause_writing(self) -> None:
        """The peer reads slowly."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """The peer has caught up."""
        self._writable.set()

    def note_alive(self) -> None:
        """Record that the peer is alive: a frame was completed, or `PROGRESS_BYTES` of one arrived."""

    def frame_received(self, body: bytes) -> None:
        """Process a frame after the hello.

        Raises:
            LinkFormatError: the frame is invalid; the connection ends.
        """
        del body
        raise LinkFormatError(
            f"the other node sent an unexpected frame on a {self._kind.name} link"
        )

    def ended(self, reason: OSError) -> None:
        """The connection has ended. Called once."""

    def _note_progress(self) -> None:
        self._fresh_bytes = 0
        self.note_alive()

    def _greet(self, answer: Hello) -> None:
        ours = self._hello
        if answer.kind == REFUSED:
            msg = f"node {answer.party.node_id} refuses the connection; its log has the reason"
            if ours.party.cluster_id != answer.party.cluster_id:
                msg = (
                    f"node {answer.party.node_id} belongs to cluster "
                    f"{answer.party.cluster_id}, this node to {ours.party.cluster_id}"
                )
            self.end(ConnectionRefusedError(msg))
            return
        if answer.kind != ours.kind:
            raise LinkFormatError("the other node's hello is for another kind of link")
        if self._kind.max_answer_bytes:
            self._reader.expect_frames(self._kind.max_answer_bytes)
        self._greeted.set_result(answer.party)
