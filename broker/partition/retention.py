"""Retention by age and size: the rule, which is pure, and the job that applies it to the partitions led here.

As in Kafka, the log is deleted from its beginning: by age up to the first record that is young enough, by size as
long as `retention.bytes` are left. Kafka does so in segments; here a segment is what lies between two entries of the
partition's time index: a megabyte, an hour or `segment.ms`, and more in a very long log. A log in which everything
is too old is emptied. Records that are not in the bucket yet wait for the next check: nothing is uploaded only to be
deleted.

Source: UnifiedLog.deleteOldSegments of Apache Kafka; KIP-405 for the settings.
"""

import asyncio
import logging
from collections.abc import Callable

import msgspec

from headrace.broker.partition.internal_topics import INTERNAL_TOPICS
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.partition.time_index import NO_TIMESTAMP, TimeIndex
from headrace.config.node import LogConfig
from headrace.config.topic import EffectiveTopicConfig
from headrace.storage.errors import StorageError
from headrace.turns import Work, turns_of

logger = logging.getLogger("headrace.partition")

MAX_FIRST_LOOK_MS = 30_000
MAX_DELETIONS = 8  # at once: each is a checkpoint and a request to the controller


class RetentionStatistics(msgspec.Struct):
    """Counters of the job since the start."""

    deletions_total: int = 0
    deleted_records_total: int = 0
    deleted_bytes_total: int = 0
    failures_total: int = 0


def start_by_retention(
    times: TimeIndex, config: EffectiveTopicConfig, *, log_end_offset: int, now_ms: int
) -> int:
    """Return the offset below which records are due by age or size; 0 when none are."""
    if not config.deletes:
        return 0
    start = 0
    if config.retention_ms >= 0:
        oldest_ms = now_ms - config.retention_ms
        if NO_TIMESTAMP < times.max_timestamp_ms < oldest_ms:
            return log_end_offset
        start = times.offset_of_age(oldest_ms)
    if config.retention_bytes == 0:
        return log_end_offset
    if config.retention_bytes > 0:
        start = max(start, times.offset_of_size(config.retention_bytes))
    return start


class Retention:
    """Checks every open partition periodically, and deletes the records that its topic does not keep."""

    def __init__(
        self,
        partitions: PartitionRegistry,
        config: LogConfig,
        wall_clock_ms: Callable[[], int],
    ) -> None:
        self._partitions = partitions
        self._check_interval_ms = config.retention_check_interval_ms
        self._wall_clock_ms = wall_clock_ms
        self._slots = asyncio.Semaphore(MAX_DELETIONS)
        self._deleting: set[Partition] = set()
        self.statistics = RetentionStatistics()

    async def run(self) -> None:
        """Work until cancelled."""
        await asyncio.sleep(min(self._check_interval_ms, MAX_FIRST_LOOK_MS) / 1000)
        async with asyncio.TaskGroup() as tasks:
            while True:
                partitions = self._partitions.all()[::-1]
                while partitions:
                    partition = partitions.pop()  # what was deleted meanwhile is freed one by one
                    await turns_of(Work.UPKEEP).pause()  # there may be very many
                    if partition not in self._deleting and self._due(partition):
                        self._deleting.add(partition)
                        tasks.create_task(self._delete(partition))
                await asyncio.sleep(self._check_interval_ms / 1000)

    def _due(self, partition: Partition) -> int:
        """The new log start, if records are due; else 0."""
        if partition.topic in INTERNAL_TOPICS:
            return 0  # coordinators need their records regardless of age
        start = start_by_retention(
            partition.state.times,
            partition.writes.config,
            log_end_offset=partition.reads.log_end_offset,
            now_ms=self._wall_clock_ms(),
        )
        writes = partition.writes
        start = max(min(start, writes.committed_offset), writes.deleting_before)
        return start if start > partition.reads.log_start_offset else 0

    async def _delete(self, partition: Partition) -> None:
        """Delete from one partition; if it fails, it is due again at the next check."""
        try:
            async with self._slots:
                # The wait may have been long: decide by the current configuration and time.
                if start := self._due(partition):
                    await self._delete_before(partition, start)
        except StorageError as error:
            self.statistics.failures_total += 1
            logger.warning(
                "retention failed to delete records; trying again at the next check",
                extra={
                    "topic": partition.topic, "partition": partition.index, "reason": repr(error)
                },
            )  # fmt: skip
        finally:
            self._deleting.discard(partition)

    async def _delete_before(self, partition: Partition, start: int) -> None:
        # What is appended meanwhile must not count: the size of the log would.
        times = partition.state.times
        before, deleted_bytes = partition.reads.log_start_offset, times.start_bytes
        start = await partition.writes.delete_before(start)
        self.statistics.deletions_total += 1
        self.statistics.deleted_records_total += start - before
        # Below, if what is left was cleaned meanwhile.
        self.statistics.deleted_bytes_total += max(0, times.start_bytes - deleted_bytes)
        logger.info(
            "records deleted by retention",
            extra={
                "topic": partition.topic, "partition": partition.index, "from": before, "to": start
            },
        )  # fmt: skip
