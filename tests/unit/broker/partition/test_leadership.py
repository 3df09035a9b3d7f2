"""Partitions follow the metadata image: opened, opened anew, closed, dropped; each by itself."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from headrace.broker.adapters.stream_batches import MAX_STREAMS, StreamBatches
from headrace.broker.partition import leadership, topic_defaults
from headrace.broker.partition.append_rules import AppendOrigin, Rejection
from headrace.broker.partition.leadership import (
    DROPS_AT_ONCE,
    MAX_OPENING,
    RESOLVED_AT_ONCE,
    PartitionLeadership,
)
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.partition.topic_defaults import TopicDefaults
from headrace.config.node import LogConfig
from headrace.config.topic import EffectiveTopicConfig
from headrace.metadata.image import MetadataImage
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.records.streams import (
    RangeRecord,
    RemoveStreamRecord,
    StreamRecord,
    StreamState,
    StreamStateRecord,
)
from headrace.metadata.records.topics import ConfigRecord, PartitionChangeRecord, RemoveTopicRecord
from headrace.metadata.rpc.requests import StreamToOpen
from headrace.metadata.rpc.responses import StreamOutcome
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.errors import (
    FencedError,
    ObjectNotFoundError,
    RetriableStorageError,
    StorageError,
)
from tests.simulation.virtual_time import run
from tests.unit.broker.cluster_scene import (
    NODE_ID,
    NOW_MS,
    FakeClient,
    ServedPartition,
    applied,
    broker_records,
    topic_id,
    topic_records,
)
from tests.unit.broker.partition.fakes import DamagedStream, FakeEngine, FakeStream

OTHER_NODE = 2


class Streams(FakeEngine):
    """Opens streams; those in `held` only once the test lets them, those in `refused` not at all."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: dict[int, FakeStream] = {}
        self.held: dict[int, asyncio.Event] = {}
        self.refused: dict[int, StorageError] = {}
        self.asked: list[int] = []

    async def open_stream(self, stream_id: int, epoch: int) -> FakeStream:
        self.asked.append(stream_id)
        if stream_id in self.held:
            await self.held[stream_id].wait()
        if stream_id in self.refused:
            raise self.refused[stream_id]
        self.opened.setdefault(stream_id, FakeStream(stream_id, epoch)).epoch = epoch
        return self.opened[stream_id]


class Broker:
    """Leadership over a client whose image the test changes."""

    def __init__(self, streams: Streams | None = None) -> None:
        self.client = FakeClient(*broker_records())
        self.streams = streams or Streams()
        self.registry = PartitionRegistry(client=self.client, node_id=NODE_ID)  # type: ignore[arg-type]
        self.seen: list[tuple[str, str, int]] = []
        self.registry.subscribe(
            opened=lambda it: self.seen.append(("opened", it.topic, it.leader_epoch)),
            closed=lambda it: self.seen.append(("closed", it.topic, it.leader_epoch)),
        )
        self.leadership = PartitionLeadership(
            client=self.client,  # type: ignore[arg-type]
            engine=self.streams,  # type: ignore[arg-type]
            registry=self.registry,
            node_id=NODE_ID,
            config=LogConfig(),
            wall_clock_ms=lambda: NOW_MS,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.leadership.run())
        await asyncio.sleep(0)
        try:
            yield
            assert not task.done(), task
        finally:
            task.cancel()
            await asyncio.wait([task])

    def create(self, name: str, number: int) -> None:
        self.client.apply(*topic_records(name, number))

    def delete(self, number: int) -> None:
        self.client.apply(RemoveTopicRecord(topic_id(number)))

    def move(self, number: int, leader: int, leader_epoch: int) -> None:
        self.client.apply(PartitionChangeRecord(topic_id(number), 0, leader, leader_epoch))

    def partition(self, name: str) -> Partition:
        found = self.registry.find(name, 0)
        assert isinstance(found, Partition), found
        return found

    async def opened(self, name: str) -> Partition:
        assert await self.registry.wait_open([name], 60_000)
        return self.partition(name)


