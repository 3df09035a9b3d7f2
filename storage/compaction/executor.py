"""Compactor: merges Stream Set Objects, and Stream Objects of streams that are open here or adopted, at intervals.

What to do is decided by `headrace.storage.compaction.plan`, done by `headrace.storage.compaction.rewrite` or by a copy
within the bucket (`headrace.storage.compaction.copy`), and takes effect by one atomic commit. Before the Stream Objects
of a stream are merged, its batches are cleaned if a `BatchCleaner` says so (`headrace.storage.compaction.cleaning`),
in offset order, one commit for each new object: what is committed when a pass ends early is right. A failure before
the commit leaves only prepared objects, which expire. An object that turns out to be damaged is reported
and left out from then on, so that it does not block the others. An object that is no longer in use (its
topics were deleted, or trimmed) is not damaged, and its group is chosen again.
"""

import asyncio
import logging
import random
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice

from headrace.config.node import StorageConfig
from headrace.storage.compaction.cleaning import MAX_CLEANED_BYTES, StreamCleaner
from headrace.storage.compaction.plan import (
    MIN_GROUP_WIDTH,
    GroupLimits,
    LackingSourceError,
    Run,
    StreamSetObject,
    choose_stream_objects,
    choose_stream_set_objects,
    contiguous_prefix,
    groups_to_clean,
    live_bytes,
    plan_runs,
)
from headrace.storage.compaction.rewrite import RewriteError, Rewriter
from headrace.storage.compaction.source import DamagedSourceError, SourceObject
from headrace.storage.compaction.statistics import CompactionStatistics
from headrace.storage.compaction.stream_objects import StreamObjectMerger
from headrace.storage.compaction.throttle import Throttle
from headrace.storage.errors import (
    CleaningAbandonedError,
    CommitRefusedError,
    CorruptObjectError,
    ObjectNotFoundError,
    ObjectNotPreparedError,
    RetriableStorageError,
    StorageError,
)
from headrace.storage.objects.index_block import ObjectIndex
from headrace.storage.ports import (
    BatchCleaner,
    Cleaning,
    NothingCleaned,
    ObjectManager,
    ObjectRange,
    ObjectStore,
    StreamRange,
    StreamSetCommit,
)
from headrace.turns import Work, turns_of

logger = logging.getLogger("headrace.storage.compaction")

WINDOW_BYTES = 16 * 1024 * 1024
MAX_SOURCES = 64
MAX_GROUP_BYTES = 64 * 1024 * 1024 * 1024
MIN_GROUP_BYTES_LOWERED = 256 * 1024 * 1024  # when groups turn out to take too long
PREPARE_TTL_SHARE = 2  # of the time that ids stay prepared a group may take this fraction
MAX_OBJECT_PARTS = 9_000  # S3 allows 10,000 per upload
MAX_GROUPS_PER_ROUND = 100  # unless the round was requested
MAX_PASSES = 10  # of a round that was requested
RECLAIM_CHECKS_PER_ROUND = 16
RECLAIM_RANGES_PER_STEP = 256
MAX_COMMIT_ATTEMPTS = 5
COMMIT_DELAY_MS = 200  # doubled after each attempt, times a random number below one
# This node's metadata may lag behind: that an object was destroyed may become known only later.
MAX_METADATA_LOOKS = 5
METADATA_LOOK_MS = 200

# (stream id, epoch) of the streams whose Stream Objects this node merges: those that it has open, and
# those of nodes that have left and whose objects it has adopted.
Streams = Callable[[], Sequence[tuple[int, int]]]


class _NotInUseError(Exception):
    """A source was destroyed since its group was chosen."""


