"""The coordinator: groups to partitions, partitions to shards, answers for several groups."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest

from headrace.broker.coordinator.group.coordinator import (
    GROUPS_AT_ONCE,
    GroupCoordinator,
)
from headrace.broker.coordinator.group.requests import (
    CommittedOffset,
    HeartbeatRequest,
    LeavingMember,
    OffsetQuery,
    SyncRequest,
)
from headrace.broker.coordinator.group.shard import GroupShard
from headrace.broker.coordinator.runtime.coordinator_runtime import MAX_LOAD_WAIT_MS
from headrace.broker.coordinator.runtime.ports import CoordinatorLogs
from headrace.broker.coordinator.runtime.shard import DeletedTopic, Instant
from headrace.config.node import GroupConfig
from headrace.protocol.errors import ErrorCode, KafkaError
from tests.unit.broker.coordinator.fake_log import (
    WALL_MS,
    FakeLogs,
    commit_request,
    join_request,
)
from tests.unit.broker.coordinator.virtual_time import run, settle

CONFIG = GroupConfig(initial_rebalance_delay_ms=0)
# One partition each, of four.
GROUPS = ["d", "e", "f", "g"]


def new_coordinator(logs: FakeLogs) -> GroupCoordinator:
    port: CoordinatorLogs = logs  # the fake satisfies the port
    return GroupCoordinator(
        CONFIG,
        port,
        wall_clock_ms=lambda: WALL_MS,
        rng=random.Random(7),
    )


@asynccontextmanager
async def running(logs: FakeLogs, *, elected: bool = True) -> AsyncIterator[GroupCoordinator]:
    coordinator = new_coordinator(logs)
    if elected:
        for partition in range(logs.partition_count):
            coordinator.runtime.on_election(partition)
    task = asyncio.create_task(coordinator.runtime.run())
    await settle()
    try:
        yield coordinator
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def code_of(result: object) -> ErrorCode | None:
    return result.code if isinstance(result, KafkaError) else None


def test_groups_are_spread_over_the_partitions() -> None:
    async def test() -> None:
        logs = FakeLogs(4)
        async with running(logs) as coordinator:
            for group_id in GROUPS:
                await coordinator.commit_offsets(commit_request(group_id=group_id))
            assert [log.appends for log in logs.logs] == [1, 1, 1, 1]
            listed = await coordinator.list_groups()
            assert sorted(group.group_id for group in listed) == GROUPS

    run(test)


def test_many_groups_are_listed_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once: list[int] = []
    list_some = GroupShard.list_groups

    def list_groups(shard: GroupShard, group_ids: list[str], now: Instant) -> Any:
        at_once.append(len(group_ids))
        return list_some(shard, group_ids, now)

    async def test() -> None:
        async with running(FakeLogs(2)) as coordinator:
            group_ids = [f"g{number}" for number in range(2 * GROUPS_AT_ONCE + 100)]
            commits = [commit_request(group_id=group_id) for group_id in group_ids]
            await asyncio.gather(*map(coordinator.commit_offsets, commits))
            monkeypatch.setattr(GroupShard, "list_groups", list_groups)
            listed = await coordinator.list_groups()
            assert sorted(group.group_id for group in listed) == sorted(group_ids)
            assert max(at_once) <= GROUPS_AT_ONCE

    run(test)


def test_a_partition_that_is_led_elsewhere() -> None:
    async def test() -> None:
        logs = FakeLogs(4, led={0, 1, 2})
        foreign = next(group for group in GROUPS if logs.partition_for(group) == 3)
        async with running(logs) as coordinator:
            results = await coordinator.describe_groups(GROUPS)
            assert [code_of(result) for result in results] == [
                ErrorCode.NOT_COORDINATOR if group_id == foreign else None for group_id in GROUPS
            ]
            deleted = await coordinator.delete_groups(GROUPS)
            assert [code_of(result) or result for result in deleted] == [
                ErrorCode.NOT_COORDINATOR if group_id == foreign else ErrorCode.GROUP_ID_NOT_FOUND
                for group_id in GROUPS
            ]
            with pytest.raises(KafkaError) as caught:
                await coordinator.commit_offsets(commit_request(group_id=foreign))
            assert caught.value.code is ErrorCode.NOT_COORDINATOR
            assert await coordinator.list_groups() == []

    run(test)


def test_a_commit_waits_for_a_partition_that_is_loaded() -> None:
    async def test() -> None:
        logs = FakeLogs(1)
        logs.logs[0].hold_reads()
        async with running(logs) as coordinator:
            commit = asyncio.create_task(coordinator.commit_offsets(commit_request(group_id="g")))
            await settle()
            assert not commit.done()
            logs.logs[0].release_reads()
            assert await commit == [ErrorCode.NONE]

    run(test)


def test_it_waits_for_one_that_is_about_to_come() -> None:
    async def test() -> None:
        logs = FakeLogs(1, led=set())
        async with running(logs) as coordinator:

            def come(partition: int) -> None:
                logs.led.add(partition)
                coordinator.runtime.on_election(partition)

            logs.on_arrival = come
            committed = await coordinator.commit_offsets(commit_request(group_id="g"))
            assert committed == [ErrorCode.NONE]

    run(test)


def test_it_waits_for_a_moment_only_and_not_for_one_that_goes_away() -> None:
    async def test() -> None:
        logs = FakeLogs(1)
        logs.logs[0].hold_reads()
        loop = asyncio.get_running_loop()
        async with running(logs) as coordinator:
            begun_s = loop.time()
            with pytest.raises(KafkaError) as caught:
                await coordinator.commit_offsets(commit_request(group_id="g"))
            assert caught.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            assert loop.time() - begun_s == pytest.approx(MAX_LOAD_WAIT_MS / 1000)

            commit = asyncio.create_task(coordinator.commit_offsets(commit_request(group_id="g")))
            await settle()
            coordinator.runtime.on_resignation(0)
            with pytest.raises(KafkaError) as caught:
                await commit
            assert caught.value.code is ErrorCode.NOT_COORDINATOR
            assert loop.time() - begun_s < 2 * MAX_LOAD_WAIT_MS / 1000

    run(test)


def test_a_list_that_would_not_be_whole_is_not_given() -> None:
    async def test() -> None:
        logs = FakeLogs(2)
        logs.logs[1].hold_reads()
        async with running(logs) as coordinator:
            with pytest.raises(KafkaError) as caught:
                await coordinator.list_groups()
            assert caught.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            logs.logs[1].release_reads()
            await settle()
            assert await coordinator.list_groups() == []

    run(test)


def test_elections_and_resignations() -> None:
    async def test() -> None:
        logs = FakeLogs(1)
        async with running(logs, elected=False) as coordinator:
            with pytest.raises(KafkaError):
                await coordinator.commit_offsets(commit_request())
            coordinator.runtime.on_election(0)
            await settle()
            await coordinator.commit_offsets(commit_request(5))
            parked = asyncio.create_task(coordinator.join(join_request("a")))
            await asyncio.sleep(0)
            coordinator.runtime.on_resignation(0)
            with pytest.raises(KafkaError) as caught:
                await parked
            assert caught.value.code is ErrorCode.NOT_COORDINATOR
            with pytest.raises(KafkaError):
                await coordinator.commit_offsets(commit_request())
            coordinator.runtime.on_election(0)
            coordinator.runtime.on_election(0)  # at a newer epoch, before it was loaded
            await settle()
            (result,) = await coordinator.fetch_offsets([("g", [OffsetQuery("t", 0)])])
            assert isinstance(result, list)
            assert [found.value.offset for found in result if found.value] == [5]
            coordinator.runtime.on_resignation(0)
            coordinator.runtime.on_resignation(0)

    run(test)


def test_a_partition_without_a_log_is_not_served() -> None:
    async def test() -> None:
        logs = FakeLogs(1, led=set())
        async with running(logs) as coordinator:
            with pytest.raises(KafkaError):
                await coordinator.commit_offsets(commit_request())

    run(test)


def test_offsets_of_several_groups() -> None:
    """KIP-709: each has its own result, and its own error."""

    async def test() -> None:
        logs = FakeLogs(4, led={0, 1, 2})
        foreign = next(group for group in GROUPS if logs.partition_for(group) == 3)
        here = next(group for group in GROUPS if group != foreign)
        async with running(logs) as coordinator:
            await coordinator.commit_offsets(commit_request(5, group_id=here))
            results = await coordinator.fetch_offsets(
                [(here, None), (foreign, None), ("x" * 40_000, None), (here, [OffsetQuery("t", 9)])]
            )
            assert not isinstance(results[0], KafkaError)
            assert [found.partition for found in results[0]] == [0]
            assert code_of(results[1]) is ErrorCode.NOT_COORDINATOR
            assert code_of(results[2]) is ErrorCode.INVALID_GROUP_ID
            assert results[3] == [CommittedOffset("t", 9, None)]

    run(test)


def test_deleting_many_groups_costs_few_appends() -> None:
    async def test() -> None:
        logs = FakeLogs(1)
        async with running(logs) as coordinator:
            groups = [f"group-{number}" for number in range(50)]
            for group_id in groups:
                await coordinator.commit_offsets(commit_request(group_id=group_id))
            appends = logs.logs[0].appends
            assert set(await coordinator.delete_groups(groups)) == {ErrorCode.NONE}
            assert logs.logs[0].appends < appends + 25

    run(test)


def test_the_empty_group_id() -> None:
    """It has offsets (KIP-289), but no members."""

    async def test() -> None:
        async with running(FakeLogs(1)) as coordinator:
            asked = [
                coordinator.join(join_request("a", group_id="")),
                coordinator.sync(SyncRequest(group_id="", member_id="a", generation=1)),
                coordinator.heartbeat_when_loaded(
                    HeartbeatRequest(group_id="", member_id="a", generation=1)
                ),
                coordinator.leave("", [LeavingMember("a")]),
                coordinator.delete_offsets("", [("t", 0)]),
            ]
            for waiting in asked:
                with pytest.raises(KafkaError) as caught:
                    await waiting
                assert caught.value.code is ErrorCode.INVALID_GROUP_ID
            assert await coordinator.commit_offsets(commit_request(group_id="")) == [ErrorCode.NONE]
            assert len(await coordinator.list_groups()) == 1

    run(test)


def test_member_ids_come_from_the_entropy_given() -> None:
    async def test() -> None:
        first, second = new_coordinator(FakeLogs(1)), new_coordinator(FakeLogs(1))
        member_id = first.new_member_id("my-client")
        assert member_id == second.new_member_id("my-client")
        assert member_id.startswith("my-client-")
        assert UUID(member_id.removeprefix("my-client-")).version == 4
        assert first.new_member_id("my-client") != member_id

    run(test)


def test_deleted_topics_are_forgotten_in_every_partition() -> None:
    async def test() -> None:
        async with running(FakeLogs(4)) as coordinator:
            for group_id in GROUPS:
                await coordinator.commit_offsets(commit_request(group_id=group_id))
            coordinator.runtime.on_new_image([DeletedTopic("t", UUID(int=1))])
            await asyncio.sleep(1)
            results = await coordinator.fetch_offsets([(group_id, None) for group_id in GROUPS])
            assert [list(found) for found in results if not isinstance(found, KafkaError)] == [
                []
            ] * 4

    run(test)


def test_a_commit_every_100_ms_of_hundreds_of_members_does_not_queue_up() -> None:
    """With appends of 5 ms, each commit waits for one append under way and its own at most."""

    async def test() -> None:
        logs = FakeLogs(1)
        log = logs.logs[0]
        append = log.append

        async def slow_append(batch: bytearray) -> int:
            await asyncio.sleep(0.005)
            return await append(batch)

        log.append = slow_append  # type: ignore[method-assign]
        loop = asyncio.get_running_loop()
        waits: list[float] = []

        async def member(number: int, coordinator: GroupCoordinator) -> None:
            await asyncio.sleep(number / 3_000)
            for round_ in range(10):
                begin = loop.time()
                await coordinator.commit_offsets(commit_request(round_, partition=number))
                waits.append(loop.time() - begin)
                await asyncio.sleep(0.1)

        async with running(logs) as coordinator, asyncio.TaskGroup() as members:
            for number in range(300):
                members.create_task(member(number, coordinator))
        assert len(waits) == 3_000
        assert max(waits) < 0.012

    run(test)


def test_without_a_certain_lease_nobody_is_answered() -> None:
    async def test() -> None:
        logs = FakeLogs(1)
        async with running(logs) as coordinator:
            await coordinator.commit_offsets(commit_request(5))
            appends = logs.logs[0].appends
            logs.certain = False
            sent_away = [
                coordinator.join(join_request("a")),
                coordinator.sync(SyncRequest(group_id="g", member_id="a", generation=1)),
                coordinator.heartbeat_when_loaded(
                    HeartbeatRequest(group_id="g", member_id="a", generation=1)
                ),
                coordinator.leave("g", [LeavingMember("a")]),
                coordinator.commit_offsets(commit_request(6)),
                coordinator.delete_offsets("g", [("t", 0)]),
                coordinator.list_groups(),
            ]
            for waiting in sent_away:
                with pytest.raises(KafkaError) as caught:
                    await waiting
                assert caught.value.code is ErrorCode.NOT_COORDINATOR
            for results in (
                await coordinator.fetch_offsets([("g", None)]),
                await coordinator.describe_groups(["g"]),
                await coordinator.delete_groups(["g"]),
            ):
                assert [code_of(result) for result in results] == [ErrorCode.NOT_COORDINATOR]
            assert logs.logs[0].appends == appends

    run(test)


def test_a_join_that_ends_without_a_certain_lease_is_not_told() -> None:
    """A rebalance ends by its deadline, not by the log: a coordinator that was replaced could end one, too."""

    async def test() -> None:
        logs = FakeLogs(1)
        async with running(logs) as coordinator:
            first = await coordinator.join(join_request("a"))
            parked = asyncio.create_task(coordinator.join(join_request("b")))
            await settle()
            assert not parked.done()
            logs.certain = False
            await asyncio.sleep(61)
            with pytest.raises(KafkaError) as caught:
                await parked
            assert first.error is ErrorCode.NONE
            assert caught.value.code is ErrorCode.NOT_COORDINATOR

    run(test)
