"""A whole node in virtual time: it opens no file, socket or bucket, and starts no thread, but what it is given."""

import asyncio
import gc
import random
import socket
import ssl
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import headrace.broker.api.later_handlers  # noqa: F401 - a node loads it: from files
from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.node import Node, NodeAddress
from headrace.config.node import (
    MIB,
    Endpoint,
    GroupConfig,
    MetadataConfig,
    NetworkConfig,
    NodeConfig,
    StorageConfig,
    TelemetryConfig,
    WalConfig,
)
from headrace.daemon_threads import DaemonThread
from headrace.network import ListeningAddress, ProtocolFactory
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.object_store.retrying import RetryingObjectStore
from tests.integration.test_node import Client
from tests.simulation import virtual_time
from tests.simulation.directory import SimulatedDirectoryDisk
from tests.simulation.disk import SimulatedDisk
from tests.simulation.wal_run import SimulatedTimer

PORT = 9092
CONFIG = NodeConfig(
    node_id=1,
    network=NetworkConfig(listeners=(Endpoint("PLAINTEXT", "127.0.0.1", PORT),)),
    wal=WalConfig(capacity_bytes=16 * MIB),
    storage=StorageConfig(
        bucket_uri="s3://no-such-bucket",
        log_cache_bytes=16 * MIB,
        block_cache_bytes=16 * MIB,
        upload_threshold_bytes=4 * MIB,
    ),
    metadata=MetadataConfig(log_dir="/no such disk/metadata"),
    groups=GroupConfig(offsets_topic_partitions=2),
    telemetry=TelemetryConfig(admin_port=-1),
)
DISK_BYTES = 32 * MIB
# Events of Python's audit of itself.
WATCHED = {
    "ctypes.dlopen",
    "open",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.scandir",
    "socket.__new__",
    "socket.getaddrinfo",
    "subprocess.Popen",
    "time.sleep",
}


class Watch:
    """What this thread does as Python reports it; the hook for that stays until the process ends."""

    def __init__(self) -> None:
        self._seen: list[str] | None = None
        self._thread = threading.get_ident()
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._seen is None or event not in WATCHED or threading.get_ident() != self._thread:
            return
        if event != "open" or not str(arguments[0]).endswith((".py", ".pyc")):  # modules
            self._seen.append(event)

    @contextmanager
    def watching(self) -> Iterator[list[str]]:
        gc.collect()  # what earlier tests have left may be removed from the disk
        seen: list[str] = []
        start = threading.Thread.start

        def note_start(thread: threading.Thread) -> None:
            if threading.get_ident() == self._thread:
                seen.append("start of a thread")
            start(thread)

        self._seen = seen
        try:
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(threading.Thread, "start", note_start)
                yield seen
        finally:
            self._seen = None


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()


class Wire(asyncio.Transport):
    """The node's end of a connection; what it writes is what the client reads."""

    def __init__(self, session: asyncio.BufferedProtocol, reader: asyncio.StreamReader) -> None:
        super().__init__({"peername": ("10.0.0.9", 50_000), "sockname": ("10.0.0.1", 9_092)})
        self._session = session
        self._reader = reader
        self._closing = False

    def come(self, data: bytes) -> None:
        while data:
            buffer = self._session.get_buffer(len(data))
            size = min(len(buffer), len(data))
            memoryview(buffer)[:size] = data[:size]
            self._session.buffer_updated(size)
            data = data[size:]

    def write(self, data: Any) -> None:
        self._reader.feed_data(bytes(data))

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(list_of_data))

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            asyncio.get_running_loop().call_soon(self._session.connection_lost, None)

    abort = close

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass


class Listening:
    def __init__(self, port: int) -> None:
        self.port = port
        self.new_session: ProtocolFactory | None = None

    async def serve(self, new_protocol: ProtocolFactory, tls: ssl.SSLContext | None = None) -> None:
        self.new_session = new_protocol

    def close(self) -> None:
        self.new_session = None


