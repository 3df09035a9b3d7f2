"""Moves of partitions from and to one broker: uploads, the freeze, and what ends it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from headrace.broker.partition.append_rules import AppendOrigin, Rejection
from headrace.broker.partition.moving import (
    MAX_FREEZE_MS,
    MAX_LEAVE_MS,
    MAX_UPLOADS,
    PartitionMoves,
)
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.partition.state import PartitionState
from headrace.broker.partition.transit import MAX_WAIT_MS
from headrace.broker.partition.write_side import Accepted
from headrace.config.topic import EffectiveTopicConfig
from headrace.metadata.errors import ControllerUnavailableError, NodeFencedError, RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.moves import MOVES_AT_ONCE
from headrace.metadata.levels import METADATA_FEATURE, MOVES_LEVEL
from headrace.metadata.records.brokers import FenceBrokerRecord, FenceReason
from headrace.metadata.records.cluster import FeatureRecord
from headrace.metadata.records.logs import LogMedium, LogRecord
from headrace.metadata.records.topics import (
    PartitionChangeRecord,
    PartitionMoveEndedRecord,
    PartitionMoveRecord,
    RemoveTopicRecord,
)
from headrace.metadata.replay import replay
from headrace.metadata.rpc.requests import FinishMove
from headrace.metadata.rpc.responses import MoveFinished
from headrace.metadata.snapshot import image_to_records
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.errors import BackPressureError, FencedError, RetriableStorageError
from tests.simulation.virtual_time import run
from tests.unit.broker.cluster_scene import (
    NODE_ID,
    NOW_MS,
    FakeClient,
    MetadataRecord,
    applied,
    broker_records,
    topic_id,
    topic_records,
)
from tests.unit.broker.partition.fakes import FakeEngine, FakeStream, call_at_once

TARGET = 2
KEY = (topic_id(1), 0)


class DurableStream(FakeStream):
    """What is appended is acknowledged in the next turn."""

    def append(self, payload: Any, count: int, on_ack: Any) -> int:
        base_offset = super().append(payload, count, on_ack)
        asyncio.get_running_loop().call_soon(self.confirm)
        return base_offset


class Leaving:
    """Uploads take as long as the test says, and fail as often."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, ...]] = []
        self.ended: list[tuple[int, ...]] = []
        self.uploads = 0
        self.took_s = 0.0
        self.times_s: list[float] = []  # that are taken first
        self.errors: list[Exception] = []

    def begin(self, stream_ids: tuple[int, ...]) -> None:
        self.begun.append(stream_ids)

    def end(self, stream_ids: tuple[int, ...]) -> None:
        self.ended.append(stream_ids)

    async def upload(self, stream_ids: tuple[int, ...]) -> None:
        assert stream_ids in self.begun
        self.uploads += 1
        await asyncio.sleep(self.times_s.pop(0) if self.times_s else self.took_s)
        if self.errors:
            raise self.errors.pop()


class Client(FakeClient):
    """Carries out what finishes a move, unless the test has answers of its own."""

    node_id = NODE_ID
    node_epoch = NODE_ID

    def __init__(self) -> None:
        super().__init__(*broker_records(), *broker_records(TARGET))
        self.asked: list[FinishMove] = []
        self.answers: list[Exception | MoveFinished | None] = []  # type: ignore[assignment]

    async def change(self, request: FinishMove, answered: type) -> Any:
        assert answered is MoveFinished
        self.asked.append(request)
        await asyncio.sleep(0.01)
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        if answer is not None:
            return answer
        key, epoch = (request.topic_id, request.partition), request.leader_epoch
        self.apply(PartitionChangeRecord(*key, TARGET, epoch + 1))
        return MoveFinished(None)

    def take_snapshot_over(self) -> None:
        """The image is made anew from a snapshot of what it says."""
        old, records = self.image, list(image_to_records(self.image))
        empty = MetadataImage(cluster_id=old.cluster_id)
        self.image = replay(empty, records, index=old.index + 1, term=1)
        for listener in self.listeners:
            listener(old, self.image)

    def apply_at_once(self, *entries: MetadataRecord) -> None:
        """Several entries, of one record each, in one batch."""
        old = self.image
        for entry in entries:
            self.image = applied(self.image, entry)
        for listener in self.listeners:
            listener(old, self.image)

    def begin_move(self, number: int = 1, target: int = TARGET, index: int = 0) -> None:
        epoch = self.image.index + 1
        self.apply(PartitionMoveRecord(topic_id(number), index, epoch, target))

    def take_back(self, number: int = 1) -> None:
        move = self.image.moves[topic_id(number), 0]
        self.apply(PartitionMoveEndedRecord(move.topic_id, move.partition, move.epoch))


