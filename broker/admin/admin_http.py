"""Admin HTTP endpoint: `/metrics`, `/livez`, `/readyz`, `/compact`, and `POST /wal/resize`."""

import asyncio
import json
from collections.abc import Callable

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from headrace.broker.admin import compaction_http
from headrace.broker.admin.wal_resize_http import PATH, WalResizeEndpoint
from headrace.broker.telemetry.readiness import Readiness
from headrace.daemon_threads import DaemonThreads

RENDER_CACHE_MS = 1_000  # a page is not rendered more often than this
SHUTDOWN_TIMEOUT_S = 1.0


class AdminServer:
    """Serves operators and scrapers beside the Kafka listener."""

    def __init__(self, registry: CollectorRegistry, readiness: Readiness) -> None:
        self._registry = registry
        self._readiness = readiness
        # Rendering thousands of series takes tens of milliseconds of Python: not on the loop.
        self._renderer = DaemonThreads(1, "metrics")
        self._page = b""
        self._rendered_at_s = float("-inf")
        self._rendering = asyncio.Lock()
        self._refreshes: list[Callable[[], None]] = []
        self._runner: web.AppRunner | None = None
        self.wal_resize = WalResizeEndpoint()
        self.compaction = compaction_http.CompactionEndpoint()

    def expose(self, collector: Collector, refresh: Callable[[], None] | None = None) -> None:
        """Add metrics; `refresh` is called on the loop before each rendering."""
        self._registry.register(collector)
        if refresh is not None:
            self._refreshes.append(refresh)

    async def start(self, host: str, port: int) -> int:
        """Bind, and return the port.

        Raises:
            OSError: the address is in use, or not an address of this machine.
        """
        app = web.Application()
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/livez", self._livez)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_post(PATH, self.wal_resize.handle)
        app.router.add_post(compaction_http.PATH, self.compaction.ask)
        app.router.add_get(compaction_http.PATH, self.compaction.show)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_TIMEOUT_S)
        await runner.setup()
        self._runner = runner
        site = web.TCPSite(runner, host, port)
        await site.start()
        bound: int = runner.addresses[0][1]
        return bound

    async def shutdown(self) -> None:
        """Close the endpoint."""
        if self._runner is not None:
            await self._runner.cleanup()
        self._renderer.shutdown(wait=False)

    async def _metrics(self, request: web.Request) -> web.Response:
        del request
        loop = asyncio.get_running_loop()
        async with self._rendering:  # concurrent requests wait for the page
            if loop.time() - self._rendered_at_s > RENDER_CACHE_MS / 1000:
                for refresh in self._refreshes:
                    refresh()
                render = loop.run_in_executor(self._renderer, generate_latest, self._registry)
                self._page = await render
                self._rendered_at_s = loop.time()
        return web.Response(body=self._page, headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _livez(self, request: web.Request) -> web.Response:
        del request
        return web.Response(text="ok\n")

    async def _readyz(self, request: web.Request) -> web.Response:
        del request
        ready, results = self._readiness.look()
        body = {
            "ready": ready,
            "checks": [
                {"name": result.name, "ok": result.ok, "reason": result.reason}
                for result in results
            ],
        }
        return web.Response(
            status=200 if ready else 503,
            text=json.dumps(body) + "\n",
            content_type="application/json",
        )
