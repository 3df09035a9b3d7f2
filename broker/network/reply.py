"""The answer of one request, as those who serve it see it."""

from collections.abc import Callable
from typing import Final, Protocol

from headrace.protocol.errors import ProtocolError
from headrace.protocol.server_connection import Buffer

# Longest time for which one answer tells its client to wait. A client that has waited may exceed its quota again, and
# waits again: the bound is for what the broker holds meanwhile, and for a client that wants to leave.
MAX_THROTTLE_MS: Final = 30_000


class Activity:
    """When something was last received and sent, and whether the connection has ended."""

    __slots__ = ("closed", "last_s", "received_s", "unsent_bytes")

    def __init__(self) -> None:
        self.last_s: float = 0.0  # of the loop's time
        # By the sessions' clock. Nothing more is read while requests wait, so this completed the next that starts.
        self.received_s: float = 0.0
        self.unsent_bytes = 0  # as of the last look
        self.closed = False


class Connection(Protocol):
    """What a reply needs of the session that it belongs to."""

    @property
    def closed(self) -> bool:
        """Whether the client gets no answer any more."""
        ...

    @property
    def activity(self) -> Activity:
        """When something was last received and sent."""
        ...

    def reply_done(self, reply: "Reply") -> None:
        """Write every answer that is next in order. Never raises."""
        ...

    def close(self) -> None:
        """Drop the connection at once."""
        ...

    def refuse(self, error: ProtocolError) -> None:
        """Close the connection because of what the client sent."""
        ...

    def fail(self, what: str, error: Exception, api_key: int | None = None) -> None:
        """Close the connection because of a mistake of this program."""
        ...


def _nothing_to_stop() -> None:
    """Most requests take effect even if their answer is lost."""


def _unobserved(latency_s: float) -> None:
    """What a refused request took is not counted."""


class Reply:
    """The answer of one request, in the order of requests.

    Exactly one of `send`, `nothing`, `close` and `refuse` is called, once.
    """

    __slots__ = (
        "_session",
        "buffers",
        "done",
        "observe",
        "on_lost",
        "pipelined",
        "received_s",
        "size_bytes",
        "throttle_ms",
    )

    def __init__(
        self, session: Connection, size_bytes: int, received_s: float, *, pipelined: bool
    ) -> None:
        self._session = session
        self.size_bytes = size_bytes
        self.received_s = received_s  # when the last byte of the request was read
        # Told how long it took from then until the answer is given to the socket; the dispatcher sets it.
        self.observe: Callable[[float], None] = _unobserved
        self.pipelined = pipelined
        self.done = False
        self.throttle_ms = (
            0  # what the answer tells the client to wait; whoever encodes it writes this
        )
        self.buffers: list[Buffer] | None = None
        # Called when the client disconnects before the answer; a request that only waits may set it, and stop.
        self.on_lost: Callable[[], None] = _nothing_to_stop

    @property
    def is_lost(self) -> bool:
        """Whether the client has disconnected."""
        return self._session.closed

    @property
    def connection(self) -> Activity:
        """What may be kept of the connection when the request is done: it holds no buffers."""
        return self._session.activity

    def throttle(self, throttle_ms: int) -> None:
        """Have the client wait after this answer, which is not encoded yet; of several times the longest counts."""
        self.throttle_ms = min(max(self.throttle_ms, throttle_ms), MAX_THROTTLE_MS)

    def send(self, buffers: list[Buffer]) -> None:
        """Answer; the buffers are not copied and must not change until they are written."""
        self.buffers = buffers
        self.done = True
        self._session.reply_done(self)

    def nothing(self) -> None:
        """Complete without an answer (acks=0)."""
        self.done = True
        self._session.reply_done(self)

    def close(self) -> None:
        """Close the connection without an answer: the outcome is unknown, or must not be answered."""
        self._session.close()

    def fail(self, error: Exception, api_key: int) -> None:
        """Close the connection because of a mistake of this program."""
        self._session.fail("request", error, api_key)

    def refuse(self, error: ProtocolError) -> None:
        """Close the connection because of the request."""
        if not self._session.closed:
            self._session.refuse(error)
