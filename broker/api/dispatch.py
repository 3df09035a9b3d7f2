"""From a frame to its handler: version check, decoding, answer.

Produce and Fetch have codecs of their own and are handed the undecoded body; everything else goes through
`headrace.protocol.messages` and runs as a task of the listener.
"""

import struct
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from headrace.broker.api.fetch import FetchHandler
from headrace.broker.api.produce import ProduceHandler
from headrace.broker.network.request_context import Handler, RequestContext
from headrace.broker.network.session import ConnectionInfo, Reply
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import ApiVersions
from headrace.protocol.errors import ProtocolError
from headrace.protocol.server_connection import Frame

_SIZE = struct.Struct(">i")
_PRODUCE = int(ApiKey.PRODUCE)
_FETCH = int(ApiKey.FETCH)


class ApiDispatcher:
    """The broker's side of `headrace.broker.network.session.Dispatcher`."""

    def __init__(
        self,
        *,
        versions: Mapping[ApiKey, ApiVersions],
        produce: ProduceHandler,
        fetch: FetchHandler,
        handlers: Mapping[ApiKey, Handler],
        wall_clock_ms: Callable[[], int],
        metrics: RequestMetrics,
    ) -> None:
        self._versions = {int(key): served for key, served in versions.items()}
        self._produce = produce
        self._fetch = fetch
        self._handlers = {int(key): handler for key, handler in handlers.items()}
        self._wall_clock_ms = wall_clock_ms
        self._metrics = metrics

    def is_pipelined(self, frame: Frame) -> bool:
        """Whether it is a Produce: those take effect when they are appended."""
        return frame.header.api_key == _PRODUCE

    def dispatch(
        self, frame: Frame, connection: ConnectionInfo, reply: Reply
    ) -> Coroutine[Any, Any, None] | None:
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
        self._metrics.requests[key] += 1
        if key == _PRODUCE:
            return self._produce.start(connection, header, frame.body, reply)
        context = RequestContext(
            header,
            connection.client_host,
            connection.local_host,
            connection.local_port,
            connection.listener,
            self._wall_clock_ms(),
        )
        if key == _FETCH:
            return self._fetch.start(context, frame.body, reply)
        request = messages.decode_request(ApiKey(key), version, frame.body)
        return self._serve(context, request, reply)

    async def _serve(self, context: RequestContext, request: Any, reply: Reply) -> None:
        header = context.header
        with self._metrics.time(header.api_key):
            response = await self._handlers[header.api_key].handle(context, request)
        answer = messages.encode_response(response, header.api_version, header.correlation_id)
        reply.send([_SIZE.pack(len(answer)), answer])
