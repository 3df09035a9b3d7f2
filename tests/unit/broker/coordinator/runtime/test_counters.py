"""The runtime knows no kind of shard: it drives counters, in a topic of their own, as it drives groups.

Under it are the logs of real partitions, whose appends are confirmed when the test lets them.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest

from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.cluster.topic_creation import TopicCreation
from headrace.broker.coordinator.runtime import batching, rewriting
from headrace.broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
from headrace.broker.coordinator.runtime.driver import MAX_DELETED_TOPICS, ShardDriver, ShardState
from headrace.broker.coordinator.runtime.partitioning import partition_for_key
from headrace.broker.coordinator.runtime.shard import NO_PRODUCER_EPOCH, ShardEvent
from headrace.broker.coordinator.runtime.topic_logs import CoordinatorElections, TopicLogs
from headrace.config.node import LogConfig, NetworkConfig
from headrace.metadata.follower.client import NewTopic
from headrace.metadata.records.topics import RemoveTopicRecord
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.records.batch import NO_PRODUCER_ID, split_batches
from headrace.protocol.records.control import Marker
from headrace.protocol.records.record import BatchOptions, Record, decode_records, encode_batch
from headrace.storage.errors import EngineFailedError
from tests.unit.broker.cluster_scene import (
    NOW_MS,
    FakeClient,
    FakeRegistry,
    broker_records,
    topic_id,
    topic_records,
)
from tests.unit.broker.coordinator.runtime.counters import (
    IDLE_MS,
    TOPIC,
    Count,
    Counters,
    Reached,
    counter_kind,
)
from tests.unit.broker.coordinator.virtual_time import run, settle

A: Final = next(f"{it}" for it in itertools.count() if partition_for_key(f"{it}", 2) == 0)
B: Final = next(f"{it}" for it in itertools.count() if partition_for_key(f"{it}", 2) == 1)


class Engine:
    """Has room."""

    def admits(self, body_bytes: int) -> bool:
        return bool(body_bytes)

    async def admission(self, body_bytes: int) -> None:
        assert body_bytes


class Scene:
    """A broker that leads both partitions of the counters' topic."""

    def __init__(self, *, created: bool = True) -> None:
        topics = [("counters", 1), ("t", 2), ("u", 3)] if created else []
        self.client = FakeClient(*broker_records(1))
        for name, number in topics:
            self.client.apply(*topic_records(name, number, 2))
        self.registry = FakeRegistry(self.client)
        self.shards: list[Counters] = []
        self.events: list[ShardEvent] = []
        self.is_held = False
        client: Any = self.client
        registry: Any = self.registry
        self.logs = TopicLogs(
            TOPIC,
            client=client,
            partitions=registry,
            creation=TopicCreation(client, registry, log=LogConfig(), internal=[TOPIC]),
            engine=Engine(),  # type: ignore[arg-type]
            cluster=ClusterView(lambda: self.client.image, 1, NetworkConfig()),
            wall_clock_ms=lambda: NOW_MS,
        )
        self.runtime = CoordinatorRuntime(
            counter_kind(self.shards, self.events),
            self.logs,
            wall_clock_ms=lambda: NOW_MS,
        )
        self.elections = CoordinatorElections([self.runtime])
        self.client.subscribe(self.elections.image_changed)
        options = {"leader_epoch": 5, "overrides": dict(TOPIC.configs)}
        self.served = [self.registry.serve(TOPIC.name, 1, it, **options) for it in range(2)]

    async def confirm(self) -> None:
        """Confirm what is appended, unless it is held up."""
        for _ in range(60_000):  # a minute: a test that waits for longer hangs, and fails
            for served in [] if self.is_held else self.served:
                served.data.confirm()
                served.meta.confirm()
            await asyncio.sleep(0.001)

    async def elect(self) -> None:
        """The broker leads the first partition, anew if it does already."""
        self.elections.closed(self.served[0].partition)
        self.elections.opened(self.served[0].partition)
        await settle()

    @property
    def shard(self) -> Counters:
        """The one that serves the first partition."""
        return self.driver._shard

    @property
    def driver(self) -> ShardDriver[Counters, Count]:
        return self.runtime.driver(A)

    async def add(self, count: int = 1, name: str = A) -> int:
        submitted = self.runtime.driver(name).submit_write(
            lambda shard, now: shard.add(name, count, now)
        )
        return await submitted.wait()

    async def set_all(self, values: Mapping[str, int]) -> None:
        submitted = self.driver.submit_write(lambda shard, now: shard.set_all(values, now))
        await submitted.wait()

    async def wait_for(self, value: int, name: str = A) -> Reached:
        wanted = Reached(name, value)
        return await self.driver.park(
            lambda shard, token, now: shard.wait(token, wanted, now), Reached
        )

    def batches(self, partition: int = 0) -> list[list[str]]:
        """The names in each batch of a log."""
        return [
            [(record.key or b"").decode() for record in decode_records(view, 1 << 30)]
            for batch in self.served[partition].data.batches
            for _, view in split_batches(batch.payload)
        ]


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    it = Scene()
    for served in it.served:
        it.elections.opened(served.partition)
    tasks = [asyncio.create_task(it.runtime.run()), asyncio.create_task(it.confirm())]
    await settle()
    try:
        yield it
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def expect(code: ErrorCode, waiting: asyncio.Task) -> None:
    with pytest.raises(KafkaError) as caught:
        await waiting
    assert caught.value.code is code


