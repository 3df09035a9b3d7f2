"""StorageEngine: streams on a write-ahead log and a bucket.

Joins the parts and knows their order of starting and stopping. How appends are acknowledged is
`append_path`, how uploads are ordered `upload.pipeline`, what survives a crash `recovery`.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from typing import Protocol

from headrace.config.node import StorageConfig
from headrace.loop_clock import loop_ms
from headrace.storage.admission import AdmissionGate
from headrace.storage.admission_queue import log_cache_has_room
from headrace.storage.append_path import AppendPath
from headrace.storage.cache.log_cache import LogCache
from headrace.storage.drain import DrainReport, WalDrain
from headrace.storage.errors import EngineFailedError, FencedError, StorageError
from headrace.storage.open_streams import OpenStreams
from headrace.storage.ports import (
    NO_WAL_OFFSET,
    Lease,
    ObjectManager,
    ObjectStore,
    StreamManager,
    StreamRange,
)
from headrace.storage.record_batch import HEADER_BYTES
from headrace.storage.request_budget import RequestBudget
from headrace.storage.stats import EngineStats, UploadCounters
from headrace.storage.stream import BlockReader, Stream
from headrace.storage.upload.commit import make_committer
from headrace.storage.upload.pipeline import UploadPipeline
from headrace.storage.wal_resize import BLOCKS_PER_CAPACITY, ResizeReport, WalResize
from headrace.wal.errors import WalError
from headrace.wal.port import WriteAheadLog

logger = logging.getLogger("headrace.storage")

WalFactory = Callable[[Callable[[int], None], Callable[[Exception], None]], WriteAheadLog]

SHUTDOWN_TIMEOUT_MS = 30_000


class BackgroundJob(Protocol):
    """Something that runs beside the uploads until it is cancelled (compaction, deletion)."""

    async def run(self) -> None:
        """Work until cancelled; an exception fails the engine's `run`."""
        ...


