"""Reads of the bucket on behalf of Fetches, which wait for them only so long.

A read that takes longer than its Fetch waits goes on, and the next Fetch of the same place joins it or finds what
became of it: a read that begins from scratch each time would never end where a bucket is slow or an object is lost, and
its client would be told nothing. Who asks while it is under way joins too. What nobody asks for any more is bounded,
and forgotten after a while. Of too many reads those that began first go on to their end, or none would have one.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from headrace.broker.partition.partition import Partition
from headrace.storage.errors import StorageError
from headrace.storage.record_batch import StreamRecordBatch

logger = logging.getLogger("headrace.fetch")

# Of reads that no Fetch waits for just now.
MAX_LEFT: Final = 256  # under way; and as many that have ended
# Of memory that what they brought keeps; one may be larger.
MAX_LEFT_BYTES: Final = 32 * 1024 * 1024
MAX_LEFT_COPIED_BYTES: Final = 64 * 1024  # so little is copied, and keeps no block of the bucket's
MAX_LEFT_MS: Final = 10_000  # after its end: clients ask again at once

OnFailed = Callable[[Partition, int, StorageError], None]
Batches = Sequence[StreamRecordBatch]
_Place = tuple[Partition, int]


class ColdReads:
    """Reads by partition and offset."""

    def __init__(self, on_failed: OnFailed) -> None:
        """Take what is called once for each read that fails."""
        self._on_failed = on_failed
        self._reads: dict[_Place, _Read] = {}
        self._left: dict[_Place, _Read] = {}  # of these, those without a Fetch; the oldest first

    async def read(
        self, partition: Partition, offset: int, max_bytes: int, give_up_s: float
    ) -> Batches | None:
        """Whole batches from the one that holds `offset`; None when they are not there by `give_up_s`.

        They may be more or fewer than `max_bytes` says, which is that of the first who asked.

        Raises:
            StorageError: what the partition's read raises.

        Cancellation: ends the read if nobody else waits for it.
        """
        place = (partition, offset)
        timeout_s = max(0.0, give_up_s - asyncio.get_running_loop().time())
        read = self._reads.get(place)
        if read is None:
            if timeout_s == 0 and len(self._inflight()) >= MAX_LEFT:
                return None  # it would be given up as soon as it has begun
            read = self._begin(place, max_bytes)
        self._left.pop(place, None)
        read.fetches += 1
        is_cancelled = True
        try:
            await asyncio.wait((read.task,), timeout=timeout_s)
            is_cancelled = False
        finally:
            read.fetches -= 1
            if read.fetches == 0:
                self._left_alone(place, read, is_cancelled=is_cancelled)
        return read.task.result() if read.task.done() else None

    def _begin(self, place: _Place, max_bytes: int) -> "_Read":
        read = _Read(asyncio.get_running_loop().create_task(self._found(place, max_bytes)))
        self._reads[place] = read
        read.task.add_done_callback(lambda _: self._ended(place, read))
        return read

    async def _found(self, place: _Place, max_bytes: int) -> Batches:
        partition, offset = place
        batches = await partition.read(offset, max_bytes)
        if place in self._left and _size_bytes(batches) <= MAX_LEFT_COPIED_BYTES:
            batches = [it._replace(payload=memoryview(bytes(it.payload))) for it in batches]
        return batches

    def _left_alone(self, place: _Place, read: "_Read", *, is_cancelled: bool) -> None:
        if read.task.done():
            self._forget(place, read)
        elif is_cancelled:
            self._forget(place, read)
            read.task.cancel()
        else:
            self._left[place] = read
            self._bound()

    def _ended(self, place: _Place, read: "_Read") -> None:
        if read.task.cancelled():
            self._forget(place, read)
            return
        error = read.task.exception()
        if isinstance(error, StorageError):
            self._on_failed(*place, error)
        elif error is None:
            read.kept_bytes = _kept_bytes(read.task.result())
        elif read.fetches == 0:  # else who waits for it raises it
            partition, offset = place
            logger.error(
                "a read of the bucket failed as nobody foresaw",
                exc_info=error,
                extra={"topic": partition.topic, "partition": partition.index, "offset": offset},
            )
        if self._left.pop(place, None) is read:
            self._left[place] = read  # now the newest
            read.forgetting = asyncio.get_running_loop().call_later(
                MAX_LEFT_MS / 1000, self._forget_if_left, place, read
            )
            self._bound()

    def _bound(self) -> None:
        """Give up the newest of too many reads, and the oldest of what they brought if that is too much."""
        for place, read in self._inflight()[MAX_LEFT:]:
            self._forget(place, read)
            read.task.cancel()
        ended = [(place, read) for place, read in self._left.items() if read.task.done()]
        number, kept_bytes = len(ended), sum([read.kept_bytes for _, read in ended])
        for place, read in ended[:-1]:
            if number <= MAX_LEFT and kept_bytes <= MAX_LEFT_BYTES:
                break
            number -= 1
            kept_bytes -= read.kept_bytes
            self._forget(place, read)

    def _inflight(self) -> list[tuple[_Place, "_Read"]]:
        return [(place, read) for place, read in self._left.items() if not read.task.done()]

    def _forget_if_left(self, place: _Place, read: "_Read") -> None:
        if self._left.get(place) is read:
            self._forget(place, read)

    def _forget(self, place: _Place, read: "_Read") -> None:
        """Begin anew when this place is asked for again."""
        if self._reads.get(place) is read:
            del self._reads[place]
            self._left.pop(place, None)
            if read.forgetting is not None:
                read.forgetting.cancel()  # it would keep what was read until then
                read.forgetting = None


class _Read:
    """One read of the bucket."""

    __slots__ = ("fetches", "forgetting", "kept_bytes", "task")

    def __init__(self, task: asyncio.Task[Batches]) -> None:
        self.task = task
        self.fetches = 0  # that wait for it
        self.kept_bytes = 0  # of memory, by what it brought
        self.forgetting: asyncio.TimerHandle | None = None


def _size_bytes(batches: Batches) -> int:
    return sum([len(it.payload) for it in batches])


def _kept_bytes(batches: Batches) -> int:
    """Return the size of the blocks that these are pieces of: a piece keeps the whole."""
    blocks = {id(it.payload.obj): it.payload for it in batches}
    return sum([memoryview(it.obj).nbytes for it in blocks.values()])
