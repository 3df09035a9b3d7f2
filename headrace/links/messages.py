"""Messages to one node over one link, which is dialled again whenever it ends.

A message waits in a queue until the link has room. If the queue is full the oldest messages are dropped, as are those
that waited too long for a link: their senders repeat what must not be lost.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

import msgspec

from headrace.links.dialling import DialledConnection
from headrace.links.ends import Address, Party
from headrace.links.errors import LinkFormatError
from headrace.links.kinds import LinkKind
from headrace.network import Network

if TYPE_CHECKING:
    from random import Random

logger = logging.getLogger("headrace.links")

MAX_QUEUE_MESSAGES: Final = 512  # for one node
MAX_QUEUE_BYTES: Final = 96 << 20  # of one queue, as its user counts them
MIN_BACKOFF_MS: Final = 20
MAX_BACKOFF_MS: Final = 1_000
STALE_MS: Final = 1_000  # a message that waited this long for a link is dropped

M = TypeVar("M")


class MessageCounters(msgspec.Struct):
    """Totals since the start, of all links that share them."""

    sent: int = 0
    dropped: int = 0
    bytes_sent: int = 0
    dials: int = 0  # that succeeded
    disconnects: int = 0


class _Queued(NamedTuple, Generic[M]):
    message: M
    size_bytes: int
    at_s: float


class _Link(DialledConnection):
    """Wakes the sender when it ends."""

    def __init__(self, kind: LinkKind, party: Party, wake: asyncio.Event) -> None:
        super().__init__(kind, party)
        self._wake = wake

    def ended(self, reason: OSError) -> None:
        """Wake the sender."""
        del reason
        self._wake.set()


class OutgoingMessages(NamedTuple, Generic[M]):
    """What all targets of one user have in common."""

    kind: LinkKind  # of messages
    encode: Callable[[M], bytes]  # to a frame; LinkFormatError: it is too large, and dropped
    identity: Callable[[], Party]  # this node's, now
    network: Network
    rng: "Random"  # spreads the attempts to connect
    counters: MessageCounters


class MessageTarget(Generic[M]):
    """One node that gets messages of a kind."""

    def __init__(self, outgoing: OutgoingMessages[M], node_id: int, address: Address) -> None:
        """Create the queue without dialling yet; another node at the address gets nothing."""
        self._outgoing = outgoing
        self._counters = outgoing.counters
        self._node_id = node_id
        self.address = address
        self._queue: deque[_Queued[M]] = deque()
        self._queued_bytes = 0
        self._wake = asyncio.Event()  # something to send, or the link ended
        self._summoned = asyncio.Event()
        self._reachable: bool | None = None  # one log line for each change
        self.connected = False

    def send(self, message: M, size_bytes: int) -> None:
        """Queue a message of about that size."""
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
        """Dial now: the node is known to be up."""
        self._summoned.set()

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
                async with asyncio.timeout(self._outgoing.rng.uniform(0.5, 1) * backoff_ms / 1000):
                    await self._summoned.wait()
            except TimeoutError:
                backoff_ms = min(2 * backoff_ms, MAX_BACKOFF_MS)

    async def _connect_and_send(self) -> None:
        """Dial, and send until the connection ends.

        Raises:
            OSError: the connection failed, or ended.
        """
        connection = _Link(self._outgoing.kind, self._outgoing.identity(), self._wake)
        try:
            await connection.dial(self._outgoing.network, self.address, node_id=self._node_id)
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

    def _write(self, connection: DialledConnection, message: M) -> None:
        try:
            frame = self._outgoing.encode(message)
        except LinkFormatError:
            self._counters.dropped += 1
            logger.exception(
                "dropped a message to another node: it is too large for a frame",
                extra={"node": self._node_id, "kind": self._outgoing.kind.name},
            )
            return
        connection.write(frame)
        self._counters.sent += 1
        self._counters.bytes_sent += len(frame)

    def _take(self) -> M:
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
            details = {
                "node": self._node_id,
                "kind": self._outgoing.kind.name,
                "address": f"{self.address.host}:{self.address.port}",
            }
            if reachable:
                logger.info("connected to another node", extra=details)
            else:
                logger.warning(
                    "cannot reach another node, trying again",
                    extra={**details, "reason": reason},
                )
