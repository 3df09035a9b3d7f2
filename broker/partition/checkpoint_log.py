"""The meta stream of a partition: when its checkpoints are written and trimmed."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from headrace.broker.partition import checkpoint
from headrace.broker.partition.append_rules import RECORD_OVERHEAD_BYTES
from headrace.broker.partition.state import PartitionState
from headrace.storage.engine import StorageEngine
from headrace.storage.errors import BackPressureError, StorageError
from headrace.storage.stream import Stream

logger = logging.getLogger("headrace.partition")

# In the meta stream, before it is trimmed: each trim is an entry of the metadata log, for 2 GiB of records at least.
CHECKPOINTS_RETAINED = 1_024


class CheckpointLog:
    """Writes checkpoints of one partition, each after the batches that it covers: both share the WAL's order."""

    def __init__(
        self,
        meta: Stream,
        data: Stream,
        state: PartitionState,
        *,
        engine: StorageEngine,
        max_interval_bytes: int,
    ) -> None:
        self._meta = meta
        self._data = data
        self._state = state
        self._engine = engine
        self._max_interval_bytes = max_interval_bytes
        self._bytes_since_last = 0
        self._due_bytes = checkpoint.interval_bytes(0, max_interval_bytes)
        self._durable_offset = -1  # offset of the last durable checkpoint of this object
        self._damaged_end: int | None = None  # of the meta stream's offsets that may be damaged

    @property
    def retained(self) -> int:
        """Checkpoints in the stream; all but the last are superseded."""
        return self._meta.next_offset - self._meta.start_offset

    def opened(self, last_bytes: int, replayed_bytes: int) -> None:
        """Begin behind a checkpoint of `last_bytes`, and what was replayed: else openings would replay ever more."""
        self._bytes_since_last = replayed_bytes
        self._due_bytes = checkpoint.interval_bytes(last_bytes, self._max_interval_bytes)

    def found_damaged(self) -> None:
        """Have `trim` drop what the meta stream holds by now: some of it cannot be read."""
        self._damaged_end = self._meta.next_offset

    def appended(self, size_bytes: int) -> None:
        """Count an appended batch; writes a checkpoint when one is due and there is room for it."""
        self._bytes_since_last += size_bytes
        if self._bytes_since_last >= self._due_bytes and not self.write():
            # Not with each batch: to take one may cost much more than the batch.
            self._due_bytes = self._bytes_since_last + checkpoint.interval_bytes(
                0, self._max_interval_bytes
            )

    def write(self, on_done: Callable[[Exception | None], None] = lambda _error: None) -> bool:
        """Append a checkpoint; False when storage refuses it now: then the next opening reads more of the log."""
        offset = self._data.next_offset
        data = checkpoint.take(self._state, offset, self._data.start_offset)

        def done(error: Exception | None) -> None:
            if error is None:
                self._durable_offset = offset
            on_done(error)

        if not self._engine.admits(len(data) + RECORD_OVERHEAD_BYTES):
            return False
        try:
            self._meta.append(data, 1, done)
        except StorageError as error:
            self._log_failure(error)
            return False
        self._bytes_since_last = 0
        self._due_bytes = checkpoint.interval_bytes(len(data), self._max_interval_bytes)
        return True

    async def write_news(self) -> bool:
        """Write a checkpoint if the log has grown since the last one, and wait until it is durable; False if not."""
        return not self._bytes_since_last or await self.write_durably()

    async def settle(self) -> tuple[int, int]:
        """Write a checkpoint if the log has grown, and wait until all that was appended is acknowledged.

        Returns:
            Where data stream and meta stream end.

        Raises:
            BackPressureError: the checkpoint was refused.
            EngineFailedError, FencedError: it never will be.
        """
        if not await self.write_news():
            raise BackPressureError("the checkpoint that must precede the move was not written")
        await self._data.confirmed()
        await self._meta.confirmed()
        return self._data.next_offset, self._meta.next_offset

    async def cover(self, offset: int) -> bool:
        """Ensure a durable checkpoint of everything below `offset`; False when that fails."""
        return self._durable_offset >= offset or await self.write_durably()

    async def write_durably(self) -> bool:
        """Write a checkpoint and wait until it is durable; False when that failed."""
        done: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()

        def finish(error: Exception | None) -> None:
            if not done.done():
                done.set_result(error)

        if not self.write(finish):
            return False
        error = await done
        if error is not None:
            self._log_failure(error)
        return error is None

    async def trim(self) -> None:
        """Trim superseded checkpoints once there are many, and damaged ones once a newer one is in the bucket.

        Raises:
            StorageError: as `Stream.trim`.
        """
        meta = self._meta
        if meta.confirm_offset - meta.start_offset > CHECKPOINTS_RETAINED:
            await meta.trim(meta.confirm_offset - 1)
        elif self._damaged_end is not None and meta.committed_offset > self._damaged_end:
            await meta.trim(meta.committed_offset - 1)
        if self._damaged_end is not None and meta.start_offset >= self._damaged_end:
            self._damaged_end = None

    async def trim_superseded(self) -> None:
        """Trim all but the last one: they keep objects of deleted records. If that fails, the next deletion does."""
        meta = self._meta
        if meta.confirm_offset - meta.start_offset > 1:
            with suppress(StorageError):
                await meta.trim(meta.confirm_offset - 1)

    def _log_failure(self, error: Exception) -> None:
        logger.warning(
            "checkpoint not written: the next opening of this partition reads more of its log",
            extra={"stream_id": self._meta.stream_id, "reason": repr(error)},
        )
