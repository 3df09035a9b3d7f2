"""The stream engine on real metadata, a real WAL file and the fault-injecting S3 server.

What is checked while it runs: acknowledged means readable, nothing is trimmed from the WAL before its
commit, what is committed is never deleted, memory stays within its bounds, and no read ever returns
other bytes than were written. `settle` checks the rest: objects hold exactly their ranges, nothing
is committed twice, and nothing is left in the bucket that metadata do not know.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from headrace.broker.adapters.storage_metadata import StorageMetadata
from headrace.config.node import StorageConfig, WalConfig
from headrace.metadata.follower.client import MetadataClient, NewTopic
from headrace.metadata.images.objects import ObjectState
from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.compaction.executor import Compactor
from headrace.storage.deletion import ObjectDeleter
from headrace.storage.drain import DrainReport
from headrace.storage.engine import StorageEngine
from headrace.storage.errors import (
    BackPressureError,
    CorruptObjectError,
    ObjectNotFoundError,
    RetriableStorageError,
)
from headrace.storage.object_store.factory import open_object_store
from headrace.storage.object_store.retrying import RetryPolicy
from headrace.storage.objects.keys import parse_object_key
from headrace.storage.stream import Stream
from headrace.storage.sweep.sweeper import Sweeper
from headrace.storage.sweep.swept_bucket import open_swept_bucket
from headrace.wal.ring.log import DeltaWal
from tests.integration.independent_bucket import contents_of, differences, objects_of
from tests.integration.s3_fault_server import FaultServer
from tests.unit.metadata.running_cluster import Cluster
from tests.unit.storage.fakes import payload_of, require_dense

MIB = 1 << 20
PARTITIONS = 4
BEGIN_MS = 1_735_689_600_000  # when the server says that everything was modified
SIZES = (100, 2_000, 20_000)
DAY_MS = 24 * 3_600_000
RETENTION_MS = 1_000
CONFIG = StorageConfig(
    log_cache_bytes=1 * MIB,
    upload_threshold_bytes=128 * 1024,
    upload_interval_ms=50,
    stream_split_bytes=64 * 1024,
    object_block_bytes=16 * 1024,
    object_part_bytes=5 * MIB,
    block_cache_bytes=1 * MIB,
    object_delete_retention_ms=RETENTION_MS,
    admission_timeout_ms=200,
)
POLICY = RetryPolicy(max_attempts=4, backoff_ms_initial=2, max_backoff_ms=20, attempt_ms_base=200)
# What a reader of a faulty bucket is told, and asks again after.
PASSING = (RetriableStorageError, CorruptObjectError, ObjectNotFoundError)


@contextmanager
def impatient(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let uploads be repeated, and requests of streams be given up, soon."""
    with patch.context() as context:
        context.setattr("headrace.storage.upload.backoff.DELAY_MS_FIRST", 5)
        context.setattr("headrace.storage.upload.backoff.MAX_DELAY_MS", 50)
        context.setattr(
            "headrace.storage.object_store.s3_store.REQUEST_TIMEOUT", timedelta(milliseconds=300)
        )
        yield


class World:
    """What outlives a process: metadata, WAL, bucket, and what was acknowledged."""

    def __init__(
        self, directory: Path, server: FaultServer, config: StorageConfig = CONFIG
    ) -> None:
        self.uri = f"s3://bucket/prefix?endpoint={server.endpoint}&accessKey=a&secretKey=b"
        self.config = config
        self.bucket = server.bucket
        self.bucket.on_remove = self._on_remove
        self.cluster = Cluster(directory / "metadata")
        self.cluster.wall.now_ms = BEGIN_MS
        self.wal = WalConfig(path=str(directory / "wal"), capacity_bytes=16 * MIB)
        self.acked: dict[int, int] = {}
        self.problems: list[str] = []
        self.client: MetadataClient | None = None
        self.lives = 0

    @asynccontextmanager
    async def process(self, **options: object) -> AsyncIterator["Process"]:
        """Run a broker's storage; shut it down in an orderly way."""
        async with self.cluster.client() as client:
            self.client = client
            if not client.image.topics:
                await client.create_topics([NewTopic("t", PARTITIONS)])
            process = Process(self, client, **options)
            try:
                await process.start()
                yield process
            finally:
                await process.stop()
            await client.shutdown()
        assert self.problems == []

    def _on_remove(self, key: str) -> None:
        """Called by the server's threads; images never change."""
        found = parse_object_key(key.removeprefix("prefix/"))
        if found is None:
            return
        known = self.client.image.objects.by_id.get(found[1])
        if known is not None and known.state != ObjectState.MARK_DESTROYED:
            self.problems.append(f"{key} was deleted while it was {known.state.name}")