# Records


def test_a_new_leader_replays_what_was_decided_on() -> None:
    async def test() -> None:
        async with scene() as s:
            assert (await s.add(2), await s.add(3), await s.add(1, B)) == (2, 5, 1)
            await s.set_all({A: 7, "x": 8})
            decided = s.shard
            await s.elect()
            assert decided.is_unloaded
            assert s.shard is not decided
            assert s.shard.values == {A: 7, "x": 8}
            assert [(it.offset, it.record) for it in s.shard.replayed] == [
                (position, Count(name, value))
                for position, (name, value) in enumerate(
                    [(A, 1), (A, 2), (A, 3), (A, 4), (A, 5), (A, 7), ("x", 8)]
                )
            ]
            assert {(it.producer_id, it.producer_epoch) for it in s.shard.replayed} == {
                (NO_PRODUCER_ID, NO_PRODUCER_EPOCH)
            }

    run(test)


def test_a_log_with_something_else_in_it_is_not_served() -> None:
    async def test() -> None:
        async with scene() as s:
            s.served[0].append(Record(0, NOW_MS, A.encode(), b"no number"))
            await asyncio.sleep(1)
            await s.elect()
            with pytest.raises(KafkaError) as refused:
                await s.add()
            assert refused.value.code is ErrorCode.NOT_COORDINATOR
            assert s.driver.state is ShardState.FAILED
            assert await s.add(name=B) == 1  # the other partition is

    run(test)


def test_a_log_is_kept_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "MIN_LOG_BYTES", 2_000)

    async def test() -> None:
        async with scene() as s:
            for _ in range(50):
                await s.add()
            await asyncio.sleep(1)
            assert s.served[0].data.trimming_to > 20
            assert s.runtime.statistics.rewrites_total >= 1
            await s.elect()
            assert s.shard.values == {A: 50}
            assert len(s.shard.replayed) < 30

    run(test)


# Decisions


@pytest.mark.parametrize("is_held", [False, True])
def test_the_records_of_an_atomic_decision_are_in_one_batch(
    monkeypatch: pytest.MonkeyPatch, *, is_held: bool
) -> None:
    """Also where the batch that is being filled has room for some of them; others are spread."""
    monkeypatch.setattr(batching, "MAX_BATCH_BYTES", 600)  # of eleven records
    names = [f"name-{number}" for number in range(8)]

    async def test() -> None:
        async with scene() as s:
            s.is_held = is_held
            first = asyncio.create_task(s.add(1))
            await settle()
            spread = asyncio.create_task(s.add(17))
            await settle()
            together = asyncio.create_task(s.set_all(dict.fromkeys(names, 1)))
            await settle()
            assert together.done() is False
            s.is_held = False
            await asyncio.gather(first, spread, together)
            (batch,) = [batch for batch in s.batches() if batch[-1] in names]
            assert batch == names
            assert len(s.batches()) >= 4
            decided = [it for it in s.shard.replayed if it.record.name in names]
            await s.elect()
            loaded = [it for it in s.shard.replayed if it.record.name in names]
            assert loaded == decided  # at the same offsets

    run(test)


