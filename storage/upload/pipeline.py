"""Orders uploads: blocks go to the bucket side by side, but are committed one after the other.

Only a committed block releases its stretch of the WAL and its memory. The order of commits is the
order of the WAL, so that a trim never passes a record that is not in the bucket, and the ranges
of a stream arrive at the control plane without gaps.

A block is archived when it is full, when it is old, and when a caller waits for its records or for
room. While one that was archived for a waiter is inflight, further waiters share the next block:
a thousand streams that close together make a few objects, not a thousand.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from headrace.storage.cache.log_cache import CacheBlock, LogCache
from headrace.storage.errors import EngineFailedError, StorageError
from headrace.storage.ports import NO_OBJECT_ID, StreamRange, StreamSetCommit
from headrace.storage.upload.commit import UploadCommitter
from headrace.storage.upload.leaving import LeavingStreams
from headrace.storage.upload.object_upload import Uploaded
from headrace.storage.upload.plan import UploadPlan, plan_upload

# An old block that may not be archived yet (many are waiting) is checked again after this.
AGED_RETRY_MS = 1_000


@dataclass(slots=True, eq=False)
class _BlockUpload:
    block: CacheBlock
    plan: UploadPlan
    was_awaited: bool  # archived before it was full or old
    task: asyncio.Task[Uploaded] = field(init=False)


class UploadPipeline:
    """Uploads of one engine, oldest first. Its tasks are owned here and ended by `shutdown`."""

    def __init__(
        self,
        *,
        cache: LogCache,
        committer: UploadCommitter,
        leaving_committer: UploadCommitter,
        stream_split_bytes: int,
        max_blocks_inflight: int,
        on_committed: Callable[[Sequence[StreamRange], int], None],
        on_failed: Callable[[BaseException], None],
    ) -> None:
        """Make an idle pipeline.

        `max_blocks_inflight` bounds the blocks that are archived before they are full.
        `leaving_committer` has budgets of its own, for streams that leave.
        `on_committed` is called in WAL order with what is in the bucket now and the WAL offset
        below which everything is; for what leaves at any time, without an offset. `on_failed` is
        called when uploading cannot continue: it calls `stop`.
        """
        self._cache = cache
        self._committer = committer
        self._counters = committer.counters
        self._stream_split_bytes = stream_split_bytes
        self._max_blocks_inflight = max_blocks_inflight
        self._on_committed = on_committed
        self._on_failed = on_failed
        self._inflight: deque[_BlockUpload] = deque()
        self._commits: asyncio.Task[None] | None = None
        self._tasks: dict[asyncio.Task[Uploaded] | asyncio.Task[None], None] = {}
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._awaited_wal_end = -1  # the newest that a caller waits for
        self._archived_wal_end = -1
        self._committed_wal_end = -1
        self._stopped: StorageError | None = None
        self.leaving = LeavingStreams(cache, leaving_committer, self, on_committed)

    @property
    def inflight(self) -> int:
        """Blocks that are archived and not committed."""
        return len(self._inflight)

    def pump(self) -> None:
        """Archive and start what is due; called whenever that may have changed."""
        if self._stopped is not None:
            return
        if self._cache.active_is_full:
            self._start(was_awaited=False)
        elif self._awaited_wal_end > self._archived_wal_end and not any(
            upload.was_awaited for upload in self._inflight
        ):
            self._start(was_awaited=True)

    async def archive_by_age(self, interval_ms: int, clock_ms: Callable[[], int]) -> None:
        """Archive the active block whenever it has reached an age, until cancelled."""
        while True:
            opened_ms = self._cache.active_opened_ms
            age_ms = 0 if opened_ms is None else clock_ms() - opened_ms
            if age_ms >= interval_ms:
                self.archive_aged()
                await asyncio.sleep(min(AGED_RETRY_MS, interval_ms) / 1000)
            else:
                await asyncio.sleep((interval_ms - age_ms) / 1000)

    def archive_aged(self) -> None:
        """Archive the active block because of its age, unless many small ones are waiting."""
        if self._stopped is None and len(self._inflight) < self._max_blocks_inflight:
            self._start(was_awaited=False)

    def relieve(self) -> None:
        """Archive the active block because an append needs its room."""
        if self._stopped is None and not self._inflight:
            self._start(was_awaited=True)

    async def committed(self, wal_end_offset: int) -> None:
        """Wait until everything below a WAL offset is in the bucket; upload it early for that.

        Raises:
            FencedError: this node has been replaced.
            EngineFailedError: uploading has ended.
        """
        if wal_end_offset <= self._committed_wal_end:
            return
        self.require_running()
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((wal_end_offset, waiter))
        self._awaited_wal_end = max(self._awaited_wal_end, wal_end_offset)
        self.pump()
        await waiter

    def uncommitted_bytes(self, wal_end_offset: int) -> int:
        """How much lies in archived blocks up to a WAL offset that are not committed."""
        blocks = (it.block for it in self._inflight)
        return sum(it.charge_bytes for it in blocks if it.wal_offset < wal_end_offset)

    def _start(self, *, was_awaited: bool) -> None:
        block = self._cache.archive()
        if block is None:
            return
        self._archived_wal_end = block.wal_end_offset
        self.leaving.take_from(block)
        plan = plan_upload(
            block.streams,
            block.sizes_bytes,
            self._stream_split_bytes,
            wal_end_offset=block.wal_end_offset,
        )
        upload = _BlockUpload(block, plan, was_awaited)
        upload.task = asyncio.create_task(self._committer.upload(plan))
        self.own(upload.task)
        self._inflight.append(upload)
        if self._commits is None or self._commits.done():
            self._commits = asyncio.create_task(self._commit_in_order())
            self.own(self._commits)

    def own(self, task: asyncio.Task[Uploaded] | asyncio.Task[None]) -> None:
        """Keep a task: fail when it fails, and end it with the others, at once if these have ended."""
        self._tasks[task] = None
        task.add_done_callback(self._ended)
        if self._stopped is not None:
            task.cancel()

    def require_running(self) -> None:
        """Return only if uploads have not ended.

        Raises:
            FencedError: this node has been replaced.
            EngineFailedError: uploading has ended.
        """
        if self._stopped is not None:
            raise type(self._stopped)(*self._stopped.args)

    def _ended(self, task: asyncio.Task[Uploaded] | asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._on_failed(error)

    async def _commit_in_order(self) -> None:
        while self._inflight:
            upload = self._inflight[0]
            # Not awaited directly: `_ended` reports its failure, which cancels this task too.
            await asyncio.wait([upload.task])
            if upload.task.cancelled() or upload.task.exception() is not None:
                return
            if not await self.leaving.committed_before(upload.block):
                return
            commit = await self._committer.commit(upload.plan, upload.task.result())
            self._inflight.popleft()
            self._finish(upload.block, commit)

    def _finish(self, block: CacheBlock, commit: StreamSetCommit) -> None:
        self._committed_wal_end = block.wal_end_offset
        self._counters.blocks_total += 1
        self._counters.objects_total += len(commit.stream_objects)
        self._counters.objects_total += commit.object_id != NO_OBJECT_ID
        self._counters.bytes_total += commit.size_bytes
        self._counters.bytes_total += sum(each.size_bytes for each in commit.stream_objects)
        self._cache.mark_committed(block)
        ranges = [*commit.ranges, *(each.range for each in commit.stream_objects)]
        self._on_committed(ranges, block.wal_end_offset)
        self._wake()
        self.pump()

    def _wake(self) -> None:
        committed = self._committed_wal_end
        due = [waiter for wal_end, waiter in self._waiters if wal_end <= committed]
        self._waiters = [each for each in self._waiters if each[0] > committed]
        for waiter in due:
            if not waiter.done():
                waiter.set_result(None)

    def stop(self, error: StorageError) -> None:
        """End all uploads now: what is not committed stays in the WAL. Waiters get `error`."""
        if self._stopped is not None:
            return
        self._stopped = error
        for task in self._tasks:
            task.cancel()
        waiters, self._waiters = self._waiters, []
        for _, waiter in waiters:
            if not waiter.done():
                waiter.set_exception(error)

    async def shutdown(self) -> None:
        """Cancel the inflight uploads and wait for their end."""
        self.stop(EngineFailedError("uploads have ended"))
        while self._tasks:
            await asyncio.wait(self._tasks)
