"""`__consumer_offsets` as the group coordinator sees it: logs that it appends to durably and reads from their start."""

import asyncio
from collections.abc import AsyncIterator, Callable

from broker.api.topic_creation import TopicCreation
from broker.coordinator.partitioning import partition_for_group
from broker.partition.append_rules import Rejection
from broker.partition.internal_topics import OFFSETS_TOPIC
from broker.partition.partition import RECORD_OVERHEAD_BYTES, Partition
from broker.partition.registry import PartitionRegistry
from config.node import GroupConfig
from metadata.client import MetadataClient
from protocol.errors import ErrorCode, KafkaError
from storage.engine import StorageEngine

READ_BYTES = 4 * 1024 * 1024
PRODUCE_VERSION = 11  # what the coordinator's own batches are checked as


class PartitionLog:
    """One partition of `__consumer_offsets`, open on this broker."""

    def __init__(
        self, partition: Partition, engine: StorageEngine, wall_clock_ms: Callable[[], int]
    ) -> None:
        self._partition = partition
        self._engine = engine
        self._wall_clock_ms = wall_clock_ms

    @property
    def leader_epoch(self) -> int:
        return self._partition.leader_epoch

    async def append(self, batch: bytearray) -> int:
        """Append one record batch; return its base offset once it is acknowledged.

        Raises:
            KafkaError: refused, definitely not appended.
            StorageError: no room in time (not appended), or the outcome is unknown.
        """
        await self._engine.admission(len(batch) + RECORD_OVERHEAD_BYTES)
        acknowledged: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def on_done(error: Exception | None) -> None:
            if acknowledged.done():
                return
            if error is None:
                acknowledged.set_result(None)
            else:
                acknowledged.set_exception(error)

        result = self._partition.append(
            memoryview(batch),
            version=PRODUCE_VERSION,
            now_ms=self._wall_clock_ms(),
            on_done=on_done,
        )
        if isinstance(result, Rejection):
            raise KafkaError(result.code, result.message or result.code.name)
        await acknowledged
        return result.base_offset

    async def read(self) -> AsyncIterator[memoryview]:
        """Every batch from the log start to the high watermark."""
        offset = self._partition.log_start_offset
        while offset < self._partition.high_watermark:
            for batch in await self._partition.read(offset, READ_BYTES):
                offset = batch.base_offset + batch.count
                yield batch.payload


class OffsetsTopicLogs:
    """Finds and creates the partitions of `__consumer_offsets`."""

    def __init__(
        self,
        *,
        client: MetadataClient,
        partitions: PartitionRegistry,
        creation: TopicCreation,
        engine: StorageEngine,
        config: GroupConfig,
        wall_clock_ms: Callable[[], int],
    ) -> None:
        self._wall_clock_ms = wall_clock_ms
        self._client = client
        self._partitions = partitions
        self._creation = creation
        self._engine = engine
        self._config = config

    @property
    def partition_count(self) -> int:
        """As created; the configured count before that."""
        topic = self._client.image.topic(OFFSETS_TOPIC)
        return len(topic.partitions) if topic else self._config.offsets_topic_partitions

    def partition_for(self, group_id: str) -> int:
        """The partition that holds a group, as every Kafka client computes it."""
        return partition_for_group(group_id, self.partition_count)

    def log(self, partition: int) -> PartitionLog | None:
        """The log, or None when this broker does not lead it."""
        found = self._partitions.find(OFFSETS_TOPIC, partition)
        if not isinstance(found, Partition):
            return None
        return PartitionLog(found, self._engine, self._wall_clock_ms)

    def leader(self, partition: int) -> int | None:
        """Node id of the leader; None before the topic exists."""
        topic = self._client.image.topic(OFFSETS_TOPIC)
        if topic is None or partition >= len(topic.partitions):
            return None
        return topic.partitions[partition].leader

    async def ensure_topic(self) -> None:
        """Create `__consumer_offsets` unless it is there.

        Raises:
            KafkaError: it cannot be created now.
        """
        if self._client.image.topic(OFFSETS_TOPIC) is None:
            await self._creation.create_automatically([OFFSETS_TOPIC])
        if self._client.image.topic(OFFSETS_TOPIC) is None:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{OFFSETS_TOPIC} is not there")
