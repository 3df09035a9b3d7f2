"""The stream engine on a real WAL file, a real directory as bucket and the real block cache."""

import asyncio
import random
from pathlib import Path

from headrace.config.node import StorageConfig, WalConfig
from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.engine import StorageEngine
from headrace.storage.object_store.filesystem import FileObjectStore
from headrace.storage.stream import Stream
from headrace.wal.ring.log import DeltaWal
from tests.simulation.control_plane import ControlPlane
from tests.unit.storage.fakes import (
    CLUSTER_ID,
    FakeLease,
    payload_of,
    require_dense,
)

MIB = 1 << 20
STREAMS = range(1, 6)
CONFIG = StorageConfig(
    log_cache_bytes=6 * MIB,
    upload_threshold_bytes=2 * MIB,
    stream_split_bytes=512 * 1024,
    object_block_bytes=64 * 1024,
    block_cache_bytes=8 * MIB,
)


class Cluster:
    """What outlives a process: the device, the bucket, the control plane."""

    def __init__(self, path: Path) -> None:
        self.wal_config = WalConfig(path=str(path / "wal"), capacity_bytes=32 * MIB)
        self.store = FileObjectStore(path / "bucket")
        self.control = ControlPlane()
        self.epoch = 0
        self.acked = dict.fromkeys(STREAMS, 0)

    async def start(self) -> "Process":
        self.epoch += 1
        process = Process(self)
        process.report = await process.engine.start()
        process.running = asyncio.create_task(process.engine.run())
        for stream_id in STREAMS:
            stream = await process.engine.open_stream(stream_id, self.epoch)
            assert stream.next_offset >= self.acked[stream_id], "lost what was acknowledged"
            process.streams[stream_id] = stream
        return process


class Process:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.streams: dict[int, Stream] = {}
        self.failures: list[Exception] = []
        self.blocks = BlockCache(CONFIG, cluster.store, cluster.control, CLUSTER_ID)

        def make_wal(on_confirmed, on_failed):
            self.wal = DeltaWal(
                cluster.wal_config,
                node_id=1,
                node_epoch=cluster.epoch,
                cluster_id=CLUSTER_ID,
                rng=random.Random(cluster.epoch),
                wall_clock_ms=lambda: 0,
                on_confirmed=on_confirmed,
                on_failed=on_failed,
                on_room=lambda: self.engine.room_freed(),
            )
            return self.wal

        self.engine = StorageEngine(
            CONFIG,
            wal_factory=make_wal,
            store=cluster.store,
            streams=cluster.control,
            objects=cluster.control,
            lease=FakeLease(),
            blocks=self.blocks,
            rng=random.Random(1),
            cluster_id=CLUSTER_ID,
        )

    async def produce(self, records: int, rng: random.Random) -> None:
        for _ in range(records):
            stream = self.streams[rng.choice(STREAMS)]
            size = rng.choice([10, 500, 2_000, 20_000])
            await self.engine.admission(size)
            base = stream.next_offset
            payload = payload_of(stream.stream_id, base, size)
            stream.append(payload, 1, self._on_ack(stream, base))

    def _on_ack(self, stream: Stream, base: int):
        def on_ack(error: Exception | None) -> None:
            if error is None:
                self.cluster.acked[stream.stream_id] = base + 1
            else:
                self.failures.append(error)

        return on_ack

    async def check_reads(self) -> None:
        for stream in self.streams.values():
            offset = 0
            while offset < stream.confirm_offset:
                batches = await stream.fetch(offset, 100_000)
                require_dense(batches, offset, batches[-1].end_offset)
                offset = batches[-1].end_offset

    async def stop(self) -> None:
        self.running.cancel()
        await asyncio.gather(self.running, return_exceptions=True)
        await self.engine.shutdown()
        await self.blocks.shutdown()
        await self._let_go()
        assert self.failures == []

    async def die(self) -> None:
        """Let go of the device without a word, as a killed process does."""
        self.running.cancel()
        await asyncio.gather(self.running, return_exceptions=True)
        await self.engine._pipeline.shutdown()
        await self.blocks.shutdown()
        await self._let_go()

    async def _let_go(self) -> None:
        """Release the device, which a slow disk keeps busy for a while: the end of a process waits for that."""
        while True:
            await self.wal._release()
            if self.wal._device is None:
                return


def test_everything_is_served_across_caches_bucket_stops_and_deaths(tmp_path):
    async def scenario():
        cluster = Cluster(tmp_path)
        rng = random.Random(7)
        first = await cluster.start()
        await first.produce(2_000, rng)
        await first.engine.force_upload()
        await first.check_reads()
        assert first.engine.stats().uploaded_blocks_total > 3
        assert first.engine.stats().log_cache_misses_total > 0
        await first.produce(100, rng)
        await first.die()

        second = await cluster.start()
        await second.check_reads()
        await second.produce(300, rng)
        await second.stop()

        third = await cluster.start()
        assert third.report.records == third.report.dropped == 0
        await third.check_reads()
        assert sum(stream.next_offset for stream in third.streams.values()) >= 2_300
        await third.stop()
        await cluster.store.close()

    asyncio.run(scenario())


def test_dying_again_and_again_loses_nothing(tmp_path):
    async def scenario():
        cluster = Cluster(tmp_path)
        rng = random.Random(8)
        for _ in range(6):
            process = await cluster.start()
            await process.produce(150, rng)
            for _ in range(rng.randrange(30)):
                await asyncio.sleep(0)
            await process.die()
        last = await cluster.start()
        await last.check_reads()
        await last.stop()

    asyncio.run(scenario())