class Broker:
    """Leads partition 0 of topic 1."""

    def __init__(self, partitions: int = 1) -> None:
        self.client = Client()
        self.leaving = Leaving()
        self.storage = FakeEngine()
        self.registry = PartitionRegistry(client=self.client, node_id=NODE_ID)  # type: ignore[arg-type]
        engine: Any = SimpleNamespace(leaving=self.leaving)
        self.moves = PartitionMoves(
            client=self.client,  # type: ignore[arg-type]
            engine=engine,
            registry=self.registry,
            node_id=NODE_ID,
        )
        self.client.apply(*topic_records("t", 1, partitions))
        self.partition = self.serve(0)
        self.data, self.meta = self.partition._data, self.partition._meta

    def serve(self, index: int) -> Partition:
        partition = Partition(
            topic="t",
            topic_id=topic_id(1),
            index=index,
            leader_epoch=0,
            engine=self.storage,  # type: ignore[arg-type]
            data=DurableStream(2 * index),  # type: ignore[arg-type]
            meta=DurableStream(2 * index + 1),  # type: ignore[arg-type]
            state=PartitionState(producer_id_expiration_ms=1_000_000),
            config=EffectiveTopicConfig.resolve({}, {}),
            checkpoint_interval_bytes=1 << 30,
            wake=call_at_once,
        )
        self.registry.add(partition)
        return partition

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.moves.run())
        await asyncio.sleep(0)
        try:
            yield
            assert not task.done(), task
        finally:
            task.cancel()
            await asyncio.wait([task])

    def append(self) -> Accepted | Rejection:
        batch = memoryview(bytearray(encode_batch([Record(0, NOW_MS, None, b"v")], BatchOptions())))
        return self.partition.writes.append(
            batch, origin=AppendOrigin.CLIENT, now_ms=NOW_MS, on_done=lambda _: None
        )

    @contextmanager
    def noted_freezes(self) -> Iterator[list[bool]]:
        """Note each time that the partition is frozen or thawed."""
        noted: list[bool] = []
        set_frozen = self.partition.set_frozen

        def note(*, frozen: bool) -> None:
            noted.append(frozen)
            set_frozen(frozen=frozen)

        with patch.object(self.partition, "set_frozen", note):
            yield noted

    @property
    def is_served(self) -> bool:
        return self.registry.get(KEY) is self.partition

    async def frozen(self) -> None:
        async with asyncio.timeout(30):  # of virtual time
            while not self.partition.is_frozen:
                await asyncio.sleep(0.001)


def test_a_partition_is_uploaded_checkpointed_and_handed_over() -> None:
    async def main() -> None:
        broker = Broker()
        async with broker.running():
            assert isinstance(broker.append(), Accepted)
            await asyncio.sleep(1)
            broker.client.begin_move()
            await asyncio.sleep(1)
            (request,) = broker.client.asked
            ends = {it.stream_id: it.end_offset for it in request.streams}
            assert ends == {0: 1, 1: 1}  # a checkpoint has been written
            assert broker.leaving.uploads == 2  # while it was served, and frozen
            assert broker.leaving.begun == broker.leaving.ended == [(0, 1)]
            assert not broker.is_served
            assert broker.moves.statistics.moved_total == 1
            streams: list[Any] = [broker.data, broker.meta]
            assert [it.abandoned for it in streams] == [True, True]

    run(main())


def test_a_partition_is_let_go_with_the_entry_that_names_the_new_leader() -> None:
    """In the same step: nobody reads from it, and nobody who waits for it waits longer."""

    async def main() -> None:
        broker = Broker()
        broker.client.answers = [ControllerUnavailableError("lost")] * 1_000
        async with broker.running():
            broker.client.begin_move()
            await broker.frozen()
            waits = asyncio.create_task(broker.registry.transit.settled([KEY]))
            await asyncio.sleep(0.1)
            broker.client.apply(PartitionChangeRecord(topic_id(1), 0, TARGET, 1))
            assert not broker.is_served
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert waits.done()

    run(main())


