"""The write-ahead log of a node: on a device or in a bucket, depending on its configuration."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from headrace.broker.adapters.wal_bucket import WalBucket
from headrace.config.node import WalConfig
from headrace.storage.object_store.factory import ensure_bucket, open_object_store
from headrace.storage.ports import ObjectStore
from headrace.wal.errors import WalError
from headrace.wal.layout import Superblock
from headrace.wal.log import DeltaWal
from headrace.wal.objects.log import ObjectWal
from headrace.wal.open_device import DeviceOpener
from headrace.wal.port import Medium, WriteAheadLog
from headrace.wal.registry import LogRegistry
from headrace.wal.submissions import WriteStatistics
from headrace.wal.superblock_store import WalIdentity, check_identity
from headrace.wal.tools.inspection import OfflineDevice


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


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOwner:
    """The owner of the log."""

    cluster_id: str
    node_id: int
    node_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogListener:
    """Callbacks of the log, called on the loop; see `headrace.wal.port`."""

    on_confirmed: Callable[[int], None]
    on_failed: Callable[[WalError], None]
    on_room: Callable[[], None]


class LogLocation:
    """Where a node's log lies. Open until `close`."""

    def __init__(
        self,
        config: WalConfig,
        *,
        rng: random.Random,
        wall_clock_ms: Callable[[], int],
        open_device: DeviceOpener,
    ) -> None:
        self._config = config
        self._rng = rng
        self._wall_clock_ms = wall_clock_ms
        self._open_device = open_device
        self._store: ObjectStore | None = None  # None: a device or file

    async def open(self, environment: Mapping[str, str]) -> None:
        """Open the bucket, if it is one.

        Raises:
            ValueError: there are no credentials for it.
            ObjectStoreError: it cannot be created or reached.
        """
        uri = self._config.path
        if "://" in uri:
            await ensure_bucket(uri, environment=environment)
            self._store = open_object_store(uri, rng=self._rng, environment=environment)

    def claimed_cluster(self, cluster_id: str, node_id: int) -> str:
        """Return the cluster that a log on a device belongs to, or `cluster_id` if the log does not name one.

        To be called before this node registers, because registration fences a running process with the same node
        id: the wrong log must not do that. If the log cannot be read, its start reports the error.

        Args:
            cluster_id: as configured; empty: any.
            node_id: of this node.

        Raises:
            WalIdentityError: it belongs to another cluster or node.
        """
        superblock = None if self._store is not None else _superblock(self._config.path)
        if superblock is None:
            return cluster_id
        expected = WalIdentity(cluster_id or superblock.cluster_id, node_id, superblock.node_epoch)
        check_identity(superblock, expected, self._config.path)
        return superblock.cluster_id

    async def close(self) -> None:
        """Release what `open` took."""
        if self._store is not None:
            await self._store.close()

    def log(self, owner: LogOwner, listener: LogListener, registry: LogRegistry) -> NodeLog:
        """Make the log; it is not started."""
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
            opener=self._open_device,
        )


def _superblock(path: str) -> Superblock | None:
    try:
        with OfflineDevice.open(path) as device:
            return device.content().superblock
    except (WalError, OSError):
        return None
