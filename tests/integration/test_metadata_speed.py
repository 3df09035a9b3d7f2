"""Bounds on the time that the event loop spends on large requests (CPU time: machines are shared)."""

import asyncio
import time

import pytest

from headrace.broker.adapters.storage_metadata import StorageMetadata
from headrace.metadata.follower.client import NewTopic
from headrace.protocol.errors import ErrorCode
from headrace.storage.ports import StreamRange, StreamSetCommit
from tests.unit.metadata.running_cluster import Cluster, scenario

TOPICS, PARTITIONS = 1_000, 10


class CpuTime:
    """Seconds of CPU that this process used in a block."""

    def __enter__(self):
        self._start = time.process_time()
        self.seconds = 0.0
        return self

    def __exit__(self, *error):
        self.seconds = time.process_time() - self._start


@pytest.fixture
def cluster(tmp_path):
    return Cluster(tmp_path / "metadata")


@pytest.mark.alone
@scenario
async def test_large_requests_do_not_hold_up_the_loop(cluster):
    async with cluster.controller() as node, cluster.client() as client:
        with CpuTime() as one_by_one:
            for number in range(100):
                await client.create_topics([NewTopic(f"a{number}", PARTITIONS)])
        with CpuTime() as at_once:
            topics = [NewTopic(f"b{number}", PARTITIONS) for number in range(TOPICS)]
            results = await client.create_topics(topics)
        assert all(it.error == ErrorCode.NONE for it in results)

        adapter = StorageMetadata(
            client, object_delete_retention_ms=1, boot_clock_ms=lambda: 0, newest_snapshot=None
        )
        stream_ids = sorted(client.image.streams)[: TOPICS * PARTITIONS]
        with CpuTime() as opening:
            await asyncio.gather(*(adapter.open_stream(it, 0) for it in stream_ids))
        commits = []
        for turn in range(5):
            object_id = await adapter.prepare_objects(1, 60_000)
            ranges = [StreamRange(it, 0, turn * 10, turn * 10 + 10) for it in stream_ids]
            with CpuTime() as commit:
                await adapter.commit_stream_set_object(
                    StreamSetCommit(object_id, 1 << 20, ranges, [])
                )
            commits.append(commit.seconds)
        with CpuTime() as heartbeats:
            for _ in range(1_000):
                await client._session.heartbeat(client.image.index)
        with CpuTime() as snapshot:
            await node.take_snapshot()

    print(
        f"\n100 topics x {PARTITIONS} one by one: {one_by_one.seconds:.2f} s"
        f"\n{TOPICS} topics x {PARTITIONS} at once: {at_once.seconds:.2f} s"
        f"\nopen {len(stream_ids)} streams: {opening.seconds:.2f} s"
        f"\ncommit {len(stream_ids)} ranges, both sides: {min(commits) * 1e3:.0f} ms"
        f"\nheartbeat, both sides: {heartbeats.seconds * 1e3:.0f} us"
        f"\nsnapshot: {snapshot.seconds:.2f} s"
    )
    assert one_by_one.seconds < 2
    assert at_once.seconds < 2
    assert opening.seconds < 10
    assert min(commits) < 0.1
    assert heartbeats.seconds < 0.2  # 200 us each
