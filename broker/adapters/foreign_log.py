"""The log of another broker whose epoch has ended, as it is read to be drained.

On a device or in a file nothing is written, and no lock is taken: the owner may hang. A device fence keeps it from
writing there any more, if one is configured (`headrace.wal.fence`). In a bucket only fences of the
drain's epoch are created: one at the log's end, and another one ahead of an owner that still writes. From then on the
owner can confirm nothing.
"""

import asyncio
import errno
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from headrace.broker.adapters.wal_bucket import WAL_POLICY, WalBucket
from headrace.config.node import WalConfig
from headrace.daemon_threads import OneThreadEach, StillRunningError
from headrace.metadata.images.logs import LogImage
from headrace.metadata.records.logs import LogMedium
from headrace.storage.drain import DrainSource
from headrace.storage.object_store.factory import BucketOpener
from headrace.storage.ports import ObjectStore
from headrace.wal.device.open_device import DeviceOpener
from headrace.wal.device.submissions import WriteStatistics
from headrace.wal.errors import WalDeviceError, WalIdentityError
from headrace.wal.fence.port import DeviceFence
from headrace.wal.objects.fencing import Owner
from headrace.wal.objects.layout import LogKeys
from headrace.wal.objects.requests import Requests
from headrace.wal.objects.takeover import Takeover
from headrace.wal.port import RecoveredRecord
from headrace.wal.ring.reader import WalReader


