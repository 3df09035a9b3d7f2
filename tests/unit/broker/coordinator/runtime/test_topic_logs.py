"""`__consumer_offsets` for the group coordinator: durable appends, reads from the start, elections."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.cluster.topic_creation import TopicCreation
from headrace.broker.coordinator.group.coordinator import offsets_topic
from headrace.broker.coordinator.runtime.batching import MAX_BATCH_BYTES
from headrace.broker.coordinator.runtime.partitioning import partition_for_key
from headrace.broker.coordinator.runtime.topic_logs import (
    CoordinatorElections,
    PartitionLog,
    TopicLogs,
)
from headrace.broker.partition.damage import DamagedRange
from headrace.broker.partition.internal_topics import OFFSETS_TOPIC
from headrace.broker.partition.traffic import Traffic
from headrace.config.node import GroupConfig, LogConfig, NetworkConfig
from headrace.metadata.records.topics import RemoveTopicRecord
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.records.batch import parse_header
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.errors import (
    BackPressureError,
    CorruptObjectError,
    EngineFailedError,
    ObjectNotFoundError,
    ObjectStoreError,
    StorageError,
)
from tests.unit.broker.cluster_scene import (
    NOW_MS,
    FakeClient,
    FakeRegistry,
    broker_records,
    client_of,
    run,
    topic_id,
    topic_records,
)
from tests.unit.broker.partition.fakes import DamagedStream, FakeStream

CLIENT = client_of()
COMPACT = {"cleanup.policy": "compact"}


def batch(key: bytes | None = b"k") -> bytearray:
    return encode_batch([Record(0, NOW_MS, key, b"v")], BatchOptions())


class Engine:
    refusal: Exception | None = None
    has_room = True

    def admits(self, body_bytes: int) -> bool:
        assert body_bytes > MAX_BATCH_BYTES or body_bytes > len(batch())
        return self.has_room and self.refusal is None

    async def admission(self, body_bytes: int) -> None:
        assert body_bytes > len(batch())
        if self.refusal is not None:
            raise self.refusal


class Broker:
    """Serves the offsets topic's partition 0."""

    def __init__(self, *, topic: bool = True, leader: int = 2) -> None:
        self.client = FakeClient(
            *broker_records(1),
            *broker_records(2, ("PLAINTEXT", "two", 9093)),
            *(topic_records(OFFSETS_TOPIC, 1, 3, leader=leader) if topic else ()),
        )
        self.registry = FakeRegistry(self.client)
        self.served = self.registry.serve(OFFSETS_TOPIC, leader_epoch=5, overrides=COMPACT)
        self.engine = Engine()
        groups = GroupConfig(offsets_topic_partitions=7)
        registry: Any = self.registry
        client: Any = self.client
        self.logs = TopicLogs(
            offsets_topic(groups),
            client=client,
            partitions=registry,
            creation=TopicCreation(
                client, registry, log=LogConfig(), internal=[offsets_topic(groups)]
            ),
            engine=self.engine,  # type: ignore[arg-type]
            cluster=ClusterView(lambda: self.client.image, 1, NetworkConfig()),
            wall_clock_ms=lambda: NOW_MS,
        )

    @property
    def log(self) -> PartitionLog:
        found = self.logs.log(0)
        assert found is not None
        return found


def fill(broker: Broker, batches: int, value_bytes: int = 10) -> None:
    for _ in range(batches):
        broker.served.append(Record(0, NOW_MS, b"k", bytes(value_bytes)))
    broker.served.data.confirm()


def test_an_append_returns_its_offset_once_it_is_acknowledged() -> None:
    async def append() -> None:
        broker = Broker()
        broker.served.append(Record(0, NOW_MS, b"k", b"v"))
        appending = asyncio.create_task(broker.log.append(batch()))
        await asyncio.sleep(0)
        assert not appending.done()
        broker.served.data.confirm()
        assert await appending == 1

    run(append())


def test_an_append_whose_outcome_is_unknown_says_so() -> None:
    async def append() -> None:
        broker = Broker()
        appending = asyncio.create_task(broker.log.append(batch()))
        await asyncio.sleep(0)
        broker.served.data.fail(EngineFailedError("device"))
        with pytest.raises(EngineFailedError):
            await appending

    run(append())


