"""`/compact`: have the node compact now (POST), and see how far it is (GET).

POST has no body, but `Content-Type: application/json`; it is answered at once, by 202 and
`{"round": N}`: the round that begins as soon as the one under way has ended. GET is answered by 200
and every counter of `headrace.storage.compaction.statistics`: round N is over when `rounds_finished` has
reached N. It goes on until nothing is left to merge. Errors are `{"error"}`:

    403  a web page asks, by the Origin that every browser sends with a POST
    415  another content type: the kind that a page may send to any address without asking it first
    503  the node is starting

Who asks again and again has one round after the other, no more: what is worth doing is done once.
"""

import dataclasses
import json
import logging
from collections.abc import Mapping
from typing import Protocol

from aiohttp import web

from headrace.storage.compaction.statistics import CompactionStatistics

PATH = "/compact"

logger = logging.getLogger("headrace.admin")


class Compaction(Protocol):
    """What compacts."""

    statistics: CompactionStatistics

    def ask(self) -> int:
        """Have a round begin; return its number."""
        ...


class CompactionEndpoint:
    """Takes requests as soon as there is something to compact."""

    def __init__(self) -> None:
        self._compaction: Compaction | None = None

    def offer(self, compaction: Compaction) -> None:
        """Have it compact from now on."""
        self._compaction = compaction

    async def ask(self, request: web.Request) -> web.Response:
        """Answer a POST."""
        if "Origin" in request.headers:
            return _json(403, {"error": "web pages may not start a compaction"})
        if request.content_type != "application/json":
            return _json(415, {"error": "the content type must be application/json"})
        if self._compaction is None:
            return _json(503, {"error": "the node is starting"})
        number = self._compaction.ask()
        logger.info("compaction was asked for", extra={"round": number})
        return _json(202, {"round": number})

    async def show(self, request: web.Request) -> web.Response:
        """Answer a GET."""
        del request
        if self._compaction is None:
            return _json(503, {"error": "the node is starting"})
        return _json(200, dataclasses.asdict(self._compaction.statistics))


def _json(status: int, body: Mapping[str, object]) -> web.Response:
    return web.Response(
        status=status, text=json.dumps(body) + "\n", content_type="application/json"
    )