class ForeignLog(DrainSource, Protocol):
    """A source that is open until `close`.

    `recover` raises WalCorruptError, WalDeviceError, WalChangedError or OSError where records cannot be read; those
    that it has yielded so far are valid.
    """

    @property
    def position(self) -> int:
        """Offset behind the last record; valid once `recover` has ended."""
        ...

    @property
    def lost_bytes(self) -> int:
        """See `headrace.wal.port.DamageableLog`."""
        ...

    async def close(self) -> None:
        """Release the device or the bucket."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignLogs:
    """Opens logs of other brokers of the same cluster."""

    config: WalConfig  # of this broker: how a device is read, and how long a request may take
    cluster_id: str
    rng: random.Random
    look: Callable[[Path], object]  # in a thread: a path that another machine serves may hang
    open_device: DeviceOpener
    fence: DeviceFence
    open_bucket: BucketOpener
    variables: Mapping[str, str]
    _looks: OneThreadEach = field(default_factory=lambda: OneThreadEach("wal-look"))
    _attempts: dict[str, "LogOnDevice"] = field(default_factory=dict)  # newest, by place

    async def open(self, log: LogImage, place: str) -> ForeignLog:
        """Open a log that is being drained, at one of its locations.

        Raises:
            WalError, ObjectStoreError, ValueError, OSError: it cannot be opened, or is another one.
        """
        config = replace(self.config, path=place, accept_loss_generation="")
        if log.medium == LogMedium.BUCKET:
            store = await self.open_bucket(
                place, rng=self.rng, environment=self.variables, policy=WAL_POLICY
            )
            return await self._opened(LogOfObjects(self, log, config, store))
        return await self._opened(LogOnDevice(self, log, config))

    async def wait_for(self, place: str, attempt: "LogOnDevice") -> None:
        """Begin an attempt to read a device, and return once that answers.

        One attempt at a time, so that a device that hangs keeps the threads and the memory of one.

        Raises:
            WalDeviceError: a call of an earlier attempt at this path has not returned.
            OSError: an earlier attempt is about to end; or the path does not answer within the time of one read.
        """
        earlier = self._attempts.get(place)
        if earlier is not None and not earlier.is_closed:
            raise OSError(errno.EBUSY, "an earlier attempt to read it has not ended yet", place)
        if earlier is not None and earlier.hangs:
            raise WalDeviceError(f"{place} hangs: an earlier read of this broker has not come back")
        try:
            looking = self._looks.begin(place, partial(self.look, Path(place)))
        except StillRunningError as error:
            msg = f"{place} hangs: an earlier look of this broker has not come back"
            raise WalDeviceError(msg) from error
        self._attempts[place] = attempt
        async with asyncio.timeout(self.config.io_timeout_ms / 1000):
            await looking

    async def _opened(self, found: "LogOnDevice | LogOfObjects") -> ForeignLog:
        try:
            await found.start()
        except BaseException:
            await found.close()
            raise
        return found


class LogOnDevice:
    """A `ForeignLog` on a device or in a file that several brokers reach."""

    def __init__(self, logs: ForeignLogs, log: LogImage, config: WalConfig) -> None:
        self._log = log
        self._cluster_id = logs.cluster_id
        self._place = config.path
        self._logs = logs
        self._reader = WalReader(config, opener=logs.open_device)
        self.is_closed = False

    async def start(self) -> None:
        """Open it, check whose log it holds, and take it away from its owner."""
        await self._logs.wait_for(self._place, self)
        await self._reader.start()
        self._check()  # first: a path may name another device on this machine
        assert self._log.drain is not None
        await self._logs.fence.take(self._place, self._log.drain.epoch, owner=self._log.owner)
        await self._reader.reload()
        self._check()
        if self._log.damage_accepted:
            # The operator named the generation that the metadata know; a resize may have begun another one since.
            self._reader.accept_damage()

    def _check(self) -> None:
        found = self._reader.superblock
        if (found.cluster_id, found.node_id) != (self._cluster_id, self._log.owner):
            raise WalIdentityError(
                f"{self._place} holds the WAL of node {found.node_id} of cluster {found.cluster_id!r}, "
                f"not that of node {self._log.owner} of this cluster"
            )
        _require_newest(self._log, self._place, found.node_epoch)

    async def recover(self) -> AsyncGenerator[RecoveredRecord, None]:
        """See `ForeignLog`."""
        async with aclosing(self._reader.recover()) as records:
            async for record in records:
                yield record
        found = self._reader.superblock
        _require_whole(self._log, self._place, found.node_epoch, self.position)

    @property
    def position(self) -> int:
        """See `ForeignLog`."""
        return self._reader.summary.known_offset

    @property
    def lost_bytes(self) -> int:
        """See `ForeignLog`."""
        return self._reader.summary.lost_bytes

    @property
    def hangs(self) -> bool:
        """Whether a read has not come back although this was closed."""
        return self._reader.hangs

    async def close(self) -> None:
        """See `ForeignLog`."""
        try:
            await self._reader.close()
        finally:
            self.is_closed = True


class LogOfObjects:
    """A `ForeignLog` in a bucket."""

    def __init__(
        self, logs: ForeignLogs, log: LogImage, config: WalConfig, store: ObjectStore
    ) -> None:
        self._log = log
        self._place = config.path
        self._store = store
        assert log.drain is not None
        keys = LogKeys(logs.cluster_id, log.owner)
        self._takeover = Takeover(
            Requests(
                WalBucket(store),
                statistics=WriteStatistics(),
                log_name=keys.folder,
                rng=logs.rng,
                timeout_s=config.io_timeout_ms / 1000,
            ),
            keys,
            Owner(log.drain.epoch, logs.rng.getrandbits(64)),
            accept_loss_generation="",
        )

    async def start(self) -> None:
        """List it, and check that it is the newest."""
        if self._log.damage_accepted:
            self._takeover.accept_damage()  # whatever generation, as a drain before this one may have left its fence
        await self._takeover.prepare()
        epoch = self._takeover.newest_epoch
        _require_newest(self._log, self._place, epoch)
        # Before the walk, whose fence would take the number of a missing object.
        _require_whole(self._log, self._place, epoch, self.position)

    async def recover(self) -> AsyncGenerator[RecoveredRecord, None]:
        """See `ForeignLog`."""
        async with aclosing(self._takeover.recover()) as records:
            async for record in records:
                yield record

    @property
    def position(self) -> int:
        """See `ForeignLog`."""
        return self._takeover.claims.end_offset

    @property
    def lost_bytes(self) -> int:
        """Nothing is known of the sizes of lost objects: 1 stands for some."""
        return int(bool(self._takeover.walk.summary.lost))

    async def close(self) -> None:
        """See `ForeignLog`."""
        await self._store.close()


def _require_newest(log: LogImage, place: str, found_epoch: int | None) -> None:
    """Refuse a log that an older registration of its owner has left.

    A newer one has died before it acknowledged anything; all that was acknowledged before it is committed.
    """
    if found_epoch is None:
        raise WalDeviceError(f"there is no WAL of node {log.owner} at {place}")
    if found_epoch < log.epoch:
        raise WalDeviceError(
            f"the WAL at {place} is of node epoch {found_epoch}, but node {log.owner} has used another one "
            f"since, at node epoch {log.epoch}"
        )
    if log.drain is not None and found_epoch > log.drain.epoch:
        # Before a fence is asked for: the drain has ended, and this broker does not know it yet.
        raise WalIdentityError(
            f"the WAL at {place} was used by node epoch {found_epoch}, newer than this drain at {log.drain.epoch}"
        )


def _require_whole(log: LogImage, place: str, found_epoch: int | None, end_offset: int) -> None:
    """Refuse an old copy: a log reaches at least as far as its owner has uploaded from it."""
    if log.damage_accepted or found_epoch != log.epoch or end_offset >= log.uploaded_offset:
        return
    raise WalDeviceError(
        f"the WAL at {place} is an old copy: it ends at offset {end_offset}, and its owner has uploaded "
        f"records from it up to offset {log.uploaded_offset}"
    )
