"""Batches of a stream in an object: runs of data blocks are read at once, and verified."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from headrace.pipeline.source.bucket import Bucket, each_run, read_index
from headrace.pipeline.source.catalog import StoredRange
from headrace.pipeline.source.errors import SourceError
from headrace.storage.errors import CorruptObjectError
from headrace.storage.objects.data_block import iterate_batches, verify_block
from headrace.storage.objects.index_block import ObjectIndex
from headrace.storage.record_batch import StreamRecordBatch

RUN_BYTES: Final = 8 * 1024 * 1024  # of one read: blocks that follow each other
RUNS_AHEAD: Final = 1  # read while those before are worked on

Run = list[tuple[int, int, int]]  # of `each_run`


def index_of(bucket: Bucket, stored: StoredRange) -> ObjectIndex:
    """Read the index of an object.

    Raises:
        ObjectGoneError: there is no such object.
        SourceError: it cannot be read, or is damaged.
    """
    try:
        return read_index(bucket, stored.key, stored.size_bytes)
    except CorruptObjectError as error:
        raise _damaged(stored, error) from error


def batch_runs(
    bucket: Bucket, stored: StoredRange, index: ObjectIndex
) -> Iterator[tuple[int, Iterator[StreamRecordBatch]]]:
    """Yield the end offset and the batches of each run of data blocks; batches outside of the range are left out.

    The next run is read meanwhile.

    Raises:
        ObjectGoneError: there is no such object.
        SourceError: it cannot be read, or is damaged.
    """
    runs = list(_runs(stored, index))
    if len(runs) < 2:  # no thread for objects that are read at once: there may be many
        yield from (_opened(run, _read(bucket, stored, run), stored) for run in runs)
        return
    reader = ThreadPoolExecutor(RUNS_AHEAD)
    try:
        ahead = reader.submit(_read, bucket, stored, runs[0])
        for number, run in enumerate(runs, 1):
            try:
                data = ahead.result()
            except BaseException:
                del ahead  # else error, future and frame hold each other, and the run before
                raise
            if number < len(runs):
                ahead = reader.submit(_read, bucket, stored, runs[number])
            yield _opened(run, data, stored)
    finally:
        reader.shutdown(wait=False, cancel_futures=True)  # a read that has begun ends by itself


def each_batch(bucket: Bucket, stored: StoredRange) -> Iterator[StreamRecordBatch]:
    """Yield all batches that have offsets of a range, and read no more than is asked for; errors as of `batch_runs`."""
    for run in _runs(stored, index_of(bucket, stored)):
        yield from _batches(_read(bucket, stored, run), run, stored)


def _runs(stored: StoredRange, index: ObjectIndex) -> Iterator[Run]:
    return each_run(index, stored.stream_id, stored.start_offset, stored.end_offset, RUN_BYTES)


def _read(bucket: Bucket, stored: StoredRange, run: Run) -> memoryview:
    first, last = run[0], run[-1]
    return bucket.read(stored.key, first[0], last[0] + last[1])


def _opened(
    run: Run, data: memoryview, stored: StoredRange
) -> tuple[int, Iterator[StreamRecordBatch]]:
    return min(run[-1][2], stored.end_offset), _batches(data, run, stored)


def _batches(data: memoryview, run: Run, stored: StoredRange) -> Iterator[StreamRecordBatch]:
    origin = run[0][0]
    try:
        for position, size, _ in run:
            at = position - origin
            _, verified = verify_block(data[at : at + size])
            for it in iterate_batches(verified):
                if it.end_offset > stored.start_offset and it.base_offset < stored.end_offset:
                    yield it
    except CorruptObjectError as error:
        raise _damaged(stored, error) from error


def _damaged(stored: StoredRange, error: Exception) -> SourceError:
    return SourceError(
        f"object {stored.key} is damaged: {error}; `headrace object verify {stored.object_id}` says more"
    )
