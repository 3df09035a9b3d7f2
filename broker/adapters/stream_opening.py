"""Opens streams by as few requests as possible: what is asked for while one is under way goes with the next.

A start opens two streams of every partition that this broker leads. Each by a request of its own would be as many
entries of the metadata log.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from headrace.metadata.rpc.requests import StreamToOpen
from headrace.metadata.rpc.responses import StreamOutcome

MAX_STREAMS: Final = (
    128  # of one request: the controller decides about them in one turn of its loop
)

Send = Callable[[Sequence[StreamToOpen]], Awaitable[Sequence[StreamOutcome]]]


class _Waiting(NamedTuple):
    stream: StreamToOpen
    outcome: asyncio.Future[StreamOutcome]


class StreamOpening:
    """At most one request at a time. What waits is bounded by the callers: each waits for one stream."""

    def __init__(self, send: Send) -> None:
        """Take what sends a request; its outcomes are those of the streams, in their order."""
        self._send = send
        self._waiting: deque[_Waiting] = deque()
        self._sending: asyncio.Task[None] | None = None

    async def open(self, stream: StreamToOpen) -> StreamOutcome:
        """Open one stream; raises what sending its request raises.

        Cancellation: the stream may still be opened.
        """
        loop = asyncio.get_running_loop()
        waiting = _Waiting(stream, loop.create_future())
        self._waiting.append(waiting)
        if self._sending is None:
            self._sending = loop.create_task(self._send_waiting())
        return await waiting.outcome

    async def _send_waiting(self) -> None:
        try:
            while self._waiting:
                batch = [
                    self._waiting.popleft() for _ in range(min(len(self._waiting), MAX_STREAMS))
                ]
                await self._send_batch([it for it in batch if not it.outcome.done()])
        finally:
            self._sending = None

    async def _send_batch(self, batch: list[_Waiting]) -> None:
        """Send a request; its outcomes, or its failure, are the callers'."""
        try:
            outcomes = await self._send([it.stream for it in batch])
            for waiting, outcome in zip(batch, outcomes, strict=True):
                if not waiting.outcome.done():
                    waiting.outcome.set_result(outcome)
        except Exception as error:  # noqa: BLE001  # every caller raises it
            for waiting in batch:
                if not waiting.outcome.done():
                    waiting.outcome.set_exception(error)