def test_a_topic_that_is_created_is_opened() -> None:
    async def main() -> None:
        broker = Broker()
        async with broker.running():
            broker.create("a", 1)
            assert broker.registry.find("a", 0) == ErrorCode.NOT_LEADER_OR_FOLLOWER
            partition = await broker.opened("a")
            assert broker.registry.find_by_id(topic_id(1), 0) is partition
            assert broker.seen == [("opened", "a", 0)]

    run(main())


def test_nothing_is_taken_for_a_topic_once_the_image_has_lost_it() -> None:
    """The deletion is answered in the step after the image has changed, so there is none to lose."""

    async def main() -> None:
        broker = Broker()
        async with broker.running():
            broker.create("a", 1)
            partition = await broker.opened("a")
            broker.delete(1)
            assert broker.registry.find("a", 0) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            assert broker.registry.find_by_id(topic_id(1), 0) == ErrorCode.UNKNOWN_TOPIC_ID
            refused = partition.writes.append(
                None, origin=AppendOrigin.CLIENT, now_ms=NOW_MS, on_done=lambda _error: None
            )
            assert isinstance(refused, Rejection)
            assert broker.streams.opened[1_000].abandoned
            assert broker.seen[-1] == ("closed", "a", 0)

    run(main())


def test_a_topic_of_many_partitions_is_left_in_steps_before_its_deletion_is_seen() -> None:
    async def main() -> None:
        broker = Broker()
        async with broker.running():
            many = 2 * DROPS_AT_ONCE + 1
            broker.client.apply(*topic_records("a", 1, many))
            assert await broker.registry.wait_open(["a"], 60_000)
            steps = broker.client.prepare(RemoveTopicRecord(topic_id(1)))
            left = [len(broker.registry) for _ in steps]
            assert left == [many - 1, many - 1 - DROPS_AT_ONCE, 0]
            assert broker.registry.find("a", 0) == ErrorCode.NOT_LEADER_OR_FOLLOWER
            broker.delete(1)
            assert broker.registry.find("a", 0) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            assert all(it.abandoned for it in broker.streams.opened.values())

    run(main())


def test_the_image_before_a_change_is_kept_by_nobody() -> None:
    async def main() -> None:
        broker = Broker()
        async with broker.running():
            broker.create("a", 1)
            await broker.opened("a")
            old = broker.client.image
            broker.client.apply(ConfigRecord(2, "b", "retention.ms", "1000"))
            await asyncio.sleep(60)
            assert sys.getrefcount(old) == 2  # this test, and the argument

    run(main())


def test_who_waits_for_a_topic_is_told_that_it_is_gone() -> None:
    async def main() -> None:
        broker = Broker()
        broker.create("a", 1)  # nobody opens it
        waiting = asyncio.create_task(broker.registry.wait_open(["a"], 60_000))
        await asyncio.sleep(0)
        broker.registry.settle((topic_id(1), 7))
        await asyncio.sleep(0)
        assert not waiting.done()
        broker.registry.settle_topic(topic_id(1))
        assert await waiting

    run(main())


def test_a_topic_that_is_created_anew_is_another_one() -> None:
    async def main() -> None:
        broker = Broker()
        async with broker.running():
            broker.create("a", 1)
            first = await broker.opened("a")
            broker.delete(1)
            broker.create("a", 2)
            second = await broker.opened("a")
            assert second is not first
            assert second.topic_id == topic_id(2)
            assert broker.registry.all() == [second]

    run(main())


def test_a_partition_that_cannot_be_opened_holds_up_nobody_else() -> None:
    async def main() -> None:
        broker = Broker()
        broker.streams.held[1_000] = asyncio.Event()
        async with broker.running():
            broker.create("slow", 1)
            await asyncio.sleep(1)
            broker.create("fast", 2)
            await broker.opened("fast")
            assert not await broker.registry.wait_open(["slow"], 1_000)
            broker.streams.held[1_000].set()
            await broker.opened("slow")

    run(main())


