"""Batches and objects for tests. A batch's payload tells which batch it is."""

import random
from collections.abc import Iterable, Sequence

from headrace.storage.objects.data_block import BLOCK_HEADER_BYTES
from headrace.storage.objects.writer import ObjectWriter, WrittenObject
from headrace.storage.record_batch import StreamRecordBatch


def batch(
    stream_id: int, base_offset: int, count: int = 1, size: int = 100, epoch: int = 1
) -> StreamRecordBatch:
    """Make a batch whose payload depends on stream and offset only."""
    content = random.Random(stream_id * 1_000_003 + base_offset).randbytes(size)
    return StreamRecordBatch(stream_id, epoch, base_offset, count, memoryview(content))


def batches(
    stream_id: int, start: int, number: int, count: int = 1, size: int = 100, epoch: int = 1
) -> list[StreamRecordBatch]:
    """Make consecutive batches."""
    return [batch(stream_id, start + n * count, count, size, epoch) for n in range(number)]


def write(
    streams: Iterable[Sequence[StreamRecordBatch]], max_block_bytes: int = 1024 * 1024
) -> WrittenObject:
    """Write the batches of several streams, given in order, as one object.

    `max_block_bytes` is what a block may hold behind its header.
    """
    writer = ObjectWriter(BLOCK_HEADER_BYTES + max_block_bytes)
    for of_stream in streams:
        writer.add(of_stream[0].stream_id, of_stream)
    return writer.finish()


def joined(written: WrittenObject) -> bytes:
    """Return the object's bytes."""
    content = b"".join(written.parts)
    assert len(content) == written.size_bytes
    return content
