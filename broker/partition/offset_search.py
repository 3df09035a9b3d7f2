"""Finding records by time: the index narrows, batch headers select, the records of one batch decide.

A batch may decompress to millions of records: decoding them lets others have their turn now and then.
"""

import asyncio
from collections.abc import AsyncIterator

from broker.partition.append_rules import DECOMPRESSED_BYTES_MAX
from broker.partition.partition import Partition
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
    newest = partition.state.times.max_timestamp_offset
    if not partition.log_start_offset <= newest < partition.high_watermark:
        return None
    batch = (await partition.read(newest, 1))[0]
    best: tuple[int, int] | None = None
    async for offset, timestamp_ms in _timestamps(batch):
        if best is None or timestamp_ms > best[1]:
            best = offset, timestamp_ms
    return best


async def _timestamps(batch: StreamRecordBatch) -> AsyncIterator[tuple[int, int]]:
    records = decode_records(batch.payload, DECOMPRESSED_BYTES_MAX)
    for number, record in enumerate(records, start=1):
        if number % RECORDS_PER_TURN == 0:
            await asyncio.sleep(0)
        yield record.offset, record.timestamp_ms
