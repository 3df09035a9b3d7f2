"""Finds the offset of a time in the bucket: by the newest checkpoint, then by headers, then by records.

The answer is that of ListOffsets, as far as the bucket has the partition.
"""

from typing import Final

from headrace.pipeline.source.blocks import each_batch
from headrace.pipeline.source.bucket import Bucket
from headrace.pipeline.source.catalog import Catalog, StoredPartition
from headrace.protocol.partition_checkpoint import Checkpoint, CorruptCheckpointError, decode
from headrace.protocol.records.batch import BatchHeader, newest_timestamp, split_batches
from headrace.protocol.records.record import decode_records
from headrace.storage.record_batch import StreamRecordBatch

DAY_MS: Final = 86_400_000
MAX_BATCH_BYTES: Final = (
    256 * 1024 * 1024
)  # of one batch, decompressed: what the broker's readers accept
MAX_CHECKPOINTS: Final = 16  # that are looked at, newest first, should the newest be damaged


def find_by_timestamp(
    bucket: Bucket, catalog: Catalog, stored: StoredPartition, timestamp_ms: int
) -> int | None:
    """Return the offset of the first record that is not older than `timestamp_ms`; None when none is.

    Raises:
        SourceError: the bucket cannot be read, or an object is damaged.
        ObjectGoneError: an object is gone: newer metadata is needed.
        RecordsError: a batch is damaged.
    """
    start = _start_of_search(bucket, catalog, stored, timestamp_ms)
    return _search(bucket, catalog, stored, timestamp_ms, start)


def day_starts(bucket: Bucket, catalog: Catalog, stored: StoredPartition) -> list[tuple[int, int]]:
    """Return (offset, day since 1970 in UTC): where the first record of a new day is, by the time index.

    A day that has an earlier one behind it is left out, and so is what came after the newest checkpoint. Errors as of
    `find_by_timestamp`.
    """
    known = _newest_checkpoint(bucket, catalog, stored.meta_stream_id)
    if known is None:
        return []
    ends = [(it.offset, it.max_ms) for it in known.time_entries]
    ends.append((known.offset, known.segment_max_ms))
    found: list[tuple[int, int]] = []
    start, day = stored.start_offset, None
    for offset, max_ms in ends:
        newest = max_ms // DAY_MS
        if offset > stored.start_offset and (day is None or newest > day):
            first = _search(bucket, catalog, stored, newest * DAY_MS, start)
            if first is not None:
                found.append((first, newest))
                day = newest
        start = max(start, offset)
    return found


def _search(
    bucket: Bucket, catalog: Catalog, stored: StoredPartition, timestamp_ms: int, start: int
) -> int | None:
    start = max(start, stored.start_offset)
    for found in catalog.ranges(stored.data_stream_id, start, stored.end_offset):
        for payload in each_batch(bucket, found):
            for header, batch in split_batches(memoryview(payload.payload)):
                offset = _first_in(header, batch, timestamp_ms, stored.start_offset)
                if offset is not None:
                    return offset
    return None


def _first_in(
    header: BatchHeader, batch: memoryview, timestamp_ms: int, start_offset: int
) -> int | None:
    if (
        header.is_control
        or newest_timestamp(header) < timestamp_ms
        or header.last_offset < start_offset
    ):
        return None
    for record in decode_records(batch, MAX_BATCH_BYTES):
        if record.offset >= start_offset and record.timestamp_ms >= timestamp_ms:
            return record.offset
    return None


def _start_of_search(
    bucket: Bucket, catalog: Catalog, stored: StoredPartition, timestamp_ms: int
) -> int:
    """Offset below which no record is as new: the end of the last segment before the first one that is new enough."""
    known = _newest_checkpoint(bucket, catalog, stored.meta_stream_id)
    if known is None:
        return stored.start_offset
    start = stored.start_offset
    for entry in known.time_entries:
        if entry.max_ms >= timestamp_ms:
            return start
        start = entry.offset
    if known.segment_max_ms < timestamp_ms:
        start = max(start, known.offset)  # what came after the checkpoint is not in it
    return start


def _newest_checkpoint(bucket: Bucket, catalog: Catalog, meta_stream_id: int) -> Checkpoint | None:
    bounds = catalog.stream_bounds(meta_stream_id)
    if bounds is None:
        return None
    first = max(bounds[0], bounds[1] - MAX_CHECKPOINTS)
    found: list[StreamRecordBatch] = []
    for stored in catalog.ranges(meta_stream_id, first, bounds[1]):
        found.extend(each_batch(bucket, stored))
    for batch in reversed(found):
        try:
            return decode(batch.payload)
        except CorruptCheckpointError:
            continue
    return None