def test_starting_waits_for_one_attempt_at_each_partition_and_goes_on_trying() -> None:
    async def main() -> None:
        broker = Broker()
        broker.streams.refused[1_000] = RetriableStorageError("the bucket does not answer")
        broker.create("broken", 1)
        broker.create("whole", 2)
        async with broker.running():
            await broker.registry.wait_attempted()
            assert broker.partition("whole")
            assert broker.registry.find("broken", 0) == ErrorCode.NOT_LEADER_OR_FOLLOWER
            broker.streams.refused.clear()
            await broker.opened("broken")

    run(main())


def test_a_topic_that_is_deleted_while_it_is_opened_leaves_nothing_open() -> None:
    async def main() -> None:
        broker = Broker()
        broker.streams.held[1_001] = asyncio.Event()
        async with broker.running():
            broker.create("a", 1)
            await asyncio.sleep(1)
            broker.delete(1)
            assert await broker.registry.wait_open(["a"], 1_000), "nobody waits for what is gone"
            broker.streams.held[1_001].set()
            await asyncio.sleep(1)
            assert len(broker.registry) == 0
            assert all(stream.abandoned for stream in broker.streams.opened.values())

    run(main())


@pytest.mark.parametrize("is_deleted", [True, False])
@pytest.mark.parametrize("error", [FencedError("removed"), RetriableStorageError("away")])
def test_a_topic_that_is_made_and_deleted_is_no_reason_to_warn(
    is_deleted: bool, error: StorageError, caplog: pytest.LogCaptureFixture
) -> None:
    """The controller refuses its streams before the image tells of the deletion, or right after it."""

    async def main() -> None:
        broker = Broker()
        broker.streams.refused[1_000] = error
        broker.streams.held[1_000] = asyncio.Event()
        async with broker.running():
            broker.create("a", 1)
            await asyncio.sleep(0.1)
            if isinstance(error, FencedError):
                broker.streams.held[1_000].set()
                await asyncio.sleep(0.1)
            if is_deleted:
                broker.delete(1)
            broker.streams.held[1_000].set()
            await asyncio.sleep(2)
        told = [it for it in caplog.records if "cannot be opened" in it.getMessage()]
        assert bool(told) is not is_deleted

    run(main())


def test_a_raised_leader_epoch_opens_the_partition_anew() -> None:
    async def main() -> None:
        broker = Broker()
        async with broker.running():
            broker.create("a", 1)
            first = await broker.opened("a")
            woken = asyncio.Event()
            first.reads.add_reader(woken.set)
            broker.move(1, NODE_ID, 3)
            second = await broker.opened("a")
            assert second.leader_epoch == 3
            assert woken.is_set(), "whoever waits at the old handle is sent on"
            refused = first.writes.append(
                None, origin=AppendOrigin.CLIENT, now_ms=NOW_MS, on_done=lambda _error: None
            )
            assert isinstance(refused, Rejection)
            assert broker.seen == [("opened", "a", 0), ("closed", "a", 0), ("opened", "a", 3)]

    run(main())


def test_a_partition_that_moves_is_closed_however_often_that_fails() -> None:
    async def main() -> None:
        broker = Broker()
        async with broker.running():
            broker.create("a", 1)
            await broker.opened("a")
            stream = broker.streams.opened[1_000]
            failures = [RetriableStorageError("the controller is away")] * 2

            async def close() -> None:
                if failures:
                    raise failures.pop()
                stream.closed = True

            stream.close = close  # type: ignore[method-assign]
            broker.move(1, OTHER_NODE, 1)
            await asyncio.sleep(10)
            assert stream.closed
            assert broker.streams.opened[1_001].closed
            assert broker.registry.find("a", 0) == ErrorCode.NOT_LEADER_OR_FOLLOWER

    run(main())


