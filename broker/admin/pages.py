"""The pages of the admin endpoint.

`/metrics`, `/livez`, `/readyz`, `/compact`, `/logs`, `/balance`, `/metadata/snapshot`, and `POST /wal/resize`.
"""

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aiohttp import web
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

from headrace.broker.admin import (
    balance_http,
    compaction_http,
    json_http,
    logs_http,
    snapshot_http,
    wal_resize_http,
)
from headrace.daemon_threads import DaemonThreads
from headrace.network import ListeningAddress
from headrace.turns import Work, turns_of

if TYPE_CHECKING:
    from headrace.broker.admin.admin_http import AdminServer

RENDER_CACHE_MS = 1_000  # a page is not rendered more often than this
SHUTDOWN_TIMEOUT_S = 1.0


class Pages:
    """Answers the requests to one endpoint."""

    def __init__(self, server: "AdminServer") -> None:
        self._server = server
        # Rendering thousands of series takes tens of milliseconds of Python: not on the loop.
        self._renderer = DaemonThreads(1, "metrics")
        self._page = b""
        self._rendered_at_s = float("-inf")
        self._rendering = asyncio.Lock()
        resize = wal_resize_http.WalResizeEndpoint(lambda: server.resize)
        compaction = compaction_http.CompactionEndpoint(lambda: server.compaction)
        logs = logs_http.LogsEndpoint(lambda: server.logs)
        balance = balance_http.BalanceEndpoint(lambda: server.balance)
        snapshots = snapshot_http.SnapshotEndpoint(lambda: server.logs)
        app = web.Application()
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/livez", self._livez)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_post(wal_resize_http.PATH, resize.handle)
        app.router.add_post(compaction_http.PATH, compaction.ask)
        app.router.add_get(compaction_http.PATH, compaction.show)
        app.router.add_get(logs_http.PATH, logs.show)
        app.router.add_post(logs_http.LOSS_PATH, logs.accept_loss)
        app.router.add_get(balance_http.PATH, balance.show)
        app.router.add_get(snapshot_http.PATH, snapshots.show)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_TIMEOUT_S)

    async def serve(self, listening: Sequence[ListeningAddress]) -> None:
        """Answer requests that come to these addresses."""
        await self._runner.setup()
        answering = self._runner.server
        assert answering is not None
        for each in listening:
            await each.serve(answering)

    async def shutdown(self) -> None:
        """Close all connections."""
        await self._runner.cleanup()
        self._renderer.shutdown(wait=False)

    async def _metrics(self, request: web.Request) -> web.Response:
        del request
        loop = asyncio.get_running_loop()
        async with self._rendering:  # concurrent requests wait for the page
            if loop.time() - self._rendered_at_s > RENDER_CACHE_MS / 1000:
                collected = await self._collect()
                self._page = await loop.run_in_executor(self._renderer, generate_latest, collected)
                self._rendered_at_s = loop.time()
        return web.Response(body=self._page, headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _collect(self) -> "_Collected":
        """Collect on the loop, one collector after the other: none may meet a change half done."""
        turns = turns_of(Work.UPKEEP)
        metrics: list[Metric] = []
        others: list[Collector] = []
        for collector, take in self._server.collectors:
            if take is None:
                metrics += collector.collect()
            else:
                take()
                others.append(collector)
            await turns.pause()
        return _Collected(metrics, others)

    async def _livez(self, request: web.Request) -> web.Response:
        del request
        return web.Response(text="ok\n")

    async def _readyz(self, request: web.Request) -> web.Response:
        del request
        ready, results = self._server.readiness.look()
        body = {
            "ready": ready,
            "checks": [
                {"name": result.name, "ok": result.ok, "reason": result.reason}
                for result in results
            ],
        }
        return json_http.answer(200 if ready else 503, body)


class _Collected(CollectorRegistry):
    """What is rendered: metrics, and those that are collected where the page is rendered."""

    def __init__(self, metrics: Sequence[Metric], others: Sequence[Collector]) -> None:
        super().__init__()
        self._collected = metrics
        self._others = others

    def collect(self) -> Iterator[Metric]:
        yield from self._collected
        for collector in self._others:
            yield from collector.collect()
