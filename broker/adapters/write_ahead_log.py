"""The write-ahead log of a node: on a device or in a bucket, depending on its configuration."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from headrace.broker.adapters.wal_bucket import WAL_POLICY, WalBucket
from headrace.broker.adapters.wal_registry import LogAddress, WalRegistry, reach_below
from headrace.config.node import WalConfig
from headrace.invariants import require
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.records.logs import LogMedium, LogReach
from headrace.storage.object_store.factory import BucketOpener
from headrace.storage.ports import ObjectStore
from headrace.wal.device.block_device import BlockDevice
from headrace.wal.device.buffers import BufferPool
from headrace.wal.device.open_device import DeviceOpener
from headrace.wal.device.submissions import WriteStatistics
from headrace.wal.errors import WalError
from headrace.wal.fence.port import DeviceFence
from headrace.wal.layout import Superblock
from headrace.wal.objects.log import ObjectWal
from headrace.wal.port import Medium, WriteAheadLog
from headrace.wal.ring.log import DeltaWal
from headrace.wal.ring.superblock_store import WalIdentity, check_identity, load_superblock
from headrace.wal.ring.wake_timer import WakeTimerFactory


class NodeLog(WriteAheadLog, Protocol):
    """A log, with what the metrics show of it."""

    @property
    def medium(self) -> Medium:
        """What makes its writes durable; valid from `start`."""
        ...

    @property
    def statistics(self) -> WriteStatistics:
        """Counters of its writes; valid from `start`."""
        ...


class LogOwner(msgspec.Struct, frozen=True, kw_only=True):
    """The owner of the log."""

    cluster_id: str
    node_id: int
    node_epoch: int


class LogListener(msgspec.Struct, frozen=True, kw_only=True):
    """Callbacks of the log, called on the loop; see `headrace.wal.port`."""

    on_confirmed: Callable[[int], None]
    on_failed: Callable[[WalError], None]
    on_room: Callable[[], None]


class LogLocation:
    """Where a node's log lies. Open until `close`."""

    def __init__(  # noqa: PLR0913 - what a composition root passes, by name
        self,
        config: WalConfig,
        *,
        rng: random.Random,
        wall_clock_ms: Callable[[], int],
        open_device: DeviceOpener,
        fence: DeviceFence,
        open_bucket: BucketOpener,
        monotonic_ns: Callable[[], int],
        wake_timer: WakeTimerFactory,
    ) -> None:
        self._config = config
        self._rng = rng
        self._wall_clock_ms = wall_clock_ms
        self._open_device = open_device
        self.fence = fence
        self._open_bucket = open_bucket
        self._monotonic_ns = monotonic_ns
        self._wake_timer = wake_timer
        self._store: ObjectStore | None = None  # None: a device or file
        self._held: BlockDevice | None = None
        self._is_taken = False
        self._registry: WalRegistry | None = None
        self.found: Superblock | None = None  # on the device, when it was opened
        self.lock_name = ""  # of the device, once it is held; see `headrace.wal.device.lock_names`

    async def open(self, environment: Mapping[str, str]) -> None:
        """Open the bucket, if it is one.

        Raises:
            ValueError: there are no credentials for it.
            ObjectStoreError: it cannot be created, reached or written to.
        """
        uri = self._config.path
        if "://" in uri:
            self._store = await self._open_bucket(
                uri, rng=self._rng, environment=environment, policy=WAL_POLICY
            )

    @property
    def is_bucket(self) -> bool:
        """Whether the log lies in a bucket; else on a device or in a file, with a lock."""
        return self._store is not None

    @property
    def address(self) -> LogAddress:
        """Where the log lies, as other brokers may reach it."""
        uri = self._config.path
        if self.is_bucket:
            return LogAddress(LogMedium.BUCKET, (uri,))
        path = Path(uri)
        medium = LogMedium.DEVICE if path.is_block_device() else LogMedium.FILE
        return LogAddress(medium, (str(path.absolute()),))

    @property
    def reach(self) -> tuple[LogReach, ...]:
        """Logs of other brokers that this one can drain."""
        return reach_below(self._config.reach)

    async def hold(self) -> None:
        """Open a device with its lock, and read whose log is on it. Of a log in a bucket nothing is taken.

        Raises:
            WalLockedError: another process has it open.
            WalError: it cannot be used, or holds something else.
            OSError: it cannot be read.
        """
        if self._store is None:
            self._held = self._open_device(self._config, True)  # noqa: FBT003 - a DeviceOpener
            self.lock_name = self._held.lock_name
            pool = BufferPool(idle_bytes_per_class=0)
            self.found = await load_superblock(self._held, pool, self._config)

    def claimed_cluster(self, cluster_id: str, node_id: int) -> str:
        """Return the cluster that a log on a device belongs to, or `cluster_id` if there is no log.

        Args:
            cluster_id: as configured; empty: any.
            node_id: of this node.

        Raises:
            WalIdentityError: it belongs to another cluster or node.
        """
        if self.found is None:
            return cluster_id
        expected = WalIdentity(cluster_id or self.found.cluster_id, node_id, self.found.node_epoch)
        check_identity(self.found, expected, self._config.path)
        return self.found.cluster_id

    async def take(self, node_id: int, node_epoch: int) -> None:
        """Keep others from writing to a device or file; a log in a bucket does that itself.

        Raises:
            WalFenceError: they may still write to it.
        """
        if not self.is_bucket:
            await self.fence.take(self._config.path, node_epoch, owner=node_id)
        self._is_taken = True

    @property
    def fenced_by(self) -> str:
        """What keeps others from writing to the log, for display."""
        return "objects in the bucket" if self.is_bucket else self.fence.description

    async def close(self) -> None:
        """Release what `open` and `hold` took, and no log has taken over."""
        if self._held is not None:
            await self._held.close()
        if self._store is not None:
            await self._store.close()

    def registry(self, client: MetadataClient) -> WalRegistry:
        """Make the registry that records the log in the metadata; `log` uses it."""
        self._registry = WalRegistry(
            client,
            self.address,
            reach=self.reach,
            accept_loss_generation=self._config.accept_loss_generation,
        )
        return self._registry

    def log(self, owner: LogOwner, listener: LogListener) -> NodeLog:
        """Make the log; it is not started."""
        registry = self._registry
        assert registry is not None
        if self._store is not None:
            return ObjectWal(
                self._config,
                WalBucket(self._store),
                node_id=owner.node_id,
                node_epoch=owner.node_epoch,
                cluster_id=owner.cluster_id,
                rng=self._rng,
                on_confirmed=listener.on_confirmed,
                on_failed=listener.on_failed,
                on_room=listener.on_room,
                registry=registry,
            )
        return DeltaWal(
            self._config,
            node_id=owner.node_id,
            node_epoch=owner.node_epoch,
            cluster_id=owner.cluster_id,
            rng=self._rng,
            wall_clock_ms=self._wall_clock_ms,
            on_confirmed=listener.on_confirmed,
            on_failed=listener.on_failed,
            on_room=listener.on_room,
            registry=registry,
            opener=self._hand_over,
            monotonic_ns=self._monotonic_ns,
            wake_timer=self._wake_timer,
        )

    def _hand_over(self, config: WalConfig, writable: bool) -> BlockDevice:  # noqa: FBT001 - a DeviceOpener
        del config, writable
        require(self._is_taken)  # what is read from now on is what others have left, for good
        held, self._held = self._held, None
        assert held is not None  # a log is started once, under the lock that this node names
        return held
