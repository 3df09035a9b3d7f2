"""How soon every broker knows what was changed through one of them."""

import asyncio
import statistics
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.messages import MetadataRequest
from tests.integration.test_cluster_nodes import Scene, client, create_topic, in_scene
from tests.integration.test_node import Client

CHANGES = 15
MAX_VISIBLE_MS = 100


async def until_it_is_known(connection: Client, topic: str) -> None:
    """Ask for the topic until it is there; nobody creates it by asking."""
    request = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=topic)],
        allow_auto_topic_creation=False,
    )
    while True:
        answer = await connection.ask(ApiKey.METADATA, 9, request)
        if answer.topics[0].error_code == 0:  # type: ignore[attr-defined]
            return
        await asyncio.sleep(0.001)


@pytest.mark.alone
def test_at_rest_a_change_is_visible_on_every_broker_within_a_tenth_of_a_second(
    tmp_path: Path,
) -> None:
    async def test(scene: Scene) -> None:
        controllers = map(scene.controller, (101, 102, 103))
        brokers = map(scene.broker, (1, 2, 3))
        addresses = (await scene.start(*controllers, *brokers))[3:]
        took_ms = []
        async with AsyncExitStack() as stack:
            connections = [await stack.enter_async_context(client(it)) for it in addresses]
            for number in range(CHANGES):
                name = f"new-{number}"
                asked_s = time.monotonic()
                await create_topic(addresses[number % 3], name, 1)
                await asyncio.gather(*(until_it_is_known(it, name) for it in connections))
                took_ms.append((time.monotonic() - asked_s) * 1000)
        # The middle: another program may have had the machine for one of them.
        assert statistics.median(took_ms) < MAX_VISIBLE_MS, took_ms
        print(f"visible everywhere {statistics.median(took_ms):.1f} ms after the request")

    in_scene(test, tmp_path)