def test_what_is_refused_is_not_appended() -> None:
    broker = Broker()
    with pytest.raises(KafkaError) as refusal:
        run(broker.log.append(bytearray(len(batch()))))
    assert refusal.value.code == ErrorCode.INVALID_RECORD
    broker.engine.refusal = BackPressureError("no room")
    with pytest.raises(BackPressureError):
        run(broker.log.append(batch()))
    assert broker.served.data.batches == []


def test_an_append_that_nobody_waits_for_any_more_goes_through_all_the_same() -> None:
    async def append() -> None:
        broker = Broker()
        appending = asyncio.create_task(broker.log.append(batch()))
        await asyncio.sleep(0)
        appending.cancel()
        await asyncio.gather(appending, return_exceptions=True)
        broker.served.data.confirm()
        assert broker.served.partition.reads.high_watermark == 1

    run(append())


def test_a_log_is_read_from_its_start_to_what_is_acknowledged() -> None:
    async def read() -> list[bytes]:
        broker = Broker()
        for key in (b"a", b"b", b"c"):
            broker.served.append(Record(0, NOW_MS, key, b"v"))
        broker.served.data.confirm()
        broker.served.append(Record(0, NOW_MS, b"d", b"v"))
        broker.served.data.start_offset = 1
        assert broker.log.leader_epoch == 5
        return [bytes(it) for it in [payload async for payload in broker.log.read()]]

    assert [it[-4:-3] for it in run(read())] == [b"b", b"c"]


def test_a_log_tells_what_is_in_the_bucket() -> None:
    broker = Broker()
    fill(broker, 3)
    broker.served.data.uploaded_offset = 2
    assert broker.log.end_offset == 3
    assert [broker.log.is_uploaded(it) for it in (1, 2, 3)] == [True, True, False]


def test_a_load_begins_where_a_deletion_was_to_end() -> None:
    """It may have been done in the metadata only, and then what lies before is gone from the bucket."""

    async def read() -> int:
        broker = Broker()
        fill(broker, 3)
        broker.served.data.trimming_to = 2
        return len([payload async for payload in broker.log.read()])

    assert run(read()) == 1


def test_a_load_passes_over_what_is_damaged_or_missing_and_the_partition_tells_it() -> None:
    async def read() -> None:
        broker = Broker()
        fill(broker, 6)
        damage: dict[tuple[int, int], StorageError] = {
            (1, 3): CorruptObjectError("block"),
            (4, 5): ObjectNotFoundError("object"),
        }
        served = broker.served.partition
        served.reads._data = DamagedStream(broker.served.data, damage)  # type: ignore[assignment]
        found = [it async for it in broker.log.read()]
        offsets = [it if isinstance(it, DamagedRange) else parse_header(it)[0] for it in found]
        assert offsets == [
            0,
            DamagedRange(1, 3, "CorruptObjectError: block"),
            3,
            DamagedRange(4, 5, "ObjectNotFoundError: object"),
            5,
        ]
        assert [it.start_offset for it in served.reads.unreadable] == [1, 4]

    run(read())


def test_a_bucket_that_does_not_answer_is_no_damage() -> None:
    """Neither to the read, nor to the look at how far the damage goes."""

    class Silent(DamagedStream):
        async def unreadable_span(self, offset: int, error: StorageError) -> tuple[int, int]:
            raise ObjectStoreError("silent")

    async def read(stream: DamagedStream) -> None:
        broker = Broker()
        fill(broker, 3)
        stream.next_offset = stream.confirm_offset = 3
        broker.served.partition.reads._data = stream  # type: ignore[assignment]
        with pytest.raises(ObjectStoreError):
            [it async for it in broker.log.read()]

    run(read(DamagedStream(FakeStream(1), {(0, 3): ObjectStoreError("silent")})))
    run(read(Silent(FakeStream(1), {(0, 3): ObjectNotFoundError("gone")})))


def test_a_log_tells_whether_there_is_room_for_a_batch() -> None:
    broker = Broker()
    assert broker.log.has_room
    broker.engine.has_room = False
    assert not broker.log.has_room


def test_requests_of_groups_count_as_traffic_of_a_partition_that_counts() -> None:
    broker = Broker()
    broker.log.count_request()
    assert broker.served.partition.traffic is None
    traffic = broker.served.partition.traffic = Traffic()
    broker.log.count_request()
    broker.log.count_request()
    assert (traffic.requests, traffic.bytes_in) == (2, 0)


