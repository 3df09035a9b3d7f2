"""A node whose broker is fenced: its role ends, and another one begins in the same process, by the code of a start."""

import asyncio
import errno
import gc
import logging
import threading
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from headrace.broker.admin import pages
from headrace.broker.node import broker_role, controller_role, registration
from headrace.broker.node.broker_parts import BrokerParts
from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.node import Fencing, Node, NodeAddress
from headrace.broker.node.role_ends import is_fencing, leaves, was_fenced
from headrace.broker.telemetry.unexpected_errors import UnexpectedErrors
from headrace.config.node import NodeConfig, TelemetryConfig, WalConfig
from headrace.daemon_threads import SPARE_NAME
from headrace.metadata.controller.brokers import fence_broker
from headrace.metadata.errors import NodeFencedError
from headrace.metadata.leader.driver import ControllerNode
from headrace.metadata.records.brokers import FenceReason
from headrace.storage.cache.log_cache import LogCache
from headrace.storage.drain import DrainReport
from headrace.storage.engine import StorageEngine
from headrace.storage.errors import FencedError
from headrace.storage.object_store.filesystem import (
    BACKGROUND_THREADS,
    READ_THREADS,
    WRITE_THREADS,
    FileObjectStore,
)
from headrace.storage.ports import Buffer
from headrace.wal.device.block_device import BlockDevice, WriteDone
from headrace.wal.device.open_device import open_device
from tests.integration.test_node import Client, config

TIMES = 10
PATIENCE_S = 60


