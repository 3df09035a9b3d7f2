"""Carries out an upload plan: prepare ids, encode, put. The commit is the pipeline's."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

import msgspec

from headrace.config.node import StorageConfig
from headrace.invariants import require
from headrace.storage.objects.keys import object_key
from headrace.storage.objects.writer import ObjectWriter, WrittenObject
from headrace.storage.ports import (
    NO_OBJECT_ID,
    ObjectStore,
    StreamObject,
    StreamSetCommit,
    UploadedObjects,
)
from headrace.storage.record_batch import StreamRecordBatch
from headrace.storage.request_budget import RequestBudget
from headrace.storage.stats import UploadCounters
from headrace.storage.upload.plan import StreamSlice, UploadPlan
from headrace.storage.upload.retry import Retrying
from headrace.turns import Work, turns_of

# Encoding yields to the loop after either: about 1 ms of checksums, about 1 ms of headers.
ENCODE_STEP_BYTES = 4 * 1024 * 1024
ENCODE_STEP_RECORDS = 512
RELEASE_STEP_PARTS = 16 * 1024


class Uploaded(msgspec.Struct, frozen=True):
    """Objects that are in the bucket but not committed."""

    commit: StreamSetCommit
    prepared_ms: int  # when the oldest of their ids was requested


class _Prepared(msgspec.Struct):
    object_id: int
    prepared_ms: int


class ObjectUpload:
    """Uploads plans; at most `upload_concurrency` puts and `max_upload_bytes` are inflight, over all plans."""

    def __init__(
        self,
        config: StorageConfig,
        *,
        store: ObjectStore,
        objects: UploadedObjects,
        cluster_id: str,
        retrying: Retrying,
        clock_ms: Callable[[], int],
        counters: UploadCounters,
    ) -> None:
        self._max_block_bytes = config.object_block_bytes
        self._prepare_ttl_ms = config.object_prepare_ttl_ms
        self._store = store
        self._objects = objects
        self._cluster_id = cluster_id
        self._clock_ms = clock_ms
        self._counters = counters
        self.retrying = retrying
        self.budget = RequestBudget(config.upload_concurrency, config.max_upload_bytes)
        # One after the other, so that the first is being sent while the next is encoded.
        self._encoding = asyncio.Lock()

    def may_have_expired(self, prepared_ms: int) -> bool:
        """Whether ids that were requested then must not be relied on any more.

        Half of the time to live is kept for the put or commit that is about to begin.
        """
        return 2 * (self._clock_ms() - prepared_ms) > self._prepare_ttl_ms

    async def upload(self, plan: UploadPlan) -> Uploaded:
        """Put every object of a plan into the bucket, retrying until it succeeds.

        Raises:
            FencedError: this node has been replaced.

        Cancellation: objects may have been written; their preparation expires by itself.
        """
        first = await self._prepare(plan.object_count)
        tasks: list[asyncio.Task[tuple[_Prepared, int]]] = []
        try:
            async with asyncio.TaskGroup() as group:
                for number, slices in enumerate(_objects_of(plan)):
                    prepared = _Prepared(first.object_id + number, first.prepared_ms)
                    tasks.append(group.create_task(self._upload_object(prepared, slices)))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        written = [task.result() for task in tasks]
        oldest_ms = min(prepared.prepared_ms for prepared, _ in written)
        return Uploaded(_commit_of(plan, written), oldest_ms)

    async def _prepare(self, count: int) -> _Prepared:
        async def prepare() -> _Prepared:
            asked_ms = self._clock_ms()
            first_id = await self._objects.prepare_objects(count, self._prepare_ttl_ms)
            return _Prepared(first_id, asked_ms)

        return await self.retrying.call("prepare objects", prepare)

    async def _upload_object(
        self, prepared: _Prepared, slices: Sequence[StreamSlice]
    ) -> tuple[_Prepared, int]:
        async with self.budget.reserved(sum(each.size_bytes for each in slices)):
            async with self._encoding:
                written = await self._encode(slices)

            async def put() -> None:
                # An earlier attempt may still arrive: under an id that is never committed it is garbage that expires;
                # under the same id it changes nothing. Each attempt keeps its own parts: it may outlive this call.
                if self.may_have_expired(prepared.prepared_ms):
                    fresh = await self._prepare(1)
                    prepared.object_id = fresh.object_id
                    prepared.prepared_ms = fresh.prepared_ms
                    self._counters.expired_total += 1
                key = object_key(self._cluster_id, prepared.object_id)
                await self._store.put(key, tuple(written.parts))

            await self.retrying.call("put object", put)
            while written.parts:  # to free a million Python objects at once would block the loop
                del written.parts[-RELEASE_STEP_PARTS:]
                await turns_of(Work.UPKEEP).pause()
        return prepared, written.size_bytes

    async def _encode(self, slices: Sequence[StreamSlice]) -> WrittenObject:
        writer = ObjectWriter(self._max_block_bytes)
        records = size_bytes = 0
        for stream_slice in slices:
            for step in _steps(stream_slice.batches):
                writer.add(stream_slice.range.stream_id, step)
                records += len(step)
                size_bytes += sum([len(batch.payload) for batch in step])
                if records >= ENCODE_STEP_RECORDS or size_bytes >= ENCODE_STEP_BYTES:
                    records = size_bytes = 0
                    await turns_of(Work.UPKEEP).pause()
        written = writer.finish()
        covered = [(each.stream_id, each.start_offset, each.end_offset) for each in written.ranges]
        planned = [
            (each.range.stream_id, each.range.start_offset, each.range.end_offset)
            for each in slices
        ]
        require(covered == planned, "the object must hold exactly what will be committed")
        return written


def _objects_of(plan: UploadPlan) -> list[Sequence[StreamSlice]]:
    """The slices of each object; ids are given in this order."""
    shared = [plan.stream_set] if plan.stream_set else []
    return [*shared, *((each,) for each in plan.stream_objects)]


def _commit_of(plan: UploadPlan, written: Sequence[tuple[_Prepared, int]]) -> StreamSetCommit:
    set_id, set_bytes = NO_OBJECT_ID, 0
    if plan.stream_set:
        (prepared, set_bytes), *written = written
        set_id = prepared.object_id
    return StreamSetCommit(
        object_id=set_id,
        size_bytes=set_bytes,
        ranges=[each.range for each in plan.stream_set],
        stream_objects=[
            StreamObject(prepared.object_id, size_bytes, each.range)
            for each, (prepared, size_bytes) in zip(plan.stream_objects, written, strict=True)
        ],
        wal_end_offset=plan.wal_end_offset,
    )


def _steps(batches: Sequence[StreamRecordBatch]) -> Iterator[Sequence[StreamRecordBatch]]:
    """Cut a stream's records where encoding may pause."""
    begin = size_bytes = 0
    for position, batch in enumerate(batches):
        size_bytes += len(batch.payload)
        if size_bytes >= ENCODE_STEP_BYTES or position - begin + 1 >= ENCODE_STEP_RECORDS:
            yield batches[begin : position + 1]
            begin, size_bytes = position + 1, 0
    if begin < len(batches):
        yield batches[begin:]