class Process:
    """One life of a broker's storage."""

    def __init__(
        self, world: World, client: MetadataClient, *, shutdown_timeout_ms: int = 20_000
    ) -> None:
        self.world, self._client = world, client
        world.lives += 1
        config, rng = world.config, random.Random(world.lives)
        self.store = open_object_store(
            world.uri, rng=rng, part_bytes=config.object_part_bytes, policy=POLICY
        )
        self.metadata = StorageMetadata(
            client,
            object_delete_retention_ms=RETENTION_MS,
            boot_clock_ms=world.cluster.wall,
            newest_snapshot=None,
        )
        self.cluster_id = client.image.cluster_id
        clock = world.cluster.wall
        common = (config, self.store, self.metadata, self.cluster_id)
        self.compactor = Compactor(*common, rng=rng, streams=lambda: self.engine.open_streams())
        self.deleter = ObjectDeleter(*common, rng=rng, wall_clock_ms=clock)
        place = open_swept_bucket(world.uri, {})
        self.sweeper = Sweeper(
            config, self.store, place, self.metadata, rng=rng, wall_clock_ms=clock
        )
        self.blocks = BlockCache(*common)
        self.engine = StorageEngine(
            config,
            wal_factory=self._make_wal,
            store=self.store,
            streams=self.metadata,
            objects=self.metadata,
            lease=self.metadata,
            blocks=self.blocks,
            rng=rng,
            cluster_id=self.cluster_id,
            shutdown_timeout_ms=shutdown_timeout_ms,
        )
        self.streams: list[Stream] = []
        self.report: DrainReport
        self._appended: list[tuple[int, int, int]] = []  # (end in the WAL, stream, end offset)
        self._jobs: list[asyncio.Task[None]] = []
        self._stopped = False

    def _make_wal(self, on_confirmed, on_failed) -> DeltaWal:
        self.wal = DeltaWal(
            self.world.wal,
            node_id=1,
            node_epoch=self._client.node_epoch,
            cluster_id=self._client.image.cluster_id,
            rng=random.Random(self.world.lives),
            wall_clock_ms=self.world.cluster.wall,
            on_confirmed=on_confirmed,
            on_failed=on_failed,
            on_room=lambda: self.engine.room_freed(),
        )
        trim = self.wal.trim

        def checked(offset: int) -> None:
            self._check_trim(offset)
            trim(offset)

        self.wal.trim = checked
        return self.wal

    async def start(self) -> None:
        self.report = await self.engine.start()
        self._jobs.append(asyncio.create_task(self.engine.run()))
        for topic in self._client.image.topics.values():
            for partition in topic.partitions:
                stream = await self.engine.open_stream(
                    partition.data_stream_id, partition.leader_epoch
                )
                acked = self.world.acked.setdefault(stream.stream_id, 0)
                assert stream.confirm_offset >= acked, "lost what was acknowledged"
                self.world.acked[stream.stream_id] = stream.confirm_offset
                self.streams.append(stream)

    async def stop(self) -> None:
        """Shut down; a second time does nothing."""
        if self._stopped:
            return
        self._stopped = True
        for job in self._jobs:
            job.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)
        await self.engine.shutdown()
        await self.blocks.shutdown()
        await self.store.close()

    def beside(self, rng: random.Random) -> None:
        """Read, compact and delete from now on, until the end of this process."""
        self._jobs += [
            asyncio.create_task(self._read(rng)),
            asyncio.create_task(self._compact()),
            asyncio.create_task(self._delete()),
        ]

    async def produce(self, records: int, rng: random.Random) -> None:
        """Append so many records, however long that takes, and see them acknowledged."""
        for number in range(records):
            if number % 10 == 0:
                await asyncio.sleep(0.005)  # others have a time of it as well
            while True:
                try:
                    await self.append_one(rng)
                except BackPressureError:
                    continue
                break
        while self.engine.stats().open_appends:
            await asyncio.sleep(0.001)

    async def append_one(self, rng: random.Random) -> None:
        """Append to any stream, when there is room.

        Raises:
            BackPressureError: there was none for some time.
        """
        stream, size = rng.choice(self.streams), rng.choice(SIZES)
        await self.engine.admission(size)
        base = stream.next_offset
        payload = payload_of(stream.stream_id, base, size)
        stream.append(payload, 1, self._on_ack(stream, base))
        self._appended.append((self.wal.next_offset, stream.stream_id, base + 1))
        stats = self.engine.stats()
        assert stats.unuploaded_bytes <= stats.log_cache_capacity_bytes, "over the bound"
        self._require_running()

    async def settle(self, *, left_for_the_sweep: bool = False) -> None:
        """Upload everything and check what the bucket holds, byte by byte, with nothing else left in it.

        What lands late may be left for the sweep, nothing else.
        """
        world = self.world
        world.bucket.heal()
        await self.engine.force_upload()
        self._require_running()
        beside, self._jobs[1:] = self._jobs[1:], []
        for job in beside:
            job.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        landed = world.bucket.land()
        await self.check_bucket()
        await self.delete_everything_destroyed()
        if not (landed or left_for_the_sweep):
            await self.check_nothing_is_left()
        await self.sweeper.sweep()
        await self.check_nothing_is_left()
        assert world.bucket.uploads == {}, "parts are left"
        world.bucket.check_truth()
        await self.check_bucket()

    async def delete_everything_destroyed(self) -> None:
        """Let days pass: what expires is destroyed, what is destroyed is deleted."""
        for _ in range(3):
            self.world.cluster.wall.now_ms += DAY_MS
            await self.world.cluster.node.check_deadlines()
            await self.deleter.delete()

    async def check_nothing_is_left(self) -> None:
        """The bucket holds what is committed, in ids and sizes, and no object more: by a lister of the tests' own."""
        world = self.world
        contents = await asyncio.to_thread(contents_of, world.uri)
        told = differences(contents, self._client.image, self.cluster_id)
        assert not told, told
        # Nor does it hold anything that is no object, or that no list shows.
        there = {key.removeprefix("prefix/"): len(it) for key, it in world.bucket.objects.items()}
        assert contents.objects == there, contents.objects.items() ^ there.items()
        assert len(objects_of(contents, self.cluster_id)) == len(there), sorted(there)

    async def check_bucket(self) -> None:
        """Everything that was acknowledged is in objects, once."""
        cold = BlockCache(self.world.config, self.store, self.metadata, self.cluster_id)
        for stream_id, end in self.world.acked.items():
            offset = 0
            while offset < end:
                batches = await cold.read(stream_id, offset, end, MIB)
                require_dense(batches, offset, batches[-1].end_offset)
                offset = batches[-1].end_offset
        await cold.shutdown()

    def told(self) -> str:
        """What there was of everything, for people."""
        parts = (self.compactor, self.deleter, self.blocks)
        counted = [str(part.statistics) for part in parts]
        return "\n".join([f"{self.world.bucket.injected} faults", *counted])

    def _on_ack(self, stream: Stream, base: int):
        def on_ack(error: Exception | None) -> None:
            if error is not None:
                self.world.problems.append(f"{stream.stream_id}:{base}: {error!r}")
                return
            (found,) = stream.fetch_cached(base, 1) or [None]
            if found is None or bytes(found.payload) != payload_of(
                stream.stream_id, base, len(found.payload)
            ):
                self.world.problems.append(f"{stream.stream_id}:{base} is not read back")
            self.world.acked[stream.stream_id] = base + 1

        return on_ack

    def _check_trim(self, offset: int) -> None:
        streams = self._client.image.streams
        while self._appended and self._appended[0][0] - 1 <= offset:
            _, stream_id, end = self._appended.pop(0)
            if streams[stream_id].end_offset < end:
                self.world.problems.append(f"trimmed {stream_id}:{end - 1} before its commit")

    async def _read(self, rng: random.Random) -> None:
        while True:
            stream = rng.choice(self.streams)
            await asyncio.sleep(0.002)
            if not stream.confirm_offset:
                continue
            offset = rng.randrange(stream.confirm_offset)
            try:
                batches = await stream.fetch(offset, 50_000)
            except PASSING:
                continue
            require_dense(batches, offset, batches[-1].end_offset)

    async def _compact(self) -> None:
        while True:
            await asyncio.sleep(0.05)
            await self.compactor.compact()

    async def _delete(self) -> None:
        while True:
            await asyncio.sleep(0.05)
            self.world.cluster.wall.now_ms += 2 * RETENTION_MS
            await self.deleter.delete()

    def _require_running(self) -> None:
        for job in self._jobs:
            if job.done():
                job.result()
                raise AssertionError("a job has ended")
        assert not self.engine.stats().failed
        assert self.world.problems == []