class Nodes:
    """What the test reaches of the one node: its controller, and the parts of each of its brokers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.controllers: list[ControllerNode] = []
        self.parts: list[weakref.ref[BrokerParts]] = []
        self.is_armed = False  # uploads hang from now on
        self.kept: list[tuple[str, weakref.ref[object]]] = []
        outer = self

        class Controller(ControllerNode):
            def __init__(self, *args: object, **options: object) -> None:
                super().__init__(*args, **options)  # type: ignore[arg-type]
                outer.controllers.append(self)

        class Parts(BrokerParts):
            def __init__(self, *args: object) -> None:
                super().__init__(*args)  # type: ignore[arg-type]
                outer.parts.append(weakref.ref(self))
                number = len(outer.parts)
                of_role = (
                    self.engine,
                    self.block_cache,
                    self.partitions,
                    self.coordinator,
                    self._client,
                    self.wal,
                )
                outer.kept += [
                    (f"{type(it).__name__} of role {number}", weakref.ref(it)) for it in of_role
                ]

        monkeypatch.setattr(controller_role, "ControllerNode", Controller)
        monkeypatch.setattr(broker_role, "BrokerParts", Parts)

    async def fence(self, node_id: int = 1) -> None:
        """End the session of the broker, as the controller does when it has not heard it."""
        controller = self.controllers[-1]
        epoch = controller.image.brokers[node_id].epoch
        reason = FenceReason.SESSION_EXPIRED
        await controller.propose(
            lambda image, inputs: fence_broker(node_id, epoch, reason, image, inputs)
        )

    def kept_of_earlier_roles(self) -> list[str]:
        """What is still in memory of all roles but the last."""
        gc.collect()
        last = f"role {len(self.parts)}"
        assert sum(isinstance(it, LogCache) for it in gc.get_objects()) == 1
        return [it for it, ref in self.kept if ref() is not None and not it.endswith(last)]


class Running:
    """A node that runs, and how its broker went on."""

    def __init__(self) -> None:
        self.address: NodeAddress
        self.node: asyncio.Task[None]
        self.stop = asyncio.Event()
        self.fenced: list[str] = []
        self.again = 0
        self.served = asyncio.Semaphore(0)

    async def client(self) -> Client:
        """Connect, as soon as the listener is there."""
        assert self.address.broker is not None
        while True:
            try:
                streams = await asyncio.open_connection("127.0.0.1", self.address.broker.kafka_port)
            except ConnectionError:
                await asyncio.sleep(0.01)
            else:
                return Client(*streams)


@asynccontextmanager
async def running(
    settings: NodeConfig, environment: NodeEnvironment | None = None
) -> AsyncIterator[Running]:
    """A node that serves, with what a process watches around it."""
    found, loop = Running(), asyncio.get_running_loop()
    unexpected = UnexpectedErrors(lambda _: None)
    ready: asyncio.Future[NodeAddress] = loop.create_future()

    def ended(_failure: BaseException) -> None:
        found.again += 1

    fencing = Fencing(found.fenced.append, ended, found.served.release)
    with unexpected.watching(loop):
        node = Node(settings, environment or NodeEnvironment(), unexpected=unexpected)
        found.node = loop.create_task(node.run(ready.set_result, found.stop, fencing=fencing))
        await asyncio.wait([found.node, ready], return_when=asyncio.FIRST_COMPLETED)
        if found.node.done():
            await found.node
        found.address = await ready
        try:
            async with asyncio.timeout(PATIENCE_S):
                yield found
        finally:
            found.stop.set()
            await asyncio.wait([found.node])
    assert unexpected.first is None


async def values(client: Client) -> list[bytes | None]:
    """All records: one fetch may end where the next object begins."""
    found: list[bytes | None] = []
    while more := await client.values(len(found)):
        found += more
    return found


def descriptors() -> list[str]:
    """What this process has open, without what differs from one moment to the next."""
    found = []
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(descriptor.readlink()).partition(":[")[0])
        except FileNotFoundError:
            continue
    return sorted(found)


def threads() -> list[str]:
    """Those that are there from the start: the pools of a bucket take theirs with the requests that need them."""
    names = (it.name for it in threading.enumerate())
    return sorted(it for it in names if it != SPARE_NAME and not it.startswith("bucket-"))


def threads_for_buckets() -> int:
    return sum(it.name.startswith("bucket-") for it in threading.enumerate())


def tasks() -> list[str]:
    return sorted(it.get_coro().__qualname__ for it in asyncio.all_tasks())  # type: ignore[union-attr]


async def series(address: NodeAddress) -> list[str]:
    """Names and labels of all that /metrics shows."""
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{address.admin_url}/metrics") as page,
    ):
        text = await page.text()
    return [line for line in text.splitlines() if line and not line.startswith("#")]


async def settled(look: Callable[[], list[str]], wanted: list[str]) -> None:
    """Wait until something is as it was: threads and transports end a moment after what used them."""
    for _ in range(200):
        if look() == wanted:
            return
        await asyncio.sleep(0.02)
    found = look()
    assert found == wanted, (Counter(found) - Counter(wanted), Counter(wanted) - Counter(found))


def test_ten_fencings_lose_nothing_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = Nodes(monkeypatch)
    # pytest keeps what is logged, and with a traceback all that it passed through.
    monkeypatch.setattr(logging.getLogger("headrace"), "propagate", False)
    monkeypatch.setattr(pages, "RENDER_CACHE_MS", 0)
    settings = replace(config(tmp_path), telemetry=TelemetryConfig(admin_port=0))

    of_other_tests = threads_for_buckets()

    async def run() -> None:
        async with running(settings) as node:
            before: tuple[list[str], list[str], list[str]] | None = None
            expected: list[bytes] = []
            for number in range(TIMES + 1):
                client = await node.client()
                expected.append(b"%d" % number)
                while (await client.produce(expected[-1]))[0]:
                    await asyncio.sleep(0.02)
                assert await values(client) == expected
                client._writer.close()
                shown = await series(node.address)
                assert len({it.rpartition(" ")[0] for it in shown}) == len(shown)
                assert f"headrace_broker_role_restarts_total {float(number)}" in shown
                if number == 1:
                    await asyncio.sleep(0.1)
                    before = tasks(), threads(), descriptors()
                if number < TIMES:
                    await nodes.fence()
                    await node.served.acquire()
            assert before is not None
            for look, wanted in zip((tasks, threads, descriptors), before, strict=True):
                await settled(look, wanted)
            # Of the last role, and of the controller, which publishes snapshots.
            most = 2 * (READ_THREADS + WRITE_THREADS + BACKGROUND_THREADS)
            assert threads_for_buckets() <= of_other_tests + most
            assert nodes.kept_of_earlier_roles() == []
            assert node.again == TIMES == len(node.fenced)

    asyncio.run(run())


class DeviceInUse:
    """A device that is not given back when it is closed, as with a write that hangs in the kernel, until it is."""

    def __init__(self) -> None:
        self._is_back = False
        self._closes: list[Callable[[], Coroutine[Any, Any, None]]] = []

    def open(self, settings: WalConfig, writable: bool) -> BlockDevice:
        device = open_device(settings, writable)
        if not self._is_back:
            self._closes.append(device.close)
            device.close = self._hang  # type: ignore[method-assign]
        return device

    async def give_back(self) -> None:
        """Let what hangs come back; who opens it now has a device like others."""
        self._is_back = True
        for close in self._closes:
            await close()
        self._closes.clear()

    async def _hang(self) -> None:
        """Return when the time for it is over."""


@pytest.mark.parametrize("comes_back", [True, False])
def test_the_next_role_begins_once_the_device_of_the_last_one_is_given_back_and_never_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, comes_back: bool
) -> None:
    nodes, devices = Nodes(monkeypatch), DeviceInUse()
    monkeypatch.setattr(registration, "LOG_LOCK_WAIT_MS", PATIENCE_S * 1000 if comes_back else 300)

    async def run() -> None:
        environment = NodeEnvironment(open_device=devices.open)
        async with running(config(tmp_path), environment) as node:
            assert (await (await node.client()).produce(b"one")) == (0, 0)
            await nodes.fence()
            while not node.again:
                await asyncio.sleep(0.01)
            if comes_back:
                await asyncio.sleep(2 * registration.LOG_LOCK_RETRY_MS / 1000)
                assert len(nodes.parts) == 1
                await devices.give_back()
                await node.served.acquire()
                assert await values(await node.client()) == [b"one"]
            else:
                with pytest.raises(ExceptionGroup) as ended:
                    await node.node
                assert [type(it) for it in leaves(ended.value)] == [NodeFencedError]
                assert len(nodes.parts) == 1
            await devices.give_back()

    asyncio.run(run())


class FailingDevice:
    """The first device that is opened fails each write from some moment on."""

    def __init__(self, error: OSError) -> None:
        self.error = error
        self.has_failed = False
        self._opened = 0

    def open(self, settings: WalConfig, writable: bool) -> BlockDevice:
        device = open_device(settings, writable)
        self._opened += 1
        if self._opened == 1:
            write = device.write

            def failing(position: int, data: Any, done: WriteDone) -> None:
                if self.has_failed:
                    asyncio.get_running_loop().call_soon(done, self.error)
                else:
                    write(position, data, done)

            device.write = failing  # type: ignore[method-assign]
        return device


@pytest.mark.parametrize(("number", "goes_on"), [(errno.EIO, False), (errno.EBADE, True)])
def test_a_fencing_cuts_no_end_short_and_hides_no_reason_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, *, goes_on: bool
) -> None:
    """A device fails, or is taken; while the role ends because of it, the controller fences the broker."""
    nodes, shutdown = Nodes(monkeypatch), StorageEngine.shutdown
    devices = FailingDevice(OSError(number, "the device"))
    ended: list[str] = []
    settings = config(tmp_path)

    async def run() -> None:
        async def fenced_meanwhile(engine: StorageEngine) -> None:
            if not ended:
                ended.append("begun")
                await nodes.fence()
                while not node.fenced:
                    await asyncio.sleep(0.01)
                for _ in range(50):  # until it has got around
                    await asyncio.sleep(0)
                ended.append("done")
            await shutdown(engine)

        monkeypatch.setattr(StorageEngine, "shutdown", fenced_meanwhile)
        async with running(settings, NodeEnvironment(open_device=devices.open)) as node:
            assert (await (await node.client()).produce(b"one")) == (0, 0)
            devices.has_failed = True
            late = asyncio.create_task((await node.client()).produce(b"late"))
            if goes_on:
                await node.served.acquire()
                assert ended == ["begun", "done"]
                assert (await values(await node.client()))[:1] == [b"one"]
            else:
                with pytest.raises(ExceptionGroup) as failed:
                    await node.node
                assert ended == ["begun", "done"]
                assert len(nodes.parts) == 1
                assert any(not is_fencing(it) for it in leaves(failed.value))
                await open_device(settings.wal, writable=True).close()  # nobody has its lock
            await asyncio.gather(late, return_exceptions=True)

    asyncio.run(run())


def test_a_broker_that_is_fenced_before_it_serves_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes, start = Nodes(monkeypatch), StorageEngine.start
    fencings = 2

    async def fenced_meanwhile(engine: StorageEngine) -> DrainReport:
        if len(nodes.parts) <= fencings:
            await nodes.fence()
            await asyncio.Event().wait()
        return await start(engine)

    monkeypatch.setattr(StorageEngine, "start", fenced_meanwhile)

    async def run() -> None:
        async with running(config(tmp_path)) as node:
            assert (await (await node.client()).produce(b"one")) == (0, 0)
            assert node.again == fencings

    asyncio.run(run())


def test_what_was_being_uploaded_is_there_once_after_a_fencing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attempt that was given up hangs in its thread, and ends after the next role has uploaded the same."""
    nodes, write = Nodes(monkeypatch), FileObjectStore._write_object
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def write_object(store: FileObjectStore, key: str, parts: Sequence[Buffer]) -> None:
        is_first = len(nodes.parts) == 1 and nodes.is_armed and not begun.is_set()
        if is_first:
            begun.set()
            go_on.wait()
        try:
            write(store, key, parts)
        finally:
            if is_first:
                ended.set()

    monkeypatch.setattr(FileObjectStore, "_write_object", write_object)

    async def run() -> None:
        async with running(config(tmp_path)) as node:
            client = await node.client()
            assert (await client.produce(b"one")) == (0, 0)
            parts = nodes.parts[0]()
            assert parts is not None
            nodes.is_armed = True
            upload = asyncio.create_task(parts.engine.force_upload())
            del parts
            await asyncio.to_thread(begun.wait)
            await nodes.fence()
            await node.served.acquire()
            with pytest.raises(FencedError):
                await upload
            go_on.set()
            await asyncio.to_thread(ended.wait)
            client = await node.client()
            assert (await client.produce(b"two")) == (0, 1)
            assert await values(client) == [b"one", b"two"]

    try:
        asyncio.run(run())
    finally:
        go_on.set()


def test_a_node_that_is_to_stop_does_not_begin_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = Nodes(monkeypatch)

    async def run() -> None:
        async with running(config(tmp_path)) as node:
            node.stop.set()
            await nodes.fence()
            await asyncio.wait([node.node])
            assert node.again == 0
            assert len(nodes.parts) == 1
            failure = node.node.exception()
            assert failure is None or was_fenced(failure)

    asyncio.run(run())
