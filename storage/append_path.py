"""The path of an append: into the WAL, through its confirmation, to the acknowledgement.

The order of a confirmation is always the same: the lease is checked, records enter LogCache, the
stream's confirm offset moves, the appender is notified. So an acknowledged record can be read at
once, and a node that may have been replaced acknowledges nothing. While the lease is not valid,
confirmations are withheld. They are delivered once it is valid again: then this node was not replaced.

Everything here is synchronous and runs on the loop: at high rates it is most of what the engine
does, hence one pass per confirmation and no future per append.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

from headrace.storage.cache.log_cache import LogCache
from headrace.storage.errors import (
    BackPressureError,
    EngineFailedError,
    RecordTooLargeError,
    StorageError,
)
from headrace.storage.open_appends import (
    AppendTarget,
    OnAck,
    OpenAppend,
    OpenAppends,
    group_by_buffer,
)
from headrace.storage.ports import Buffer, Lease
from headrace.storage.record_batch import StreamRecordBatch, encode_header
from headrace.storage.stats import AppendCounters
from headrace.task_failures import report_error
from headrace.wal.errors import WalFailedError, WalOverCapacityError, WalRecordTooLargeError
from headrace.wal.port import WriteAheadLog

logger = logging.getLogger("headrace.storage.append")


class _Acknowledgement:
    """How far the acknowledgement of one confirmation has come."""

    __slots__ = ("confirmed", "count")

    def __init__(self) -> None:
        self.confirmed: Sequence[OpenAppend] = ()
        self.count = 0  # of those that are acknowledged or failed

    def left(self) -> Sequence[OpenAppend]:
        """Those whose appender knows nothing yet."""
        return self.confirmed[self.count :]


class AppendPath:
    """Appends of all streams of one engine, in WAL order."""

    __slots__ = (
        "_cache",
        "_clock_ms",
        "_confirmed_wal_end",
        "_lease",
        "_on_failed",
        "_open",
        "_refusal",
        "_waiters",
        "_withheld_wal_end",
        "counters",
        "failure",
        "on_progress",
        "wal",
    )

    # Set by the engine, since they are made with this object: the WAL, and what is called after
    # records have entered LogCache and been acknowledged.
    wal: WriteAheadLog
    on_progress: Callable[[], None]

    def __init__(
        self,
        *,
        cache: LogCache,
        lease: Lease,
        clock_ms: Callable[[], int],
        on_failed: Callable[[StorageError], None],
    ) -> None:
        """Make a path that refuses appends until `admit` is called.

        `on_failed` is called once, when nothing can be acknowledged any more.
        """
        self._cache = cache
        self._lease = lease
        self._clock_ms = clock_ms
        self._on_failed = on_failed
        self._open = OpenAppends()
        self._confirmed_wal_end = -1
        self._withheld_wal_end = -1  # durable, not acknowledged: the lease was not valid
        self._refusal: StorageError | None = EngineFailedError("the storage engine has not started")
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self.counters = AppendCounters()
        self.failure: StorageError | None = None

    @property
    def open_appends(self) -> int:
        """Appends that are neither acknowledged nor failed."""
        return len(self._open)

    @property
    def reserved_bytes(self) -> int:
        """Most that LogCache will be charged for the open appends."""
        return self._open.reserved_bytes

    @property
    def confirmed_wal_end(self) -> int:
        """WAL offset behind the newest record in LogCache; -1 when there was none yet."""
        return self._confirmed_wal_end

    def admit(self) -> None:
        """Take appends from now on."""
        self._refusal = None

    def refuse(self, error: StorageError) -> None:
        """Take no further appends; those that are open continue."""
        if self._refusal is None:
            self._refusal = error

    def append(self, target: AppendTarget, payload: Buffer, count: int, on_ack: OnAck) -> int:
        """Copy a batch into the WAL and return its base offset.

        Raises:
            BackPressureError: the WAL is full. Nothing has changed.
            RecordTooLargeError: it never fits. Nothing has changed.
            ValueError: `count` or the length does not fit the format. Nothing has changed.
            EngineFailedError, FencedError: appends are over. Nothing has changed.
        """
        if self._refusal is not None:
            raise type(self._refusal)(*self._refusal.args)
        base_offset = target.next_offset
        stream_id = target.stream_id
        epoch = target.epoch
        header = encode_header(stream_id, epoch, base_offset, count, len(payload))
        try:
            wal_offset, wal_end_offset, view, buffer_bytes = self.wal.append(header, payload)
        except WalOverCapacityError as error:
            raise BackPressureError("the WAL is full") from error
        except WalRecordTooLargeError as error:
            raise RecordTooLargeError(str(error)) from error
        except WalFailedError as error:
            raise EngineFailedError("the WAL has failed") from error
        except Exception as error:
            # Whether the WAL has the record cannot be known: the next one would get the same offset.
            failure = EngineFailedError(f"an append was not completed: {error!r}")
            failure.__cause__ = error
            self.fail(failure)
            raise failure from error
        target.next_offset = base_offset + count
        if self.failure is not None:
            # The WAL failed during `append`, after it had taken this record.
            asyncio.get_running_loop().call_soon(on_ack, self.failure)
            return base_offset
        try:
            # What their constructors do, without a call of Python code: this runs for every batch.
            batch = tuple.__new__(StreamRecordBatch, (stream_id, epoch, base_offset, count, view))
            open_append = (wal_offset, wal_end_offset, batch, buffer_bytes, target, on_ack)
            append = tuple.__new__(OpenAppend, open_append)
            self._open.add(append)
        except Exception as error:  # noqa: BLE001 - it fails the engine
            # The WAL has a record that would never be acknowledged, failed or uploaded.
            failure = EngineFailedError(f"an append was not completed: {error!r}")
            failure.__cause__ = error
            self._fail(failure, ())
            asyncio.get_running_loop().call_soon(on_ack, failure)
        return base_offset

    def on_confirmed(self, wal_end_offset: int) -> None:
        """Acknowledge what has become durable; the WAL calls this, never from within `append`."""
        if not self._open:
            return  # nothing is open after a failure either
        acknowledgement = _Acknowledgement()
        try:
            if not self._lease.is_lease_valid():
                self._withheld_wal_end = wal_end_offset
                return
            self._withheld_wal_end = -1
            confirmed = acknowledgement.confirmed = self._open.confirm(wal_end_offset)
            if not confirmed:
                return
            now_ms = self._clock_ms()
            for group in group_by_buffer(confirmed):
                self._cache.put(group, now_ms)
            self._confirmed_wal_end = confirmed[-1].wal_end_offset
            self._acknowledge(acknowledgement)
            if self._waiters:
                self._wake()
            self.on_progress()
        except Exception as error:
            # Records that left the queue would otherwise be neither acknowledged nor failed: the WAL would be trimmed
            # past them, and later records of their streams acknowledged behind a hole.
            if (
                self.failure is not None
            ):  # an appender has ended the engine: the first reason counts
                self._abandon(self.failure, acknowledgement.left())
                return
            failure = EngineFailedError(f"a confirmation failed: {error!r}")
            failure.__cause__ = error
            self._fail(failure, acknowledgement.left())
            logger.exception("unexpected error behind a confirmation; the storage engine stops")

    def lease_renewed(self) -> None:
        """Acknowledge what was withheld: to be called when the lease may be valid again."""
        if self._withheld_wal_end >= 0:
            self.on_confirmed(self._withheld_wal_end)

    def _acknowledge(self, acknowledgement: "_Acknowledgement") -> None:
        payload_bytes = 0
        try:
            for _, wal_end_offset, batch, _, target, on_ack in acknowledgement.confirmed:
                if self.failure is not None:
                    raise self.failure  # an appender has ended the engine
                if target.confirm_offset != batch.base_offset:
                    raise EngineFailedError(
                        f"stream {batch.stream_id} is confirmed up to {target.confirm_offset}, "
                        f"and the next record begins at {batch.base_offset}"
                    )
                acknowledgement.count += 1
                payload_bytes += len(batch.payload)
                target.confirm_offset = batch.base_offset + batch.count
                target.confirmed_wal_end = wal_end_offset
                on_ack(None)
        finally:
            self.counters.confirmed_total += acknowledgement.count
            self.counters.confirmed_bytes_total += payload_bytes

    def on_failed(self, error: Exception) -> None:
        """Fail everything that is open; the WAL calls this when it can confirm nothing more."""
        failure = EngineFailedError(f"the WAL has failed: {error}")
        failure.__cause__ = error
        self.fail(failure)

    def fail(self, error: StorageError) -> None:
        """Acknowledge nothing from now on; the outcome of open appends is unknown."""
        if self.failure is None:
            self._fail(error, ())

    def end(self, error: StorageError) -> None:
        """Acknowledge nothing from now on, as `fail`, but on purpose: `on_failed` is not called."""
        if self.failure is None:
            self._abandon(error, ())

    def _fail(self, error: StorageError, unacknowledged: Sequence[OpenAppend]) -> None:
        try:
            self._abandon(error, unacknowledged)
        finally:
            self._on_failed(error)

    def _abandon(self, error: StorageError, unacknowledged: Sequence[OpenAppend]) -> None:
        self.failure = self._refusal = error
        for append in (*unacknowledged, *self._open.abandon()):
            try:
                append.on_ack(error)
            except Exception as unexpected:  # noqa: BLE001 - handed to the one place that decides
                report_error("callback of a failed append", unexpected)
        waiters, self._waiters = self._waiters, []
        for _, waiter in waiters:
            if not waiter.done():
                waiter.set_exception(error)

    async def confirmed(self) -> None:
        """Wait until everything appended so far is acknowledged.

        Raises:
            EngineFailedError, FencedError: it never will be.
        """
        if self.failure is not None:
            raise type(self.failure)(*self.failure.args)
        wal_end_offset = self._open.wal_end_offset
        if wal_end_offset < 0:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((wal_end_offset, waiter))
        await waiter

    def _wake(self) -> None:
        confirmed = self._confirmed_wal_end
        due = [waiter for wal_end, waiter in self._waiters if wal_end <= confirmed]
        self._waiters = [each for each in self._waiters if each[0] > confirmed]
        for waiter in due:
            if not waiter.done():
                waiter.set_result(None)
