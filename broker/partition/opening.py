"""Opening a partition: the last checkpoint, then the headers of what was appended after it."""

import logging
from typing import NamedTuple

from broker.partition import checkpoint
from broker.partition.state import PartitionState
from protocol.records.batch import parse_header
from storage.stream import Stream

logger = logging.getLogger("headrace.partition")

READ_BYTES = 4 * 1024 * 1024


class Restored(NamedTuple):
    """A partition's state, and whether its newest checkpoint must be superseded before anything is appended."""

    state: PartitionState
    must_checkpoint: bool


async def restore_state(
    data: Stream, meta: Stream, *, producer_id_expiration_ms: int, now_ms: int
) -> Restored:
    """Rebuild what a partition derives from its log.

    A checkpoint that cannot be read costs time, not data: the log is then replayed from its start. One that lies
    beyond the log's end describes batches that a crash took before they were acknowledged; once new batches reach
    past it, it would look valid, so it must be superseded first.
    """
    state = PartitionState(producer_id_expiration_ms=producer_id_expiration_ms)
    offset = data.start_offset
    found = await _last_checkpoint(meta)
    must_checkpoint = found is not None and found.offset > data.confirm_offset
    if found is not None and data.start_offset <= found.offset <= data.confirm_offset:
        checkpoint.restore(found, state)
        offset = found.offset
    while offset < data.confirm_offset:
        for batch in await data.fetch(offset, READ_BYTES):
            offset = batch.base_offset + batch.count
            header = parse_header(batch.payload)
            epoch, size_bytes = header.partition_leader_epoch, len(batch.payload)
            state.apply(header, batch.base_offset, epoch, size_bytes, now_ms)
    state.producers.expire(now_ms)
    state.trim(data.start_offset, data.confirm_offset)
    return Restored(state, must_checkpoint)


async def _last_checkpoint(meta: Stream) -> checkpoint.Checkpoint | None:
    if meta.confirm_offset == meta.start_offset:
        return None
    try:
        batches = await meta.fetch(meta.confirm_offset - 1, 1)
        return checkpoint.decode(batches[-1].payload)
    except checkpoint.CorruptCheckpointError as error:
        logger.warning(
            "checkpoint is unreadable, replaying the log",
            extra={"stream_id": meta.stream_id, "reason": str(error)},
        )
        return None
