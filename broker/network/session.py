"""One client connection: bytes to frames, frames to a dispatcher, answers back in the order of the requests.

Requests take effect and are answered in order. One request is in service at a time, with one exception: a Produce takes
effect when it is appended, so the next Produce starts while the write of the last is inflight, bounded by
`max_produce_inflight_requests` and `max_produce_inflight_bytes`. When a bound is reached, or a
request must wait for the one in service, the socket is no longer read, and the client
waits on its TCP window. All connections share a part of each turn of the event loop (`Turns`) to decode and start
requests and to write answers: thousands of small ones may have come at once, on one connection or on many. When it
is used up, a connection waits, unread, for its place in another turn; those that wait start one request each in turn.
Another part of each turn is for reading: a client that sends 100 MB can fill its socket as fast as it is read.

A client that exceeds a quota is answered at once, told to wait, and not read for as long (`Reply.throttle`, KIP-219).
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Protocol

from headrace.broker.network.client import Client
from headrace.broker.network.reply import Activity, Reply
from headrace.broker.network.request_context import RestOfRequest
from headrace.config.node import NetworkConfig
from headrace.protocol.errors import ProtocolError
from headrace.protocol.server_connection import (
    FIRST_BUFFER_BYTES,
    Buffer,
    ClaimedMemory,
    Frame,
    ServerConnection,
)
from headrace.turns import Turns

logger = logging.getLogger("headrace.network")

# Read at once when the part of the turn for reading is used up: some ten microseconds.
SMALL_READ_BYTES: Final = 64 << 10


class Dispatcher(Protocol):
    """Decides what a frame means."""

    def is_pipelined(self, frame: Frame) -> bool:
        """Whether the next such request may start before this one is answered."""
        ...

    def dispatch(self, frame: Frame, client: Client, reply: Reply) -> RestOfRequest | None:
        """Serve a request: complete `reply` now or later, or return what must run to complete it.

        Raises:
            ProtocolError: close the connection.
        """
        ...


class Sessions(Protocol):
    """The listener, as a session sees it."""

    @property
    def config(self) -> NetworkConfig:
        """The bounds of each session."""
        ...

    @property
    def turns(self) -> Turns:
        """What all sessions may do in one turn of the loop."""
        ...

    @property
    def reads(self) -> Turns:
        """What all sessions may read in one turn of the loop."""
        ...

    @property
    def clock_s(self) -> Callable[[], float]:
        """The monotonic clock that requests are timed by."""
        ...

    @property
    def claims(self) -> ClaimedMemory:
        """Memory of all sessions for what their clients have not sent yet."""
        ...

    def session_opened(self, session: "Session") -> bool:
        """Count a new connection; False when there are too many."""
        ...

    def session_closed(self, session: "Session") -> None:
        """Count a closed connection."""
        ...

    def run_request(self, session: "Session", request: RestOfRequest, api_key: int) -> None:
        """Run the asynchronous rest of a request."""
        ...


class Session(asyncio.BufferedProtocol):
    """Drives one connection; all rules of framing are in `ServerConnection`, of meaning in the dispatcher."""

    def __init__(self, client: Client, dispatcher: Dispatcher, sessions: Sessions) -> None:
        """Wait for the connection.

        Args:
            client: as the listener knows it, without the addresses.
            dispatcher: of the requests.
            sessions: all of them.
        """
        config = sessions.config
        self._dispatcher = dispatcher
        self._sessions = sessions
        self._connection = ServerConnection(
            receive_buffer_bytes=config.receive_buffer_bytes,
            max_request_bytes=config.max_request_bytes,
            claims=sessions.claims,
        )
        self._waiting: deque[Frame] = deque()
        self._inflight: deque[Reply] = deque()
        self._inflight_bytes = 0
        self._reading = True
        self._rests = False  # until it may read more of a large request
        self._muted: asyncio.TimerHandle | None = None  # until the client has waited as it was told
        self._writable = True
        self._advancing = False
        self._continues = False  # in another turn
        self._flushes = False  # writes answers soon, in this turn or the next
        self._finishing = False
        self._transport: asyncio.Transport
        self.client = client
        self.activity = Activity()
        self.closed = False
        self._loop = asyncio.get_running_loop()

    @property
    def is_idle(self) -> bool:
        """Whether no request is in service or waiting."""
        return not self._inflight and not self._waiting

    def has_stood_still_since(self, moment_s: float) -> bool:
        """Whether nothing was received, in service or sent since a moment of the loop's time.

        A client that does not read its answers counts as idle, even if it has sent further requests.
        """
        unsent_bytes = self._transport.get_write_buffer_size()
        if unsent_bytes != self.activity.unsent_bytes:
            self.activity.unsent_bytes = unsent_bytes
            self.activity.last_s = self._loop.time()
        if (self._inflight or self._muted) and not self.closed:
            return False
        return self.activity.last_s < moment_s

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start, or close at once when the listener accepts no connection."""
        assert isinstance(transport, asyncio.Transport) or hasattr(transport, "writelines")
        self._transport = transport  # type: ignore[assignment]  # uvloop's is no subclass
        peer = transport.get_extra_info("peername") or ("unknown", 0)
        local = transport.get_extra_info("sockname") or ("", 0)
        self.client = replace(
            self.client,
            client_host=str(peer[0]),
            client_port=int(peer[1]),
            local_host=str(local[0]),
            local_port=int(local[1]),
        )
        self.activity.last_s = self._loop.time()
        if not self._sessions.session_opened(self):
            logger.warning(
                "connection refused: too many (max.connections, max.connections.per.ip), or the node is stopping",
                extra={"client": self.client.client_host},
            )
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop the requests that were not answered."""
        del exc  # why the client disconnected does not matter
        self.closed = True
        self._connection.close()
        self.activity.closed = True
        self._unmute()
        self._waiting.clear()
        abandoned = [*self._inflight]
        self._inflight.clear()
        self._sessions.session_closed(self)
        for reply in abandoned:
            reply.on_lost()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the socket reads to."""
        try:
            room = self._connection.get_buffer(sizehint)
        except Exception as error:
            self._report("making room for what comes", error)
            raise  # uvloop closes the connection, and tells nobody why
        if len(room) > SMALL_READ_BYTES and self._sessions.reads.is_over():
            return room[:SMALL_READ_BYTES]
        return room

    def buffer_updated(self, nbytes: int) -> None:
        """Start the requests that are complete now and may start."""
        self.activity.last_s = self._loop.time()
        connection = self._connection
        connection.received(nbytes)
        if connection.has_more:
            self.activity.received_s = self._sessions.clock_s()
            self._advance()
        elif nbytes >= FIRST_BUFFER_BYTES and self._sessions.reads.is_over():
            self._rests = True
            self._set_reading(reading=False)
            self._sessions.reads.another().add_done_callback(self._read_on)

    def pause_writing(self) -> None:
        """The client does not read: stop taking its requests until it does."""
        self._writable = False
        self._set_reading(reading=False)

    def resume_writing(self) -> None:
        """The client reads again."""
        self._writable = True
        self._advance()

    def close(self) -> None:
        """Drop the connection at once; answers not yet written are lost, as in a network failure."""
        self.closed = True
        self._waiting.clear()
        self._transport.abort()

    def finish(self) -> None:
        """Take no more requests; close once those in service are answered and their answers written."""
        self._finishing = True
        self._waiting.clear()
        self._advance()

    def reply_done(self, reply: Reply) -> None:
        """Write every answer that is next in order, then start the requests that waited for them; or in another turn.

        One write to the WAL often acknowledges several requests of a client. Their answers are written together.
        Never raises: it is called while batches of all clients are acknowledged.
        """
        inflight = self._inflight
        if self._continues or self._flushes or not inflight or inflight[0] is not reply:
            return
        if self._advancing:  # it is answered in the call that started it
            try:
                self._write_answers()
            except Exception as error:  # noqa: BLE001 - handed to the one place that decides
                self.fail("writing an answer", error)
        elif len(inflight) > 1:
            self._flushes = True
            self._loop.call_soon(self._flush)
        else:
            self._flush()

    def _flush(self) -> None:
        self._flushes = False
        if self._continues:
            return
        if self._sessions.turns.is_used_up():
            self._continue_later()
            return
        try:
            self._write_answers()
            self._advance()
        except Exception as error:  # noqa: BLE001 - handed to the one place that decides
            self.fail("writing an answer", error)

    def _write_answers(self) -> None:
        inflight = self._inflight
        self.activity.last_s = self._loop.time()
        buffers: list[Buffer] = []
        throttle_ms = 0
        now_s = self._sessions.clock_s()
        while inflight and inflight[0].done:
            done = inflight.popleft()
            self._inflight_bytes -= done.size_bytes
            done.observe(now_s - done.received_s)
            if done.buffers is not None:
                buffers += done.buffers
            if done.throttle_ms:
                throttle_ms = max(throttle_ms, done.throttle_ms)
        if buffers and not self.closed:
            self._transport.writelines(buffers)
        if throttle_ms:
            self._mute(throttle_ms)

    def _mute(self, throttle_ms: int) -> None:
        """Read nothing and start nothing until the client has waited; what was started before is answered meanwhile."""
        until_s = self._loop.time() + throttle_ms / 1000
        if self.closed or (self._muted is not None and self._muted.when() >= until_s):
            return
        self._unmute()
        self._muted = self._loop.call_at(until_s, self._end_mute)

    def _unmute(self) -> None:
        if self._muted is not None:
            self._muted.cancel()
            self._muted = None

    def _end_mute(self) -> None:
        self._muted = None
        self.activity.last_s = self._loop.time()
        # What has come is the broker's to answer from now on: the wait was the client's.
        self.activity.received_s = self._sessions.clock_s()
        try:
            self._advance()
        except Exception as error:  # noqa: BLE001 - handed to the one place that decides
            self.fail("going on with requests", error)

    def _advance(self, *, is_due: bool = False) -> None:
        """Start as many requests as the order and the share of a turn allow; at least one if it `is_due`."""
        if self._advancing or self._continues:
            return
        self._advancing = True
        try:
            waiting = self._waiting
            while (waiting or self._connection.has_more) and self._has_room():
                if not is_due and self._sessions.turns.is_used_up():
                    self._continue_later()
                    return
                is_due = False
                if not waiting:
                    try:
                        waiting.extend(self._connection.next_frames())
                    except ProtocolError:
                        break  # it is refused below, once earlier requests are answered
                    if not waiting:
                        break
                pipelined = self._dispatcher.is_pipelined(waiting[0])
                if self._inflight and not pipelined:
                    break
                self._start(waiting.popleft(), pipelined=pipelined)
        finally:
            self._advancing = False
        if self.closed:
            return
        error = self._connection.error
        if error is not None and self.is_idle:
            self.refuse(error)  # earlier requests have been answered
        elif self._finishing and self.is_idle:
            self.closed = True
            self._transport.close()
        elif (may_read := self._may_read()) != self._reading:
            self._set_reading(reading=may_read)

    def _has_room(self) -> bool:
        """Whether the next request might start, if the order allows it."""
        if self.closed or self._finishing or self._muted or not self._writable:
            return False
        inflight = self._inflight
        config = self._sessions.config
        return not inflight or (
            inflight[-1].pipelined
            and len(inflight) < config.max_produce_inflight_requests
            and self._inflight_bytes < config.max_produce_inflight_bytes
        )

    def _read_on(self, _turn: asyncio.Future[None]) -> None:
        self._rests = False
        if not self.closed and not self._continues:
            self._set_reading(reading=self._may_read())

    def _may_read(self) -> bool:
        connection = self._connection
        return (
            self._writable
            and not (self._waiting or connection.has_more or connection.error)
            and not self._finishing
            and not self._rests
            and not self._muted
        )

    def _continue_later(self) -> None:
        self._continues = True
        self._set_reading(reading=False)
        self._sessions.turns.call_later(self._continue)

    def _continue(self) -> None:
        self._continues = False
        try:
            inflight = self._inflight
            if inflight and inflight[0].done:
                self._write_answers()
                self._advance()
            else:
                self._advance(is_due=True)
        except Exception as error:  # noqa: BLE001 - handed to the one place that decides
            self.fail("going on with requests", error)

    def _start(self, frame: Frame, *, pipelined: bool) -> None:
        reply = Reply(self, frame.size_bytes, self.activity.received_s, pipelined=pipelined)
        self._inflight.append(reply)
        self._inflight_bytes += frame.size_bytes
        try:
            rest = self._dispatcher.dispatch(frame, self.client, reply)
        except ProtocolError as error:
            self.refuse(error)
            return
        except Exception as error:  # noqa: BLE001 - handed to the one place that decides
            self.fail("request", error, int(frame.header.api_key))
            return
        if rest is not None:
            # The coroutine may still refer to the frame: no later request starts before it is done.
            reply.pipelined = False
            if pipelined:
                rest = self._pipelined_after(rest, reply)
            self._sessions.run_request(self, rest, int(frame.header.api_key))

    async def _pipelined_after(self, rest: RestOfRequest, reply: Reply) -> None:
        """Let the next request start once this one has taken effect; it may be answered much later."""
        await rest
        reply.pipelined = True
        self._advance()

    def fail(self, what: str, error: Exception, api_key: int | None = None) -> None:
        """A bug while this client was served: it gets no answer, the others go on."""
        self._report(what, error, api_key)
        self.close()

    def _report(self, what: str, error: Exception, api_key: int | None = None) -> None:
        context = {"message": what, "exception": error, "protocol": self, "api_key": api_key}
        self._loop.call_exception_handler(context)

    def refuse(self, error: ProtocolError) -> None:
        """Close the connection because of what the client sent; requests before it are answered."""
        logger.warning(
            "connection closed: invalid request",
            extra={"client": self.client.client_host, "reason": str(error)},
        )
        self._write_answers()
        self.closed = True
        self._waiting.clear()
        # The connection closes once earlier answers are written. Requests in service get no answer any more, so
        # that a client that does not read is idle, and is closed for that.
        self._inflight.clear()
        self._transport.close()

    def _set_reading(self, *, reading: bool) -> None:
        if reading == self._reading or self._transport.is_closing():
            return
        self._reading = reading
        if reading:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()
