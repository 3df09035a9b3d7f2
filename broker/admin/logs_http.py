"""`/logs`: the logs of the cluster (GET), and `/logs/accept-loss`: give one up (POST).

GET is answered with 200 and `{"logs": [...]}`, each with the fields of
`headrace.metadata.described_logs.DescribedLog`. It is what this node knows.

POST: `Content-Type: application/json` and `{"log_id": N, "generation": "...", "damaged_only": false}`. The leading
controller decides. Answer: 200 with the same fields, also when that loss has been accepted before. Errors are
`{"error"}`:

    400  the body is malformed
    403  a web page sent the request, as its Origin header shows (every browser sends one with a POST)
    404  there is no such log
    415  another content type: one that a web page may send to any address without a CORS preflight
    422  refused: another generation, its owner lives, it is being drained, nothing in it is needed, the cluster's level
         has no logs
    503  the node is starting, or no controller has answered: repeat it
"""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from aiohttp import web

from headrace.daemon_threads import in_own_thread
from headrace.metadata.described_logs import describe_logs
from headrace.metadata.errors import MetadataError, RefusedError
from headrace.metadata.log_admin import LogAdmin
from headrace.metadata.rpc.requests import AcceptLogLoss
from headrace.protocol.errors import ErrorCode

PATH: Final = "/logs"
LOSS_PATH: Final = "/logs/accept-loss"
MAX_BODY_BYTES: Final = 4096
MAX_GENERATION: Final = 256  # characters

logger = logging.getLogger("headrace.admin")


class LogsEndpoint:
    """Serves requests once the node has metadata."""

    def __init__(self, logs: Callable[[], LogAdmin | None]) -> None:
        self._logs = logs

    async def show(self, request: web.Request) -> web.Response:
        """Answer a GET."""
        del request
        logs = self._logs()
        if logs is None:
            return _error(503, "the node is starting")
        # All partitions of the cluster are looked at: not on the loop.
        described = await in_own_thread("admin-logs", describe_logs, logs.image)
        return _json(200, {"logs": [it._asdict() for it in described]})

    async def accept_loss(self, request: web.Request) -> web.Response:
        """Answer a POST."""
        if "Origin" in request.headers:
            return _error(403, "web pages may not accept the loss of a log")
        if request.content_type != "application/json":
            return _error(415, "the content type must be application/json")
        if (request.content_length or 0) > MAX_BODY_BYTES:
            return _error(400, f"the body has more than {MAX_BODY_BYTES} bytes")
        try:
            wanted = _wanted(await request.json())
        except ValueError as error:  # also if it is not JSON, or not text
            return _error(400, str(error))
        logs = self._logs()
        if logs is None:
            return _error(503, "the node is starting")
        try:
            await logs.accept_loss(wanted)
        except RefusedError as error:
            unknown = error.code == ErrorCode.RESOURCE_NOT_FOUND
            return _error(404 if unknown else 422, error.message)
        except MetadataError as error:
            return _error(503, str(error))
        fields = msgspec.structs.asdict(wanted)
        logger.warning("the loss of a log was accepted", extra=fields)
        return _json(200, fields)


def _wanted(body: object) -> AcceptLogLoss:
    """Read the request.

    Raises:
        ValueError: the body is malformed.
    """
    fields = body if isinstance(body, dict) and len(body) == 3 else {}
    log_id, generation = fields.get("log_id"), fields.get("generation")
    damaged_only = fields.get("damaged_only")
    if (
        type(log_id) is int
        and 0 <= log_id < 2**31
        and isinstance(generation, str)
        and 0 < len(generation) <= MAX_GENERATION
        and isinstance(damaged_only, bool)
    ):
        return AcceptLogLoss(log_id, generation, damaged_only)
    raise ValueError(
        'the body must be {"log_id": N, "generation": "...", "damaged_only": true or false}'
    )


def _error(status: int, message: str) -> web.Response:
    return _json(status, {"error": message})


def _json(status: int, body: Mapping[str, object]) -> web.Response:
    return web.Response(
        status=status, text=json.dumps(body) + "\n", content_type="application/json"
    )