def streams_open_at(number: int, node_id: int, partitions: int = 1) -> list[MetadataRecord]:
    """The streams of a topic of `topic_records`, all open at a node."""
    records: list[MetadataRecord] = []
    for stream_id in range(1_000 * number, 1_000 * number + 2 * partitions):
        index = (stream_id - 1_000 * number) // 2
        records += [
            StreamRecord(stream_id, topic_id(number), index, -1, 0, 0),
            RangeRecord(stream_id, 0, 0, node_id, 0),
            StreamStateRecord(stream_id, 0, StreamState.OPENED, node_id),
        ]
    return records


def closed(stream_id: int) -> StreamStateRecord:
    return StreamStateRecord(stream_id, 0, StreamState.CLOSED, OTHER_NODE)


def now_s() -> float:
    return asyncio.get_running_loop().time()


def test_a_partition_opens_at_once_when_the_image_says_that_the_other_broker_has_closed_it() -> (
    None
):
    async def main() -> None:
        broker = Broker()
        broker.client.apply(*topic_records("a", 1, leader_epoch=1), *streams_open_at(1, OTHER_NODE))
        async with broker.running():
            await broker.registry.wait_attempted()
            await asyncio.sleep(100)
            assert broker.streams.asked == [], "there is nothing to ask for"
            broker.client.apply(closed(1_000))
            await asyncio.sleep(100)
            assert broker.streams.asked == [], "the other stream is still open there"
            began_s = now_s()
            broker.client.apply(closed(1_001))
            await broker.opened("a")
            assert now_s() == began_s

    run(main())


def test_a_partition_that_is_led_again_but_open_elsewhere_is_served_no_more_and_waits() -> None:
    async def main() -> None:
        broker = Broker()
        broker.client.apply(*topic_records("a", 1, leader_epoch=1), *streams_open_at(1, NODE_ID))
        async with broker.running():
            first = await broker.opened("a")
            broker.client.apply(
                *(RangeRecord(stream_id, 1, 1, OTHER_NODE, 0) for stream_id in (1_000, 1_001)),
                *(
                    StreamStateRecord(stream_id, 1, StreamState.OPENED, OTHER_NODE)
                    for stream_id in (1_000, 1_001)
                ),
                PartitionChangeRecord(topic_id(1), 0, NODE_ID, 3),
            )
            asked = len(broker.streams.asked)
            await asyncio.sleep(100)
            assert broker.registry.get((topic_id(1), 0)) is None
            assert len(broker.streams.asked) == asked
            broker.client.apply(
                *(
                    StreamStateRecord(stream_id, 1, StreamState.CLOSED, OTHER_NODE)
                    for stream_id in (1_000, 1_001)
                )
            )
            second = await broker.opened("a")
            assert (first.leader_epoch, second.leader_epoch) == (1, 3)

    run(main())


def test_a_thousand_partitions_open_when_one_entry_has_closed_them_and_none_before() -> None:
    async def main() -> None:
        broker = Broker()
        count = 1_000
        broker.client.apply(
            *topic_records("a", 5, count, leader_epoch=1),
            *streams_open_at(5, OTHER_NODE, count),
        )
        async with broker.running():
            await broker.registry.wait_attempted()
            await asyncio.sleep(1)
            began_s = now_s()
            broker.client.apply(*(closed(5_000 + number) for number in range(2 * count)))
            await broker.opened("a")
            assert now_s() == began_s
            assert len(broker.streams.asked) == 2 * count, "each was asked for once"

    run(main())


def test_a_partition_that_waits_for_another_broker_is_given_up_when_it_moves_on() -> None:
    async def main() -> None:
        broker = Broker()
        broker.client.apply(*topic_records("a", 1, leader_epoch=1), *streams_open_at(1, OTHER_NODE))
        async with broker.running():
            await broker.registry.wait_attempted()
            await asyncio.sleep(1)
            broker.move(1, OTHER_NODE, 2)
            await asyncio.sleep(1)
            broker.client.apply(closed(1_000), closed(1_001))
            await asyncio.sleep(100)
            assert broker.streams.asked == []
            began_s = now_s()
            broker.move(1, NODE_ID, 3)
            assert (await broker.opened("a")).leader_epoch == 3
            assert now_s() == began_s

    run(main())


