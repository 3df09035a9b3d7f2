"""`/logs`: the logs of the cluster (GET), and `/logs/accept-loss`: give one up (POST).

GET is answered with 200 and `{"logs": [...]}`, each with the fields of
`headrace.metadata.offline.described_logs.DescribedLog`. It is what this node knows.

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

import logging
from collections.abc import Callable
from typing import Final

import msgspec
from aiohttp import web

from headrace.broker.admin import json_http
from headrace.daemon_threads import in_own_thread
from headrace.metadata.errors import MetadataError, RefusedError
from headrace.metadata.follower.log_admin import LogAdmin
from headrace.metadata.offline.described_logs import describe_logs
from headrace.metadata.rpc.requests import AcceptLogLoss
from headrace.protocol.errors import ErrorCode

PATH: Final = "/logs"
LOSS_PATH: Final = "/logs/accept-loss"
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
            return json_http.error(503, "the node is starting")
        # All partitions of the cluster are looked at: not on the loop.
        described = await in_own_thread("admin-logs", describe_logs, logs.image)
        return json_http.answer(200, {"logs": [it._asdict() for it in described]})

    async def accept_loss(self, request: web.Request) -> web.Response:
        """Answer a POST."""
        refused = json_http.refusal(request, "accept the loss of a log")
        if refused is not None:
            return refused
        try:
            wanted = _wanted(await json_http.body_of(request))
        except ValueError as error:  # also if it is not JSON, or not text
            return json_http.error(400, str(error))
        logs = self._logs()
        if logs is None:
            return json_http.error(503, "the node is starting")
        try:
            await logs.accept_loss(wanted)
        except RefusedError as error:
            unknown = error.code == ErrorCode.RESOURCE_NOT_FOUND
            return json_http.error(404 if unknown else 422, error.message)
        except MetadataError as error:
            return json_http.error(503, str(error))
        fields = msgspec.structs.asdict(wanted)
        logger.warning("the loss of a log was accepted", extra=fields)
        return json_http.answer(200, fields)


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
