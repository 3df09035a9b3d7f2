"""Drives one generation of the ring: performs what the cores decide, from `reset` to the end.

Every rule is in `headrace.wal.ring.group_commit` and `headrace.wal.ring.superblock_updates`; here blocks
and superblocks are submitted, completions fed back, confirmations passed on. A failure is final: after an error nothing
is written or confirmed.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from headrace.invariants import require
from headrace.wal.device.latencies import OpenBlocks, WriteQueue
from headrace.wal.device.submissions import Submissions
from headrace.wal.errors import WalError, WalFailedError, WalOverCapacityError, WalStateError
from headrace.wal.framing import BLOCK_HEADER_BYTES
from headrace.wal.layout import PAGE_BYTES, Ring, ShutdownType, Superblock
from headrace.wal.port import Appended, Buffer
from headrace.wal.ring.block import Block
from headrace.wal.ring.group_commit import GroupCommit
from headrace.wal.ring.superblock_store import SuperblockStore
from headrace.wal.ring.superblock_updates import SuperblockUpdates
from headrace.wal.ring.wake_timer import WakeTimerFactory
from headrace.wal.ring.zeroing import Zeroing

DRAIN_TIMEOUT_S = 30.0  # of a shutdown
# How long an idle log may wait to record on the device what was confirmed last.
_REFRESH_DELAY_S = 1.0

_logger = logging.getLogger("headrace.wal")


@dataclass(frozen=True, slots=True)
class WalListener:
    """Callbacks, called on the loop."""

    on_confirmed: Callable[[int], None]  # everything below this offset is durable
    on_failed: Callable[[WalError], None]  # once: nothing will be confirmed any more
    on_room: Callable[[], None]  # space has become free


@dataclass(frozen=True, slots=True)
class WalClocks:
    """The clocks of the driver."""

    wall_ms: Callable[[], int]
    monotonic_ns: Callable[[], int]  # finer than the loop's, which may tick in milliseconds
    wake_timer: WakeTimerFactory  # likewise


async def _in_time(settled: Awaitable[None], timeout_s: float, path: str) -> None:
    """Wait until a log that is shut down has settled.

    Raises:
        WalFailedError: it failed, or has not settled; as each write has a time-out, a budget holds some back.
    """
    try:
        async with asyncio.timeout(timeout_s):
            await settled
    except TimeoutError as error:
        msg = (
            f"the WAL {path} was shut down with appends or trims that are not durable after {timeout_s:g} s: iops or "
            f"iobandwidth of s3.wal.path hold them back; the next start recovers what was acknowledged"
        )
        raise WalFailedError(msg) from error


class RingWriter:
    """Appends, confirms and trims, beginning with a superblock of an empty ring."""

    def __init__(
        self,
        superblock: Superblock,
        commit: GroupCommit,
        *,
        path: str,
        submissions: Submissions,
        store: SuperblockStore,
        listener: WalListener,
        clocks: WalClocks,
    ) -> None:
        self._path = path
        self._ring: Ring = superblock.ring
        self.commit = commit
        self._updates = SuperblockUpdates(superblock)
        self._submissions = submissions
        self._store = store
        self._listener = listener
        self._clocks = clocks
        self._loop = asyncio.get_running_loop()
        self._call_soon = self._loop.call_soon
        self._wake_timer = clocks.wake_timer(self._wake)
        self._wake_at_ns: int | None = None
        self._refresh_timer: asyncio.TimerHandle | None = None
        self._open_blocks = OpenBlocks(submissions.statistics.appends)
        submissions.statistics.queue = self._queue
        self._flush_due = False
        self._quiet: asyncio.Future[None] | None = None
        self._zeroing: Zeroing | None = None
        self.is_parked = False
        self._is_retired = False
        self.failure: WalError | None = None

    @property
    def superblock(self) -> Superblock:
        """The newest durable superblock."""
        return self._updates.durable

    def append(self, header: Buffer, payload: Buffer) -> Appended:
        """Copy a record into the current block; see `headrace.wal.port`."""
        commit = self.commit
        blocks = self._open_blocks
        pending = len(commit.pending)
        appended = commit.append(header, payload)
        blocks.appends_total += 1
        if appended.offset % PAGE_BYTES == BLOCK_HEADER_BYTES:  # the first of a block
            blocks.begin(appended.offset, self._clocks.monotonic_ns())
        if len(commit.pending) > pending:
            self._pump()  # a whole block: the device need not wait for the end of the loop's turn
        elif not commit.inflight or self._wake_at_ns is None:
            self._pump_soon()
        # Otherwise it goes when the timer fires, or a write completes.
        return appended

    def trim(self, offset: int) -> None:
        """Release records; see `headrace.wal.port`.

        Raises:
            ValueError: `offset` is not confirmed.
            WalFailedError: the log has failed.
        """
        if self.failure is not None:
            raise self.failure
        head_offset = self.commit.trim(offset)
        if head_offset is not None:
            self._updates.want_trim(trim_offset=offset, head_offset=head_offset)
            self._pump()

    def zero_ahead(self, unwritten: Sequence[tuple[int, int]]) -> None:
        """Zero the ranges that were never written, as [begin, end) positions in order, in the background."""
        self._zeroing = Zeroing(
            self.commit,
            self._submissions,
            ring=self._ring,
            start_offset=self.superblock.head_offset,
            unwritten=unwritten,
            monotonic_ns=self._clocks.monotonic_ns,
            on_step=self._on_zeroed,
        )
        self._zeroing.start()

    async def drain(self, timeout_s: float = DRAIN_TIMEOUT_S) -> None:
        """Refuse appends, wait until what was appended and trimmed is durable, write the last superblock.

        The shutdown counts as graceful only if everything was released: records that are left in the
        ring must be found again. Both superblocks are written, so that damage to one cannot bring an
        older state back.

        Raises:
            WalFailedError: the log failed, before or meanwhile, or a budget holds writes back for too long.
        """
        commit = self.commit
        self.is_parked = False
        commit.refuse(WalFailedError(f"the WAL {self._path} is shut down"))
        if self._zeroing is not None:
            self._zeroing.stop()
        await _in_time(self.settled(), timeout_s, self._path)
        self.stop()
        durable = self._updates.durable
        last = replace(
            durable,
            sequence=durable.sequence + 1,
            confirmed_offset=commit.confirmed_offset,
            shutdown=ShutdownType.UNGRACEFUL if commit.used_bytes else ShutdownType.GRACEFUL,
            last_write_ms=self._clocks.wall_ms(),
        )
        try:
            await self._store.write_both(last)
        except OSError as error:
            raise self.fail(error) from error

    def park(self) -> None:
        """Refuse appends for a while, as if the ring were full; earlier appends continue."""
        if self.failure is None:
            self.is_parked = True
            self.commit.refuse(WalOverCapacityError(f"the WAL {self._path} is being resized"))

    def unpark(self) -> None:
        """Take appends again after `park`, unless another generation has begun."""
        if not self.is_parked or self._is_retired:
            return
        self.is_parked = False
        self.commit.readmit()
        if self._quiet is not None and not self._quiet.done():
            self._quiet.set_exception(WalStateError("the resize of the WAL was cancelled"))

    def retire(self) -> None:
        """Write nothing from now on: another generation begins. To be called right after `settled`."""
        require(self.is_parked)
        require(self._is_settled)
        self._is_retired = True
        self.stop()

    async def settled(self) -> None:
        """Return at a moment when everything is durable and nothing is inflight at the device.

        Raises:
            WalFailedError: the log failed, before or meanwhile.
            WalStateError: appends were parked, and are not any more.
        """
        while True:
            if self.failure is not None:
                raise self.failure
            if self._is_settled:
                return
            self._quiet = self._loop.create_future()
            self._pump()
            self._settle()
            await self._quiet

    @property
    def _is_settled(self) -> bool:
        return (
            self.commit.is_quiet
            and not self._updates.inflight
            and not self._updates.wanted
            and self.commit.barrier_offset is None  # a step of zeroing is a write, too
        )

    def stop(self) -> None:
        """Start nothing more by timer."""
        self._wake_timer.close()
        if self._refresh_timer is not None:
            self._refresh_timer.cancel()
            self._refresh_timer = None
        if self._zeroing is not None:
            self._zeroing.stop()

    def fail(self, error: Exception) -> WalError:
        """Confirm nothing more: the state of the device is unknown, so nothing is tried again."""
        if self.failure is not None:
            return self.failure
        reason = error if isinstance(error, OSError) else repr(error)
        self.failure = WalFailedError(f"the WAL {self._path} failed: {reason}")
        self.failure.__cause__ = error
        _logger.critical("%s; nothing is confirmed any more", self.failure)
        self.stop()
        self.commit.halt(self.failure)
        if self._quiet is not None and not self._quiet.done():
            self._quiet.set_exception(self.failure)
        self._listener.on_failed(self.failure)
        return self.failure

    def _queue(self) -> WriteQueue:
        """What is appended and not confirmed."""
        commit = self.commit
        return WriteQueue(
            writes=commit.inflight + len(commit.pending),
            oldest_age_ns=self._open_blocks.oldest_age_ns(self._clocks.monotonic_ns()),
        )

    def _pump_soon(self) -> None:
        """Pump at the end of the loop's turn, together with later appends of the same turn."""
        if not self._flush_due:
            self._flush_due = True
            self._call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_due = False
        self._pump()

    def _pump(self) -> None:
        """Submit every block that may go, and the superblock if it must change."""
        try:
            commit = self.commit
            now_ns = self._clocks.monotonic_ns()
            updates = self._updates
            if updates.wanted:
                # First: the blocks would use up the budget, and then need the room that a trim frees.
                self._persist(now_ns)
            while (block := commit.next_write(now_ns)) is not None:
                position = self._ring.position(block.offset)
                self._submissions.write(position, block.memory, partial(self._on_written, block))
            updates.want_window(commit.window_wanted_bytes)
            budget_ns = self._persist(now_ns) if updates.wanted else 0
            delay_ns = budget_ns or commit.delay_ns(now_ns)
            # Setting a kernel timer costs as much as two appends, and the pace moves on with each write: a timer that
            # is set for earlier is left alone, finds nothing to do, and is set again.
            if delay_ns and (self._wake_at_ns is None or now_ns + delay_ns < self._wake_at_ns):
                self._wake_at_ns = now_ns + delay_ns
                self._wake_timer.set(delay_ns)
        except Exception as error:
            self.fail(error)  # what was submitted is not known
            raise

    def _wake(self) -> None:
        self._wake_at_ns = None
        self._pump()

    def _persist(self, now_ns: int) -> int:
        """Write the superblock, which must change, when no write of it is inflight.

        Returns:
            How long to wait for the budget, which the blocks wait for as well then; 0 otherwise.
        """
        updates = self._updates
        if updates.inflight or self.failure is not None or self._is_retired:
            return 0
        if not self.commit.try_spend(PAGE_BYTES, now_ns):
            return self.commit.spend_delay_ns(PAGE_BYTES, now_ns)
        superblock = updates.next_write(
            confirmed_offset=self.commit.confirmed_offset, now_ms=self._clocks.wall_ms()
        )
        if superblock is not None:
            self._store.start_write(superblock, self._on_superblock_written)
        return 0

    def _on_written(self, block: Block, error: OSError | None) -> None:
        if self._is_over(error):
            return
        commit = self.commit
        moved = commit.completed(block)
        if commit.pending:
            self._pump()  # first, so that the device works while the confirmation is passed on
        elif commit.is_filling:
            self._pump_soon()
        if moved:
            confirmed_offset = commit.confirmed_offset
            self._open_blocks.confirmed(confirmed_offset, self._clocks.monotonic_ns())
            self._arm_refresh()
            self._listener.on_confirmed(confirmed_offset)
        self._settle()

    def _on_superblock_written(self, error: OSError | None) -> None:
        if self._is_over(error):
            return
        commit = self.commit
        used_bytes = commit.used_bytes
        commit.persisted(self._updates.written())
        freed = commit.used_bytes < used_bytes
        self._pump()
        self._arm_refresh()
        if freed:
            self._listener.on_room()
        self._settle()

    def _on_zeroed(self, error: OSError | None) -> None:
        if not self._is_over(error):
            self._pump()
            self._settle()

    def _is_over(self, error: OSError | None) -> bool:
        """Whether the log has failed, by this error at the latest."""
        if self.failure is None and error is not None:
            self.fail(error)
        return self.failure is not None

    def _arm_refresh(self) -> None:
        is_unreported = self.commit.confirmed_offset > self._updates.durable.confirmed_offset
        if is_unreported and self._refresh_timer is None and self.failure is None:
            self._refresh_timer = self._loop.call_later(_REFRESH_DELAY_S, self._refresh)

    def _refresh(self) -> None:
        """Record durably what was confirmed, so that damage to the last blocks is recognised."""
        self._refresh_timer = None
        if self.commit.confirmed_offset > self._updates.durable.confirmed_offset:
            self._updates.want_refresh()
            self._pump()

    def _settle(self) -> None:
        """Wake `settled` when nothing is left to wait for."""
        if self._quiet is not None and not self._quiet.done() and self._is_settled:
            self._quiet.set_result(None)
