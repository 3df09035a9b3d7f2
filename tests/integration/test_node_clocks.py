"""A node whose clocks the test sets."""

import asyncio
import time
from pathlib import Path

from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.node import Node, NodeAddress
from tests.integration.test_cluster_nodes import client
from tests.integration.test_node import TOPIC, config

HOUR_MS = 3_600_000


def test_setting_the_clock_of_the_wall_neither_ends_nor_prolongs_a_lease(tmp_path: Path) -> None:
    async def run() -> None:
        wall_ms = {"offset": 0}
        boot_ms = {"offset": 0}
        environment = NodeEnvironment(
            wall_clock_ms=lambda: time.time_ns() // 1_000_000 + wall_ms["offset"],
            boot_clock_ms=lambda: time.monotonic_ns() // 1_000_000 + boot_ms["offset"],
        )
        stop = asyncio.Event()
        ready: asyncio.Future[NodeAddress] = asyncio.get_running_loop().create_future()
        node = asyncio.create_task(Node(config(tmp_path), environment).run(ready.set_result, stop))
        async with client(await ready) as connection:
            for offset_ms in (HOUR_MS, -HOUR_MS):
                wall_ms["offset"] = offset_ms
                assert (await connection.produce(b"a", topic=TOPIC))[0] == 0
            boot_ms["offset"] = HOUR_MS
            assert (await connection.produce(b"a", topic=TOPIC))[0] != 0
            while (await connection.produce(b"a", topic=TOPIC))[0]:
                await asyncio.sleep(0.05)
        stop.set()
        await node

    asyncio.run(run())