def test_deletions_leave_nothing_of_what_was_derived_from_the_records() -> None:
    """The index of times and sizes, leader epochs and producers stay as small as the log."""

    async def delete() -> None:
        broker = Broker()
        state = broker.served.partition.state
        for _ in range(20):
            fill(broker, 30, value_bytes=100_000)
            deletion = asyncio.create_task(broker.log.delete_before(broker.log.end_offset - 1))
            await asyncio.sleep(0)
            broker.served.meta.confirm()
            await deletion
        assert state.size_bytes < 2_200_000  # a segment, and the last record
        assert len(state.times.entries) < 5
        assert len(state.producers) == 0

    run(delete())


def test_only_what_this_broker_leads_has_a_log() -> None:
    assert Broker().logs.log(1) is None


def test_a_group_is_where_every_client_looks_for_it() -> None:
    """By the number of partitions as created, not as configured."""
    broker = Broker()
    assert broker.logs.partition_count == 3
    assert broker.logs.partition_for("g") == partition_for_key("g", 3)
    assert Broker(topic=False).logs.partition_count == 7


def test_the_coordinator_is_the_leader_of_the_groups_partition() -> None:
    assert Broker().logs.coordinator_node(CLIENT, "g") == (2, "two", 9093)
    assert Broker(topic=False).logs.coordinator_node(CLIENT, "g") is None


def test_a_broker_whose_lease_is_not_certain_does_not_name_itself() -> None:
    broker = Broker()
    broker.client.has_lease = False
    assert broker.logs.coordinator_node(CLIENT, "g") == (2, "two", 9093)
    mine = Broker(leader=1)
    assert mine.logs.coordinator_node(CLIENT, "g") == (1, "10.0.0.1", 9092)
    mine.client.has_lease = False
    assert mine.logs.coordinator_node(CLIENT, "g") is None
    assert not mine.logs.is_lease_valid()


def test_the_topic_is_created_when_it_is_needed() -> None:
    broker = Broker(topic=False)
    run(broker.logs.ensure_topic())
    run(broker.logs.ensure_topic())
    assert len(broker.client.calls) == 1
    failing = Broker(topic=False)
    failing.client.answers[OFFSETS_TOPIC] = (ErrorCode.REQUEST_TIMED_OUT, "no controller")
    with pytest.raises(KafkaError) as refusal:
        run(failing.logs.ensure_topic())
    assert refusal.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE


class Runtime:
    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.calls: list[tuple[Any, ...]] = []

    def on_election(self, partition: int) -> None:
        self.calls.append(("election", partition))

    def on_resignation(self, partition: int) -> None:
        self.calls.append(("resignation", partition))

    def on_new_image(self, deleted: Any) -> None:
        self.calls.append(("image", sorted(map(tuple, deleted))))


def elections() -> tuple[Runtime, Runtime, CoordinatorElections]:
    groups, counters = Runtime(OFFSETS_TOPIC), Runtime("counters")
    return groups, counters, CoordinatorElections([groups, counters])  # type: ignore[list-item]


def test_a_runtime_hears_of_the_partitions_of_its_own_topic_alone() -> None:
    groups, counters, told = elections()
    for topic, index in ((OFFSETS_TOPIC, 4), ("t", 5), ("counters", 6)):
        partition: Any = SimpleNamespace(topic=topic, index=index, leader_epoch=1)
        told.opened(partition)
        told.closed(partition)
    assert groups.calls == [("election", 4), ("resignation", 4)]
    assert counters.calls == [("election", 6), ("resignation", 6)]


def test_every_runtime_hears_of_deleted_topics_also_when_the_name_is_taken_again() -> None:
    groups, counters, told = elections()
    client = FakeClient(*topic_records("a", 1), *topic_records("b", 2), *topic_records("c", 3))
    client.subscribe(told.image_changed)
    client.apply(*topic_records("d", 4))
    client.apply(*broker_records(9))  # no topic changes
    removals = [RemoveTopicRecord(topic_id(number)) for number in (1, 2)]
    client.apply(*removals, *topic_records("b", 5))
    deleted = [("a", topic_id(1)), ("b", topic_id(2))]
    assert groups.calls == counters.calls == [("image", []), ("image", deleted)]