class Ports:
    """A `Network` in which nobody is reached but this node."""

    max_descriptors = 1 << 16

    def __init__(self) -> None:
        self.listening: dict[int, Listening] = {}

    async def listen(self, host: str, port: int) -> Sequence[ListeningAddress]:
        listening = self.listening[port] = Listening(port)
        return [listening]

    async def connect(
        self,
        new_protocol: ProtocolFactory,
        host: str,
        port: int,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        raise ConnectionRefusedError(host, port)

    async def resolve(self, host: str) -> list[str]:
        return [host]

    def client(self, port: int) -> Client:
        new_session = self.listening[port].new_session
        assert new_session is not None
        session: Any = new_session()
        reader = asyncio.StreamReader()
        wire = Wire(session, reader)
        session.connection_made(wire)

        class Writer:
            write = staticmethod(wire.come)

        return Client(reader, Writer())  # type: ignore[arg-type]  # all that it uses


class World:
    """What outlives the processes of one node."""

    def __init__(self) -> None:
        self.rng = random.Random(7)
        self.bucket = MemoryObjectStore()
        self.directory = SimulatedDirectoryDisk(self.rng, latency_s=0.002)
        self.disk = SimulatedDisk(
            DISK_BYTES, rng=self.rng, latency_s=0.002, is_file=True, lock_name="wal"
        )

    def environment(self, ports: Ports) -> NodeEnvironment:
        loop = asyncio.get_running_loop()

        async def open_bucket(uri: str, **options: Any) -> RetryingObjectStore:
            return RetryingObjectStore(self.bucket, options["rng"], options.get("policy"))

        def now_ms() -> int:
            return round(loop.time() * 1_000)

        return NodeEnvironment(
            wall_clock_ms=lambda: 1_700_000_000_000 + now_ms(),
            boot_clock_ms=now_ms,
            monotonic_s=loop.time,
            monotonic_ns=lambda: round(loop.time() * 1e9),
            thread_time_s=loop.time,
            wake_timer=SimulatedTimer,
            rng=self.rng,
            network=ports,
            open_device=lambda config, writable: self.disk.open(config.path, writable=writable),
            open_bucket=open_bucket,
            open_swept_bucket=lambda *_: None,
            open_metadata_directory=self.directory.open,
            free_lock=lambda _: "",
            look_at_device=lambda _: None,
            variables={},
        )


async def run_node(world: World, config: NodeConfig, *values: bytes) -> list[bytes | None]:
    """Start the node, write, read everything, stop it cleanly."""
    ports, stop = Ports(), asyncio.Event()
    ready: asyncio.Future[NodeAddress] = asyncio.get_running_loop().create_future()
    node = asyncio.create_task(Node(config, world.environment(ports)).run(ready.set_result, stop))
    await asyncio.wait((node, ready), return_when=asyncio.FIRST_COMPLETED)
    if node.done():
        await node
    client = ports.client(PORT)
    for value in values:
        while (await client.produce(value, topic="events"))[0]:
            await asyncio.sleep(0.1)
    found = await client.values(topic="events")
    stop.set()
    await node
    return found


def test_what_is_opened_is_noticed(watch: Watch, tmp_path: Path) -> None:
    with watch.watching() as seen:
        (tmp_path / "file").write_bytes(b"")
        socket.socket().close()
        thread = DaemonThread(lambda: None, "noticed")
        thread.start()
        thread.join()
    assert {*seen} == {"open", "socket.__new__", "start of a thread"}


@pytest.mark.parametrize("wal", ["/no such disk/wal", "s3://no-such-bucket/wal"])
def test_a_node_opens_nothing_but_what_its_environment_gives_it(watch: Watch, wal: str) -> None:
    config = replace(CONFIG, wal=replace(CONFIG.wal, path=wal))
    virtual_time.run(run_node(World(), config, b"loads the modules"))

    async def twice() -> list[bytes | None]:
        world = World()
        await run_node(world, config, b"a", b"b")
        assert world.bucket.objects
        return await run_node(world, config, b"c")

    loop = virtual_time.VirtualTimeLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner, watch.watching() as seen:
        assert runner.run(twice()) == [b"a", b"b", b"c"]
    assert not seen
