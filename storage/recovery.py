"""Uploads the records that survived in the WAL to the bucket, then empties the WAL.

The process may end at any point and run this again: what was committed is below the streams' ends by
then, and what was only uploaded is never committed and expires.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from headrace.storage.errors import CorruptObjectError
from headrace.storage.ports import StreamManager
from headrace.storage.record_batch import decode_batch
from headrace.storage.recovery_plan import RecordAction, RecoveryPlan
from headrace.storage.upload.commit import UploadCommitter
from headrace.storage.upload.plan import plan_upload
from headrace.wal.port import DamageableLog, RecoveredRecord, WriteAheadLog

MAX_STREAMS_LOGGED = 100
# What is kept in memory until it is uploaded; more is no faster, and a start has the WAL's reads beside it.
MAX_SEGMENT_BYTES = 64 * 1024 * 1024

logger = logging.getLogger("headrace.storage.recovery")


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What a start found in the WAL."""

    records: int  # uploaded
    bytes: int  # of their payloads
    dropped: int  # for any reason; most often because they were committed already
    streams: int  # of which records were uploaded
    duration_ms: int
    # Of the dropped: behind a record that did not survive. It was never acknowledged, and neither were
    # these, unless the loss of acknowledged bytes was accepted.
    discontinuous: int = 0
    discontinuous_by_stream: Mapping[int, int] = field(default_factory=dict)
    lost_bytes: int = 0  # acknowledged, and not readable in the WAL


class Recovery:
    """The recovery of one node's WAL."""

    def __init__(
        self,
        *,
        wal: WriteAheadLog,
        streams: StreamManager,
        committer: UploadCommitter,
        clock_ms: Callable[[], int],
        max_segment_bytes: int,
        stream_split_bytes: int,
    ) -> None:
        self._wal = wal
        self._streams = streams
        self._committer = committer
        self._clock_ms = clock_ms
        self._max_segment_bytes = min(max_segment_bytes, MAX_SEGMENT_BYTES)
        self._stream_split_bytes = stream_split_bytes

    async def run(self) -> RecoveryReport:
        """Upload and commit what is in no object yet, then reset the WAL.

        Raises:
            RecoveryError: WAL and control plane contradict each other.
            WalCorruptError, CorruptObjectError: what was acknowledged cannot be read.
            CommitRefusedError, FencedError: the control plane has another owner for a stream.

        Cancellation: safe; run it again.
        """
        begin_ms = self._clock_ms()
        opening = await self._committer.retrying.call(
            "get opening streams", self._streams.get_opening_streams
        )
        plan = RecoveryPlan(opening, max_segment_bytes=self._max_segment_bytes)
        async for record in self._wal.recover():
            self._add(plan, record)
            if plan.segment_is_full:
                await self._upload(plan)
        await self._upload(plan)
        await self._wal.reset()
        report = RecoveryReport(
            records=plan.counts[RecordAction.TAKE],
            bytes=plan.taken_bytes,
            dropped=sum(plan.counts.values()) - plan.counts[RecordAction.TAKE],
            streams=plan.recovered_streams,
            duration_ms=self._clock_ms() - begin_ms,
            discontinuous=plan.counts[RecordAction.DISCONTINUOUS],
            discontinuous_by_stream=dict(plan.discontinuous),
            lost_bytes=self._wal.lost_bytes if isinstance(self._wal, DamageableLog) else 0,
        )
        _log_holes(report)
        logger.info(
            "WAL recovered",
            extra={verdict.name.lower(): count for verdict, count in plan.counts.items()},
        )
        return report

    def _add(self, plan: RecoveryPlan, record: RecoveredRecord) -> None:
        batch, end = decode_batch(record.body, 0)
        if end != len(record.body):
            raise CorruptObjectError(
                f"WAL record at offset {record.offset} has bytes after its batch"
            )
        plan.add(batch)

    async def _upload(self, plan: RecoveryPlan) -> None:
        segment = plan.cut()
        if segment is None:
            return
        upload = plan_upload(
            segment.streams, segment.sizes_bytes, self._stream_split_bytes, plan.epochs
        )
        await self._committer.commit(upload, await self._committer.upload(upload))


def _log_holes(report: RecoveryReport) -> None:
    """Log what was dropped behind records that did not survive, and whether it had been acknowledged."""
    by_stream = report.discontinuous_by_stream
    details = {
        "records": report.discontinuous,
        "streams": len(by_stream),
        "records_by_stream": dict(islice(by_stream.items(), MAX_STREAMS_LOGGED)),
    }
    if report.lost_bytes:
        logger.critical(
            "acknowledged records in the damaged part of the WAL are lost, which was accepted "
            "(headrace.wal.accept.loss); their streams end before them, so the records after them were dropped too",
            extra={"lost_bytes": report.lost_bytes, **details},
        )
    elif by_stream:
        logger.warning(
            "unacknowledged records behind a hole in their stream were dropped", extra=details
        )
