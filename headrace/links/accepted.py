"""The accepted end of a link: its kind, its requests that are being served, and its bounds."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, Protocol

from headrace.links.dialling import tune
from headrace.links.ends import Party
from headrace.links.errors import LinkFormatError
from headrace.links.framing import (
    KEEPALIVE,
    FrameReader,
    Hello,
    decode_hello,
    decode_numbered,
    encode_hello,
    encode_numbered,
)
from headrace.links.services import MessageService, RequestService, Service

HELLO_MS: Final = 5_000  # a connection without a hello is closed after this time
# A connection with an incomplete frame is closed unless `PROGRESS_BYTES` more, or the rest, come in this
# time. It is far below a broker's session: a broker that waits for what such a frame holds must not lose its own.
FRAME_MS: Final = 2_000
PROGRESS_BYTES: Final = 256 << 10
SMALL_FRAME_BYTES: Final = (
    1_024  # up to this size a request, such as a heartbeat, waits for no other
)
MAX_UNREAD_BYTES: Final = 16 << 20  # answers that a client does not read; beyond that it is closed

_KEEPALIVE_FRAME: Final = encode_numbered(KEEPALIVE, b"")


class Connections(Protocol):
    """The listener, as a connection sees it."""

    def opened(self, connection: "AcceptedConnection") -> bool:
        """Register the connection; False when there are too many."""
        ...

    def closed(self, connection: "AcceptedConnection") -> None:
        """Unregister the connection."""
        ...

    def greet(self, connection: "AcceptedConnection", hello: Hello) -> tuple[Hello, Service | None]:
        """Return this node's hello, and what serves the link; None: the hello is of kind REFUSED."""
        ...

    def is_other_cluster(self, party: Party) -> bool:
        """Whether the party belongs to another cluster, as far as both clusters are known."""
        ...

    def admit(self, connection: "AcceptedConnection", came_bytes: int) -> bool:
        """Count what has come of a request; False: `advance` is called when it may go on."""
        ...

    def begin(self, connection: "AcceptedConnection") -> int:
        """The request that was admitted is complete; return its bytes, for `release`."""
        ...

    def release(self, size_bytes: int) -> None:
        """Release the bytes of a request that was answered."""
        ...

    def start(self, request: Coroutine[Any, Any, None]) -> None:
        """Serve a request in a task."""
        ...

    async def answer(self, service: RequestService, payload: bytes) -> bytes | None:
        """Serve a request; None: it cannot be answered."""
        ...

    def receive(self, service: MessageService, hello: Hello, body: bytes) -> None:
        """Receive a message.

        Raises:
            LinkFormatError: it cannot be read, or the sender may not send it.
        """
        ...

    def report(self, connection: "AcceptedConnection", reason: str) -> None:
        """Log why a connection was closed, with a limited rate."""
        ...


