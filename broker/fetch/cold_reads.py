"""Reads of the bucket on behalf of Fetches, which wait for them only so long.

A read that takes longer than its Fetch waits goes on, and the next Fetch of the same place joins it or finds what
became of it: a read that begins from scratch each time would never end where a bucket is slow or an object is lost, and
its client would be told nothing. Who asks while it is under way joins too. What nobody asks for any more is bounded,
and forgotten after a while.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from broker.partition.partition import Partition
from storage.errors import StorageError
from storage.record_batch import StreamRecordBatch

# Of reads that no Fetch waits for just now. Beyond the first or the second the oldest is given up.
LEFT_MAX: Final = 256
LEFT_BYTES_MAX: Final = 32 * 1024 * 1024  # of what they brought; one may be larger
LEFT_MS_MAX: Final = 10_000  # after its end: clients ask again at once

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
        self, partition: Partition, offset: int, bytes_max: int, give_up_s: float
    ) -> Batches | None:
        """Whole batches from the one that holds `offset`; None when they are not there by `give_up_s`.

        They may be more or fewer than `bytes_max` says, which is that of the first who asked.

        Raises:
            StorageError: what the partition's read raises.

        Cancellation: ends the read if nobody else waits for it.
        """
        place = (partition, offset)
        read = self._reads.get(place) or self._begin(place, bytes_max)
        self._left.pop(place, None)
        read.fetches += 1
        is_cancelled = True
        try:
            timeout_s = max(0.0, give_up_s - asyncio.get_running_loop().time())
            await asyncio.wait((read.task,), timeout=timeout_s)
            is_cancelled = False
        finally:
            read.fetches -= 1
            if read.fetches == 0:
                self._left_alone(place, read, is_cancelled=is_cancelled)
        return read.task.result() if read.task.done() else None

    def _begin(self, place: _Place, bytes_max: int) -> "_Read":
        partition, offset = place
        read = _Read(asyncio.get_running_loop().create_task(partition.read(offset, bytes_max)))
        self._reads[place] = read
        read.task.add_done_callback(lambda _: self._ended(place, read))
        return read

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
            read.size_bytes = sum([len(batch.payload) for batch in read.task.result()])
        if self._left.pop(place, None) is read:
            self._left[place] = read  # now the newest
            asyncio.get_running_loop().call_later(
                LEFT_MS_MAX / 1000, self._forget_if_left, place, read
            )
            self._bound()

    def _bound(self) -> None:
        """Give the oldest up: of too many reads, or of those that brought too much together."""
        while len(self._left) > LEFT_MAX:
            place, read = next(iter(self._left.items()))
            self._forget(place, read)
            read.task.cancel()
        brought = [(place, read) for place, read in self._left.items() if read.size_bytes]
        size_bytes = sum(read.size_bytes for _, read in brought)
        for place, read in brought[:-1]:
            if size_bytes <= LEFT_BYTES_MAX:
                break
            size_bytes -= read.size_bytes
            self._forget(place, read)

    def _forget_if_left(self, place: _Place, read: "_Read") -> None:
        if self._left.get(place) is read:
            self._forget(place, read)

    def _forget(self, place: _Place, read: "_Read") -> None:
        """Begin anew when this place is asked for again."""
        if self._reads.get(place) is read:
            del self._reads[place]
            self._left.pop(place, None)


class _Read:
    """One read of the bucket."""

    __slots__ = ("fetches", "size_bytes", "task")

    def __init__(self, task: asyncio.Task[list[StreamRecordBatch]]) -> None:
        self.task = task
        self.fetches = 0  # that wait for it
        self.size_bytes = 0  # of what it brought