def test_nothing_waits_for_the_streams_of_a_topic_that_is_deleted() -> None:
    async def main() -> None:
        broker = Broker()
        broker.client.apply(*topic_records("a", 1, leader_epoch=1), *streams_open_at(1, OTHER_NODE))
        async with broker.running():
            await broker.registry.wait_attempted()
            await asyncio.sleep(1)
            waiting = len(asyncio.all_tasks())
            broker.client.apply(
                RemoveTopicRecord(topic_id(1)), RemoveStreamRecord(1_000), RemoveStreamRecord(1_001)
            )
            await asyncio.sleep(1)
            assert len(asyncio.all_tasks()) == waiting - 1
            assert broker.streams.asked == []

    run(main())


def test_a_failed_opening_is_repeated_at_once_when_the_partition_is_led_at_a_newer_epoch() -> None:
    async def main() -> None:
        broker = Broker()
        broker.streams.refused[1_000] = FencedError("this broker's metadata are behind")
        async with broker.running():
            broker.create("a", 1)
            await asyncio.sleep(60)  # the pause between two attempts has become long
            broker.streams.refused.clear()
            began_s = now_s()
            broker.move(1, NODE_ID, 1)
            assert (await broker.opened("a")).leader_epoch == 1
            assert now_s() == began_s

    run(main())


def test_both_streams_of_a_partition_that_moves_are_closed_together() -> None:
    async def main() -> None:
        broker = Broker()
        async with broker.running():
            broker.create("a", 1)
            await broker.opened("a")
            both = asyncio.Barrier(2)

            async def close() -> None:
                await both.wait()

            for stream_id in (1_000, 1_001):
                broker.streams.opened[stream_id].close = close  # type: ignore[method-assign]
            broker.move(1, OTHER_NODE, 1)
            await asyncio.sleep(1)
            assert both.n_waiting == 0
            assert broker.seen[-1] == ("closed", "a", 0)

    run(main())


def test_configs_hold_from_the_step_in_which_the_image_changes() -> None:
    async def main() -> None:
        broker = Broker()
        async with broker.running():
            broker.create("a", 1)
            partition = await broker.opened("a")
            broker.client.apply(ConfigRecord(2, "a", "max.message.bytes", "77"))
            assert partition.writes.config.max_message_bytes == 77

    run(main())


def test_defaults_of_brokers_hold_at_once_the_own_before_those_of_all() -> None:
    async def main() -> None:
        broker = Broker()
        own, of_all = str(NODE_ID), ""
        async with broker.running():
            broker.create("a", 1)
            first = await broker.opened("a")
            broker.client.apply(
                ConfigRecord(4, of_all, "message.max.bytes", "77"),
                ConfigRecord(4, of_all, "producer.id.expiration.ms", "5000"),
                ConfigRecord(4, own, "log.retention.ms", "10"),
                ConfigRecord(4, "99", "message.max.bytes", "33"),
            )
            broker.create("b", 2)
            second = await broker.opened("b")
            for partition in (first, second):
                config = partition.writes.config
                assert (config.max_message_bytes, config.retention_ms) == (77, 10)
                assert partition.state.producers.expiration_ms == 5_000
            broker.client.apply(
                ConfigRecord(4, own, "message.max.bytes", "88"),
                ConfigRecord(2, "b", "max.message.bytes", "11"),
            )
            assert first.writes.config.max_message_bytes == 88
            assert second.writes.config.max_message_bytes == 11
            broker.client.apply(
                ConfigRecord(4, own, "message.max.bytes", None),
                ConfigRecord(4, of_all, "message.max.bytes", None),
                ConfigRecord(4, of_all, "producer.id.expiration.ms", None),
            )
            assert first.writes.config.max_message_bytes == LogConfig().max_message_bytes
            assert first.state.producers.expiration_ms == LogConfig().producer_id_expiration_ms

    run(main())