def test_an_atomic_decision_may_have_more_records_than_batches_have_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batching, "MAX_BATCH_RECORDS", 4)

    async def test() -> None:
        async with scene() as s:
            await asyncio.gather(s.add(6), s.set_all({f"n{it}": 1 for it in range(9)}))
            assert list(map(len, s.batches())) == [4, 2, 9]

    run(test)


def test_an_atomic_decision_that_is_too_large_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batching, "MAX_BATCH_BYTES", 600)

    async def test() -> None:
        async with scene() as s:
            await s.add(1)
            parked = asyncio.create_task(s.wait_for(2))
            await settle()
            shard = s.shard
            with pytest.raises(KafkaError) as refused:
                await s.set_all({f"name-{number}": 1 for number in range(20)})
            assert refused.value.code is ErrorCode.MESSAGE_TOO_LARGE
            assert s.shard is shard  # nor is it loaded again
            assert shard.values == {A: 1}
            assert s.batches() == [[A]]
            assert await s.add(1) == 2
            assert await parked == (A, 2)

    run(test)


def test_a_decision_that_was_refused_as_too_large_leaves_no_gap_in_the_offsets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batching, "MAX_BATCH_BYTES", 600)

    async def test() -> None:
        async with scene() as s:
            with pytest.raises(KafkaError):
                await s.set_all({f"name-{number}": 1 for number in range(20)})
            await s.set_all({A: 4})
            assert [it.offset for it in s.shard.replayed] == [0]

    run(test)


# Answers


def test_a_parked_request_is_answered_when_what_it_waited_for_is_durable() -> None:
    async def test() -> None:
        async with scene() as s:
            early, late = (asyncio.create_task(s.wait_for(value)) for value in (2, 4))
            await s.add(1)
            assert not early.done()
            s.is_held = True
            adding = asyncio.create_task(s.add(1))
            await asyncio.sleep(1)
            assert not early.done()
            s.is_held = False
            assert await early == (A, 2)
            assert await adding == 2
            assert not late.done()
            await s.add(2)
            assert await late == (A, 4)

    run(test)


def test_an_answer_of_another_type_is_refused() -> None:
    async def test() -> None:
        async with scene() as s:
            waiting = s.driver.park(
                lambda shard, token, now: shard.wait(token, Reached(A, 1), now), str
            )
            task = asyncio.create_task(waiting)
            await settle()
            await s.add()
            with pytest.raises(TypeError):
                await task

    run(test)


def test_who_is_parked_is_sent_away_when_the_shard_is_unloaded() -> None:
    """Also who would have been answered by a decision that is not durable yet."""

    async def test() -> None:
        async with scene() as s:
            parked, answered = (asyncio.create_task(s.wait_for(value)) for value in (9, 1))
            await settle()
            s.is_held = True
            adding = asyncio.create_task(s.add())
            await settle()
            s.elections.closed(s.served[0].partition)
            for waiting in (parked, answered, adding):
                await expect(ErrorCode.NOT_COORDINATOR, waiting)
            assert [it.is_unloaded for it in s.shards if it.values] == [True]

    run(test)


def test_who_is_parked_is_sent_away_when_an_append_fails() -> None:
    async def test() -> None:
        async with scene() as s:
            before = s.shard
            parked = asyncio.create_task(s.wait_for(9))
            s.is_held = True
            adding = asyncio.create_task(s.add())
            await settle()
            s.served[0].data.fail(EngineFailedError("device"))
            for waiting in (parked, adding):
                await expect(ErrorCode.NOT_COORDINATOR, waiting)
            assert before.is_unloaded
            await settle()
            assert s.shard is not before

    run(test)


# Time


def test_deadlines_are_kept_without_requests_and_over_a_load() -> None:
    async def test() -> None:
        async with scene() as s:
            await s.add()
            await asyncio.sleep(IDLE_MS / 2_000)
            await s.elect()  # begins to count anew
            await asyncio.sleep(0.9 * IDLE_MS / 1_000)
            assert s.shard.values == {A: 1}
            await asyncio.sleep(0.2 * IDLE_MS / 1_000)
            assert s.shard.values == {}
            assert s.events == [(A, "idle")]
            await s.elect()
            assert s.shard.values == {}

    run(test)


