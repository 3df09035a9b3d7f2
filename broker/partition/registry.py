"""Which partitions this broker has open: what the metadata image says that it leads.

The image is followed, never anticipated: a partition opens when the image names this broker as its leader, opens anew
when the leader epoch has risen, closes when the image names another, and is dropped with its topic.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from uuid import UUID

from broker.partition.opening import restore_state
from broker.partition.partition import Partition
from config.node import LogConfig
from config.topic import EffectiveTopicConfig
from metadata.client import MetadataClient
from metadata.image import MetadataImage, PartitionImage, TopicImage
from protocol.errors import ErrorCode
from storage.engine import StorageEngine
from storage.errors import StorageError

logger = logging.getLogger("headrace.partition")

OPENINGS_MAX = 32  # partitions being opened at once
RETRY_MS = 500
UPKEEP_INTERVAL_MS = 30_000

_Key = tuple[UUID, int]


class PartitionRegistry:
    """All partitions of this node, by name and by topic id."""

    def __init__(
        self,
        *,
        client: MetadataClient,
        engine: StorageEngine,
        node_id: int,
        config: LogConfig,
        wall_clock_ms: Callable[[], int],
    ) -> None:
        self._client = client
        self._engine = engine
        self._node_id = node_id
        self._config = config
        self._wall_clock_ms = wall_clock_ms
        self._by_name: dict[tuple[str, int], Partition] = {}
        self._by_id: dict[_Key, Partition] = {}
        self._changed = asyncio.Event()
        self._settled: set[asyncio.Future[None]] = set()
        self._on_change: list[Callable[[], None]] = []

    def __len__(self) -> int:
        return len(self._by_id)

    def all(self) -> list[Partition]:
        """Every open partition."""
        return list(self._by_id.values())

    def subscribe(self, on_change: Callable[[], None]) -> None:
        """Call `on_change` after partitions have been opened or closed."""
        self._on_change.append(on_change)

    def find(self, topic: str, index: int) -> Partition | ErrorCode:
        """The open partition, or why there is none."""
        partition = self._by_name.get((topic, index))
        if partition is not None:
            return partition
        image = self._client.image.topic(topic)
        if image is None or not 0 <= index < len(image.partitions):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return ErrorCode.NOT_LEADER_OR_FOLLOWER

    def find_by_id(self, topic_id: UUID | None, index: int) -> Partition | ErrorCode:
        """As `find`, for requests that name topics by id."""
        if topic_id is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        partition = self._by_id.get((topic_id, index))
        if partition is not None:
            return partition
        image = self._client.image.topic_by_id(topic_id)
        if image is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        if not 0 <= index < len(image.partitions):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return ErrorCode.NOT_LEADER_OR_FOLLOWER

    async def run(self) -> None:
        """Follow the image until cancelled."""
        self._client.subscribe(self._image_changed)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow(), name="partitions")
            tasks.create_task(self._upkeep(), name="partition-upkeep")

    async def wait_open(self, names: Iterable[str], timeout_ms: int) -> bool:
        """Wait until every partition of these topics that this broker leads is open; False on time-out."""
        wanted = set(names)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                while self._missing(wanted):
                    waiter = asyncio.get_running_loop().create_future()
                    self._settled.add(waiter)
                    try:
                        await waiter
                    finally:
                        self._settled.discard(waiter)
        except TimeoutError:
            return False
        return True

    async def wait_all_open(self) -> None:
        """Wait until every partition that this broker leads is open: the end of starting up."""
        while self._missing(None):
            waiter = asyncio.get_running_loop().create_future()
            self._settled.add(waiter)
            try:
                await waiter
            finally:
                self._settled.discard(waiter)

    async def checkpoint_all(self) -> None:
        """Checkpoint every partition durably, so that the next start reads no log."""
        for partition in list(self._by_id.values()):
            await partition.checkpoint_now()

    def _missing(self, names: set[str] | None) -> list[tuple[TopicImage, PartitionImage]]:
        image = self._client.image
        missing = []
        for topic in image.topics.values():
            if names is not None and topic.name not in names:
                continue
            for partition in topic.partitions:
                if partition.leader != self._node_id:
                    continue
                opened = self._by_id.get((topic.topic_id, partition.partition))
                if opened is None or opened.leader_epoch < partition.leader_epoch:
                    missing.append((topic, partition))
        return missing

    def _image_changed(self, old: MetadataImage, new: MetadataImage) -> None:
        if old.topics is not new.topics or old.configs is not new.configs:
            self._changed.set()

    async def _follow(self) -> None:
        self._changed.set()
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._close_departed()
            self._apply_configs()
            await self._open_missing()
            for waiter in self._settled:
                if not waiter.done():
                    waiter.set_result(None)
            for on_change in self._on_change:
                on_change()

    async def _open_missing(self) -> None:
        missing = self._missing(None)
        slots = asyncio.Semaphore(OPENINGS_MAX)

        async def open_one(topic: TopicImage, partition: PartitionImage) -> None:
            async with slots:
                await self._open(topic, partition)

        async with asyncio.TaskGroup() as tasks:
            for topic, partition in missing:
                tasks.create_task(open_one(topic, partition))
        if self._missing(None):
            asyncio.get_running_loop().call_later(RETRY_MS / 1000, self._changed.set)

    async def _open(self, topic: TopicImage, image: PartitionImage) -> None:
        previous = self._by_id.get((topic.topic_id, image.partition))
        if previous is not None:
            self._forget(previous)
        try:
            data = await self._engine.open_stream(image.data_stream_id, image.leader_epoch)
            meta = await self._engine.open_stream(image.meta_stream_id, image.leader_epoch)
            restored = await restore_state(
                data,
                meta,
                producer_id_expiration_ms=self._config.producer_id_expiration_ms,
                now_ms=self._wall_clock_ms(),
            )
        except StorageError as error:
            logger.warning(
                "partition cannot be opened, will try again",
                extra={
                    "topic": topic.name, "partition": image.partition, "reason": repr(error)
                },
            )  # fmt: skip
            return
        partition = Partition(
            topic=topic.name,
            topic_id=topic.topic_id,
            index=image.partition,
            leader_epoch=image.leader_epoch,
            engine=self._engine,
            data=data,
            meta=meta,
            state=restored.state,
            config=self._effective_config(topic.name),
            checkpoint_interval_bytes=self._config.checkpoint_interval_bytes,
        )
        if restored.must_checkpoint and not await partition.supersede_checkpoint():
            return
        self._by_name[topic.name, image.partition] = partition
        self._by_id[topic.topic_id, image.partition] = partition

    async def _close_departed(self) -> None:
        image = self._client.image
        for partition in list(self._by_id.values()):
            topic = image.topic_by_id(partition.topic_id)
            if topic is None:
                self._forget(partition)
                partition.discard()
            elif topic.partitions[partition.index].leader != self._node_id:
                self._forget(partition)
                await partition.close()

    def _forget(self, partition: Partition) -> None:
        self._by_id.pop((partition.topic_id, partition.index), None)
        if self._by_name.get((partition.topic, partition.index)) is partition:
            del self._by_name[partition.topic, partition.index]

    def _apply_configs(self) -> None:
        effective: dict[str, EffectiveTopicConfig] = {}
        for partition in self._by_id.values():
            if partition.topic not in effective:
                effective[partition.topic] = self._effective_config(partition.topic)
            partition.config = effective[partition.topic]

    def _effective_config(self, topic: str) -> EffectiveTopicConfig:
        overrides: Mapping[str, str] = self._client.image.topic_config(topic)
        return EffectiveTopicConfig.resolve(overrides, self._config.topic_defaults)

    async def _upkeep(self) -> None:
        """Forget silent producers and superseded checkpoints, now and then."""
        while True:
            await asyncio.sleep(UPKEEP_INTERVAL_MS / 1000)
            for partition in list(self._by_id.values()):
                partition.state.producers.expire(self._wall_clock_ms())
                try:
                    await partition.trim_checkpoints()
                except StorageError as error:
                    logger.warning("checkpoints not trimmed", extra={"reason": repr(error)})
