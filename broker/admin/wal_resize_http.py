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

import json
import logging
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from headrace.storage.errors import ResizeRefusedError, StorageError

PATH = "/wal/resize"
MAX_BODY_BYTES = 4096

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
        if "Origin" in request.headers:
            return _error(403, "web pages may not resize the WAL")
        if request.content_type != "application/json":
            return _error(415, "the content type must be application/json")
        if (request.content_length or 0) > MAX_BODY_BYTES:
            return _error(400, f"the body has more than {MAX_BODY_BYTES} bytes")
        try:
            capacity_bytes = _capacity(await request.json())
        except ValueError as error:  # also if it is not JSON, or not text
            return _error(400, str(error))
        resize = self._resize()
        if resize is None:
            return _error(503, "the node is starting")
        try:
            answer = await resize(capacity_bytes)
        except (ValueError, ResizeRefusedError) as error:
            return _error(422, str(error))
        except StorageError as error:
            logger.warning("the WAL was not resized", extra={"reason": str(error)})
            return _error(503, str(error))
        logger.info("the WAL was resized", extra=dict(answer))
        return _json(200, answer)


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


def _error(status: int, message: str) -> web.Response:
    return _json(status, {"error": message})


def _json(status: int, body: Mapping[str, object]) -> web.Response:
    return web.Response(
        status=status, text=json.dumps(body) + "\n", content_type="application/json"
    )
