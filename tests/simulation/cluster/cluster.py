"""The nodes of a simulated cluster, each on a host of its own, and what can happen to them.

A node is the unchanged `headrace.broker.node.node.Node`. One that ends, killed or by itself, is started again by a
supervisor, as a service manager would; `keep_down` says that a fault does it itself.
"""

import asyncio
import random
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from headrace.broker.node.node import Fencing, Node, NodeAddress, NodeEnvironment
from headrace.broker.node.role_ends import is_fencing, leaves
from headrace.config.node import NodeConfig, WalConfig
from headrace.storage.errors import EngineFailedError
from headrace.storage.object_store.retrying import RetryingObjectStore
from headrace.storage.sweep.swept_bucket import SweptBucket
from headrace.wal.device.block_device import BlockDevice
from headrace.wal.errors import WalMissingError
from tests.simulation.cluster import settings
from tests.simulation.cluster.bucket import (
    BucketClient,
    BucketLists,
    ClusterBucket,
    NoUploads,
    Weather,
    wall_clock_ms,
)
from tests.simulation.cluster.disks import HostDisks, Volume
from tests.simulation.cluster.loop import ClusterLoop
from tests.simulation.cluster.lost_logs import LostLogs
from tests.simulation.cluster.nature import Nature
from tests.simulation.cluster.network import ClusterNetwork, HostNetwork, Links
from tests.simulation.cluster.process import Process
from tests.simulation.cluster.records import Place
from tests.simulation.wal_run import SimulatedTimer

RESTARTED_AFTER_S = 0.3


