"""Reads from the bucket for Fetches, each of which waits a limited time.

A read that takes longer than its Fetch waits continues *detached*, and the next Fetch of the same position joins it
or gets its result. If every Fetch started a new read, none would ever end where the bucket is slow or an object is
lost, and the client would see no error. Concurrent Fetches of one position share one read. The number of detached
reads, the memory of their results and the time that these are kept are bounded. When there are too many reads, the
oldest continue, so that some complete.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from headrace.broker.partition.partition import Partition
from headrace.storage.errors import StorageError
from headrace.storage.record_batch import StreamRecordBatch
from headrace.task_failures import report_unexpected

# Limits for detached reads: no Fetch waits for them at the moment.
MAX_DETACHED: Final = 256  # inflight reads; and as many results
# Memory that is kept alive by their results; a single one may be larger.
MAX_DETACHED_BYTES: Final = 32 * 1024 * 1024
MAX_DETACHED_COPIED_BYTES: Final = 64 * 1024  # up to this, a result is copied: it keeps no block
MAX_DETACHED_MS: Final = 10_000  # after the read has ended: clients fetch again at once

OnFailed = Callable[[Partition, int, StorageError], None]
Batches = Sequence[StreamRecordBatch]
_Position = tuple[Partition, int]


class ColdReads:
    """Reads by partition and offset."""

    def __init__(self, on_failed: OnFailed) -> None:
        """Take the callback that is called once for each failed read."""
        self._on_failed = on_failed
        self._reads: dict[_Position, _Read] = {}
        self._detached: dict[
            _Position, _Read
        ] = {}  # the detached ones of `_reads`, the oldest first

    async def read(
        self, partition: Partition, offset: int, max_bytes: int, deadline_s: float
    ) -> Batches | None:
        """Return whole batches from the one that holds `offset`; None if the read has not ended by `deadline_s`.

        They may be more or fewer bytes than `max_bytes`: the first Fetch of this position sets the limit.

        Raises:
            StorageError: what the partition's read raises.

        Cancellation: cancels the read if no other Fetch waits for it.
        """
        position = (partition, offset)
        timeout_s = max(0.0, deadline_s - asyncio.get_running_loop().time())
        read = self._reads.get(position)
        if read is None:
            if timeout_s == 0 and len(self._inflight()) >= MAX_DETACHED:
                return None  # it would be cancelled as soon as it has begun
            read = self._begin(position, max_bytes)
        self._detached.pop(position, None)
        read.fetches += 1
        is_cancelled = True
        try:
            await asyncio.wait((read.task,), timeout=timeout_s)
            is_cancelled = False
        finally:
            read.fetches -= 1
            if read.fetches == 0:
                self._detach(position, read, is_cancelled=is_cancelled)
        return read.task.result() if read.task.done() else None

    def _begin(self, position: _Position, max_bytes: int) -> "_Read":
        read = _Read(asyncio.get_running_loop().create_task(self._found(position, max_bytes)))
        self._reads[position] = read
        read.task.add_done_callback(lambda _: self._ended(position, read))
        return read

    async def _found(self, position: _Position, max_bytes: int) -> Batches:
        partition, offset = position
        batches = await partition.reads.read(offset, max_bytes)
        if position in self._detached and _size_bytes(batches) <= MAX_DETACHED_COPIED_BYTES:
            batches = [it._replace(payload=memoryview(bytes(it.payload))) for it in batches]
        return batches

    def _detach(self, position: _Position, read: "_Read", *, is_cancelled: bool) -> None:
        if read.task.done():
            self._forget(position, read)
        elif is_cancelled:
            self._forget(position, read)
            read.task.cancel()
        else:
            self._detached[position] = read
            self._bound()

    def _ended(self, position: _Position, read: "_Read") -> None:
        if read.task.cancelled():
            self._forget(position, read)
            return
        error = read.task.exception()
        if isinstance(error, StorageError):
            self._on_failed(*position, error)
        elif error is None:
            read.kept_bytes = _kept_bytes(read.task.result())
        elif read.fetches == 0:  # else a waiting Fetch raises it
            report_unexpected(read.task)
        if self._detached.pop(position, None) is read:
            self._detached[position] = read  # now the newest
            read.forgetting = asyncio.get_running_loop().call_later(
                MAX_DETACHED_MS / 1000, self._forget_if_detached, position, read
            )
            self._bound()

    def _bound(self) -> None:
        """Cancel the newest of too many reads, and drop the oldest results if they keep too much memory."""
        for position, read in self._inflight()[MAX_DETACHED:]:
            self._forget(position, read)
            read.task.cancel()
        ended = [(position, read) for position, read in self._detached.items() if read.task.done()]
        number, kept_bytes = len(ended), sum([read.kept_bytes for _, read in ended])
        for position, read in ended[:-1]:
            if number <= MAX_DETACHED and kept_bytes <= MAX_DETACHED_BYTES:
                break
            number -= 1
            kept_bytes -= read.kept_bytes
            self._forget(position, read)

    def _inflight(self) -> list[tuple[_Position, "_Read"]]:
        return [
            (position, read) for position, read in self._detached.items() if not read.task.done()
        ]

    def _forget_if_detached(self, position: _Position, read: "_Read") -> None:
        if self._detached.get(position) is read:
            self._forget(position, read)

    def _forget(self, position: _Position, read: "_Read") -> None:
        """Drop a read: the next Fetch of this position starts a new one."""
        if self._reads.get(position) is read:
            del self._reads[position]
            self._detached.pop(position, None)
            if read.forgetting is not None:
                read.forgetting.cancel()  # it would keep the result until then
                read.forgetting = None


class _Read:
    """One read of the bucket."""

    __slots__ = ("fetches", "forgetting", "kept_bytes", "task")

    def __init__(self, task: asyncio.Task[Batches]) -> None:
        self.task = task
        self.fetches = 0  # Fetches that wait for it
        self.kept_bytes = 0  # memory that its result keeps alive
        self.forgetting: asyncio.TimerHandle | None = None


def _size_bytes(batches: Batches) -> int:
    return sum([len(it.payload) for it in batches])


def _kept_bytes(batches: Batches) -> int:
    """Return the size of the blocks that these batches are views of: a view keeps the whole block alive."""
    blocks = {id(it.payload.obj): it.payload for it in batches}
    return sum([memoryview(it.obj).nbytes for it in blocks.values()])
