"""Brings the records of a WAL to the bucket: of this node's own at a start, or of another broker's that has died.

Reads ahead while it uploads, with budgets of its own, so that it can run beside an engine that serves. Commits
happen in the order of the WAL. The process may end at any point, and anyone may drain the same WAL again: what
was committed is below the streams' ends by then, and what was only uploaded is never committed and expires.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from itertools import islice
from typing import Protocol

import msgspec

from headrace.invariants import require
from headrace.storage.errors import CorruptObjectError
from headrace.storage.ports import StreamMetadata
from headrace.storage.record_batch import StreamRecordBatch, decode_batch
from headrace.storage.recovery_plan import RecordAction, RecoveryPlan, RecoveryUpload
from headrace.storage.upload.commit import UploadCommitter
from headrace.storage.upload.plan import plan_upload
from headrace.turns import Work, turns_of
from headrace.wal.port import DamageableLog, RecoveredRecord

# What is read and uploaded together; one segment is read while others are uploaded. More is no faster.
MAX_SEGMENT_BYTES = 32 * 1024 * 1024
MAX_UPLOADS = 2  # segments
MAX_STREAMS_LOGGED = 100
_KEPT = (RecordAction.TAKE, RecordAction.COMMITTED)

# Takes records that lie in one buffer, and the bytes of that buffer.
Keep = Callable[[Sequence[StreamRecordBatch], int], None]

logger = logging.getLogger("headrace.storage.drain")


class DrainSource(Protocol):
    """A WAL that is read once, from where it was released."""

    def recover(self) -> AsyncGenerator[RecoveredRecord, None]:
        """Yield the records that survived, in offset order; see `headrace.wal.port`."""
        ...


class DrainCheckpoints(Protocol):
    """What adds records behind the last ones of a log, made from what was read."""

    def found(self, batch: StreamRecordBatch) -> None:
        """Take note of a record that is committed, or will be; in the order of the WAL."""
        ...

    def closing(
        self, ends: Mapping[int, int], epochs: Mapping[int, int]
    ) -> Iterator[StreamRecordBatch | None]:
        """Give each record to be added, which begins at the end of its stream; None between steps.

        `ends` and `epochs` of the streams that have records in the log: with all of them taken.
        """
        ...


class DrainReport(msgspec.Struct, frozen=True):
    """What was found in a WAL."""

    counts: Mapping[RecordAction, int]  # of records, by what was done with them
    bytes: int  # payloads of those that were uploaded
    streams: int  # of which records were uploaded
    read_ms: int  # until the last record was read
    upload_ms: int  # until the last object was in the bucket
    commit_ms: int  # all commits together, one after the other
    duration_ms: int
    # Where each stream ends of which records were uploaded or found committed.
    ends: Mapping[int, int] = msgspec.field(default_factory=dict)
    # Of the dropped: behind a record that did not survive. It was never acknowledged, and neither were
    # these, unless the loss of acknowledged bytes was accepted.
    discontinuous_by_stream: Mapping[int, int] = msgspec.field(default_factory=dict)
    lost_bytes: int = 0  # acknowledged, and not readable in the WAL

    @property
    def fields(self) -> dict[str, int]:
        """Records by what was done with them, for the log."""
        return {verdict.name.lower(): count for verdict, count in self.counts.items()}

    @property
    def records(self) -> int:
        """Records that were uploaded."""
        return self.counts[RecordAction.TAKE]

    @property
    def dropped(self) -> int:
        """Records that were not, for any reason; most often because they were committed already."""
        return sum(self.counts.values()) - self.records

    @property
    def discontinuous(self) -> int:
        """Records behind one that did not survive."""
        return self.counts[RecordAction.DISCONTINUOUS]


class WalDrain:
    """One drain of one WAL."""

    def __init__(
        self,
        source: DrainSource,
        streams: Sequence[StreamMetadata],
        committer: UploadCommitter,
        *,
        clock_ms: Callable[[], int],
        max_segment_bytes: int,
        stream_split_bytes: int,
        checkpoints: DrainCheckpoints | None = None,
    ) -> None:
        """Nothing is read before `run`.

        Args:
            source: the WAL.
            streams: that its owner has open, as they are now that no other node commits in its name.
            committer: uploads and commits in the name of the WAL.
            clock_ms: for the report.
            max_segment_bytes: see `MAX_SEGMENT_BYTES`, which bounds it.
            stream_split_bytes: see `plan_upload`.
            checkpoints: adds records in the end; they are uploaded with the last ones of the log.
        """
        self._checkpoints = checkpoints
        self._source = source
        self._committer = committer
        self._clock_ms = clock_ms
        self._stream_split_bytes = stream_split_bytes
        self._plan = RecoveryPlan(
            streams, max_segment_bytes=min(max_segment_bytes, MAX_SEGMENT_BYTES)
        )
        self._room = asyncio.Semaphore(MAX_UPLOADS)
        self._last: asyncio.Task[None] | None = None  # commits the newest segment
        self._uploaded_ms = 0  # when the last one was
        self._commit_ms = 0
        self._keep: Keep | None = None

    async def run(self, keep: Keep | None = None) -> DrainReport:
        """Upload and commit what is in no object yet.

        Args:
            keep: is given what has been committed, in WAL order.

        Raises:
            RecoveryError: WAL and control plane contradict each other.
            WalCorruptError, CorruptObjectError: what was acknowledged cannot be read.
            CommitRefusedError, FencedError: the control plane has another owner for a stream, or the drain has ended.

        Cancellation: safe; drain it again.
        """
        begin_ms = self._clock_ms()
        self._keep = keep
        try:
            async with asyncio.TaskGroup() as uploads:
                await self._read(uploads)
                read_ms = self._clock_ms()
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        report = self._report(begin_ms, read_ms)
        _log_holes(report)
        return report

    def _report(self, begin_ms: int, read_ms: int) -> DrainReport:
        plan, source = self._plan, self._source
        return DrainReport(
            counts=dict(plan.counts),
            bytes=plan.taken_bytes,
            streams=plan.recovered_streams,
            read_ms=read_ms - begin_ms,
            upload_ms=max(self._uploaded_ms, read_ms) - begin_ms,
            commit_ms=self._commit_ms,
            duration_ms=self._clock_ms() - begin_ms,
            ends=plan.ends,
            discontinuous_by_stream=dict(plan.discontinuous),
            lost_bytes=source.lost_bytes if isinstance(source, DamageableLog) else 0,
        )

    async def _read(self, uploads: asyncio.TaskGroup) -> None:
        plan, turns = self._plan, turns_of(Work.UPKEEP)
        async with aclosing(self._source.recover()) as records:
            async for record in records:
                batch = _batch_of(record)
                verdict = plan.add(batch)
                if self._checkpoints is not None and verdict in _KEPT:
                    self._checkpoints.found(batch)
                if plan.segment_is_full:
                    await self._begin_upload(uploads)
                await turns.pause()
        if self._checkpoints is not None:
            for added in self._checkpoints.closing(plan.ends, plan.epochs):
                if added is not None:
                    require(plan.add(added) is RecordAction.TAKE, "it begins at the stream's end")
                    if plan.segment_is_full:
                        await self._begin_upload(uploads)
                await turns.pause()
        await self._begin_upload(uploads)

    async def _begin_upload(self, uploads: asyncio.TaskGroup) -> None:
        """Upload what was taken, beside what is read next."""
        segment = self._plan.cut()
        if segment is None:
            return
        await self._room.acquire()
        self._last = uploads.create_task(self._bring(segment, self._plan.epochs, self._last))

    async def _bring(
        self,
        segment: RecoveryUpload,
        epochs: Mapping[int, int],
        previous: asyncio.Task[None] | None,
    ) -> None:
        """Upload a segment, and commit it once the one before is committed."""
        upload = plan_upload(segment.streams, segment.sizes_bytes, self._stream_split_bytes, epochs)
        uploaded = await self._committer.upload(upload)
        self._uploaded_ms = self._clock_ms()
        if previous is not None:
            await previous
        begin_ms = self._clock_ms()
        await self._committer.commit(upload, uploaded)
        self._commit_ms += self._clock_ms() - begin_ms
        if self._keep is not None:
            turns = turns_of(Work.UPKEEP)
            for group in segment.groups:
                self._keep(group.batches, group.buffer_bytes)
                await turns.pause()
        self._room.release()


def _batch_of(record: RecoveredRecord) -> StreamRecordBatch:
    batch, end = decode_batch(record.body, 0)
    if end != len(record.body):
        raise CorruptObjectError(f"WAL record at offset {record.offset} has bytes after its batch")
    return batch


def _log_holes(report: DrainReport) -> None:
    """Log what was dropped behind records that did not survive, and whether it had been acknowledged."""
    by_stream = report.discontinuous_by_stream
    details = {
        "records": report.discontinuous,
        "streams": len(by_stream),
        "records_by_stream": dict(islice(by_stream.items(), MAX_STREAMS_LOGGED)),
    }
    if report.lost_bytes:
        logger.critical(
            "acknowledged records in the damaged part of the WAL are lost, which was accepted; "
            "their streams end before them, so the records after them were dropped too",
            extra={"lost_bytes": report.lost_bytes, **details},
        )
    elif by_stream:
        logger.warning(
            "unacknowledged records behind a hole in their stream were dropped", extra=details
        )
