"""One node as a task of an event loop, and the loop that runs in a thread."""

import asyncio
import random
import threading
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.node import Node, NodeAddress
from headrace.broker.node.role_ends import reasons
from headrace.config.node import NodeConfig
from headrace.daemon_threads import in_daemon_thread
from headrace.storage.object_store.factory import PART_BYTES_DEFAULT
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.object_store.retrying import RetryingObjectStore, RetryPolicy

T = TypeVar("T")


class BrokerFailedError(Exception):
    """A node did not start or stop in time, or ended by itself; the message says why."""


class SharedBucket:
    """A bucket in memory, the same for every node that opens one."""

    def __init__(self) -> None:
        self._objects = MemoryObjectStore()

    async def open(
        self,
        uri: str,
        *,
        rng: random.Random,
        environment: Mapping[str, str],
        part_bytes: int = PART_BYTES_DEFAULT,
        policy: RetryPolicy | None = None,
    ) -> RetryingObjectStore:
        """See `headrace.storage.object_store.factory.BucketOpener`."""
        del uri, environment, part_bytes
        return RetryingObjectStore(self._objects, rng, policy)


class RunningNode:
    """A node from its start to its end."""

    def __init__(self, config: NodeConfig, bucket: SharedBucket) -> None:
        """Begin to start it, on the loop that runs."""
        self._config = config
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[NodeAddress] = asyncio.get_running_loop().create_future()
        environment = NodeEnvironment(
            open_bucket=bucket.open, open_swept_bucket=lambda _uri, _environment: None, variables={}
        )
        node = Node(config, environment)
        self._task = asyncio.create_task(node.run(self._ready.set_result, self._stop))

    @property
    def address(self) -> NodeAddress:
        """Its addresses; it has started."""
        return self._ready.result()

    @property
    def config(self) -> NodeConfig:
        """Its configuration, with the port that it was given: another one that starts with it can be found."""
        broker = self.address.broker
        if broker is None:
            return self._config
        (listener,) = self._config.network.listeners
        bound = replace(listener, port=broker.kafka_port)
        return replace(self._config, network=replace(self._config.network, listeners=(bound,)))

    async def started(self) -> None:
        """Return when it serves clients.

        Raises:
            BrokerFailedError: it has ended before.
        """
        await asyncio.wait((self._task, self._ready), return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            raise BrokerFailedError(self._end())

    async def stopped(self) -> None:
        """Stop it in an orderly way: its partitions move to others.

        Raises:
            BrokerFailedError: it failed, or had ended by itself before.
        """
        self._require_alive()
        self._stop.set()
        await asyncio.wait((self._task,))
        if self._task.cancelled() or self._task.exception() is not None:
            raise BrokerFailedError(self._end())

    async def dropped(self) -> None:
        """End it, where nothing of it is needed any more.

        Raises:
            BrokerFailedError: it had ended by itself before.
        """
        self._require_alive()
        self._task.cancel()
        await asyncio.wait((self._task,))

    def _require_alive(self) -> None:
        if self._task.done():
            raise BrokerFailedError(self._end())

    def _end(self) -> str:
        failure = None if self._task.cancelled() else self._task.exception()
        why = "has ended" if failure is None else f"has failed: {reasons(failure)}"
        return f"node {self._config.node_id} {why}"


async def all_dropped(nodes: Sequence[RunningNode]) -> None:
    """End some nodes, of which nothing is needed any more.

    Raises:
        BrokerFailedError: one of them had ended by itself before; the others have ended, too.
    """
    ended = await asyncio.gather(*(it.dropped() for it in nodes), return_exceptions=True)
    for failure in ended:
        if failure is not None:
            raise failure


class LoopThread:
    """An event loop in a thread."""

    def __init__(self) -> None:
        started: Future[asyncio.AbstractEventLoop] = Future()
        self._stop = asyncio.Event()
        self._ended = threading.Event()
        in_daemon_thread("headrace.testing", lambda: self._run(started))
        self._loop = started.result()

    def run(self, work: Coroutine[Any, Any, T], limit_s: float) -> T:
        """Run a coroutine on the loop, and return its result.

        Raises:
            TimeoutError: it did not end in time; it is cancelled.
        """
        return asyncio.run_coroutine_threadsafe(_within(work, limit_s), self._loop).result()

    def stop(self) -> None:
        """Cancel what runs on the loop, and end the thread."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._ended.wait()

    def _run(self, started: "Future[asyncio.AbstractEventLoop]") -> None:
        factory = None
        with suppress(ImportError):
            import uvloop  # noqa: PLC0415 - does not exist on every platform

            factory = uvloop.new_event_loop
        try:
            with asyncio.Runner(loop_factory=factory) as runner:
                runner.run(self._until_stopped(started))
        finally:
            self._ended.set()

    async def _until_stopped(self, started: "Future[asyncio.AbstractEventLoop]") -> None:
        started.set_result(asyncio.get_running_loop())
        await self._stop.wait()


async def _within(work: Coroutine[Any, Any, T], limit_s: float) -> T:
    async with asyncio.timeout(limit_s):
        return await work
