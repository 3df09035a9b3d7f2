"""`POST /wal/resize`: the one thing on the admin listener that changes something.

Request: `Content-Type: application/json` and `{"capacity_bytes": N}`. Answer: 200 with
`{"old", "new", "pause_ms", "uploaded_bytes", "duration_ms", "configuration"}`, else `{"error"}`:

    400  the body is not that
    403  a web page asks, by the Origin that every browser sends with a POST
    415  another content type: the kind that a page may send to any address without asking it first
    422  this node cannot have that capacity
    503  not now; nothing has changed, try again

There is no password: whoever reaches the listener may resize, and that is this machine only unless it was configured
otherwise. The two refusals keep web pages in a browser on this machine from being a way around that.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from headrace.storage.errors import ResizeRefusedError, StorageError

PATH = "/wal/resize"
MAX_BODY_BYTES = 4096

logger = logging.getLogger("headrace.admin")

# Resizes to so many bytes and returns what to answer.
Resize = Callable[[int], Awaitable[Mapping[str, object]]]


class WalResizeEndpoint:
    """Takes requests as soon as there is a WAL to resize."""

    def __init__(self) -> None:
        self._resize: Resize | None = None

    def offer(self, resize: Resize) -> None:
        """Resize with `resize` from now on.

        It may raise ValueError or ResizeRefusedError for a capacity that cannot be, and other
        StorageErrors when it was given up.
        """
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
        except ValueError as error:  # also what is not JSON, or not text
            return _error(400, str(error))
        if self._resize is None:
            return _error(503, "the node is starting")
        try:
            answer = await self._resize(capacity_bytes)
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
        ValueError: it is something else.
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
