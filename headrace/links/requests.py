"""Requests to one node over one shared link."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Final

from headrace.links.dialling import DialledConnection
from headrace.links.ends import Address, Party
from headrace.links.errors import LinkFormatError, NotSentError
from headrace.links.framing import KEEPALIVE, decode_numbered, encode_numbered
from headrace.links.kinds import LinkKind
from headrace.network import Network

# A node that serves a request sends a keepalive every `listener.KEEPALIVE_MS`. One that is silent
# is stopped, unreachable or stuck, and waiting for it must not cost a broker its session.
SILENCE_MS: Final = 2_000
ASLEEP_MS: Final = (
    250  # a check this late: this process was stopped, and received data is not read yet
)
MAX_UNANSWERED: Final = 1_024  # beyond that the connection is closed


class RequestLink(DialledConnection):
    """One link of requests: answers arrive in any order, or all requests fail when it ends."""

    def __init__(self, kind: LinkKind, party: Party) -> None:
        super().__init__(kind, party)
        self._loop = asyncio.get_running_loop()
        self._numbers = count(KEEPALIVE + 1)
        # None: the caller was cancelled; the answer is still expected.
        self._unanswered: dict[int, asyncio.Future[bytes] | None] = {}
        self._heard_at_s = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self._look_at_s = 0.0
        self._retired = False

    async def request(self, payload: bytes) -> bytes:
        """Send a request and wait for its answer.

        Raises:
            NotSentError: the connection had ended before.
            OSError: it ended, or the other node stopped answering, before the answer arrived.
        """
        try:
            await self.drained()
        except OSError as error:
            raise NotSentError(str(error)) from error
        if len(self._unanswered) >= MAX_UNANSWERED:
            self.end(
                ConnectionAbortedError(f"the other node has not answered {MAX_UNANSWERED} requests")
            )
            raise NotSentError(f"the other node has not answered {MAX_UNANSWERED} requests")
        number = next(self._numbers)
        frame = encode_numbered(number, payload)
        answer: asyncio.Future[bytes] = self._loop.create_future()
        if not self._unanswered:
            self._heard_at_s = self._loop.time()
            self._arm(SILENCE_MS / 1000)
        self._unanswered[number] = answer
        self.write(frame)
        try:
            return await answer
        finally:
            if number in self._unanswered:
                self._unanswered[number] = None

    def retire(self) -> None:
        """End the connection as soon as no request is pending."""
        self._retired = True
        self._end_if_retired()

    def note_alive(self) -> None:
        """Restart the silence timeout."""
        self._heard_at_s = self._loop.time()

    def frame_received(self, body: bytes) -> None:
        """Pass an answer to its caller."""
        number, payload = decode_numbered(body)
        if number == KEEPALIVE:
            return
        if number not in self._unanswered:
            raise LinkFormatError(f"the other node answered request {number}, which is not pending")
        waiting = self._unanswered.pop(number)
        if waiting is not None and not waiting.done():
            waiting.set_result(payload)
        self._end_if_retired()

    def ended(self, reason: OSError) -> None:
        """Fail all pending requests."""
        if self._watch is not None:
            self._watch.cancel()
        unanswered, self._unanswered = self._unanswered, {}
        for waiting in unanswered.values():
            if waiting is not None and not waiting.done():
                waiting.set_exception(ConnectionResetError(str(reason)))

    def _end_if_retired(self) -> None:
        if self._retired and not self._unanswered:
            self.end(ConnectionAbortedError("the connection is no longer needed"))

    def _arm(self, delay_s: float) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._look_at_s = self._loop.time() + delay_s
        self._watch = self._loop.call_at(self._look_at_s, self._look)

    def _look(self) -> None:
        if not self._unanswered:
            return
        now_s = self._loop.time()
        if now_s > self._look_at_s + ASLEEP_MS / 1000:
            self._heard_at_s = now_s
        rest_s = self._heard_at_s + SILENCE_MS / 1000 - now_s
        if rest_s <= 0:
            self.end(TimeoutError(f"the other node sent nothing for {SILENCE_MS} ms"))
        else:
            self._arm(rest_s)


class RequestTarget:
    """One node's address, and the link of a kind to it, if there is one."""

    def __init__(
        self,
        kind: LinkKind,
        address: Address,
        identity: Callable[[], Party],
        network: Network,
        *,
        node_id: int | None = None,
    ) -> None:
        self._kind = kind
        self._address = address
        self._network = network
        self._identity = identity
        self._node_id = node_id
        self._link: RequestLink | None = None
        self._dialling = asyncio.Lock()
        self._failures = 0
        self._failure = ""
        self._retired = False
        self.dials = 0  # that succeeded

    @property
    def connected(self) -> bool:
        """Whether there is a connection."""
        return self._link is not None and not self._link.lost

    async def request(self, frame: bytes) -> bytes:
        """Send a request, over a new connection if there is none.

        Raises:
            NotSentError: no connection could be opened, or it ended before.
            OSError: the connection broke. Whether the request took effect is unknown.
        """
        self._retired = False
        link = self._link
        if link is None or link.lost:
            link = await self._dial()
        try:
            return await link.request(frame)
        finally:
            if self._retired:
                link.retire()

    def retire(self) -> None:
        """End the connection after the last pending answer, unless another request follows."""
        self._retired = True
        if self._link is not None:
            self._link.retire()

    def close(self) -> None:
        """End the connection at once."""
        if self._link is not None:
            self._link.end(ConnectionAbortedError("closed"))

    async def _dial(self) -> RequestLink:
        failures = self._failures
        async with self._dialling:
            if self._link is not None and not self._link.lost:
                return self._link
            if self._failures != failures:  # another caller tried while this one waited
                raise NotSentError(self._failure)
            link = RequestLink(self._kind, self._identity())
            try:
                await link.dial(self._network, self._address, node_id=self._node_id)
            except OSError as error:
                self._failures += 1
                self._failure = str(error)
                raise NotSentError(self._failure) from error
            self.dials += 1
            self._link = link
            return link
