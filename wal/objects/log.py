"""Object WAL: the life cycle of a node's log in a bucket.

`start` checks the bucket and the log's owner, `recover` walks and fences, `reset` takes the numbers
that an older generation may still use and begins a new one, which an `ObjectWriter` drives.
"""

import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from enum import Enum

from headrace.config.node import WalConfig
from headrace.wal.device.buffers import BufferPool
from headrace.wal.device.submissions import WriteStatistics
from headrace.wal.errors import WalError, WalFailedError, WalStateError
from headrace.wal.objects.commit import CommitLimits, Generation, ObjectCommit
from headrace.wal.objects.fencing import Owner
from headrace.wal.objects.layout import MAX_CLUSTER_ID_BYTES, REACH, LogKeys
from headrace.wal.objects.port import LogBucket
from headrace.wal.objects.requests import Requests
from headrace.wal.objects.takeover import Takeover
from headrace.wal.objects.walk import WalkSummary
from headrace.wal.objects.writer import ObjectWriter
from headrace.wal.port import Appended, Buffer, Medium, RecoveredRecord
from headrace.wal.registry import LogEnd, LogRegistry, NoRegistry

LINGER_S = 0.010
_NO_REGISTRY = NoRegistry()
_IDLE_BYTES_PER_CLASS = 32 * 1024 * 1024


class _State(Enum):
    NEW = "not started"
    STARTED = "started, not recovered"
    RECOVERED = "recovered, not reset"
    RUNNING = "running"
    CLOSED = "shut down"


def _ignore_room() -> None:
    """Do nothing: the callback of a caller that does not wait for room."""


