"""Offsets of very many partitions: no step of the coordinator goes through all of them."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import TypeVar
from uuid import UUID

import pytest

from headrace.broker.coordinator.group.coordinator import GroupCoordinator
from headrace.broker.coordinator.group.records import CoordinatorRecord
from headrace.broker.coordinator.group.requests import CommitRequest, GroupDecision, OffsetEntry
from headrace.broker.coordinator.group.shard import CHECKS_AT_ONCE, OFFSETS_AT_ONCE, GroupShard
from headrace.broker.coordinator.runtime.batching import MAX_BATCH_RECORDS
from headrace.broker.coordinator.runtime.shard import DeletedTopic, Instant, Turn
from headrace.config.node import GroupConfig
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.records.batch import parse_header
from headrace.turns import Turns
from tests.unit.broker.coordinator.fake_log import (
    WALL_MS,
    FakeLogs,
    commit_request,
    loop_clock,
)
from tests.unit.broker.coordinator.virtual_time import VirtualTimeLoop, run, settle

MANY = 5 * OFFSETS_AT_ONCE + 1
T = TypeVar("T")


@asynccontextmanager
async def coordinator_of(logs: FakeLogs) -> AsyncIterator[GroupCoordinator]:
    """A coordinator with a group "g" that has an offset in `MANY` partitions of "t"."""
    config = GroupConfig(initial_rebalance_delay_ms=0, offsets_retention_check_ms=60_000)
    coordinator = GroupCoordinator(
        config,
        logs,
        wall_clock_ms=lambda: WALL_MS,
        rng=random.Random(7),
    )
    # Every piece of work waits for a turn of its own.
    coordinator.runtime.turns = Turns(lambda: 0.0, share_s=0.0)
    coordinator.runtime.on_election(0)
    task = asyncio.create_task(coordinator.runtime.run())
    await settle()
    entries = [OffsetEntry("t", index, 1, -1, "") for index in range(MANY)]
    await coordinator.commit_offsets(CommitRequest(group_id="g", entries=entries))
    try:
        yield coordinator
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture(name="largest")
def largest_decision(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many records the decisions had."""
    counts = [0]
    persist = Turn.persist

    def counted(turn: Turn, record: CoordinatorRecord) -> None:
        persist(turn, record)
        counts.append(len(turn._records))

    monkeypatch.setattr(Turn, "persist", counted)
    return counts


async def turns_of(work: Awaitable[T]) -> tuple[int, T]:
    """Wait for work; return how often the loop went round meanwhile."""
    task = asyncio.ensure_future(work)
    turns = 0
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    return turns, task.result()


async def offsets_of(coordinator: GroupCoordinator, group_id: str = "g") -> int:
    (found,) = await coordinator.fetch_offsets([(group_id, None)])
    assert not isinstance(found, KafkaError)
    return len(list(found))


def test_offsets_are_deleted_some_at_a_time(largest: list[int]) -> None:
    async def test() -> None:
        async with coordinator_of(FakeLogs(1)) as coordinator:
            largest.clear()
            named = [("t", index) for index in range(MANY)]
            turns, (error, errors) = await turns_of(coordinator.delete_offsets("g", named))
            assert (error, len(errors), set(errors)) == (ErrorCode.NONE, MANY, {ErrorCode.NONE})
            assert max(largest) == OFFSETS_AT_ONCE
            assert turns > MANY // OFFSETS_AT_ONCE
            assert await offsets_of(coordinator) == 0
            refused = await coordinator.delete_offsets("none", named)
            assert refused == (ErrorCode.GROUP_ID_NOT_FOUND, [])

    run(test)


def test_a_group_of_many_offsets_is_deleted_some_at_a_time(largest: list[int]) -> None:
    """Nobody may use it meanwhile: a client that came between would lose some of its offsets."""

    async def test() -> None:
        async with coordinator_of(FakeLogs(1)) as coordinator:
            largest.clear()
            deletion = asyncio.create_task(coordinator.delete_groups(["g", "none"]))
            await asyncio.sleep(0)
            with pytest.raises(KafkaError) as refused:
                await coordinator.commit_offsets(commit_request())
            assert refused.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            assert await deletion == [ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND]
            assert max(largest) <= OFFSETS_AT_ONCE + 1
            assert await coordinator.describe_groups(["g"]) == [None]
            assert await coordinator.commit_offsets(commit_request()) == [ErrorCode.NONE]

    run(test)


def test_offsets_of_a_deleted_topic_are_removed_some_at_a_time(largest: list[int]) -> None:
    async def test() -> None:
        async with coordinator_of(FakeLogs(1)) as coordinator:
            largest.clear()
            coordinator.runtime.on_new_image([DeletedTopic("other", UUID(int=2))])
            coordinator.runtime.on_new_image([DeletedTopic("t", UUID(int=1))])
            await asyncio.sleep(1)
            assert max(largest) == OFFSETS_AT_ONCE
            assert await offsets_of(coordinator) == 0

    run(test)


def test_a_batch_has_a_bounded_number_of_records() -> None:
    async def test() -> None:
        logs = FakeLogs(1)
        async with coordinator_of(logs):
            counts = [parse_header(batch).last_offset_delta + 1 for batch in logs.logs[0].batches]
            assert sum(counts) >= MANY
            assert max(counts) == MAX_BATCH_RECORDS

    run(test)


def test_the_retention_of_many_offsets_is_checked_some_at_a_time(largest: list[int]) -> None:
    async def test() -> None:
        async with coordinator_of(FakeLogs(1)) as coordinator:
            largest.clear()
            coordinator.runtime._wall_clock_ms = lambda: WALL_MS + 365 * 86_400_000
            await asyncio.sleep(61)
            assert await coordinator.describe_groups(["g"]) == [None]
            assert OFFSETS_AT_ONCE < max(largest) <= CHECKS_AT_ONCE + 1

    run(test)


def test_others_have_their_turn_while_retention_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next part of a check is due a millisecond later, and each takes longer: nothing is written meanwhile."""
    expire = GroupShard.expire
    in_turn, largest, checks = 0, 0, 0

    def slow(shard: GroupShard, now: Instant) -> GroupDecision[None]:
        nonlocal in_turn, largest, checks
        in_turn, checks = in_turn + 1, checks + 1
        largest = max(largest, in_turn)
        pass_s(0.002)
        return expire(shard, now)

    def pass_s(seconds: float) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        loop.pass_time(seconds)

    async def test() -> None:
        nonlocal in_turn
        async with coordinator_of(FakeLogs(1)):
            monkeypatch.setattr(GroupShard, "expire", slow)
            pass_s(60)
            for _ in range(100):
                await asyncio.sleep(0)
                in_turn = 0
            assert checks > 2
            assert largest == 1

    run(test)


def test_offsets_that_are_read_are_those_of_one_moment() -> None:
    """They are given one by one, while others are committed."""
    shard = GroupShard(GroupConfig())

    async def test() -> None:
        now = loop_clock()
        shard.commit_offsets(commit_request(1), now)
        found = shard.fetch_offsets("g", None, now).response
        shard.commit_offsets(commit_request(2), now)
        shard.commit_offsets(commit_request(2, partition=1), now)
        assert [(it.partition, it.value and it.value.offset) for it in found] == [(0, 1)]

    run(test)
