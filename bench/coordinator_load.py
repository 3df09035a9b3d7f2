"""`python -m bench.coordinator_load`: reads a coordinator partition with very many committed offsets from a bucket.

The bucket is in memory, and what is measured is this process: its processor time for the offsets of `--groups` groups
from the objects of the log to a shard that can serve, and the longest turn of the loop, in its thread's processor time.
A broker does the same once it leads the partition; requests to a bucket come on top, and are made ahead of the reader.
"""

import argparse
import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator
from uuid import UUID

import uvloop

from headrace.broker.coordinator.batching import PendingBatches
from headrace.broker.coordinator.coordinator_logs import READ_BYTES
from headrace.broker.coordinator.group.shard import GroupShard
from headrace.broker.coordinator.loading import replay_log
from headrace.broker.coordinator.records import OffsetCommitKey, OffsetCommitValue, OffsetRecord
from headrace.broker.network.turn_share import TurnShare
from headrace.broker.telemetry.runtime_tuning import started, tune
from headrace.config.node import GroupConfig, StorageConfig
from headrace.storage.cache.block_cache import BlockCache
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.record_batch import HEADER_BYTES, StreamRecordBatch
from headrace.storage.stats import UploadCounters
from headrace.storage.upload.commit import make_committer
from headrace.storage.upload.plan import plan_upload
from tests.simulation.control_plane import CLUSTER_ID, ControlPlane

STREAM = 1
TOPIC_PARTITIONS = 500
NOW_MS = 1_790_000_000_000


class Log:
    """The objects of a log, as `CoordinatorLog` reads them."""

    def __init__(self, blocks: BlockCache, end_offset: int) -> None:
        self._blocks = blocks
        self._end_offset = end_offset

    async def read(self) -> AsyncIterator[memoryview]:
        """Yield every batch."""
        offset = 0
        while offset < self._end_offset:
            found = await self._blocks.read(STREAM, offset, self._end_offset, READ_BYTES)
            for batch in found:
                offset = batch.end_offset
                yield batch.payload


class LongestTurn:
    """Watches the loop; the time that a turn takes includes what its callbacks do."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._last_s = time.thread_time()
        self.longest_s = 0.0
        self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        now_s = time.thread_time()
        self.longest_s = max(self.longest_s, now_s - self._last_s)
        self._last_s = now_s
        self._loop.call_soon(self._turn)


def batches(groups: int, offsets: int) -> Iterator[StreamRecordBatch]:
    """The offsets of all groups, as a rewrite of the log writes them."""
    first = 0
    topics = {it: UUID(int=it + 1) for it in range(offsets // TOPIC_PARTITIONS + 1)}
    for group in range(groups):
        pending = PendingBatches()
        for number in range(offsets):
            topic, partition = divmod(number, TOPIC_PARTITIONS)
            key = OffsetCommitKey(f"group-{group}", f"topic-{topic}", partition)
            value = OffsetCommitValue(number, 1, "", NOW_MS, topic_id=topics[topic])
            pending.add([OffsetRecord(key, value)], NOW_MS)
        while (batch := pending.next()) is not None:
            payload = memoryview(batch.encode())
            yield StreamRecordBatch(STREAM, 1, first, batch.records_count, payload)
            first += batch.records_count
            pending.written()


async def main(groups: int, offsets: int, runs: int) -> None:
    """Fill the bucket, and load; print one line for each run."""
    config, store, control = StorageConfig(), MemoryObjectStore(), ControlPlane()
    await control.open_stream(STREAM, 1)
    committer = make_committer(
        config, store, control, CLUSTER_ID, random.Random(1), UploadCounters()
    )
    log = list(batches(groups, offsets))
    size_bytes = sum(HEADER_BYTES + len(it.payload) for it in log)
    plan = plan_upload({STREAM: log}, {STREAM: size_bytes}, 1)
    await committer.commit(plan, await committer.upload(plan))
    end_offset = log[-1].end_offset
    log.clear()
    tune()
    started()
    print(f"{'live records':>13}{'log MB':>8}{'CPU s':>7}{'us each':>9}{'longest turn ms':>17}")
    for _ in range(runs):
        blocks, shard = BlockCache(config, store, control, CLUSTER_ID), GroupShard(GroupConfig())
        turn, began_s = LongestTurn(), time.process_time()
        await replay_log(Log(blocks, end_offset), shard.replay, TurnShare(time.perf_counter))  # type: ignore[arg-type]
        used_s, count = time.process_time() - began_s, shard.live.count
        assert count == groups * offsets
        print(
            f"{count:13,}{size_bytes / 1e6:8.1f}{used_s:7.2f}{1e6 * used_s / count:9.2f}"
            f"{1e3 * turn.longest_s:17.1f}",
            flush=True,
        )
        await blocks.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.coordinator_load", description=__doc__)
    parser.add_argument("--groups", type=int, default=1_000)
    parser.add_argument("--offsets", type=int, default=1_000, help="of each group")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    uvloop.run(main(arguments.groups, arguments.offsets, arguments.runs))