def test_a_partition_opens_past_damage_with_a_checkpoint_that_is_durable_before_it_serves() -> None:
    async def main() -> None:
        broker = Broker()
        source = ServedPartition("a", 1, 0)
        source.fill(4)
        data, meta = (DamagedStream(it) for it in (source.data, source.meta))
        data.damage[1, 3] = ObjectNotFoundError("404")
        broker.streams.opened |= {1_000: data, 1_001: meta}
        async with broker.running():
            broker.create("a", 1)
            await asyncio.sleep(1)
            assert broker.registry.find("a", 0) == ErrorCode.NOT_LEADER_OR_FOLLOWER
            assert meta.next_offset == 1
            meta.confirm()
            partition = await broker.opened("a")
            assert partition.reads.log_end_offset == 4
            assert not isinstance(append_one(partition), Rejection)
            ((damaged, (found,)),) = broker.registry.damaged()
            assert (damaged, found.start_offset, found.end_offset) == (partition, 1, 3)
            assert broker.leadership.statistics.opened_past_damage_total == 1

    run(main())


def append_one(partition: Partition) -> object:
    batch = memoryview(encode_batch([Record(0, NOW_MS, None, b"v")], BatchOptions()))
    return partition.writes.append(
        batch, origin=AppendOrigin.CLIENT, now_ms=NOW_MS, on_done=lambda _error: None
    )


class SlowStreams(Streams):
    """Opens one stream for each time that the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[int] = []
        self.turns = asyncio.Semaphore(0)

    async def open_stream(self, stream_id: int, epoch: int) -> FakeStream:
        await self.turns.acquire()
        self.order.append(stream_id)
        return await super().open_stream(stream_id, epoch)


def test_each_partition_is_served_as_it_opens_and_what_is_asked_for_opens_before_the_rest() -> None:
    async def main() -> None:
        broker = Broker(SlowStreams())
        streams = broker.streams
        assert isinstance(streams, SlowStreams)
        count = 3 * MAX_OPENING
        broker.client.apply(*topic_records("a", 1, count), *topic_records("__consumer_offsets", 9))
        async with broker.running():
            await asyncio.sleep(1)
            last = count - 1
            assert broker.registry.find("a", last) == ErrorCode.NOT_LEADER_OR_FOLLOWER
            # Both streams of those that are being opened, then the first of what follows, and its second.
            for _ in range(3 * MAX_OPENING + 1):
                streams.turns.release()
                await asyncio.sleep(1)
            found = broker.registry.find("a", last)
            assert isinstance(found, Partition), "it was asked for"
            assert not isinstance(append_one(found), Rejection)
            assert 0 < len(broker.registry) < count, "the others are still opening"
            assert streams.order[0] == 9_000, "groups wait for it"
            for _ in range(2 * count):
                streams.turns.release()
            await broker.registry.wait_attempted()
            assert len(broker.registry) == count + 1

    run(main())


def test_a_topic_that_is_waited_for_opens_before_the_rest() -> None:
    async def main() -> None:
        broker = Broker(SlowStreams())
        streams = broker.streams
        assert isinstance(streams, SlowStreams)
        broker.client.apply(*topic_records("a", 1, 3 * MAX_OPENING), *topic_records("b", 9))
        async with broker.running():
            await asyncio.sleep(1)
            waiting = asyncio.create_task(broker.registry.wait_open(["b"], 6_000_000))
            await asyncio.sleep(1)
            for _ in range(3 * MAX_OPENING + 1):
                streams.turns.release()
                await asyncio.sleep(1)
            assert await waiting
            assert len(broker.registry) < 2 * MAX_OPENING

    run(main())


class StreamsOfAController(Streams):
    """Opens streams by requests that take a while."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[int] = []
        self.opening = StreamBatches(self.send)

    async def send(self, streams: Sequence[StreamToOpen]) -> Sequence[StreamOutcome]:
        self.requests.append(len(streams))
        await asyncio.sleep(1)
        return [StreamOutcome(0, None, 0, 0) for _ in streams]

    async def open_stream(self, stream_id: int, epoch: int) -> FakeStream:
        await self.opening.ask(StreamToOpen(stream_id, epoch))
        return await super().open_stream(stream_id, epoch)


