"""Cleans the partitions of compacted topics that are led here, as a step of compaction.

Implements `headrace.storage.ports.BatchCleaner`. What stays is decided by `headrace.broker.partition.cleaning`, how
much is cleaned and when by `headrace.broker.partition.cleanable`. A pass that has come to its end changes the
partition's time index and its `cleaned_offset`, and writes a checkpoint of both. If a process ends before that, the
same offsets are cleaned once more, which changes nothing in them.
"""

import asyncio
import logging
from collections.abc import Callable, Generator
from typing import Final, TypeVar

import msgspec

from headrace.broker.partition.append_rules import advance
from headrace.broker.partition.cleanable import Cleanable, cleanable
from headrace.broker.partition.cleaning import (
    KEY_COST_BYTES,
    BatchFilter,
    CleaningRules,
    KeyMap,
    NotCleanError,
    aborted_by_producer,
    producers_to_keep,
)
from headrace.broker.partition.internal_topics import INTERNAL_TOPICS
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.config.node import LogConfig
from headrace.daemon_threads import in_own_thread
from headrace.metadata.follower.client import MetadataClient
from headrace.protocol.records.batch import newest_timestamp, parse_header
from headrace.protocol.records.window import Slice
from headrace.storage.errors import CleaningAbandonedError
from headrace.storage.ports import Buffer
from headrace.storage.record_batch import StreamRecordBatch

logger = logging.getLogger("headrace.partition")

NEVER_MS = -1
SLICE_S: Final = 0.0005  # of work on the event loop at a time
LOOP_SHARE: Final = 8  # cleaning takes this fraction of the loop's time at most
_POLICY = "cleanup.policy"
_POLICY_KEY = "log.cleanup.policy"  # of brokers
_T = TypeVar("_T")


class CleaningStatistics(msgspec.Struct):
    """Counted since the start; a pass counts once it has come to its end."""

    passes_total: int = 0
    records_in_total: int = 0
    records_kept_total: int = 0
    keyless_records_total: int = 0
    unreadable_batches_total: int = 0
    restarts_total: int = 0  # a log is cleaned from its start again
    last_finished_ms: int = NEVER_MS  # by the wall clock


