"""A coordinator's topic: logs that are appended to durably and read from their start."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.cluster.topic_creation import CoordinatorTopic, TopicCreation
from headrace.broker.coordinator.runtime.batching import MAX_BATCH_BYTES
from headrace.broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
from headrace.broker.coordinator.runtime.partitioning import partition_for_key
from headrace.broker.coordinator.runtime.shard import DeletedTopic
from headrace.broker.network.client import Client
from headrace.broker.partition.append_rules import RECORD_OVERHEAD_BYTES, AppendOrigin, Rejection
from headrace.broker.partition.damage import DamagedRange
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.partition.transit import PartitionsInTransit
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.image import MetadataImage, TopicImage
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.storage.engine import StorageEngine
from headrace.storage.errors import DAMAGE

READ_BYTES = 4 * 1024 * 1024


class PartitionLog:
    """One partition of a coordinator's topic, open on this broker."""

    def __init__(
        self,
        partition: Partition,
        engine: StorageEngine,
        wall_clock_ms: Callable[[], int],
        transit: PartitionsInTransit,
    ) -> None:
        self._partition = partition
        self._transit = transit
        self._engine = engine
        self._wall_clock_ms = wall_clock_ms

    @property
    def leader_epoch(self) -> int:
        """Epoch at which this broker leads the partition."""
        return self._partition.leader_epoch

    @property
    def end_offset(self) -> int:
        """The high watermark."""
        return self._partition.reads.high_watermark

    @property
    def has_room(self) -> bool:
        """Whether the largest batch of the coordinator would be admitted now."""
        return self._engine.admits(MAX_BATCH_BYTES + RECORD_OVERHEAD_BYTES)

    def count_request(self) -> None:
        """Count a request to the coordinator as load of the partition."""
        if self._partition.traffic is not None:
            self._partition.traffic.requests += 1

    async def append(self, batch: bytearray) -> int:
        """Append one record batch; return its base offset once it is acknowledged.

        Raises:
            KafkaError: refused, definitely not appended.
            StorageError: no room in time (not appended), or the outcome is unknown.
        """
        if self._transit:
            await self._transit.settled([(self._partition.topic_id, self._partition.index)])
        bytes_needed = len(batch) + RECORD_OVERHEAD_BYTES
        if not self._engine.admits(bytes_needed):
            await self._engine.admission(bytes_needed)
        acknowledged: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def on_done(error: Exception | None) -> None:
            if acknowledged.done():
                return
            if error is None:
                acknowledged.set_result(None)
            else:
                acknowledged.set_exception(error)

        result = self._partition.writes.append(
            memoryview(batch),
            AppendOrigin.COORDINATOR,
            now_ms=self._wall_clock_ms(),
            on_done=on_done,
        )
        if isinstance(result, Rejection):
            raise KafkaError(result.code, result.message or result.code.name)
        await acknowledged
        return result.base_offset

    async def read(self) -> AsyncIterator[memoryview | DamagedRange]:
        """Yield every batch from the log start to the high watermark, or where there is none to be read."""
        # A deletion that was cut short may have been done in the metadata, and its objects may be gone.
        offset = max(self._partition.reads.log_start_offset, self._partition.writes.deleting_before)
        while offset < self._partition.reads.high_watermark:
            try:
                batches = await self._partition.reads.read(offset, READ_BYTES)
            except DAMAGE as error:
                damaged = await self._partition.reads.damaged_range(offset, error)
                offset = damaged.end_offset
                yield damaged
                continue
            for batch in batches:
                offset = batch.base_offset + batch.count
                yield batch.payload

    def is_uploaded(self, offset: int) -> bool:
        """Whether everything below `offset` is in the bucket."""
        return self._partition.writes.committed_offset >= offset

    async def delete_before(self, offset: int) -> None:
        """Delete every batch below `offset`; what is not in the bucket yet is uploaded first."""
        await self._partition.writes.delete_before(offset)


