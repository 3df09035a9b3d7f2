"""A node that is asked to stop while it cannot finish starting, or that must end and cannot."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.node import Node
from headrace.broker.partition import leadership
from headrace.broker.partition.opening import Restored
from headrace.broker.partition.registry import PartitionRegistry
from headrace.config.node import Endpoint, NetworkConfig
from headrace.metadata.log.store import LogStore
from headrace.protocol.errors import ErrorCode
from headrace.storage.engine import StorageEngine
from headrace.storage.stream import Stream
from tests.environment.ports import free_port
from tests.integration.test_node import Client, config, serving

DEADLINE_S = 20
NOT_LEADER = ErrorCode.NOT_LEADER_OR_FOLLOWER


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
            node = asyncio.create_task(
                Node(config(tmp_path), NodeEnvironment()).run(lambda _address: None, stop)
            )
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
app._EndOfRole(app.UnexpectedErrors(print)).begin("replaced")
time.sleep(60)
"""


def test_a_fenced_process_ends_whatever_cannot_be_given_up() -> None:
    begin_s = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", STUCK], timeout=DEADLINE_S, check=False)
    assert ended.returncode == 3
    assert time.monotonic() - begin_s < 5


# The same where the thread that is to end the process never begins: there was no memory for it.
STUCK_WITHOUT_THREADS = STUCK.replace(
    "app._EndOfRole",
    """app.ALARM_AFTER_S = 0.3
threading._start_new_thread = lambda *_: 0
app._EndOfRole""",
)


def test_the_system_ends_a_process_that_cannot_do_so_itself() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", STUCK_WITHOUT_THREADS], timeout=DEADLINE_S, check=False
    )
    assert ended.returncode == -signal.SIGALRM


def test_partitions_are_served_while_another_is_still_being_opened_also_when_stopped_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        port = free_port()
        network = NetworkConfig(listeners=(Endpoint("PLAINTEXT", "127.0.0.1", port),))
        settings = replace(config(tmp_path), network=network)
        async with serving(settings) as (client, _):
            assert await client.produce(b"one", topic="slow") == (0, 0)
            assert await client.produce(b"before") == (0, 0)
        held = asyncio.Event()
        restore = leadership.restore_state

        async def restored(data: Stream, *others: Any, **options: Any) -> Restored:
            found = await restore(data, *others, **options)
            if data.stream_id == 0:  # of the topic that was created first
                held.set()
                await asyncio.Event().wait()
            return found

        with monkeypatch.context() as patch:
            patch.setattr(leadership, "restore_state", restored)
            stop = asyncio.Event()
            ready: list[object] = []
            node = asyncio.create_task(Node(settings, NodeEnvironment()).run(ready.append, stop))
            async with asyncio.timeout(DEADLINE_S):
                await held.wait()
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                client = Client(reader, writer)
                while (answer := await client.produce(b"meanwhile"))[0] == NOT_LEADER:
                    await asyncio.sleep(0.01)
                assert answer == (0, 1)
                assert (await client.produce(b"two", topic="slow"))[0] == NOT_LEADER
                assert ready == [], "not all is open"
                writer.close()
                stop.set()
                await node
        async with serving(settings) as (client, _):
            assert await client.values() == [b"before", b"meanwhile"]
            assert await client.values(topic="slow") == [b"one"]

    asyncio.run(main())
