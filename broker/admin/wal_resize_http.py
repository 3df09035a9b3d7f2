"""`POST /wal/resize`: gives a running node's WAL another capacity.

Request: `Content-Type: application/json` and `{"capacity_bytes": N}`. Answer: 200 with
`{"old", "new", "pause_ms", "uploaded_bytes", "duration_ms", "configuration"}`, else `{"error"}`:

    400  the body is malformed
    403  a web page sent the request, as its Origin header shows (every browser sends one with a POST)
    415  another content type: one that a web page may send to any address without a CORS preflight
    422  this node cannot have that capacity
    503  not possible now; nothing has changed, try again

There is no password: every client that can reach the listener may resize. By default it listens on this machine only.
403 and 415 keep web pages in a browser on this machine from sending the request.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from headrace.broker.admin import json_http
from headrace.storage.errors import ResizeRefusedError, StorageError

PATH = "/wal/resize"

logger = logging.getLogger("headrace.admin")

# Resizes to this many bytes and returns the fields of the answer. It may raise ValueError or ResizeRefusedError for a
# capacity that is not possible, and other StorageErrors when it was abandoned.
Resize = Callable[[int], Awaitable[Mapping[str, object]]]


class WalResizeEndpoint:
    """Serves requests once the WAL is open."""

    def __init__(self, resize: Callable[[], Resize | None]) -> None:
        self._resize = resize

    async def handle(self, request: web.Request) -> web.Response:
        """Answer one request."""
        refused = json_http.refusal(request, "resize the WAL")
        if refused is not None:
            return refused
        try:
            capacity_bytes = _capacity(await json_http.body_of(request))
        except ValueError as error:  # also if it is not JSON, or not text
            return json_http.error(400, str(error))
        resize = self._resize()
        if resize is None:
            return json_http.error(503, "the node is starting")
        try:
            answer = await resize(capacity_bytes)
        except (ValueError, ResizeRefusedError) as error:
            return json_http.error(422, str(error))
        except StorageError as error:
            logger.warning("the WAL was not resized", extra={"reason": str(error)})
            return json_http.error(503, str(error))
        logger.info("the WAL was resized", extra=dict(answer))
        return json_http.answer(200, answer)


def _capacity(body: object) -> int:
    """Read the request.

    Raises:
        ValueError: the body is malformed.
    """
    capacity_bytes = (
        body.get("capacity_bytes") if isinstance(body, dict) and len(body) == 1 else None
    )
    if type(capacity_bytes) is not int or not 0 <= capacity_bytes < 2**63:
        raise ValueError('the body must be {"capacity_bytes": N}, a whole number of bytes')
    return capacity_bytes