class ObjectWal:
    """A `WriteAheadLog` in a bucket; see `headrace.wal.port` for its methods."""

    def __init__(  # noqa: PLR0913 - what a composition root passes, by name
        self,
        config: WalConfig,
        bucket: LogBucket,
        *,
        node_id: int,
        node_epoch: int,
        cluster_id: str,
        rng: random.Random,
        on_confirmed: Callable[[int], None],
        on_failed: Callable[[WalError], None],
        on_room: Callable[[], None] = _ignore_room,
        registry: LogRegistry = _NO_REGISTRY,
    ) -> None:
        """No request is sent to the bucket before `start`.

        Args:
            config: bounds and pace.
            bucket: that holds the objects; belongs to the caller.
            node_id: owner of the log.
            node_epoch: registration of the owner; it takes the log over from every older one.
            cluster_id: part of every key.
            rng: source of the generation id, and of the jitter of retries.
            on_confirmed: called with the offset below which everything is durable.
            on_failed: called once, when nothing will ever be confirmed again.
            on_room: called when there is room again.
            registry: knows which log this node used last.

        Raises:
            ValueError: the cluster id is too long.
        """
        if len(cluster_id.encode()) > MAX_CLUSTER_ID_BYTES:
            raise ValueError(
                f"cluster id {cluster_id!r} has more than {MAX_CLUSTER_ID_BYTES} bytes"
            )
        self._config = config
        self._keys = LogKeys(cluster_id, node_id)
        self._owner = Owner(node_epoch, rng.getrandbits(64))
        self._on_confirmed = on_confirmed
        self._on_failed = on_failed
        self._on_room = on_room
        self._registry = registry
        self._timeout_s = config.io_timeout_ms / 1000
        self.statistics = WriteStatistics()
        self._requests = Requests(
            bucket,
            statistics=self.statistics,
            log_name=self._keys.folder,
            rng=rng,
            timeout_s=self._timeout_s,
        )
        self._pool = BufferPool(idle_bytes_per_class=_IDLE_BYTES_PER_CLASS)
        self._state = _State.NEW
        self._takeover = Takeover(
            self._requests,
            self._keys,
            self._owner,
            accept_loss_generation=config.accept_loss_generation,
        )
        self._writer: ObjectWriter | None = None

    @property
    def medium(self) -> Medium:
        """What makes writes durable."""
        return Medium.OBJECTS

    @property
    def capacity_bytes(self) -> int:
        """Most that is kept unreleased."""
        return self._config.capacity_bytes

    @property
    def used_bytes(self) -> int:
        """Bytes between the durable trim offset and the next append."""
        return 0 if self._writer is None else self._writer.commit.used_bytes

    @property
    def next_offset(self) -> int:
        """Where the next append goes at the earliest."""
        return (
            self._takeover.claims.end_offset
            if self._writer is None
            else self._writer.commit.next_offset
        )

    @property
    def confirmed_offset(self) -> int:
        """Everything below it is durable."""
        if self._writer is None:
            return self._takeover.claims.end_offset
        return self._writer.commit.confirmed_offset

    @property
    def trim_offset(self) -> int:
        """Last offset that is released (inclusive); -1 when none is."""
        return (
            self._takeover.claims.trim_offset
            if self._writer is None
            else self._writer.commit.trim_offset
        )

    @property
    def recovery_summary(self) -> WalkSummary:
        """What `recover` found; valid once it has begun."""
        return self._takeover.walk.summary

    async def start(self) -> None:
        """Check that the bucket never replaces an object, and that the log in it is this node's.

        Raises:
            WalIdentityError: a newer registration of this node has used the log.
            WalMissingError: the log that this node used last is missing.
            WalOutdatedError: its newest objects are missing.
            WalDeviceError: the bucket replaces objects, refuses the requests, or does not answer.
        """
        self._require(_State.NEW)
        await self._takeover.prepare()
        newest_epoch, claims = self._takeover.newest_epoch, self._takeover.claims
        self._registry.require(self._config.path, newest_epoch)
        if newest_epoch is not None and claims.newest is not None:
            # Before the walk, whose fences would take the numbers of the missing objects.
            end = LogEnd(newest_epoch, claims.newest.generation_id, claims.end_offset)
            self._registry.require_end(self._config.path, end)
        self._state = _State.STARTED

    async def recover(self) -> AsyncGenerator[RecoveredRecord, None]:
        """Yield the surviving records, and fence older generations off; see `headrace.wal.port`. May be repeated.

        Raises:
            WalObjectCorruptError: a confirmed object cannot be read.
            WalFencedError: a newer generation takes the log over.
            WalDeviceError: the bucket does not answer.
        """
        self._require(_State.STARTED, _State.RECOVERED)
        self._state = _State.STARTED
        async with aclosing(self._takeover.recover()) as records:
            async for record in records:
                yield record
        self._state = _State.RECOVERED

    async def reset(self) -> None:
        """Take every number that an older generation may still use, and begin a new one behind them.

        Raises:
            WalFencedError: a newer generation takes the log over.
            WalDeviceError: the bucket does not answer.
        """
        self._require(_State.RECOVERED)
        takeover = self._takeover
        first_number = await takeover.take_window()
        generation = Generation(
            cluster_id=self._keys.cluster_id,
            node_id=self._keys.node_id,
            node_epoch=self._owner.node_epoch,
            generation_id=self._owner.generation_id,
            first_number=first_number,
            start_offset=takeover.claims.next_start_offset,
            capacity_bytes=self._config.capacity_bytes,
        )
        commit = ObjectCommit(generation, self._limits(), take_buffer=self._pool.take)
        writer = ObjectWriter(
            commit,
            keys=self._keys,
            requests=self._requests,
            statistics=self.statistics,
            on_confirmed=self._on_confirmed,
            on_failed=self._on_failed,
            on_room=self._on_room,
        )
        self._writer = writer
        self._state = _State.RUNNING
        await writer.begin(takeover.walk.unneeded)
        await self._registry.begun(self._owner.generation_id)

    def room_for(self, body_bytes: int) -> bool:
        """Whether a record with this body can be appended now."""
        return self._writer is not None and self._writer.commit.room_for(body_bytes)

    def append(self, header: Buffer, payload: Buffer) -> Appended:
        """Copy a record into the current batch; see `headrace.wal.port`."""
        if self._writer is None:
            raise self._not_running()
        return self._writer.append(header, payload)

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
        """Make every append durable, and record what is released.

        Raises:
            WalFailedError: the log failed before or meanwhile, or the bucket did not answer in time.
        """
        running, self._state = self._state is _State.RUNNING, _State.CLOSED
        if self._writer is not None:
            try:
                if running:
                    await self._writer.drain(self._timeout_s)
                    if not self._writer.commit.used_bytes:
                        await self._registry.emptied()
            finally:
                await self._writer.close()

    def _limits(self) -> CommitLimits:
        config = self._config
        return CommitLimits(
            batch_bytes=config.batch_bytes,
            batch_interval_s=config.batch_interval_ms / 1000,
            linger_s=min(LINGER_S, config.batch_interval_ms / 1000),
            max_inflight=min(config.io_depth, REACH),
            max_unconfirmed_bytes=config.max_window_bytes,
            max_record_bytes=config.max_record_bytes,
            buffer_bytes=config.block_bytes,
        )

    def _require(self, *states: _State) -> None:
        if self._state not in states:
            raise self._not_running()

    def _not_running(self) -> WalError:
        message = f"the WAL {self._keys.folder} is {self._state.value}"
        return (WalFailedError if self._state is _State.CLOSED else WalStateError)(message)
