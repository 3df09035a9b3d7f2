"""`GET /balance`: how even the brokers are, and what the leading controller does about it; `?dry-run=true` plans, too.

Answer: 200 with the fields of `headrace.metadata.rpc.responses.BalanceDescribed`. Errors are `{"error"}`:

    400  another query
    422  the cluster's level has no moves
    503  the node is starting, or no controller has answered: repeat it
"""

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from aiohttp import web

from headrace.broker.admin import json_http
from headrace.metadata.errors import MetadataError, RefusedError
from headrace.metadata.rpc.requests import DescribeBalance
from headrace.metadata.rpc.responses import BalanceDescribed

PATH: Final = "/balance"
DRY_RUN: Final = {"": False, "false": False, "true": True}

# Asks the leading controller, with retries.
AskBalance = Callable[[DescribeBalance], Awaitable[BalanceDescribed]]


class BalanceEndpoint:
    """Serves requests once the node can ask a controller."""

    def __init__(self, ask: Callable[[], AskBalance | None]) -> None:
        self._ask = ask

    async def show(self, request: web.Request) -> web.Response:
        """Answer a GET."""
        asked = request.query.get("dry-run", "")
        if asked not in DRY_RUN or set(request.query) > {"dry-run"}:
            return json_http.error(400, "the query may be dry-run=true or dry-run=false")
        ask = self._ask()
        if ask is None:
            return json_http.error(503, "the node is starting")
        try:
            described = await ask(DescribeBalance(DRY_RUN[asked]))
        except RefusedError as error:
            return json_http.error(422, error.message)
        except MetadataError as error:
            return json_http.error(503, str(error))
        return json_http.answer(200, _fields(described))


def _fields(described: BalanceDescribed) -> dict[str, object]:
    planned = described.planned
    return {
        **msgspec.structs.asdict(described),
        "brokers": [msgspec.structs.asdict(it) for it in described.brokers],
        "decisions": [msgspec.structs.asdict(it) for it in described.decisions],
        "planned": None if planned is None else [msgspec.structs.asdict(it) for it in planned],
    }
