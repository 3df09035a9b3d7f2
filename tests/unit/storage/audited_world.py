"""One node's storage, whole: engine, caches, compaction, deletion, on the real rules of the control plane.

Only WAL, bucket and the way to the controller are fakes: virtual time, latencies, failures, lost
replies. An `Auditor` knows what was appended and acknowledged, and checks after each entry of the
metadata log, at each trim of the WAL, at each deletion, at each publication of the metadata and at each read.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from headrace.broker.adapters.storage_metadata import StorageMetadata
from headrace.config.node import StorageConfig
from headrace.known_objects import known_bucket
from headrace.metadata.errors import ControllerUnavailableError
from headrace.metadata.images.objects import ObjectState
from headrace.metadata.leader.publishing import SnapshotPublisher, newest_published
from headrace.metadata.log.snapshot_format import decode_snapshot
from headrace.metadata.offline.rebuilding import rebuild
from headrace.metadata.published import NO_SNAPSHOT, parse_published_key
from headrace.metadata.records.members import NO_DIRECTORY, Member
from headrace.storage.audit.comparison import Comparison, compare
from headrace.storage.audit.inventory import ListedObject
from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.compaction.executor import Compactor
from headrace.storage.deletion import ObjectDeleter
from headrace.storage.engine import StorageEngine
from headrace.storage.errors import NotDeletedError, StorageError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.objects.keys import object_key, parse_object_key
from headrace.storage.ports import Buffer
from headrace.storage.record_batch import StreamRecordBatch, decode_batch
from headrace.storage.stream import Stream
from tests.simulation.control_plane import MemoryClient
from tests.simulation.faulty_store import FaultyStore, Rates
from tests.unit.metadata.pure_controller import CLUSTER_ID, PureController
from tests.unit.storage.fakes import FakeLease, FakeWal, payload_of
from tests.unit.storage.object_auditor import audit_object

RETENTION_MS = 60_000
CONFIG = StorageConfig(
    log_cache_bytes=60_000,
    upload_threshold_bytes=8_000,
    stream_split_bytes=2_500,
    object_block_bytes=600,
    object_prepare_ttl_ms=600_000,
    object_delete_retention_ms=RETENTION_MS,
    block_cache_bytes=20_000,
    max_read_ahead_bytes=4_000,
)


class Client(MemoryClient):
    """A client whose requests and answers take a while, and can get lost."""

    def __init__(self, world: "World") -> None:
        super().__init__(world.controller, clock_ms=world.now_ms)
        self._world = world

    def await_snapshot(self, index: int) -> None:
        self._world.awaited_index = index

    async def change(self, request, answered):
        world = self._world
        await asyncio.sleep(world.rng.random() * 0.02)
        if world.rng.random() < world.loss:
            lost = ControllerUnavailableError("the request or its answer was lost")
            faults = self.faults[type(request)]
            world.rng.choice([faults.before, faults.after]).append(lost)
        return await super().change(request, answered)


class AuditedController(PureController):
    """Shows each entry to an auditor."""

    auditor: "Auditor | None" = None

    def _apply(self, records):
        before = self.image
        super()._apply(records)
        if self.auditor is not None:
            self.auditor.on_entry(before)


class AuditedStore(MemoryObjectStore):
    """Shows each deletion, and each snapshot, to an auditor; now and then it does not delete everything."""

    def __init__(self, world: "World") -> None:
        super().__init__()
        self._world = world

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        await super().put(key, parts)
        if parse_published_key(key) is not None:
            self._world.auditor.check_rebuild()

    async def delete(self, keys: Sequence[str]) -> None:
        self._world.auditor.on_delete(keys)
        kept = [key for key in keys if self._world.rng.random() < self._world.loss]
        await super().delete([key for key in keys if key not in kept])
        self._world.auditor.check_rebuild()
        if kept:
            raise NotDeletedError("says the fault", kept)


@dataclass
class Log:
    """What was appended to one stream."""

    batches: dict[int, tuple[int, bytes]] = field(default_factory=dict)  # base -> count, payload
    acknowledged: int = 0  # exclusive
    trimmed: int = 0

    def holding(self, offset: int) -> int:
        """Base of the batch that holds an offset."""
        return max(base for base in self.batches if base <= offset)


class Auditor:
    """Checks objects, trims, deletions, reads and caches; the rules of commits are the controller's."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.logs: dict[int, Log] = {}
        self.audited_objects = 0
        self.deleted_objects = 0
        self.checked_rebuilds = 0

    def on_entry(self, before) -> None:
        """Each committed version of the metadata covers every stream; new objects are right."""
        image = self._world.controller.image
        for stream_id, stream in image.streams.items():
            if stream is not before.streams.get(stream_id):
                self._check_coverage(stream)
        for object_id, found in image.objects.by_id.items():
            if found is before.objects.by_id.get(object_id):
                continue
            if found.state == ObjectState.COMMITTED:
                old = before.objects.by_id[object_id]
                if old.state != ObjectState.COMMITTED:
                    self._check_object(found)

    def _check_coverage(self, stream) -> None:
        position = stream.start_offset
        for piece in stream.objects:
            assert piece.start_offset <= position < piece.end_offset, "a gap"
            assert position in (stream.start_offset, piece.start_offset), "twice"
            position = piece.end_offset
        assert position == stream.end_offset, "the end is missing"

    def _check_object(self, found) -> None:
        """Holds exactly the records of its ranges."""
        key = object_key(CLUSTER_ID, found.object_id)
        content = self._world.bucket.objects.get(key)
        assert content is not None, "committed, not in the bucket"
        assert len(content) == found.size_bytes
        blocks = audit_object(content, CONFIG.object_block_bytes)
        held: dict[int, list] = {}
        for block in blocks:
            held.setdefault(block.stream_id, []).extend(block.batches)
        for piece in found.ranges:
            log = self.logs.get(piece.stream_id)
            if log is None:
                continue  # of a topic that was deleted meanwhile
            batches = [
                it
                for it in held[piece.stream_id]
                if it.end_offset > piece.start_offset and it.base_offset < piece.end_offset
            ]
            expected = log.holding(piece.start_offset)
            for batch in batches:
                assert batch.base_offset == expected, "a gap or a repetition"
                assert (batch.count, batch.payload) == log.batches[expected], "other bytes"
                expected = batch.end_offset
            assert expected == piece.end_offset, "ends too early or too late"
        self.audited_objects += 1

    def on_trim(self, offset: int) -> None:
        """Everything up to there is in a committed object, or its stream is gone."""
        image = self._world.controller.image
        for record in self._world.wal.records:
            if record.offset <= offset:
                batch, _ = decode_batch(record.body, 0)
                stream = image.streams.get(batch.stream_id)
                assert stream is None or batch.end_offset <= stream.end_offset, (
                    "trimmed what is in no object"
                )

    def on_delete(self, keys: Sequence[str]) -> None:
        """Only what is destroyed, and only after the retention."""
        for key in keys:
            parsed = parse_object_key(key)
            if parsed is None:
                assert parse_published_key(key) is not None
                continue
            found = self._world.controller.image.objects.by_id.get(parsed[1])
            if found is None:
                continue  # asked to delete it again: the answer to its being forgotten was lost
            assert found.state == ObjectState.MARK_DESTROYED, "deleted while in use"
            assert found.destroyed_ms + RETENTION_MS <= self._world.now_ms(), "too early"
            self.deleted_objects += 1

    def check_rebuild(self) -> None:
        """Every object that metadata rebuilt at this moment would name is there."""
        found = self._world.bucket.objects
        snapshots = [key for key in found if parse_published_key(key) is not None]
        if not snapshots:
            return
        self.checked_rebuilds += 1
        image = decode_snapshot(found[max(snapshots)])
        objects = {
            parsed[1]: len(content)
            for key, content in found.items()
            if (parsed := parse_object_key(key)) is not None
        }
        member = Member(1, NO_DIRECTORY, "", 0, voter=True)
        rebuilt = rebuild(image, objects, {}, member=member, now_ms=self._world.now_ms())
        assert not rebuilt.missing, "deleted, and the newest snapshot names it"

    def append(self, stream: Stream, count: int, size: int) -> None:
        """Append, and note what must be read from then on, and from the acknowledgement on."""
        log = self.logs[stream.stream_id]
        base = stream.next_offset
        payload = payload_of(stream.stream_id, base, size)

        def on_ack(error: Exception | None) -> None:
            if error is None:
                assert log.acknowledged == base, "acknowledged in order"
                log.acknowledged = base + count

        log.batches[base] = (count, payload)
        stream.append(payload, count, on_ack)

    def check_read(self, stream_id: int, start: int, found: Sequence[StreamRecordBatch]) -> int:
        """What was appended, contiguous, nothing unacknowledged; return the end."""
        log = self.logs[stream_id]
        assert found, "at least one batch"
        expected = log.holding(start)
        for batch in found:
            assert batch.stream_id == stream_id
            assert batch.base_offset == expected, "a gap or a repetition"
            assert (batch.count, bytes(batch.payload)) == log.batches[expected], "other bytes"
            expected = batch.end_offset
        assert expected <= log.acknowledged, "not acknowledged"
        return expected

    def check_accounts(self) -> None:
        """What is charged is what is held, and within the bounds."""
        cache = self._world.engine._cache
        blocks = [*cache._archived, *([] if cache._active is None else [cache._active])]
        unuploaded = sum(it.charge_bytes for it in blocks)
        assert cache.unuploaded_bytes == unuploaded
        assert cache.size_bytes == unuploaded + sum(it.charge_bytes for it in cache._evictable)
        assert cache.size_bytes <= cache.capacity_bytes
        cold = self._world.blocks._blocks
        assert cold.statistics.cached_bytes == sum(it.size_bytes for it in cold._segments)
        assert cold.statistics.cached_bytes + cold.statistics.loading_bytes <= cold._capacity_bytes


