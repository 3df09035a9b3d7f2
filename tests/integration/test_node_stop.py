"""A node that is asked to stop while it cannot finish starting, or that must end and cannot."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.broker.node.node import Node
from headrace.broker.partition.registry import PartitionRegistry
from headrace.metadata.log.store import LogStore
from headrace.storage.engine import StorageEngine
from tests.integration.test_node import config, serving

DEADLINE_S = 20


@pytest.mark.parametrize(
    ("part", "step"),
    [(LogStore, "open"), (StorageEngine, "start"), (PartitionRegistry, "wait_attempted")],
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
    async def wait(_self: object, **_options: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    return wait


# Something that does not end: a thread that the interpreter would wait for, and a loop that is stuck.
STUCK = """
import threading, time
from headrace.broker import app
app.FENCED_END_MS = 300
threading.Thread(target=time.sleep, args=(60,)).start()
app._end_fenced("replaced")
time.sleep(60)
"""


def test_a_fenced_process_ends_whatever_cannot_be_given_up() -> None:
    begin_s = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", STUCK], timeout=DEADLINE_S, check=False)
    assert ended.returncode == 3
    assert time.monotonic() - begin_s < 5
