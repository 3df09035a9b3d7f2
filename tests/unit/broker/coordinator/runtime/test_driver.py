"""The shard's driver: answers follow durability, failures lead back to the log."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from headrace.broker.coordinator.group.coordinator import group_kind
from headrace.broker.coordinator.group.records import (
    CoordinatorRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    OffsetRecord,
)
from headrace.broker.coordinator.group.requests import (
    HeartbeatRequest,
    JoinResult,
    OffsetQuery,
    SyncRequest,
    SyncResult,
)
from headrace.broker.coordinator.group.shard import GroupShard
from headrace.broker.coordinator.runtime import batching
from headrace.broker.coordinator.runtime.driver import ShardDriver, ShardState
from headrace.broker.coordinator.runtime.shard import DeletedTopic
from headrace.broker.coordinator.runtime.statistics import CoordinatorStatistics
from headrace.config.node import GroupConfig
from headrace.metadata.image import MetadataImage
from headrace.protocol.errors import ErrorCode, KafkaError
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.turns import Turns
from tests.unit.broker.coordinator.fake_log import (
    WALL_MS,
    FakeLog,
    commit_request,
    join_request,
    loop_clock,
    replay,
)
from tests.unit.broker.coordinator.virtual_time import run, settle

GroupDriver = ShardDriver[GroupShard, CoordinatorRecord]
CONFIG = GroupConfig(initial_rebalance_delay_ms=0)


def new_driver(
    partition: int,
    log: FakeLog,
    config: GroupConfig = CONFIG,
    statistics: CoordinatorStatistics | None = None,
) -> GroupDriver:
    turns = Turns(lambda: 0.0, share_s=0.0)  # every piece of work waits for a turn of its own
    return ShardDriver(
        group_kind(config),
        partition,
        log,
        image=MetadataImage,
        clock=loop_clock,
        turns=turns,
        statistics=statistics or CoordinatorStatistics(),
    )


class Bench:
    """A driver that runs on a fake log, in virtual time."""

    def __init__(self, log: FakeLog, driver: GroupDriver) -> None:
        self.log = log
        self.driver = driver
        self.task: asyncio.Task[None] | None = None

    async def commit(self, value: int = 1, **where: int | str) -> list[ErrorCode]:
        request = commit_request(value, **where)  # type: ignore[arg-type]
        submitted = self.driver.submit_write(lambda shard, now: shard.commit_offsets(request, now))
        return await submitted.wait()

    async def committed(self, partition: int = 0, group_id: str = "g") -> int | None:
        queries = [OffsetQuery("t", partition)]
        submitted = self.driver.submit(
            lambda shard, now: shard.fetch_offsets(group_id, queries, now)
        )
        (found,) = await submitted.wait()
        return None if found.value is None else found.value.offset

    async def heartbeat(self, member_id: str, generation: int) -> ErrorCode:
        request = HeartbeatRequest(group_id="g", member_id=member_id, generation=generation)
        submitted = self.driver.submit(lambda shard, now: shard.heartbeat(request, now))
        return await submitted.wait()

    async def join(self, member_id: str) -> JoinResult:
        return await self.driver.park(
            lambda shard, token, now: shard.join(token, join_request(member_id), now), JoinResult
        )

    async def sync(self, member_id: str, generation: int, **assigned: bytes) -> SyncResult:
        request = SyncRequest(
            group_id="g",
            member_id=member_id,
            generation=generation,
            assignments=list(assigned.items()),
        )
        return await self.driver.park(
            lambda shard, token, now: shard.sync(token, request, now), SyncResult
        )

    def check_live_is_log(self) -> None:
        """What is in memory is what the log holds."""
        other = GroupShard(CONFIG)
        for record in self.log.records():
            replay(other, record)
        assert other.image() == self.driver._shard.image()


@asynccontextmanager
async def bench(log: FakeLog | None = None) -> AsyncIterator[Bench]:
    log = log or FakeLog()
    bench = Bench(log, new_driver(3, log))
    bench.task = asyncio.create_task(bench.driver.run())
    await settle()
    try:
        yield bench
    finally:
        bench.task.cancel()
        await asyncio.gather(bench.task, return_exceptions=True)


async def expect(code: ErrorCode, waiting: asyncio.Task) -> None:
    with pytest.raises(KafkaError) as caught:
        await waiting
    assert caught.value.code is code


# Durability


def test_a_commit_is_answered_when_it_is_durable() -> None:
    async def test() -> None:
        async with bench() as b:
            b.log.hold_appends()
            commit = asyncio.create_task(b.commit(5))
            await settle()
            assert not commit.done()
            b.log.release_appends()
            assert await commit == [ErrorCode.NONE]
            assert b.log.records() == [
                OffsetRecord(OffsetCommitKey("g", "t", 0), OffsetCommitValue(5, -1, "", WALL_MS))
            ]
            b.check_live_is_log()

    run(test)


def test_nobody_is_told_what_could_still_be_lost() -> None:
    """An offset that a client has seen never goes back."""

    async def test() -> None:
        async with bench() as b:
            await b.commit(1)
            b.log.hold_appends()
            commit = asyncio.create_task(b.commit(2))
            await settle()
            fetch = asyncio.create_task(b.committed())
            await settle()
            assert not fetch.done()
            b.log.fail_append = "lost"
            b.log.release_appends()
            await expect(ErrorCode.NOT_COORDINATOR, commit)
            await expect(ErrorCode.NOT_COORDINATOR, fetch)
            await settle()
            assert await b.committed() == 1

    run(test)


def test_what_needs_no_append_is_answered_at_once() -> None:
    async def test() -> None:
        async with bench() as b:
            b.log.hold_appends()
            assert await b.committed() is None
            assert await b.heartbeat("a", 1) is ErrorCode.UNKNOWN_MEMBER_ID
            assert b.log.appends == 0

    run(test)


def test_commits_that_come_in_during_an_append_share_the_next() -> None:
    async def test() -> None:
        async with bench() as b:
            b.log.hold_appends()
            first = asyncio.create_task(b.commit(0, group_id="first"))
            await settle()
            others = [asyncio.create_task(b.commit(n, partition=n)) for n in range(300)]
            await settle()
            assert b.log.appends == 1
            b.log.release_appends()
            await asyncio.gather(first, *others)
            assert b.log.appends == 2
            assert [await b.committed(n) for n in range(300)] == list(range(300))
            b.check_live_is_log()

    run(test)


def test_answers_keep_the_order_of_requests() -> None:
    async def test() -> None:
        order: list[int] = []
        async with bench() as b:

            async def commit(number: int) -> None:
                await b.commit(number)
                order.append(number)

            async with asyncio.TaskGroup() as tasks:
                for number in range(50):
                    tasks.create_task(commit(number))
            assert order == list(range(50))
            assert await b.committed() == 49

    run(test)


def test_one_request_may_take_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "MAX_BATCH_BYTES", 200)

    async def test() -> None:
        async with bench() as b:
            b.log.hold_appends()
            commits = [asyncio.create_task(b.commit(n, partition=n)) for n in range(20)]
            await settle()
            b.log.release_appends()
            await asyncio.gather(*commits)
            assert b.log.appends > 5
            assert all(len(batch) < 300 for batch in b.log.batches)
            b.check_live_is_log()

    run(test)


def test_at_the_bound_writes_are_sent_away_and_reads_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batching, "MAX_PENDING_BYTES", 1_000)

    async def test() -> None:
        async with bench() as b:
            b.log.hold_appends()
            commits = [asyncio.create_task(b.commit(n, metadata="x" * 300)) for n in range(5)]
            await settle()
            assert [commit.done() for commit in commits] == [False, False, False, True, True]
            await expect(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, commits[-1])
            fetch = asyncio.create_task(b.committed())
            b.log.release_appends()
            assert await fetch == 2
            assert await b.commit(7) == [ErrorCode.NONE]
            with pytest.raises(KafkaError):
                await commits[-2]

    run(test)


# Groups


def test_a_group_of_two_through_join_and_sync() -> None:
    async def test() -> None:
        async with bench() as b:
            a, c = await asyncio.gather(b.join("a"), b.join("c"))
            assert a.generation == c.generation == 1
            assert [member.member_id for member in a.members] == ["a", "c"]
            leading, following = await asyncio.gather(
                b.sync("a", 1, a=b"A", c=b"C"), b.sync("c", 1)
            )
            assert (leading.assignment, following.assignment) == (b"A", b"C")
            b.check_live_is_log()

    run(test)


def test_an_assignment_is_given_out_when_it_is_durable() -> None:
    async def test() -> None:
        async with bench() as b:
            await asyncio.gather(b.join("a"), b.join("c"))
            b.log.hold_appends()
            following = asyncio.create_task(b.sync("c", 1))
            leading = asyncio.create_task(b.sync("a", 1, c=b"C"))
            await settle()
            assert not leading.done()
            assert not following.done()
            b.log.release_appends()
            assert (await following).assignment == b"C"

    run(test)


def test_deadlines_are_kept_without_requests() -> None:
    """The initial delay of 0 ms ends by itself; a session by the clock."""

    async def test() -> None:
        async with bench() as b:
            await b.join("a")
            await b.sync("a", 1, a=b"A")
            await asyncio.sleep(9.9)
            assert await b.heartbeat("a", 1) is ErrorCode.NONE
            await asyncio.sleep(9.9)
            assert await b.heartbeat("a", 1) is ErrorCode.NONE
            await asyncio.sleep(10.1)
            assert await b.heartbeat("a", 1) is ErrorCode.UNKNOWN_MEMBER_ID
            b.check_live_is_log()
            assert b.log.appends == 3  # new group, generation, empty again

    run(test)


def test_a_cancelled_join_leaves_its_member_parked() -> None:
    """A lost connection is not noticed by the group; the session is."""

    async def test() -> None:
        async with bench() as b:
            lost = asyncio.create_task(b.join("a"))
            await asyncio.sleep(0)
            lost.cancel()
            other = await b.join("c")
            assert other.leader == "a"
            assert b.driver._parked == {}
            assert await b.heartbeat("a", 1) is ErrorCode.NONE

    run(test)


def test_a_cancelled_commit_does_not_disturb_the_others() -> None:
    async def test() -> None:
        async with bench() as b:
            b.log.hold_appends()
            commits = [asyncio.create_task(b.commit(n, partition=n)) for n in range(3)]
            await settle()
            commits[1].cancel()
            b.log.release_appends()
            assert await commits[0] == await commits[2] == [ErrorCode.NONE]
            assert await b.committed(1) == 1  # it was decided

    run(test)


# Failures


@pytest.mark.parametrize("outcome", ["lost", "unknown"])
def test_after_a_failed_append_the_log_decides(outcome: str) -> None:
    async def test() -> None:
        async with bench() as b:
            await b.commit(1)
            b.log.hold_appends()
            failing = asyncio.create_task(b.commit(2))
            await settle()
            behind = asyncio.create_task(b.commit(3))
            await settle()
            b.log.hold_reads()
            b.log.fail_append = outcome
            b.log.release_appends()
            await expect(ErrorCode.NOT_COORDINATOR, failing)
            await expect(ErrorCode.NOT_COORDINATOR, behind)
            assert b.driver.state is ShardState.LOADING
            with pytest.raises(KafkaError) as caught:
                await b.committed()
            assert caught.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            b.log.release_reads()
            await settle()
            assert await b.committed() == (1 if outcome == "lost" else 2)
            b.check_live_is_log()
            assert b.log.appends == 2  # the batch behind was not written

    run(test)


def test_after_a_failed_append_who_is_parked_is_sent_away() -> None:
    async def test() -> None:
        async with bench() as b:
            await asyncio.gather(b.join("a"), b.join("c"))
            parked = asyncio.create_task(b.sync("c", 1))
            await settle()
            b.log.fail_append = "lost"
            commit = asyncio.create_task(b.commit(1, group_id="other"))
            await expect(ErrorCode.NOT_COORDINATOR, parked)
            await expect(ErrorCode.NOT_COORDINATOR, commit)

    run(test)


def test_members_keep_their_generation_over_a_reload() -> None:
    async def test() -> None:
        async with bench() as b:
            await b.join("a")
            await b.sync("a", 1, a=b"A")
            b.log.fail_append = "lost"
            with pytest.raises(KafkaError):
                await b.commit(1, group_id="other")
            await settle()
            assert await b.heartbeat("a", 1) is ErrorCode.NONE
            assert (await b.sync("a", 1)).assignment == b"A"

    run(test)


def test_a_fault_in_the_core_leads_back_to_the_log() -> None:
    async def test() -> None:
        async with bench() as b:
            await b.commit(1)
            parked = asyncio.create_task(b.join("a"))
            await asyncio.sleep(0)

            def fail(shard: GroupShard, now: object) -> None:
                shard._groups.clear()
                raise ZeroDivisionError

            with pytest.raises(ZeroDivisionError):
                b.driver.submit(fail)  # type: ignore[arg-type]
            with pytest.raises(KafkaError):
                await b.committed()
            b.driver.new_image([DeletedTopic("other", UUID(int=1))])
            await settle()
            assert await b.committed() == 1
            await asyncio.gather(parked, return_exceptions=True)
            b.check_live_is_log()

    run(test)


# Loading


def test_while_loading_nothing_is_served() -> None:
    async def test() -> None:
        log = FakeLog()
        log.hold_reads()
        async with bench(log) as b:
            for waiting in (b.commit(), b.committed(), b.join("a"), b.sync("a", 1)):
                await expect(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, asyncio.ensure_future(waiting))
            log.release_reads()
            await settle()
            assert await b.commit() == [ErrorCode.NONE]

    run(test)


def test_a_log_that_cannot_be_read_now_is_read_again() -> None:
    async def test() -> None:
        log = FakeLog()
        log.fail_reads = 8
        async with bench(log) as b:
            await asyncio.sleep(0.69)
            assert log.reads == 3
            await asyncio.sleep(0.02)
            assert log.reads == 4
            await asyncio.sleep(14)  # 0.8 + 1.6 + 3.2 + 5 + 5, the longest wait
            assert b.driver.state is ShardState.LOADING
            await asyncio.sleep(3)
            assert b.driver.state is ShardState.ACTIVE

    run(test)


def batch_of(*pairs: tuple[bytes, bytes | None], **options: object) -> bytes:
    records = [Record(index, 0, key, value) for index, (key, value) in enumerate(pairs)]
    return bytes(encode_batch(records, BatchOptions(**options)))  # type: ignore[arg-type]


OFFSET_KEY = bytes.fromhex("000100016700017400000000")
OFFSET_VALUE = bytes.fromhex("0003 0000000000000005 00000002 00016d 0000000000000064")


@pytest.mark.parametrize(
    "batch",
    [
        batch_of((OFFSET_KEY, b"\0\3")),
        batch_of((OFFSET_KEY, OFFSET_VALUE))[:-1],
        batch_of((OFFSET_KEY, OFFSET_VALUE), is_transactional=True, producer_id=1),
    ],
    ids=["record", "batch", "transaction"],
)
def test_a_log_that_cannot_be_understood_is_not_served(batch: bytes) -> None:
    async def test() -> None:
        log = FakeLog()
        log.batches.append(batch)
        async with bench(log) as b:
            assert b.driver.state is ShardState.FAILED
            await expect(ErrorCode.NOT_COORDINATOR, asyncio.ensure_future(b.commit()))
            assert b.task is not None
            await b.task  # the other partitions go on

    run(test)


def test_other_batches_and_kinds_are_read_or_passed_over() -> None:
    async def test() -> None:
        log = FakeLog()
        log.batches += [
            batch_of((OFFSET_KEY, OFFSET_VALUE), compression=Compression.ZSTD),
            batch_of((b"\0\0\0\1", b"\0" * 6), is_control=True, is_transactional=True),
            batch_of((b"\0\3\0\1g", b"of a newer broker")),
        ]
        log.batches.append(log.batches[0] + log.batches[2])  # two batches in one view
        async with bench(log) as b:
            assert await b.committed() == 5

    run(test)


def test_topics_deleted_while_loading_are_forgotten_when_loaded() -> None:
    async def test() -> None:
        log = FakeLog()
        log.batches.append(batch_of((OFFSET_KEY, OFFSET_VALUE)))
        log.hold_reads()
        async with bench(log) as b:
            b.driver.new_image([DeletedTopic("t", UUID(int=1))])
            log.release_reads()
            await settle()
            assert await b.committed() is None
            b.check_live_is_log()
            assert await b.commit(8) == [ErrorCode.NONE]
            b.driver.new_image([DeletedTopic("t", UUID(int=1))])
            await settle()
            assert await b.committed() is None
            b.check_live_is_log()

    run(test)


def test_a_long_log_does_not_hold_up_the_loop() -> None:
    async def test() -> None:
        log = FakeLog()
        log.batches.append(batch_of(*[(OFFSET_KEY, OFFSET_VALUE)] * 2_000))
        driver = new_driver(0, log)
        task = asyncio.create_task(driver.run())
        turns = 0
        while driver.state is ShardState.LOADING:
            await asyncio.sleep(0)
            turns += 1
        assert turns > 5
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    run(test)


def test_when_it_ends_everyone_who_waits_is_sent_away() -> None:
    async def test() -> None:
        async with bench() as b:
            await asyncio.gather(b.join("a"), b.join("c"))
            b.log.hold_appends()
            commit = asyncio.create_task(b.commit(group_id="other"))
            sync = asyncio.create_task(b.sync("c", 1))
            await settle()
            assert b.task is not None
            b.task.cancel()
            await expect(ErrorCode.NOT_COORDINATOR, commit)
            await expect(ErrorCode.NOT_COORDINATOR, sync)
            with pytest.raises(KafkaError):
                await b.commit()

    run(test)


def planted(*_args: object, **_named: object) -> None:
    raise KeyError("a bug")


def watched() -> list[str]:
    """What is handed to the one place that decides, from now on."""
    seen: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: seen.append(f"{context['message']}: {context['exception']!r}")
    )
    return seen


def test_a_mistake_while_a_log_is_loaded_is_handed_to_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def test() -> None:
        seen = watched()
        log = FakeLog()
        log.batches.append(batch_of((OFFSET_KEY, OFFSET_VALUE)))
        monkeypatch.setattr(GroupShard, "replay", planted)
        async with bench(log):
            assert seen == ["load of coordinator partition __consumer_offsets-3: KeyError('a bug')"]

    run(test)


def test_a_mistake_at_a_deadline_is_handed_to_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        seen = watched()
        monkeypatch.setattr(GroupShard, "expire", planted)
        async with bench() as b:
            monkeypatch.setattr(GroupShard, "next_deadline_ms", lambda _: 0)  # due after the append
            await b.commit()
            assert (
                seen[0]
                == "deadline of coordinator partition __consumer_offsets-3: KeyError('a bug')"
            )

    run(test)
