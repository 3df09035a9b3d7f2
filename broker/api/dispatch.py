"""From a frame to its handler: version check, decoding, answer.

Produce and Fetch have codecs of their own and are handed the undecoded body; everything else goes through
`headrace.protocol.messages`. A small request is decoded, served and encoded in one call, if its handler need not wait.
What is long, or waits, runs as a task of the listener, in steps that share the turns of the loop. Most handlers are
loaded when the node is ready, or when the first request wants one of them.
"""

import asyncio
import struct
from collections.abc import Awaitable, Callable, Generator, Mapping
from functools import partial
from typing import Final

from headrace.broker.api.fetch import FetchHandler
from headrace.broker.api.produce import ProduceHandler
from headrace.broker.network.client import Client
from headrace.broker.network.reply import Reply
from headrace.broker.network.request_context import (
    Handler,
    Later,
    RequestContext,
    RestOfRequest,
    ShortAnswer,
)
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import ApiVersions
from headrace.protocol.errors import ProtocolError
from headrace.protocol.server_connection import Frame
from headrace.turns import Turns

_SIZE = struct.Struct(">i")
_PRODUCE = int(ApiKey.PRODUCE)
_FETCH = int(ApiKey.FETCH)

# That are decoded and served at once, over all connections: each may take 100 MB. Others wait as they were received.
MAX_LARGE_REQUESTS: Final = 4


class _Waiting:
    """The rest of a request whose handler waits for something."""

    def __init__(
        self,
        response: Later[messages.KafkaMessage],
        answer: Callable[[Later[messages.KafkaMessage]], Later[None]],
    ) -> None:
        self._response = response
        self._answer = answer

    def __await__(self) -> Generator[object, None, None]:
        return self._answer(self._response).__await__()

    def close(self) -> None:
        """Give it up before it has begun."""
        self._response.close()