class StorageEngine:
    """The streams that this node has open. Order of use: `start`, `run`, `shutdown`."""

    def __init__(  # noqa: PLR0913 - the composition root names every port here, once
        self,
        config: StorageConfig,
        *,
        wal_factory: WalFactory,
        store: ObjectStore,
        streams: StreamManager,
        objects: ObjectManager,
        lease: Lease,
        blocks: BlockReader,
        rng: random.Random,
        cluster_id: str,
        background: Sequence[BackgroundJob] = (),
        shutdown_timeout_ms: int = SHUTDOWN_TIMEOUT_MS,
    ) -> None:
        """Join the parts; nothing happens before `start`.

        Args:
            config: this engine's section.
            wal_factory: makes the WAL, given what it calls when records are confirmed and when
                it has failed.
            store: the bucket.
            streams: the control plane's streams.
            objects: the control plane's objects.
            lease: checked once for each confirmation.
            blocks: reads committed data back.
            rng: for the jitter of retries.
            cluster_id: part of every object's key.
            background: run beside the uploads.
            shutdown_timeout_ms: how long `shutdown` continues to upload.
        """
        self._config = config
        self._streams = streams
        self._background = background
        self._shutdown_timeout_ms = shutdown_timeout_ms
        self._failure: StorageError | None = None
        self._failed = asyncio.Event()
        self._max_block_bytes = min(
            config.upload_threshold_bytes, config.log_cache_bytes // BLOCKS_PER_CAPACITY
        )
        self._cache = LogCache(
            capacity_bytes=config.log_cache_bytes,
            max_block_bytes=self._max_block_bytes,
            max_block_wal_bytes=2**63,  # until the WAL has started and knows its capacity
        )
        self._path = AppendPath(
            cache=self._cache,
            lease=lease,
            clock_ms=loop_ms,
            on_failed=self._append_path_failed,
        )
        self._wal = self._path.wal = wal_factory(self._path.on_confirmed, self._path.on_failed)
        self._counters = UploadCounters()
        self._committer = make_committer(config, store, objects, cluster_id, rng, self._counters)
        self._pipeline = UploadPipeline(
            cache=self._cache,
            committer=self._committer,
            leaving_committer=make_committer(
                config, store, objects, cluster_id, rng, self._counters
            ),
            stream_split_bytes=config.stream_split_bytes,
            max_blocks_inflight=config.upload_concurrency,
            on_committed=self._on_committed,
            on_failed=self._upload_failed,
        )
        self.leaving = self._pipeline.leaving
        self._path.on_progress = self._pipeline.pump
        self._gate = AdmissionGate(
            has_room=self._has_room,
            relieve=self._pipeline.relieve,
            timeout_ms=config.admission_timeout_ms,
        )
        # Whether appends of so many bytes, made before anything is awaited, find room: of all the payloads, with some
        # 100 bytes for each record's headers.
        self.admits = self._gate.admits
        self._resize = WalResize(
            config, self._path, self._pipeline, self._cache, self._counters, self._gate.poll
        )
        self._open = OpenStreams(
            path=self._path,
            cache=self._cache,
            blocks=blocks,
            pipeline=self._pipeline,
            streams=streams,
        )

    async def start(self) -> DrainReport:
        """Open the WAL, upload what it holds to the bucket, and serve.

        Raises:
            RecoveryError, CommitRefusedError: WAL and control plane contradict each other.
            FencedError: this node has been replaced.
            WalError: the WAL cannot be opened or read.

        Cancellation: safe at any point; the next start does what is left.
        """
        _warn_if_lowered(self._config.upload_threshold_bytes, self._max_block_bytes)
        await self._wal.start()
        opened = await self._committer.retrying.call(
            "get opening streams", self._streams.get_opening_streams
        )
        drain = WalDrain(
            self._wal,
            opened,
            self._committer,
            clock_ms=loop_ms,
            max_segment_bytes=self._max_block_bytes,
            stream_split_bytes=self._config.stream_split_bytes,
        )
        report = await drain.run(self._cache.put_committed)
        await self._wal.reset()
        logger.info("WAL recovered", extra=report.fields)
        self._resize.capacity_changed()
        self._path.admit()
        return report

    async def run(self) -> None:
        """Upload what is old, run the background jobs, and end when the engine fails.

        Raises:
            ExceptionGroup: of the failure; the process should end, after `shutdown`.
        """
        async with asyncio.TaskGroup() as group:
            group.create_task(self._raise_failure())
            group.create_task(
                self._pipeline.archive_by_age(self._config.upload_interval_ms, loop_ms)
            )
            for job in self._background:
                group.create_task(job.run())

    async def shutdown(self) -> None:
        """Stop taking appends, upload everything, close the WAL.

        What cannot be uploaded in time stays in the WAL for the next start. Every append that was
        accepted has been acknowledged or failed when this returns.
        """
        stopped = EngineFailedError("the engine is shut down")
        await self._resize.stop()
        self._path.refuse(stopped)
        self._gate.stop(stopped)
        try:
            async with asyncio.timeout(self._shutdown_timeout_ms / 1000):
                if self._path.failure is None:
                    await self._path.confirmed()
                await self._pipeline.committed(self._path.confirmed_wal_end)
        except (TimeoutError, StorageError) as error:
            logger.warning(
                "the storage engine was shut down with records in the WAL that are not in the bucket; "
                "the next start of this node uploads them",
                extra={
                    "unuploaded_bytes": self._cache.unuploaded_bytes,
                    "open_appends": self._path.open_appends,
                    "reason": repr(error),
                },
            )
        finally:
            await self._pipeline.shutdown()
            self._path.end(stopped)
            await _close(self._wal)

    async def open_stream(self, stream_id: int, epoch: int) -> Stream:
        """Open a stream for reading and appending.

        A handle of an older epoch is closed first; of the same epoch, it is returned.

        Raises:
            FencedError: the stream is open at a newer epoch.
            RetriableStorageError: it is being opened, or the control plane does not answer.
            EngineFailedError: the engine has failed or is shut down.
        """
        return await self._open.open(stream_id, epoch)

    @property
    def upload_budget(self) -> RequestBudget:
        """Bounds the inflight uploads."""
        return self._committer.budget

    def lease_renewed(self) -> None:
        """Acknowledge what was withheld for lack of a valid lease: to be called when it was extended."""
        self._path.lease_renewed()

    def fence(self, reason: str) -> None:
        """Acknowledge, upload and commit nothing from now on: this node has been replaced."""
        error = FencedError(reason)
        self._path.fail(error)
        self._pipeline.stop(error)

    def give_up_uploads(self, reason: str) -> None:
        """Let `shutdown` wait no longer: what is not in the bucket stays in the WAL."""
        error = EngineFailedError(reason)
        self._path.end(error)
        self._pipeline.stop(error)

    def open_streams(self) -> Sequence[tuple[int, int]]:
        """(stream id, epoch) of the streams that are open here."""
        return self._open.ids_and_epochs()

    @property
    def cached_records(self) -> int:
        """How many records LogCache holds."""
        return self._cache.record_count

    async def admission(self, body_bytes: int) -> None:
        """Wait until `admits` is true, first come, first served.

        Raises:
            BackPressureError: not within `admission_timeout_ms`, or too many are waiting.
            EngineFailedError, FencedError: appends are over.
        """
        await self._gate.wait(body_bytes)

    def room_freed(self) -> None:
        """Let waiting appends check again: to be called when the WAL has freed space."""
        self._gate.poll()

    async def force_upload(self) -> None:
        """Return when everything that is acknowledged by now is in the bucket and committed.

        Raises:
            EngineFailedError, FencedError: it never will be.
        """
        await self._pipeline.committed(self._path.confirmed_wal_end)

    async def resize_wal(self, capacity_bytes: int) -> ResizeReport:
        """Give the WAL another capacity while appends continue; see `WalResize.run`."""
        return await self._resize.run(capacity_bytes)

    def stats(self) -> EngineStats:
        """Take a snapshot of all figures."""
        cache, path, uploads = self._cache, self._path, self._counters
        oldest_ms = cache.oldest_unuploaded_ms
        return EngineStats(
            wal_capacity_bytes=self._wal.capacity_bytes,
            wal_used_bytes=self._wal.used_bytes,
            wal_resizes_total=self._resize.counters.resizes_total,
            wal_resize_last_pause_ms=self._resize.counters.last_pause_ms,
            log_cache_capacity_bytes=cache.capacity_bytes,
            log_cache_bytes=cache.size_bytes,
            log_cache_hits_total=path.counters.cache_hits_total,
            log_cache_misses_total=path.counters.cache_misses_total,
            unuploaded_bytes=cache.unuploaded_bytes,
            oldest_unuploaded_age_ms=0 if oldest_ms is None else loop_ms() - oldest_ms,
            open_streams=len(self._open),
            open_appends=path.open_appends,
            confirmed_total=path.counters.confirmed_total,
            confirmed_bytes_total=path.counters.confirmed_bytes_total,
            admission_waiting=self._gate.waiting,
            admission_refused_total=self._gate.refused_total,
            uploads_inflight=self._pipeline.inflight,
            uploaded_blocks_total=uploads.blocks_total,
            uploaded_objects_total=uploads.objects_total,
            uploaded_bytes_total=uploads.bytes_total,
            upload_retries_total=uploads.retries_total,
            upload_expired_total=uploads.expired_total,
            failed=self._failure is not None,
        )

    def _has_room(self, body_bytes: int) -> bool:
        if self._resize.is_parked:
            return False
        cache = self._cache
        occupied_bytes = cache.unuploaded_bytes + self._path.reserved_bytes
        if not log_cache_has_room(occupied_bytes, cache.capacity_bytes, body_bytes):
            return False
        # What an empty WAL has no room for will never fit: let the append raise that.
        return self._wal.room_for(HEADER_BYTES + body_bytes) or self._wal.used_bytes == 0

    def _on_committed(self, ranges: Sequence[StreamRange], wal_end_offset: int) -> None:
        self._open.note_committed(ranges)
        if wal_end_offset != NO_WAL_OFFSET and self._path.failure is None:
            self._wal.trim(wal_end_offset - 1)
        self._gate.poll()

    def _append_path_failed(self, error: StorageError) -> None:
        self._fail(error)
        if isinstance(error, FencedError):
            self._pipeline.stop(error)
        # Otherwise the WAL has failed: the records in LogCache are acknowledged, and must still be
        # uploaded. `shutdown` waits for that.

    def _upload_failed(self, error: BaseException) -> None:
        failure = error
        if not isinstance(failure, StorageError):
            failure = EngineFailedError(f"uploading has failed: {error!r}")
            failure.__cause__ = error
        self._pipeline.stop(failure)
        self._path.fail(failure)

    def _fail(self, error: StorageError) -> None:
        if self._failure is not None:
            return
        logger.error(
            "the storage engine has failed; this node acknowledges no further appends",
            exc_info=error,
        )
        self._failure = error
        self._gate.stop(error)
        self._failed.set()

    async def _raise_failure(self) -> None:
        await self._failed.wait()
        assert self._failure is not None
        raise self._failure


async def _close(wal: WriteAheadLog) -> None:
    try:
        await wal.shutdown()
    except WalError as error:
        # The next start recovers what it holds, like after a crash.
        logger.warning(
            "the WAL was not shut down cleanly; the next start of this node recovers it",
            extra={"reason": repr(error)},
        )


def _warn_if_lowered(threshold_bytes: int, max_block_bytes: int) -> None:
    if threshold_bytes > max_block_bytes:
        logger.warning(
            "s3.wal.upload.threshold is larger than a third of s3.wal.cache.size: "
            "uploads begin at that third; raise the cache size or lower the threshold",
            extra={"threshold_bytes": threshold_bytes, "uploaded_at_bytes": max_block_bytes},
        )
