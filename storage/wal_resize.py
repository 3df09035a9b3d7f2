"""Gives the WAL of a running engine another capacity without losing a record.

A ring can be switched only while it is empty. So its records are uploaded while appends continue, round by
round, until little is left; then appends are parked, the rest is uploaded, committed and trimmed, the empty
ring is switched (`headrace.wal.ring.resizer`), and the parked appends continue in their order. They wait at the
admission gate, as they would for a full WAL, so that no append is refused and no state has changed.
"""

import asyncio
from collections.abc import Callable

import msgspec

from headrace.config.node import StorageConfig
from headrace.storage.append_path import AppendPath
from headrace.storage.cache.log_cache import LogCache
from headrace.storage.errors import EngineFailedError, ResizeRefusedError, RetriableStorageError
from headrace.storage.stats import ResizeCounters, UploadCounters
from headrace.storage.upload.pipeline import UploadPipeline
from headrace.wal.errors import WalDeviceError, WalFailedError
from headrace.wal.port import ResizableLog, WriteAheadLog

# A block takes at most this part of LogCache and of the WAL: while one is filled, one can be
# uploaded and one wait.
BLOCKS_PER_CAPACITY = 3
# For all records in the WAL to be uploaded while appends continue; else the bucket is too slow or unreachable.
UPLOAD_TIMEOUT_MS = 120_000
# For the rest, while appends are parked; after it they continue with the unchanged WAL.
MAX_PAUSE_MS = 5_000
# So little may be left for the pause; if there is more, another round comes before appends are parked.
MAX_REMAINDER_BYTES = 1024 * 1024
# Under a steady load each round leaves what arrived during it, so more rounds would not leave less.
MAX_ROUNDS = 8


class ResizeReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a resize did and took."""

    old_bytes: int  # of the device in use, superblocks included
    new_bytes: int
    pause_ms: float  # while appends were parked; part of the duration
    uploaded_bytes: int  # of the objects committed meanwhile
    duration_ms: float


class WalResize:
    """Resizes the WAL of one engine, one resize at a time."""

    def __init__(
        self,
        config: StorageConfig,
        path: AppendPath,
        pipeline: UploadPipeline,
        cache: LogCache,
        uploads: UploadCounters,
        on_unparked: Callable[[], None],
    ) -> None:
        """Nothing happens yet; `on_unparked` is called when appends may be admitted again."""
        self._wal: WriteAheadLog = path.wal
        self._path = path
        self._pipeline = pipeline
        self._cache = cache
        self._uploads = uploads
        # The first parked append waits for the whole pause, and must not be refused because of it.
        self._max_pause_s = min(MAX_PAUSE_MS, config.admission_timeout_ms // 2) / 1000
        self._on_unparked = on_unparked
        self._task: asyncio.Task[ResizeReport] | None = None
        self._is_stopped = False
        self.is_parked = False
        self.counters = ResizeCounters()

    def capacity_changed(self) -> None:
        """Bound LogCache's blocks by the WAL's current capacity."""
        self._cache.max_block_wal_bytes = self._wal.capacity_bytes // BLOCKS_PER_CAPACITY

    async def run(self, capacity_bytes: int) -> ResizeReport:
        """Give the WAL another capacity while appends continue, except for a pause that parks them.

        Args:
            capacity_bytes: of the device or file, as in the configuration.

        Raises:
            ResizeRefusedError: this WAL cannot have it; nothing has changed.
            RetriableStorageError: another resize is running, or the bucket is too slow: nothing has changed.
            EngineFailedError, FencedError: the engine has failed or is shut down.

        Cancellation: the WAL has the old capacity or the new one, and appends continue.
        """
        if self._is_stopped:
            raise EngineFailedError("the engine is shut down")
        if self._task is not None:
            raise RetriableStorageError("the WAL is already being resized")
        if not isinstance(self._wal, ResizableLog):
            raise ResizeRefusedError("this WAL is not on a device or file: it has no capacity")
        self._task = task = asyncio.create_task(self._resize(self._wal, capacity_bytes))
        try:
            return await task
        except asyncio.CancelledError:
            if self._is_stopped:
                raise EngineFailedError("the engine is shut down") from None
            raise
        except WalDeviceError as error:
            raise ResizeRefusedError(str(error)) from error
        except WalFailedError as error:
            raise EngineFailedError(f"the WAL failed during the resize: {error}") from error
        finally:
            self._task = None

    async def stop(self) -> None:
        """Cancel a running resize, and refuse further ones."""
        self._is_stopped = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _resize(self, wal: ResizableLog, capacity_bytes: int) -> ResizeReport:
        clock_s = asyncio.get_running_loop().time
        begin_s = clock_s()
        old_bytes = wal.device_bytes
        uploaded_bytes = self._uploads.bytes_total
        pause_s = 0.0
        if capacity_bytes != old_bytes:
            try:
                await wal.prepare_resize(capacity_bytes)
                await self._upload_most()
                parked_s = clock_s()
                await self._switch(wal, capacity_bytes)
                pause_s = clock_s() - parked_s
                await wal.finish_resize()
            finally:
                wal.cancel_resize()
            self.counters.resizes_total += 1
            self.counters.last_pause_ms = round(pause_s * 1000, 1)
        return ResizeReport(
            old_bytes=old_bytes,
            new_bytes=wal.device_bytes,
            pause_ms=round(pause_s * 1000, 1),
            uploaded_bytes=self._uploads.bytes_total - uploaded_bytes,
            duration_ms=round((clock_s() - begin_s) * 1000, 1),
        )

    async def _upload_most(self) -> None:
        """Upload until little is left, or a round leaves no less than the one before."""
        left_bytes = self._left_bytes()
        try:
            async with asyncio.timeout(UPLOAD_TIMEOUT_MS / 1000):
                for _ in range(MAX_ROUNDS):
                    await self._path.confirmed()  # else what is open is left to the pause
                    await self._pipeline.committed(self._path.confirmed_wal_end)
                    before_bytes, left_bytes = left_bytes, self._left_bytes()
                    if left_bytes <= MAX_REMAINDER_BYTES or left_bytes > before_bytes // 2:
                        return
        except TimeoutError:
            raise RetriableStorageError(
                f"not resized: the records in the WAL could not be uploaded within "
                f"{UPLOAD_TIMEOUT_MS // 1000} s, {self._left_bytes()} bytes are left; is the bucket reachable?"
            ) from None

    def _left_bytes(self) -> int:
        return self._cache.unuploaded_bytes + self._path.reserved_bytes

    async def _switch(self, wal: ResizableLog, capacity_bytes: int) -> None:
        """Park appends, empty the ring, switch it, and let appends continue, also after an error."""
        self.is_parked = True
        try:
            wal.begin_resize()
            async with asyncio.timeout(self._max_pause_s):
                await self._path.confirmed()
                await self._pipeline.committed(self._path.confirmed_wal_end)
                await wal.resize(capacity_bytes)
        except TimeoutError:
            if (
                wal.device_bytes != capacity_bytes
            ):  # else the resize was done just before the time-out
                raise RetriableStorageError(
                    f"not resized: the rest of the records in the WAL could not be uploaded within "
                    f"{self._max_pause_s:g} s while appends were parked; appends continue"
                ) from None
        finally:
            wal.cancel_resize()
            self.is_parked = False
            self.capacity_changed()
            self._on_unparked()
