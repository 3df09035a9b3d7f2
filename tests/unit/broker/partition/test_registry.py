"""What is found, and waited for, among the partitions of a broker whose metadata changes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from headrace.broker.partition.append_rules import AppendOrigin
from headrace.broker.partition.checkpoint_log import CHECKPOINTS_RETAINED
from headrace.broker.partition.leadership import (
    MIN_RETRY_MS,
    UPKEEP_INTERVAL_MS,
    PartitionLeadership,
)
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.config.node import LogConfig
from headrace.metadata.records.topics import PartitionChangeRecord, RemoveTopicRecord
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.errors import FencedError, RetriableStorageError, StorageError
from tests.simulation import virtual_time
from tests.unit.broker.cluster_scene import (
    NOW_MS,
    BoundedStream,
    FakeClient,
    ServedPartition,
    topic_id,
    topic_records,
)

DATA, META = 1_000, 1_001  # streams of partition 0 of topic number 1


class Stream(BoundedStream):
    """Confirms by itself; what was written survives being opened anew."""

    close_error: StorageError | None = None

    def append(self, payload, count, on_ack):  # type: ignore[no-untyped-def]
        base_offset = super().append(payload, count, on_ack)
        asyncio.get_running_loop().call_soon(self.confirm)
        return base_offset

    async def close(self) -> None:
        if self.close_error is not None:
            raise self.close_error
        await super().close()


class FakeStorageEngine:
    """Opens streams, unless the test has put failures in the way."""

    def __init__(self) -> None:
        self.streams: dict[int, Stream] = {}
        self.opened: list[tuple[int, int]] = []
        self.failures: dict[int, list[StorageError]] = {}

    async def open_stream(self, stream_id: int, epoch: int) -> Stream:
        await asyncio.sleep(0)
        self.opened.append((stream_id, epoch))
        if self.failures.get(stream_id):
            raise self.failures[stream_id].pop(0)
        opened = Stream(stream_id, epoch)
        previous = self.streams.get(stream_id)
        if previous is not None:
            opened.batches = previous.batches
            opened.next_offset = opened.confirm_offset = previous.confirm_offset
        self.streams[stream_id] = opened
        return opened

    def admits(self, body_bytes: int) -> bool:
        return True


class Broker:
    """Broker 1, whose cluster has the topic "t"."""

    def __init__(self, partitions: int = 1, *, leader: int = 1) -> None:
        self.client = FakeClient(*topic_records("t", 1, partitions, leader=leader))
        self.engine = FakeStorageEngine()
        self.registry = PartitionRegistry(client=self.client, node_id=1)  # type: ignore[arg-type]
        self.changes: list[tuple[str, int]] = []
        self.registry.subscribe(
            opened=lambda it: self.changes.append(("opened", it.leader_epoch)),
            closed=lambda it: self.changes.append(("closed", it.leader_epoch)),
        )
        self.leadership = PartitionLeadership(
            client=self.client,  # type: ignore[arg-type]
            engine=self.engine,  # type: ignore[arg-type]
            registry=self.registry,
            node_id=1,
            config=LogConfig(topic_defaults={"max.message.bytes": "700"}),
            wall_clock_ms=lambda: NOW_MS,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        job = asyncio.create_task(self.leadership.run())
        try:
            assert await self.registry.wait_open(["t"], 60_000)
            yield
            assert not job.done(), job
        finally:
            job.cancel()
            await asyncio.gather(job, return_exceptions=True)

    def partition(self, index: int = 0) -> Partition:
        found = self.registry.find("t", index)
        assert isinstance(found, Partition), found
        assert self.registry.find_by_id(topic_id(1), index) is found
        return found

    async def settled(self) -> None:
        """Let what the image has started come to its end."""
        await asyncio.sleep(MIN_RETRY_MS / 2_000)

    def lead(self, leader: int, epoch: int) -> None:
        self.client.apply(PartitionChangeRecord(topic_id(1), 0, leader, epoch))


async def write(partition: Partition, *, max_bytes: int = 100) -> object:
    records = [Record(0, NOW_MS, None, bytes(max_bytes - 80))]
    result = partition.writes.append(
        memoryview(encode_batch(records, BatchOptions())),
        origin=AppendOrigin.CLIENT,
        now_ms=NOW_MS,
        on_done=lambda _error: None,
    )
    await asyncio.sleep(0)
    return result


def test_what_the_image_gives_to_this_broker_is_open_and_nothing_else() -> None:
    async def run() -> None:
        broker = Broker(2)
        broker.client.apply(*topic_records("elsewhere", 2, leader=2))
        async with broker.running():
            assert [(p.topic, p.index) for p in broker.registry.all()] == [("t", 0), ("t", 1)]
            assert len(broker.registry) == 2
            assert broker.partition(1).streams == ((1_002, 0), (1_003, 0))
            assert broker.changes == [("opened", 0)] * 2

    virtual_time.run(run())


def test_what_is_not_open_says_why() -> None:
    async def run() -> None:
        broker = Broker()
        broker.client.apply(*topic_records("elsewhere", 2, leader=2))
        async with broker.running():
            registry, not_here = broker.registry, ErrorCode.NOT_LEADER_OR_FOLLOWER
            unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            assert registry.find("elsewhere", 0) == not_here
            assert registry.find_by_id(topic_id(2), 0) == not_here
            assert registry.find("elsewhere", 1) == unknown
            assert registry.find("t", -1) == unknown
            assert registry.find_by_id(topic_id(2), 1) == unknown
            assert registry.find("no", 0) == unknown
            assert registry.find_by_id(topic_id(9), 0) == ErrorCode.UNKNOWN_TOPIC_ID
            assert registry.find_by_id(None, 0) == ErrorCode.UNKNOWN_TOPIC_ID

    virtual_time.run(run())


def test_a_new_topic_is_open_when_waiting_for_it_ends() -> None:
    async def run() -> None:
        broker = Broker()
        async with broker.running():
            broker.client.apply(*topic_records("new", 2, 3))
            assert broker.registry.find("new", 0) == ErrorCode.NOT_LEADER_OR_FOLLOWER
            assert await broker.registry.wait_open(["new"], 1_000)
            assert all(isinstance(broker.registry.find("new", it), Partition) for it in range(3))

    virtual_time.run(run())


def test_waiting_for_what_does_not_open_ends_in_time() -> None:
    async def run() -> None:
        broker = Broker()
        async with broker.running():
            broker.engine.failures[2_000] = [RetriableStorageError("503")] * 100
            broker.client.apply(*topic_records("new", 2))
            begin = asyncio.get_running_loop().time()
            assert not await broker.registry.wait_open(["new"], 1_700)
            assert asyncio.get_running_loop().time() - begin == pytest.approx(1.7)
            assert await broker.registry.wait_open(["t"], 1_700), "others are not waited for"

    virtual_time.run(run())


def test_a_partition_that_cannot_be_opened_is_tried_again_until_it_can() -> None:
    async def run() -> None:
        broker = Broker(2)
        broker.engine.failures = {
            DATA: [RetriableStorageError("503")] * 2,
            META: [FencedError("not yet")],
        }
        async with broker.running():
            assert asyncio.get_running_loop().time() == pytest.approx(
                3 * MIN_RETRY_MS / 1_000
            )  # then twice as late
            assert broker.partition(0).leader_epoch == 0
        assert broker.engine.opened.count((1_002, 0)) == 1, "the other was open at once"

    virtual_time.run(run())


def test_a_higher_leader_epoch_opens_the_partition_anew_with_what_it_holds() -> None:
    async def run() -> None:
        broker = Broker()
        async with broker.running():
            before = broker.partition()
            await write(before)
            broker.lead(1, 4)
            await broker.settled()
            after = broker.partition()
            assert after is not before
            assert after.streams == ((DATA, 4), (META, 4))
            assert (after.leader_epoch, after.reads.high_watermark, after.reads.log_end_offset) == (
                4,
                1,
                1,
            )
            assert after.reads.end_offset_of_epoch(0) == (0, 1)
            await write(after)
            assert after.reads.epoch_of(1) == 4

    virtual_time.run(run())


def test_readers_of_a_partition_that_is_opened_anew_are_woken() -> None:
    """2.7: a long poll completes on a change of leader, also when the new one is the old one."""

    async def run() -> None:
        broker = Broker()
        async with broker.running():
            woken = asyncio.Event()
            broker.partition().reads.add_reader(woken.set)
            broker.lead(1, 4)
            await broker.settled()
            assert woken.is_set()

    virtual_time.run(run())


def test_while_it_is_opened_anew_a_partition_is_not_served_at_its_old_epoch() -> None:
    async def run() -> None:
        broker = Broker()
        async with broker.running():
            broker.engine.failures[DATA] = [RetriableStorageError("503")]
            broker.lead(1, 4)
            await broker.settled()
            assert broker.registry.find("t", 0) == ErrorCode.NOT_LEADER_OR_FOLLOWER
            await asyncio.sleep(MIN_RETRY_MS / 1_000)
            assert broker.partition().leader_epoch == 4

    virtual_time.run(run())


def test_a_partition_that_another_broker_leads_is_closed() -> None:
    async def run() -> None:
        broker = Broker()
        async with broker.running():
            left = broker.partition()
            await write(left)
            broker.lead(2, 1)
            await broker.settled()
            assert broker.registry.find("t", 0) == ErrorCode.NOT_LEADER_OR_FOLLOWER
            assert len(broker.registry) == 0
            assert broker.engine.streams[DATA].closed
            assert broker.engine.streams[META].closed
            assert len(broker.engine.streams[META].batches) == 1, "with a checkpoint of its end"
            assert broker.changes == [("opened", 0), ("closed", 0)]

    virtual_time.run(run())


def test_a_stream_that_cannot_be_given_up_does_not_stop_the_others() -> None:
    async def run() -> None:
        broker = Broker(2)
        async with broker.running():
            broker.engine.streams[DATA].close_error = FencedError("the other one has it already")
            broker.lead(2, 1)
            await broker.settled()
            assert broker.registry.find("t", 0) == ErrorCode.NOT_LEADER_OR_FOLLOWER
            broker.client.apply(*topic_records("new", 2))
            assert await broker.registry.wait_open(["new"], 1_000)

    virtual_time.run(run())


def test_a_deleted_topic_is_dropped_without_being_closed() -> None:
    """Its streams are the control plane's to delete."""

    async def run() -> None:
        broker = Broker()
        async with broker.running():
            woken = asyncio.Event()
            broker.partition().reads.add_reader(woken.set)
            broker.client.apply(RemoveTopicRecord(topic_id(1)))
            await broker.settled()
            assert broker.registry.find("t", 0) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            assert broker.registry.find_by_id(topic_id(1), 0) == ErrorCode.UNKNOWN_TOPIC_ID
            assert broker.engine.streams[DATA].abandoned
            assert not broker.engine.streams[DATA].closed
            assert woken.is_set()

    virtual_time.run(run())