class AcceptedConnection(asyncio.Protocol):
    """Drives one connection; the listener owns its tasks."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._reader = FrameReader()
        self._transport: asyncio.Transport
        self._inflight = 0
        self._came_bytes = 0  # of the request that is being read, unless it is small
        self._serving_bytes = 0
        self._fresh_bytes = 0  # received since the deadline was set
        self._deadline_s: float | None = None  # for what is being read
        self._reading = True
        self._writable = True
        self._closed = False
        self.client = ""
        self.hello: Hello | None = None
        self.service: Service | None = None  # of its kind, from its hello on

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the hello, or close at once when there are too many connections."""
        self._transport = transport  # type: ignore[assignment]  # uvloop's is no subclass
        self.client = str((transport.get_extra_info("peername") or ("unknown",))[0])
        if not self._connections.opened(self):
            self.reject("too many connections to this node")
            return
        tune(self._transport)
        self._deadline_s = self._loop.time() + HELLO_MS / 1000

    def connection_lost(self, exc: Exception | None) -> None:
        """Release what was being read. Requests that are being served continue; their answers are dropped."""
        del exc  # the reason does not matter here
        self._closed = True
        self._connections.closed(self)

    def data_received(self, data: bytes) -> None:
        """Add received bytes, and start requests that may start."""
        self._reader.feed(data)
        self._fresh_bytes += len(data)
        if self._fresh_bytes >= PROGRESS_BYTES:
            self._deadline_s = None
        self.advance()

    def pause_writing(self) -> None:
        """The client does not read its answers: accept no more requests until it does."""
        self._writable = False
        self.advance()

    def resume_writing(self) -> None:
        """The client reads again."""
        self._writable = True
        self.advance()

    def close(self) -> None:
        """Drop the connection at once."""
        self._closed = True
        self._transport.abort()

    def reject(self, reason: str) -> None:
        """Drop the connection and log the reason."""
        if not self._closed:
            self._connections.report(self, reason)
            self.close()

    def advance(self) -> None:
        """Process as many frames as the bounds allow; read the socket only if the next one is allowed."""
        may_read = True
        try:
            while not self._closed:
                may_read = self._may_go_on()
                body = self._reader.next_body() if may_read else None
                if body is None:
                    break
                self._deadline_s = None
                self._take(body)
        except LinkFormatError as error:
            self.reject(str(error))
        self._set_reading(reading=may_read)

    def look(self, now_s: float) -> None:
        """Check the deadline and send a keepalive: called every `KEEPALIVE_MS` of the listener."""
        if self._closed:
            return
        if self._deadline_s is not None and now_s > self._deadline_s:
            self.reject("the client did not go on with its frame in time")
        elif self._writable and (self._inflight or self._came_bytes):
            self._transport.write(_KEEPALIVE_FRAME)

    def _may_go_on(self) -> bool:
        if isinstance(self.service, RequestService):
            kind = self.service.kind
            is_full = not self._writable or self._inflight >= kind.max_inflight
            if is_full and not self._came_bytes:
                return False
            length = self._reader.next_length()
            if length is not None and length > SMALL_FRAME_BYTES:
                self._came_bytes = min(self._reader.pending_bytes, length)
                has_share = self._serving_bytes == 0 or (
                    self._serving_bytes + self._came_bytes <= kind.max_inflight_bytes
                )
                if not (self._connections.admit(self, self._came_bytes) and has_share):
                    self._deadline_s = None  # this node keeps it waiting
                    return False
        if self._deadline_s is None and self._reader.pending_bytes:
            self._deadline_s = self._loop.time() + FRAME_MS / 1000
            self._fresh_bytes = 0
        return True

    def _take(self, body: bytes) -> None:
        if self.hello is None:
            self._greet(decode_hello(body))
        elif self._connections.is_other_cluster(self.hello.party):
            # This node did not know its own cluster yet at the hello.
            raise LinkFormatError(
                f"the client belongs to another cluster, {self.hello.party.cluster_id}"
            )
        elif isinstance(self.service, RequestService):
            number, payload = decode_numbered(body)
            if number == KEEPALIVE:
                raise LinkFormatError(
                    "the client sent a keepalive, which only the accepting end sends"
                )
            size_bytes = self._connections.begin(self) if self._came_bytes else 0
            self._came_bytes = 0
            self._inflight += 1
            self._serving_bytes += size_bytes
            self._connections.start(self._serve(self.service, number, payload, size_bytes))
        elif isinstance(self.service, MessageService):
            self._connections.receive(self.service, self.hello, body)

    def _greet(self, hello: Hello) -> None:
        ours, service = self._connections.greet(self, hello)
        self._transport.write(encode_hello(ours))
        if service is None:
            self._closed = True
            self._transport.close()  # after the hello is written
            return
        self.hello, self.service = hello, service
        self._reader.expect_frames(service.kind.max_body_bytes)

    async def _serve(
        self, service: RequestService, number: int, payload: bytes, size_bytes: int
    ) -> None:
        try:
            answer = await self._connections.answer(service, payload)
        finally:
            self._inflight -= 1
            self._serving_bytes -= size_bytes
            self._connections.release(size_bytes)
        if answer is None:
            self.reject("a request of the client failed with an unexpected error")
        elif not self._closed:
            if self._transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
                self.reject("the client does not read its answers")
                return
            self._transport.write(encode_numbered(number, answer))
            self.advance()

    def _set_reading(self, *, reading: bool) -> None:
        if reading == self._reading or self._closed:
            return
        self._reading = reading
        if reading:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()
