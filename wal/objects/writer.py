"""Drives one generation of the object WAL: performs what `headrace.wal.objects.commit` decides, until its end.

A bucket that does not answer is not a failure: objects are tried again until they are settled, nothing
behind the first one that is not settled is confirmed, and appends are refused once the memory for them
is used up. The log fails permanently in one case: another owner has taken a number of it.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable

from headrace.task_failures import report_unexpected
from headrace.wal.device.latencies import OpenBlocks, WriteQueue
from headrace.wal.device.submissions import WriteStatistics
from headrace.wal.errors import WalError, WalFailedError
from headrace.wal.objects.commit import ObjectCommit, Outgoing
from headrace.wal.objects.deletion import Deletion
from headrace.wal.objects.errors import WalFencedError
from headrace.wal.objects.fencing import require_own
from headrace.wal.objects.layout import LogKeys
from headrace.wal.objects.requests import Requests
from headrace.wal.port import Appended, Buffer

# Loop timers are not finer than this: uvloop rounds less to nothing.
_MIN_WAKE_DELAY_S = 0.001
_MAX_DELETION_S = 5.0
# So long after the last object one more records what was confirmed, so that lost objects are noticed.
REFRESH_DELAY_S = 1.0

_logger = logging.getLogger("headrace.wal")


class ObjectWriter:
    """Appends, confirms and trims."""

    def __init__(
        self,
        commit: ObjectCommit,
        *,
        keys: LogKeys,
        requests: Requests,
        statistics: WriteStatistics,
        on_confirmed: Callable[[int], None],
        on_failed: Callable[[WalError], None],
        on_room: Callable[[], None],
    ) -> None:
        self.commit = commit
        self._keys = keys
        self._requests = requests
        self._statistics = statistics
        self._on_confirmed = on_confirmed
        self._on_failed = on_failed
        self._on_room = on_room
        self._loop = asyncio.get_running_loop()
        self._puts: dict[asyncio.Task[None], None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._refresh_timer: asyncio.TimerHandle | None = None
        self._open = OpenBlocks(statistics.appends)
        statistics.queue = self._queue
        self._flush_due = False
        self._quiet: asyncio.Future[None] | None = None
        self._deletion = Deletion(requests, keys, head=lambda: commit.durable_head)
        self.failure: WalError | None = None

    async def begin(self, unneeded: Iterable[int]) -> None:
        """Record durably that nothing older is needed; return when that is done.

        Raises:
            WalFailedError: another owner has taken the log over.
        """
        await self._until_quiet()
        self._deletion.add(unneeded)
        self._deletion.start()

    def append(self, header: Buffer, payload: Buffer) -> Appended:
        """Copy a record into the current batch; see `headrace.wal.port`."""
        commit = self.commit
        was_full = commit.has_full_batch  # then it waits for an outcome, and not for this append
        appended = commit.append(header, payload)
        self._open.appends_total += 1
        if appended.offset == commit.batch_offset:
            self._open.begin(appended.offset, self._now_ns())
        if was_full:
            return appended
        if commit.has_full_batch:
            self._pump()
        elif not self._flush_due and self._timer is None:
            self._flush_due = True
            self._loop.call_soon(self._flush)
        return appended

    def trim(self, offset: int) -> None:
        """Release records; see `headrace.wal.port`.

        Raises:
            ValueError: `offset` is not confirmed.
            WalFailedError: the log has failed.
        """
        if self.failure is not None:
            raise self.failure
        self.commit.trim(offset)
        self._pump()

    async def drain(self, timeout_s: float) -> None:
        """Refuse appends, wait until what was appended and trimmed is durable.

        Raises:
            WalFailedError: the log failed, before or meanwhile, or the bucket did not answer in time.
        """
        if self.failure is not None:
            raise self.failure
        self.commit.refuse(WalFailedError(f"the WAL {self._keys.folder} is shut down"))
        try:
            async with asyncio.timeout(timeout_s):
                await self._until_quiet()
                self.commit.want_refresh()
                await self._until_quiet()
        except TimeoutError as error:
            raise WalFailedError(
                f"the WAL {self._keys.folder} was shut down with appends that are not durable: the bucket did not "
                f"answer within {timeout_s:g} s; the next start recovers what was acknowledged"
            ) from error
        await self._deletion.finish(_MAX_DELETION_S)

    async def close(self) -> None:
        """Start nothing more, cancel inflight requests, and wait until they have ended."""
        await asyncio.gather(*self._stop(), return_exceptions=True)

    def _stop(self) -> list[asyncio.Task[None]]:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._refresh_timer is not None:
            self._refresh_timer.cancel()
            self._refresh_timer = None
        for task in self._puts:
            task.cancel()
        return [*self._puts, *self._deletion.stop()]

    def fail(self, error: WalError) -> None:
        """Confirm nothing more."""
        if self.failure is not None:
            return
        self.failure = error
        _logger.critical("%s; nothing is confirmed any more", error)
        self.commit.halt(error)
        self._stop()
        if self._quiet is not None and not self._quiet.done():
            self._quiet.set_exception(error)
        self._on_failed(error)

    async def _until_quiet(self) -> None:
        if self.failure is not None:
            raise self.failure
        self._quiet = self._loop.create_future()
        self._pump()
        self._settle()
        await self._quiet

    def _flush(self) -> None:
        self._flush_due = False
        self._pump()

    def _pump(self) -> None:
        """Create every object that may go."""
        commit = self.commit
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now_s = self._loop.time()
        while (outgoing := commit.next_object(now_s)) is not None:
            task = self._loop.create_task(self._put(outgoing))
            self._puts[task] = None
            task.add_done_callback(self._put_ended)
        delay_s = commit.delay_s(now_s)
        if delay_s is not None:
            self._timer = self._loop.call_later(max(delay_s, _MIN_WAKE_DELAY_S), self._wake)

    def _wake(self) -> None:
        self._timer = None
        self._pump()

    async def _put(self, outgoing: Outgoing) -> None:
        """Create an object, and retry until it is known whether it exists."""
        key = self._keys.key(outgoing.header.number)
        started_ns = self._now_ns()
        try:
            existing = await self._requests.create(key, outgoing.content, may_give_up=False)
            if existing is not None:
                require_own(existing.header, outgoing.content[0], key)
            self._statistics.written(outgoing.size_bytes, self._now_ns() - started_ns)
            self._on_settled(outgoing)
        except WalError as error:
            self.fail(error if isinstance(error, WalFencedError) else WalFailedError(str(error)))
        except Exception as error:  # noqa: BLE001 - a bug must not leave appends waiting without end
            failure = WalFailedError(f"the WAL {self._keys.folder} failed: {error!r}")
            failure.__cause__ = error
            self.fail(failure)

    def _put_ended(self, task: asyncio.Task[None]) -> None:
        self._puts.pop(task, None)
        report_unexpected(task)

    def _on_settled(self, outgoing: Outgoing) -> None:
        if self.failure is not None:
            return
        commit = self.commit
        head, used_bytes, was_full = commit.durable_head, commit.used_bytes, commit.was_full
        moved = commit.settled(outgoing)
        self._deletion.add(range(head, commit.durable_head))
        self._pump()  # first, so that the bucket works while the confirmation is passed on
        if commit.is_unreported and self._refresh_timer is None:
            self._refresh_timer = self._loop.call_later(REFRESH_DELAY_S, self._refresh)
        if moved:
            self._open.confirmed(commit.confirmed_offset, self._now_ns())
            self._on_confirmed(commit.confirmed_offset)
        if commit.used_bytes < used_bytes or (moved and was_full):
            commit.was_full = False
            self._on_room()
        self._settle()

    def _refresh(self) -> None:
        """Record what was confirmed last, once no other object is due that would."""
        self._refresh_timer = None
        commit = self.commit
        if not commit.is_unreported:
            return
        idle_s = self._loop.time() - commit.last_submission_s
        if idle_s < REFRESH_DELAY_S:
            wait_s = max(REFRESH_DELAY_S - idle_s, _MIN_WAKE_DELAY_S)
            self._refresh_timer = self._loop.call_later(wait_s, self._refresh)
            return
        commit.want_refresh()
        self._pump()

    def _queue(self) -> WriteQueue:
        """What is appended and not confirmed."""
        writes = self.commit.inflight + self.commit.pending_batches
        return WriteQueue(writes, self._open.oldest_age_ns(self._now_ns()))

    def _now_ns(self) -> int:
        return int(self._loop.time() * 1e9)

    def _settle(self) -> None:
        """Wake the waiter when nothing is inflight."""
        if self._quiet is not None and not self._quiet.done() and self.commit.is_quiet:
            self._quiet.set_result(None)