class TopicCleaner:
    """Knows the open partitions by their data streams."""

    def __init__(
        self,
        partitions: PartitionRegistry,
        client: MetadataClient,
        log: LogConfig,
        wall_clock_ms: Callable[[], int],
        *,
        memory_bytes: int,
    ) -> None:
        """Clean with a map of as many keys as `memory_bytes` hold."""
        self._client = client
        self._log = log
        self._wall_clock_ms = wall_clock_ms
        self._max_keys = max(1, memory_bytes // KEY_COST_BYTES)
        self._open: dict[int, Partition] = {}
        self.statistics = CleaningStatistics()
        partitions.subscribe(opened=self._opened, closed=self._closed)

    def _opened(self, partition: Partition) -> None:
        if partition.topic not in INTERNAL_TOPICS:  # coordinators keep their logs short
            self._open[partition.streams[0][0]] = partition
            if partition.writes.config.compacts or partition.state.cleaned_offset:
                partition.forget_cached(partition.writes.committed_offset)

    def _closed(self, partition: Partition) -> None:
        stream_id = partition.streams[0][0]
        if self._open.get(stream_id) is partition:
            del self._open[stream_id]

    @property
    def dirty_ratio(self) -> float:
        """The largest of all partitions of compacted topics that are led here."""
        found = (
            self._cleanable(it, it.writes.committed_offset).dirty_ratio
            for it in self._open.values()
            if it.writes.config.compacts
        )
        return max(found, default=0.0)

    def leaves(self, stream_id: int) -> bool:
        """Whether a stream is to be cleaned soon, or by another broker once it can be."""
        partition = self._open.get(stream_id)
        if partition is not None:
            config = partition.writes.config
            if not config.compacts:
                return False
            return self._cleanable(partition, partition.writes.committed_offset).is_due(config)
        return self._is_compacted_elsewhere(stream_id)

    def _is_compacted_elsewhere(self, stream_id: int) -> bool:
        image = self._client.image
        stream = image.streams.get(stream_id)
        topic = None if stream is None else image.topic_by_id(stream.topic_id)
        if stream is None or topic is None or topic.name in INTERNAL_TOPICS:
            return False
        if topic.partitions[stream.partition].data_stream_id != stream_id:
            return False
        leader = topic.partitions[stream.partition].leader
        if leader == self._client.node_id:
            return False  # it is being opened
        policy = image.topic_config(topic.name).get(_POLICY)
        if policy is None:
            layers = (image.broker_config(leader), image.broker_config(""))
            of_file = self._log.topic_defaults.get(_POLICY, "")
            policy = next((it[_POLICY_KEY] for it in layers if _POLICY_KEY in it), of_file)
        return "compact" in policy

    def begin(
        self, stream_id: int, start_offset: int, end_offset: int
    ) -> "PartitionCleaning | None":
        """Begin a pass over a partition if it is due."""
        partition = self._open.get(stream_id)
        if partition is None or not partition.writes.config.compacts:
            return None
        if start_offset > partition.reads.log_start_offset:
            return (
                None  # its oldest records are in a Stream Set Object, or were deleted a moment ago
            )
        found = self._cleanable(partition, end_offset)
        if not found.is_due(partition.writes.config):
            return None
        # In memory old values last longer than in the bucket the tombstones that hide them.
        partition.forget_cached(found.end)
        return PartitionCleaning(self, partition, found, self._wall_clock_ms(), self._max_keys)

    def _cleanable(self, partition: Partition, limit: int) -> Cleanable:
        reads, state = partition.reads, partition.state
        return cleanable(
            state.times,
            partition.writes.config,
            cleaned_offset=state.cleaned_offset,
            log_start_offset=reads.log_start_offset,
            limit=min(limit, reads.last_stable_offset, partition.writes.committed_offset),
            now_ms=self._wall_clock_ms(),
        )

    def is_open(self, partition: Partition) -> bool:
        """Whether this broker still serves it."""
        return self._open.get(partition.streams[0][0]) is partition

    def finished(self, cleaning: "PartitionCleaning") -> None:
        """Count a pass."""
        statistics, counts = self.statistics, cleaning.filter.counts
        statistics.passes_total += 1
        statistics.records_in_total += counts.records_in
        statistics.records_kept_total += counts.records_kept
        statistics.keyless_records_total += counts.records_without_key
        statistics.unreadable_batches_total += counts.batches_unreadable
        statistics.last_finished_ms = self._wall_clock_ms()


class PartitionCleaning:
    """One pass over a partition; implements `headrace.storage.ports.Cleaning`."""

    def __init__(
        self,
        cleaner: TopicCleaner,
        partition: Partition,
        found: Cleanable,
        now_ms: int,
        max_keys: int,
    ) -> None:
        self._cleaner = cleaner
        self._partition = partition
        self.start_offset = found.first_dirty
        self.end_offset = found.end
        state, config = partition.state, partition.writes.config
        transactions = state.transactions
        rules = CleaningRules(
            now_ms=now_ms,
            delete_retention_ms=config.delete_retention_ms,
            cleaned_offset=state.cleaned_offset,
            producers=producers_to_keep(state.producers, partition.reads.high_watermark),
            aborted=aborted_by_producer(() if transactions is None else transactions.aborted),
        )
        self._pace = _Pace()
        self._keys = KeyMap(max_keys)
        self.filter = BatchFilter(rules, self._keys)
        self._times = state.times.anew()
        self._span_ms = config.segment_span_ms
        self._latest_ms = now_ms + config.timestamp_after_max_ms
        self._last_known = found.end  # the last end of a segment up to `end_offset`
        self._bytes_below_known = state.times.bytes_below(found.end)
        self._bytes_behind_known = 0  # of what is cleaned, before it was

    async def look_at(self, batch: StreamRecordBatch) -> bool:
        """Add the keys of a batch, unless the map is full."""
        self._require_open()
        if self._keys.is_full:
            self._end_at(batch.base_offset)
            return False
        await self._pace.done(self.filter.index(batch.payload))
        return True

    def _end_at(self, offset: int) -> None:
        times = self._partition.state.times
        self.end_offset = offset
        ends = [it.offset for it in times.entries if it.offset <= offset]
        self._last_known = ends[-1] if ends else self._partition.reads.log_start_offset
        self._bytes_below_known = times.bytes_below(offset)

    async def clean(self, batch: StreamRecordBatch, *, must_stay: bool) -> Buffer | None:
        """Return what stays of a batch."""
        self._require_open()
        if not must_stay and parse_header(batch.payload).base_offset >= self._last_known:
            self._bytes_behind_known += len(batch.payload)
        try:
            return await self._pace.done(self.filter.clean(batch.payload, must_stay=must_stay))
        except NotCleanError as error:
            self._partition.state.cleaned_offset = 0
            self._cleaner.statistics.restarts_total += 1
            logger.warning(
                "a log is not as clean as its checkpoint says; it is cleaned from its start again",
                extra={
                    "topic": self._partition.topic,
                    "partition": self._partition.index,
                    "reason": str(error),
                },
            )
            raise CleaningAbandonedError(str(error)) from error

    def kept(self, batch: StreamRecordBatch) -> None:
        """Index a batch that stays."""
        header = parse_header(batch.payload)
        # Its own offset, not that of the gap before: in memory there may still be what lies in the gap.
        # Older versions stored times of the far future, see `PartitionState.apply`.
        offset, newest_ms = header.base_offset, min(newest_timestamp(header), self._latest_ms)
        self._times.append(offset, newest_ms, len(batch.payload), self._span_ms)

    async def finish(self) -> None:
        """Take the new sizes and times over, and make them durable."""
        self._require_open()
        partition = self._partition
        reads = partition.reads
        before_bytes = partition.state.size_bytes
        partition.state.cleaned(
            self.end_offset,
            self._times,
            self._bytes_below_known + self._bytes_behind_known,
            (reads.log_start_offset, reads.log_end_offset),
        )
        self._cleaner.finished(self)
        logger.info(
            "log cleaned",
            extra={
                "topic": partition.topic,
                "partition": partition.index,
                "dirty_from": self.start_offset,
                "to": self.end_offset,
                "keys": len(self._keys),
                "before_bytes": before_bytes,
                "after_bytes": partition.state.size_bytes,
            },
        )
        if partition.writes.refusal is None:  # else its streams must not grow any more
            await partition.checkpoints.write_durably()

    def _require_open(self) -> None:
        if not self._cleaner.is_open(self._partition):
            raise CleaningAbandonedError(
                f"{self._partition.topic}-{self._partition.index} is no longer served here"
            )
        if not self._partition.writes.config.compacts:
            raise CleaningAbandonedError(
                f"{self._partition.topic}-{self._partition.index} is no longer to be compacted"
            )


class _Pace:
    """Takes a part of the time of the event loop, so that requests are not kept waiting."""

    def __init__(self) -> None:
        self._time = asyncio.get_running_loop().time
        self._worked_s = 0.0

    async def done(self, steps: Generator[Slice, None, _T]) -> _T:
        """Run steps, others having their turn in between."""
        found = await self._advanced(steps)
        while isinstance(found, Slice):
            if found is Slice.THREAD:
                found = await in_own_thread("cleaning", advance, steps)
            else:
                found = await self._advanced(steps)
        return found

    async def _advanced(self, steps: Generator[Slice, None, _T]) -> Slice | _T:
        begun_s = self._time()
        found = advance(steps)
        self._worked_s += self._time() - begun_s
        if self._worked_s >= SLICE_S:
            pause_s, self._worked_s = self._worked_s * (LOOP_SHARE - 1), 0.0
            await asyncio.sleep(pause_s)
        return found
