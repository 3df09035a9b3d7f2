"""Opening a partition: reads the last checkpoint, then the headers and markers of the batches after it.

Damage costs reads of the damaged place only. A checkpoint that cannot be read is passed over: the one before it is
used, or the log is replayed from its start. Batches that cannot be read are passed over as well, up to the next
readable one. Offsets are never taken from what can be read, but from the metadata, so that none is given twice.
"""

import logging
from typing import NamedTuple

from headrace.broker.partition import checkpoint
from headrace.broker.partition.damage import DamagedRange
from headrace.broker.partition.state import PartitionState
from headrace.broker.partition.time_index import MAX_SEGMENT_MS, MAX_TIMESTAMP_MS
from headrace.invariants import require
from headrace.protocol import partition_checkpoint
from headrace.protocol.records.batch import newest_timestamp, parse_header
from headrace.protocol.records.control import decode_end
from headrace.storage.errors import DAMAGE, StorageError
from headrace.storage.record_batch import StreamRecordBatch
from headrace.storage.stream import Stream

logger = logging.getLogger("headrace.partition")

READ_BYTES = 1024 * 1024  # of each partition that is being opened


class Restored(NamedTuple):
    """A partition's state, and what was passed over to get it."""

    state: PartitionState
    is_ahead: bool = False  # the newest checkpoint covers batches that a crash lost
    checkpoints_lost: int = 0  # offsets of the meta stream that could not be read
    damage: tuple[DamagedRange, ...] = ()  # of the records
    checkpoint_bytes: int = 0  # of the one that was used
    replayed_bytes: int = 0  # of batches behind it

    @property
    def is_damaged(self) -> bool:
        """Whether anything could not be read."""
        return bool(self.checkpoints_lost or self.damage)

    @property
    def must_checkpoint(self) -> bool:
        """Whether a checkpoint must be durable before anything is appended.

        A checkpoint beyond the log's end would look valid once new batches reach past it. And what was passed over
        must not be met at the next opening again.
        """
        return self.is_ahead or self.is_damaged


class _Checkpoints(NamedTuple):
    """The newest checkpoint that can be used, if any."""

    found: partition_checkpoint.Checkpoint | None
    size_bytes: int
    is_ahead: bool
    lost: int


async def restore_state(
    data: Stream,
    meta: Stream,
    *,
    producer_id_expiration_ms: int,
    now_ms: int,
    segment_ms: int = MAX_SEGMENT_MS,
    latest_ms: int = MAX_TIMESTAMP_MS,
) -> Restored:
    """Rebuild the state that a partition derives from its log.

    Args:
        data: stream of the batches.
        meta: stream of the checkpoints.
        producer_id_expiration_ms: see `ProducerStates`.
        now_ms: the wall clock.
        segment_ms: the longest time that a segment of the time index covers (`segment.ms`).
        latest_ms: a timestamp beyond it counts as that, see `PartitionState.apply`.

    Raises:
        StorageError: the bucket or the metadata do not answer, or know nothing of an offset.
    """
    state = PartitionState(producer_id_expiration_ms=producer_id_expiration_ms)
    newest = await _newest_checkpoint(meta, data.confirm_offset)
    offset = data.start_offset
    if newest.found is not None and newest.found.offset >= offset:
        checkpoint.restore(newest.found, state, latest_ms)
        offset = newest.found.offset
    elif newest.lost and offset > 0:
        # The producers of deleted records were in the lost checkpoint only.
        state.producers.lose(now_ms)
    replay = _Replay(state, data, now_ms, segment_ms, latest_ms)
    damage = await replay.run(offset)
    state.producers.expire(now_ms)
    state.trim(data.start_offset, data.confirm_offset)
    return Restored(
        state,
        newest.is_ahead,
        newest.lost,
        tuple(damage),
        newest.size_bytes,
        replay.applied_bytes,
    )


class _Replay:
    """Applies the batches of a log to a state."""

    def __init__(
        self, state: PartitionState, data: Stream, now_ms: int, segment_ms: int, latest_ms: int
    ) -> None:
        self._state = state
        self._data = data
        self._now_ms = now_ms
        self._segment_ms = segment_ms
        self._latest_ms = latest_ms
        self.applied_bytes = 0
        self._damage: list[DamagedRange] = []
        self._skipped_from: int | None = None  # the damage right before what is read next

    async def run(self, offset: int) -> list[DamagedRange]:
        """Apply everything from `offset` on; return what cannot be read."""
        data = self._data
        while offset < data.confirm_offset:
            try:
                batches = await data.fetch(offset, READ_BYTES)
            except DAMAGE as error:
                damaged = await damaged_range(data, offset, error)
                self._damage.append(damaged)
                if self._skipped_from is None:
                    self._skipped_from = offset
                offset = damaged.end_offset
                continue
            for batch in batches:
                self._apply(batch)
                offset = batch.base_offset + batch.count
            if self._state.transactions is not None:
                self._state.transactions.acknowledged(offset)
        # They may have been written until just now.
        self._end_skipping(offset, self._now_ms)
        return self._damage

    def _apply(self, batch: StreamRecordBatch) -> None:
        header = parse_header(batch.payload)
        # What lies before a batch is older, and a look-up of that batch's time finds the batch.
        newest_ms = min(newest_timestamp(header), self._latest_ms) - 1
        is_known = 0 <= newest_ms < self._now_ms
        self._end_skipping(batch.base_offset, newest_ms if is_known else self._now_ms)
        self.applied_bytes += len(batch.payload)
        self._state.apply(
            header,
            decode_end(batch.payload) if header.is_control else None,
            header.base_offset,  # that of a cleaned batch is below it: it covers what went before
            header.partition_leader_epoch,
            self._now_ms,
            self._segment_ms,
            self._latest_ms,
        )

    def _end_skipping(self, offset: int, newest_ms: int) -> None:
        if self._skipped_from is not None:
            self._state.skip(self._skipped_from, offset, newest_ms=newest_ms, now_ms=self._now_ms)
            self._skipped_from = None


async def damaged_range(data: Stream, offset: int, error: StorageError) -> DamagedRange:
    """From `offset` to the next offset that may be readable, after a read of `offset` met damage.

    Raises:
        StorageError: the bucket does not answer, or the metadata know nothing of `offset`: read it again.
    """
    _, end = await data.unreadable_span(offset, error)
    require(end > offset, "the span of an offset holds it")
    return DamagedRange(offset, end, f"{type(error).__name__}: {error}")


async def _newest_checkpoint(meta: Stream, log_end_offset: int) -> _Checkpoints:
    """Look for the newest one that can be read and does not reach beyond the log."""
    is_ahead, lost = False, 0
    offset = meta.confirm_offset - 1
    while offset >= meta.start_offset:
        start = offset
        try:
            batches = await meta.fetch(offset, 1)
            found = partition_checkpoint.decode(batches[0].payload)
        except (*DAMAGE, partition_checkpoint.CorruptCheckpointError) as error:
            if not isinstance(error, partition_checkpoint.CorruptCheckpointError):
                start, _ = await meta.unreadable_span(offset, error)
            lost += offset - start + 1
            logger.warning(
                "checkpoint cannot be read; using an older one, or replaying the log",
                extra={"stream_id": meta.stream_id, "reason": f"{type(error).__name__}: {error}"},
            )
        else:
            if found.offset <= log_end_offset:
                return _Checkpoints(found, len(batches[0].payload), is_ahead, lost)
            is_ahead = True
        offset = start - 1
    return _Checkpoints(None, 0, is_ahead, lost)
