"""Delta WAL: the life cycle of the log on one device.

`start` opens and checks, `recover` scans, `reset` begins a new generation, which a `RingWriter` drives;
all on one event loop.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from enum import Enum

from headrace.config.node import WalConfig
from headrace.invariants import InvariantError
from headrace.wal.device.block_device import BlockDevice
from headrace.wal.device.buffers import BufferPool
from headrace.wal.device.device_size import DeviceSize
from headrace.wal.device.open_device import DeviceOpener, open_device
from headrace.wal.device.submissions import Submissions, WriteStatistics
from headrace.wal.errors import (
    WalError,
    WalFailedError,
    WalInUseError,
    WalLockedError,
    WalStateError,
)
from headrace.wal.layout import RING_POSITION, Ring, Superblock
from headrace.wal.port import Appended, Buffer, Medium, RecoveredRecord
from headrace.wal.registry import LogEnd, LogRegistry, NoRegistry
from headrace.wal.ring.generations import Generations
from headrace.wal.ring.recovery import ScanSummary
from headrace.wal.ring.resizer import Resizer, allocate
from headrace.wal.ring.ring_writer import RingWriter, WalClocks, WalListener
from headrace.wal.ring.scan import begin_scan, scan_ring
from headrace.wal.ring.superblock_store import (
    SuperblockStore,
    WalIdentity,
    check_identity,
    load_superblock,
)
from headrace.wal.ring.wake_timer import WakeTimerFactory, precise_timer

LOCK_ATTEMPTS = 20  # a second in all
LOCK_PAUSE_S = 0.05
_NO_REGISTRY = NoRegistry()
_IDLE_BYTES_PER_CLASS = 32 * 1024 * 1024


class _State(Enum):
    NEW = "not started"
    STARTED = "started, not recovered"
    RECOVERED = "recovered, not reset"
    RESETTING = "in a reset that has not ended, or failed"
    RUNNING = "running"
    CLOSED = "shut down"


def _ignore_room() -> None:
    """Do nothing: the callback of a caller that does not wait for room."""


def _check_owner(
    found: Superblock | None, owner: WalIdentity, registry: LogRegistry, path: str
) -> None:
    """Refuse the log of another owner, and a log that is not the one which the owner used last."""
    if found is not None:
        check_identity(found, owner, path)
    registry.require(path, None if found is None else found.node_epoch)


class DeltaWal:
    """A `WriteAheadLog` on a block device or file; see `headrace.wal.port` for its methods."""

    def __init__(  # noqa: PLR0913 - what a composition root passes, by name
        self,
        config: WalConfig,
        *,
        node_id: int,
        node_epoch: int,
        cluster_id: str,
        rng: random.Random,
        wall_clock_ms: Callable[[], int],
        on_confirmed: Callable[[int], None],
        on_failed: Callable[[WalError], None],
        on_room: Callable[[], None] = _ignore_room,
        opener: DeviceOpener = open_device,
        monotonic_ns: Callable[[], int] = time.perf_counter_ns,
        wake_timer: WakeTimerFactory = precise_timer,
        registry: LogRegistry = _NO_REGISTRY,
    ) -> None:
        """Nothing is opened before `start`.

        Args:
            config: the path of the ring and how it is written.
            node_id: owner of the log; another's log is refused.
            node_epoch: registration of the owner; the log of a newer one is refused.
            cluster_id: likewise.
            rng: source of generation ids.
            wall_clock_ms: for the informative time stamp of the superblock.
            on_confirmed: called with the offset below which everything is durable.
            on_failed: called once, when nothing will ever be confirmed again.
            on_room: called when a trim has become durable and its space is free.
            opener: how the device is opened.
            monotonic_ns: paces writes and measures them; finer than the loop's own clock.
            wake_timer: makes the timer that waits for the pace and the budgets.
            registry: knows which log this node used last.
        """
        self._config = config
        self._identity = WalIdentity(cluster_id, node_id, node_epoch)
        self._clocks = WalClocks(wall_clock_ms, monotonic_ns, wake_timer)
        self._listener = WalListener(on_confirmed, on_failed, on_room)
        self._opener = opener
        self._registry = registry
        self._pool = BufferPool(idle_bytes_per_class=_IDLE_BYTES_PER_CLASS)
        self._generations = Generations(config, self._identity, rng, self._clocks, self._pool)
        self._timeout_s = config.io_timeout_ms / 1000
        self._state = _State.NEW
        self._capacity_bytes = config.capacity_bytes  # of the next generation
        self._device: BlockDevice | None = None
        self._submissions: Submissions | None = None
        self._store: SuperblockStore | None = None
        self._found: Superblock | None = None  # what recovery reads by
        self._summary = ScanSummary()  # of the last `recover`
        self._writer: RingWriter | None = None
        self._size: DeviceSize | None = None
        self._resizer: Resizer | None = None

    @property
    def superblock(self) -> Superblock:
        """The newest superblock on the device; valid from `start`."""
        found = self._found if self._writer is None else self._writer.superblock
        if found is None:
            raise InvariantError("start first")
        return found

    @property
    def capacity_bytes(self) -> int:
        """Size of the ring; valid from `start`."""
        return self.superblock.ring.size_bytes

    @property
    def device_bytes(self) -> int:
        """Bytes of the device in use, superblocks included: what `resize` changes; valid from `start`."""
        return self.superblock.capacity_bytes

    @property
    def used_bytes(self) -> int:
        """Bytes between the durable trim offset and the next append."""
        return 0 if self._writer is None else self._writer.commit.used_bytes

    @property
    def next_offset(self) -> int:
        """Where the next append goes at the earliest."""
        writer = self._writer
        return self.superblock.confirmed_offset if writer is None else writer.commit.next_offset

    @property
    def confirmed_offset(self) -> int:
        """Everything below it is durable."""
        writer = self._writer
        return (self.superblock if writer is None else writer.commit).confirmed_offset

    @property
    def trim_offset(self) -> int:
        """Last offset that is released (inclusive); -1 when none is."""
        writer = self._writer
        return (self.superblock if writer is None else writer.commit).trim_offset

    @property
    def device(self) -> BlockDevice:
        """The device, for its properties; valid from `start` to `shutdown`."""
        assert self._device is not None
        return self._device

    @property
    def medium(self) -> Medium:
        """What makes writes durable; valid from `start` to `shutdown`."""
        return self.device.medium

    @property
    def statistics(self) -> WriteStatistics:
        """Counters of device writes since `start`."""
        assert self._submissions is not None
        return self._submissions.statistics

    @property
    def lost_bytes(self) -> int:
        """See `headrace.wal.port.DamageableLog`; 0 before `recover`."""
        return self._summary.lost_bytes

    async def start(self) -> None:
        """Open the device, check its owner, format it when it is blank.

        Raises:
            WalLockedError: another writer holds it, and does not let go of it within a second.
            WalIdentityError: it belongs to another node or cluster.
            WalDeviceError: it cannot be used as configured, or the log that this node used last is missing.
            WalCorruptError: it has no valid superblock.
            OSError: it cannot be read or written.
        """
        self._require(_State.NEW)
        Ring.of_capacity(self._config.capacity_bytes)  # refuses it before anything is changed
        self._device = device = await self._open()
        try:
            self._submissions = Submissions(
                device,
                timeout_ms=self._config.io_timeout_ms,
                monotonic_ns=self._clocks.monotonic_ns,
                on_failed=self._on_failed,
            )
            self._store = SuperblockStore(self._submissions, self._pool, timeout_s=self._timeout_s)
            found = await load_superblock(device, self._pool, self._config)
            _check_owner(found, self._identity, self._registry, device.path)
            self._capacity_bytes = allocate(device, self._config.capacity_bytes, found)
            self._found = found or await self._store.write_both(
                self._generations.first(self._capacity_bytes)
            )
        except BaseException:
            await self._release()
            raise
        self._state = _State.STARTED

    async def _open(self) -> BlockDevice:
        """Open the device for writing.

        The kernel keeps a file open, and so its lock, for a moment after the last write of an owner that is gone.
        """
        for _ in range(LOCK_ATTEMPTS - 1):
            try:
                return self._opener(self._config, True)  # noqa: FBT003 - a DeviceOpener
            except WalInUseError:
                raise  # it is mounted, or the like: that does not pass
            except WalLockedError:
                await asyncio.sleep(LOCK_PAUSE_S)
                self._require(_State.NEW)  # it may have been shut down
        return self._opener(self._config, True)  # noqa: FBT003

    async def recover(self) -> AsyncGenerator[RecoveredRecord, None]:
        """Yield the surviving records; see `headrace.wal.port`. Changes nothing, so it may be repeated.

        Raises:
            WalCorruptError: a record that was confirmed cannot be read.
            WalOutdatedError: at its end: the log is an old copy.
            OSError: the device cannot be read.
        """
        self._require(_State.STARTED, _State.RECOVERED)
        self._state = _State.STARTED
        scan = begin_scan(self.superblock, self._config)
        self._summary = scan.summary
        walk = scan_ring(self.device, scan, self._pool, timeout_s=self._timeout_s)
        async with aclosing(walk) as records:
            async for record in records:
                yield record
        # All that an old copy holds is in the bucket: until here, nothing was made of it.
        self._registry.require_end(
            self.device.path,
            LogEnd(
                self.superblock.node_epoch, self.superblock.generation_id, scan.summary.known_offset
            ),
        )
        self._state = _State.RECOVERED

    async def reset(self) -> None:
        """Begin a new generation with an empty ring of the configured capacity; offsets continue to grow.

        Raises:
            OSError: the device failed; it holds the old generation or the new one.

        Cancellation: the same.
        """
        self._require(_State.RECOVERED)
        self._state = _State.RESETTING  # also after a failure: a hanging write may take effect
        assert self._store is not None
        fresh = self._generations.after(self.superblock, self._capacity_bytes)
        self._found = await self._store.write_both(fresh)
        self._size = DeviceSize(self.device)
        self._begin_generation(self._found)
        self._resizer = Resizer(
            self.device,
            store=self._store,
            generations=self._generations,
            size=self._size,
            writer=lambda: self._writer,
            begin_generation=self._resized,
        )
        self._state = _State.RUNNING
        self._size.shrink(self._capacity_bytes)
        await self._registry.begun(self._found.generation_id)

    async def prepare_resize(self, capacity_bytes: int) -> None:
        """See `headrace.wal.port.ResizableLog`."""
        await self._running_resizer().prepare(capacity_bytes)

    def begin_resize(self) -> None:
        """See `headrace.wal.port.ResizableLog`."""
        self._running_resizer().begin()

    async def resize(self, capacity_bytes: int) -> None:
        """See `headrace.wal.port.ResizableLog`."""
        await self._running_resizer().run(capacity_bytes)

    async def finish_resize(self) -> None:
        """See `headrace.wal.port.ResizableLog`."""
        await self._running_resizer().finish()

    def cancel_resize(self) -> None:
        """See `headrace.wal.port.ResizableLog`."""
        if self._state is _State.RUNNING:
            self._running_resizer().cancel()

    def room_for(self, body_bytes: int) -> bool:
        """Whether a record with this body can be appended now."""
        return self._writer is not None and self._writer.commit.room_for(body_bytes)

    def append(self, header: Buffer, payload: Buffer) -> Appended:
        """Copy a record into the current block; see `headrace.wal.port`."""
        if (writer := self._writer) is None:
            raise self._not_running()
        return writer.append(header, payload)

    def trim(self, offset: int) -> None:
        """Release everything up to and including `offset`; see `headrace.wal.port`.

        Raises:
            ValueError: `offset` is not confirmed.
            WalFailedError: the log has failed or is shut down.
        """
        if self._writer is None or self._state is _State.CLOSED:
            raise self._not_running()
        self._writer.trim(offset)

    async def shutdown(self) -> None:
        """Make every append durable, record that in the superblock, release the device.

        Raises:
            WalFailedError: the log failed before or meanwhile; the device is released nevertheless.
        """
        was_running = self._state is _State.RUNNING
        self._state = _State.CLOSED
        try:
            if was_running and self._resizer is not None and self._writer is not None:
                await self._resizer.end()
                await self._writer.drain()
                if not self._writer.commit.used_bytes:
                    await self._registry.emptied()
        finally:
            await self._release()

    async def _release(self) -> None:
        if self._writer is not None:
            self._writer.stop()
        if self._submissions is not None:
            self._submissions.stop()
        if self._size is not None and not await self._size.settled():
            return  # a thread hangs in the kernel: the descriptor must stay until the process ends
        if self._device is not None:
            device, self._device = self._device, None
            await device.close()

    def _on_failed(self, error: Exception) -> None:
        if self._writer is not None:
            self._writer.fail(error)

    def _begin_generation(self, superblock: Superblock) -> RingWriter:
        """Continue with a generation whose superblock is durable."""
        assert self._store is not None
        assert self._submissions is not None
        self._writer = RingWriter(
            superblock,
            self._generations.group_commit(superblock),
            path=self.device.path,
            submissions=self._submissions,
            store=self._store,
            listener=self._listener,
            clocks=self._clocks,
        )
        self._writer.zero_ahead(self.device.unwritten(RING_POSITION, superblock.capacity_bytes))
        return self._writer

    def _resized(self, superblock: Superblock) -> None:
        self._begin_generation(superblock)
        self._listener.on_room()

    def _running_resizer(self) -> Resizer:
        self._require(_State.RUNNING)
        assert self._resizer is not None
        return self._resizer

    def _require(self, *states: _State) -> None:
        if self._state not in states:
            raise self._not_running()

    def _not_running(self) -> WalError:
        message = f"the WAL {self._config.path} is {self._state.value}"
        return (WalFailedError if self._state is _State.CLOSED else WalStateError)(message)