def test_a_partition_that_has_left_and_come_back_at_once_is_opened_again() -> None:
    """Its streams were closed between: what was open before serves nothing any more."""

    async def main() -> None:
        broker = Broker()
        broker.client.answers = [ControllerUnavailableError("lost")] * 1_000
        async with broker.running():
            broker.client.begin_move()
            await broker.frozen()
            broker.client.apply_at_once(
                PartitionChangeRecord(*KEY, TARGET, 1), PartitionChangeRecord(*KEY, NODE_ID, 2)
            )
            assert not broker.is_served
            assert KEY not in broker.registry.transit
            assert isinstance(broker.append(), Rejection)
            streams: list[Any] = [broker.data, broker.meta]
            assert [it.abandoned for it in streams] == [True, True]
            await asyncio.sleep(1)
            assert broker.moves.statistics.moved_total == 1
            assert broker.moves.statistics.taken_back_total == 0

    run(main())


def test_appends_wait_while_a_partition_is_frozen() -> None:
    async def main() -> None:
        broker = Broker()
        broker.client.answers = [ControllerUnavailableError("lost")] * 1_000
        async with broker.running():
            broker.client.begin_move()
            await broker.frozen()
            refused = broker.append()
            assert isinstance(refused, Rejection)
            assert refused.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
            assert KEY in broker.registry.transit
            broker.data.start_offset = -1  # so that there is something to delete
            with pytest.raises(BackPressureError, match="moving"):
                await broker.partition.writes.delete_before(0)
            begun_s = asyncio.get_running_loop().time()
            await broker.registry.transit.settled([KEY])
            assert asyncio.get_running_loop().time() - begun_s == MAX_WAIT_MS / 1000
            assert broker.is_served

    run(main())


@pytest.mark.parametrize(
    "error",
    [
        ControllerUnavailableError("nobody answers"),
        RefusedError(ErrorCode.THROTTLING_QUOTA_EXCEEDED, "too many"),
        RefusedError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "taken back"),
        MoveFinished("broker 2 is not active"),
    ],
    ids=str,
)
def test_without_an_answer_it_stays_frozen_until_the_metadata_tell(error: Any) -> None:
    """An answer of no alone is none: the same request may be on its way a second time."""

    async def main() -> None:
        broker = Broker()
        broker.client.answers = [error] * 1_000
        async with broker.running():
            broker.client.begin_move()
            await broker.frozen()
            with broker.noted_freezes() as noted:
                await asyncio.sleep(3 * MAX_FREEZE_MS / 1000)
            assert noted == []  # also not for a moment, until the next attempt
            assert isinstance(broker.append(), Rejection)
            asked = len(broker.client.asked)
            broker.client.take_back()
            assert isinstance(broker.append(), Accepted)
            assert KEY not in broker.registry.transit
            await asyncio.sleep(5)
            assert len(broker.client.asked) <= asked + 1
            assert broker.is_served
            assert broker.moves.statistics.taken_back_total == 1

    run(main())


def test_a_snapshot_that_tells_of_the_same_move_ends_no_freeze() -> None:
    """A request that is on its way would close the streams before what is acknowledged after it."""

    async def main() -> None:
        broker = Broker()
        broker.client.answers = [ControllerUnavailableError("lost")] * 1_000
        async with broker.running():
            broker.client.begin_move()
            await broker.frozen()
            await asyncio.sleep(0.1)
            assert broker.client.asked
            broker.client.take_snapshot_over()
            assert broker.partition.is_frozen
            assert isinstance(broker.append(), Rejection)
            broker.client.take_back()
            assert isinstance(broker.append(), Accepted)

    run(main())


def test_uploads_that_take_too_long_end_the_freeze_and_are_tried_again() -> None:
    async def main() -> None:
        broker = Broker()
        broker.leaving.times_s = [0.1, 2 * MAX_FREEZE_MS / 1000]
        async with broker.running():
            broker.client.begin_move()
            await broker.frozen()
            await asyncio.sleep(MAX_FREEZE_MS / 1000 + 0.01)
            assert not broker.partition.is_frozen
            assert broker.client.asked == []
            assert isinstance(broker.append(), Accepted)
            broker.leaving.took_s = 0
            await asyncio.sleep(60)
            assert not broker.is_served

    run(main())


def test_a_partition_whose_remainder_would_take_too_long_is_never_frozen() -> None:
    async def main() -> None:
        broker = Broker()
        broker.leaving.took_s = MAX_FREEZE_MS / 1000 + 0.5
        async with broker.running():
            broker.client.begin_move()
            for _ in range(200):
                await asyncio.sleep(0.1)
                assert isinstance(broker.append(), Accepted)
            broker.leaving.took_s = 1
            await asyncio.sleep(10)
            assert not broker.is_served

    run(main())


