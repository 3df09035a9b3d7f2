"""`GET /metadata/snapshot`: the metadata as this node knows them, in the bytes of a snapshot file.

Answer: 200 with the format of `headrace.metadata.log.snapshot_format`, which begins with the entry and the term that it
ends with. `ETag` has both again: a request whose `If-None-Match` has that tag is answered with 304 and no body.
503: the node is starting.

It is made in a thread, at most once in RENDER_CACHE_MS, and held no longer.
"""

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple

from aiohttp import web

from headrace.broker.admin import json_http
from headrace.daemon_threads import in_own_thread
from headrace.metadata.errors import RefusedError
from headrace.metadata.follower.log_admin import LogAdmin
from headrace.metadata.image import MetadataImage
from headrace.metadata.log.snapshot_format import encode_snapshot

PATH: Final = "/metadata/snapshot"
RENDER_CACHE_MS: Final = 1_000


class _Rendered(NamedTuple):
    tag: str
    body: bytes


class SnapshotEndpoint:
    """Serves requests once the node has metadata."""

    def __init__(self, logs: Callable[[], LogAdmin | None]) -> None:
        self._logs = logs
        self._rendering = asyncio.Lock()
        self._rendered: _Rendered | None = None

    async def show(self, request: web.Request) -> web.Response:
        """Answer a GET."""
        logs = self._logs()
        if logs is None:
            return json_http.error(503, "the node is starting")
        try:
            tag, body = await self._newest(logs)
        except RefusedError as error:  # the controller of this node has not started
            return json_http.error(503, error.message)
        if request.headers.get("If-None-Match") == tag:
            return web.Response(status=304, headers={"ETag": tag})
        return web.Response(
            body=body, content_type="application/octet-stream", headers={"ETag": tag}
        )

    async def _newest(self, logs: LogAdmin) -> _Rendered:
        async with self._rendering:  # concurrent requests wait for it
            if self._rendered is None:
                image = logs.image
                body = await in_own_thread("admin-snapshot", _encoded, image)
                self._rendered = _Rendered(f'"{image.index}-{image.term}"', body)
                asyncio.get_running_loop().call_later(RENDER_CACHE_MS / 1000, self._forget)
            return self._rendered

    def _forget(self) -> None:
        self._rendered = None


def _encoded(image: MetadataImage) -> bytes:
    return b"".join(encode_snapshot(image))
