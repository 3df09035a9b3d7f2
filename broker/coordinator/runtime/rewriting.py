"""Keeps the log of a coordinator partition short: writes what is live again, and gives up what lies before.

A log grows with every commit; what is live in it, the newest record of each group and offset, does not. When the log
is several times as long, every live record is appended again, as the ordinary record that it is, and then everything
before the first of them is deleted. A load replays records in order and the last one of a key counts, so the log gives
the same state wherever this ends: before the deletion it only says some things twice. Two rules make it so:

- A record is read from memory in the same turn of the loop in which it is queued for the log. Decisions are queued in
  the order in which memory took them, so no rewritten record comes behind a newer one of its key.
- The deletion begins when the last of them is durable, and ends where the first of them was going to be written.

The records go out in slices, one with each append, so commits are served meanwhile. The deletion waits until what it
takes is in the bucket: nothing is uploaded only to be deleted, unless the log grows by a megabyte meanwhile. There is
no next rewrite before that deletion is done.

A load that passed over damage is followed by a rewrite, however short the log is: the damaged part is given up with
what lies before, and no later load meets it.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Final, Generic, NamedTuple

from headrace.broker.coordinator.runtime.batching import PendingBatches
from headrace.broker.coordinator.runtime.loading import LoadedLog
from headrace.broker.coordinator.runtime.ports import LOG_ERRORS, CoordinatorLog
from headrace.broker.coordinator.runtime.shard import Instant, LiveState, R
from headrace.broker.coordinator.runtime.statistics import CoordinatorStatistics
from headrace.task_failures import report_unexpected

MIN_LOG_BYTES: Final = 1024 * 1024  # shorter logs are left as they are: about 8,000 commits
MAX_LOG_PER_LIVE: Final = 4  # times the bytes of the live records
SLICE_RECORDS: Final = 256  # with one append: about 4 ms
SLICE_BYTES: Final = 256 * 1024
PAUSE_MS: Final = 600_000  # after a rewrite that an append's failure ended
MAX_GROWTH_BYTES: Final = 1024 * 1024  # while a deletion waits for an upload; then it asks for one
UPLOAD_POLL_MS: Final = 1_000
DELETION_BACKOFF_MS: Final = 1_000  # doubled after each failure
MAX_DELETION_BACKOFF_MS: Final = 60_000

logger = logging.getLogger("headrace.coordinator")


class LogSize(NamedTuple):
    """A part of a log."""

    records: int = 0
    size_bytes: int = 0

    def plus(self, records: int, size_bytes: int) -> "LogSize":
        """Give the size with more behind it."""
        return LogSize(self.records + records, self.size_bytes + size_bytes)


class _Rewrite(Generic[R]):
    """One rewrite: where it began, and what it has not reached yet."""

    def __init__(self, first_offset: int, before: LogSize, live: Iterator[R]) -> None:
        self.first_offset = first_offset
        self.before = before  # what lies before it: to be given up
        self.live: Iterator[R] | None = live  # None: all are queued
        self.records = 0


class LogRewriter(Generic[R]):
    """Decides when one partition's log is rewritten, and does it."""

    def __init__(
        self,
        where: Mapping[str, str | int],
        log: CoordinatorLog,
        pending: PendingBatches[R],
        statistics: CoordinatorStatistics,
        on_shortened: Callable[[], None],
    ) -> None:
        self._where = where  # topic and partition, for log lines
        self._log = log
        self._pending = pending
        self._statistics = statistics
        self._on_shortened = on_shortened  # the log may be long again by then
        self._rewrite: _Rewrite[R] | None = None
        self._deletion: asyncio.Task[None] | None = None
        self._grown = asyncio.Event()  # `size` has reached `_grown_bytes`
        self._grown_bytes: float = math.inf
        self._not_before_ms: float = 0  # by the monotonic clock
        self._is_damaged = False
        self.size = LogSize()  # of what a load would read

    def loaded(self, log: LoadedLog) -> None:
        """The log has been read, and holds this much."""
        self.size = LogSize(log.records, log.size_bytes)
        self._is_damaged = bool(log.damage)
        if log.unknown_records:
            logger.warning(
                "a coordinator partition holds records of a newer version: its log is not shortened",
                extra={**self._where, "records": log.unknown_records},
            )
            self._not_before_ms = math.inf

    def appended(self, records: int, size_bytes: int) -> None:
        """A batch was appended."""
        self.size = self.size.plus(records, size_bytes)
        if self.size.size_bytes >= self._grown_bytes:
            self._grown.set()

    def has_work(self, live: LiveState[R], clock: Callable[[], Instant]) -> bool:
        """Whether `add_slice` should be called before the next append; no append is inflight."""
        if self._rewrite is not None:
            if self._rewrite.live is None:
                return False
        elif (
            not (self._is_damaged or self._is_long(live))
            or clock().elapsed_ms < self._not_before_ms
        ):
            return False
        return not self._pending.is_full and self._log.has_room

    def _is_long(self, live: LiveState[R]) -> bool:
        size_bytes = self.size.size_bytes
        return size_bytes > MIN_LOG_BYTES and size_bytes > MAX_LOG_PER_LIVE * live.size_bytes

    def add_slice(self, live: LiveState[R], now: Instant) -> None:
        """Queue the next records of a rewrite, the first ones if none is under way; no append is inflight."""
        rewrite = self._rewrite
        if rewrite is None:
            rewrite = _Rewrite(self._log.end_offset, self.size, live.read())
            self._rewrite = rewrite
        if rewrite.live is None:
            return
        limit_bytes = self._pending.size_bytes + SLICE_BYTES
        for _ in range(SLICE_RECORDS):
            record = next(rewrite.live, None)
            if record is None:
                rewrite.live = None
                self._when_written(rewrite)
                return
            if not self._pending.fits(record):
                logger.warning(
                    "a coordinator partition holds a record that is too large to be written again: "
                    "its log is not shortened",
                    extra=self._where,
                )
                self._rewrite = None
                self._not_before_ms = math.inf
                return
            self._pending.add([record], now.wall_ms)
            rewrite.records += 1
            if self._pending.size_bytes >= limit_bytes:
                return

    def abandon(self, now: Instant) -> None:
        """End a rewrite that is under way; the log is as good with a part of it."""
        if self._rewrite is not None and self._deletion is None:
            self._not_before_ms = max(self._not_before_ms, now.elapsed_ms + PAUSE_MS)
        self._rewrite = None
        if self._deletion is not None:
            self._deletion.cancel()
            self._deletion = None

    def _when_written(self, rewrite: _Rewrite[R]) -> None:
        newest = self._pending.newest()
        if newest is None:
            self._begin_deletion(rewrite)
        else:
            newest.when_durable(lambda: self._begin_deletion(rewrite))

    def _begin_deletion(self, rewrite: _Rewrite[R]) -> None:
        self._deletion = asyncio.create_task(self._delete(rewrite))
        self._deletion.add_done_callback(report_unexpected)

    async def _delete(self, rewrite: _Rewrite[R]) -> None:
        """Give up what lies before a rewrite, with retries."""
        self._grown_bytes = self.size.size_bytes + MAX_GROWTH_BYTES
        self._grown.clear()
        while not (self._grown.is_set() or self._log.is_uploaded(rewrite.first_offset)):
            with suppress(TimeoutError):
                async with asyncio.timeout(UPLOAD_POLL_MS / 1_000):
                    await self._grown.wait()
        backoff_ms = DELETION_BACKOFF_MS
        while True:
            try:
                await self._log.delete_before(rewrite.first_offset)
                break
            except LOG_ERRORS as error:
                logger.warning(
                    "cannot shorten the log of a coordinator partition, trying again",
                    extra={**self._where, "delay_ms": backoff_ms, "reason": str(error)},
                )
                await asyncio.sleep(backoff_ms / 1_000)
                backoff_ms = min(2 * backoff_ms, MAX_DELETION_BACKOFF_MS)
        given_up = rewrite.before
        self.size = self.size.plus(-given_up.records, -given_up.size_bytes)
        self._rewrite = None
        self._deletion = None
        self._is_damaged = False
        found = self._statistics
        found.rewrites_total += 1
        found.rewritten_records_total += rewrite.records
        found.given_up_records_total += given_up.records
        found.given_up_bytes_total += given_up.size_bytes
        logger.info(
            "coordinator partition rewritten",
            extra={
                **self._where,
                "live_records": rewrite.records,
                "given_up_records": given_up.records,
                "given_up_bytes": given_up.size_bytes,
            },
        )
        self._on_shortened()
