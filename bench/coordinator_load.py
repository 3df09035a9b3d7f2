"""`python -m bench.coordinator_load`: reads a coordinator partition with very many committed offsets from a bucket.

The bucket is in memory, and what is measured is this process: its processor time for the offsets of `--groups` groups
from the objects of the log to a shard that can serve, and the longest turn of the loop, in its thread's processor time.
A broker does the same once it leads the partition; requests to a bucket come on top, and are made ahead of the reader.
"""

import argparse
import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import chain
from uuid import UUID

import uvloop

from headrace.broker.coordinator.runtime.batching import PendingBatches
from headrace.broker.coordinator.runtime.topic_logs import READ_BYTES
from headrace.broker.coordinator.group.shard import GroupShard
from headrace.broker.coordinator.runtime.loading import replay_log
from headrace.broker.coordinator.group.record_runs import decode_records
from headrace.broker.coordinator.group.records import encode_record
from headrace.broker.coordinator.group.records import (
    OffsetCommitKey,
    OffsetCommitValue,
    OffsetRecord,
)
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
COMMITS_TOGETHER = 20  # written in one batch
REMOVED_BEFORE = 0.05  # of the commits: tombstones of what they commit come before them


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


def rewritten(groups: int, offsets: int) -> Iterator[Sequence[OffsetRecord]]:
    """The offsets of each group, as a rewrite of the log writes them."""
    for group in range(groups):
        yield [offset_record(group, number, 1) for number in range(offsets)]


def committed(
    groups: int, offsets: int, times: int, together: int
) -> Iterator[Sequence[OffsetRecord]]:
    """All offsets again, so many times: commits of a few partitions in any order, some after they were removed."""
    rng = random.Random(2)
    commits = [(group, first) for group in range(groups) for first in range(0, offsets, together)]
    for time_ms in range(times):
        rng.shuffle(commits)
        for start in range(0, len(commits), COMMITS_TOGETHER):
            yield [
                record
                for group, first in commits[start : start + COMMITS_TOGETHER]
                for record in commit(
                    group, range(first, min(first + together, offsets)), time_ms, rng
                )
            ]


def commit(group: int, numbers: range, time_ms: int, rng: random.Random) -> Iterator[OffsetRecord]:
    """What one client commits."""
    if rng.random() < REMOVED_BEFORE:
        for number in numbers:
            yield offset_record(group, number, time_ms)._replace(value=None)
    for number in numbers:
        yield offset_record(group, number, time_ms + 2)


def offset_record(group: int, number: int, time_ms: int) -> OffsetRecord:
    """An offset of a group."""
    topic, partition = divmod(number, TOPIC_PARTITIONS)
    key = OffsetCommitKey(f"group-{group}", f"topic-{topic}", partition)
    value = OffsetCommitValue(number, 1, "", NOW_MS + time_ms, topic_id=UUID(int=topic + 1))
    return OffsetRecord(key, value)


def batches(log: Iterable[Sequence[OffsetRecord]]) -> Iterator[StreamRecordBatch]:
    """The batches of records that are written together."""
    first = 0
    for records in log:
        pending = PendingBatches(encode_record)
        pending.add(records, NOW_MS)
        while (batch := pending.next()) is not None:
            payload = memoryview(batch.encode())
            yield StreamRecordBatch(STREAM, 1, first, batch.records_count, payload)
            first += batch.records_count
            pending.written()


async def main(groups: int, offsets: int, times: int, together: int, runs: int) -> None:
    """Fill the bucket, and load; print one line for each run."""
    config, store, control = StorageConfig(), MemoryObjectStore(), ControlPlane()
    await control.open_stream(STREAM, 1)
    committer = make_committer(
        config, store, control, CLUSTER_ID, random.Random(1), UploadCounters()
    )
    written = chain(rewritten(groups, offsets), committed(groups, offsets, times, together))
    log = list(batches(written))
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
        await replay_log(
            Log(blocks, end_offset), shard, decode_records, TurnShare(time.perf_counter)
        )  # type: ignore[arg-type]
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
    parser.add_argument("--times", type=int, default=0, help="commits of each offset since then")
    parser.add_argument("--together", type=int, default=10, help="offsets of a commit")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    uvloop.run(main(**vars(arguments)))
