"""Blocks of records as LogCache archives them: the input of an upload."""

import random
from collections.abc import Mapping

from headrace.storage.record_batch import HEADER_BYTES, StreamRecordBatch

BUFFER_BYTES = 4 * 1024 * 1024  # batches are views into WAL buffers of about this size
BATCH_BYTES = 16 * 1024


def make_block(
    streams: int, size_bytes: int, *, first_offset: int = 0, seed: int = 1
) -> tuple[dict[int, list[StreamRecordBatch]], Mapping[int, int]]:
    """Return batches by stream, and their encoded sizes; no two batches share memory.

    Args:
        streams: number of streams; batches go to them in turn.
        size_bytes: of all payloads.
        first_offset: of each stream.
        seed: of the bytes.
    """
    content = random.Random(seed).randbytes(BUFFER_BYTES)
    block: dict[int, list[StreamRecordBatch]] = {it: [] for it in range(1, streams + 1)}
    batches = size_bytes // BATCH_BYTES
    per_buffer = BUFFER_BYTES // BATCH_BYTES
    for number in range(batches):
        if number % per_buffer == 0:
            buffer = memoryview(bytearray(content))
        at = number % per_buffer * BATCH_BYTES
        of_stream = block[number % streams + 1]
        offset = first_offset + len(of_stream)
        payload = buffer[at : at + BATCH_BYTES]
        of_stream.append(StreamRecordBatch(number % streams + 1, 1, offset, 1, payload))
    block = {stream_id: found for stream_id, found in block.items() if found}
    sizes = {it: len(found) * (HEADER_BYTES + BATCH_BYTES) for it, found in block.items()}
    return block, sizes