class TopicLogs:
    """Finds and creates the partitions of a coordinator's topic."""

    def __init__(
        self,
        topic: CoordinatorTopic,
        *,
        client: MetadataClient,
        partitions: PartitionRegistry,
        creation: TopicCreation,
        engine: StorageEngine,
        cluster: ClusterView,
        wall_clock_ms: Callable[[], int],
    ) -> None:
        self._topic = topic
        self._cluster = cluster
        self._wall_clock_ms = wall_clock_ms
        self._client = client
        self._partitions = partitions
        self.is_lease_valid = partitions.is_lease_valid  # whether this broker still leads them
        self._creation = creation
        self._engine = engine
        self._counted_in: MetadataImage | None = None  # partitions are looked up once in an image
        self._count = 0

    @property
    def image(self) -> MetadataImage:
        """The metadata as they are now."""
        return self._client.image

    @property
    def partition_count(self) -> int:
        """As created; the configured count before that."""
        image = self._client.image
        if image is not self._counted_in:
            topic = image.topic(self._topic.name)
            self._count = len(topic.partitions) if topic else self._topic.partitions
            self._counted_in = image
        return self._count

    def partition_for(self, key: str) -> int:
        """The partition that holds a key, as Kafka computes it."""
        return partition_for_key(key, self.partition_count)

    async def arrived(self, partition: int) -> None:
        """Wait a moment for a partition that is about to come to this broker."""
        topic = self._created()
        if topic is not None:
            await self._partitions.transit.settled([(topic.topic_id, partition)])

    def log(self, partition: int) -> PartitionLog | None:
        """The log, or None when this broker does not lead it."""
        found = self._partitions.find(self._topic.name, partition)
        if not isinstance(found, Partition):
            return None
        return PartitionLog(found, self._engine, self._wall_clock_ms, self._partitions.transit)

    def coordinator_node(self, client: Client, key: str) -> tuple[int, str, int] | None:
        """Node id, host and port of a key's coordinator for this client; None if there is none.

        None also if it is this broker according to its metadata, and its lease is not valid.
        """
        topic = self._created()
        if topic is None:
            return None
        leader = topic.partitions[self.partition_for(key)].leader
        if leader == self._cluster.node_id and not self.is_lease_valid():
            return None
        address = self._cluster.broker(client, leader)
        return None if address is None else (address.node_id, address.host, address.port)

    async def ensure_topic(self) -> None:
        """Create the topic unless it exists.

        Raises:
            KafkaError: it cannot be created now.
        """
        if self._created() is None:
            await self._creation.create_automatically([self._topic.name])
        if self._created() is None:
            raise KafkaError(
                ErrorCode.COORDINATOR_NOT_AVAILABLE, f"topic {self._topic.name} does not exist yet"
            )

    def _created(self) -> TopicImage | None:
        return self._client.image.topic(self._topic.name)


class CoordinatorElections:
    """Notifies the runtime of a topic when this broker starts or stops leading one of its partitions."""

    def __init__(self, runtimes: Iterable[CoordinatorRuntime[Any, Any]]) -> None:
        self._runtimes = {runtime.topic: runtime for runtime in runtimes}

    def opened(self, partition: Partition) -> None:
        """This broker leads a partition from now on, or at a new epoch."""
        runtime = self._runtimes.get(partition.topic)
        if runtime is not None:
            runtime.on_election(partition.index)

    def closed(self, partition: Partition) -> None:
        """This broker does not lead a partition any more, or not at that epoch."""
        runtime = self._runtimes.get(partition.topic)
        if runtime is not None:
            runtime.on_resignation(partition.index)

    def image_changed(self, old: MetadataImage, new: MetadataImage) -> None:
        """Every runtime hears of topics that were created, changed or deleted."""
        if old.topics is new.topics:
            return
        deleted: Sequence[DeletedTopic] = ()
        if old.topic_ids is not new.topic_ids:
            deleted = [
                DeletedTopic(name, topic_id)
                for name, topic_id in old.topic_ids.items()
                if new.topic_ids.get(name) != topic_id
            ]
        for runtime in self._runtimes.values():
            runtime.on_new_image(deleted)
