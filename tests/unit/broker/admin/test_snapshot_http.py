"""`/metadata/snapshot` over HTTP."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import aiohttp
import pytest

from headrace.broker.admin import snapshot_http
from headrace.broker.admin.admin_http import AdminServer
from headrace.broker.admin.snapshot_http import PATH
from headrace.broker.telemetry.readiness import Readiness
from headrace.metadata.errors import RefusedError
from headrace.metadata.follower.log_admin import LogAdmin
from headrace.metadata.image import MetadataImage
from headrace.metadata.log.snapshot_format import decode_snapshot
from headrace.network import SocketNetwork
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import PureController

Answer = tuple[int, bytes, str]  # status, body, ETag
Get = Callable[..., Awaitable[Answer]]


def serve(
    image: Callable[[], MetadataImage] | None, body: Callable[[Get], Awaitable[None]]
) -> None:
    async def never(request: object) -> object:
        raise AssertionError(request)

    async def run() -> None:
        server = AdminServer(Readiness(), SocketNetwork())
        server.logs = None if image is None else LogAdmin(image, never)
        port = await server.bind("127.0.0.1", 0)
        await server.serve()
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:

            async def get(tag: str = "") -> Answer:
                async with session.get(PATH, headers={"If-None-Match": tag}) as response:
                    return response.status, await response.read(), response.headers.get("ETag", "")

            try:
                await body(get)
            finally:
                await server.shutdown()

    asyncio.run(run())


def test_the_metadata_are_those_of_the_node() -> None:
    controller = PureController()
    controller.register()
    controller.opened_stream("orders")

    async def body(get: Get) -> None:
        status, found, tag = await get()
        assert status == 200
        image = decode_snapshot(found)
        assert image == controller.image
        assert tag == f'"{image.index}-{image.term}"'
        assert await get(tag) == (304, b"", tag)
        assert (await get('"1-1"'))[0] == 200

    serve(lambda: controller.image, body)


def test_they_are_made_once_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_http, "RENDER_CACHE_MS", 100)
    images = [MetadataImage(cluster_id="c", index=it, term=1) for it in range(1, 100)]
    asked: list[int] = []

    def image() -> MetadataImage:
        asked.append(1)
        return images[len(asked) - 1]

    async def body(get: Get) -> None:
        tags = {it[2] for it in await asyncio.gather(*(get() for _ in range(20)))}
        assert tags == {'"1-1"'}
        with suppress(TimeoutError):  # the assertion says more
            async with asyncio.timeout(10):
                while (await get())[2] == '"1-1"':
                    await asyncio.sleep(0.01)
        assert asked == [1, 1]

    serve(image, body)


def test_a_node_that_starts_says_so() -> None:
    async def body(get: Get) -> None:
        assert (await get())[:2] == (503, b'{"error": "the node is starting"}\n')

    serve(None, body)

    def refuse() -> MetadataImage:
        raise RefusedError(ErrorCode.NOT_CONTROLLER, "the controller has not started")

    async def refused(get: Get) -> None:
        assert (await get())[:2] == (503, b'{"error": "the controller has not started"}\n')

    serve(refuse, refused)
