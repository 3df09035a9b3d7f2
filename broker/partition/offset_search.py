"""Finds records by time: by the time index, then by batch headers, then by the records of one batch.

A batch may decompress to millions of records, so they are walked over in slices (`headrace.protocol.records.walk`).
"""

from collections.abc import AsyncIterator

from headrace.broker.partition.append_rules import MAX_DECOMPRESSED_BYTES
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.read_side import ReadSide
from headrace.broker.partition.time_index import NO_TIMESTAMP, Segment
from headrace.daemon_threads import in_own_thread
from headrace.protocol.records.batch import newest_timestamp, parse_header
from headrace.protocol.records.walk import walk_facts
from headrace.protocol.records.window import Slice
from headrace.storage.record_batch import StreamRecordBatch
from headrace.turns import Work, turns_of

READ_BYTES = 4 * 1024 * 1024


async def find_by_timestamp(partition: Partition, timestamp_ms: int) -> tuple[int, int] | None:
    """(offset, timestamp) of the first record by offset that is not older than `timestamp_ms`; None if none is."""
    start = partition.state.times.start_of_search(timestamp_ms)
    if start is None:
        return None
    reads = partition.reads
    log_start = reads.log_start_offset
    offset = max(start, log_start)
    while offset < reads.high_watermark:
        for batch in await reads.read(offset, READ_BYTES):
            offset = batch.base_offset + batch.count
            if newest_timestamp(parse_header(batch.payload)) < timestamp_ms:
                continue
            async for record_offset, record_timestamp in _timestamps(batch):
                # The first batch may begin below the log start, where nothing can be fetched.
                if record_timestamp >= timestamp_ms and record_offset >= log_start:
                    return record_offset, record_timestamp
    return None


async def find_newest(partition: Partition) -> tuple[int, int] | None:
    """(offset, timestamp) of the first record with the largest timestamp; None when the log has none.

    The index holds the newest batch of each segment. If that batch is deleted, or not acknowledged yet, the segment
    is read.
    """
    reads = partition.reads
    log_start, high_watermark = reads.log_start_offset, reads.high_watermark
    known: Segment | None = None
    unknown: list[Segment] = []
    for segment in partition.state.times.segments():
        if segment.max_ms == NO_TIMESTAMP or segment.start >= high_watermark:
            continue
        if not log_start <= segment.max_offset < high_watermark:
            unknown.append(segment)
        elif known is None or segment.max_ms > known.max_ms:
            known = segment
    best: tuple[int, int] | None = None
    if known is not None:
        best = await _newest_of((await reads.read(known.max_offset, 1))[0], log_start)
    for segment in unknown:
        if best is None or segment.max_ms >= best[1]:
            best = _newer(best, await _newest_of_segment(reads, segment))
    return best


async def _newest_of_segment(reads: ReadSide, segment: Segment) -> tuple[int, int] | None:
    log_start = reads.log_start_offset
    offset = max(segment.start, log_start)
    end = reads.high_watermark if segment.end is None else segment.end
    best: tuple[int, int] | None = None
    while offset < min(end, reads.high_watermark):
        for batch in await reads.read(offset, READ_BYTES):
            if batch.base_offset >= end:
                return best
            offset = batch.base_offset + batch.count
            if best is None or newest_timestamp(parse_header(batch.payload)) > best[1]:
                best = _newer(best, await _newest_of(batch, log_start))
    return best


def _newer(one: tuple[int, int] | None, other: tuple[int, int] | None) -> tuple[int, int] | None:
    """The one with the larger timestamp; of equal ones the first by offset."""
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda found: (found[1], -found[0]))


async def _newest_of(batch: StreamRecordBatch, log_start: int) -> tuple[int, int] | None:
    best: tuple[int, int] | None = None
    async for offset, timestamp_ms in _timestamps(batch):
        if offset >= log_start and (best is None or timestamp_ms > best[1]):
            best = offset, timestamp_ms
    return best


async def _timestamps(batch: StreamRecordBatch) -> AsyncIterator[tuple[int, int]]:
    header = parse_header(batch.payload)
    steps = walk_facts(header, batch.payload, MAX_DECOMPRESSED_BYTES)
    found = next(steps, None)
    while found is not None:
        if found is Slice.THREAD:
            found = await in_own_thread("records", lambda: next(steps, None))
            continue
        if isinstance(found, list):
            for record in found:
                timestamp_ms = header.base_timestamp + record.timestamp_delta_ms
                if header.is_log_append_time:
                    timestamp_ms = header.max_timestamp
                yield header.base_offset + record.offset_delta, timestamp_ms
        else:
            await turns_of(Work.REQUESTS).pause()
        found = next(steps, None)
