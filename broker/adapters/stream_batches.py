"""Opens and closes streams by as few requests as possible: what is asked for while one is under way goes with the next.

A start opens two streams of every partition that this broker leads. Each by a request of its own would be as many
entries of the metadata log.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

import msgspec

from headrace.metadata.rpc.requests import StreamToClose, StreamToOpen
from headrace.metadata.rpc.responses import StreamOutcome

# Of one request. Controllers take more, but the first partitions are served when the first answer is here.
MAX_STREAMS: Final = 512

_Stream = TypeVar("_Stream", bound=StreamToOpen | StreamToClose)


class _Waiting(msgspec.Struct, Generic[_Stream]):
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
                if batch := self._next_batch():
                    await self._send_batch(batch)
        finally:
            self._sending = None

    def _next_batch(self) -> list[_Waiting[_Stream]]:
        """Take the next that are still wanted, each stream once: a request that names one twice is refused whole.

        A stream that is led again meanwhile waits with another epoch; it goes with the next request.
        """
        batch: dict[int, _Waiting[_Stream]] = {}
        later: list[_Waiting[_Stream]] = []
        while self._waiting and len(batch) < MAX_STREAMS:
            waiting = self._waiting.popleft()
            if waiting.outcome.done():
                continue
            if waiting.stream.stream_id in batch:
                later.append(waiting)
            else:
                batch[waiting.stream.stream_id] = waiting
        self._waiting.extendleft(reversed(later))
        return list(batch.values())

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
