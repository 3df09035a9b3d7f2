"""What coordinators ask of a log: a partition of a broker, and the log in memory that their tests are made with."""

from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from headrace.broker.coordinator.runtime.ports import CoordinatorLog
from headrace.broker.coordinator.runtime.topic_logs import PartitionLog
from headrace.broker.partition.damage import DamagedRange
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.state import PartitionState
from headrace.broker.partition.transit import PartitionsInTransit
from headrace.config.topic import EffectiveTopicConfig
from headrace.protocol.records.record import BatchOptions, Record, decode_records, encode_batch
from headrace.storage.engine import StorageEngine
from tests.simulation import virtual_time
from tests.unit.broker.coordinator.fake_log import FakeLog
from tests.unit.broker.partition.fakes import call_at_once
from tests.unit.storage.fakes import Node

NOW_MS = 1_000
Act = Callable[[CoordinatorLog], Awaitable[None]]


async def partition_log() -> PartitionLog:
    """The log of a partition that is led by a node in memory."""
    node = await Node().start()
    engine: StorageEngine = node.engine
    partition = Partition(
        topic="__consumer_offsets",
        topic_id=UUID(int=1),
        index=0,
        leader_epoch=1,
        engine=engine,
        data=await node.open(1),
        meta=await node.open(2),
        state=PartitionState(producer_id_expiration_ms=86_400_000),
        config=EffectiveTopicConfig.resolve({"cleanup.policy": "compact"}),
        checkpoint_interval_bytes=1 << 20,
        wake=call_at_once,
    )
    return PartitionLog(partition, engine, lambda: NOW_MS, PartitionsInTransit())


async def log_in_memory() -> FakeLog:
    return FakeLog()


@pytest.fixture(params=[partition_log, log_in_memory], ids=["broker", "fake"])
def play(request: pytest.FixtureRequest) -> Callable[[Act], None]:
    """Play a scene with a log that is empty."""

    async def main(act: Act) -> None:
        await act(await request.param())

    return lambda act: virtual_time.run(main(act))


def batch(number: int) -> bytearray:
    return encode_batch([Record(0, NOW_MS, b"k", str(number).encode())], BatchOptions())


async def numbers(log: CoordinatorLog) -> list[int]:
    found = []
    async for view in log.read():
        assert not isinstance(view, DamagedRange)
        found += [int(it.value or b"-1") for it in decode_records(view, 1 << 20)]
    return found


def test_what_is_appended_is_read_in_order(play: Callable[[Act], None]) -> None:
    async def act(log: CoordinatorLog) -> None:
        assert (log.end_offset, await numbers(log)) == (0, [])
        for number in range(4):
            assert await log.append(batch(number)) == number
            assert log.end_offset == number + 1
        assert await numbers(log) == await numbers(log) == [0, 1, 2, 3]
        assert log.has_room

    play(act)


def test_what_is_deleted_is_in_the_bucket_and_read_no_more(play: Callable[[Act], None]) -> None:
    async def act(log: CoordinatorLog) -> None:
        for number in range(4):
            await log.append(batch(number))
        for _ in range(2):  # as after an unknown outcome
            await log.delete_before(3)
            assert log.is_uploaded(3)
            assert await numbers(log) == [3]
        assert log.end_offset == 4
        await log.delete_before(4)
        assert await numbers(log) == []
        assert await log.append(batch(4)) == 4
        assert await numbers(log) == [4]

    play(act)
