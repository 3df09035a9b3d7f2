"""A cluster in the process of a test."""

import atexit
import logging
import os
import shutil
import socket
import tempfile
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from headrace.config.load import load
from headrace.config.node import NodeConfig
from headrace.config.presets import DEV_PRESETS
from headrace.testing.nodes import (
    BrokerFailedError,
    LoopThread,
    RunningNode,
    SharedBucket,
    all_dropped,
)

MIB: Final = 1 << 20
MAX_BROKERS: Final = 100
CONTROLLER_ID: Final = 1_000
MAX_START_S: Final = 60.0
MAX_STOP_S: Final = 60.0
MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a directory of its own is made in it
WAL_BYTES: Final = 64 * MIB
NODE_BYTES: Final = WAL_BYTES + 32 * MIB  # that a broker may write to its directory

# On top of those of `headrace dev`: little memory, as many nodes may share it.
SETTINGS: Final = {
    "s3.data.buckets": "0@mem://",
    "s3.wal.path": f"0@file://wal?capacity={WAL_BYTES}",
    "s3.wal.cache.size": str(32 * MIB),
    "s3.wal.upload.threshold": str(8 * MIB),
    "s3.block.cache.size": str(16 * MIB),
    "offsets.topic.num.partitions": "2",
    "headrace.admin.listener": "none",
    "controller.listener.names": "CONTROLLER",
}


T = TypeVar("T")

logger = logging.getLogger("headrace.testing")
logging.getLogger("headrace").addHandler(logging.NullHandler())  # else warnings are printed


class Cluster:
    """Some brokers with the ids 1, 2, 3 and so on, and a controller, which is a node of its own."""

    def __init__(self, brokers: int = 3, *, settings: Mapping[str, str] | None = None) -> None:
        """Start the brokers; return when all of them serve clients.

        Args:
            brokers: how many, between 1 and 100.
            settings: of all nodes, as in server.properties.

        Raises:
            ValueError: the number is out of range.
            ConfigError: a setting is wrong.
            BrokerFailedError: a node did not start.
        """
        if not 1 <= brokers <= MAX_BROKERS:
            raise ValueError(f"a cluster has between 1 and {MAX_BROKERS} brokers, not {brokers}")
        self.node_ids = tuple(range(1, brokers + 1))
        self._settings = dict(settings or {})
        self._bucket = SharedBucket()
        self._nodes: dict[int, RunningNode] = {}
        with ExitStack() as undo:
            parent = _memory(brokers * NODE_BYTES)
            self._directory = Path(tempfile.mkdtemp(prefix="headrace-", dir=parent))
            undo.callback(shutil.rmtree, self._directory, ignore_errors=True)
            self._controller = f"127.0.0.1:{_free_port()}"
            self._configs = {it: self._config(it) for it in (*self.node_ids, CONTROLLER_ID)}
            self._thread = LoopThread()
            undo.callback(self._thread.stop)
            self._start([*self._configs])
            atexit.register(self.close)  # where a test does not
            undo.callback(atexit.unregister, self.close)
            self._undo = undo.pop_all()

    @property
    def bootstrap(self) -> str:
        """Addresses of the brokers that run, for `bootstrap_servers`."""
        brokers = (it.address.broker for it in self._nodes.values())
        return ",".join(f"{it.kafka_host}:{it.kafka_port}" for it in brokers if it is not None)

    def start(self, node_id: int) -> None:
        """Start a broker that was stopped, with its port and its data; no effect while it runs.

        Raises:
            BrokerFailedError: it did not start.
            KeyError: there is no such broker.
        """
        if node_id not in self.node_ids:
            raise KeyError(node_id)
        if node_id not in self._nodes:
            self._start([node_id])

    def stop(self, node_id: int) -> None:
        """Stop a broker in an orderly way; no effect if it is stopped.

        Raises:
            BrokerFailedError: it did not stop in time, failed, or had ended by itself before.
        """
        node = self._nodes.pop(node_id, None)
        if node is not None:
            self._run(node.stopped(), MAX_STOP_S, f"node {node_id} did not stop")

    def close(self) -> None:
        """End all nodes, and remove their data; no effect after the first call.

        Raises:
            BrokerFailedError: a node did not end in time, or had ended by itself before.
        """
        with self._undo:
            nodes, self._nodes = self._nodes, {}
            if nodes:
                self._run(_dropped(nodes), MAX_STOP_S, "the nodes did not end")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(*() if error is None else (BrokerFailedError,)):  # the test's own says more
            self.close()

    def _start(self, node_ids: Sequence[int]) -> None:
        async def started() -> dict[int, RunningNode]:
            nodes = {it: RunningNode(self._configs[it], self._bucket) for it in node_ids}
            for node in nodes.values():
                await node.started()
            return nodes

        nodes = self._run(started(), MAX_START_S, f"nodes {[*node_ids]} did not start")
        self._nodes |= nodes
        self._configs |= {node_id: node.config for node_id, node in nodes.items()}

    def _run(self, work: Coroutine[Any, Any, T], limit_s: float, failure: str) -> T:
        try:
            return self._thread.run(work, limit_s)
        except TimeoutError:
            raise BrokerFailedError(f"{failure} within {limit_s:.0f} s") from None

    def _config(self, node_id: int) -> NodeConfig:
        directory = self._directory / str(node_id)
        directory.mkdir(mode=0o700)
        is_controller = node_id == CONTROLLER_ID
        base = {
            **{preset.key: preset.value for preset in DEV_PRESETS},
            **SETTINGS,
            "node.id": str(node_id),
            "process.roles": "controller" if is_controller else "broker",
            "listeners": f"CONTROLLER://{self._controller}"
            if is_controller
            else "PLAINTEXT://127.0.0.1:0",
            "controller.quorum.voters": f"{CONTROLLER_ID}@{self._controller}",
            "log.dirs": str(directory),
        }
        given = [f"{key}={value}" for key, value in self._settings.items()]
        loaded = load(base=base, base_source="headrace.testing", overrides=given, environment={})
        for warning in loaded.warnings:
            logger.warning(warning)
        return loaded.config


class Broker(Cluster):
    """A cluster of one broker."""

    def __init__(self, *, settings: Mapping[str, str] | None = None) -> None:
        """Start it; see `Cluster`."""
        super().__init__(1, settings=settings)


async def _dropped(nodes: Mapping[int, RunningNode]) -> None:
    """End the brokers, then the controller, which they wait for when they end."""
    try:
        await all_dropped([node for node_id, node in nodes.items() if node_id != CONTROLLER_ID])
    finally:
        await nodes[CONTROLLER_ID].dropped()


def _memory(size_bytes: int) -> Path | None:
    """Return the file system in memory if so much can be written to it: that of a container often has 64 MiB."""
    with suppress(OSError):
        if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= size_bytes:
            return MEMORY
    return None


def _free_port() -> int:
    """Return a port of loopback that is free until another program takes it."""
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        port: int = it.getsockname()[1]
        return port