def test_a_topic_that_is_deleted_and_created_at_once_is_another_one() -> None:
    """2.7, trap: fetches by the old id must get UNKNOWN_TOPIC_ID."""

    async def run() -> None:
        broker = Broker()
        async with broker.running():
            await write(broker.partition())
            broker.client.apply(RemoveTopicRecord(topic_id(1)), *topic_records("t", 2))
            await broker.settled()
            found = broker.registry.find("t", 0)
            assert isinstance(found, Partition)
            assert (found.topic_id, found.reads.log_end_offset) == (topic_id(2), 0)
            assert broker.registry.find_by_id(topic_id(1), 0) == ErrorCode.UNKNOWN_TOPIC_ID
            assert broker.registry.find_by_id(topic_id(2), 0) is found

    virtual_time.run(run())


def test_a_checkpoint_of_every_partition_is_durable_in_the_end() -> None:
    async def run() -> None:
        broker = Broker(2)
        async with broker.running():
            await write(broker.partition(0))
            await broker.leadership.checkpoint_all()
            assert broker.engine.streams[META].confirm_offset == 1
            assert broker.engine.streams[1_003].confirm_offset == 0, "nothing was written to it"

    virtual_time.run(run())


def test_a_frozen_partition_gets_none() -> None:
    """It may be about to be closed: at its ends of before."""

    async def run() -> None:
        broker = Broker(2)
        async with broker.running():
            for index in range(2):
                await write(broker.partition(index))
            broker.partition(0).set_frozen(frozen=True)
            await broker.leadership.checkpoint_all()
            assert broker.engine.streams[META].next_offset == 0
            assert broker.engine.streams[1_003].confirm_offset == 1

    virtual_time.run(run())


