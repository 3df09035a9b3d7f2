"""A node that is asked to stop while it cannot finish starting: the bucket or a partition does not answer."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from broker.node import Node
from broker.partition.registry import PartitionRegistry
from storage.engine import StorageEngine
from tests.integration.test_node import config, serving

DEADLINE_S = 20


@pytest.mark.parametrize(
    ("part", "step"), [(StorageEngine, "start"), (PartitionRegistry, "wait_attempted")]
)
def test_a_node_can_be_stopped_while_it_is_starting(
    part: type, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with serving(config(tmp_path)) as (client, _):
            assert await client.produce(b"before") == (0, 0)
        reached = asyncio.Event()
        with monkeypatch.context() as patch:
            patch.setattr(part, step, never(reached))
            stop = asyncio.Event()
            node = asyncio.create_task(Node(config(tmp_path)).run(lambda _address: None, stop))
            async with asyncio.timeout(DEADLINE_S):
                await reached.wait()
                stop.set()
                await node
        async with serving(config(tmp_path)) as (client, _):
            assert await client.values() == [b"before"]

    asyncio.run(main())


def never(reached: asyncio.Event) -> Callable[..., object]:
    async def wait(_self: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    return wait
