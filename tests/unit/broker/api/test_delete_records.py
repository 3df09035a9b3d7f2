"""DeleteRecords: from where on a log can be read, what is refused, and how long anybody waits (KIP-107)."""

import asyncio
from typing import Any

import pytest

from headrace.broker.api.delete_records import (
    DELETIONS_AT_ONCE,
    LEADER_MS,
    MAX_TIMEOUT_MS,
    TO_HIGH_WATERMARK,
    DeleteRecordsHandler,
)
from headrace.broker.partition.opening_queue import PartitionKey
from headrace.broker.partition.transit import MAX_WAIT_MS
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import DeleteRecordsRequest
from headrace.protocol.records.record import Record
from headrace.storage.errors import FencedError, ObjectStoreError, StreamClosedError
from tests.unit.broker.cluster_scene import (
    NOW_MS,
    FakeClient,
    FakeRegistry,
    ask_async,
    topic_id,
    topic_records,
)
from tests.unit.broker.coordinator.virtual_time import run, settle

_Topic = DeleteRecordsRequest.DeleteRecordsTopic

NEWEST = 2
RECORDS = 10
Told = tuple[str, int, int, int]  # topic, partition, error code, low watermark


class Broker:
    """Partitions of RECORDS records, whose trims wait while `gate` is closed."""

    def __init__(self) -> None:
        self.registry = FakeRegistry(FakeClient(*topic_records("elsewhere", 9, leader=2)))
        self.handler = DeleteRecordsHandler(self.registry)  # type: ignore[arg-type]
        self.gate = asyncio.Event()
        self.gate.set()
        self.trims: list[tuple[str, int, int]] = []
        self.inflight = self.max_inflight = 0
        self.failures: list[Exception] = []  # of the next trims

    def serve(self, topic: str = "t", index: int = 0, **options: Any) -> Any:
        served = self.registry.serve(topic, index=index, **options)
        for _ in range(RECORDS):
            served.append(Record(0, NOW_MS, b"k", b"v"))
        served.data.confirm()
        trim, write = served.data.trim, served.meta.append

        async def trimmed(offset: int) -> None:
            self.trims.append((topic, index, offset))
            self.inflight += 1
            self.max_inflight = max(self.inflight, self.max_inflight)
            await self.gate.wait()
            await asyncio.sleep(0.001)
            self.inflight -= 1
            if self.failures:
                raise self.failures.pop(0)
            await trim(offset)

        def written(*record: Any) -> int:
            base_offset = write(*record)
            asyncio.get_running_loop().call_soon(served.meta.confirm)
            return base_offset

        served.data.trim, served.meta.append = trimmed, written
        return served

    async def delete(
        self, *wanted: tuple[str, int, int], version: int = NEWEST, timeout_ms: int = 30_000
    ) -> list[Told]:
        """Delete from (topic, partition) up to an offset, each in an entry of its own."""
        request = DeleteRecordsRequest(
            topics=[
                _Topic(
                    name=topic,
                    partitions=[
                        _Topic.DeleteRecordsPartition(partition_index=index, offset=offset)
                    ],
                )
                for topic, index, offset in wanted
            ],
            timeout_ms=timeout_ms,
        )
        told = await ask_async(self.handler, version, request)
        return [
            (topic.name, it.partition_index, it.error_code, it.low_watermark)
            for topic in told.topics
            for it in topic.partitions
        ]


def freeze(broker: Broker, index: int) -> Any:
    """Serve a partition that is about to leave."""
    served = broker.serve("t", index)
    served.partition.set_frozen(frozen=True)
    broker.registry.transit.hold(frozen_key(served))
    return served


def frozen_key(served: Any) -> PartitionKey:
    return served.partition.topic_id, served.partition.index


def now_s() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.parametrize("version", range(NEWEST + 1))
def test_the_log_begins_where_it_was_told_to(version: int) -> None:
    async def test() -> None:
        broker = Broker()
        served = broker.serve()
        assert await broker.delete(("t", 0, 4), version=version) == [("t", 0, 0, 4)]
        assert served.partition.log_start_offset == 4
        assert served.partition.high_watermark == RECORDS

    run(test)


