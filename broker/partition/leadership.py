"""Opening and closing partitions as the metadata image says.

A partition is opened when the image names this broker as its leader, reopened when its leader epoch has risen, and
closed when the image names another leader. It is dropped synchronously when its topic disappears from the image, so
that no record is appended to, or read from, a topic whose deletion has been answered.

Each partition is opened and closed independently: if that fails, for example because the bucket does not answer, it
is retried until it is no longer needed, and does not delay other partitions. Each is served as soon as it is open,
and one that a client asks for is opened before the rest: a start with very many is no outage until the last is open.

A partition whose streams another broker still has open waits until the image says that they are closed. Nothing is
asked meanwhile, and no time is lost when they are.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from uuid import UUID

import msgspec

from headrace.broker.partition.internal_topics import INTERNAL_TOPICS
from headrace.broker.partition.opening import Restored, restore_state
from headrace.broker.partition.opening_queue import OpeningQueue, PartitionKey
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.partition.topic_defaults import TopicDefaults
from headrace.config.node import LogConfig
from headrace.config.topic import EffectiveTopicConfig
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.image import MetadataImage, PartitionImage, TopicImage
from headrace.metadata.images.configs import TOPIC_RESOURCE, changed_resources
from headrace.steps import Steps
from headrace.storage.engine import StorageEngine
from headrace.storage.errors import FencedError, StorageError
from headrace.storage.stream import Stream
from headrace.turns import Work, turns_of

logger = logging.getLogger("headrace.partition")

MAX_OPENING = (
    256  # partitions being opened at once: their streams fill a request of `StreamBatches`
)
MAX_CLOSING = 32
MIN_RETRY_MS = 500
MAX_RETRY_MS = 10_000
UPKEEP_INTERVAL_MS = 30_000
# At a start the first partitions have the loop for themselves, at most so long: to look at all others takes longer.
FIRST_OPENING_MS = 100
DROPS_AT_ONCE = 64  # partitions of a deleted topic: less than a millisecond
RESOLVED_AT_ONCE = 100  # configs of topics


class _Pause(msgspec.Struct, frozen=True):
    """A partition that is not tried again before `over` is set; when `is_elsewhere`, by no timer."""

    led: PartitionImage  # at the last attempt
    is_elsewhere: bool
    over: asyncio.Event


class OpeningStatistics(msgspec.Struct):
    """Counters since the start."""

    opened_past_damage_total: int = 0


class PartitionLeadership:
    """Keeps a registry in sync with the image. Order of use: `run`, and `checkpoint_all` before it ends."""

    def __init__(
        self,
        *,
        client: MetadataClient,
        engine: StorageEngine,
        registry: PartitionRegistry,
        node_id: int,
        config: LogConfig,
        wall_clock_ms: Callable[[], int],
    ) -> None:
        self._client = client
        self._engine = engine
        self._registry = registry
        self._node_id = node_id
        self._config = config
        self._wall_clock_ms = wall_clock_ms
        self._changed = asyncio.Event()
        self._changed_topics: set[UUID] = set()
        self._attempted = asyncio.Event()  # to open one, since the start
        self._opening: set[PartitionKey] = set()  # waiting, being opened, or to be tried again
        self._queue = OpeningQueue()
        self._workers = 0
        self._retry_ms: dict[PartitionKey, int] = {}  # of those whose opening has failed
        self._pauses: dict[PartitionKey, _Pause] = {}
        self._fenced: dict[PartitionKey, str] = {}  # reasons of the last attempt
        self._streams_changed = False
        self._closing_slots = asyncio.Semaphore(MAX_CLOSING)
        self._defaults = TopicDefaults(
            config.topic_defaults, config.producer_id_expiration_ms, node_id
        )
        self._ahead: dict[UUID, EffectiveTopicConfig] = {}  # of the next image
        registry.on_missed = self._queue.ask
        self.statistics = OpeningStatistics()

    async def run(self) -> None:
        """Follow the image until cancelled."""
        self._client.subscribe(self._image_changed, self._prepare)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow(tasks), name="partitions")
            tasks.create_task(self._upkeep(), name="partition-upkeep")

    async def checkpoint_all(self) -> None:
        """Checkpoint every partition durably, so that the next start reads no log.

        Not those that are frozen: their streams must not grow, they may be about to be closed at their ends.
        """
        async with asyncio.TaskGroup() as tasks:
            for partition in self._registry.all():
                if not partition.is_frozen:
                    tasks.create_task(partition.checkpoints.write_news())

    def _image_changed(self, old: MetadataImage, new: MetadataImage) -> None:
        if old.topics is not new.topics:
            for topic_id, topic in old.topics.items():
                if topic_id not in new.topics:
                    self._drop(topic)  # what was opened since `_leave_deleted`
            self._look_at(
                topic_id
                for topic_id, topic in new.topics.items()
                if old.topics.get(topic_id) is not topic
            )
            self._registry.arrivals.news()
        if old.streams is not new.streams and self._pauses:
            self._streams_changed = True
            self._changed.set()
        if old.configs is not new.configs:
            self._configs_changed(old, new)
            self._ahead = {}

    def _configs_changed(self, old: MetadataImage, new: MetadataImage) -> None:
        """Put new configs in force: those of some topics, or the defaults of all."""
        topic_ids: Iterable[UUID | None]
        if self._defaults.have_changed(new):
            topic_ids = list(new.topics)
        else:
            changed = changed_resources(old.configs, new.configs)
            topic_ids = [
                new.topic_ids.get(name) for kind, name in changed if kind == TOPIC_RESOURCE
            ]
        for topic_id in topic_ids:
            partitions = [] if topic_id is None else self._registry.of_topic(topic_id)
            if partitions:
                config = self._ahead.get(partitions[0].topic_id)
                if config is None:
                    config = self._defaults.resolve(new, partitions[0].topic)
                for partition in partitions:
                    self._configure(partition, config)

    def _prepare(self, old: MetadataImage, new: MetadataImage) -> Steps[None]:
        yield from self._leave_deleted(old, new)
        yield from self._resolve_ahead(old, new)

    def _resolve_ahead(self, old: MetadataImage, new: MetadataImage) -> Steps[None]:
        """Resolve the configs of all topics, in steps, if the next image has other defaults: each takes 20 us."""
        self._ahead = {}
        defaults = None if old.configs is new.configs else self._defaults.differing(new)
        if defaults is None:
            return
        for number, (topic_id, topic) in enumerate(new.topics.items(), start=1):
            self._ahead[topic_id] = defaults.resolve(new, topic.name)
            if number % RESOLVED_AT_ONCE == 0:
                yield

    def _leave_deleted(self, old: MetadataImage, new: MetadataImage) -> Steps[None]:
        """Stop serving what the next image lacks, in steps: a topic may have 50,000 partitions."""
        if old.topics is new.topics:
            return
        for topic_id in old.topics:
            if topic_id in new.topics:
                continue
            partitions = self._registry.of_topic(topic_id)
            while partitions:
                partition = partitions.pop()  # each is freed in its step
                self._registry.remove(partition)
                partition.discard()
                if len(partitions) % DROPS_AT_ONCE == 0:
                    yield

    def _drop(self, topic: TopicImage) -> None:
        for partition in self._registry.of_topic(topic.topic_id):
            self._registry.remove(partition)
            partition.discard()
        self._registry.settle_topic(topic.topic_id)

    def _look_at(self, topic_ids: Iterable[UUID]) -> None:
        self._changed_topics.update(topic_ids)
        self._changed.set()

    async def _follow(self, tasks: asyncio.TaskGroup) -> None:
        self._look_at(self._client.image.topics)
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._follow_changed(tasks)

    async def _follow_changed(self, tasks: asyncio.TaskGroup) -> None:
        turns = turns_of(Work.METADATA)
        topic_ids, self._changed_topics = self._changed_topics, set()
        topics = filter(None, map(self._client.image.topic_by_id, topic_ids))
        for topic in sorted(topics, key=_place_in_a_start):
            for image in topic.partitions:
                self._follow_one((topic.topic_id, image.partition), tasks)
                await self._first_opened()
                await turns.pause()
        if self._streams_changed:
            self._streams_changed = False
            for pause in list(self._pauses.values()):
                if pause.is_elsewhere and not self._is_elsewhere(pause.led):
                    pause.over.set()
                await turns.pause()

    async def _first_opened(self) -> None:
        """Let the first of as many as are opened at once come to its end before the others are looked at."""
        if self._workers == MAX_OPENING and not self._attempted.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(FIRST_OPENING_MS / 1000):
                    await self._attempted.wait()
            self._attempted.set()

    def _follow_one(self, key: PartitionKey, tasks: asyncio.TaskGroup) -> None:
        opened = self._registry.get(key)
        if opened is not None and self._led(key) is None:
            self._registry.remove(opened)
            tasks.create_task(self._keep_closing(opened))
        elif key not in self._opening and self._wanted(key) is not None:
            self._opening.add(key)
            self._enqueue(key, tasks)
        elif (pause := self._pauses.get(key)) is not None:
            led = self._led(key)
            if led is None or led[1] is not pause.led:
                pause.over.set()

    def _is_elsewhere(self, partition: PartitionImage) -> bool:
        """Whether another broker has a stream of a partition open."""
        streams = self._client.image.streams
        return any(
            found is not None and found.opened and found.node_id != self._node_id
            for found in map(streams.get, (partition.data_stream_id, partition.meta_stream_id))
        )

    def _led(self, key: PartitionKey) -> tuple[TopicImage, PartitionImage] | None:
        """Topic and partition of the image; None unless this broker leads it there."""
        topic_id, index = key
        topic = self._client.image.topic_by_id(topic_id)
        if topic is None or topic.partitions[index].leader != self._node_id:
            return None
        return topic, topic.partitions[index]

    def _wanted(self, key: PartitionKey) -> tuple[TopicImage, PartitionImage] | None:
        """As `_led`; None also if it is already served at its leader epoch."""
        led, opened = self._led(key), self._registry.get(key)
        if led is None or (opened is not None and opened.leader_epoch >= led[1].leader_epoch):
            return None
        return led

    def _enqueue(self, key: PartitionKey, tasks: asyncio.TaskGroup) -> None:
        topic = self._client.image.topic_by_id(key[0])
        self._queue.add(key, topic.name if topic is not None else "")
        if self._workers < MAX_OPENING:
            self._workers += 1
            tasks.create_task(self._open_waiting(tasks))

    async def _open_waiting(self, tasks: asyncio.TaskGroup) -> None:
        """Open one partition after the other, until none waits."""
        while (key := self._queue.take()) is not None:
            await self._attempt(key, tasks)
            await turns_of(
                Work.METADATA
            ).pause()  # an opening that reads nothing does not wait for anything
        self._workers -= 1

    async def _attempt(self, key: PartitionKey, tasks: asyncio.TaskGroup) -> None:
        """Open a partition at its leader epoch of now; if that fails and it is still wanted, it is tried again."""
        wanted = self._wanted(key)
        if wanted is not None:
            previous = self._registry.get(key)
            if previous is not None:  # of an epoch that is over
                self._registry.remove(previous)
            is_elsewhere = self._is_elsewhere(wanted[1])
            if not is_elsewhere:
                await self._open(*wanted)
            self._attempted.set()
            self._registry.settle(key, attempted_only=True)
            if self._wanted(key) is not None:
                pause = _Pause(wanted[1], is_elsewhere, asyncio.Event())
                tasks.create_task(self._try_again(key, pause, tasks))
                return
        self._opening.discard(key)
        self._retry_ms.pop(key, None)
        self._fenced.pop(key, None)
        self._registry.settle(key)
        if self._led(key) is None:
            self._look_at([key[0]])  # it moved while it was being opened

    async def _try_again(self, key: PartitionKey, pause: _Pause, tasks: asyncio.TaskGroup) -> None:
        if self._registry.get(key) is None:  # else it is open, at an epoch that is over by now
            self._pauses[key] = pause
            await self._end_of(pause, key)
            del self._pauses[key]
        fenced, wanted = self._fenced.pop(key, None), self._wanted(key)
        if fenced is not None and wanted is not None and wanted[1] is pause.led:
            self._warn_not_opened(wanted[0], key[1], fenced)
        self._enqueue(key, tasks)

    async def _end_of(self, pause: _Pause, key: PartitionKey) -> None:
        """Wait until what a partition waits for has changed, or, after a failure, for a time that grows."""
        led = self._led(key)
        if led is None or led[1] is not pause.led:
            return
        if pause.is_elsewhere:
            if self._is_elsewhere(pause.led):
                await pause.over.wait()
            return
        retry_ms = self._retry_ms.get(key, MIN_RETRY_MS)
        self._retry_ms[key] = min(2 * retry_ms, MAX_RETRY_MS)
        with suppress(TimeoutError):
            async with asyncio.timeout(retry_ms / 1000):
                await pause.over.wait()

    async def _open(self, topic: TopicImage, image: PartitionImage) -> None:
        """Open a partition at the epoch of `image`; when that fails, it stays closed."""
        try:
            partition = await self._restore(topic, image)
        except FencedError as error:
            # Its topic was deleted, or another broker leads it: the image may tell in a moment.
            self._fenced[topic.topic_id, image.partition] = repr(error)
            return
        except StorageError as error:
            self._warn_not_opened(topic, image.partition, repr(error))
            return
        if partition is None:
            return
        if self._client.image.topic_by_id(topic.topic_id) is None:
            partition.discard()
            return
        self._configure(partition, self._defaults.resolve(self._client.image, topic.name))
        self._registry.add(partition)

    def _warn_not_opened(self, topic: TopicImage, index: int, reason: str) -> None:
        if self._client.image.topic_by_id(topic.topic_id) is not None:
            logger.warning(
                "partition cannot be opened; trying again",
                extra={"topic": topic.name, "partition": index, "reason": reason},
            )

    async def _restore(self, topic: TopicImage, image: PartitionImage) -> Partition | None:
        config = self._defaults.resolve(self._client.image, topic.name)
        now_ms = self._wall_clock_ms()
        opened = await asyncio.gather(  # by one request
            *(
                self._engine.open_stream(stream_id, image.leader_epoch)
                for stream_id in (image.data_stream_id, image.meta_stream_id)
            ),
            return_exceptions=True,
        )
        try:
            data, meta = map(_opened, opened)
            restored = await restore_state(
                data,
                meta,
                producer_id_expiration_ms=self._defaults.producer_expiration_ms,
                now_ms=now_ms,
                segment_ms=config.segment_span_ms,
                latest_ms=now_ms + config.timestamp_after_max_ms,
            )
        except StorageError:
            if self._client.image.topic_by_id(topic.topic_id) is None:
                for stream in opened:
                    if not isinstance(stream, BaseException):
                        stream.abandon()
            raise  # else the next attempt finds them open
        partition = Partition(
            topic=topic.name,
            topic_id=topic.topic_id,
            index=image.partition,
            leader_epoch=image.leader_epoch,
            engine=self._engine,
            data=data,
            meta=meta,
            state=restored.state,
            config=config,
            checkpoint_interval_bytes=self._config.checkpoint_interval_bytes,
            wake=self._registry.wakeups.wake,
        )
        partition.checkpoints.opened(restored.checkpoint_bytes, restored.replayed_bytes)
        if restored.is_damaged:
            self._note_damage(partition, restored)
        if restored.must_checkpoint and not await partition.checkpoints.write_durably():
            return None
        self.statistics.opened_past_damage_total += restored.is_damaged
        return partition

    def _note_damage(self, partition: Partition, restored: Restored) -> None:
        if restored.checkpoints_lost:
            partition.checkpoints.found_damaged()
        for found in restored.damage:
            partition.reads.damage.add(found)
        first = restored.damage[0] if restored.damage else None
        logger.error(
            "partition opened past damage: what is damaged cannot be read, everything else is served",
            extra={
                "topic": partition.topic,
                "partition": partition.index,
                "checkpoints_lost": restored.checkpoints_lost,
                "offsets_lost": sum(it.end_offset - it.start_offset for it in restored.damage),
                "offset": first.start_offset if first else None,
                "reason": first.reason if first else "checkpoints only; no record is concerned",
            },
        )

    async def _keep_closing(self, partition: Partition) -> None:
        """Close a partition for its new leader, with retries."""
        retry_ms = MIN_RETRY_MS
        while self._client.image.topic_by_id(partition.topic_id) is not None:
            try:
                async with self._closing_slots:
                    await partition.close()
            except FencedError:
                break  # the new leader has it already
            except StorageError as error:
                logger.warning(
                    "partition cannot be closed; trying again",
                    extra={
                        "topic": partition.topic,
                        "partition": partition.index,
                        "reason": repr(error),
                    },
                )
                await asyncio.sleep(retry_ms / 1000)
                retry_ms = min(2 * retry_ms, MAX_RETRY_MS)
            else:
                return
        partition.discard()

    def _configure(self, partition: Partition, config: EffectiveTopicConfig) -> None:
        partition.writes.config = config
        partition.state.producers.expiration_ms = self._defaults.producer_expiration_ms

    async def _upkeep(self) -> None:
        """Periodically expire idle producers and trim superseded checkpoints."""
        while True:
            await asyncio.sleep(UPKEEP_INTERVAL_MS / 1000)
            partitions = self._registry.all()[::-1]
            while partitions:
                partition = partitions.pop()  # what was deleted meanwhile is freed one by one
                await turns_of(Work.UPKEEP).pause()  # there may be very many
                partition.state.producers.expire(self._wall_clock_ms())
                try:
                    await partition.checkpoints.trim()
                except StorageError as error:
                    logger.warning(
                        "superseded checkpoints not trimmed; trying again later",
                        extra={"reason": repr(error)},
                    )


def _opened(outcome: Stream | BaseException) -> Stream:
    """Return the stream, or raise why it is not open."""
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _place_in_a_start(topic: TopicImage) -> tuple[bool, int]:
    """Internal topics first, as in `OpeningQueue`; the others in the order of their streams, which is that of objects.

    So neighbours are read together.
    """
    return topic.name not in INTERNAL_TOPICS, topic.partitions[0].data_stream_id