class Host:
    """A machine with its disks and clocks, and the process of the node that runs on it."""

    def __init__(
        self, node_id: int, name: str, config: NodeConfig, disks: HostDisks, clock_rate: float
    ) -> None:
        self.node_id = node_id
        self.name = name
        self.config = config
        self.disks = disks
        self.clock_rate = clock_rate  # of the boot clock
        self.wall_clock_ahead_ms = 0
        self.process: Process | None = None
        self.task: asyncio.Task[None] | None = None
        self.address: NodeAddress | None = None  # once it serves
        self.starts = 0
        self.keep_down = False
        self.stop = asyncio.Event()  # of the process: set as by SIGTERM
        self.is_repaired = False  # an operator keeps it down

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.is_alive and not self.has_ended

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended by itself."""
        return self.task is not None and self.task.done()


class Cluster:
    """All hosts, and the network and the bucket between them."""

    def __init__(self, nature: Nature, seed: int) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, ClusterLoop)
        self.loop = loop
        self.nature = nature
        self.seed = seed
        self.network = loop.network = ClusterNetwork(loop, self.rng("network"), nature.links)
        self.bucket = ClusterBucket(self.network, self.rng("bucket"), nature.weather)
        self.counts: Counter[str] = Counter()
        self.says = False
        # Also those that were killed: nobody collects their tasks.
        self._processes: list[Process] = []
        self.repairs: list[asyncio.Task[None]] = []  # what operators are doing
        self.failures: list[str] = []  # what no fault explains
        self.volume = Volume(self.rng("volume"), self.failures)
        self.twins: list[Host] = []
        self.lost = LostLogs()
        self.wanted_back: list[tuple[Place, int]] = []  # moves for the mover, with their targets
        first = settings.FIRST_CONTROLLER
        self.controllers = [self._host(first + it) for it in range(nature.controllers)]
        first = settings.FIRST_BROKER
        self.brokers = [self._host(first + it) for it in range(nature.brokers)]

    @property
    def hosts(self) -> list[Host]:
        return self.controllers + self.brokers

    def rng(self, *purpose: object) -> random.Random:
        """Return randomness for one purpose."""
        return random.Random(f"{self.seed} {purpose}")

    def start(self, host: Host) -> None:
        """Start a node; nothing happens if it runs."""
        if host.is_running:
            return
        host.starts += 1
        host.address = None
        self.network.dark.discard(host.name)
        process = host.process = Process(host.name)
        self._processes.append(process)
        node = Node(host.config, self._environment(host, process))

        served: list[NodeAddress] = []

        def ready(address: NodeAddress) -> None:
            served.append(address)
            serves()

        def serves() -> None:
            if host.process is process:
                host.address = served[0]

        def fenced(_reason: str) -> None:
            if host.process is process:
                host.address = None

        def begins_again(failure: BaseException) -> None:
            fenced("")
            self._judge_role(host, failure)

        host.stop = asyncio.Event()
        run = node.run(ready, host.stop, fencing=Fencing(fenced, begins_again, serves))
        host.task = self.loop.create_task(run, context=process.context)
        host.task.add_done_callback(lambda task: self._ended(host, process, task))

    def kill(self, host: Host, *, power_cut: bool = False) -> None:
        """End a node's process, or all of its machine."""
        process = host.process
        if process is None or not process.is_alive:
            return
        self.network.end_process(process, silently=power_cut)
        process.kill()
        if power_cut:
            self.network.dark.add(host.name)
        host.disks.end_process(process, power_cut=power_cut)

    def resume(self, host: Host) -> None:
        """Continue a process that was stopped."""
        if host.process is not None and host.process.is_stopped:
            host.process.resume(self.loop)

    def heal(self) -> None:
        """End everything that is wrong, and the weather."""
        self.network.heal_all()
        self.network.slow.clear()
        self.bucket.is_down = False
        self.bucket.weather = Weather()
        self.volume.is_away = False
        self.network.links = Links()
        for host in self.hosts:
            host.keep_down = False
            self.resume(host)

    def twin(self, node_id: int) -> Host:
        """Return a second host for a node id, with its own disks or on the same volume."""
        twin = self._host(node_id, f"twin-{node_id}-{self.counts['second process']}")
        self.twins.append(twin)
        return twin

    async def supervise(self) -> None:
        """Start again whoever has ended."""
        while True:
            await asyncio.sleep(RESTARTED_AFTER_S)
            for host in self.hosts:
                if not (host.is_running or host.keep_down or host.is_repaired):
                    self.start(host)

    def tell(self, what: str) -> None:
        """Note what happens."""
        self.counts[what] += 1
        if self.says:
            print(f"{self.loop.time():.3f} {what}", flush=True)

    async def serving(self, hosts: list[Host]) -> None:
        """Wait until nodes serve."""
        while any(host.address is None for host in hosts):
            await asyncio.sleep(0.05)

    def _host(self, node_id: int, name: str = "") -> Host:
        name = name or settings.host_of(node_id)
        if node_id >= settings.FIRST_CONTROLLER:
            config, wal_path = settings.controller(self.nature, node_id), None
        else:
            config = settings.broker(self.nature, node_id, name)
            wal_path = config.wal.path if "://" not in config.wal.path else None
        disks = HostDisks(
            name,
            self.rng("disks", name),
            self.volume,
            wal_path,
            wal_bytes=settings.WAL_DEVICE_BYTES,
            sync_s=self.nature.sync_s,
        )
        drift = self.nature.clock_drift
        return Host(
            node_id, name, config, disks, 1 + self.rng("clock", name).uniform(-drift, drift)
        )

    def _environment(self, host: Host, process: Process) -> NodeEnvironment:
        loop, bucket = self.loop, self.bucket

        def open_device(config: WalConfig, writable: bool) -> BlockDevice:
            return host.disks.open_wal(process, config.path, writable=writable)

        async def open_bucket(
            _uri: str, *, rng: random.Random, policy: Any = None, **_options: object
        ) -> RetryingObjectStore:
            return RetryingObjectStore(BucketClient(bucket), rng, policy)

        return NodeEnvironment(
            wall_clock_ms=lambda: wall_clock_ms(loop.time()) + host.wall_clock_ahead_ms,
            boot_clock_ms=lambda: 1_000_000 + round(loop.time() * 1000 * host.clock_rate),
            monotonic_s=loop.time,
            monotonic_ns=lambda: int(loop.time() * 1e9),
            thread_time_s=loop.time,
            wake_timer=SimulatedTimer,
            rng=self.rng("node", host.name, host.starts),
            network=HostNetwork(self.network, process),
            open_device=open_device,
            open_bucket=open_bucket,
            open_swept_bucket=lambda *_: SweptBucket(BucketLists(bucket), NoUploads()),
            free_lock=self._free_lock,
            look_at_device=lambda _: None,  # it never hangs
            open_metadata_directory=host.disks.metadata.open,
            variables={},
        )

    def _free_lock(self, path: Path) -> str:
        lock = self.volume.free_lock(str(path)) if self.nature.shares_kernel else ""
        self.counts["lock seen free"] += bool(lock)
        return lock

    def _judge_role(self, host: Host, failure: BaseException) -> None:
        """Note why the role of a broker has ended, which begins again in its process."""
        causes = _causes(failure)
        self.failures += [
            f"{host.name} begins again after {it!r}"
            for it in causes
            if not (self.nature.may_fence and is_fencing(it))
        ]
        self.tell(f"begun again: {host.name.partition('-')[0]}: {type(causes[0]).__name__}")

    def _ended(self, host: Host, process: Process, task: "asyncio.Task[None]") -> None:
        """Note why a process has ended by itself."""
        if not process.is_alive:
            return
        self.network.end_process(process, silently=False)
        process.kill()
        host.disks.end_process(process, power_cut=False)
        error = task.exception()
        reason = "stopped"
        if error is not None:
            reason = type(_causes(error)[0]).__name__
            if self.says:
                traceback.print_exception(error)
            self.failures += [
                f"{host.name} has ended: {it!r}"
                for it in _causes(error)
                if not (
                    self.nature.may_fence and (is_fencing(it) or isinstance(it, WalMissingError))
                )
            ]
        elif not host.stop.is_set():
            self.failures.append(f"{host.name} has ended, and nobody has stopped it")
        self.counts[f"ended: {host.name.partition('-')[0]}: {reason}"] += 1


def _causes(error: BaseException) -> list[BaseException]:
    """What has raised an error, or each one of a group; an EngineFailedError passes on what its log met."""
    return [
        it.__cause__ if isinstance(it, EngineFailedError) and it.__cause__ is not None else it
        for it in leaves(error)
    ]