class Compactor:
    """One per broker; `run` until cancelled."""

    def __init__(
        self,
        config: StorageConfig,
        store: ObjectStore,
        objects: ObjectManager,
        cluster_id: str,
        *,
        rng: random.Random,
        streams: Streams = tuple,
        cleaner: BatchCleaner | None = None,
    ) -> None:
        self._config = config
        self._store = store
        self._objects = objects
        self._cluster_id = cluster_id
        self._rng = rng
        self._streams = streams
        self._damaged: set[int] = set()
        self._reclaim_after = -1  # object ids up to here have been checked in this cycle
        windows_bytes = config.compaction_memory_bytes // 2
        sources = min(MAX_SOURCES, max(MIN_GROUP_WIDTH, windows_bytes // WINDOW_BYTES))
        self._window_bytes = min(WINDOW_BYTES, windows_bytes // sources)
        max_object_bytes = config.object_part_bytes * MAX_OBJECT_PARTS
        ttl_s = config.object_prepare_ttl_ms / 1000
        in_time_bytes = int(config.compaction_bytes_per_s * ttl_s / PREPARE_TTL_SHARE)
        self._set_limits = GroupLimits(
            max_objects=sources, max_bytes=min(MAX_GROUP_BYTES, max_object_bytes, in_time_bytes)
        )
        self._throttle = Throttle(config.compaction_bytes_per_s)
        self._merger = StreamObjectMerger(
            config, store, objects, cluster_id, self._spend, self._advance
        )
        self._cleaner = cleaner or NothingCleaned()
        self._stream_cleaner = StreamCleaner(config, store, objects, cluster_id, self._spend)
        self._asked = asyncio.Event()
        self.statistics = CompactionStatistics()

    async def run(self) -> None:
        """Compact, wait about the interval, repeat. Errors of bucket and control plane do not end it."""
        interval_s = self._config.stream_set_object_compaction_interval_ms / 1000
        while True:
            # Jitter keeps the brokers of a cluster from all doing it at the same time.
            with suppress(TimeoutError):
                async with asyncio.timeout(interval_s * (0.75 + self._rng.random() / 2)):
                    await self._asked.wait()
            was_asked = self._asked.is_set()
            self._asked.clear()
            await self.compact(to_the_end=was_asked)

    def ask(self) -> int:
        """Request a round that does everything; it begins when the current one has ended.

        Returns:
            The number of that round: it is over when `rounds_finished` has reached it.
        """
        self._asked.set()
        return self.statistics.rounds + 1

    async def compact(self, *, to_the_end: bool = False) -> None:
        """Do what is worth doing now: a bounded part of it, or all.

        Cancellation: safe; what is not committed expires.
        """
        statistics = self.statistics
        statistics.rounds += 1
        try:
            for _ in range(MAX_PASSES if to_the_end else 1):
                groups = statistics.groups
                await self._pass(to_the_end=to_the_end)
                if statistics.groups == groups:  # a merge may make another one worth while
                    break
        finally:
            statistics.rounds_finished = statistics.rounds

    async def _pass(self, *, to_the_end: bool) -> None:
        max_groups = sys.maxsize if to_the_end else MAX_GROUPS_PER_ROUND
        await self._repeat(self._next_group, max_groups)
        await self._repeat(self._next_to_leave, max_groups)
        for found in self._next_to_reclaim(sys.maxsize if to_the_end else RECLAIM_CHECKS_PER_ROUND):
            await self._guarded(self._reclaim(found))
        for stream_id, epoch in self._streams():
            await self._repeat(partial(self._next_to_clean, stream_id, epoch), max_groups)
            await self._repeat(partial(self._next_of_stream, stream_id, epoch), max_groups)
            await turns_of(Work.UPKEEP).pause()

    async def _repeat(
        self, step: Callable[[], Coroutine[None, None, bool]], max_times: int
    ) -> None:
        for _ in range(max_times):
            if not await self._guarded(step()):
                return

    def _advance(self, size_bytes: int) -> None:
        self.statistics.group_done_bytes += size_bytes

    async def _spend(self, size_bytes: int) -> None:
        """Record that so many bytes were read or written, and wait as the throttle demands."""
        self._advance(size_bytes)
        await self._throttle.spend(size_bytes)
        self.statistics.throttled_seconds = self._throttle.waited_s

    async def _guarded(self, step: Coroutine[None, None, bool]) -> bool:
        """Await one step; return whether there may be more to do of its kind."""
        try:
            return await step
        except DamagedSourceError as error:
            is_missing = isinstance(error.__cause__, ObjectNotFoundError)
            if await self._was_destroyed(
                (error.object_id,), MAX_METADATA_LOOKS if is_missing else 1
            ):
                return True
            self.statistics.damaged_objects += 1
            self._damaged.add(error.object_id)
            logger.error(  # noqa: TRY400 - an event
                "object %d is damaged or missing; compaction leaves it out until the broker restarts",
                error.object_id,
                extra={"reason": str(error)},
            )
            return True
        except CleaningAbandonedError as error:
            logger.info("a pass of cleaning ends early", extra={"reason": str(error)})
            return False
        except _NotInUseError:
            logger.info("an object was destroyed while it was being merged; choosing objects again")
            return True
        except (StorageError, TimeoutError, ConnectionError) as error:
            self.statistics.failures += 1
            logger.warning("compaction failed; trying again later", extra={"reason": repr(error)})
            return False
        finally:
            self.statistics.group_bytes = self.statistics.group_done_bytes = 0

    async def _was_destroyed(self, object_ids: Sequence[int], looks: int) -> bool:
        """Look into the metadata whether one of these objects is no longer in use."""
        for look in range(looks):
            if look:
                await asyncio.sleep(METADATA_LOOK_MS / 1000)
            if not all(self._objects.is_committed(it) for it in object_ids):
                return True
        return False

    async def _next_group(self) -> bool:
        group = choose_stream_set_objects(self._stream_set_objects(), self._set_limits)
        if group:
            await self._merge_stream_sets(group)
        return bool(group)

    def _stream_set_objects(self) -> list[StreamSetObject]:
        return [
            StreamSetObject(object_id, size_bytes, ranges)
            for object_id, size_bytes, ranges in self._objects.get_stream_set_objects()
            if object_id not in self._damaged
        ]

    async def _next_to_leave(self) -> bool:
        """Split what is to be cleaned out of Stream Set Objects, however small it is."""
        group: list[StreamSetObject] = []
        size_bytes = 0
        leaves: dict[int, bool] = {}
        for found in self._stream_set_objects():
            if group and (
                len(group) == self._set_limits.max_objects
                or size_bytes + found.size_bytes > self._set_limits.max_bytes
            ):
                break
            if await self._holds_leaving(found.ranges, leaves):
                group.append(found)
                size_bytes += found.size_bytes
        if group:
            await self._merge_stream_sets(group)
        return bool(group)

    async def _holds_leaving(self, ranges: Sequence[StreamRange], known: dict[int, bool]) -> bool:
        """Whether one of these streams is to leave; `known` is what was found out before."""
        for number, found in enumerate(ranges, 1):
            stream_id = found.stream_id
            if stream_id not in known:
                known[stream_id] = self._cleaner.leaves(stream_id)
            if known[stream_id]:
                return True
            if number % RECLAIM_RANGES_PER_STEP == 0:
                await asyncio.sleep(0)
        return False

    async def _merge_stream_sets(self, group: Sequence[StreamSetObject]) -> None:
        size_bytes = sum(found.size_bytes for found in group)
        self.statistics.group_bytes = size_bytes
        sources = await self._open([(found.object_id, found.size_bytes) for found in group])
        runs = plan_runs(
            [(found.ranges, source.index) for found, source in zip(group, sources, strict=True)],
            self._config.stream_split_bytes,
            self._cleaner.leaves,
        )
        object_ids = [found.object_id for found in group]
        rewriter = await self._rewrite(sources, runs, object_ids)
        commit = StreamSetCommit(
            rewriter.object_id,
            rewriter.size_bytes,
            rewriter.ranges,
            rewriter.stream_objects,
            object_ids,
        )
        try:
            await self._commit(lambda: self._objects.commit_stream_set_object(commit), object_ids)
        except ObjectNotPreparedError:
            self._take_smaller_groups(size_bytes)
            raise
        made_bytes = rewriter.size_bytes + sum(it.size_bytes for it in rewriter.stream_objects)
        made = len(rewriter.stream_objects) + bool(rewriter.ranges)
        self._count((size_bytes, len(group)), (made_bytes, made))

    def _take_smaller_groups(self, size_bytes: int) -> None:
        """Lower the bound of a group: one of this size takes longer than ids stay prepared."""
        lowered = max(MIN_GROUP_BYTES_LOWERED, size_bytes // 2)
        max_bytes = min(self._set_limits.max_bytes, lowered)
        self._set_limits = replace(self._set_limits, max_bytes=max_bytes)
        logger.warning(
            "compacting a group took longer than its ids stay prepared; the next ones will be smaller",
            extra={"size_bytes": size_bytes, "max_bytes": max_bytes},
        )

    def _next_to_reclaim(self, number: int) -> list[StreamSetObject]:
        """Return the next few Stream Set Objects, cyclically, or all."""
        found = sorted(self._stream_set_objects())
        if number >= len(found):
            return found
        pending = [item for item in found if item.object_id > self._reclaim_after]
        chosen = (pending or found)[:number]
        if chosen:
            self._reclaim_after = chosen[-1].object_id
        return chosen

    async def _reclaim(self, found: StreamSetObject) -> bool:
        """Rewrite a single object if most of it is no longer live."""
        (source,) = await self._open([(found.object_id, found.size_bytes)])
        live = 0
        ranges = iter(found.ranges)
        while step := list(islice(ranges, RECLAIM_RANGES_PER_STEP)):
            live += _live_bytes(found.object_id, step, source.index)
            await turns_of(Work.UPKEEP).pause()
        if live * 2 <= source.index.data_bytes and live <= self._set_limits.max_bytes:
            await self._merge_stream_sets([found])
        return True

    def _stream_objects(self, stream_id: int) -> list[ObjectRange]:
        return [
            item
            for item in self._objects.get_stream_objects(stream_id)
            if item.object_id not in self._damaged
        ]

    async def _next_to_clean(self, stream_id: int, epoch: int) -> bool:
        """Clean the batches of a stream, if that is worth while."""
        found = contiguous_prefix(self._stream_objects(stream_id))
        if not found:
            return False
        cleaning = self._cleaner.begin(stream_id, found[0].start_offset, found[-1].end_offset)
        if cleaning is None:
            return False
        with self._blaming([it.object_id for it in found]):
            await self._look(cleaning, stream_id, found)
        limits = replace(
            self._set_limits, max_bytes=min(MAX_CLEANED_BYTES, self._set_limits.max_bytes)
        )
        for group in groups_to_clean(found, cleaning.end_offset, limits):
            await self._clean_stream_objects(cleaning, stream_id, epoch, group)
            # A pass may take an hour, and Stream Set Objects must not pile up meanwhile.
            await self._repeat(self._next_group, MAX_GROUPS_PER_ROUND)
        await cleaning.finish()
        self.statistics.cleaned_streams += 1
        return True

    async def _look(self, cleaning: Cleaning, stream_id: int, found: Sequence[ObjectRange]) -> None:
        seen = [
            it
            for it in found
            if it.end_offset > cleaning.start_offset and it.start_offset < cleaning.end_offset
        ]
        self.statistics.group_bytes = sum(it.size_bytes for it in seen)
        sources = await self._open([(it.object_id, it.size_bytes) for it in seen])
        await self._stream_cleaner.look_at(
            cleaning, stream_id, list(zip(seen, sources, strict=True))
        )

    async def _clean_stream_objects(
        self, cleaning: Cleaning, stream_id: int, epoch: int, group: Sequence[ObjectRange]
    ) -> None:
        size_bytes = sum(found.size_bytes for found in group)
        self.statistics.group_bytes, self.statistics.group_done_bytes = size_bytes, 0
        sources = await self._open([(found.object_id, found.size_bytes) for found in group])
        offsets = StreamRange(stream_id, epoch, group[0].start_offset, group[-1].end_offset)
        object_ids = [found.object_id for found in group]
        with self._blaming(object_ids):
            made = await self._stream_cleaner.write(
                cleaning, offsets, list(zip(group, sources, strict=True))
            )
        try:
            await self._commit(
                lambda: self._objects.compact_stream_object(made, object_ids), object_ids
            )
        except ObjectNotPreparedError:
            self._take_smaller_groups(size_bytes)
            raise
        self.statistics.cleaned_bytes_in += size_bytes
        self.statistics.cleaned_bytes_out += made.size_bytes
        self._count((size_bytes, len(group)), (made.size_bytes, 1))

    async def _next_of_stream(self, stream_id: int, epoch: int) -> bool:
        found = self._stream_objects(stream_id)
        group = choose_stream_objects(found, self._merger.limits)
        if group:
            await self._merge_stream_objects(stream_id, epoch, group)
        return bool(group)

    async def _merge_stream_objects(
        self, stream_id: int, epoch: int, group: Sequence[ObjectRange]
    ) -> None:
        size_bytes = sum(found.size_bytes for found in group)
        self.statistics.group_bytes = size_bytes
        sources = await self._open([(found.object_id, found.size_bytes) for found in group])
        offsets = StreamRange(stream_id, epoch, group[0].start_offset, group[-1].end_offset)
        object_ids = [found.object_id for found in group]
        with self._blaming(object_ids):
            merged = await self._merger.merge(offsets, group, sources)
        if merged is None:
            return
        made = merged.stream_object
        await self._commit(
            lambda: self._objects.compact_stream_object(made, object_ids), object_ids
        )
        self.statistics.copied_bytes += merged.copied_bytes
        self._count((size_bytes, len(group)), (made.size_bytes, 1))

    async def _open(self, found: Sequence[tuple[int, int]]) -> list[SourceObject]:
        sources = []
        for object_id, size_bytes in found:
            source = SourceObject(self._store, self._cluster_id, object_id, self._window_bytes)
            await source.open(size_bytes)
            sources.append(source)
        return sources

    async def _rewrite(
        self, sources: Sequence[SourceObject], runs: Iterator[Run], object_ids: Sequence[int]
    ) -> Rewriter:
        rewriter = Rewriter(
            self._store,
            self._objects,
            self._cluster_id,
            sources,
            max_block_bytes=self._config.object_block_bytes,
            prepare_ttl_ms=self._config.object_prepare_ttl_ms,
            spend=self._spend,
        )
        with self._blaming(object_ids):
            await rewriter.write(runs)
        return rewriter

    @contextmanager
    def _blaming(self, object_ids: Sequence[int]) -> Iterator[None]:
        """Leave one of these out, or all, if they do not hold what the metadata say."""
        try:
            yield
        except LackingSourceError as error:
            raise DamagedSourceError(object_ids[error.source], error) from error
        except (RewriteError, ValueError) as error:
            # It is not known which of them is wrong.
            self._damaged.update(object_ids)
            raise DamagedSourceError(object_ids[0], error) from error

    async def _commit(
        self, commit: Callable[[], Awaitable[None]], object_ids: Sequence[int]
    ) -> None:
        """Commit; repeat while the outcome is unknown, since repeating a success succeeds."""
        try:
            for attempt in range(MAX_COMMIT_ATTEMPTS - 1):
                try:
                    return await commit()
                except (RetriableStorageError, TimeoutError, ConnectionError):
                    await asyncio.sleep(self._rng.random() * (COMMIT_DELAY_MS << attempt) / 1000)
            return await commit()
        except ObjectNotPreparedError:
            raise
        except CommitRefusedError as error:
            if await self._was_destroyed(object_ids, MAX_METADATA_LOOKS):
                raise _NotInUseError from error
            raise

    def _count(self, sources: tuple[int, int], made: tuple[int, int]) -> None:
        """Count a group that is committed; both are (bytes, objects)."""
        statistics = self.statistics
        statistics.groups += 1
        statistics.bytes_in += sources[0]
        statistics.objects_in += sources[1]
        statistics.bytes_out += made[0]
        statistics.objects_out += made[1]


def _live_bytes(object_id: int, ranges: Sequence[StreamRange], index: ObjectIndex) -> int:
    try:
        return live_bytes(ranges, index)
    except CorruptObjectError as error:
        raise DamagedSourceError(object_id, error) from error
