"""Uploads of streams that are about to leave this node, each group of them by itself.

Blocks hold the records of all streams, and are committed in the order of the WAL: who waits for one stream's records
waits for all others'. The records of a stream that leaves are taken out of the blocks instead, go to objects of their
own at once, and are committed as soon as they are there. The blocks go on without them:

  * what lies in blocks that were archived before a group began to leave is committed with these; the first upload of
    the group is committed after them, so the ranges of a stream stay without gaps;
  * a block that is archived later is committed after all that was taken out of it or of those before it. So the WAL
    is trimmed only past what is in the bucket, and what a crash leaves behind is recovered as always.

Its uploads have budgets of their own: they never wait for a large block.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from headrace.storage.cache.log_cache import CacheBlock, LogCache
from headrace.storage.errors import EngineFailedError
from headrace.storage.ports import NO_WAL_OFFSET, StreamRange
from headrace.storage.upload.commit import UploadCommitter
from headrace.storage.upload.plan import UploadPlan, plan_upload


class Blocks(Protocol):
    """What the uploads need of those of the blocks."""

    async def committed(self, wal_end_offset: int) -> None:
        """Wait until everything below a WAL offset is in the bucket."""
        ...

    def uncommitted_bytes(self, wal_end_offset: int) -> int:
        """How much lies in archived blocks up to a WAL offset that are not committed."""
        ...

    def own(self, task: asyncio.Task[None]) -> None:
        """Keep a task, fail when it fails, and end it with the others."""
        ...

    def require_running(self) -> None:
        """Raise why uploads have ended, if they have."""
        ...


class _Group:
    """Streams that leave together, and the upload that was begun last of them."""

    __slots__ = ("last", "stream_ids")

    def __init__(self, stream_ids: Sequence[int]) -> None:
        self.stream_ids = tuple(stream_ids)
        self.last: asyncio.Task[None] | None = None


class _Upload(NamedTuple):
    wal_offset: int  # where the block begins that it was taken out of
    stream_ids: tuple[int, ...]
    task: asyncio.Task[None]


class LeavingStreams:
    """The groups of one engine, by their streams."""

    def __init__(
        self,
        cache: LogCache,
        committer: UploadCommitter,
        blocks: Blocks,
        on_committed: Callable[[Sequence[StreamRange], int], None],
    ) -> None:
        self._cache = cache
        self._committer = committer
        self._blocks = blocks
        self._counters = committer.counters
        self._on_committed = on_committed
        self._groups: dict[int, _Group] = {}  # by stream
        self._uploads: list[_Upload] = []  # not committed, oldest first
        self._waits: list[int] = []  # WAL offsets up to which blocks are waited for

    @property
    def bytes_before(self) -> int:
        """How much of older blocks has to be committed before all that leave can."""
        return self._blocks.uncommitted_bytes(max(self._waits)) if self._waits else 0

    def begin(self, stream_ids: Sequence[int]) -> None:
        """Upload these streams together and by themselves from now on."""
        group = _Group(stream_ids)
        for earlier in self._uploads:  # of streams that were to leave before, and stayed
            if set(earlier.stream_ids) & set(stream_ids):
                group.last = earlier.task
        for stream_id in stream_ids:
            self._groups[stream_id] = group

    def end(self, stream_ids: Sequence[int]) -> None:
        """Upload these streams with all others again; uploads that have begun go on."""
        for stream_id in stream_ids:
            self._groups.pop(stream_id, None)

    async def upload(self, stream_ids: Sequence[int]) -> None:
        """Return when all that is acknowledged by now of a group that leaves is committed.

        Raises:
            FencedError, EngineFailedError: it never will be.

        Cancellation: what has begun goes on.
        """
        self._blocks.require_running()
        group = self._groups[stream_ids[0]]
        block = self._cache.active
        if block is not None:
            self._take(group, block)
        archived_wal_end, last = self._archived_wal_end(group), group.last
        if last is not None:
            await asyncio.wait([last])
            if last.cancelled() or last.exception() is not None:
                raise EngineFailedError("uploads have ended")
        await self._committed_with_blocks(archived_wal_end)

    def take_from(self, block: CacheBlock) -> None:
        """Take what leaves out of a block that is being archived."""
        groups = {id(it): it for it in map(self._groups.get, [*block.streams]) if it is not None}
        for group in groups.values():
            self._take(group, block)

    async def committed_before(self, block: CacheBlock) -> bool:
        """Wait until all is committed that was taken out of a block or of those before it; False: it never will be."""
        due = [it.task for it in self._uploads if it.wal_offset < block.wal_end_offset]
        if due:
            await asyncio.wait(due)
        return all(not it.cancelled() and it.exception() is None for it in due)

    def _take(self, group: _Group, block: CacheBlock) -> None:
        """Begin to upload what a block holds of a group."""
        streams, sizes_bytes = block.take(group.stream_ids)
        if not streams:
            return
        # Of blocks that were archived before the group began to leave: later ones keep none of its records.
        archived_wal_end = self._archived_wal_end(group)
        plan = plan_upload(streams, sizes_bytes, 0)
        upload = self._bring(plan, group.last, archived_wal_end)
        task = group.last = asyncio.create_task(upload)
        self._uploads.append(_Upload(block.wal_offset, group.stream_ids, task))
        self._blocks.own(task)

    def _archived_wal_end(self, group: _Group) -> int:
        ends = [self._cache.unuploaded_wal_end(it) for it in group.stream_ids]
        return max((it for it in ends if it is not None), default=NO_WAL_OFFSET)

    async def _committed_with_blocks(self, wal_end_offset: int) -> None:
        if wal_end_offset == NO_WAL_OFFSET:
            return
        self._waits.append(wal_end_offset)
        try:
            await self._blocks.committed(wal_end_offset)
        finally:
            self._waits.remove(wal_end_offset)

    async def _bring(
        self, plan: UploadPlan, previous: asyncio.Task[None] | None, archived_wal_end: int
    ) -> None:
        uploaded = await self._committer.upload(plan)
        if previous is not None:
            await asyncio.wait([previous])
            if previous.cancelled() or previous.exception() is not None:
                raise EngineFailedError("an upload before this one has failed")
        await self._committed_with_blocks(archived_wal_end)
        commit = await self._committer.commit(plan, uploaded)
        ranges = [each.range for each in commit.stream_objects]
        self._counters.objects_total += len(ranges)
        self._counters.bytes_total += sum(each.size_bytes for each in commit.stream_objects)
        current = asyncio.current_task()
        self._uploads = [it for it in self._uploads if it.task is not current]
        self._on_committed(ranges, NO_WAL_OFFSET)
