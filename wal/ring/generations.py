"""Makes the generations of a log: the superblock at the beginning of each, and the group commit on it."""

import random

from headrace.config.node import WalConfig
from headrace.invariants import require
from headrace.wal.device.buffers import BufferPool
from headrace.wal.device.kernel_queue import max_write_bytes
from headrace.wal.layout import Ring, ShutdownType, Superblock, align_up
from headrace.wal.ring.budget import MAX_IO_BYTES, IoBudget
from headrace.wal.ring.group_commit import CommitLimits, GroupCommit
from headrace.wal.ring.ring_writer import WalClocks
from headrace.wal.ring.superblock_store import WalIdentity

_WRITES_BESIDE_BLOCKS = 2  # a superblock and a step of zeroing


class Generations:
    """The rules are those of a configuration; the capacity is what `resize` may change."""

    def __init__(
        self,
        config: WalConfig,
        identity: WalIdentity,
        rng: random.Random,
        clocks: WalClocks,
        pool: BufferPool,
    ) -> None:
        """Nothing is made yet; `rng` gives the generation ids."""
        self._config = config
        self._identity = identity
        self._rng = rng
        self._clocks = clocks
        self._pool = pool
        self._budget: IoBudget | None = None

    def first(self, capacity_bytes: int) -> Superblock:
        """Return the superblock of a device that was blank."""
        return self._begin(
            capacity_bytes, sequence=1, start_offset=0, shutdown=ShutdownType.GRACEFUL
        )

    def after(self, old: Superblock, capacity_bytes: int) -> Superblock:
        """Return the superblock of the generation after one whose ring is no longer needed.

        Its offsets begin beyond any that the old generation can have given out, even under a newer
        superblock that was lost, and where a lap of the new ring begins.
        """
        start_offset = old.head_offset + 2 * old.ring.size_bytes
        lap_bytes = Ring.of_capacity(capacity_bytes).size_bytes
        fresh = self._begin(
            capacity_bytes,
            sequence=old.sequence + 1,
            start_offset=-(-start_offset // lap_bytes) * lap_bytes,
            shutdown=ShutdownType.UNGRACEFUL,
        )
        require(fresh.generation_id != old.generation_id)
        return fresh

    def group_commit(self, superblock: Superblock) -> GroupCommit:
        """Return the group commit of a generation that begins with `superblock`."""
        config = self._config
        limits = CommitLimits(
            block_bytes=align_up(config.block_bytes),
            io_depth=config.io_depth,
            window_step_bytes=config.window_bytes_initial,
            max_window_bytes=config.max_window_bytes,
            max_record_bytes=config.max_record_bytes,
        )
        if self._budget is None:
            # One for all generations: what one generation has spent counts for the next, too.
            self._budget = IoBudget(
                max_iops=config.max_iops,
                max_bandwidth_bytes=config.max_bandwidth_bytes,
                now_ns=self._clocks.monotonic_ns(),
                max_io_bytes=min(max_write_bytes(config.path) or MAX_IO_BYTES, MAX_IO_BYTES),
                max_inflight=config.io_depth + _WRITES_BESIDE_BLOCKS,
            )
        return GroupCommit(superblock, limits, take_buffer=self._pool.take, budget=self._budget)

    def _begin(
        self, capacity_bytes: int, *, sequence: int, start_offset: int, shutdown: ShutdownType
    ) -> Superblock:
        ring = Ring.of_capacity(capacity_bytes)
        return Superblock(
            sequence=sequence,
            generation_id=self._rng.getrandbits(64),
            capacity_bytes=capacity_bytes,
            trim_offset=start_offset - 1,
            head_offset=start_offset,
            confirmed_offset=start_offset,
            window_bytes=min(self._config.window_bytes_initial, ring.size_bytes),
            shutdown=shutdown,
            node_id=self._identity.node_id,
            node_epoch=self._identity.node_epoch,
            cluster_id=self._identity.cluster_id,
            last_write_ms=self._clocks.wall_ms(),
        )