def test_what_an_opening_had_to_replay_gets_a_checkpoint_in_the_end() -> None:
    async def run() -> None:
        broker = Broker()
        async with broker.running():
            await write(broker.partition(0))
            broker.client.apply(PartitionChangeRecord(topic_id(1), 0, 1, 1))
            await broker.settled()
            assert broker.engine.streams[META].confirm_offset == 0
            await broker.leadership.checkpoint_all()
            assert broker.engine.streams[META].confirm_offset == 1

    virtual_time.run(run())


def test_now_and_then_superseded_checkpoints_are_trimmed() -> None:
    async def run() -> None:
        broker = Broker()
        async with broker.running():
            partition = broker.partition()
            for _ in range(CHECKPOINTS_RETAINED + 6):
                partition.checkpoints.write()
            await asyncio.sleep(2 * UPKEEP_INTERVAL_MS / 1_000)
            assert partition.checkpoints.retained == 1

    virtual_time.run(run())


def test_removing_the_old_topic_of_a_name_leaves_the_new_one() -> None:
    async def run() -> None:
        broker = Broker()
        old, new = ServedPartition("t", 1, 0).partition, ServedPartition("t", 2, 0).partition
        broker.registry.add(old)
        broker.registry.add(new)
        broker.registry.remove(old)
        broker.registry.remove(old)
        assert broker.registry.find("t", 0) is new
        assert broker.changes == [("opened", 0), ("opened", 0), ("closed", 0)]

    virtual_time.run(run())


def test_readers_of_a_partition_that_is_removed_are_woken_before_it_is_closed() -> None:
    """Closing may have to wait for others, and for the bucket."""

    async def run() -> None:
        broker = Broker()
        removed, woken = ServedPartition("t", 1, 0).partition, []
        broker.registry.add(removed)
        removed.reads.add_reader(lambda: woken.append(broker.registry.get((topic_id(1), 0))))
        broker.registry.remove(removed)
        assert woken == [None], "it is no longer found"

    virtual_time.run(run())
