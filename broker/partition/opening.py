"""Opening a partition: reads the last checkpoint, then the headers of the batches after it."""

import logging
from collections.abc import AsyncIterator
from typing import NamedTuple

from headrace.broker.partition import checkpoint
from headrace.broker.partition.state import PartitionState
from headrace.broker.partition.time_index import MAX_SEGMENT_MS
from headrace.protocol.records.batch import parse_header
from headrace.storage.stream import Stream

logger = logging.getLogger("headrace.partition")

READ_BYTES = 4 * 1024 * 1024


class Restored(NamedTuple):
    """A partition's state, and whether its newest checkpoint must be superseded before anything is appended."""

    state: PartitionState
    must_checkpoint: bool


async def restore_state(
    data: Stream,
    meta: Stream,
    *,
    producer_id_expiration_ms: int,
    now_ms: int,
    segment_ms: int = MAX_SEGMENT_MS,
) -> Restored:
    """Rebuild the state that a partition derives from its log.

    A checkpoint that cannot be read costs time, not data: the one before it is used, or the log is replayed from its
    start. A checkpoint beyond the log's end covers batches that a crash lost before they were acknowledged. Once new
    batches reach past it, it would look valid, so it must be superseded first.

    Args:
        data: stream of the batches.
        meta: stream of the checkpoints.
        producer_id_expiration_ms: see `ProducerStates`.
        now_ms: the wall clock.
        segment_ms: the longest time that a segment of the time index covers (`segment.ms`).
    """
    state = PartitionState(producer_id_expiration_ms=producer_id_expiration_ms)
    offset = data.start_offset
    must_checkpoint = False
    async for found in _checkpoints(meta):
        if found.offset > data.confirm_offset:
            must_checkpoint = True
            continue
        if found.offset >= data.start_offset:
            checkpoint.restore(found, state)
            offset = found.offset
        break
    while offset < data.confirm_offset:
        for batch in await data.fetch(offset, READ_BYTES):
            offset = batch.base_offset + batch.count
            header = parse_header(batch.payload)
            epoch, size_bytes = header.partition_leader_epoch, len(batch.payload)
            state.apply(header, batch.base_offset, epoch, size_bytes, now_ms, segment_ms)
    state.producers.expire(now_ms)
    state.trim(data.start_offset, data.confirm_offset)
    return Restored(state, must_checkpoint)


async def _checkpoints(meta: Stream) -> AsyncIterator[checkpoint.Checkpoint]:
    """Yield those that can be read, the newest first."""
    for offset in range(meta.confirm_offset - 1, meta.start_offset - 1, -1):
        try:
            batches = await meta.fetch(offset, 1)
            yield checkpoint.decode(batches[0].payload)
        except checkpoint.CorruptCheckpointError as error:
            logger.warning(
                "checkpoint cannot be read; using an older one, or replaying the log",
                extra={"stream_id": meta.stream_id, "reason": str(error)},
            )
