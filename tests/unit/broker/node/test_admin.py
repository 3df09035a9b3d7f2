"""The admin endpoint of a node that starts: bound at once, answered when the first partition does not wait for it."""

import asyncio

import aiohttp
import pytest

from headrace.broker.node import admin as module
from headrace.broker.node.admin import NO_ADMIN_ENDPOINT, SERVING, NodeAdmin
from headrace.broker.node.environment import NodeEnvironment
from headrace.config.node import TelemetryConfig


async def page(admin: NodeAdmin) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(f"{admin.url}/readyz") as response:
        return response.status, (await response.json())["checks"][0]["reason"]


@pytest.mark.parametrize("begins", ["a partition is open", "ready", "takes long"])
def test_the_endpoint_answers_when_the_first_partition_does_not_wait_for_it(
    begins: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    takes_long_ms = 1 if begins == "takes long" else 1_000_000
    monkeypatch.setattr(module, "SERVED_AFTER_MS", takes_long_ms)

    async def run() -> tuple[int, str]:
        admin = NodeAdmin(TelemetryConfig(admin_port=0), NodeEnvironment())
        await admin.bind()
        asked = asyncio.create_task(page(admin))
        serving = asyncio.create_task(admin.serve())
        await asyncio.sleep(0)
        assert not serving.done()
        admin.stage = "recovering"
        if begins == "a partition is open":
            admin.opened.set()
        elif begins == "ready":
            admin.stage = SERVING
        await serving
        try:
            return await asked
        finally:
            await admin.shutdown()

    expected = (200, SERVING) if begins == "ready" else (503, "recovering")
    assert asyncio.run(run()) == expected


def test_a_node_may_have_no_endpoint() -> None:
    async def run() -> None:
        admin = NodeAdmin(TelemetryConfig(admin_port=NO_ADMIN_ENDPOINT), NodeEnvironment())
        await admin.bind()
        await admin.serve()
        await admin.shutdown()
        assert admin.url == ""

    asyncio.run(run())
