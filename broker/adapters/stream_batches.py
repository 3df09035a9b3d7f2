"""Opens and closes streams by as few requests as possible: what is asked for while one is under way goes with the next.

A start opens two streams of every partition that this broker leads. Each by a request of its own would be as many
entries of the metadata log.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from headrace.metadata.rpc.responses import StreamOutcome

# Of one request. Controllers take more, but the first partitions are served when the first answer is here.
MAX_STREAMS: Final = 512

_Stream = TypeVar("_Stream")  # StreamToOpen, or StreamToClose


@dataclass(slots=True)
class _Waiting(Generic[_Stream]):
    stream: _Stream
    outcome: asyncio.Future[StreamOutcome]


class StreamBatches(Generic[_Stream]):
    """At most one request at a time. What waits is bounded by the callers: each waits for one stream."""

    def __init__(
        self, send: Callable[[Sequence[_Stream]], Awaitable[Sequence[StreamOutcome]]]
    ) -> None:
        """Take what sends a request; its outcomes are those of the streams, in their order."""
        self._send = send
        self._waiting: deque[_Waiting[_Stream]] = deque()
        self._sending: asyncio.Task[None] | None = None

    async def ask(self, stream: _Stream) -> StreamOutcome:
        """Send one stream with the next request; raises what sending that raises.

        Cancellation: the request may still be sent, and take effect.
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
                if still_wanted := [it for it in batch if not it.outcome.done()]:
                    await self._send_batch(still_wanted)
        finally:
            self._sending = None

    async def _send_batch(self, batch: list[_Waiting[_Stream]]) -> None:
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
