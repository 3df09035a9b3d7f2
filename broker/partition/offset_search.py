"""Finding records by time: the index narrows, batch headers select, the records of one batch decide.

A batch may decompress to millions of records: decoding them lets others have their turn now and then.
"""

import asyncio
from collections.abc import AsyncIterator

from broker.partition.append_rules import DECOMPRESSED_BYTES_MAX
from broker.partition.partition import Partition
from broker.partition.time_index import NO_TIMESTAMP
from protocol.records.batch import parse_header
from protocol.records.record import decode_records
from storage.record_batch import StreamRecordBatch

READ_BYTES = 4 * 1024 * 1024
RECORDS_PER_TURN = 1_000  # about 2 ms


async def find_by_timestamp(partition: Partition, timestamp_ms: int) -> tuple[int, int] | None:
    """(offset, timestamp) of the first record by offset that is not older than `timestamp_ms`; None if none is."""
    start = partition.state.times.start_of_search(timestamp_ms)
    if start is None:
        return None
    log_start = partition.log_start_offset
    offset = max(start, log_start)
    while offset < partition.high_watermark:
        for batch in await partition.read(offset, READ_BYTES):
            offset = batch.base_offset + batch.count
            if parse_header(batch.payload).max_timestamp < timestamp_ms:
                continue
            async for record_offset, record_timestamp in _timestamps(batch):
                # The first batch may begin below the log start, where nothing can be fetched.
                if record_timestamp >= timestamp_ms and record_offset >= log_start:
                    return record_offset, record_timestamp
    return None


async def find_newest(partition: Partition) -> tuple[int, int] | None:
    """(offset, timestamp) of the first record with the largest timestamp; None when the log has none."""
    times = partition.state.times
    newest = times.max_timestamp_offset
    if newest >= partition.high_watermark or times.max_timestamp_ms == NO_TIMESTAMP:
        return None
    if newest < partition.log_start_offset:
        return await _newest_of_all(partition)
    return await _newest_of((await partition.read(newest, 1))[0], partition.log_start_offset)


async def _newest_of_all(partition: Partition) -> tuple[int, int] | None:
    """The same by looking at every batch: the record that was the newest has been deleted."""
    log_start = offset = partition.log_start_offset
    best: tuple[int, int] | None = None
    candidate: tuple[int, StreamRecordBatch] | None = None
    while offset < partition.high_watermark:
        for batch in await partition.read(offset, READ_BYTES):
            offset = batch.base_offset + batch.count
            if batch.base_offset < log_start:
                best = await _newest_of(batch, log_start)  # of its header it is not known where
                continue
            newest_ms = parse_header(batch.payload).max_timestamp
            if candidate is None or newest_ms > candidate[0]:
                candidate = newest_ms, batch
    if candidate is None or (best is not None and best[1] >= candidate[0]):
        return best
    return await _newest_of(candidate[1], log_start)


async def _newest_of(batch: StreamRecordBatch, log_start: int) -> tuple[int, int] | None:
    best: tuple[int, int] | None = None
    async for offset, timestamp_ms in _timestamps(batch):
        if offset >= log_start and (best is None or timestamp_ms > best[1]):
            best = offset, timestamp_ms
    return best


async def _timestamps(batch: StreamRecordBatch) -> AsyncIterator[tuple[int, int]]:
    records = decode_records(batch.payload, DECOMPRESSED_BYTES_MAX)
    for number, record in enumerate(records, start=1):
        if number % RECORDS_PER_TURN == 0:
            await asyncio.sleep(0)
        yield record.offset, record.timestamp_ms