def test_both_streams_of_a_new_partition_are_opened_by_one_request() -> None:
    async def main() -> None:
        streams = StreamsOfAController()
        broker = Broker(streams)
        async with broker.running():
            broker.create("a", 1)
            await broker.opened("a")
        assert streams.requests == [2]

    run(main())


def test_a_start_with_many_partitions_fills_the_requests_that_open_their_streams() -> None:
    async def main() -> None:
        streams = StreamsOfAController()
        broker = Broker(streams)
        count = 10 * MAX_STREAMS
        broker.client.apply(*topic_records("a", 1, count))
        async with broker.running():
            await broker.registry.wait_attempted()
        assert sum(streams.requests) == 2 * count
        assert len(streams.requests) < 2 * count / MAX_STREAMS * 1.25

    run(main())


@pytest.mark.parametrize("is_slow", [False, True])
def test_the_first_partition_of_a_start_opens_before_the_others_are_looked_at(
    is_slow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To look at 10,000 takes longer than to open one; a bucket that does not answer holds none of them up."""
    monkeypatch.setattr(leadership, "FIRST_OPENING_MS", 500 if is_slow else 1_500)  # it takes 1 s

    async def main() -> None:
        broker = Broker(StreamsOfAController())
        waiting: list[int] = []
        broker.registry.subscribe(
            opened=lambda _: waiting.append(len(broker.leadership._queue)), closed=lambda _: None
        )
        broker.client.apply(*topic_records("a", 1, 10 * MAX_OPENING))
        async with broker.running():
            await broker.registry.wait_attempted()
        assert waiting[0] == (9 * MAX_OPENING if is_slow else 0)
        assert len(waiting) == 10 * MAX_OPENING

    run(main())


def test_new_defaults_of_many_topics_are_worked_out_in_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolved: list[str] = []

    class Counting(TopicDefaults):
        def resolve(self, image: MetadataImage, topic: str) -> EffectiveTopicConfig:
            resolved.append(topic)
            return super().resolve(image, topic)

    monkeypatch.setattr(leadership, "TopicDefaults", Counting)
    monkeypatch.setattr(topic_defaults, "TopicDefaults", Counting)

    async def main() -> None:
        broker = Broker()
        async with broker.running():
            broker.create("a", 1)
            partition = await broker.opened("a")
            old = broker.client.image
            more = [
                record
                for number in range(2, 2 + 3 * RESOLVED_AT_ONCE)
                for record in (
                    *topic_records(f"t{number}", number, leader=OTHER_NODE),
                    ConfigRecord(2, f"t{number}", "segment.ms", "5"),
                )
            ]
            broker.client.apply(*more)
            old = broker.client.image
            new = applied(old, ConfigRecord(4, str(NODE_ID), "log.retention.ms", "10"))
            resolved.clear()
            (prepare,) = broker.client.preparing
            most = before = 0
            for _ in prepare(old, new):
                most, before = max(most, len(resolved) - before), len(resolved)
            assert most == RESOLVED_AT_ONCE
            assert partition.writes.config.retention_ms != 10
            broker.client.apply(ConfigRecord(4, str(NODE_ID), "log.retention.ms", "10"))
            assert partition.writes.config.retention_ms == 10
            broker.client.apply(ConfigRecord(2, "a", "retention.ms", "11"))
            assert partition.writes.config.retention_ms == 11

    run(main())
