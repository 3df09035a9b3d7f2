"""What requests with a JSON body, and JSON answers, have in common at the admin endpoint."""

import json
from collections.abc import Mapping
from typing import Any, Final

from aiohttp import web

MAX_BODY_BYTES: Final = 4096


def refusal(request: web.Request, what: str) -> web.Response | None:
    """Return the answer to a request that a web page in a browser may have sent; None: it is none.

    Args:
        request: a POST.
        what: a web page may not do, such as "resize the WAL".
    """
    if "Origin" in request.headers:
        return error(403, f"web pages may not {what}")
    if request.content_type != "application/json":
        return error(415, "the content type must be application/json")
    return None


async def body_of(request: web.Request) -> Any:
    """Read the body of a request.

    Raises:
        ValueError: it is too large, not text or not JSON.
    """
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise ValueError(f"the body has more than {MAX_BODY_BYTES} bytes")
    return await request.json()


def error(status: int, message: str) -> web.Response:
    """Make the answer to a request that is refused or has failed."""
    return answer(status, {"error": message})


def answer(status: int, body: Mapping[str, object]) -> web.Response:
    """Make an answer."""
    return web.Response(
        status=status, text=json.dumps(body) + "\n", content_type="application/json"
    )