# Metadata


def test_a_shard_begins_with_the_image_of_then_and_hears_of_each_change_of_topics() -> None:
    async def test() -> None:
        async with scene() as s:
            assert s.shard.images == [s.client.image]
            s.client.apply(*topic_records("new", 9))
            await settle()
            assert s.shard.images[1:] == [s.client.image]
            s.client.apply(*broker_records(7))  # no topic
            await settle()
            assert len(s.shard.images) == 2

    run(test)


@pytest.mark.parametrize("is_loading", [False, True])
def test_deleted_topics_are_given_until_the_shard_is_done_with_them(*, is_loading: bool) -> None:
    async def test() -> None:
        async with scene() as s:
            await s.set_all({"t": 1, "u": 2, A: 3})
            if is_loading:
                s.elections.closed(s.served[0].partition)
                s.elections.opened(s.served[0].partition)
            s.client.apply(RemoveTopicRecord(topic_id(2)), RemoveTopicRecord(topic_id(3)))
            await asyncio.sleep(1)
            assert s.shard.values == {A: 3}
            assert s.shard.images[1:] == [s.client.image] * 2  # one topic at a time
            assert s.batches()[-2:] in ([["t"], ["u"]], [["u"], ["t"]])

    run(test)


def test_very_many_deleted_topics_are_given_some_at_once() -> None:
    async def test() -> None:
        async with scene() as s:
            numbers = range(100, 400)
            s.client.apply(*(it for n in numbers for it in topic_records(f"t{n}", n)))
            await settle()
            before = len(s.shard.images)
            s.client.apply(*(RemoveTopicRecord(topic_id(n)) for n in numbers))
            await asyncio.sleep(1)
            assert len(s.shard.images) - before >= len(numbers)  # one topic at a time
            assert s.shard.most_deleted == MAX_DELETED_TOPICS

    run(test)


def test_deleted_topics_are_given_again_to_the_shard_that_follows_one_that_failed() -> None:
    async def test() -> None:
        async with scene() as s:
            await s.set_all({"t": 1, "u": 2})
            s.is_held = True
            s.client.apply(RemoveTopicRecord(topic_id(2)), RemoveTopicRecord(topic_id(3)))
            await settle()
            s.served[0].data.fail(EngineFailedError("device"))
            s.is_held = False
            await asyncio.sleep(1)
            assert len(s.shards) > 3
            # The first removal is in the log or not, as its append failed; the other one is done.
            assert set(s.shard.values) <= {"t", "u"}
            assert len(s.shard.values) <= 1

    run(test)


# Transactions


@pytest.mark.parametrize("marker", list(Marker))
def test_records_of_a_transaction_count_from_its_end_on(marker: Marker) -> None:
    def transactional(key: bytes, value: bytes, base_offset: int, **options: Any) -> bytearray:
        return encode_batch(
            [Record(base_offset, NOW_MS, key, value)],
            BatchOptions(
                is_transactional=True,
                producer_id=4,
                producer_epoch=2,
                base_offset=base_offset,
                last_offset=base_offset,
                **options,
            ),
        )

    async def test() -> None:
        async with scene() as s:
            await s.add()
            data = s.served[0].data
            # What this broker's partitions do not take yet, as another one's log would hold it.
            ended = b"\0\0" + int(marker).to_bytes(2)
            for payload in (
                transactional(A.encode(), (9).to_bytes(8), 1),
                transactional(ended, b"\0\0\0\0\0\7", 2, is_control=True),
            ):
                data.append(payload, 1, lambda _error: None)
            data.confirm()
            await s.elect()
            assert s.shard.replayed[-1] == (1, 4, 2, Count(A, 9))
            assert s.shard.values == {A: 9 if marker is Marker.COMMIT else 1}

    run(test)


# The topic


def test_the_topic_is_created_as_the_kind_says() -> None:
    s: Scene

    async def test() -> None:
        nonlocal s
        s = Scene(created=False)
        await s.logs.ensure_topic()

    run(test)
    assert s.client.calls == [("create_topics", [NewTopic("counters", 2, TOPIC.configs)], False)]
    assert s.logs.partition_for(A) == 0