class ApiDispatcher:
    """The broker's side of `headrace.broker.network.session.Dispatcher`."""

    def __init__(
        self,
        *,
        versions: Mapping[ApiKey, ApiVersions],
        produce: ProduceHandler,
        fetch: FetchHandler,
        handlers: Mapping[ApiKey, Handler],
        load_others: Callable[[], Awaitable[Mapping[ApiKey, Handler]]],
        metrics: RequestMetrics,
        turns: Turns,
    ) -> None:
        self._versions = {int(key): served for key, served in versions.items()}
        self._produce = produce
        self._fetch = fetch
        self._handlers = {int(key): handler for key, handler in handlers.items()}
        self._load_others = load_others
        self._loading = asyncio.Lock()
        self._are_all_loaded = False
        self._large = asyncio.Semaphore(MAX_LARGE_REQUESTS)
        self._metrics = metrics
        self._turns = turns

    async def load(self) -> None:
        """Load the handlers that are missing yet; requests wait for them meanwhile."""
        async with self._loading:
            if not self._are_all_loaded:
                others = await self._load_others()
                self._handlers.update((int(key), handler) for key, handler in others.items())
                self._are_all_loaded = True

    async def run(self) -> None:
        """Keep in order what handlers keep for their clients, until cancelled."""
        await self._fetch.run()

    def is_pipelined(self, frame: Frame) -> bool:
        """Whether it is a Produce: those take effect when they are appended."""
        return frame.header.api_key == _PRODUCE

    def dispatch(self, frame: Frame, client: Client, reply: Reply) -> RestOfRequest | None:
        """Serve one request; see `Dispatcher.dispatch`."""
        header = frame.header
        key, version = header.api_key, header.api_version
        served = self._versions.get(key)
        if served is None:
            raise ProtocolError(f"API key {key} is not supported")
        if not served[0] <= version <= served[1]:
            if key == ApiKey.API_VERSIONS:
                answer = messages.encode_unsupported_api_versions(header.correlation_id)
                reply.send([_SIZE.pack(len(answer)), answer])
                return None
            raise ProtocolError(f"{ApiKey(key).name} version {version} is not supported")
        metrics = self._metrics
        metrics.requests[key] += 1
        metrics.latest = key
        reply.observe = metrics.observers[key]
        if key == _PRODUCE:
            return self._produce.start(client, header, frame.body, reply)
        context = RequestContext(header, client, self._turns)
        if key == _FETCH:
            return self._fetch.start(context, frame.body, reply)
        handler = self._handlers.get(key)
        if handler is None or len(frame.body) > messages.FLAT_BYTES:
            serve = self._serve_large if messages.is_large(key, frame.body) else self._serve
            return serve(context, frame.body, reply)
        response = handler.handle(context, messages.decode_request(key, version, frame.body))
        if isinstance(response, messages.KafkaMessage):
            self._answer_short(context, reply, response)
            return None
        if isinstance(response, ShortAnswer):
            settle = partial(self._answer_settled, context, reply, response)
            response.waits_for.add_done_callback(settle)
            return None
        return _Waiting(response, partial(self._begin_and_answer, context, reply))

    def _answer_short(
        self, context: RequestContext, reply: Reply, response: messages.KafkaMessage
    ) -> None:
        header = context.header
        answer = messages.encode_response(
            response, header.api_version, header.correlation_id, throttle_ms=reply.throttle_ms
        )
        reply.send([_SIZE.pack(len(answer)), answer])

    def _answer_settled(
        self, context: RequestContext, reply: Reply, response: ShortAnswer, _done: object
    ) -> None:
        """Answer what waited, in this turn or, if many did, in another."""
        if self._turns.is_used_up():
            self._turns.call_later(partial(self._answer_made, context, reply, response))
        else:
            self._answer_made(context, reply, response)

    def _answer_made(self, context: RequestContext, reply: Reply, response: ShortAnswer) -> None:
        try:
            self._answer_short(context, reply, response.make(response.waits_for))
        except Exception as error:  # noqa: BLE001 - handed to the one place that decides
            reply.fail(error, context.header.api_key)

    async def _serve_large(self, context: RequestContext, body: memoryview, reply: Reply) -> None:
        async with self._large:
            await self._serve(context, body, reply)

    async def _serve(self, context: RequestContext, body: memoryview, reply: Reply) -> None:
        """Serve a request that is long, or whose handler is not loaded."""
        key, version = context.header.api_key, context.header.api_version
        if key not in self._handlers:
            await self.load()
        await self._turns.pause()  # many connections may have sent as much
        try:
            request = await self._turns.run(messages.decode_request_steps(key, version, body))
        except ProtocolError as error:
            reply.refuse(error)
            return
        response = self._handlers[key].handle(context, request)
        del request  # it may be larger than the answer
        if isinstance(response, messages.KafkaMessage):
            await self._answer(context, response, reply)
        elif isinstance(response, ShortAnswer):
            await asyncio.wait((response.waits_for,))
            await self._turns.pause()  # many may have waited for the same
            self._answer_short(context, reply, response.make(response.waits_for))
        else:
            await self._answer_later(context, reply, response)

    async def _begin_and_answer(
        self, context: RequestContext, reply: Reply, response: Later[messages.KafkaMessage]
    ) -> None:
        await self._turns.pause()  # many connections may have asked as much
        await self._answer_later(context, reply, response)

    async def _answer_later(
        self, context: RequestContext, reply: Reply, response: Later[messages.KafkaMessage]
    ) -> None:
        found = await response
        await self._turns.pause()  # many may have waited for the same
        await self._answer(context, found, reply)

    async def _answer(
        self, context: RequestContext, response: messages.KafkaMessage, reply: Reply
    ) -> None:
        header, turns = context.header, self._turns
        encoding = messages.encode_response_steps(
            response, header.api_version, header.correlation_id, throttle_ms=reply.throttle_ms
        )
        try:
            pieces = await turns.run(encoding)
        except messages.AnswerTooLargeError as error:
            reply.refuse(error)
            return
        reply.send([_SIZE.pack(sum(map(len, pieces))), *pieces])
        if len(pieces) > 1:
            await turns.run(messages.free_steps(response))