def test_an_upload_that_fails_is_tried_again_and_the_partition_served_meanwhile() -> None:
    async def main() -> None:
        broker = Broker()
        broker.leaving.errors = [RetriableStorageError("503")] * 3
        async with broker.running():
            broker.client.begin_move()
            await asyncio.sleep(0.1)
            assert broker.is_served
            assert isinstance(broker.append(), Accepted)
            await asyncio.sleep(5)
            assert not broker.is_served

    run(main())


@pytest.mark.parametrize("error", [FencedError("replaced"), NodeFencedError("replaced")], ids=str)
def test_who_is_fenced_begins_nothing_more(error: Exception) -> None:
    async def main() -> None:
        broker = Broker(partitions=2)
        broker.serve(1)
        broker.leaving.errors = [error] * 10
        async with broker.running():
            broker.client.begin_move()
            await asyncio.sleep(1)
            broker.client.begin_move(index=1)
            await asyncio.sleep(1)
            assert broker.leaving.uploads == 1
            assert broker.client.asked == []

    run(main())


def test_without_room_for_its_checkpoint_a_partition_is_served_again() -> None:
    """Else the next leader would read all of its log before it serves."""

    async def main() -> None:
        broker = Broker()
        async with broker.running():
            assert isinstance(broker.append(), Accepted)
            await asyncio.sleep(1)
            broker.storage.has_room = False
            broker.client.begin_move()
            await asyncio.sleep(1)
            assert broker.client.asked == []
            assert not broker.partition.is_frozen
            broker.storage.has_room = True
            await asyncio.sleep(1)
            assert not broker.is_served
            assert [it.end_offset for it in broker.client.asked[0].streams] == [1, 1]

    run(main())


@pytest.mark.parametrize(
    ("times_s", "uploads"),
    [([8, 4, 2, 1, 0.5, 0.3], MAX_UPLOADS), ([1, 1, 1], 2), ([4, 0.1], 2), ([1, 1.5], 2)],
    ids=str,
)
def test_large_partitions_are_uploaded_while_they_are_served(
    times_s: list[float], uploads: int
) -> None:
    """Until little is left, or as much as before; not for ever."""

    async def main() -> None:
        broker = Broker()
        broker.leaving.times_s = times_s
        broker.leaving.took_s = 1
        async with broker.running():
            broker.client.begin_move()
            await broker.frozen()
            assert broker.leaving.uploads == uploads + 1  # the last one is of the remainder

    run(main())


def test_a_move_that_is_taken_back_during_its_uploads_freezes_nothing() -> None:
    """Its end was told before the freeze, which nothing would end any more."""

    async def main() -> None:
        broker = Broker()
        broker.leaving.took_s = 1.0
        async with broker.running():
            broker.client.begin_move()
            await asyncio.sleep(0.5)
            broker.client.take_back()
            with broker.noted_freezes() as noted:
                await asyncio.sleep(5)
            assert noted == []
            assert broker.client.asked == []
            assert isinstance(broker.append(), Accepted)

    run(main())


def test_a_move_that_replaces_another_begins_once_that_has_ended() -> None:
    async def main() -> None:
        broker = Broker()
        broker.leaving.took_s = 1.0
        async with broker.running():
            broker.client.begin_move()
            await asyncio.sleep(0.5)
            broker.client.begin_move(target=3)
            newest = broker.client.image.moves[KEY]
            await asyncio.sleep(0.1)
            assert len(broker.leaving.begun) == 1
            await broker.frozen()
            assert len(broker.leaving.begun) == len(broker.leaving.ended) + 1 == 2
            await asyncio.sleep(5)
            assert {it.move_epoch for it in broker.client.asked} == {newest.epoch}

    run(main())


def test_a_partition_that_opens_after_its_move_is_known_moves() -> None:
    async def main() -> None:
        broker = Broker(partitions=2)
        async with broker.running():
            broker.client.begin_move(index=1)
            await asyncio.sleep(1)
            assert broker.client.asked == []
            opened = broker.serve(1)
            await asyncio.sleep(5)
            assert [it.partition for it in broker.client.asked] == [1]
            assert opened not in broker.registry.all()

    run(main())


def test_moves_that_are_known_before_it_runs_are_carried_out() -> None:
    async def main() -> None:
        broker = Broker()
        broker.client.begin_move()
        broker.client.apply(*topic_records("u", 2, leader=TARGET))
        broker.client.begin_move(2, target=NODE_ID)
        async with broker.running():
            assert (topic_id(2), 0) in broker.registry.transit
            await asyncio.sleep(5)
            assert not broker.is_served

    run(main())