class World:
    """One node, life after life."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.loss = 0.0
        self.controller = AuditedController()
        self.auditor = self.controller.auditor = Auditor(self)
        self.bucket = AuditedStore(self)
        self.store = FaultyStore(self.bucket, self.rng)
        self.streams: list[Stream] = []
        self.awaited_index = NO_SNAPSHOT
        self.new_publisher()

    def new_publisher(self) -> None:
        """Another controller leads."""
        self.publisher = SnapshotPublisher(
            self.store,
            lambda: self.controller.image,
            bucket_errors=(StorageError,),
            interval_ms=60_000,
            wall_clock_ms=self.now_ms,
            awaited_index=lambda: self.awaited_index,
            on_unknown=self._nobody_minds,
        )

    async def _nobody_minds(self, reason: str) -> None:
        """It is not the only controller."""

    def now_ms(self) -> int:
        return 1_000_000 + int(asyncio.get_running_loop().time() * 1000)

    def tell_time(self) -> None:
        self.controller.now_ms = self.now_ms()

    async def start(self, surviving: Sequence = ()) -> None:
        """Begin a life on what the one before has left."""
        self.tell_time()
        self.controller.register()
        metadata = StorageMetadata(
            Client(self),
            object_delete_retention_ms=RETENTION_MS,
            boot_clock_ms=self.now_ms,
            newest_snapshot=lambda: newest_published(self.store, CLUSTER_ID),
        )
        self.blocks = BlockCache(CONFIG, self.store, metadata, CLUSTER_ID)

        def make_wal(on_confirmed, on_failed):
            self.wal = FakeWal(on_confirmed, on_failed, surviving=surviving, auto_confirm=False)
            trim = self.wal.trim

            def audited_trim(offset: int) -> None:
                self.auditor.on_trim(offset)
                trim(offset)

            self.wal.trim = audited_trim
            return self.wal

        self.engine = StorageEngine(
            CONFIG,
            wal_factory=make_wal,
            store=self.store,
            streams=metadata,
            objects=metadata,
            lease=FakeLease(),
            blocks=self.blocks,
            rng=random.Random(self.rng.random()),
            cluster_id=CLUSTER_ID,
        )
        rng = random.Random(self.rng.random())
        self.compactor = Compactor(
            CONFIG,
            self.store,
            metadata,
            CLUSTER_ID,
            rng=rng,
            streams=self.engine.open_streams,
        )
        self.deleter = ObjectDeleter(
            CONFIG, self.store, metadata, CLUSTER_ID, rng=rng, wall_clock_ms=self.now_ms
        )
        await self.engine.start()

    async def open_topic(self, name: str) -> list[Stream]:
        """Open a topic's streams at the newest epoch, creating the topic if it is not there."""
        if self.controller.image.topic(name) is None:
            self.controller.create(name)
        (partition,) = self.controller.image.topic(name).partitions
        opened = []
        for stream_id in (partition.data_stream_id, partition.meta_stream_id):
            self.auditor.logs.setdefault(stream_id, Log())
            opened.append(await self.engine.open_stream(stream_id, partition.leader_epoch))
        self.streams += opened
        return opened

    def delete_topic(self, name: str) -> None:
        """Delete a topic, as a broker that hears of it does."""
        self.tell_time()
        (partition,) = self.controller.image.topic(name).partitions
        gone = (partition.data_stream_id, partition.meta_stream_id)
        self.controller.delete(name)
        for stream in self.streams:
            if stream.stream_id in gone:
                stream.abandon()
                del self.auditor.logs[stream.stream_id]
        self.streams = [it for it in self.streams if it.stream_id not in gone]

    async def crash(self) -> None:
        """Lose some of what was not confirmed, recover the rest, open everything again."""
        surviving = self.wal.after_crash(lost=lambda _: self.rng.random() < 0.5)
        await self.engine._pipeline.shutdown()
        await self.blocks.shutdown()
        self.streams = []
        while self.rng.random() < 0.5:  # dies while it recovers
            life = asyncio.create_task(self.start(surviving))
            await asyncio.wait((life,), timeout=self.rng.random() * 0.2)
            life.cancel()
            await asyncio.wait((life,))
            surviving = self.wal.surviving
        await self.start(surviving)
        loss, self.loss = self.loss, 0.0
        for topic in list(self.controller.image.topics.values()):
            await self.open_topic(topic.name)
        self.loss = loss
        for stream in self.streams:
            log = self.auditor.logs[stream.stream_id]
            assert stream.confirm_offset >= log.acknowledged, "lost what was acknowledged"
            # What was never acknowledged may have survived, or its offsets are given again.
            log.acknowledged = stream.confirm_offset
            log.batches = {k: v for k, v in log.batches.items() if k < stream.confirm_offset}

    async def read_everything(self, blocks: BlockCache | None = None) -> None:
        """Read each stream from its start to its end: by what is cached, or by a cache of its own."""
        for stream in self.streams:
            offset, end = stream.start_offset, stream.confirm_offset
            if blocks is not None:
                end = stream.committed_offset
            while offset < end:
                if blocks is None:
                    found = await stream.fetch(offset, 3_000)
                else:
                    found = await blocks.read(stream.stream_id, offset, end, 3_000)
                offset = self.auditor.check_read(stream.stream_id, offset, found)

    async def compare(self) -> Comparison:
        """Compare bucket and metadata."""
        listed = [
            ListedObject(key, size, self.now_ms()) for key, size in await self.bucket.list("")
        ]
        known = known_bucket(self.controller.image, CLUSTER_ID)
        return compare(known, listed, now_ms=self.now_ms())

    def calm(self) -> None:
        """Let nothing fail any more."""
        self.loss = 0.0
        self.store.rates = Rates()

    async def settle_bucket(self) -> Comparison:
        """Let everything pass that deletion waits for; return what is left."""
        await self.engine.force_upload()
        await asyncio.sleep(CONFIG.object_prepare_ttl_ms / 1000)
        self.tell_time()
        self.controller.expire()
        await self.deleter.delete()  # it sees what is destroyed
        await self.publisher.publish()
        await asyncio.sleep(RETENTION_MS / 1000)
        await self.deleter.delete()
        return await self.compare()

    async def stop(self) -> None:
        """End this life in order."""
        await self.engine.shutdown()
        await self.blocks.shutdown()
