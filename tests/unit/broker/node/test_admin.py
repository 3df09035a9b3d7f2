"""The admin endpoint of a node that starts: bound at once, answered when no partition waits for it."""

import asyncio

import aiohttp
import pytest

from headrace.broker.node import admin as module
from headrace.broker.node.admin import NO_ADMIN_ENDPOINT, SERVING, NodeAdmin
from headrace.broker.node.environment import NodeEnvironment
from headrace.config.node import TelemetryConfig
from headrace.metadata.follower.log_admin import LogAdmin
from headrace.metadata.rpc.requests import AcceptLogLoss
from tests.unit.metadata.pure_controller import PureController


async def page(admin: NodeAdmin) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(f"{admin.url}/readyz") as response:
        return response.status, (await response.json())["checks"][0]["reason"]


@pytest.mark.parametrize("begins", ["ready", "takes long"])
def test_the_endpoint_answers_when_no_partition_waits_for_it(
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
        if begins == "ready":
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


def test_every_node_tells_which_logs_wait_and_stays_ready() -> None:
    """Also one without a controller: who asks a broker learns why partitions of another one are offline."""
    admin = NodeAdmin(TelemetryConfig(admin_port=NO_ADMIN_ENDPOINT), NodeEnvironment())
    admin.stage = SERVING
    assert admin.readiness.look()[0]
    controller = PureController()
    controller.register(1)
    controller.begin_log(1, reach=())
    controller.fence(1)

    async def refuse(request: AcceptLogLoss) -> None:
        raise AssertionError(request)

    admin.server.logs = LogAdmin(lambda: controller.image, refuse)
    ready, found = admin.readiness.look()

    (logs,) = (it for it in found if it.name == "logs")
    assert ready
    assert "log 1 of broker 1" in logs.reason
