"""StorageEngine: streams on a write-ahead log and a bucket.

Joins the parts and knows their order of starting and stopping. How appends are acknowledged is
`append_path`, how uploads are ordered `upload.pipeline`, what survives a crash `recovery`.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from typing import Protocol

from config.node import StorageConfig
from storage.admission import AdmissionGate
from storage.admission_queue import log_cache_has_room
from storage.append_path import AppendPath
from storage.cache.log_cache import LogCache
from storage.errors import EngineFailedError, FencedError, RetriableStorageError, StorageError
from storage.ports import Lease, ObjectManager, ObjectStore, StreamManager, StreamRange
from storage.record_batch import HEADER_BYTES
from storage.recovery import Recovery, RecoveryReport
from storage.stats import EngineStats, UploadCounters
from storage.stream import BlockReader, Stream
from storage.upload.commit import Committer
from storage.upload.object_upload import ObjectUpload
from storage.upload.pipeline import UploadPipeline
from storage.upload.retry import Retrying
from wal.errors import WalError
from wal.port import WriteAheadLog

logger = logging.getLogger("headrace.storage")

WalFactory = Callable[[Callable[[int], None], Callable[[Exception], None]], WriteAheadLog]

# A block takes at most this part of LogCache and of the WAL: while one is filled, one can be
# uploaded and one wait.
BLOCKS_PER_CAPACITY = 3
SHUTDOWN_TIMEOUT_MS = 30_000
# An old block that may not be archived yet (many are waiting) is looked at again after this.
AGED_RETRY_MS = 1_000


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
        clock_ms: Callable[[], int] | None = None,
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
            lease: asked once for each confirmation.
            blocks: reads committed data back.
            rng: for the jitter of retries.
            cluster_id: part of every object's key.
            background: run beside the uploads.
            clock_ms: a clock that never goes back; by default the loop's.
            shutdown_timeout_ms: how long `shutdown` goes on uploading.
        """
        self._config = config
        self._clock_ms = clock_ms or _loop_ms
        self._streams = streams
        self._blocks = blocks
        self._background = background
        self._shutdown_timeout_ms = shutdown_timeout_ms
        self._failure: StorageError | None = None
        self._failed = asyncio.Event()
        self._open: dict[int, Stream] = {}
        self._opening: set[int] = set()
        block_bytes_max = min(
            config.upload_threshold_bytes, config.log_cache_bytes // BLOCKS_PER_CAPACITY
        )
        self._cache = LogCache(
            capacity_bytes=config.log_cache_bytes,
            block_bytes_max=block_bytes_max,
            block_wal_bytes_max=2**63,  # until the WAL has started and knows its capacity
        )
        self._path = AppendPath(
            cache=self._cache,
            lease=lease,
            clock_ms=self._clock_ms,
            on_progress=self._on_progress,
            on_failed=self._append_path_failed,
        )
        self._wal = self._path.wal = wal_factory(self._path.on_confirmed, self._path.on_failed)
        self._counters = UploadCounters()
        retrying = Retrying(rng, self._counters)
        uploads = ObjectUpload(
            config,
            store=store,
            objects=objects,
            cluster_id=cluster_id,
            rng=rng,
            clock_ms=self._clock_ms,
            counters=self._counters,
        )
        committer = Committer(uploads, objects, retrying, self._counters)
        self._pipeline = UploadPipeline(
            cache=self._cache,
            committer=committer,
            counters=self._counters,
            stream_split_bytes=config.stream_split_bytes,
            blocks_under_way_max=config.upload_concurrency,
            on_committed=self._on_committed,
            on_failed=self._upload_failed,
        )
        self._gate = AdmissionGate(
            has_room=self._has_room,
            relieve=self._pipeline.relieve,
            timeout_ms=config.admission_timeout_ms,
        )
        self._recovery = Recovery(
            wal=self._wal,
            streams=streams,
            committer=committer,
            retrying=retrying,
            clock_ms=self._clock_ms,
            segment_bytes_max=block_bytes_max,
            stream_split_bytes=config.stream_split_bytes,
        )

    @property
    def on_confirmed(self) -> Callable[[int], None]:
        """What the WAL calls with the offset below which everything is durable."""
        return self._path.on_confirmed

    @property
    def on_failed(self) -> Callable[[Exception], None]:
        """What the WAL calls when it can confirm nothing more."""
        return self._path.on_failed

    async def start(self) -> RecoveryReport:
        """Open the WAL, bring what it holds to the bucket, and serve.

        Raises:
            RecoveryError, CommitRefusedError: WAL and control plane contradict each other.
            FencedError: this node has been replaced.
            WalError: the WAL cannot be opened or read.

        Cancellation: safe at any point; the next start does what is left.
        """
        await self._wal.start()
        report = await self._recovery.run()
        self._cache.block_wal_bytes_max = self._wal.capacity_bytes // BLOCKS_PER_CAPACITY
        self._path.admit()
        return report

    async def run(self) -> None:
        """Upload what is old, run the background jobs, and end when the engine fails.

        Raises:
            ExceptionGroup: of the failure; the process should end, after `shutdown`.
        """
        async with asyncio.TaskGroup() as group:
            group.create_task(self._raise_failure())
            group.create_task(self._archive_aged())
            for job in self._background:
                group.create_task(job.run())

    async def shutdown(self) -> None:
        """Stop taking appends, upload everything, close the WAL.

        What cannot be uploaded in time stays in the WAL for the next start. Every append that was
        accepted has been acknowledged or failed when this returns.
        """
        stopped = EngineFailedError("the engine is shut down")
        self._path.refuse(stopped)
        self._gate.stop(stopped)
        try:
            async with asyncio.timeout(self._shutdown_timeout_ms / 1000):
                if self._path.failure is None:
                    await self._path.confirmed()
                await self._pipeline.committed(self._path.confirmed_wal_end)
        except (TimeoutError, StorageError) as error:
            logger.warning(
                "shut down with records in the WAL that are not in the bucket",
                extra={
                    "unuploaded_bytes": self._cache.unuploaded_bytes,
                    "open_appends": self._path.open_appends,
                    "reason": repr(error),
                },
            )
        finally:
            await self._pipeline.shutdown()
            self._path.end(stopped)
            await self._close_wal()

    async def _close_wal(self) -> None:
        try:
            await self._wal.shutdown()
        except WalError as error:
            # What it holds is found at the next start, like after a crash.
            logger.warning("the WAL was not shut down cleanly", extra={"reason": repr(error)})

    async def open_stream(self, stream_id: int, epoch: int) -> Stream:
        """Open a stream for reading and appending.

        A handle of an older epoch is closed first; of the same epoch, it is returned.

        Raises:
            FencedError: the stream is open at a newer epoch.
            RetriableStorageError: it is being opened, or the control plane does not answer.
            EngineFailedError: the engine has failed or is shut down.
        """
        self._require_running()
        if stream_id in self._opening:
            raise RetriableStorageError(f"stream {stream_id} is being opened")
        self._opening.add(stream_id)
        try:
            return await self._open_stream(stream_id, epoch)
        finally:
            self._opening.discard(stream_id)

    async def _open_stream(self, stream_id: int, epoch: int) -> Stream:
        previous = self._open.get(stream_id)
        if previous is not None:
            if previous.epoch > epoch:
                raise FencedError(f"stream {stream_id} is open at epoch {previous.epoch}")
            if previous.epoch == epoch and not previous.is_closed:
                return previous
            await previous.supersede()
        pending_wal_end = self._cache.unuploaded_wal_end(stream_id)
        if pending_wal_end is not None:
            await self._pipeline.committed(pending_wal_end)
        metadata = await self._streams.open_stream(stream_id, epoch)
        self._require_running()
        stream = Stream(
            metadata,
            path=self._path,
            cache=self._cache,
            blocks=self._blocks,
            pipeline=self._pipeline,
            streams=self._streams,
            on_closed=self._forget,
        )
        self._open[stream_id] = stream
        return stream

    def open_streams(self) -> Sequence[tuple[int, int]]:
        """(stream id, epoch) of the streams that are open here."""
        return [(stream.stream_id, stream.epoch) for stream in self._open.values()]

    def admits(self, body_bytes: int) -> bool:
        """Whether appends of so many bytes, made before anything is awaited, find room.

        Args:
            body_bytes: of all the payloads, with some 100 bytes for each record's headers.
        """
        return self._gate.admits(body_bytes)

    async def admission(self, body_bytes: int) -> None:
        """Wait until `admits` would say so, first come, first served.

        Raises:
            BackPressureError: not within `admission_timeout_ms`, or too many are waiting.
            EngineFailedError, FencedError: appends are over.
        """
        await self._gate.wait(body_bytes)

    def room_freed(self) -> None:
        """Let appends that wait look again: to be called when the WAL has freed space."""
        self._gate.poll()

    async def force_upload(self) -> None:
        """Return when everything that is acknowledged by now is in the bucket and committed.

        Raises:
            EngineFailedError, FencedError: it never will be.
        """
        await self._pipeline.committed(self._path.confirmed_wal_end)

    def stats(self) -> EngineStats:
        """Take a snapshot of what there is to know."""
        cache, path, uploads = self._cache, self._path, self._counters
        oldest_ms = cache.oldest_unuploaded_ms
        return EngineStats(
            wal_capacity_bytes=self._wal.capacity_bytes,
            wal_used_bytes=self._wal.used_bytes,
            log_cache_capacity_bytes=cache.capacity_bytes,
            log_cache_bytes=cache.size_bytes,
            log_cache_hits_total=path.counters.cache_hits_total,
            log_cache_misses_total=path.counters.cache_misses_total,
            unuploaded_bytes=cache.unuploaded_bytes,
            oldest_unuploaded_age_ms=0 if oldest_ms is None else self._clock_ms() - oldest_ms,
            open_streams=len(self._open),
            open_appends=path.open_appends,
            confirmed_total=path.counters.confirmed_total,
            confirmed_bytes_total=path.counters.confirmed_bytes_total,
            admission_waiting=self._gate.waiting,
            admission_refused_total=self._gate.refused_total,
            uploads_under_way=self._pipeline.under_way,
            uploaded_blocks_total=uploads.blocks_total,
            uploaded_objects_total=uploads.objects_total,
            uploaded_bytes_total=uploads.bytes_total,
            upload_retries_total=uploads.retries_total,
            upload_expired_total=uploads.expired_total,
            failed=self._failure is not None,
        )

    def _has_room(self, body_bytes: int) -> bool:
        cache = self._cache
        occupied_bytes = cache.unuploaded_bytes + self._path.reserved_bytes
        if not log_cache_has_room(occupied_bytes, cache.capacity_bytes, body_bytes):
            return False
        # What an empty WAL has no room for will never fit: let the append say so.
        return self._wal.room_for(HEADER_BYTES + body_bytes) or self._wal.used_bytes == 0

    def _on_progress(self) -> None:
        self._pipeline.pump()

    def _on_committed(self, ranges: Sequence[StreamRange], wal_end_offset: int) -> None:
        for committed in ranges:
            stream = self._open.get(committed.stream_id)
            if stream is not None:
                stream.committed_offset = committed.end_offset
        if self._path.failure is None:
            self._wal.trim(wal_end_offset - 1)
        self._gate.poll()

    def _forget(self, stream: Stream) -> None:
        if self._open.get(stream.stream_id) is stream:
            del self._open[stream.stream_id]

    def _append_path_failed(self, error: StorageError) -> None:
        self._fail(error)
        if isinstance(error, FencedError):
            self._pipeline.stop(error)
        # Otherwise the WAL has failed: what LogCache holds is acknowledged, and uploading it is
        # all that can still be done for it. `shutdown` waits for that.

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
        logger.error("the storage engine has failed", exc_info=error)
        self._failure = error
        self._gate.stop(error)
        self._failed.set()

    def _require_running(self) -> None:
        if self._failure is not None:
            raise type(self._failure)(*self._failure.args)

    async def _raise_failure(self) -> None:
        await self._failed.wait()
        assert self._failure is not None
        raise self._failure

    async def _archive_aged(self) -> None:
        interval_ms = self._config.upload_interval_ms
        while True:
            opened_ms = self._cache.active_opened_ms
            age_ms = 0 if opened_ms is None else self._clock_ms() - opened_ms
            if age_ms >= interval_ms:
                self._pipeline.archive_aged()
                await asyncio.sleep(min(AGED_RETRY_MS, interval_ms) / 1000)
            else:
                await asyncio.sleep((interval_ms - age_ms) / 1000)


def _loop_ms() -> int:
    return int(asyncio.get_running_loop().time() * 1000)