def test_only_some_move_at_a_time_the_oldest_first() -> None:
    async def main() -> None:
        count = MOVES_AT_ONCE + 4
        broker = Broker(partitions=count)
        for index in range(1, count):
            broker.serve(index)
        broker.client.answers = [ControllerUnavailableError("lost")] * 100_000
        async with broker.running():
            for index in reversed(range(count)):
                broker.client.begin_move(index=index)
            await asyncio.sleep(1)
            moving = {it.partition for it in broker.client.asked}
            assert moving == set(range(4, count))
            for index in range(4, count):
                broker.client.apply(PartitionChangeRecord(topic_id(1), index, TARGET, 1))
            await asyncio.sleep(1)
            assert {it.partition for it in broker.client.asked} == set(range(count))

    run(main())


def test_a_topic_that_is_deleted_moves_no_more() -> None:
    async def main() -> None:
        broker = Broker()
        broker.client.answers = [RefusedError(ErrorCode.UNKNOWN_TOPIC_ID, "deleted")] * 1_000
        async with broker.running():
            broker.client.begin_move()
            await broker.frozen()
            broker.registry.remove(broker.partition)
            broker.client.apply(RemoveTopicRecord(topic_id(1)))
            asked = len(broker.client.asked)
            await asyncio.sleep(5)
            assert len(broker.client.asked) <= asked + 1

    run(main())


class TestLeaving:
    """A broker that ends waits until its partitions have moved."""

    def broker(self) -> Broker:
        broker = Broker()
        broker.client.apply(FeatureRecord(METADATA_FEATURE, MOVES_LEVEL))
        return broker

    async def waited_s(self, broker: Broker) -> float:
        clock = asyncio.get_running_loop().time
        begun_s = clock()
        await broker.moves.emptied()
        return clock() - begun_s

    def test_it_waits_until_it_leads_nothing(self) -> None:
        async def main() -> None:
            broker = self.broker()
            asyncio.get_running_loop().call_later(5, broker.registry.remove, broker.partition)
            assert 4.9 < await self.waited_s(broker) < 5.1

        run(main())

    def test_not_longer_than_told_though_the_loop_lags(self) -> None:
        async def main() -> None:
            broker = self.broker()
            loop: Any = asyncio.get_running_loop()

            def lag() -> bool:
                loop._jumping.skipped_s += 0.5
                return True

            broker.client.is_lease_valid = lag  # type: ignore[method-assign]
            assert await self.waited_s(broker) < MAX_LEAVE_MS / 1000 + 1

        run(main())

    @pytest.mark.parametrize("why", ["no lease", "below the level", "the other one is fenced"])
    def test_it_does_not_wait_where_nobody_can_take_them(self, why: str) -> None:
        async def main() -> None:
            broker = Broker() if why == "below the level" else self.broker()
            if why == "below the level":
                broker.client.apply(FeatureRecord(METADATA_FEATURE, MOVES_LEVEL - 1))
            elif why == "no lease":
                broker.client.is_lease_valid = lambda: False  # type: ignore[method-assign]
            else:
                broker.client.apply(FenceBrokerRecord(TARGET, TARGET, FenceReason.SESSION_EXPIRED))
            assert await self.waited_s(broker) == 0

        run(main())

    def test_it_waits_for_nobody_who_ends_as_well(self) -> None:
        async def main() -> None:
            broker = self.broker()
            places = (TARGET, TARGET, "00", LogMedium.BUCKET, ("b/2",), 0)
            broker.client.apply(LogRecord(TARGET, *places))
            assert await self.waited_s(broker) == 0

        run(main())


class TestArriving:
    def test_who_asks_for_a_partition_that_is_coming_waits_until_it_is_open(self) -> None:
        async def main() -> None:
            broker = Broker()
            broker.client.apply(*topic_records("u", 2, leader=TARGET))
            key = (topic_id(2), 0)
            async with broker.running():
                broker.client.begin_move(2, target=NODE_ID)
                assert key in broker.registry.transit
                broker.client.apply(PartitionChangeRecord(*key, NODE_ID, 1))
                assert key in broker.registry.transit
                broker.registry.settle(key, attempted_only=True)
                assert key not in broker.registry.transit

        run(main())

    def test_nobody_waits_for_one_that_does_not_come(self) -> None:
        async def main() -> None:
            broker = Broker()
            broker.client.apply(*topic_records("u", 2, leader=TARGET))
            async with broker.running():
                broker.client.begin_move(2, target=NODE_ID)
                broker.client.take_back(2)
                assert not broker.registry.transit
                broker.client.begin_move(2, target=NODE_ID)
                broker.client.apply(RemoveTopicRecord(topic_id(2)))
                assert not broker.registry.transit

        run(main())