@pytest.mark.parametrize(
    ("offset", "code", "low_watermark"),
    [
        (0, 0, 3),  # nothing happens below the log start
        (3, 0, 3),
        (RECORDS, 0, RECORDS),
        (TO_HIGH_WATERMARK, 0, RECORDS),
        (RECORDS + 1, ErrorCode.OFFSET_OUT_OF_RANGE, -1),  # not acknowledged yet
        (RECORDS + 9, ErrorCode.OFFSET_OUT_OF_RANGE, -1),
        (-2, ErrorCode.OFFSET_OUT_OF_RANGE, -1),
        (2**63 - 1, ErrorCode.OFFSET_OUT_OF_RANGE, -1),
        (-(2**63), ErrorCode.OFFSET_OUT_OF_RANGE, -1),
    ],
)
def test_the_offset_lies_in_what_is_acknowledged(
    offset: int, code: int, low_watermark: int
) -> None:
    async def test() -> None:
        broker = Broker()
        served = broker.serve()
        served.data.start_offset = 3
        served.append(Record(0, NOW_MS, None, b"not acknowledged"))
        assert await broker.delete(("t", 0, offset)) == [("t", 0, code, low_watermark)]
        assert served.partition.log_start_offset == (3 if code else low_watermark)

    run(test)


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        ("delete", 0),
        ("compact", ErrorCode.POLICY_VIOLATION),
        ("compact,delete", 0),
        ("", 0),  # a log without limits; nothing depends on its oldest records
    ],
)
def test_only_what_is_compacted_and_kept_for_ever_is_refused(policy: str, code: int) -> None:
    async def test() -> None:
        broker = Broker()
        broker.serve(overrides={"cleanup.policy": policy})
        answer = await broker.delete(("t", 0, 5))
        assert answer == [("t", 0, code, -1 if code else 5)]
        assert bool(broker.trims) == (code == 0)

    run(test)


def test_what_is_not_here_says_why_and_holds_up_nothing_else() -> None:
    async def test() -> None:
        broker = Broker()
        broker.serve("t", 1)
        broker.serve("__consumer_offsets", 0)
        broker.registry.client.apply(*topic_records("__transaction_state", 8, leader=2))
        wanted = ["elsewhere", "no", "__consumer_offsets", "__transaction_state"]
        assert await broker.delete(("t", 1, 2), *((name, 0, 2) for name in wanted)) == [
            ("t", 1, 0, 2),
            ("elsewhere", 0, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1),
            ("no", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1),
            ("__consumer_offsets", 0, ErrorCode.INVALID_TOPIC_EXCEPTION, -1),
            ("__transaction_state", 0, ErrorCode.INVALID_TOPIC_EXCEPTION, -1),
        ]
        assert broker.trims == [("t", 1, 2)]

    run(test)


