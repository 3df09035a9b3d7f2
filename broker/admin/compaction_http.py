"""`/compact`: start a compaction now (POST), and show its progress (GET).

POST has no body, but `Content-Type: application/json`; it is answered at once with 202 and
`{"round": N}`: the round that begins as soon as the current one has ended. GET is answered with 200
and every counter of `headrace.storage.compaction.statistics`: round N is over when `rounds_finished` has
reached N. A round continues until nothing is left to merge. Errors are `{"error"}`:

    403  a web page sent the request, as its Origin header shows (every browser sends one with a POST)
    415  another content type: one that a web page may send to any address without a CORS preflight
    503  the node is starting

Repeated requests start one round after the other, never two at once.
"""

import dataclasses
import logging
from collections.abc import Callable
from typing import Protocol

from aiohttp import web

from headrace.broker.admin import json_http
from headrace.storage.compaction.statistics import CompactionStatistics

PATH = "/compact"

logger = logging.getLogger("headrace.admin")


class Compaction(Protocol):
    """The compactor."""

    statistics: CompactionStatistics

    def ask(self) -> int:
        """Request a round; return its number."""
        ...


class CompactionEndpoint:
    """Serves requests once the compactor exists."""

    def __init__(self, compaction: Callable[[], Compaction | None]) -> None:
        self._compaction = compaction

    async def ask(self, request: web.Request) -> web.Response:
        """Answer a POST."""
        refused = json_http.refusal(request, "start a compaction")
        if refused is not None:
            return refused
        compaction = self._compaction()
        if compaction is None:
            return json_http.error(503, "the node is starting")
        number = compaction.ask()
        logger.info("compaction requested through the admin endpoint", extra={"round": number})
        return json_http.answer(202, {"round": number})

    async def show(self, request: web.Request) -> web.Response:
        """Answer a GET."""
        del request
        compaction = self._compaction()
        if compaction is None:
            return json_http.error(503, "the node is starting")
        return json_http.answer(200, dataclasses.asdict(compaction.statistics))