def test_of_a_partition_that_comes_twice_the_last_entry_counts() -> None:
    async def test() -> None:
        broker = Broker()
        broker.serve("t", 0)
        broker.serve("t", 1)
        wanted = [("t", 0, 9), ("t", 1, 1), ("t", 0, 2)]
        assert await broker.delete(*wanted) == [("t", 0, 0, 2), ("t", 1, 0, 1)]
        assert sorted(broker.trims) == [("t", 0, 2), ("t", 1, 1)]

    run(test)


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (ObjectStoreError("503"), ErrorCode.KAFKA_STORAGE_ERROR),
        (FencedError("newer"), ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (StreamClosedError("moved"), ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_trouble_of_storage_is_told_as_everywhere(failure: Exception, code: int) -> None:
    async def test() -> None:
        broker = Broker()
        broker.serve()
        broker.failures = [failure]
        assert await broker.delete(("t", 0, 5)) == [("t", 0, code, -1)]
        assert await broker.delete(("t", 0, 5)) == [("t", 0, 0, 5)]

    run(test)


def test_without_room_for_a_checkpoint_nothing_is_deleted() -> None:
    async def test() -> None:
        broker = Broker()
        served = broker.serve()
        served.partition.checkpoints._engine.has_room = False
        refused = ErrorCode.NOT_ENOUGH_REPLICAS  # clients repeat it
        assert await broker.delete(("t", 0, 5)) == [("t", 0, refused, -1)]
        assert broker.trims == []

    run(test)


def test_without_a_certain_lease_nothing_is_deleted() -> None:
    async def test() -> None:
        broker = Broker()
        broker.serve()
        broker.registry.client.has_lease = False
        refused = [("t", 0, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)]
        assert await broker.delete(("t", 0, 5)) == refused
        assert broker.trims == []

    run(test)


def test_a_lease_that_is_lost_meanwhile_lets_the_client_ask_again() -> None:
    async def test() -> None:
        broker = Broker()
        broker.serve()
        broker.gate.clear()
        asked = asyncio.create_task(broker.delete(("t", 0, 5)))
        await settle()
        broker.registry.client.has_lease = False
        broker.gate.set()
        assert await asked == [("t", 0, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)]

    run(test)


def test_the_time_of_the_request_bounds_it_and_the_deletion_goes_on() -> None:
    async def test() -> None:
        broker = Broker()
        served = broker.serve()
        broker.gate.clear()
        answer = await broker.delete(("t", 0, 5), ("no", 0, 5), timeout_ms=11_500)
        assert now_s() == pytest.approx(11.5)
        assert answer == [
            ("t", 0, ErrorCode.REQUEST_TIMED_OUT, -1),
            ("no", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1),
        ]
        assert served.partition.log_start_offset == 0
        broker.gate.set()
        await asyncio.sleep(1)
        assert served.partition.log_start_offset == 5

    run(test)


@pytest.mark.parametrize("timeout_ms", [-1, 0, 1])
def test_no_time_of_a_request_is_too_short_for_the_leader(timeout_ms: int) -> None:
    """Kafka's leader deletes first, and waits only for other replicas (ReplicaManager.deleteRecords)."""

    async def test() -> None:
        broker = Broker()
        served = broker.serve()
        broker.gate.clear()
        asyncio.get_running_loop().call_later(2, broker.gate.set)
        wanted = [("t", 0, 5), ("t", 0, 99), ("no", 0, 5)]
        answers = [await broker.delete(it, timeout_ms=timeout_ms) for it in wanted]
        assert answers == [
            [("t", 0, 0, 5)],
            [("t", 0, ErrorCode.OFFSET_OUT_OF_RANGE, -1)],
            [("no", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)],
        ]
        assert served.partition.log_start_offset == 5

    run(test)


@pytest.mark.parametrize(
    ("timeout_ms", "waited_s"), [(-1, 10), (0, 10), (9_999, 10), (2**31 - 1, 300)]
)
def test_any_time_of_a_request_is_bounded(timeout_ms: int, waited_s: int) -> None:
    assert (LEADER_MS, MAX_TIMEOUT_MS) == (10_000, 300_000)

    async def test() -> None:
        broker = Broker()
        broker.serve()
        broker.gate.clear()
        (answer,) = await broker.delete(("t", 0, 5), timeout_ms=timeout_ms)
        assert answer[2] == ErrorCode.REQUEST_TIMED_OUT
        assert now_s() == pytest.approx(waited_s)
        broker.gate.set()
        await asyncio.sleep(1)

    run(test)


@pytest.mark.parametrize("moves", [False, True])
def test_a_partition_that_is_frozen_for_a_move_is_waited_for(moves: bool) -> None:
    """Until it is served again, or another broker leads it; others of the request are not held up."""

    async def test() -> None:
        broker = Broker()
        frozen = freeze(broker, index=0)
        others = [(number, broker.serve("t", number)) for number in range(1, 2 * DELETIONS_AT_ONCE)]
        broker.registry.client.apply(*topic_records("t", 1, leader=2))

        def end() -> None:
            assert all(it.partition.log_start_offset == 5 for _, it in others)
            if moves:
                del broker.registry.served["t", 0]
            frozen.partition.set_frozen(frozen=False)
            broker.registry.transit.release(frozen_key(frozen))

        asyncio.get_running_loop().call_later(1, end)
        told = await broker.delete(("t", 0, 5), *(("t", number, 5) for number, _ in others))
        assert told[0] == (
            ("t", 0, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1) if moves else ("t", 0, 0, 5)
        )
        assert now_s() == pytest.approx(1, abs=0.1)

    run(test)


def test_a_partition_that_is_about_to_come_is_waited_for() -> None:
    async def test() -> None:
        broker = Broker()
        key = (topic_id(9), 0)
        broker.registry.transit.hold(key)

        def open_it() -> None:
            broker.serve("elsewhere", number=9)
            broker.registry.transit.release(key)

        asyncio.get_running_loop().call_later(1, open_it)
        assert await broker.delete(("elsewhere", 0, 5)) == [("elsewhere", 0, 0, 5)]

    run(test)


@pytest.mark.parametrize(
    ("timeout_ms", "code", "waited_s"),
    [
        (30_000, ErrorCode.NOT_ENOUGH_REPLICAS, MAX_WAIT_MS / 1000),
        (0, ErrorCode.NOT_ENOUGH_REPLICAS, MAX_WAIT_MS / 1000),
    ],
)
def test_a_partition_that_stays_frozen_is_waited_for_for_a_moment(
    timeout_ms: int, code: int, waited_s: float
) -> None:
    async def test() -> None:
        broker = Broker()
        freeze(broker, index=0)
        assert await broker.delete(("t", 0, 5), timeout_ms=timeout_ms) == [("t", 0, code, -1)]
        assert now_s() == pytest.approx(waited_s, abs=0.1)
        assert broker.trims == []

    run(test)


def test_a_partition_has_one_deletion_at_a_time() -> None:
    """A client that asks again and again while the bucket hangs must not pile them up."""

    async def test() -> None:
        broker = Broker()
        served = broker.serve()
        broker.gate.clear()
        for offset in range(1, 8):
            (answer,) = await broker.delete(("t", 0, offset), timeout_ms=100)
            assert answer[2] == ErrorCode.REQUEST_TIMED_OUT
        asked = [asyncio.create_task(broker.delete(("t", 0, end))) for end in (8, 2, 9)]
        await settle()
        assert broker.trims == [("t", 0, 1)]
        broker.gate.set()
        assert sorted([(await it)[0][3] for it in asked]) == [8, 8, 9]
        assert broker.max_inflight == 1
        assert served.partition.log_start_offset == 9

    run(test)


def test_the_failure_of_an_earlier_deletion_is_not_told_to_the_next() -> None:
    async def test() -> None:
        broker = Broker()
        broker.serve()
        broker.gate.clear()
        broker.failures = [ObjectStoreError("503")]
        earlier = asyncio.create_task(broker.delete(("t", 0, 3)))
        await settle()
        later = asyncio.create_task(broker.delete(("t", 0, 3)))
        await settle()
        broker.gate.set()
        assert (await earlier)[0][2] == ErrorCode.KAFKA_STORAGE_ERROR
        assert await later == [("t", 0, 0, 3)]

    run(test)


def test_a_client_that_has_gone_leaves_the_deletion_to_end() -> None:
    async def test() -> None:
        broker = Broker()
        served = broker.serve()
        broker.gate.clear()
        asked = asyncio.create_task(broker.delete(("t", 0, 5)))
        await settle()
        asked.cancel()
        await settle()
        assert asked.cancelled()
        broker.gate.set()
        await asyncio.sleep(1)
        assert served.partition.log_start_offset == 5
        assert await broker.delete(("t", 0, 6)) == [("t", 0, 0, 6)]

    run(test)


def test_one_request_deletes_from_so_many_partitions_at_once() -> None:
    async def test() -> None:
        broker = Broker()
        count = 3 * DELETIONS_AT_ONCE
        for index in range(count):
            broker.serve("t", index)
        broker.gate.clear()
        asked = asyncio.create_task(broker.delete(*(("t", index, 5) for index in range(count))))
        await settle()
        assert len(broker.trims) == DELETIONS_AT_ONCE
        broker.gate.set()
        assert await asked == [("t", index, 0, 5) for index in range(count)]
        assert broker.max_inflight == DELETIONS_AT_ONCE

    run(test)


def test_the_time_of_the_request_counts_while_other_partitions_are_in_turn() -> None:
    async def test() -> None:
        broker = Broker()
        count = DELETIONS_AT_ONCE + 1
        for index in range(count):
            broker.serve("t", index)
        broker.gate.clear()
        wanted = [("t", index, 5) for index in range(count)]
        told = await broker.delete(*wanted, timeout_ms=11_000)
        assert now_s() == pytest.approx(11)
        assert {code for _, _, code, _ in told} == {ErrorCode.REQUEST_TIMED_OUT}
        broker.gate.set()
        await asyncio.sleep(1)
        assert broker.trims == wanted[:-1]  # what had not begun does not

    run(test)


def test_a_request_for_nothing_is_answered_with_nothing() -> None:
    async def test() -> None:
        assert await Broker().delete() == []

    run(test)
